//! Studies: as a whole, in parts, broken off and resumed, merged.

use leastaction_ensemble::{Finding, Histogram, Map, Quantiles, Results, Shard, Stats, StoreError, Study};
use leastaction_expr::Graph;
use leastaction_integrate::{Card, Event, Integrator, Pace, Tolerance};
use leastaction_mechanics::{Dynamics, Model};
use leastaction_output::{About, ColumnKind, Table};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

fn pendulum() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let l = model.parameter("l", 1.0);
    let a = model.coordinate("a");
    model.particle("bob", 1.0, [l * a.sin(), -l * a.cos()]);
    model.gravity([0.0, -9.81]);
    model.system().unwrap().dynamics().unwrap()
}

/// A ball in a field without forces but gravity, with the start as it is drawn.
fn ball() -> Dynamics {
    let graph = Graph::new();
    let mut model = Model::new(&graph);
    let y = model.coordinate("y");
    model.particle("ball", 2.0, [y]);
    model.gravity([-10.0]);
    model.system().unwrap().dynamics().unwrap()
}

/// A directory of this test alone, which is not there.
fn shelf(name: &str) -> PathBuf {
    let shelf = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(format!("study-{name}"));
    let _ = fs::remove_dir_all(&shelf);
    shelf
}

fn swings() -> Study {
    Study::new(Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap(), 2.0)
        .sampling(["a=uniform(-3,3)", "a'=normal(0,1)", "l=latin(0.5,2)"])
        .unwrap()
        .reducing([
            "stats(a, a'^2*l)",
            "quantiles(a)",
            "histogram(a, -3, 3, 30)",
            "ends(cos(a))",
            "histogram2(a, -3, 3, 8, a', -9, 9, 9)",
        ])
        .unwrap()
        .count(500)
        .seed(5)
        .chunk(32)
        .threads(2)
        .note("system", "pendulum")
}

/// All that results say, bit for bit.
fn all(results: &Results) -> (Vec<Vec<u8>>, Vec<Vec<u64>>, u64, u64) {
    let (mut summaries, mut tables) = (Vec::new(), Vec::new());
    for (_, finding) in results.findings() {
        match finding {
            Finding::Summary(summary) => {
                let mut bytes = Vec::new();
                summary.save(&mut bytes);
                summaries.push(bytes);
            }
            Finding::Rows(sheet) => {
                for k in 0..sheet.columns().len() {
                    let mut column = Vec::new();
                    sheet.read(k, 0..sheet.rows(), &mut column).unwrap();
                    tables.push(column.iter().map(|value| value.to_bits()).collect());
                }
            }
        }
    }
    (summaries, tables, results.overview().complete, results.overview().steps)
}

/// y₀ + v₀t − gt²/2 with y₀ on a grid: mean, deviation, histogram and map in closed form.
#[test]
fn reductions_of_a_fall_are_known() {
    let fall = Study::new(Integrator::named("verlet", 0.25).unwrap(), 2.0)
        .sampling(["y=grid(0,100,101)"])
        .unwrap()
        .reducing([
            "stats(y, start(y), p_y)",
            "map(y + 20)",
            "quantiles(y, 0, 0.5, 1)",
            "histogram(y, -20, 80, 10)",
        ])
        .unwrap();
    let results = fall.run(&ball(), |_| ()).unwrap();
    let stats: Vec<_> = results.summary::<Stats>(0).unwrap().list().map(|(_, m)| m.clone()).collect();
    // 0 … 100 minus 20: the deviation of n whole numbers is √(n(n + 1)/12).
    let deviation = (101.0f64 * 102.0 / 12.0).sqrt();
    assert_eq!((stats[0].count(), stats[0].mean(), stats[1].mean()), (101, 30.0, 50.0));
    assert!(
        (stats[0].deviation() - deviation).abs() <= 4e-16 * deviation
            && stats[1].deviation() == stats[0].deviation()
    );
    assert_eq!((stats[0].least(), stats[0].largest()), (Some((-20.0, 0)), Some((80.0, 100))));
    assert_eq!((stats[2].mean(), stats[2].deviation()), (-40.0, 0.0));
    let map = results.summary::<Map>(1).unwrap();
    assert_eq!(map.values(), (0..=100).map(f64::from).collect::<Vec<_>>());
    assert_eq!((map.axes(), map.axis(0)[100]), (&[("y".to_owned(), 101)][..], 100.0));
    let quantiles = results.summary::<Quantiles>(2).unwrap();
    assert_eq!([0.0, 1.0].map(|part| quantiles.quantile(part)), [-20.0, 80.0]);
    assert!((quantiles.quantile(0.5) - 30.0).abs() < 30.0 / 4096.0);
    // Ten in each, and the last edge in the last bin.
    assert_eq!(results.summary::<Histogram>(3).unwrap().counts(), [10, 10, 10, 10, 10, 10, 10, 10, 10, 11]);
}

