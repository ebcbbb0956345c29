//! Data of one's own: what is right is read, and what is wrong is refused with its place and what to do.

use leastaction_learn::Dataset;
use leastaction_learn::data::{Kind, MeasuredPlan};
use leastaction_output::npz::Arrays;
use leastaction_simulate::{Overrides, Source};
use std::path::{Path, PathBuf};

const OMEGA: f64 = 2.0;
const DT: f64 = 0.05;

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("leastaction-measured-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

fn spring() -> Source {
    Source::text(
        "spring",
        "param k = 4\ncoord x\nparticle bob mass 1 at [x, 0]\npotential spring = k*x^2/2\nstart x = 1\nrun until 5\n",
    )
}

fn plan(files: &[&Path]) -> MeasuredPlan {
    let files = files.iter().map(|file| file.to_path_buf()).collect();
    MeasuredPlan { files, samples: None, dt: None, split: [None; 3], seed: 0, differences: false }
}

/// x = a cos ωt, with a name of its own for each trajectory.
fn csv(trajectories: usize, samples: usize, velocities: bool) -> String {
    let mut text =
        if velocities { "trajectory,t,x,x',colour\n" } else { "trajectory,t,x,colour\n" }.to_owned();
    for number in 0..trajectories {
        for k in 0..samples {
            let (t, a) = (k as f64 * DT, 1.0 + 0.1 * number as f64);
            let (x, v) = (a * (OMEGA * t).cos(), -a * OMEGA * (OMEGA * t).sin());
            text += &match velocities {
                true => format!("{number},{t:.4},{x},{v},red\n"),
                false => format!("{number},{t:.4},{x},red\n"),
            };
        }
    }
    text
}

fn message(text: &str, plan: impl Fn(&Path) -> MeasuredPlan) -> String {
    let folder = folder(&format!("message-{:?}", std::thread::current().id()));
    let path = folder.join("a.csv");
    std::fs::write(&path, text).unwrap();
    let wrong = Dataset::measured(&spring(), &Overrides::default(), &plan(&path)).unwrap_err().to_string();
    std::fs::remove_dir_all(folder).unwrap();
    wrong
}

#[test]
fn columns_and_arrays_become_datasets() {
    let folder = folder("columns");
    let path = folder.join("a.csv");
    std::fs::write(&path, csv(20, 30, true)).unwrap();
    let (dataset, findings) = Dataset::measured(&spring(), &Overrides::default(), &plan(&[&path])).unwrap();
    assert_eq!((dataset.kind, dataset.samples, dataset.split), (Kind::Measured, 30, [16, 2, 2]));
    assert_eq!((findings.trajectories, findings.left_out, findings.off), (20, 0, None));
    assert!((dataset.dt - DT).abs() < 1e-12);
    for trajectory in dataset.states.chunks_exact(60) {
        for (k, state) in trajectory.chunks_exact(2).enumerate() {
            let a = trajectory[0];
            let t = k as f64 * DT;
            assert!((state[0] - a * (OMEGA * t).cos()).abs() < 1e-12);
            assert!((state[1] + a * OMEGA * (OMEGA * t).sin()).abs() < 1e-12);
        }
    }
    // What is written is read back, and each trajectory is there once.
    let out = folder.join("out.npz");
    dataset.write(&out).unwrap();
    assert_eq!(Dataset::read(&out).unwrap(), dataset);
    let mut sizes: Vec<f64> = dataset.states.chunks_exact(60).map(|z| z[0]).collect();
    sizes.sort_by(f64::total_cmp);
    assert!(sizes.iter().enumerate().all(|(i, a)| (a - 1.0 - 0.1 * i as f64).abs() < 1e-12));

    // The same as arrays, in pieces of 10, and as z.
    let q: Vec<f64> = dataset.states.chunks_exact(2).map(|z| z[0]).collect();
    let v: Vec<f64> = dataset.states.chunks_exact(2).map(|z| z[1]).collect();
    for whole in [false, true] {
        let mut arrays = Arrays::default();
        match whole {
            true => arrays.push("z", &[20, 30, 2], dataset.states.clone()),
            false => {
                arrays.push("q", &[20, 30, 1], q.clone());
                arrays.push("v", &[20, 30, 1], v.clone());
            }
        }
        let file = folder.join("arrays.npz");
        leastaction_output::replace(&file, |writer| arrays.write(writer)).unwrap();
        let asked = MeasuredPlan {
            dt: Some(DT),
            samples: Some(10),
            split: [None, Some(0), Some(7)],
            ..plan(&[&file])
        };
        let (cut, findings) = Dataset::measured(&spring(), &Overrides::default(), &asked).unwrap();
        assert_eq!((cut.split, cut.samples, findings.left_out), ([53, 0, 7], 10, 0));
        let wrong = Dataset::measured(&spring(), &Overrides::default(), &plan(&[&file])).unwrap_err();
        assert!(wrong.to_string().contains("--every"), "{wrong}");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn velocities_are_found_from_positions() {
    let folder = folder("differences");
    let path = folder.join("a.csv");
    std::fs::write(&path, csv(5, 30, false)).unwrap();
    let asked = MeasuredPlan { differences: true, ..plan(&[&path]) };
    let (dataset, _) = Dataset::measured(&spring(), &Overrides::default(), &asked).unwrap();
    assert_eq!((dataset.samples, dataset.split), (26, [3, 1, 1]));
    for trajectory in dataset.states.chunks_exact(52) {
        // It begins two samples later; the error of the differences is h⁴/30 of the fifth derivative.
        let a = trajectory[0] / (2.0 * OMEGA * DT).cos();
        for (k, state) in trajectory.chunks_exact(2).enumerate() {
            let v = -a * OMEGA * (OMEGA * (k + 2) as f64 * DT).sin();
            assert!(
                (state[1] - v).abs() < 1.5 * DT.powi(4) / 30.0 * OMEGA.powi(5) * a,
                "{k}: {} {v}",
                state[1]
            );
        }
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn what_is_wrong_with_data_is_said() {
    let plain = |path: &Path| plan(&[path]);
    let good = csv(4, 20, true);
    for (text, expected) in [
        (String::new(), "it is empty"),
        ("t,x,x'\n".to_owned(), "has 0 samples"),
        ("0,1,2\n1,2,3\n".to_owned(), "write the names of the columns"),
        ("t,x\n0,1\n1,2\n".to_owned(), "no column `x'`; it has `t`, `x`; give velocities"),
        ("t,y,y'\n0,1,2\n".to_owned(), "the model has the coordinates x"),
        ("t,x,x'\n0,1\n".to_owned(), "line 2 has 2 fields, and the first line names 3"),
        ("t,x,x,x'\n0,1,1,1\n".to_owned(), "two columns `x`"),
        ("x,x'\n0,1\n1,2\n".to_owned(), "give `t`, or the time from sample to sample"),
        (good.replacen("0,0.2500,", "0,nan,", 1), "line 7: `t` is no finite number"),
        (good.replacen("0,0.2500,", "0,0.28,", 1), "times must be even"),
        ("t,x,x'\n0,1,0\n0,1,0\n0,1,0\n".to_owned(), "times must be even"),
        ("t,x,x'\n2,1,0\n1,1,0\n0,1,0\n".to_owned(), "times must be even"),
        (good.clone() + "4,0,1,0,red\n", "has 1 samples, and at least 2"),
        (good.clone() + "4,0,1,0,red\n4,0.1,1,0,red\n", "all trajectories must have the same spacing"),
    ] {
        let found = message(&text, plain);
        assert!(found.contains(expected), "{text:.60}: {found}");
    }
    let few = message(&good, |path| MeasuredPlan { split: [Some(4), Some(1), None], ..plan(&[path]) });
    assert!(few.contains("ask for fewer"), "{few}");
    let short = message(&good, |path| MeasuredPlan { samples: Some(21), ..plan(&[path]) });
    assert!(short.contains("has 20 samples, and at least 21"), "{short}");
    let twice = message(&good, |path| MeasuredPlan { dt: Some(0.1), ..plan(&[path]) });
    assert!(twice.contains("leave it out"), "{twice}");
    // Degrees for radians in one of both.
    let degrees: String = good
        .lines()
        .map(|line| {
            let fields: Vec<&str> = line.split(',').collect();
            let rate = fields[3].parse::<f64>().map_or(fields[3].to_owned(), |v| (57.3 * v).to_string());
            format!("{},{},{},{rate},{}\n", fields[0], fields[1], fields[2], fields[4])
        })
        .collect();
    let found = message(&degrees, plain);
    assert!(found.contains("`x` changes 0.02 times as fast as `x'` says"), "{found}");
}

#[test]
fn data_off_the_constraints_are_refused() {
    let source = Source::catalog("n-pendulum", Some(1)).unwrap();
    let folder = folder("constraints");
    let path = folder.join("a.csv");
    let table = |length: f64| {
        let mut text = "t,x1,y1,x1',y1'\n".to_owned();
        for k in 0..40 {
            let (t, th, v) = (0.03 * k as f64, 0.5 + 0.03 * k as f64, 1.0);
            let (x, y) = (length * th.sin(), -length * th.cos());
            text += &format!("{t},{x},{y},{},{}\n", length * v * th.cos(), length * v * th.sin());
        }
        text
    };
    std::fs::write(&path, table(1.172151)).unwrap();
    let asked = MeasuredPlan { samples: Some(5), ..plan(&[&path]) };
    let (dataset, findings) = Dataset::measured(&source, &Overrides::default(), &asked).unwrap();
    assert_eq!(dataset.split, [6, 1, 1]);
    assert!(findings.off.unwrap() < 1e-10, "{findings:?}");
    // Centimetres, and a length that is 1 % off.
    std::fs::write(&path, table(117.2151)).unwrap();
    let wrong = Dataset::measured(&source, &Overrides::default(), &asked).unwrap_err().to_string();
    assert!(wrong.contains("do not obey the constraints") && wrong.contains("--set"), "{wrong}");
    std::fs::write(&path, table(1.172151 * 1.01)).unwrap();
    let (_, findings) = Dataset::measured(&source, &Overrides::default(), &asked).unwrap();
    assert!((findings.off.unwrap() - 0.01).abs() < 1e-3, "{findings:?}");
    std::fs::remove_dir_all(folder).unwrap();
}
