//! Data that cannot be used, and requests that make no sense: each is refused with its place, and nothing panics.

use leastaction_fit::{
    Fit, FitError, Free, Measure, Plan, Reading, ReadingError, Recording, Sheet, SheetError, fit,
};
use leastaction_simulate::{Overrides, Source};
use std::path::PathBuf;

const SPRING: &str =
    "param k = 5, m = 1\ncoord x\nparticle bob mass m at [x]\npotential k*x^2/2\nstart x = 1\n";

fn fitted(data: Recording, plan: &Plan) -> Result<Fit, FitError> {
    fit(&Source::text("spring", SPRING), &[data], plan, &Overrides::default())
}

fn times(count: usize) -> Vec<f64> {
    (0..count).map(|i| i as f64 * 0.1).collect()
}

fn swing(count: usize) -> Recording {
    Recording::new("swing", times(count))
        .with("x", times(count).iter().map(|t| (2.0 * t).cos()).collect::<Vec<_>>())
}

fn only_k() -> Plan {
    Plan { free: vec![Free::named("k")], ..Plan::default() }
}

#[track_caller]
fn refused(data: Recording, said: &str) {
    let error = fitted(data, &only_k()).unwrap_err().to_string();
    assert!(error.contains(said), "{error}");
}

#[test]
fn data_that_cannot_be_used_are_refused_with_the_place() {
    let changed = |i: usize, t: f64| {
        let mut data = swing(20);
        data.times[i] = t;
        data
    };
    refused(changed(7, 0.05), "time goes back from 0.6");
    refused(changed(7, f64::NAN), "row 8 has no time");
    refused(changed(19, f64::INFINITY), "row 20 has no time");
    let valued = |i: usize, x: f64| {
        let mut data = swing(20);
        data.channels[0].values[i] = x;
        data
    };
    refused(valued(3, f64::INFINITY), "`x` is infinite in row 4");
    refused(valued(3, 1e200), "1e200 in row 4");
    refused(Recording::new("swing", times(20)).with("x", vec![0.3; 20]), "0.3 in all 20 rows");
    refused(Recording::new("swing", times(20)).with("x", vec![f64::NAN; 20]), "no measured values");
    refused(Recording::new("swing", Vec::new()), "no rows");
    refused(Recording::new("swing", vec![1.0; 20]).with("x", times(20)), "all rows have the time 1");
    refused(Recording::new("swing", times(20)).with("x", times(19)), "19 values of `x` for 20 times");
    refused(swing(20).with("x", times(20)), "`x` is measured twice");
    refused(swing(20).sigma(0.0), "sigma of `x` is 0");
    refused(swing(20).sigma(f64::NAN), "sigma of `x` is NaN");
    refused(Recording::new("swing", times(20)).with("y", times(20)), "`y` is measured");
    refused(swing(1), "all rows have the time 0");
    refused(swing(3), "3 measured numbers are too few for 3 unknowns (k, x at the start, x' at the start)");
    assert!(matches!(
        fit(&Source::text("spring", SPRING), &[], &only_k(), &Overrides::default()),
        Err(FitError::NoData)
    ));
}

#[test]
fn requests_that_make_no_sense_are_refused() {
    let said = |plan: Plan| fitted(swing(20), &plan).unwrap_err().to_string();
    let free = |list: &[Free]| Plan { free: list.to_vec(), ..Plan::default() };
    assert!(said(free(&[Free::named("kk")])).contains("no parameter `kk`; there are k, m"));
    assert!(said(free(&[Free::named("k"), Free::named("k")])).contains("named twice"));
    assert!(
        said(free(&[Free::between("k", 6.0, 9.0)]))
            .contains("`k` is 5 in the model, outside of its limits 6 to 9")
    );
    assert!(
        said(Plan { known: vec!["v".to_owned()], ..only_k() }).contains("the start has no `v`; it has x, x'")
    );
    let mut early = swing(20);
    early.times.iter_mut().for_each(|t| *t -= 5.0);
    let error = fitted(early, &Plan { known_start: true, ..only_k() }).unwrap_err().to_string();
    assert!(error.contains("begins at t = -5, before the known start at 0"), "{error}");
}