/// However trajectories are cut into chunks, threads and lanes, summaries and rows are the same.
#[test]
fn chunks_and_threads_do_not_matter() {
    let dynamics = pendulum();
    let one = all(&swings().run(&dynamics, |_| ()).unwrap());
    for study in [swings().chunk(7), swings().threads(1), swings().chunk(1000).in_lanes(false)] {
        assert!(all(&study.run(&dynamics, |_| ()).unwrap()) == one);
    }
    assert!(all(&swings().seed(6).run(&dynamics, |_| ()).unwrap()) != one);
}

/// Shards merged are the whole, bit for bit; gaps, overlaps and strangers are refused.
#[test]
fn shards_make_the_whole() {
    let (dynamics, shelf) = (pendulum(), shelf("shards"));
    let whole = swings().run(&dynamics, |_| ()).unwrap();
    let at = |i: u64| shelf.join(i.to_string());
    let run = |i: u64| {
        let shard = swings().shard(Shard::new(i, 3).unwrap()).kept_in(&at(i)).run(&dynamics, |_| ()).unwrap();
        assert!(shard.done == shard.total && shard.total < 500 && !shard.interrupted);
    };
    run(1);
    run(3);
    let gap = Results::merge(&[at(1), at(3)]).err().unwrap();
    assert_eq!(gap.to_string(), "trajectories 160 to 319 are missing: run these shards to their end first");
    run(2);
    let merged = Results::merge(&[at(2), at(3), at(1)]).unwrap();
    assert!(all(&merged) == all(&whole));
    assert_eq!((merged.done, merged.overview().count()), (500, 500));
    assert!(matches!(Results::merge(&[at(1), at(2), at(2), at(3)]), Err(StoreError::Overlap { .. })));
    assert!(matches!(Results::merge(&[&shelf]), Err(StoreError::NoManifest { .. })));
    assert!(matches!(Results::merge::<&Path>(&[]), Err(StoreError::Nothing)));
    let other = swings().seed(6).kept_in(&at(6)).run(&dynamics, |_| ()).unwrap();
    assert!(other.done == 500);
    let message = Results::merge(&[at(1), at(6)]).err().unwrap().to_string();
    assert!(message.contains("its seed is `6`, and here it is `5`"), "{message}");
}

