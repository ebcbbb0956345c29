//! Ensembles from the command line.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::time::Duration;

fn command(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leastaction"));
    command.args(arguments).current_dir(folder);
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    command(folder, arguments).output().unwrap()
}

/// What a successful command prints.
fn prints(folder: &Path, arguments: &[&str]) -> String {
    let output = run(folder, arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and the message of a command that fails.
fn fails(folder: &Path, arguments: &[&str]) -> (i32, String) {
    let output = run(folder, arguments);
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

fn line<'t>(text: &'t str, word: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word} in:\n{text}"))
}

fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ensemble").join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

const PENDULUM: [&str; 8] =
    ["ensemble", "pendulum", "--sample", "th=uniform(-2,2)", "--sample", "m=normal(1,0.01)", "--until", "1"];

fn with<'a>(more: &[&'a str]) -> Vec<&'a str> {
    PENDULUM.iter().copied().chain(more.iter().copied()).collect()
}

/// A pendulum does not care about its mass; the same seed draws the same, another one something else.
#[test]
fn an_ensemble_is_told() {
    let folder = folder("told");
    let text = prints(&folder, &with(&["--count", "200", "--reduce", "stats(th, start(th))"]));
    assert_eq!(line(&text, "trajectories"), "trajectories     200");
    assert!(line(&text, "sampled").contains("th=uniform(-2,2), m=normal(1,0.01) (seed 0)"));
    assert!(line(&text, "stats start(th)").contains("from -1.9"));
    let usual = prints(&folder, &with(&["--count", "200"]));
    let mean = |text: &str| line(text, "stats th ").split_once("mean").unwrap().1.to_owned();
    assert_eq!(mean(&usual), mean(&text));
    let other = prints(&folder, &with(&["--count", "200", "--seed", "1"]));
    assert_ne!(line(&usual, "stats th"), line(&other, "stats th"));
    assert_eq!(prints(&folder, &with(&["--count", "10", "--quiet"])), "");
    let json = prints(&folder, &with(&["--count", "10", "--json", "--reduce", "histogram(th,-3,3,2)"]));
    assert!(json.starts_with("{\n  \"system\": \"pendulum\",\n") && json.contains("\"trajectories\": 10,"));
    assert!(json.contains("\"reduce\": \"histogram(th,-3,3,2)\""), "{json}");
}

/// The numbers of a table do not depend on threads, chunks, shards, or on having been interrupted.
#[test]
fn the_same_comes_out_however_it_is_run() {
    let folder = folder("same");
    let reduce = ["--count", "300", "--reduce", "ends(th')", "--reduce", "stats(th)", "--step", "0.01"];
    let table = |name: &str, more: &[&str]| {
        let file = format!("{name}.csv");
        prints(&folder, &with(&[&reduce[..], more, &["--out", &file, "--quiet"]].concat()));
        let read = |word: &str| fs::read_to_string(folder.join(format!("{name}-{word}.csv"))).unwrap();
        [read("ends"), read("stats")]
    };
    let whole = table("whole", &["--threads", "1"]);
    assert_eq!(whole[0].lines().count(), 301);
    assert_eq!(table("threads", &["--threads", "3", "--chunk", "7"]), whole);
    for shard in ["1/3", "2/3", "3/3"] {
        let directory = format!("part-{}", &shard[..1]);
        prints(&folder, &with(&[&reduce[..], &["--keep", &directory, "--shard", shard, "--quiet"]].concat()));
    }
    let part = prints(&folder, &with(&[&reduce[..], &["--keep", "part-2", "--shard", "2/3"]].concat()));
    assert_eq!(line(&part, "trajectories"), "trajectories  100 (shard 2/3 of 300)");
    let merge = ["merge", "part-1", "part-2", "part-3"];
    prints(&folder, &[&merge[..], &["--out", "merged.csv", "--quiet"]].concat());
    let merged =
        ["ends", "stats"].map(|word| fs::read_to_string(folder.join(format!("merged-{word}.csv"))).unwrap());
    assert_eq!(merged, whole);
    let (code, message) = fails(&folder, &["merge", "part-1", "part-3"]);
    assert!(code == 1 && message.contains("missing"), "{message}");
    let (code, message) = fails(&folder, &["merge", "part-1", "part-1", "part-2", "part-3"]);
    assert_eq!(code, 1, "{message}");
    // A directory of another ensemble is not gone on with.
    let (code, message) =
        fails(&folder, &with(&["--count", "300", "--step", "0.02", "--keep", "part-1", "--shard", "1/3"]));
    assert!(code == 1 && message.contains("part-1"), "{message}");
}

