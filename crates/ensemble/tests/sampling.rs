//! What is drawn, and what is said of what cannot be.

use leastaction_ensemble::{Launcher, Rest, Sampling};
use leastaction_expr::Graph;
use leastaction_integrate::{Launch, Starts};
use leastaction_mechanics::{Dynamics, Model, Term};
use leastaction_output::{About, Column, Record};
use std::fs;
use std::path::PathBuf;

/// A double pendulum with a parameter for each mass and length.
fn double_pendulum() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l] = model.parameters([("m", 1.0), ("l", 1.5)]);
    let [a, b] = model.coordinates(["a", "b"]);
    let elbow = [l * a.sin(), -l * a.cos()];
    model.particle("elbow", m, elbow);
    model.particle("hand", 1.0, [elbow[0] + b.sin(), elbow[1] - b.cos()]);
    model.gravity([0.0, -9.81]);
    model.system().unwrap().dynamics().unwrap()
}

/// A bead on a circle in Cartesian coordinates.
fn bead() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [x, y] = model.coordinates(["x", "y"]);
    model.particle("bead", 1.0, [x, y]);
    model.gravity([0.0, -9.81]);
    model.constraint("rod", x * x + y * y, 1.0);
    model.system().unwrap().dynamics().unwrap()
}

fn launcher(texts: &[&str], dynamics: &Dynamics, rest: &Rest, count: u64, seed: u64) -> Launcher {
    Launcher::new(&Sampling::read(texts).unwrap(), dynamics, rest, 0.0, count, seed).unwrap()
}

fn launch(launcher: &Launcher, index: u64, dynamics: &mut Dynamics) -> Launch {
    let (state, parameters) = (vec![0.0; dynamics.system().dimension()], dynamics.parameters().to_vec());
    let mut launch = Launch { state, parameters };
    launcher.launch(index, dynamics, &mut launch).unwrap();
    launch
}

fn bits(values: &[f64]) -> Vec<u64> {
    values.iter().map(|value| value.to_bits()).collect()
}

/// Starts have the bits of `Dynamics::start` with the values that were drawn, whichever way they are given, with parameters set before.
#[test]
fn starts_are_those_of_the_dynamics() {
    let (mut dynamics, mut other) = (double_pendulum(), double_pendulum());
    let rest = Rest::numbers([("b", 0.5), ("b'", -1.0)]);
    let velocities =
        launcher(&["a=uniform(-3,3)", "a'=normal(0,2)", "m=latin(0.5,2)"], &dynamics, &rest, 100, 1);
    let momenta = launcher(&["p_a=sobol(-1,1)", "a=1"], &dynamics, &rest, 100, 1);
    for index in 0..100 {
        let found = launch(&velocities, index, &mut dynamics);
        let drawn: Vec<f64> = (0..3).map(|place| velocities.value(place, index)).collect();
        other.set_parameter("m", drawn[2]).unwrap();
        let start = other.start(&[("a", drawn[0]), ("b", 0.5), ("a'", drawn[1]), ("b'", -1.0)]).unwrap();
        assert_eq!(bits(&found.state), bits(&start.block()));
        assert_eq!(found.parameters, [drawn[2], 1.5]);
        assert!((0.5..=2.0).contains(&drawn[2]) && drawn[0].abs() <= 3.0);
    }
    dynamics.set_parameter("m", 1.0).unwrap();
    other.set_parameter("m", 1.0).unwrap();
    for index in 0..100 {
        // Momenta that are drawn take the place of the velocities of the rest.
        let found = launch(&momenta, index, &mut dynamics);
        let start = other.start(&[("a", 1.0), ("b", 0.5), ("p_a", momenta.value(0, index))]).unwrap();
        assert_eq!(bits(&found.state), bits(&start.block()));
    }
}

/// On a circle of radius 1, whatever is drawn.
#[test]
fn starts_are_moved_onto_constraints() {
    let (mut dynamics, mut other) = (bead(), bead());
    let starts = launcher(
        &["x=uniform(0.9,1.1)", "y'=normal(0,1)", "y=uniform(-0.1,0.1)"],
        &dynamics,
        &Rest::default(),
        50,
        3,
    );
    for index in 0..50 {
        let found = launch(&starts, index, &mut dynamics).state;
        assert!((found[0].hypot(found[1]) - 1.0).abs() < 1e-14);
        assert!((found[0] * found[2] + found[1] * found[3]).abs() < 1e-14);
        let value = |place| starts.value(place, index);
        let start = other.start(&[("x", value(0)), ("y'", value(1)), ("y", value(2))]).unwrap();
        assert_eq!(bits(&found), bits(&start.block()));
    }
}