/// Broken off between chunks and run again: the bits of a study that was not. What is damaged is computed anew.
#[test]
fn studies_go_on_where_they_were_left() {
    let (dynamics, shelf) = (pendulum(), shelf("resume"));
    let whole = all(&swings().run(&dynamics, |_| ()).unwrap());
    let mut sessions = 0;
    loop {
        let stop = Arc::new(AtomicBool::new(false));
        let mut chunks = 0;
        let results = swings()
            .kept_in(&shelf)
            .stopped_by(stop.clone())
            .run(&dynamics, |_| {
                chunks += 1;
                stop.store(chunks >= 5, Ordering::Relaxed);
            })
            .unwrap();
        sessions += 1;
        if !results.interrupted {
            assert!(all(&results) == whole && results.done == 500);
            break;
        }
        assert!(results.done < 500 && results.overview().count() == results.done);
        assert!(sessions < 20);
    }
    assert!(sessions >= 3, "{sessions}");
    // Nothing is left to do.
    let mut chunks = 0;
    let again = swings().kept_in(&shelf).run(&dynamics, |_| chunks += 1).unwrap();
    assert!(all(&again) == whole && chunks == 0);
    // A byte is changed in one chunk, another is cut off, a third is gone.
    let damage = |number: usize, change: &dyn Fn(&mut Vec<u8>)| {
        let path = shelf.join(format!("{number:09}.chunk"));
        let mut bytes = fs::read(&path).unwrap();
        change(&mut bytes);
        fs::write(&path, bytes).unwrap();
    };
    damage(3, &|bytes| bytes[100] ^= 4);
    damage(4, &|bytes| bytes.truncate(50));
    fs::remove_file(shelf.join("000000009.chunk")).unwrap();
    assert!(matches!(Results::merge(&[&shelf]), Err(StoreError::Missing { .. })));
    let mut chunks = 0;
    let mended = swings().kept_in(&shelf).run(&dynamics, |_| chunks += 1).unwrap();
    assert!(all(&mended) == whole && chunks == 3);
    // What is run again is said; what is missing was never there.
    assert_eq!(mended.damaged, [3, 4].map(|number| shelf.join(format!("{number:09}.chunk"))));
    assert!(all(&Results::merge(&[&shelf]).unwrap()) == whole);
}

/// A study that was killed while it wrote its manifest goes on; whatever else is in a directory is left alone.
#[test]
fn a_part_of_a_manifest_is_no_obstacle() {
    let (dynamics, shelf) = (pendulum(), shelf("part"));
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join(".manifest.4711-0.part"), "vers").unwrap();
    let results = swings().kept_in(&shelf).run(&dynamics, |_| ()).unwrap();
    assert!(results.done == 500 && results.damaged.is_empty());
    assert!(!shelf.join(".manifest.4711-0.part").exists());
    fs::remove_dir_all(&shelf).unwrap();
    fs::create_dir_all(&shelf).unwrap();
    fs::write(shelf.join(".letter.4711-0.part"), "Dear").unwrap();
    let refused = swings().kept_in(&shelf).run(&dynamics, |_| ()).err().unwrap();
    assert!(matches!(refused, leastaction_ensemble::StudyError::Store(StoreError::Occupied { .. })));
    assert!(shelf.join(".letter.4711-0.part").exists());
}

/// A directory of another study is left alone.
#[test]
fn other_studies_are_refused() {
    let (dynamics, shelf) = (pendulum(), shelf("other"));
    swings().count(40).kept_in(&shelf).run(&dynamics, |_| ()).unwrap();
    let refused = |study: Study, dynamics: &Dynamics| {
        study.count(40).kept_in(&shelf).run(dynamics, |_| ()).err().unwrap().to_string()
    };
    assert!(refused(swings().seed(9), &dynamics).contains("its seed is `5`, and here it is `9`"));
    assert!(refused(swings().chunk(16), &dynamics).contains("its chunk is `32`, and here it is `16`"));
    assert!(refused(swings().reducing(["stats(a)"]).unwrap(), &dynamics).contains("its reduce is"));
    assert!(refused(swings().sampling(["a=latin(-3,3)"]).unwrap(), &dynamics).contains("its sample is"));
    assert!(
        refused(swings().note("text", "other"), &dynamics)
            .contains("its text is `` , and".replace(" ,", ",").as_str())
    );
    let mut longer = dynamics.clone();
    longer.set_parameter("l", 1.25).unwrap();
    assert!(refused(swings(), &longer).contains("its parameters is `l=1.0`, and here it is `l=1.25`"));
    fs::remove_file(shelf.join("manifest")).unwrap();
    assert!(refused(swings(), &dynamics).contains("has no manifest, but something else is in it"));
}