/// Ctrl-C keeps what is done, and the same command goes on with it.
#[test]
fn what_was_broken_off_goes_on() {
    let folder = folder("broken");
    let long = [
        "ensemble",
        "pendulum",
        "--count",
        "4000",
        "--sample",
        "th=sobol(-2,2)",
        "--until",
        "20",
        "--step",
        "0.001",
        "--reduce",
        "stats(th)",
        "--chunk",
        "64",
        "--threads",
        "1",
        "--keep",
        "study",
    ];
    let mut child = command(&folder, &long).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    // As soon as something is kept.
    for _ in 0..600 {
        std::thread::sleep(Duration::from_millis(50));
        if fs::read_dir(folder.join("study")).is_ok_and(|files| files.count() > 2) {
            break;
        }
    }
    Command::new("kill").args(["-INT", &child.id().to_string()]).status().unwrap();
    let code = child.wait().unwrap().code().unwrap();
    let mut said = String::new();
    std::io::Read::read_to_string(&mut child.stderr.unwrap(), &mut said).unwrap();
    assert_eq!(code, 130, "{said}");
    assert!(said.contains("of 4000 trajectories") && said.contains("the same command goes on"), "{said}");
    let resumed = prints(&folder, &long);
    let [one_go] = [prints(&folder, &long[..long.len() - 2])];
    assert_eq!(line(&resumed, "stats th"), line(&one_go, "stats th"));
    assert_eq!(line(&resumed, "trajectories").split_whitespace().collect::<String>(), "trajectories4000");
}

/// When a rod first goes over the top, over both angles: a picture, symmetric about its middle.
#[test]
fn flips_make_a_map() {
    let folder = folder("flips");
    let text = prints(
        &folder,
        &[
            "ensemble",
            "double-pendulum",
            "--sample",
            "th1=grid(-3,3,16)",
            "--sample",
            "th2=grid(-3,3,16)",
            "--until",
            "4",
            "--tol",
            "1e-8",
            "--stop",
            "flip=cos(th1/2)*cos(th2/2)",
            "--reduce",
            "map(first(flip))",
            "--plot",
            "flips.png",
            "--plot",
            "flips.svg",
            "--out",
            "flips.csv",
        ],
    );
    assert!(
        line(&text, "trajectories").contains("256: ")
            && line(&text, "trajectories").contains("ended by `flip`")
    );
    assert!(fs::read(folder.join("flips.png")).unwrap().starts_with(b"\x89PNG"));
    assert!(fs::read_to_string(folder.join("flips.svg")).unwrap().contains("<image "));
    let table = fs::read_to_string(folder.join("flips.csv")).unwrap();
    let times: Vec<&str> = table.lines().skip(1).map(|row| row.rsplit(',').next().unwrap()).collect();
    assert_eq!(times.len(), 256);
    // From (−θ₁, −θ₂) the motion is the mirror image.
    for (one, other) in times.iter().zip(times.iter().rev()) {
        match (one.parse::<f64>(), other.parse::<f64>()) {
            (Ok(one), Ok(other)) => {
                assert!((one - other).abs() < 1e-5 || one.is_nan() && other.is_nan(), "{one} {other}")
            }
            _ => assert_eq!(one, other),
        }
    }
    assert!(times.iter().any(|time| time.parse::<f64>().is_ok_and(f64::is_finite)));
}

