//! Rigid bodies: `body`, and the names that come with one. A body may have several shapes, whose masses are put together.

use super::clause::{one_of, twice};
use super::declare::only;
use super::place::place;
use super::pose::turn;
use crate::diagnostic::Diagnostic;
use crate::reader::{Reader, Shaped};
use crate::role::Role;
use leastaction_expr::{Expr, Kind, Parser, Span, Value};
use leastaction_mechanics::{
    Body, BodyError, BodySite, Inertia, InertiaError, Matter, Rotation, RotationError, Surface, SurfaceError,
    suffixed,
};
use std::f64::consts::PI;

type Outcome = Result<(), Diagnostic>;

/// What follows the word of a clause.
enum Takes {
    Nothing,
    Number,
    /// A vector with at least and at most so many components.
    Vector(usize, usize),
    /// A radius, and `height` with a number.
    Round,
    Turn,
    /// Principal moments, or a tensor by its rows.
    Tensor,
    File,
}

const SHAPES: [&str; 12] = [
    "moments", "inertia", "moment", "rod", "disk", "plate", "cuboid", "sphere", "cylinder", "cone", "point",
    "mesh",
];
/// Shapes with lengths, which can be drawn.
const DRAWN: [&str; 7] = ["rod", "disk", "plate", "cuboid", "sphere", "cylinder", "cone"];
const WORDS: [&str; 18] = [
    "mass", "density", "moments", "inertia", "moment", "rod", "disk", "plate", "cuboid", "sphere",
    "cylinder", "cone", "point", "mesh", "planar", "centre", "scaled", "turned",
];

fn takes(word: &str) -> Takes {
    match word {
        "planar" | "point" => Takes::Nothing,
        "plate" => Takes::Vector(2, 2),
        "cuboid" => Takes::Vector(3, 3),
        "inertia" => Takes::Tensor,
        "mesh" => Takes::File,
        "moments" | "centre" => Takes::Vector(2, 3),
        "cylinder" | "cone" => Takes::Round,
        "turned" => Takes::Turn,
        _ => Takes::Number,
    }
}

/// A clause: its word, its place, and what follows.
struct Clause<'g> {
    word: &'static str,
    span: Span,
    values: Vec<Expr<'g>>,
    turn: Rotation,
    surface: Option<Surface>,
}

/// `body NAME [planar] SHAPE mass M [centre [X, Y, Z]] [turned TURN] [with SHAPE …]`, in any order after the name.
pub(super) fn body<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Body)?;
    let taken =
        NODES.iter().flat_map(|node| ["x", "y", "z"].map(|axis| suffixed(&name, &format!("{node}{axis}"))));
    if let Some((own, (role, place))) =
        taken.into_iter().find_map(|own| reader.names.get(&own).map(|first| (own, *first)))
    {
        let wrong = Diagnostic::at(span, format!("the body `{name}` has a coordinate `{own}`"));
        let already = format!("but this is {}", role.what());
        return Err(wrong.related(place, already).help("choose another name"));
    }
    // A shape, and those that `with` adds to it: each has its place, and its clauses.
    let mut shapes: Vec<(Span, Vec<Clause<'g>>)> = vec![(span, Vec::new())];
    while parser.peek().kind != Kind::End {
        let place = parser.peek().span;
        if parser.accept_word("with") {
            shapes.push((place, Vec::new()));
            continue;
        }
        let clause = clause(reader, parser)?;
        let Some((_, clauses)) = shapes.last_mut() else { unreachable!("there is a first shape") };
        if let Some(first) = clauses.iter().find(|other| other.word == clause.word) {
            return Err(twice(clause.word, clause.span, first.span)
                .help("remove one of them; another shape of the same body stands after `with`"));
        }
        clauses.push(clause);
    }
    let body = add(reader, &name, span, &shapes)?;
    for (_, clauses) in &shapes {
        let get = |word: &str| clauses.iter().find(|clause| clause.word == word);
        let Some(shape) = clauses.iter().find(|clause| DRAWN.contains(&clause.word)) else { continue };
        reader.shaped.push(Shaped {
            name: name.clone(),
            word: shape.word,
            lengths: shape.values.clone(),
            centre: get("centre").map(|clause| clause.values.clone()).unwrap_or_default(),
            turn: get("turned").map_or(Rotation::NONE, |clause| clause.turn),
        });
    }
    declare(reader, &body, span);
    Ok(())
}

/// The nodes of a body, in the names of its coordinates.
const NODES: [&str; 4] = ["", "a", "b", "c"];