/// Trajectories that cannot begin are counted and told, and do not disturb the others.
#[test]
fn failures_are_counted() {
    let mut study = Study::new(Integrator::named("verlet", 0.1).unwrap(), 1.0);
    study = study
        .sampling(["l=grid(-1, 2, 4)", "a=0.5"])
        .unwrap()
        .reducing(["stats(l)", "map(l)", "ends"])
        .unwrap();
    // A pendulum of length 0 has no inertia.
    let results = study.in_lanes(false).run(&pendulum(), |_| ());
    let results = match results {
        Ok(results) => results,
        // Verlet's method needs a Hamiltonian that is separable.
        Err(error) => panic!("{error}"),
    };
    let overview = results.overview();
    assert_eq!((overview.complete, overview.failed), (3, 1));
    assert!(overview.failures[0].0 == 1 && overview.failures[0].1.contains("the mass matrix is singular"));
    let stats = results.summary::<Stats>(0).unwrap().list().next().unwrap().1.clone();
    assert_eq!((stats.count(), stats.mean()), (3, 2.0 / 3.0));
    assert!(results.summary::<Map>(1).unwrap().values()[1].is_nan());
    let mut fates = Vec::new();
    results.rows(2).unwrap().read(1, 0..4, &mut fates).unwrap();
    assert_eq!(fates, [1.0, 0.0, 1.0, 1.0]);
    let words = ["failed", "complete"].map(str::to_owned);
    assert_eq!(results.rows(2).unwrap().kind(1), ColumnKind::Word(words.into()));
    assert_eq!(results.rows(2).unwrap().kind(0), ColumnKind::Whole);
}

/// A ball from height h hits the ground at √(2h/g), and passes half of it at √(h/g).
#[test]
fn events_are_kept() {
    let mut dynamics = ball();
    let half = Event::new(dynamics.observable("y - 5").unwrap()).falling();
    let ground = Event::new(dynamics.observable("y").unwrap()).falling().terminal();
    let integrator =
        Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap().event(half).event(ground);
    let texts = ["events", "stats(first(half), t, crossings(half))", "map(first(ground))", "events(ground)"];
    let drop = Study::new(integrator, 1.5)
        .events(["half", "ground"])
        .sampling(["y=grid(4, 20, 17)"])
        .unwrap()
        .reducing(texts)
        .unwrap();
    let results = drop.run(&dynamics, |_| ()).unwrap();
    let lands = |h: f64| (2.0 * h / 10.0).sqrt();
    let map = results.summary::<Map>(2).unwrap();
    for (i, &t) in map.values().iter().enumerate() {
        let exact = lands(4.0 + i as f64);
        if exact < 1.5 {
            assert!((t - exact).abs() < 1e-12, "{i}: {t} and {exact}");
        } else {
            assert!(t.is_nan());
        }
    }
    // From 4 to 11 they land in time; from 6 to 16 they pass 5 in time, and from 5 on they are not above it at the start.
    assert_eq!(results.overview().ended, [0, 8]);
    let stats: Vec<_> = results.summary::<Stats>(1).unwrap().list().map(|(_, m)| m.clone()).collect();
    assert_eq!((stats[0].count(), stats[0].missing()), (11, 6));
    assert_eq!(stats[2].mean(), 11.0 / 17.0);
    assert_eq!((results.rows(0).unwrap().rows(), results.rows(3).unwrap().rows()), (11 + 8, 8));
    let mut times = Vec::new();
    results.rows(3).unwrap().read(2, 0..8, &mut times).unwrap();
    assert!(times.iter().zip(4..).all(|(t, h)| (t - lands(f64::from(h))).abs() < 1e-12));
}