/// A trajectory has the bits that `run` gives it, also on constraints.
#[test]
fn trajectories_are_those_of_single_runs() {
    let folder = folder("single");
    fs::write(folder.join("starts.csv"), "th1,speed\n0.3,0.1\n-1.25,0.5\n2,0\n").unwrap();
    let common = ["double-pendulum", "--method", "rk4", "--step", "0.01", "--until", "3"];
    let sampled =
        ["--sample", "th1=file(starts.csv)", "--sample", "th2'=file(starts.csv,speed)", "--reduce", "ends"];
    prints(&folder, &[&["ensemble"], &common[..], &sampled, &["--out", "ends.csv", "--quiet"]].concat());
    prints(
        &folder,
        &[
            &["run"],
            &common[..],
            &["--start", "th1=-1.25", "--start", "th2'=0.5", "--samples", "1", "--out", "run.csv", "--quiet"],
        ]
        .concat(),
    );
    let column = |file: &str, row: usize, name: &str| {
        let text = fs::read_to_string(folder.join(file)).unwrap();
        let place = text.lines().next().unwrap().split(',').position(|other| other == name).unwrap();
        text.lines().nth(1 + row).unwrap().split(',').nth(place).unwrap().to_owned()
    };
    for name in ["th1", "th2", "p_th1", "p_th2"] {
        let text = fs::read_to_string(folder.join("ends.csv")).unwrap();
        let header = text.lines().next().unwrap();
        let end =
            header.split(',').find(|other| other.contains("end") && other.ends_with(name) || *other == name);
        let end = end.unwrap_or_else(|| panic!("{header}"));
        assert_eq!(column("ends.csv", 1, end), column("run.csv", 1, name), "{name}");
    }
}

/// An input that is stated by a parameter follows what is drawn for it.
#[test]
fn inputs_follow_sampled_parameters() {
    let folder = folder("inputs");
    let text = "param A = 1\ncoord x\nparticle cart mass 2 at x\ninput u = A\nforce x = u\n";
    fs::write(folder.join("cart.motion"), text).unwrap();
    fs::write(folder.join("pushes.csv"), "A\n-1\n0.5\n3\n").unwrap();
    for method in ["rk4", "verlet"] {
        let common = ["cart.motion", "--method", method, "--step", "0.1", "--until", "1"];
        let drawn = ["--sample", "A=file(pushes.csv)", "--reduce", "ends(x)", "--out", "ends.csv", "--quiet"];
        prints(&folder, &[&["ensemble"], &common[..], &drawn].concat());
        let ends = fs::read_to_string(folder.join("ends.csv")).unwrap();
        let place = ends.lines().next().unwrap().split(',').position(|name| name == "x").unwrap();
        for (row, push) in ["A=-1", "A=0.5", "A=3", "u=3"].into_iter().enumerate() {
            let set = ["--set", push, "--samples", "1", "--out", "run.csv", "--quiet"];
            prints(&folder, &[&["run"], &common[..], &set].concat());
            let run = fs::read_to_string(folder.join("run.csv")).unwrap();
            let [alone, drawn] = [(&run, 2, 1), (&ends, 1 + row.min(2), place)]
                .map(|(text, line, place)| text.lines().nth(line).unwrap().split(',').nth(place).unwrap());
            let [a, b]: [f64; 2] = [alone, drawn].map(|number| number.parse().unwrap());
            let exact = [-0.25, 0.125, 0.75][row.min(2)];
            assert!((a - exact).abs() < 1e-14 && (a == b || push == "u=3"), "{push}: {a} {b} {exact}");
        }
    }
}

