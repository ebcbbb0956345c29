//! Parts and included files: a text with them says what the same text written out says.
use leastaction_expr::Graph;
use leastaction_language::{Errors, Setup, format, read, read_in, whole};
use leastaction_mechanics::Dynamics;
use leastaction_testing::Random;
use std::path::{Path, PathBuf};

const LEGS: &str = "
param g = 9.81
coord x
particle trunk mass 5 at [x, 0]
part coil(k, q)
    potential store = k*q^2/2
    output pull = -k*q
end
part leg(trunk, at, l = 0.4, m = 1)
    param c = 0.1
    coord th, s[2]
    place hip = coil(k = 3, q = th)
    let swing(s) = l*[sin(s), -cos(s)]
    particle knee mass m at trunk + at + swing(th)
    particle bead[i] mass m/i at knee + [0, s[i]] for i in 1..2
    dissipation joint = c*th'^2/2
    constraint level: s[1] = s[2] + 0.1*th
    event low: th = 0, falling, set th' = -th'
    start th = 0.3, s[1] = 0.1
    output tall = knee.y, potential.hip.store, lambda_level
end
place left = leg(trunk, [0.1, 0], l = 0.5)
place leg[i] = leg(trunk, at = [0.1*i, 0], m = i) for i in 1..2
gravity [0, -g]
potential x^2
output apart = left.knee.x - leg[2].knee.x, low = sum(i in 1..2: leg[i].s[i])
start left.th' = 1
";

/// The same without parts: names with dots are written with underscores.
fn unrolled() -> String {
    let mut text = "param g = 9.81\ncoord x\nparticle trunk mass 5 at [x, 0]\n".to_owned();
    for (name, at, l, m) in
        [("left", "0.1", "0.5", "1"), ("leg1", "0.1", "0.4", "1"), ("leg2", "0.2", "0.4", "2")]
    {
        text.push_str(
            &"param Ll = LENGTH, Lm = MASS, Lc = 0.1, Lk = 3
coord Lth, Ls1, Ls2
potential Lstore = Lk*Lth^2/2
output Lpull = -Lk*Lth
particle Lknee mass Lm at trunk + [AT, 0] + Ll*[sin(Lth), -cos(Lth)]
particle Lbead1 mass Lm/1 at Lknee + [0, Ls1]
particle Lbead2 mass Lm/2 at Lknee + [0, Ls2]
dissipation Ljoint = Lc*Lth'^2/2
constraint Llevel: Ls1 = Ls2 + 0.1*Lth
start Lth = 0.3, Ls1 = 0.1
"
            .replace("LENGTH", l)
            .replace("MASS", m)
            .replace("AT", at)
            .replace('L', &format!("{name}_")),
        );
    }
    text + "gravity [0, -g]\npotential x^2\nstart left_th' = 1\n"
}

fn dynamics(setup: &Setup<'_>) -> Dynamics {
    setup.model.system().unwrap().dynamics().unwrap()
}

#[test]
fn parts_are_what_is_written_out() {
    let (a, b) = (Graph::new(), Graph::new());
    let (parts, plain) = (read(&a, LEGS, &[]).unwrap(), read(&b, &unrolled(), &[]).unwrap());
    let (mut parts, mut plain) = {
        let (mut first, second) = (dynamics(&parts), dynamics(&plain));
        let start = first.start(&parts.start(&first).unwrap()).unwrap();
        assert!(start.q.iter().all(|q| q.is_finite()));
        (first, second)
    };
    let names: Vec<String> = parts.system().coordinates().iter().map(|name| name.to_string()).collect();
    assert!(names.contains(&"left.th".to_owned()) && names.contains(&"leg[2].s[1]".to_owned()), "{names:?}");
    let other: Vec<String> = plain.system().coordinates().iter().map(|name| name.to_string()).collect();
    let alike = |name: &String| name.replace(['[', ']'], "").replace('.', "_");
    assert_eq!(names.iter().map(alike).collect::<Vec<_>>(), other);

    let mut random = Random::new(19);
    for _ in 0..20 {
        let y: Vec<f64> = (0..2 * names.len()).map(|_| random.between(-1.0, 1.0)).collect();
        let (mut one, mut two) = (vec![0.0; y.len()], vec![0.0; y.len()]);
        parts.rates(&[0.3], &y, &mut one).unwrap();
        plain.rates(&[0.3], &y, &mut two).unwrap();
        for (one, two) in one.iter().zip(&two) {
            assert!((one - two).abs() <= 1e-12 * one.abs().max(1.0), "{one} {two}");
        }
    }
}