/// The samples of each trajectory are those of a run of its own, to where it ended: in parts, broken off and merged, bit for bit.
#[test]
fn samples_are_those_of_single_runs() {
    let (mut dynamics, shelf) = (pendulum(), shelf("samples"));
    let over = Event::new(dynamics.observable("cos(a/2)").unwrap()).terminal();
    let adaptive = Integrator::named("dop853", Tolerance::relative(1e-9)).unwrap().spaced(0.3).event(over);
    let study = || {
        Study::new(adaptive.clone(), 2.0)
            .events(["over"])
            .sampling(["a=uniform(-3,3)", "a'=normal(0,6)", "l=latin(0.5,2)"])
            .unwrap()
            .reducing(["samples(a', l*cos(a), start(a), t, energy)", "stats(a, energy, start(energy))"])
            .unwrap()
            .count(100)
            .threads(2)
    };
    let whole = study().run(&dynamics, |_| ()).unwrap();
    let rows = |results: &Results| {
        let sheet = results.rows(0).unwrap();
        let column = |k: usize| {
            let mut values = Vec::new();
            sheet.read(k, 0..sheet.rows(), &mut values).unwrap();
            values
        };
        (0..sheet.columns().len()).map(column).collect::<Vec<_>>()
    };
    let names: Vec<String> = whole.rows(0).unwrap().columns().into_iter().map(|(_, name)| name).collect();
    assert_eq!(names, ["trajectory", "t", "l", "a", "p_a", "a'", "l*cos(a)", "start(a)", "energy"]);
    let energies: Vec<f64> =
        whole.summary::<Stats>(1).unwrap().list().skip(1).map(|(_, m)| m.mean()).collect();
    assert!((energies[0] - energies[1]).abs() < 1e-6, "{energies:?}");
    let table = rows(&whole);
    let mut ended = 0;
    let ends = study().reducing(["ends"]).unwrap().run(&dynamics, |_| ()).unwrap();
    let ends = rows(&ends);
    let mut place = 0;
    for trajectory in 0..100 {
        let (l, start) = (ends[4][trajectory], [ends[5][trajectory], ends[6][trajectory]]);
        dynamics.set_parameter("l", l).unwrap();
        let alone = dynamics.start(&[("a", start[0]), ("p_a", start[1])]).unwrap();
        let alone = adaptive.run(&mut dynamics, &alone, 2.0).unwrap();
        ended += usize::from(alone.end().t < 2.0);
        for (t, state) in alone.samples() {
            let (mut velocity, mut energy) = ([0.0], [0.0]);
            dynamics.velocities(&[t], state, &mut velocity).unwrap();
            dynamics.energy(&[t], state, &mut energy).unwrap();
            let found: Vec<f64> = table.iter().map(|column| column[place]).collect();
            let cosine = l * state[0].cos();
            assert_eq!(found[..6], [trajectory as f64, t, l, state[0], state[1], velocity[0]]);
            assert!(
                (found[6] - cosine).abs() <= 4e-16 && found[7..] == [start[0], energy[0]],
                "{found:?} {cosine}"
            );
            place += 1;
        }
    }
    assert!(place == table[0].len() && (10..90).contains(&ended), "{place} {ended}");
    // Cut otherwise, and in shards that are broken off: the same bits.
    dynamics.set_parameter("l", 1.0).unwrap();
    for other in [study().chunk(7), study().threads(1).in_lanes(false)] {
        assert!(all(&other.run(&dynamics, |_| ()).unwrap()) == all(&whole));
    }
    let cut = || study().chunk(8);
    let at = |i: u64| shelf.join(i.to_string());
    for i in 1..=2 {
        let part = || cut().shard(Shard::new(i, 2).unwrap()).kept_in(&at(i));
        let stop = Arc::new(AtomicBool::new(false));
        let mut chunks = 0;
        let broken = part().stopped_by(stop.clone()).run(&dynamics, |_| {
            chunks += 1;
            stop.store(chunks >= 2, Ordering::Relaxed);
        });
        assert!(broken.unwrap().interrupted);
        assert!(!part().run(&dynamics, |_| ()).unwrap().interrupted);
    }
    assert!(all(&Results::merge(&[at(1), at(2)]).unwrap()) == all(&whole));
    // Other times are another study; without times there is nothing to sample.
    let other = Study::new(adaptive.clone().spaced(0.2), 2.0).events(["over"]);
    let other = other.sampling(["a=uniform(-3,3)"]).unwrap().reducing(["samples"]).unwrap().count(100);
    assert!(other.kept_in(&at(1)).run(&dynamics, |_| ()).is_err());
    let none = Study::new(adaptive.clone().ends_only(), 2.0).reducing(["samples"]).unwrap().count(1);
    let message = none.run(&dynamics, |_| ()).err().unwrap().to_string();
    assert!(message.contains("nothing says when samples are taken"), "{message}");
}