/// A start that depends on a parameter follows it.
#[test]
fn starts_follow_parameters() {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let [m, l] = model.parameters([("m", 1.0), ("l", 2.0)]);
    let x = model.coordinate("x");
    model.particle("bead", m, [x]);
    let mut dynamics = model.system().unwrap().dynamics().unwrap();
    let terms = [
        Term { name: "x".to_owned(), value: l * l + 1.0 },
        Term { name: "x'".to_owned(), value: graph.number(3.0) },
    ];
    let rest = Rest::terms(&terms, dynamics.system()).unwrap();
    let starts = launcher(&["l=uniform(1,2)", "m=grid(1,3,3)"], &dynamics, &rest, 30, 2);
    for index in 0..30 {
        let (l, m) = (starts.value(0, index), starts.value(1, index));
        assert_eq!(m, [1.0, 2.0, 3.0][index as usize % 3]);
        assert_eq!(launch(&starts, index, &mut dynamics).state, [l * l + 1.0, 3.0 * m]);
    }
    let free = [Term { name: "x".to_owned(), value: graph.symbol("nobody") }];
    assert!(Rest::terms(&free, dynamics.system()).is_err());
}

/// A Latin hypercube has one in each stratum of each dimension, and neighbours in one are strangers in the other.
#[test]
fn latin_hypercubes_have_one_in_each_stratum() {
    let dynamics = double_pendulum();
    for count in [1, 2, 3, 10, 97, 1000] {
        let starts = launcher(&["a=latin(0,1)", "b=latin(-2,2)"], &dynamics, &Rest::default(), count, 9);
        for (place, low, width) in [(0, 0.0, 1.0), (1, -2.0, 4.0)] {
            let mut draws = vec![0; count as usize];
            for index in 0..count {
                let part = (starts.value(place, index) - low) / width;
                draws[((part * count as f64) as usize).min(count as usize - 1)] += 1;
            }
            assert!(draws.iter().all(|&times| times == 1), "{count}: {draws:?}");
        }
    }
}

/// Grids make a product, the last one varies fastest, both ends are met, and others are drawn at each point.
#[test]
fn grids_make_a_product() {
    let dynamics = double_pendulum();
    let sampling = Sampling::read(["a=grid(-1,1,3)", "l=uniform(1,2)", "b=grid(0,pi,5)"]).unwrap();
    assert_eq!((sampling.count(None).unwrap(), sampling.shape()), (15, vec![3, 5]));
    let starts = Launcher::new(&sampling, &dynamics, &Rest::default(), 0.0, 30, 4).unwrap();
    let pi = std::f64::consts::PI;
    for index in 0..30 {
        let point = index % 15;
        assert_eq!(starts.value(0, index), [-1.0, 0.0, 1.0][point as usize / 5]);
        assert!((starts.value(2, index) - pi * (point % 5) as f64 / 4.0).abs() < 1e-15);
    }
    assert_eq!((starts.value(2, 4), starts.value(2, 0)), (pi, 0.0));
    assert_ne!(starts.value(1, 0), starts.value(1, 15), "each repetition is drawn anew");
}

/// The same seed draws the same, another one others; seed 0 does not shift a Sobol sequence, whose first point is the corner.
#[test]
fn seeds_repeat() {
    let dynamics = double_pendulum();
    let texts = ["a=uniform(0,1)", "b=normal(0,1)", "a'=latin(0,1)", "b'=sobol(0,1)", "l=sobol(1,2)"];
    let draw = |count, seed| {
        let starts = launcher(&texts, &dynamics, &Rest::default(), count, seed);
        (0..5)
            .map(|place| (0..count).map(|index| starts.value(place, index)).collect::<Vec<_>>())
            .collect::<Vec<_>>()
    };
    let (one, again, other, plain) = (draw(64, 1), draw(64, 1), draw(64, 2), draw(64, 0));
    assert_eq!(one, again);
    for place in 0..5 {
        assert!(one[place].iter().zip(&other[place]).all(|(a, b)| a != b), "{}", texts[place]);
    }
    assert_eq!((plain[3][0], plain[4][0], plain[3][1], plain[3][2]), (0.0, 1.0, 0.5, 0.75));
    // The second Sobol dimension is the second of the sequence, whatever stands before it: 0, 1/2, 1/4, 3/4.
    assert_eq!(plain[4][..4], [1.0, 1.5, 1.25, 1.75]);
    // More trajectories begin with the same ones, but for the strata of a Latin hypercube.
    let more = draw(128, 1);
    assert!((0..5).filter(|&place| place != 2).all(|place| more[place][..64] == one[place][..]));
}

