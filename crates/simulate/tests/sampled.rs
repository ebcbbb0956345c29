//! A sampled parameter acts wherever the text uses it, or is refused there: for every statement, `ensemble` against `run --set`.

use crate::networks::beside_weights;
use leastaction_ensemble::Study;
use leastaction_expr::Graph;
use leastaction_integrate::Pace;
use leastaction_language::words;
use leastaction_output::Table;
use leastaction_simulate::{Method, Overrides, Source};

/// A mass point that moves, for statements that have nothing of their own.
const POINT: &str = "coord x\nparticle ball mass 1 at [x, 0]\nstart x = 1\n";
const BODY: &str = "body b planar rod 1 mass 1\njoint pivot pin b at [-0.5, 0] to ground\ngravity [0, -9.81]\nstart b at [0.5, 0]\n";

/// Cells that swing.
const MESH: &str =
    "mesh b box [1, 1, 1] cells [1, 1, 1]\nmaterial b density 2\nfield e linear on b young 20 poisson 0.3\n";
const MOVING: &str = "start b moving [z, 0, x]\n";

/// The statement, a text in which it depends on the parameter `A`, and whether that can be sampled.
#[rustfmt::skip]
const CASES: &[(&str, &[&str], bool)] = &[
    ("param", &[POINT, "potential A*x^2"], true),
    ("coord", &[POINT, "potential A*x^4"], true),
    ("momentum", &["coord x\nmomentum p\nhamiltonian p^2/(2*A) + x^2\nstart x = 1"], true),
    ("input", &[POINT, "input u = A*cos(A*t)\nforce x = u"], true),
    ("state", &[POINT, "state z' = A*x - z\nforce x = -z\nstart z = A/9"], true),
    ("part", &[POINT, "part holder(q, k)\n  potential k*q^2\nend\nplace s = holder(x, A)"], true),
    ("place", &[POINT, "part holder(q, k)\n  potential k*q^2\nend\nplace s = holder(x, 2*A)"], true),
    ("include", &[POINT, "include \"shared.motion\"\npotential twice*x^2"], true),
    ("let", &[POINT, "let k = A^2\nlet f(y) = A*y\npotential k*x^2 + f(x)"], true),
    ("particle", &["coord x\nparticle ball mass A at [x*A, A*x^2]\npotential x^2\nstart x = 1"], true),
    ("particle", &["coord x, y\nparticle ball mass [A, 1] at [x, y]\npotential x^2 + x*y + y^2\nstart x = 1"], true),
    ("point", &[POINT, "point q at [x + A, A]\npotential q.x^2"], true),
    ("point", &[BODY, "point q on b at [A, 0]\npotential q.y*A"], true),
    ("body", &["body b planar rod A mass A\njoint pivot pin b at [-A/2, 0] to ground\ngravity [0, -9.81]\nstart b_x = A/2"], true),
    ("body", &["body b planar disk A density 2\njoint pivot pin b at [-A, 0] to ground\ngravity [0, -9.81]\nstart b_x = A"], true),
    ("body", &["body b plate [A, 2*A] mass 1\njoint pivot ball b at [-1, 0, 0] to ground\ngravity [0, 0, -9.81]\nstart b at [1, 0, 0]"], true),
    ("body", &["body b cuboid [1, A, 2] density A\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], true),
    ("body", &["body b sphere A mass 1\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], true),
    ("body", &["body b cylinder A height 2*A mass 1\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], true),
    ("body", &["body b cone A height 2*A density 1\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], true),
    ("body", &["body b moments [A, 1, 2] mass A\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], true),
    ("body", &["body b planar moment A mass 1\ntorque b = 1\nstart b at [0, 0]"], true),
    ("body", &["body b inertia [A, 2, 2] mass 1\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("body", &["body b planar rod A mass 1 centre [0.5, 0]\ntorque b = 1\nstart b at [0, 0]"], false),
    ("body", &["body b planar rod 1 mass 1 centre [A, 0]\ntorque b = 1\nstart b at [0, 0]"], false),
    ("body", &["body b planar rod 1 mass 1 turned A\ntorque b = 1\nstart b at [0, 0]"], false),
    ("body", &["body b planar moments [A, 1] mass 1\ntorque b = 1\nstart b at [0, 0]"], true),
    ("body", &["body b planar point mass A\nforce b = [1, 2]\nstart b at [0, 0]"], true),
    ("body", &["body b cuboid [1, 2, 3] mass 1 turned zxz [A, 1, 2]\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("body", &["body b cuboid [1, 2, 3] mass 1 turned about [1, A, 2] by 1\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("body", &["body b cuboid [1, 2, 3] mass 1 turned about [1, 1, 2] by A\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("body", &["body b cuboid [1, 2, 3] mass 1 turned quaternion [1, A, 2, 0]\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("joint", &["body b planar rod 1 mass 1\njoint pivot pin b at [-A, 0] to ground\ngravity [0, -9.81]\nstart b_x = A"], true),
    ("joint", &["body b planar rod 1 mass 1\njoint link distance b to ground length A\ngravity [0, -9.81]\nstart b_x = A"], true),
    ("joint", &["body b planar rod 1 mass 1\njoint slide prismatic b to ground axis [1, A]\ngravity [0, -9.81]\nstart b at [0, 0]"], false),
    ("joint", &["body b planar rod 1 mass 1\njoint weld fixed b turned A - 2 to ground\nbody c planar rod 1 mass 1\ntorque c = 1\nstart b at [0, 0], c at [0, 0]"], false),
    ("joint", &["body b planar rod 1 mass 1\njoint pivot pin b to ground at [A, 0]\ntorque b = A\nstart b_x = A"], true),
    ("joint", &["body b planar rod 1 mass 1\njoint pivot pin b at [-0.5, 0] to [A*t, 0]\ngravity [0, -9.81]\nstart b at [0.5, 0]"], true),
    ("joint", &["body b sphere 1 mass 1\njoint pivot ball b at [A, 0, 0] to [A*t, 0, 0]\ngravity [0, 0, -9.81]\nstart b_x = -A"], true),
    ("joint", &["body b sphere 1 mass 1\njoint door hinge b to ground axis [0, 1, A]\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("joint", &["body b sphere 1 mass 1\njoint cross2 universal b to ground axis [1, 0, 0] and [0, 1, A - 2]\ntorque b = [1, 2, 3]\nstart b at [0, 0, 0]"], false),
    ("joint", &["body b sphere 1 mass 1\njoint rail cylindrical b to ground axis [0, 1, A]\ngravity [0, 0, -9.81]\nstart b at [0, 0, 0]"], false),
    ("joint", &["body b sphere 1 mass 1\njoint weld fixed b to ground turned about [0, 0, 1] by A - 2\nbody c sphere 1 mass 1\ntorque c = [1, 2, 3]\nstart b at [0, 0, 0], c at [0, 0, 0]"], false),
    ("spring", &[BODY, "spring from b to [A, 0] stiffness A length A"], true),
    ("damper", &[BODY, "damper from b to [A, 3] rate A"], true),
    ("mesh", &["mesh b box [1, 1, A] cells [1, 1, 1]\nmaterial b density 2\nfield e linear on b young 20 poisson 0.3\n", MOVING], false),
    ("mesh", &["mesh b box [1, 1, 1] cells [1, 1, 1] at [0, 0, A]\nmaterial b density 2\nfield e linear on b young 20 poisson 0.3\n", MOVING], false),
    ("atoms", &["atoms b at [0, 0, 0], [A, 0, 0]\nmaterial b mass 1\nfield e coulomb on b charge 1 k 1"], false),
    ("material", &["mesh b box [1, 1, 1] cells [1, 1, 1]\nmaterial b density A\nfield e linear on b young 20 poisson 0.3\n", MOVING], true),
    ("field", &[MESH, MOVING, "field f tethers on b stiffness A"], true),
    ("field", &[MESH, MOVING, "field f tethers on b stiffness A*(1 + x)"], false),
    ("field", &[MESH, MOVING, "field f on edges of b (u, v) = A*dot(u - v, u0 - v0)"], true),
    ("field", &[MESH, MOVING, "field f on nodes of b (u) where z < A/4 = u.x^2"], false),
    ("damping", &[MESH, MOVING, "damping b rate A"], true),
    ("damping", &[MESH, MOVING, "damping b viscosity A bulk A\ndamping e stiffness A/10\ndamping b edges A"], true),
    ("keep", &[MESH, MOVING, "keep volumes of b by floor(A*z/2)"], false),
    ("keep", &[MESH, MOVING, "keep on edges of b (u, v) where z < 0.5 = dot(u - v, u - v) + A*(u.x - v.z)^2"], true),
    ("attach", &[MESH, MOVING, "body h sphere 1 mass 1\nattach b z0 to h at [x, y, z - A]\nstart h at [0, 0, 2]"], false),
    ("fix", &[MESH, MOVING, "fix b z0 at [x + A*t^2, y, z]"], true),
    ("fix", &[MESH, MOVING, "fix b where z < A/4"], false),
    ("start", &[MESH, "start b moving [A*z, 0, x]"], false),
    ("start", &[MESH, "start b at [x + A*z, 0, x]"], false),
    ("force", &[MESH, "force b z1 = [A, 0, A*t]"], true),
    ("force", &[MESH, "force b where z > A/4 = [1, 0, t]"], false),
    ("gravity", &["coord x, y\nparticle ball mass 1 at [x, y]\ngravity [A, -A^2]"], true),
    ("kinetic", &["coord x\nkinetic A*x'^2\npotential x^2\nstart x = 1"], true),
    ("potential", &[POINT, "potential A*x^2"], true),
    ("network", &[POINT, "network well of x, cos(x) from \"well.safetensors\"\npotential A*x^2"], true),
    ("lagrangian", &["coord x\nlagrangian A*x'^2 - x^2\nstart x = 1"], true),
    ("hamiltonian", &["coord x\nmomentum p\nhamiltonian A*p^2 + x^2\nstart x = 1"], true),
    ("dissipation", &[POINT, "potential x^2\ndissipation A*x'^2"], true),
    ("force", &[POINT, "force x = A*cos(t)"], true),
    ("force", &[POINT, "force ball = [A, 0]"], true),
    ("torque", &["body b cuboid [1, 2, 3] mass 1\ntorque b = [A, A*t, 3]\nstart b at [0, 0, 0]"], true),
    ("force", &[BODY, "force b at [A/10, 0] = [A, 0]"], true),
    ("torque", &[BODY, "torque b = A"], true),
    ("constraint", &["coord x, y\nparticle ball mass 1 at [x, y]\ngravity [0, -9.81]\nconstraint x^2 + y^2 = A^2\nstart x = A"], true),
    ("constraint", &["coord x, y\nparticle ball mass 1 at [x, y]\ngravity [0, -9.81]\nconstraint slope: y' = A*x'"], true),
    ("constraint", &["coord x, y\nparticle ball mass 1 at [x, y]\npotential x^2*y\nconstraint lift: y = A*t\nstart x = 1"], true),
    ("start", &[POINT, "start x' = A"], true),
    ("start", &[POINT, "start x' = tanh(atan2(A, 2 + 0.247^2))^3"], true),
    ("start", &["coord x\nmomentum p\nhamiltonian p^2 + x^2\nstart p = A, x = A^2"], true),
    ("start", &["body b planar rod 1 mass 1\nstart b at [A, 0]"], false),
    ("start", &["body b planar rod 1 mass 1\nstart b from [0, 0] to [A, 0]"], false),
    ("start", &["body b planar rod 1 mass 1\nstart b at [0, 0] holding [A, 0]"], false),
    ("start", &["body b planar rod 1 mass 1\nstart b at [0, 0] turned A"], false),
    ("start", &["body b planar rod 1 mass 1\nstart b at [0, 0] moving [A, 0]"], false),
    ("start", &["body b planar rod 1 mass 1\nstart b at [0, 0] spinning A"], false),
    ("start", &["body b cuboid [1, 2, 3] mass 1\nstart b at [0, 0, 0] turned zxz [A, 1, 1] rates [1, 1, 1]"], false),
    ("start", &["body b cuboid [1, 2, 3] mass 1\nstart b at [0, 0, 0] turned zxz [1, 1, 1] rates [1, A, 1]"], false),
    ("start", &["body b cuboid [1, 2, 3] mass 1\nstart b at [0, 0, 0] turned about [1, A, 0] by 1 spinning [1, 0, 0]"], false),
    ("start", &["body b cuboid [1, 2, 3] mass 1\nstart b at [0, 0, 0] turned about [1, 1, 0] by A spinning [1, 0, 0]"], false),
    ("start", &["body b cuboid [1, 2, 3] mass 1\nstart b at [0, 0, 0] turned quaternion [1, A, 0, 0] spinning [1, 0, 0]"], false),
    ("start", &["body b cuboid [1, 2, 3] mass 1\nstart b at [0, 0, 0] spinning [1, A, 0] in body"], false),
    ("run", &[POINT, "start x' = 1\nrun until A"], false),
    ("run", &[POINT, "potential x^2\nrun until 1, method gauss4, step A/100"], false),
    ("run", &[POINT, "potential x^2\nrun until 1, tol A*1e-8"], false),
    ("tolerance", &[POINT, "potential x^2\ntolerance x = A*1e-8"], false),
    ("run", &[POINT, "potential x^2\nrun until 1, every A/10"], false),
    ("run", &[POINT, "potential x^2\nrun until 1, samples 2*A"], false),
    ("output", &[POINT, "potential A*x^2\noutput far = A*x"], true),
    ("invariant", &[POINT, "potential A*x^2\ninvariant e = x'^2/2 + A*x^2"], true),
    ("event", &[POINT, "force x = -1\nevent down: x = 1 - A/100, stop"], true),
    ("event", &[POINT, "force x = -A\nevent wall: x = 0.99, falling, set x' = -x'*A/3"], true),
    ("event", &[POINT, "potential A*x^2\nevent far: x = 0.99, falling, set A = 2*A"], true),
    ("event", &[POINT, "param lies = 0\nforce x = (lies - 1)*100*A\nevent floor: x = 0.9, falling, set x' = -0.1*x', finally set x' = 0, lies = 1"], true),
    ("every", &[POINT, "state u\nforce x = u\nevery A/40 set u = A - x"], true),
    ("every", &[POINT, "state u\nforce x = u\nevery 0.07 set u = A - x, x' = x'*A/2"], true),
    ("draw", &[POINT, "potential A*x^2\ndraw rod [A, 0] to ball, spring [0, A] to ball, dot ball mass A, trail ball, line [0, 0] to [A, 1], curve [s, A*s] for s from -A to A"], true),
];

const VALUES: [f64; 3] = [1.5, 2.0, 2.5];

/// Where a text ends with each value of the parameter, run by run.
pub(crate) fn one_by_one(source: &Source) -> Vec<Vec<u64>> {
    let run = |value: f64| {
        let asked = overrides(source, vec![("A".to_owned(), value)]);
        let run = source.simulation(&Graph::new(), &asked).unwrap().run().unwrap();
        run.trajectory.end().block().iter().map(|x| x.to_bits()).collect()
    };
    VALUES.map(run).into()
}

/// The method is the same for all values: one that is chosen need not be.
fn overrides(source: &Source, parameters: Vec<(String, f64)>) -> Overrides {
    let paced = source.text.contains("step") || source.text.contains(" tol ");
    let (method, tolerance) = if paced { (None, None) } else { (Some("dop853".to_owned()), Some(1e-9)) };
    let until = (!source.text.contains("until")).then_some(0.3);
    Overrides { parameters, method, tolerance, until, ..Overrides::default() }
}

/// How an error begins that some trajectories had.
pub(crate) const FAILED: &str = "trajectories failed";

/// The same as an ensemble; the error if the parameter cannot be sampled, or a trajectory fails.
pub(crate) fn together(source: &Source) -> Result<Vec<Vec<u64>>, String> {
    let graph = Graph::new();
    let asked = overrides(source, Vec::new());
    let mut problem = source.problem(&graph, &asked).unwrap();
    problem.check_sampled(["A"], &asked).map_err(|error| {
        error.diagnostics.expect("a refusal is at its place").render("model", &source.text, false)
    })?;
    let Method { integrator, .. } = problem.method(&asked).unwrap();
    let integrator = problem.with_events(integrator).unwrap();
    let rest = problem.rest(&asked).unwrap();
    let study = Study::new(integrator, problem.until)
        .sampling(["A=grid(1.5,2.5,3)"])
        .unwrap()
        .starting(rest)
        .reducing(["ends"])
        .unwrap()
        .events(problem.events())
        .threads(1);
    let results = study.run(&problem.dynamics, |_| ()).unwrap();
    if results.overview().failed > 0 {
        return Err(format!("{FAILED}: {:?}", results.overview().failures));
    }
    let (sheet, system) = (results.rows(0).unwrap(), problem.dynamics.system().clone());
    let mut ends = vec![Vec::new(); VALUES.len()];
    for i in 0..system.dimension() {
        let name = system.state_name(i);
        let column = sheet.columns().iter().position(|(_, other)| *other == name).unwrap();
        let mut values = Vec::new();
        sheet.read(column, 0..VALUES.len() as u64, &mut values).unwrap();
        ends.iter_mut().zip(values).for_each(|(end, value)| end.push(value.to_bits()));
    }
    Ok(ends)
}

/// What is wrong with a case, if something is.
fn fault(text: &str, sampled: bool) -> Option<String> {
    let source = beside_weights(text);
    match (together(&source), sampled) {
        (Ok(_), false) => Some("should be refused".to_owned()),
        (Ok(ends), true) if ends != one_by_one(&source) => {
            Some("an ensemble has other bits than its runs".to_owned())
        }
        (Ok(ends), true) => {
            (ends[0] == ends[1] || ends[1] == ends[2]).then(|| "does not depend on A".to_owned())
        }
        (Err(refusal), true) => Some(format!("is refused:\n{refusal}")),
        (Err(refusal), false) => {
            let placed = refusal.contains("`A` cannot be sampled") && refusal.contains("model:");
            (!placed).then(|| format!("is refused without a place:\n{refusal}"))
        }
    }
}

#[test]
fn a_sampled_parameter_acts_wherever_it_stands_or_is_refused() {
    let mut faults = Vec::new();
    for &(word, parts, sampled) in CASES {
        let text = format!("param A = 2\n{}\n", parts.concat());
        faults.extend(fault(&text, sampled).map(|fault| format!("{word} {fault}\n{text}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

/// A new statement has a case, too.
#[test]
fn every_statement_has_a_case() {
    for word in words() {
        let found = CASES.iter().any(|(case, parts, _)| {
            *case == word && parts.concat().contains(word) || *case == "param" && word == "param"
        });
        assert!(found, "`{word}` has no case in which it depends on a parameter");
    }
}

/// What stands in for a clause of `run` frees its parameter.
#[test]
fn a_clause_that_is_replaced_does_not_count() {
    let source = Source::text("model", "param A = 2\ncoord x\nkinetic x'^2\nstart x' = A\nrun until A\n");
    let graph = Graph::new();
    let asked = Overrides { until: Some(1.0), ..Overrides::default() };
    let problem = source.problem(&graph, &asked).unwrap();
    problem.check_sampled(["A"], &asked).unwrap();
    assert!(problem.check_sampled(["A"], &Overrides::default()).is_err());
    // An absolute tolerance takes the place of all that the text says.
    let source =
        Source::text("model", "param A = 2\ncoord x\nkinetic x'^2\nstart x' = A\ntolerance x = A/1e9\n");
    let asked = Overrides { absolute: Some(1e-9), ..Overrides::default() };
    let problem = source.problem(&graph, &asked).unwrap();
    problem.check_sampled(["A"], &asked).unwrap();
    assert!(problem.check_sampled(["A"], &Overrides::default()).is_err());
}

/// A constraint that jumps for other values of what is sampled is refused, although it does not as it stands; one whose pieces meet for all of them is not.
#[test]
fn what_jumps_for_other_values_is_refused() {
    let check = |constraint: &str| {
        let text = format!(
            "param A = 1\ncoord x, y\nparticle a mass 1 at [x, y]\nconstraint {constraint}\nrun until 2\n"
        );
        let (source, graph) = (Source::text("model", &text), Graph::new());
        let problem = source.problem(&graph, &Overrides::default()).unwrap();
        problem.check_sampled(["A"], &Overrides::default()).map_err(|error| error.to_string())
    };
    let refusal = check("y = select(t < A, 0, t - 1)").unwrap_err();
    assert!(refusal.contains("at other values of `A`"), "{refusal}");
    assert!(check("y = select(t < A, 0, t - A)").is_ok());
    assert!(check("y = A*max(0, t - 1)").is_ok());
}

/// Where something is sampled and nobody gives a step, a tolerance sets the steps: what suits the values of the text may be too long for others. So the trajectory of a spring a hundred times as
/// stiff is as good as that of the text.
#[test]
fn steps_follow_what_is_sampled() {
    let text = "param k = 1\ncoord x\nkinetic x'^2/2\npotential k*x^2/2\nstart x = 1\nrun until 20000\n";
    let (source, graph) = (Source::text("model", text), Graph::new());
    let mut problem = source.problem(&graph, &Overrides::default()).unwrap();
    let alone = problem.method(&Overrides::default()).unwrap().integrator;
    assert!(matches!(alone.pace(), Pace::Step(_)), "{}", alone.pace());
    let method = problem.method_for_all(&Overrides::default()).unwrap();
    assert!(matches!(method.integrator.pace(), Pace::Tolerance(_)), "{}", method.integrator.pace());
    let mut dynamics = problem.dynamics.clone();
    dynamics.set_parameter("k", 1e4).unwrap();
    let run = method.integrator.ends_only().run(&mut dynamics, &problem.start, 10.0).unwrap();
    assert!((run.end().q[0] - 1000.0_f64.cos()).abs() < 1e-6, "{:?}", run.end());
    // What is asked for holds for all.
    let asked = Overrides { step: Some(0.1), ..Overrides::default() };
    assert_eq!(problem.method_for_all(&asked).unwrap().integrator.pace(), &Pace::Step(0.1));
}