/// Numbers of any size, noise alone, and gaps everywhere: a fit, a doubt or an error, but no panic, no endless loop, and no number that is not finite.
#[test]
fn odd_data_do_not_break_a_fit() {
    let mut random = leastaction_expr::Random::new(1);
    let noise: Vec<f64> = (0..30).map(|_| random.normal()).collect();
    let all = [
        noise.clone(),
        noise.iter().map(|x| x * 1e60).collect(),
        noise.iter().map(|x| x * 1e-60).collect(),
        noise.iter().map(|x| 1e8 + x).collect(),
        noise.iter().enumerate().map(|(i, x)| if i % 3 == 0 { *x } else { f64::NAN }).collect(),
        (0..30).map(|i| if i == 17 { 1e30 } else { 0.0 }).collect::<Vec<f64>>(),
        (0..30).map(|i| f64::from(i % 2)).collect(),
    ];
    for values in all {
        for scale in [1.0, 1e-9, 1e3] {
            let times: Vec<f64> = times(30).iter().map(|t| t * scale).collect();
            let data = Recording::new("odd", times).with("x", values.clone());
            let plan = Plan { free: vec![Free::between("k", 0.1, 100.0)], hints: false, ..Plan::default() };
            if let Ok(found) = fitted(data, &plan) {
                assert!(found.estimates.iter().all(|e| e.value.is_finite()), "{:?}", found.estimates);
                assert!(found.estimates.iter().all(|e| e.error.is_none_or(|error| error >= 0.0)));
            }
        }
    }
}

fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("fit-hostile");
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    std::fs::write(&path, bytes).unwrap();
    path
}

#[test]
fn files_that_are_no_tables_are_refused() {
    let said = |name: &str, bytes: &[u8]| Sheet::read(&file(name, bytes)).unwrap_err().to_string();
    assert!(said("empty.csv", b"").contains("is empty"));
    assert!(said("head.csv", b"t,x\n").contains("no rows"));
    assert!(said("numbers.csv", b"0,1\n1,2\n").contains("begins with numbers"));
    assert!(said("twice.csv", b"t,x,x\n0,1,2\n").contains("two columns are called `x`"));
    assert!(
        said("short.csv", b"t,x\n0,1\n1\n").contains("line 3 has 1 cells, where the line of names has 2")
    );
    assert!(said("semicolons.csv", b"t;x\n0;1\n").contains("by semicolons"));
    assert!(said("bytes.csv", b"t,x\n\xff\xfe,1\n").contains("line 2 is not UTF-8"));
    assert!(said("table.txt", b"t,x\n").contains("use .csv or .npz"));
    assert!(said("none.npz", b"no archive").contains("not an archive"));
    assert!(matches!(Sheet::read(&PathBuf::from("nowhere.csv")), Err(SheetError::System { .. })));
}

#[test]
fn columns_mean_what_is_said_of_them() {
    let text = "\u{feff}clock,angle [deg],err,remark,\"a, b\"\r\n# a comment\r\n0,90,1,begun,7\r\n\r\n500,,1,,7\r\n1000,-90,2,na,7\r\n";
    let sheet = Sheet::read(&file("good.csv", text.as_bytes())).unwrap();
    assert_eq!(sheet.column("a, b"), Some(&[7.0; 3][..]));
    let measure = |what: &str, formula: &str| Measure { what: what.to_owned(), formula: formula.to_owned() };
    let reading = Reading {
        time: Some("clock/1000".to_owned()),
        measures: vec![measure("x", "angle [deg]")],
        sigmas: vec![measure("x", "err*pi/180")],
    };
    let (recording, unused) = reading.recording(&sheet, |_| false, &[]).unwrap();
    assert_eq!(recording.times, [0.0, 0.5, 1.0]);
    let values = &recording.channels[0].values;
    assert!((values[0], values[2]) == (90.0, -90.0) && values[1].is_nan());
    assert_eq!(recording.channels[0].sigma.as_ref().unwrap()[2], 2.0 * std::f64::consts::PI / 180.0);
    assert_eq!(unused, ["remark", "a, b"]);
    let said =
        |reading: &Reading| reading.recording(&sheet, |name| name == "err", &["x".to_owned()]).unwrap_err();
    let plain = Reading::default();
    assert!(matches!(said(&plain), ReadingError::NoTime { .. }));
    let word = Reading { measures: vec![measure("x", "remark")], ..reading.clone() };
    assert!(said(&word).to_string().contains("line 3: `begun` in the column `remark` is no number"));
    let missing = Reading { measures: vec![measure("x", "2*errr")], ..reading.clone() };
    assert!(said(&missing).to_string().contains("no column `errr` (did you mean `err`?)"));
    let sigma = Reading { sigmas: vec![measure("y", "1")], ..reading.clone() };
    assert!(matches!(said(&sigma), ReadingError::Sigma { .. }));
    let broken = Reading { measures: vec![measure("x", "2*(err")], ..reading };
    assert!(matches!(said(&broken), ReadingError::Formula { .. }));
}