fn clause<'g, 's>(
    reader: &mut Reader<'g, 's>,
    parser: &mut Parser<'g, 's>,
) -> Result<Clause<'g>, Diagnostic> {
    let (word, start) = one_of(parser, &WORDS, "a word that says what the body is like")?;
    let (mut values, mut rotation, mut surface) = (Vec::new(), Rotation::NONE, None);
    match takes(word) {
        Takes::Nothing => {}
        Takes::Number => values.push(reader.scalar(parser)?.0),
        Takes::Round => {
            values.push(reader.scalar(parser)?.0);
            one_of(parser, &["height"], "`height` and the height")?;
            values.push(reader.scalar(parser)?.0);
        }
        Takes::Vector(least, most) => {
            let (components, span) = reader.vector(parser)?;
            let found = components.len();
            if found < least || found > most {
                let wrong = format!("`{word}` takes a vector of {most}, not one of {found}");
                return Err(Diagnostic::at(span, wrong));
            }
            values = components;
        }
        Takes::Turn => rotation = turn(reader, parser)?,
        Takes::Tensor => values = tensor(reader, parser)?,
        Takes::File => {
            let place = parser.peek().span;
            let mesh = super::mesh::file(reader, parser)?;
            let vertices = mesh.nodes().to_vec();
            let triangles = mesh.triangles().iter().map(|corners| corners.map(|i| i as usize)).collect();
            surface = Some(Surface::new(vertices, triangles).map_err(|error| no_solid(place, &error))?);
        }
    }
    Ok(Clause { word, span: start.to(parser.previous()), values, turn: rotation, surface })
}

/// Principal moments `[A, B, C]`, or a tensor `[[A, D, E], [D, B, F], [E, F, C]]`.
fn tensor<'g, 's>(reader: &Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Result<Vec<Expr<'g>>, Diagnostic> {
    let start = parser.peek().span;
    let rows = parser.peek().kind == Kind::Sign("[") && parser.peek_next().kind == Kind::Sign("[");
    let of_three = |components: Vec<Expr<'g>>, span: Span| {
        match components.len() {
        3 => Ok(components),
        found => {
            Err(Diagnostic::at(span, format!("`inertia` takes a vector of 3, not one of {found}"))
                .help("give the principal moments `[I1, I2, I3]`, or three rows `[[A, D, E], [D, B, F], [E, F, C]]`"))
        }
    }
    };
    if !rows {
        let (components, span) = reader.vector(parser)?;
        return of_three(components, span);
    }
    parser.advance();
    let (mut values, mut count) = (Vec::new(), 0);
    loop {
        let (row, span) = reader.vector(parser)?;
        values.extend(of_three(row, span)?);
        count += 1;
        if !parser.accept(",") {
            break;
        }
    }
    reader.sign(parser, "]", "`,` or `]`")?;
    match count {
        3 => Ok(values),
        _ => Err(Diagnostic::at(
            start.to(parser.previous()),
            format!("a tensor of inertia has 3 rows, not {count}"),
        )
        .help("write `[[A, D, E], [D, B, F], [E, F, C]]`, which is symmetric")),
    }
}

fn no_solid(span: Span, error: &SurfaceError) -> Diagnostic {
    let wrong = Diagnostic::at(span, error.to_string());
    match error {
        SurfaceError::Matter(_) => wrong,
        _ => {
            wrong.help("a body is the solid that a closed surface of triangles encloses, all facing outwards")
        }
    }
}

/// The one clause that has one of these words.
fn one<'a, 'g>(
    clauses: &'a [Clause<'g>],
    words: &[&str],
    missing: impl Fn() -> Diagnostic,
) -> Result<&'a Clause<'g>, Diagnostic> {
    let mut found = clauses.iter().filter(|clause| words.contains(&clause.word));
    match (found.next(), found.next()) {
        (None, _) => Err(missing()),
        (Some(clause), None) => Ok(clause),
        (Some(first), Some(second)) => {
            let (a, b) = (first.word, second.word);
            Err(Diagnostic::at(second.span, format!("a body has `{a}` or `{b}`, not both"))
                .related(first.span, "given here first")
                .help("remove one of them"))
        }
    }
}