#[test]
fn values_of_parts_are_set_from_outside() {
    let graph = Graph::new();
    let setup = read(&graph, LEGS, &[("left.l", 0.75), ("leg[2].c", 7.0)]).unwrap();
    let dynamics = dynamics(&setup);
    let value = |name: &str| {
        let place = dynamics.system().parameters().iter().position(|(other, _)| other == name);
        dynamics.parameters()[place.unwrap_or_else(|| panic!("no parameter {name}"))]
    };
    assert_eq!((value("left.l"), value("leg[1].l"), value("leg[2].m")), (0.75, 0.4, 2.0));
    assert_eq!((value("leg[2].c"), value("left.c"), value("left.hip.k")), (7.0, 0.1, 3.0));
    let outputs: Vec<&str> = setup.outputs.iter().map(|term| term.name.as_str()).collect();
    for name in ["left.tall", "leg[1].hip.pull", "potential.left.hip.store", "apart", "low"] {
        assert!(outputs.contains(&name), "{name}: {outputs:?}");
    }
    let events: Vec<&str> = setup.events.iter().map(|event| event.name.as_str()).collect();
    assert_eq!(events, ["left.low", "leg[1].low", "leg[2].low"]);
    assert_eq!(setup.events[1].sets[0].name, "leg[1].th'");
}

/// A formatted part has the same rates, and is formatted as it is.
#[test]
fn formatting_changes_no_part() {
    let tidy = format(LEGS).unwrap();
    assert_eq!(format(&tidy).unwrap(), tidy);
    let flat: String = LEGS.lines().map(|line| format!("{}\n", line.trim_start())).collect();
    assert_eq!(format(&flat).unwrap(), tidy);
    let texts = [LEGS, &tidy, &flat].map(|text| {
        let graph = Graph::new();
        let setup = read(&graph, text, &[]).unwrap();
        let equations = setup.model.equations().unwrap();
        format!("{:?} {:?}", equations.forces(), equations.hamiltonian())
    });
    assert_eq!(texts[0], texts[1]);
    assert_eq!(texts[0], texts[2]);
}

/// Names of the part hide those from outside, and arguments of functions hide those of the part.
#[test]
fn names_stay_in_their_part() {
    let text = "
param k = 100, mass = 2, rod = 3
part one(mass)
    param k = 1
    coord x
    let f(x) = k*x^2/2
    kinetic mass*x'^2/2
    potential f(2*x) + rod*x
end
coord x
place a = one(mass = 5)
place b = one(mass)
kinetic mass*x'^2/2
potential k*x^2/2
";
    let graph = Graph::new();
    let setup = read(&graph, text, &[]).unwrap();
    let h = setup.model.equations().unwrap().hamiltonian().unwrap();
    let symbols = ["x", "a.x", "b.x", "p_x", "p_a.x", "p_b.x", "k", "a.k", "b.k", "mass", "a.mass", "rod"];
    let values = [0.3, 0.5, 0.7, 1.1, 1.3, 1.7, 100.0, 1.0, 1.0, 2.0, 5.0, 3.0];
    let known: Vec<_> = symbols.iter().map(|name| graph.symbol(name)).zip(values).collect();
    let energy = 1.1f64.powi(2) / 4.0
        + 50.0 * 0.09
        + 1.3f64.powi(2) / 10.0
        + 0.5 * 1.0
        + 1.5
        + 1.7f64.powi(2) / 4.0
        + 0.5 * 1.96
        + 2.1;
    assert!((h.eval(&known).unwrap() - energy).abs() < 1e-13);
}

/// A value that the part has by itself may be made of the arguments before it, and not of names outside that are called so.
#[test]
fn values_are_made_of_arguments() {
    let text = "
param l = 100, k = 7
part one(l, m = 2*l, c = l, n = k)
    coord x
    kinetic m*x'^2/2 + c*x'^2/2 + n*x'^2/2
end
coord y
kinetic y'^2/2
place a = one(3)
place b = one(l)
";
    let graph = Graph::new();
    let setup = read(&graph, text, &[("a.l", 5.0)]).unwrap();
    let mass = dynamics(&setup).mass_entries(0.0, &[0.0; 3]).unwrap();
    assert_eq!(mass, [1.0, 10.0 + 5.0 + 7.0, 200.0 + 100.0 + 7.0]);
}

/// A folder of its own for files.
struct Folder(PathBuf);