/// What would not fit into memory is refused, and can be kept in a directory.
#[test]
fn samples_fit_into_memory() {
    let dynamics = ball();
    let study = |spacing: f64, count: u64| {
        let integrator = Integrator::named("verlet", 0.25).unwrap().spaced(spacing);
        let study = Study::new(integrator, 2.0).sampling(["y=uniform(0,1)"]).unwrap();
        study.reducing(["samples"]).unwrap().count(count)
    };
    let refused = |study: Study| study.run(&dynamics, |_| ()).err().unwrap().to_string();
    assert!(
        refused(study(0.001, 100_000_000))
            .contains("GB, which is too much for memory: keep them in a directory")
    );
    assert!(refused(study(1e-9, 1)).contains("do not fit into memory"));
    assert!(
        refused(study(0.001, 1_000_000).chunk(1_000_000).kept_in(&shelf("much")))
            .contains("do not fit into memory")
    );
    assert!(refused(study(-1.0, 1)).contains("-1"));
}

/// Tables of files are those of memory, in every format.
#[test]
fn tables_are_written_from_chunks() {
    let (dynamics, shelf) = (pendulum(), shelf("tables"));
    let memory = swings().run(&dynamics, |_| ()).unwrap();
    let disk = swings().kept_in(&shelf).run(&dynamics, |_| ()).unwrap();
    let about = About { system: "pendulum".to_owned(), ..About::default() };
    for format in leastaction_output::FORMATS {
        let write = |results: &Results| {
            let mut bytes = Vec::new();
            format.write(results.rows(3).unwrap(), &about, &mut bytes).unwrap();
            bytes
        };
        assert!(write(&memory) == write(&disk), "{}", format.ending);
    }
    let sheet = disk.rows(3).unwrap();
    let names: Vec<String> = sheet.columns().into_iter().map(|(_, name)| name).collect();
    assert_eq!(
        names,
        ["trajectory", "fate", "steps", "t", "l", "start.a", "start.p_a", "a", "p_a", "cos(a)"]
    );
    let mut part = Vec::new();
    sheet.read(0, 30..70, &mut part).unwrap();
    assert_eq!(part, (30..70).map(f64::from).collect::<Vec<_>>());
    assert!(sheet.read(0, 0..501, &mut part).is_err() && sheet.read(10, 0..1, &mut part).is_err());
}

/// What is wrong with a reduction is said with the place and the remedy.
#[test]
fn mistakes_are_reported() {
    let dynamics = pendulum();
    let wrong = |text: &str| match swings().reducing([text]) {
        Ok(study) => study.run(&dynamics, |_| ()).err().unwrap().to_string(),
        Err(error) => error.to_string(),
    };
    assert_eq!(wrong("stat(a)"), "`stat(a)`: there is no reduction `stat`: did you mean `stats`?");
    assert_eq!(wrong("stats"), "`stats`: 0 given, but it is written stats(expression, …)");
    assert!(wrong("stats(q)").starts_with("`stats(q)`: in `q`, "), "{}", wrong("stats(q)"));
    assert!(wrong("histogram(a, 1, 0, 5)").contains("are not bins"));
    assert!(wrong("histogram(a, 0, 1, x)").contains("`x` is not a finite number"));
    assert!(wrong("map(a)").contains("a map needs a grid"));
    assert!(wrong("stats(first(flip))").contains("there is no event `flip`; the model has no events"));
    assert!(wrong("quantiles(a, 2)").contains("2 is not a part"));
    assert!(wrong("events").contains("the model has no events"));
}