/// Numbers come back from a file to the last bit; names may be quoted, lines may end as on any machine.
#[test]
fn files_are_read_to_the_last_bit() {
    let shelf = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("starts");
    fs::create_dir_all(&shelf).unwrap();
    let path = shelf.join("starts, all.csv");
    let values = [0.1, -0.0, 5e-324, 1.797_693_134_862_315_7e308, 1.0 / 3.0, 9_007_199_254_740_993.0];
    let rows: String = values.iter().map(|value| format!("{value:?},\"{:?}\"\r\n", value / 3.0)).collect();
    fs::write(&path, format!("\u{feff}a,\"the, \"\"b\"\"\"\r\n{rows}\r\n")).unwrap();
    let name = path.display();
    let texts =
        [format!("a=file(\"{name}\")"), format!("b=file(\"{name}\", a)"), "l=uniform(1,2)".to_owned()];
    let sampling = Sampling::read(&texts).unwrap();
    assert_eq!(sampling.count(None).unwrap(), 6);
    let starts = Launcher::new(&sampling, &double_pendulum(), &Rest::default(), 0.0, 6, 0).unwrap();
    let found: Vec<f64> = (0..6).map(|index| starts.value(0, index)).collect();
    assert_eq!(bits(&found), bits(&values));
    assert!((0..6).all(|index| starts.value(1, index).to_bits() == values[index as usize].to_bits()));
    let error = |text: String| Sampling::read([text]).unwrap_err().to_string();
    assert!(error(format!("x=file(\"{name}\")")).contains("has no column `x`; its columns are a, the"));
    assert!(error("a=file(nowhere.csv)".to_owned()).contains("cannot read `nowhere.csv`"));
    fs::write(&path, "a\n1\n2,3\nx\n").unwrap();
    let message = error(format!("a=file(\"{name}\")"));
    assert!(message.contains("line 4 of") && message.contains("has `x` in column `a`"), "{message}");
    fs::write(&path, "a\n").unwrap();
    assert!(error(format!("a=file(\"{name}\")")).contains("it has names, but no rows"));
    let many = Sampling::read(["a=grid(0,1,3)", "b=sobol(0,1)"]).unwrap();
    assert!(many.count(None).unwrap_err().to_string().contains("do not go together"));
}

/// Numbers that were written for NumPy come back to the last bit; of what is damaged, something is said.
#[test]
fn archives_are_read_to_the_last_bit() {
    let shelf = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("archives");
    fs::create_dir_all(&shelf).unwrap();
    let path = shelf.join("starts.npz");
    let values = [0.1, -0.0, 5e-324, 1.797_693_134_862_315_7e308, 1.0 / 3.0, 9_007_199_254_740_993.0];
    let record = |times: &[f64]| Record {
        times: times.to_vec(),
        coordinates: vec![Column { name: "a".to_owned(), values: values[..times.len()].to_vec() }].into(),
        energy: vec![f64::NAN; times.len()],
        ..Record::default()
    };
    leastaction_output::write(&path, &record(&[0.0, 1.0, 2.0, 3.0, 4.0, 5.0]).table(), &About::default())
        .unwrap();
    let text = |name: &str| format!("{name}=file({})", path.display());
    let sampling = Sampling::read([text("a")]).unwrap();
    assert_eq!(sampling.count(None).unwrap(), 6);
    let starts = Launcher::new(&sampling, &double_pendulum(), &Rest::default(), 0.0, 6, 0).unwrap();
    let found: Vec<f64> = (0..6).map(|index| starts.value(0, index)).collect();
    assert_eq!(bits(&found), bits(&values));
    let error = |name: &str| Sampling::read([text(name)]).unwrap_err().to_string();
    assert!(error("x").contains("has no column `x`; its columns are t, a, energy"), "{}", error("x"));
    assert!(error("energy").contains("number 1 of `energy` is NaN"), "{}", error("energy"));
    let whole = fs::read(&path).unwrap();
    for length in (0..whole.len()).step_by(13) {
        fs::write(&path, &whole[..length]).unwrap();
        assert!(Sampling::read([text("a")]).is_err(), "{length} bytes");
    }
    let mut random = leastaction_testing::Random::new(1);
    for _ in 0..300 {
        let mut damaged = whole.clone();
        (0..1 + random.below(3)).for_each(|_| damaged[random.below(whole.len())] = random.bits() as u8);
        fs::write(&path, &damaged).unwrap();
        let _ = Sampling::read([text("a")]);
    }
    leastaction_output::write(&path, &record(&[]).table(), &About::default()).unwrap();
    assert!(error("a").contains("`a` is empty"), "{}", error("a"));
}