impl Folder {
    fn with(name: &str, files: &[(&str, &str)]) -> Folder {
        let folder = std::env::temp_dir().join(format!("leastaction-parts-{name}-{}", std::process::id()));
        for (path, text) in files {
            let path = folder.join(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        Folder(folder)
    }

    fn wrong(&self, text: &str) -> String {
        let graph = Graph::new();
        let found: Result<_, Errors> = read_in(&graph, text, &[], Some(&self.0), &[]);
        found.unwrap_err().render("main.motion", text, false)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

const LIB: &str = "# legs\ninclude \"../common.motion\"\npart leg(l)\n    coord th\n    kinetic l^2*th'^2/2\nend\n\
                   input u = table \"drive.csv\" column u held";

fn folder(name: &str) -> Folder {
    Folder::with(
        name,
        &[
            ("lib/legs.motion", LIB),
            ("lib/drive.csv", "t,u\n0,1\n1,2\n"),
            ("common.motion", "param g = 9.81\n"),
            ("bad.motion", "param q = 1\ncoord y\nkinetic y'^2/2 + zz\n"),
            ("part.motion", "part open(l)\ncoord a\n"),
            ("a.motion", "include \"b.motion\"\n"),
            ("b.motion", "\ninclude \"a.motion\"\n"),
            ("latin.motion", "# \u{fffd}"),
        ],
    )
}

#[test]
fn files_are_included() {
    let folder = folder("read");
    let text = "# main\ninclude \"common.motion\" # g\ninclude \"lib/legs.motion\"\nplace left = leg(l = g)\nforce left.th = u\n";
    let all = whole(text, Some(&folder.0)).unwrap();
    assert_eq!(
        all,
        "# main\nparam g = 9.81\n\n# legs\n\npart leg(l)\n    coord th\n    kinetic l^2*th'^2/2\nend\n\
         input u = table \"lib/drive.csv\" column u held\nplace left = leg(l = g)\nforce left.th = u\n"
    );
    let shown = |text: &str| {
        let graph = Graph::new();
        let setup = read_in(&graph, text, &[], Some(&folder.0), &[]).unwrap();
        format!("{:?}", setup.model.equations().unwrap().forces())
    };
    assert_eq!(shown(text), shown(&all));
    assert_eq!(whole("coord x\n", None).unwrap(), "coord x\n");
}

#[test]
fn mistakes_are_shown_in_their_file() {
    let folder = folder("wrong");
    let shown = folder.wrong("coord x\ninclude \"bad.motion\"\nkinetic x'^2/2\npotential w\n");
    assert!(shown.contains("bad.motion:3:18") && shown.contains("kinetic y'^2/2 + zz"), "{shown}");
    assert!(shown.contains("main.motion:4:11"), "{shown}");
    let shown = folder.wrong("include \"common.motion\"\n\n\nparam g = 3\n");
    assert!(shown.contains("main.motion:4:7") && shown.contains("common.motion:1"), "{shown}");
    let shown = folder.wrong("include \"lib/legs.motion\"\nplace left = leg(l = [1, 2])\n");
    assert!(shown.contains("lib/legs.motion:5"), "{shown}");
    assert!(shown.contains("line 2 of the text that includes it"), "{shown}");
    let shown = folder.wrong("include \"a.motion\"\n");
    assert!(shown.contains("b.motion:2:9") && shown.contains("includes itself"), "{shown}");
    let shown = folder.wrong("coord x\ninclude \"gone.motion\"\n");
    assert!(shown.contains("main.motion:2:9") && shown.contains("cannot be read"), "{shown}");
    let shown = folder.wrong("include \"part.motion\"\ncoord x\n");
    assert!(shown.contains("part.motion:1:1") && shown.contains("does not end"), "{shown}");
    let shown = folder.wrong("include \"lib\"\n");
    assert!(shown.contains("it is no file"), "{shown}");
}

/// Errors that are found after reading, and those of a text without files, have their places too.
#[test]
fn later_mistakes_are_shown_in_their_file() {
    let folder = Folder::with("later", &[("more.motion", "coord y\nkinetic x'^2/2\n")]);
    let text = "coord x\ninclude \"more.motion\"\n";
    let graph = Graph::new();
    let setup = read_in(&graph, text, &[], Some(Path::new(&folder.0)), &[]).unwrap();
    let error = setup.model.system().unwrap_err();
    let shown = setup.explain(&error).render("main.motion", text, false);
    assert!(shown.contains("more.motion:1:7"), "{shown}");
}

/// What would be very much is refused soon.
#[test]
fn parts_that_multiply_are_refused() {
    let mut text = "part p0\n coord x\n kinetic x'^2/2\nend\n".to_owned();
    for i in 1..19 {
        text.push_str(&format!("part p{i}\n place a = p{0}\n place b = p{0}\nend\n", i - 1));
    }
    text.push_str("place all = p18\n");
    let graph = Graph::new();
    let wrong = read(&graph, &text, &[]).unwrap_err().to_string();
    assert!(wrong.contains("placed too often"), "{wrong}");
}