fn add<'g>(
    reader: &mut Reader<'g, '_>,
    name: &str,
    span: Span,
    shapes: &[(Span, Vec<Clause<'g>>)],
) -> Result<Body<'g>, Diagnostic> {
    let flat = |clause: &Clause<'g>| match clause.word {
        "planar" | "moment" => true,
        "moments" => clause.values.len() == 2,
        _ => false,
    };
    let all = shapes.iter().flat_map(|(_, clauses)| clauses);
    let dimensions = if all.into_iter().any(flat) { 2 } else { 3 };
    let mut whole: Option<Inertia> = None;
    for (place, clauses) in shapes {
        let (shape, matter) = read_shape(reader, name, *place, clauses, dimensions)?;
        let single =
            shapes.len() == 1 && clauses.iter().all(|c| !["centre", "turned", "mesh"].contains(&c.word));
        if single && let Some(body) = with_parameters(reader, name, shape, matter, dimensions)? {
            return Ok(body);
        }
        let inertia = framed(reader, clauses, shape, matter, dimensions)?;
        whole = Some(whole.map_or(inertia, |whole| whole.with(&inertia)));
    }
    let Some(inertia) = whole else { unreachable!("a body has a shape") };
    let model = &mut reader.setup.model;
    let body = if dimensions == 2 { model.planar_body(name, inertia) } else { model.body(name, inertia) };
    body.map_err(|error| refused(span, error))
}

/// What shape a body has, and how much matter, among clauses that fit together.
fn read_shape<'a, 'g>(
    reader: &Reader<'g, '_>,
    name: &str,
    span: Span,
    clauses: &'a [Clause<'g>],
    dimensions: usize,
) -> Result<(&'a Clause<'g>, &'a Clause<'g>), Diagnostic> {
    let lacks =
        |what: &str, help: &str| Diagnostic::at(span, format!("the body `{name}` has no {what}")).help(help);
    let shape = one(clauses, &SHAPES, || {
        lacks(
            "shape",
            "say how its mass is spread: `rod LENGTH`, `disk R`, `plate [A, B]`, `cuboid [A, B, C]`, `sphere R`, \
             `cylinder R height H`, `cone R height H`, `inertia [I1, I2, I3]`, `moments [L1, L2, L3]`, \
             `mesh \"FILE\"`, or `point`",
        )
    })?;
    let matter = one(clauses, &["mass", "density"], || {
        lacks("mass", "give its `mass`, or the `density` of its shape")
    })?;
    if dimensions == 2 && shape.word == "moments" && shape.values.len() == 3 {
        return Err(Diagnostic::at(shape.span, "a body of the plane has two second moments, not three")
            .help("leave out the third, or `planar`"));
    }
    if matter.word == "density" && ["moments", "moment", "inertia", "point"].contains(&shape.word) {
        let wrong =
            format!("`{}` does not say how large the body is, so a density is not enough", shape.word);
        return Err(Diagnostic::at(matter.span, wrong)
            .related(shape.span, "given here")
            .help("give its `mass`"));
    }
    let get = |word: &str| clauses.iter().find(|clause| clause.word == word);
    if let (Some(scaled), true) = (get("scaled"), shape.word != "mesh") {
        return Err(Diagnostic::at(scaled.span, format!("`{}` has its size, and is not scaled", shape.word))
            .related(shape.span, "given here")
            .help("`scaled` is for a mesh, as of one in millimetres: `mesh \"FILE\" scaled 1e-3`"));
    }
    if let (Some(centre), "mesh") = (get("centre"), shape.word) {
        return Err(Diagnostic::at(centre.span, "a mesh is where its file has it")
            .help("give points in the frame of the file; the centre of mass follows"));
    }
    for clause in clauses.iter().filter(|c| [shape.word, matter.word, "scaled"].contains(&c.word)) {
        for &value in &clause.values {
            only(
                reader,
                value,
                clause.span,
                &[],
                "mass and shape of a body are numbers, or expressions of parameters",
            )?;
        }
    }
    Ok((shape, matter))
}

/// A body whose parameters stay parameters, if its shape allows that.
fn with_parameters<'g>(
    reader: &mut Reader<'g, '_>,
    name: &str,
    shape: &Clause<'g>,
    matter: &Clause<'g>,
    dimensions: usize,
) -> Result<Option<Body<'g>>, Diagnostic> {
    if let Some(moments) = moments(shape, matter.values[0], dimensions) {
        let body = reader.setup.model.body_with_moments(name, matter.values[0], moments);
        return body.map(Some).map_err(|error| {
            let about_mass = matches!(&error, BodyError::NotPositive { what: BodySite::Mass(_), .. });
            refused(if about_mass { matter.span } else { shape.span }, error)
        });
    }
    let before = reader.fixed.borrow().len();
    let inertia = inertia(reader, &[], shape, matter)?;
    let symbolic = symbolic(shape, matter, dimensions).filter(|(_, moments)| same_nodes(&inertia, moments));
    let used = reader.fixed.borrow().len() > before;
    // The numbers have shown that the shape is one; from here on parameters stay parameters.
    reader.fixed.borrow_mut().truncate(before);
    let Some((mass, moments)) = symbolic.filter(|_| used) else { return Ok(None) };
    let body = reader.setup.model.body_with_moments(name, mass, moments);
    body.map(Some).map_err(|error| refused(shape.span, error))
}