/// Samples along the way have the times and the bits of `run`, also with steps of one length, and where something ends a trajectory.
#[test]
fn samples_are_those_of_single_runs() {
    let folder = folder("samples");
    let model = "coord x\nparticle ball mass 1 at [x]\npotential -1/x\nstart x = 1\nevent half: x = 0.5, falling, stop\nrun until 2\n";
    fs::write(folder.join("fall.motion"), model).unwrap();
    let read = |file: &str| fs::read_to_string(folder.join(file)).unwrap();
    let columns = |text: &str, names: &[&str]| -> Vec<Vec<String>> {
        let header: Vec<&str> = text.lines().next().unwrap().split(',').collect();
        let places: Vec<usize> =
            names.iter().map(|name| header.iter().position(|other| other == name).unwrap()).collect();
        let row = |line: &str| {
            let fields: Vec<&str> = line.split(',').collect();
            places.iter().map(|&place| fields[place].to_owned()).collect()
        };
        text.lines().skip(1).map(row).collect()
    };
    let names = ["t", "x", "p_x", "x'"];
    for (pace, sampling) in [
        (&["--method", "verlet", "--step", "0.01"][..], &["--every", "0.1"][..]),
        (&["--method", "verlet", "--step", "0.03"], &["--every", "0.125"]),
        (&["--method", "verlet", "--step", "0.001"], &[]),
        (&["--tol", "1e-9"], &["--samples", "7"]),
    ] {
        let common = [&["fall.motion"], pace, sampling, &["--quiet", "--out"]].concat();
        let draws = ["--sample", "x'=grid(-1,2,4)", "--reduce", "samples(x')"];
        prints(&folder, &[&["ensemble"], &common[..], &["all.csv"], &draws].concat());
        let all = read("all.csv");
        assert!(all.starts_with("trajectory,t,x,p_x,x'\n"), "{all}");
        let (table, numbers) = (columns(&all, &names), columns(&all, &["trajectory"]));
        for (number, speed) in ["x'=-1", "x'=0", "x'=1", "x'=2"].into_iter().enumerate() {
            prints(&folder, &[&["run"], &common[..], &["one.csv", "--start", speed]].concat());
            let own = numbers.iter().zip(&table).filter(|(found, _)| found[0].parse() == Ok(number as f64));
            let own: Vec<Vec<String>> = own.map(|(_, row)| row.clone()).collect();
            let alone = columns(&read("one.csv"), &names);
            assert!(own == alone, "{pace:?} {speed}: {own:?} {alone:?}");
        }
    }
    let usual = ["--sample", "x'=grid(-1,2,4)", "--reduce", "samples", "--tol", "1e-9"];
    let text = prints(&folder, &[&["ensemble", "fall.motion"], &usual[..], &["--samples", "5"]].concat());
    assert!(line(&text, "samples").ends_with(" rows"), "{text}");
}

