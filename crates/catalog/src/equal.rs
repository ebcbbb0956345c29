//! Temporary: texts against builders.
use crate::random::Random;
use crate::system::ALL;
use leastaction_expr::Graph;
use leastaction_language::read;

fn compare(name: &str, size: Option<usize>) {
    let text = match name {
        "coupled-chain" => crate::system::coupled_chain::text(size.unwrap()),
        "coupled-pendulums" => crate::system::coupled_pendulums::text(size.unwrap()),
        "n-pendulum" => crate::system::n_pendulum::text(size.unwrap()),
        _ => {
            match std::fs::read_to_string(format!("{}/src/system/{name}.motion", env!("CARGO_MANIFEST_DIR")))
            {
                Ok(text) => text,
                Err(_) => {
                    println!("{name}: no file");
                    return;
                }
            }
        }
    };
    let entry = ALL.iter().find(|e| e.name == name).unwrap();
    let graph = Graph::new();
    let t0 = std::time::Instant::now();
    let new = match read(&graph, &text, &[]) {
        Ok(s) => s,
        Err(e) => {
            println!("{text}");
            panic!("{name}: {:?}", e.diagnostics)
        }
    };
    let reading = t0.elapsed();
    let old = (entry.build)(&graph, size.unwrap_or(1));
    assert_eq!(new.about, entry.about);
    let (a, b) = (old.model.equations().unwrap(), new.model.equations().unwrap());
    let same_text = a.to_string() == b.to_string();
    let (mut a, mut b) = (a.system().unwrap().dynamics().unwrap(), b.system().unwrap().dynamics().unwrap());
    let (sa, sb) = (a.system().clone(), b.system().clone());
    assert_eq!(sa.coordinates(), sb.coordinates());
    assert_eq!(sa.momenta(), sb.momenta());
    let pa: Vec<_> = sa.parameters().iter().collect();
    let pb: Vec<_> = sb.parameters().iter().collect();
    if pa != pb {
        println!("{name}: parameters {pa:?} -> {pb:?}");
    }
    let places = |s: &leastaction_mechanics::System| {
        s.places().iter().map(|p| (p.name.clone(), p.dimensions)).collect::<Vec<_>>()
    };
    if places(&sa) != places(&sb) {
        println!("{name}: places {:?} -> {:?}", places(&sa), places(&sb));
    }
    assert_eq!(format!("{:?}", sa.constraints()), format!("{:?}", sb.constraints()));
    let (fa, fb) = (format!("{:?}", sa.facts()), format!("{:?}", sb.facts()));
    if fa != fb {
        println!("{name}: facts\n{fa}\n{fb}");
    }
    assert_eq!((Some(old.plan.step), old.plan.until), (new.plan.step, new.plan.until));
    let inv = |t: &[leastaction_mechanics::Term]| t.iter().map(|t| t.name.clone()).collect::<Vec<_>>();
    assert_eq!(inv(&old.invariants), inv(&new.invariants));
    let same_inv = old.invariants.iter().zip(&new.invariants).all(|(a, b)| a.value == b.value);
    let lines = |d: &leastaction_language::Drawing| {
        d.parts
            .iter()
            .map(|p| match p {
                leastaction_language::Part::Line(x) => format!("line {}", x.len()),
                p => format!("{p:?}"),
            })
            .collect::<Vec<_>>()
    };
    let (da, db) = (lines(&old.drawing), lines(&new.drawing));
    assert_eq!(da.len(), db.len());
    for (x, y) in da.iter().zip(&db) {
        if x != y {
            println!("{name}: drawing {x} -> {y}");
        }
    }
    let start_a = a.start(&old.start()).unwrap();
    let start_b = {
        let v = new.start(&b).unwrap();
        b.start(&v).unwrap()
    };
    let off = |x: &[f64], y: &[f64]| {
        x.iter().zip(y).map(|(x, y)| (x - y).abs()).fold(0.0, f64::max)
            / x.iter().fold(1e-300, |m: f64, x| m.max(x.abs()))
    };
    let start = off(&start_a.block(), &start_b.block());
    let names =
        |s: &leastaction_mechanics::System| s.shares().iter().map(|x| format!("{x:?}")).collect::<Vec<_>>();
    let (na, nb) = (names(&sa), names(&sb));
    if na != nb {
        println!("{name}: shares {na:?}\n -> {nb:?}");
    }
    let n = sa.degrees();
    let mut random = Random::new(5);
    let (mut e, mut f, mut c) = (0.0f64, 0.0f64, 0.0f64);
    for _ in 0..20 {
        let y: Vec<f64> =
            start_a.block().iter().map(|y| y + 0.1 * y.abs().max(1e-3) * random.normal()).collect();
        let (mut ea, mut eb) = ([0.0], [0.0]);
        a.energy(&[0.3], &y, &mut ea).unwrap();
        b.energy(&[0.3], &y, &mut eb).unwrap();
        e = e.max(off(&ea, &eb));
        let (mut va, mut vb) = (vec![0.0; 2 * n], vec![0.0; 2 * n]);
        a.field(&[0.3], &y, &mut va).unwrap();
        b.field(&[0.3], &y, &mut vb).unwrap();
        f = f.max(off(&va, &vb));
        if sa.constraints().is_empty() {
            continue;
        }
        let k = (vec![0.0; sa.position_constraints()], vec![0.0; sa.constraints().len()]);
        let ((mut xa, mut ya), (mut xb, mut yb)) = (k.clone(), k);
        a.violations(&[0.3], &y, &mut xa, &mut ya).unwrap();
        b.violations(&[0.3], &y, &mut xb, &mut yb).unwrap();
        c = c.max(off(&xa, &xb)).max(off(&ya, &yb));
    }
    println!(
        "{name:24} {size:?} equations same text {same_text}, invariants {same_inv}, start {start:.0e}, energy {e:.0e}, field {f:.0e}, constraints {c:.0e}, read {reading:?}"
    );
    assert!(start < 1e-14 && e < 1e-12 && f < 1e-11 && c < 1e-11, "{name}");
}

#[test]
fn texts_say_what_builders_build() {
    for entry in ALL {
        match entry.size {
            None => compare(entry.name, None),
            Some(usual) => {
                for size in [1, 2, usual, 5, 12] {
                    compare(entry.name, Some(size))
                }
            }
        }
    }
}
#[test]
fn large() {
    for name in ["coupled-chain", "n-pendulum", "coupled-pendulums"] {
        let text = match name {
            "coupled-chain" => crate::system::coupled_chain::text(1000),
            "coupled-pendulums" => crate::system::coupled_pendulums::text(1000),
            _ => crate::system::n_pendulum::text(1000),
        };
        let graph = Graph::new();
        let t0 = std::time::Instant::now();
        read(&graph, &text, &[]).unwrap();
        let new = t0.elapsed();
        let entry = ALL.iter().find(|e| e.name == name).unwrap();
        let graph = Graph::new();
        let t0 = std::time::Instant::now();
        let _ = (entry.build)(&graph, 1000);
        println!("{name}: {} kB, read {new:?}, built {:?}", text.len() / 1000, t0.elapsed());
    }
}