/// How far it has come adds up.
#[test]
fn progress_is_reported() {
    let mut seen = Vec::new();
    swings().run(&pendulum(), |progress| seen.push(*progress)).unwrap();
    assert_eq!(seen.len(), 16);
    assert!(seen.windows(2).all(|pair| pair[0].done < pair[1].done));
    let last = seen.last().unwrap();
    assert!(
        last.done == 500
            && last.total == 500
            && last.rate > 0.0
            && last.left.is_some_and(|left| left.is_zero())
    );
}

/// Whoever interrupts long work soon has some of it: chunks are the smaller the longer trajectories take, and the same for every shard.
#[test]
fn chunks_of_long_trajectories_are_small() {
    let dynamics = pendulum();
    let chunk = |until: f64, method: &str, shard: Shard| {
        let integrator = match method {
            "verlet" => Integrator::named(method, 1e-3).unwrap(),
            _ => Integrator::new(Card::named(method).unwrap(), Pace::Tolerance(Tolerance::relative(1e-8))),
        };
        let shelf = shelf(&format!("chunks-{until}-{method}-{}", shard.of()));
        let study = Study::new(integrator, until)
            .sampling(["a=uniform(-1,1)"])
            .unwrap()
            .count(100_000)
            .kept_in(&shelf);
        let stop = Arc::new(AtomicBool::new(true));
        let results = study.shard(shard).stopped_by(stop).run(&dynamics, |_| ()).unwrap();
        assert!(results.interrupted);
        results.manifest().get("chunk").next().unwrap().parse::<u64>().unwrap()
    };
    let half = Shard::new(2, 2).unwrap();
    assert_eq!([chunk(1.0, "dop853", Shard::WHOLE), chunk(1.0, "verlet", Shard::WHOLE)], [128, 128]);
    // Some tenths of a second each.
    assert_eq!([chunk(3e4, "dop853", Shard::WHOLE), chunk(3e4, "dop853", half)], [8, 8]);
    assert_eq!(chunk(1e3, "verlet", Shard::WHOLE), 8);
    assert!((8..128).contains(&chunk(3e3, "dop853", Shard::WHOLE)));
}

/// A column of the rows of the first reduction.
fn column(results: &Results, name: &str) -> Vec<f64> {
    let (_, Finding::Rows(sheet)) = results.findings().next().unwrap() else { panic!("rows") };
    let names: Vec<String> = sheet.columns().into_iter().map(|(_, name)| name).collect();
    let place = names.iter().position(|other| other == name).unwrap_or_else(|| panic!("{names:?}"));
    let mut values = Vec::new();
    sheet.read(place, 0..sheet.rows(), &mut values).unwrap();
    values
}

/// A throw reaches v²/2g, and its mean height until t is v t/2 − g t²/6.
#[test]
fn means_and_extremes_along_trajectories() {
    let thrown = |more: Study| {
        let study = more.reducing(["ends(max(y), min(y), range(y), mean(y), mean(y'))"]).unwrap();
        study.run(&ball(), |_| ()).unwrap()
    };
    let integrator = || Integrator::named("dop853", Tolerance::relative(1e-10)).unwrap().spaced(0.001);
    let study = || Study::new(integrator(), 1.0).sampling(["y'=grid(4, 8, 2)"]).unwrap();
    let close = |found: Vec<f64>, expected: [f64; 2]| {
        assert!(found.iter().zip(expected).all(|(x, y)| (x - y).abs() < 1e-6), "{found:?} {expected:?}");
    };
    let results = thrown(study());
    let of = |name| column(&results, name);
    close(of("max(y)"), [0.8, 3.2]);
    close(of("min(y)"), [-1.0, 0.0]);
    close(of("range(y)"), [1.8, 3.2]);
    close(of("mean(y)"), [2.0 - 5.0 / 3.0, 4.0 - 5.0 / 3.0]);
    close(of("mean(y')"), [-1.0, 3.0]);
    // What is transient is left out: from t = 1/2 on the balls fall.
    let late = thrown(study().counting_from(0.5));
    let of = |name| column(&late, name);
    close(of("max(y)"), [0.75, 3.2]);
    close(of("mean(y')"), [-3.5, 0.5]);
}