/// The inertia of a shape where it is in the frame of the body.
fn framed<'g>(
    reader: &Reader<'g, '_>,
    clauses: &[Clause<'g>],
    shape: &Clause<'g>,
    matter: &Clause<'g>,
    dimensions: usize,
) -> Result<Inertia, Diagnostic> {
    let get = |word: &str| clauses.iter().find(|clause| clause.word == word);
    let inertia = inertia(reader, clauses, shape, matter)?;
    let mut offset = [0.0; 3];
    if let Some(centre) = get("centre") {
        if centre.values.len() != dimensions {
            let (found, kind) =
                (centre.values.len(), if dimensions == 2 { "of the plane" } else { "in space" });
            return Err(Diagnostic::at(
                centre.span,
                format!("the centre of a body {kind} has {dimensions} components, not {found}"),
            ));
        }
        for (to, &x) in offset.iter_mut().zip(&centre.values) {
            *to = reader.known(x, centre.span)?;
        }
    }
    let rotation = get("turned").map_or(Rotation::NONE, |clause| clause.turn);
    Ok(inertia.turned(&rotation).moved(offset))
}

/// The second moments of what is given by expressions.
fn moments<'g>(shape: &Clause<'g>, mass: Expr<'g>, dimensions: usize) -> Option<Vec<Expr<'g>>> {
    let mut moments = match shape.word {
        "moments" => shape.values.clone(),
        "moment" => vec![shape.values[0] / mass],
        "point" => Vec::new(),
        _ => return None,
    };
    moments.resize(dimensions, mass.like(0.0));
    Some(moments)
}

/// Mass and second moments of a shape as expressions of its parameters, as `Inertia` has them of numbers. Of principal moments of inertia they are not
/// known to be positive for other values than those of the text, so these stay numbers.
fn symbolic<'g>(
    shape: &Clause<'g>,
    matter: &Clause<'g>,
    dimensions: usize,
) -> Option<(Expr<'g>, Vec<Expr<'g>>)> {
    let zero = matter.values[0].like(0.0);
    let (size, mut moments) = match (shape.word, &shape.values[..]) {
        ("rod", &[l]) => (l, vec![l * l / 12.0, zero, zero]),
        ("disk", &[r]) => (PI * (r * r), vec![r * r / 4.0, r * r / 4.0, zero]),
        ("plate", &[a, b]) => (a * b, vec![a * a / 12.0, b * b / 12.0, zero]),
        ("cuboid", &[a, b, c]) => (a * b * c, vec![a * a / 12.0, b * b / 12.0, c * c / 12.0]),
        ("sphere", &[r]) => (4.0 / 3.0 * PI * (r * r * r), vec![r * r / 5.0; 3]),
        ("cylinder", &[r, h]) => (PI * (r * r) * h, vec![r * r / 4.0, r * r / 4.0, h * h / 12.0]),
        ("cone", &[r, h]) => (PI / 3.0 * (r * r) * h, vec![0.15 * (r * r), 0.15 * (r * r), 0.0375 * (h * h)]),
        _ => return None,
    };
    moments.truncate(dimensions);
    let mass = if matter.word == "density" { matter.values[0] * size } else { matter.values[0] };
    Some((mass, moments))
}