#[test]
fn what_cannot_be_is_refused_with_a_remedy() {
    let folder = folder("refused");
    let refused = |more: &[&str]| fails(&folder, &[&["ensemble", "pendulum"], more].concat());
    for (arguments, wanted) in [
        (&["--sample", "th=uniform(-1,1)"][..], "--count"),
        (&["--count", "10", "--sample", "th=unifrom(-1,1)"], "did you mean `uniform`"),
        (&["--count", "10", "--sample", "tth=uniform(-1,1)"], "did you mean `th`"),
        (&["--count", "10", "--sample", "th=uniform(1,-1)"], "th=uniform(1,-1)"),
        (&["--count", "7", "--sample", "th=grid(-1,1,5)"], "5"),
        (&["--count", "10", "--sample", "th=file(none.csv)"], "none.csv"),
        (&["--count", "10", "--reduce", "stats(thh)"], "did you mean `th`"),
        (&["--count", "10", "--reduce", "stat(th)"], "did you mean `stats`"),
        (&["--count", "10", "--reduce", "map(th)"], "grid"),
        (
            &["--sample", "th=grid(0,1,1e5)", "--sample", "m=grid(1,2,1e5)", "--reduce", "map(th)"],
            "does not fit into memory",
        ),
        (&["--count", "10", "--reduce", "map(first(flip))"], "flip"),
        (&["--count", "10", "--stop", "cos(th/2)"], "NAME=EXPRESSION"),
        (&["--count", "10", "--stop", "flip=coss(th/2)"], "flip=coss(th/2)"),
        (&["--count", "10", "--plot", "x.png"], "nothing to plot"),
        (&["--count", "10", "--out", "x.xls"], "x.xls"),
        (&["--count", "10", "--out", "x.csv/"], "directory"),
        (&["--count", "10", "--shard", "1/2"], "--keep"),
        (
            &["--count", "10", "--every", "0.1"],
            "--every says when samples are taken, but nothing keeps them: add --reduce samples",
        ),
        (&["--count", "10", "--samples", "10"], "add --reduce samples"),
        (&["--count", "10", "--samples", "th=uniform(-1,1)"], "--sample"),
        (&["--count", "10", "--samples", "0", "--reduce", "samples"], "1 at least"),
        (&["--count", "10", "--every", "-1", "--reduce", "samples"], "finite and above 0"),
        (&["--count", "10", "--every", "nan", "--reduce", "samples"], "finite and above 0"),
        (&["--count", "10", "--every", "1e-12", "--reduce", "samples"], "do not fit into memory"),
        (&["--count", "100000000", "--sample", "th=uniform(-1,1)", "--reduce", "samples"], "(--keep)"),
        (&["--count", "10", "--shard", "3/2", "--keep", "d"], "3/2"),
        (&["--count", "0"], "trajector"),
        (&["--count", "-5", "--sample", "th=uniform(-1,1)"], "whole number"),
        (&["--count", "1.5", "--sample", "th=uniform(-1,1)"], "such as 1000 or 1e6"),
        (
            &["--count", "1e6", "--sample", "th=uniform(-1,1)", "--start", "th=1"],
            "`th` is sampled (--sample), and given a value (--start)",
        ),
        (&["--count", "10", "--sample", "m=uniform(1,2)", "--set", "m=1"], "leave one out"),
        (&["--count", "10"], "all 10 trajectories would be the same"),
        (
            &["--count", "10", "--sample", "th=1", "--sample", "m=normal(1,0)"],
            "such as th=uniform(-1,1) (--sample)",
        ),
    ] {
        let (code, message) = refused(arguments);
        assert!(code == 2 && message.contains(wanted), "{arguments:?}: {code} {message}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0, "nothing is left behind");
}

/// One trajectory differs from none; those that end where they begin are counted, too.
#[test]
fn short_ensembles_are_run() {
    let text = prints(&folder("one"), &["ensemble", "pendulum", "--count", "1", "--until", "1"]);
    assert_eq!(line(&text, "trajectories"), "trajectories  1");
    let text =
        prints(&folder("none"), &["ensemble", "pendulum", "--sample", "th=grid(0,3,1e2)", "--until", "0"]);
    assert_eq!(line(&text, "trajectories"), "trajectories  100");
}

/// A trajectory that fails is told, and the others go on.
#[test]
fn failures_are_counted() {
    let folder = folder("failures");
    fs::write(
        folder.join("fall.motion"),
        "coord x\nparticle ball mass 1 at [x]\npotential -1/x\nstart x = 1\nrun until 2\n",
    )
    .unwrap();
    let text = prints(
        &folder,
        &[
            "ensemble",
            "fall.motion",
            "--sample",
            "x'=grid(-1,2,4)",
            "--method",
            "dop853",
            "--tol",
            "1e-8",
            "--reduce",
            "ends",
        ],
    );
    assert!(line(&text, "trajectories").contains("failed"), "{text}");
    assert!(line(&text, "failed").contains("trajectory 0: "), "{text}");
}

/// The driven pendulum doubles its period at drives of 1.06637, 1.07931, 1.08208 and 1.08268, as `tools/doublings.py` computes.
#[test]
fn periods_double_where_they_are_known_to() {
    let folder = folder("periods");
    fs::write(folder.join("drives.csv"), "drive\n1.0653\n1.0673\n1.0783\n1.0803\n1.0825\n").unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("book/models/driven.motion");
    let model = model.to_string_lossy().into_owned();
    let section = ["--reduce", "section(strobe,sin(th))", "--out", "points.csv", "--plot", "points.png"];
    let drawn = ["--sample", "drive=file(drives.csv,drive)", "--until", "500", "--from", "460"];
    prints(&folder, &[&["ensemble", &model][..], &drawn, &section].concat());
    let text = fs::read_to_string(folder.join("points.csv")).unwrap();
    let mut seen: Vec<(String, Vec<f64>)> = Vec::new();
    let rows = text.lines().filter(|line| line.starts_with(|c: char| c.is_ascii_digit()));
    for row in rows {
        let cells: Vec<&str> = row.split(',').collect();
        let value: f64 = cells[3].parse().unwrap();
        if seen.last().is_none_or(|(drive, _)| drive != cells[2]) {
            seen.push((cells[2].to_owned(), Vec::new()));
        }
        let (_, points) = seen.last_mut().unwrap();
        if !points.iter().any(|other| (other - value).abs() < 2e-4) {
            points.push(value);
        }
    }
    let periods: Vec<usize> = seen.iter().map(|(_, points)| points.len()).collect();
    assert_eq!(periods, [1, 2, 2, 4, 8], "{seen:?}");
    assert!(fs::metadata(folder.join("points.png")).unwrap().len() > 1000);
    // Nothing is left, or nothing says what an event is of.
    let (code, error) =
        fails(&folder, &["ensemble", &model, "--sample", "drive=grid(1,2,3)", "--from", "70"]);
    assert!(code == 2 && error.contains("nothing is left from t = 70 on"), "{error}");
    let (code, error) =
        fails(&folder, &["ensemble", &model, "--sample", "drive=grid(1,2,3)", "--reduce", "section(strobe)"]);
    assert!(code == 2 && error.contains("section(event, expression, …)"), "{error}");
}

/// What is plotted of all trajectories is sampled for it; of samples that are there, `merge` plots the same.
#[test]
fn orbits_of_many_motions_are_plotted() {
    let folder = folder("orbits");
    let common =
        ["ensemble", "pendulum", "--sample", "th=grid(0.5,2.5,5)", "--until", "2", "--samples", "40"];
    let portrait = ["--plot", "th' over th, th", "--plot", "portrait.svg"];
    let text = prints(&folder, &[&common[..], &portrait].concat());
    assert!(
        line(&text, "samples").contains("205 rows") && line(&text, "stats th").contains("mean"),
        "{text}"
    );
    let svg = fs::read_to_string(folder.join("portrait.svg")).unwrap();
    let shown = ["trajectory 0", "trajectory 4", "th&apos; over th", "th over t"];
    assert!(shown.iter().all(|words| svg.contains(words)), "{svg}");

    // Next to another reduction each picture has a name of its own, and so have those that are put together later.
    let map = ["--reduce", "map(energy)", "--keep", "kept", "--plot", "th' over th", "--plot", "both.svg"];
    let text = prints(&folder, &[&common[..], &map].concat());
    assert!(line(&text, "pictures").contains("both-map.svg, both-samples.svg"), "{text}");
    let again = ["merge", "kept", "--plot", "th' over th", "--plot", "again.svg"];
    prints(&folder, &again);
    let read = |name: &str| fs::read_to_string(folder.join(name)).unwrap();
    assert_eq!(read("again-samples.svg"), read("both-samples.svg"));
    let (code, error) = fails(&folder, &["merge", "kept", "--plot", "energy over th", "--plot", "none.svg"]);
    assert!(code == 1 && error.contains("no samples were kept of all that should be plotted"), "{error}");

    // Without a choice, states against time; without a file, nothing.
    prints(&folder, &[&common[..], &["--reduce", "samples", "--plot", "states.svg"]].concat());
    assert!(["th over t", "p_th over t"].iter().all(|words| read("states.svg").contains(words)));
    let (code, error) = fails(&folder, &[&common[..], &["--plot", "th' over th"]].concat());
    assert!(code == 2 && error.contains("says what to plot: add --plot and the name of a file"), "{error}");
    let (code, error) =
        fails(&folder, &[&common[..], &["--plot", "speed over th", "--plot", "no.svg"]].concat());
    assert!(code == 2 && error.contains("speed"), "{error}");
}