/// What is wrong is said with the place and the remedy.
#[test]
fn mistakes_are_told() {
    let wrong = [
        ("th1", "`th1` does not say what to draw: write NAME=DISTRIBUTION, such as th1=uniform(-1,1)"),
        ("=3", "`=3` does not say what to draw: write NAME=DISTRIBUTION, such as th1=uniform(-1,1)"),
        ("x=norml(0,1)", "`x=norml(0,1)`: there is no distribution `norml`: did you mean `normal`?"),
        ("x=uniform", "`x=uniform`: it is written uniform(low, high)"),
        ("x=uniform(1)", "`x=uniform(1)`: 1 given, but it is written uniform(low, high)"),
        ("x=uniform(1,-1)", "`x=uniform(1,-1)`: 1 is not below -1; give the smaller number first"),
        (
            "x=uniform(0,y)",
            "`x=uniform(0,y)`: `y` is not a finite number; numbers and what is made of them, such as pi/4, can be given",
        ),
        (
            "x=1/0",
            "`x=1/0`: `1/0` is not a finite number; numbers and what is made of them, such as pi/4, can be given",
        ),
        ("x=normal(0,-1)", "`x=normal(0,-1)`: a standard deviation is not negative, but -1 is given"),
        (
            "x=grid(0,1,2.5)",
            "`x=grid(0,1,2.5)`: a grid has 2 points or more, a whole number of them, but 2.5 is given",
        ),
    ];
    for (text, message) in wrong {
        assert_eq!(Sampling::read([text]).unwrap_err().to_string(), message);
    }
    assert!(Sampling::read(["x=1", "x=2"]).unwrap_err().to_string().contains("`x` is sampled twice"));
    let dynamics = double_pendulum();
    let bound = |texts: &[&str], count| {
        let sampling = Sampling::read(texts).unwrap();
        Launcher::new(&sampling, &dynamics, &Rest::default(), 0.0, count, 0).err().unwrap().to_string()
    };
    assert_eq!(
        bound(&["aa=1"], 1),
        "there is no coordinate, velocity, momentum or parameter `aa` to draw: did you mean `a'`?; there are a, b, a', b', \
         p_a, p_b, m, l"
    );
    assert!(bound(&["a'=1", "p_b=1"], 1).contains("`a'` and `p_b` are both sampled"));
    assert!(bound(&["a=grid(0,1,5)"], 7).contains("the grids have 5 points: ask for 5, or for none"));
    assert!(bound(&["a=grid(0,1,5)", "b=uniform(0,1)"], 7).contains("ask for 5 or a multiple of it"));
    assert!(bound(&["a=uniform(0,1)"], 0).contains("no trajectories are asked for"));
    let grids = Sampling::read(["a=grid(0,1,1e15)", "b=grid(0,1,1e15)"]).unwrap();
    assert!(grids.count(None).is_err());
    assert!(
        Sampling::read(["a=uniform(0,1)"])
            .unwrap()
            .count(None)
            .unwrap_err()
            .to_string()
            .contains("give a count")
    );
    let texts: Vec<String> = (0..65).map(|i| format!("x{i}=sobol(0,1)")).collect();
    assert_eq!(Sampling::read(&texts).unwrap().count(Some(5)).unwrap(), 5);
}

/// No text makes it panic.
#[test]
fn any_text_is_read_or_refused() {
    let mut random = leastaction_testing::Random::new(11);
    let pieces = [
        "x", "=", "(", ")", ",", "grid", "uniform", "1", "-", "e9", "pi", "\"", "/", "é", " ", "file", "0",
        "^",
    ];
    for _ in 0..20_000 {
        let text: String = (0..random.below(12)).map(|_| random.pick(&pieces)).collect();
        let _ = Sampling::read([text]);
    }
}