/// Whether a body extends along the same axes by its expressions as by its numbers, of which very small ones count as 0.
fn same_nodes(inertia: &Inertia, moments: &[Expr<'_>]) -> bool {
    const THIN: f64 = 1e-12;
    let second = inertia.second();
    let largest = (0..moments.len()).fold(0.0f64, |m, i| m.max(second[i][i]));
    moments
        .iter()
        .enumerate()
        .all(|(i, moment)| (moment.as_number() == Some(0.0)) == (second[i][i] <= THIN * largest))
}

/// The inertia of a shape in its own frame, by numbers.
fn inertia<'g>(
    reader: &Reader<'g, '_>,
    clauses: &[Clause<'g>],
    shape: &Clause<'g>,
    matter: &Clause<'g>,
) -> Result<Inertia, Diagnostic> {
    let numbers = |clause: &Clause<'g>| -> Result<Vec<f64>, Diagnostic> {
        clause.values.iter().map(|&value| reader.known(value, clause.span)).collect()
    };
    let mass = numbers(matter)?[0];
    let amount = if matter.word == "mass" { Matter::Mass(mass) } else { Matter::Density(mass) };
    if let Some(surface) = &shape.surface {
        let scaled = match clauses.iter().find(|clause| clause.word == "scaled") {
            None => surface.inertia(amount),
            Some(clause) => {
                let scale = numbers(clause)?[0];
                if scale <= 0.0 {
                    return Err(Diagnostic::at(clause.span, format!("a scale is positive, not {scale}")));
                }
                let vertices = surface.vertices().iter().map(|v| v.map(|x| scale * x)).collect();
                Surface::new(vertices, surface.triangles().to_vec())
                    .and_then(|surface| surface.inertia(amount))
            }
        };
        return scaled.map_err(|error| {
            no_solid(if matches!(error, SurfaceError::Matter(_)) { matter.span } else { shape.span }, &error)
        });
    }
    let found = match (shape.word, &numbers(shape)?[..]) {
        ("rod", &[length]) => Inertia::rod(amount, length),
        ("disk", &[radius]) => Inertia::disk(amount, radius),
        ("plate", &[a, b]) => Inertia::plate(amount, [a, b]),
        ("cuboid", &[a, b, c]) => Inertia::cuboid(amount, [a, b, c]),
        ("sphere", &[radius]) => Inertia::sphere(amount, radius),
        ("cylinder", &[radius, height]) => Inertia::cylinder(amount, radius, height),
        ("cone", &[radius, height]) => Inertia::cone(amount, radius, height),
        ("inertia", &[a, b, c]) => Inertia::principal(mass, [a, b, c]),
        ("inertia", &[a, b, c, d, e, f, g, h, i]) => Inertia::tensor(mass, [[a, b, c], [d, e, f], [g, h, i]]),
        ("moments", &[a, b, c]) => Inertia::second_moments(mass, [a, b, c]),
        ("moments", &[a, b]) => Inertia::second_moments(mass, [a, b, 0.0]),
        ("moment", &[moment]) => Inertia::planar(mass, moment),
        _ => Inertia::point(mass),
    };
    found.map_err(|error| {
        let place = if let InertiaError::BadMatter { .. } = error { matter.span } else { shape.span };
        Diagnostic::at(place, error.to_string())
    })
}

/// Makes the body's name its centre of mass, and declares its coordinates and what it tells.
fn declare<'g>(reader: &mut Reader<'g, '_>, body: &Body<'g>, span: Span) {
    let name = body.name();
    reader.declare(name, span, Role::Body);
    for coordinate in body.nodes().concat() {
        let own = coordinate.to_string();
        reader.scope.define(&own, coordinate);
        reader.scope.define(&format!("{own}'"), reader.setup.model.velocity(coordinate));
        reader.declare(&own, span, Role::Coordinate);
        reader.add_coordinate(&own);
    }
    let centre = body.centre();
    place(reader, name, centre.position(), Some(body.mass()));
    reader.scope.define(&format!("{name}.mass"), body.mass());
    for (i, part) in ["axis1", "axis2", "axis3"].into_iter().enumerate().take(body.dimensions()) {
        let mut axis = vec![0.0; body.dimensions()];
        axis[i] = 1.0;
        // A rod in space knows one direction only, a point none.
        if let Ok(direction) = centre.direction(axis) {
            reader.define(&format!("{name}.{part}"), &Value::Vector(direction));
        }
    }
    let momentum = body.angular_momentum();
    if let (Ok(angle), Ok(rate)) = (body.angle(), body.angular_rate()) {
        reader.scope.define(&format!("{name}.angle"), angle);
        reader.scope.define(&format!("{name}.angle'"), rate);
        reader.scope.define(&format!("{name}.angular_momentum"), momentum[2]);
    } else if let Ok(spin) = body.angular_velocity() {
        reader.define(&format!("{name}.spin"), &Value::Vector(spin.to_vec()));
        reader.define(&format!("{name}.angular_momentum"), &Value::Vector(momentum.to_vec()));
    }
}

/// Why mechanics refuses a body or a joint, at the place that is to blame.
pub(super) fn refused(span: Span, error: BodyError) -> Diagnostic {
    // What else mechanics says of numbers is a condition, not something to do.
    let advises = matches!(
        error,
        BodyError::Twice { .. }
            | BodyError::ZeroAxis { .. }
            | BodyError::Undefined { .. }
            | BodyError::Rotation(RotationError::Zero { .. })
    );
    match error.advice() {
        advice if advises => Diagnostic { span: Some(span), ..advice.into() },
        advice => Diagnostic::at(span, advice.to_string()),
    }
}
