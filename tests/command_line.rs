//! The command line, from outside.

use std::io::{BufRead, BufReader};
use std::process::{Command, Output, Stdio};

fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leastaction"));
    command.args(arguments);
    command
}

fn run(arguments: &[&str]) -> Output {
    command(arguments).output().unwrap()
}

/// What a successful command prints.
fn prints(arguments: &[&str]) -> String {
    let output = run(arguments);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{arguments:?}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

/// The exit code and the message of a command that fails, which prints nothing else.
fn fails(arguments: &[&str]) -> (i32, String) {
    let output = run(arguments);
    assert!(output.stdout.is_empty(), "{arguments:?}");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

/// The line of a summary that begins with a word.
fn line<'t>(text: &'t str, word: &str) -> &'t str {
    text.lines().find(|line| line.starts_with(word)).unwrap_or_else(|| panic!("no {word} in:\n{text}"))
}

#[test]
fn run_prints_a_summary() {
    let text = prints(&["run", "double-pendulum", "--method", "rk4", "--step", "0.0005", "--until", "1"]);
    assert!(line(&text, "method").contains("rk4 (order 4, keeps: –)"));
    assert!(line(&text, "run").ends_with("t = 0 to 1 in 2000 steps of 0.0005, 8000 evaluations"));
    assert!(line(&text, "energy").contains("14.715") || line(&text, "energy").contains("14.714999999"));
    assert!(line(&text, "conserved").contains("  energy (to ") && !text.contains("warning"));
    // The values that the catalog is tested with: θ = (−.7152711, −2.2066587).
    assert!(line(&text, "end").contains("th1 = -0.715271") && line(&text, "end").contains("th2 = -2.20665"));
    assert!(text.contains("th1' = -1.70407") && text.contains("p_th1 = "));
    let default = prints(&["run", "double-pendulum"]);
    assert!(line(&default, "method").contains("gauss4 (order 4, keeps: symplectic form"));
    assert!(line(&default, "because").contains("H is not separable, so symplectic steps are implicit"));
}

#[test]
fn run_takes_parameters_starts_and_sizes() {
    let fall = |more: &[&str]| prints(&[&["run", "pendulum", "--until", "0.01"], more].concat());
    assert!(line(&fall(&["--set", "g=3", "--set", "m=2"]), "parameters").contains("m = 2, l = 1, g = 3"));
    assert!(line(&fall(&["--start", "th=0.5", "--start", "th'=-2"]), "end").contains("th = 0.47"));
    assert!(line(&fall(&["--start", "p_th=0.25"]), "end").contains("th = 0.0024995"));
    assert!(line(&fall(&["--start", "th'=1e-1"]), "energy").contains("-4.9 to"));
    let chain = prints(&["run", "coupled-chain", "--size", "3", "--until", "0.1"]);
    assert!(line(&chain, "end").contains("th3 = ") && !chain.contains("th4"));
}

/// Names of the model mean the same in what is asked for as in its text: here of a particle, an output's own expression and an angle.
#[test]
fn run_takes_expressions() {
    let text = prints(&[
        "run",
        "pendulum",
        "--json",
        "--show",
        "height=bob.y",
        "--show",
        "th+1",
        "--stop",
        "bottom=th",
    ]);
    assert!(text.contains("\"ended\": \"event bottom\"") || text.contains("bottom"), "{text}");
    let outputs = text.lines().find(|line| line.trim_start().starts_with("\"outputs\"")).unwrap();
    assert!(outputs.contains("\"height\": -0.5") && outputs.contains("\"th+1\": 1.0"), "{outputs}");
    let (code, wrong) = fails(&["run", "pendulum", "--stop", "bottom=thh"]);
    assert_eq!(code, 2);
    assert!(wrong.contains("the event `bottom=thh`") && wrong.contains("`th`"), "{wrong}");
    let (code, wrong) = fails(&["run", "pendulum", "--show", "energy=th"]);
    assert_eq!(code, 2);
    assert!(wrong.contains("two outputs have the name `energy`"), "{wrong}");
}

#[test]
fn run_leads_back_in_time() {
    let back = prints(&["run", "pendulum", "--until", "-1"]);
    assert!(line(&back, "run").contains("t = 0 to -1 in 100 steps of -0.01"));
}

#[test]
fn a_run_to_its_start_is_over_at_once() {
    for pace in [["--tol", "1e-8"], ["--step", "0.1"]] {
        let text = prints(&[&["run", "pendulum", "--until", "0"], &pace[..]].concat());
        assert!(line(&text, "run").contains("t = 0 to 0 in 0 steps"), "{text}");
    }
}

/// What a run prints about its times and steps.
#[test]
fn steps_are_told_as_they_are() {
    let steps_of = |step, until| {
        let text = prints(&["run", "pendulum", "--method", "rk4", "--step", step, "--until", until]);
        let line_of_run = line(&text, "run").trim_start_matches("run").trim();
        line_of_run.split(',').next().unwrap_or_default().to_owned()
    };
    assert_eq!(steps_of("0.25", "1"), "t = 0 to 1 in 4 steps of 0.25");
    assert_eq!(steps_of("0.75", "1"), "t = 0 to 1 in 1 step of 0.75 and one of 0.25");
    assert_eq!(steps_of("0.375", "1"), "t = 0 to 1 in 2 steps of 0.375 and one of 0.25");
    assert_eq!(steps_of("5", "1"), "t = 0 to 1 in 1 step of 1");
    assert_eq!(steps_of("0.5", "0"), "t = 0 to 0 in 0 steps of 0.5");
    assert_eq!(steps_of("1e-9", "0"), "t = 0 to 0 in 0 steps of 1e-9");
    assert_eq!(steps_of("1e299", "3.5e-8"), "t = 0 to 3.5e-8 in 1 step of 3.5e-8");
}

#[test]
fn more_steps_can_be_allowed() {
    let short = ["run", "pendulum", "--until", "1", "--max-steps"];
    let (code, text) = fails(&[&short[..], &["99"]].concat());
    assert_eq!(code, 2);
    assert!(
        text.contains("1e2 steps, and 99 are allowed: use a longer step, or allow more (--max-steps)"),
        "{text}"
    );
    prints(&[&short[..], &["100"]].concat());
}

/// A fall into the sun: the step leaps over the singularity, and what should be conserved is not.
#[test]
fn results_not_to_be_trusted_are_marked() {
    let fall = prints(&["run", "two-body", "--start", "th'=0"]);
    let warning = line(&fall, "warning");
    assert!(
        warning.contains("energy should not change") && warning.ends_with("try a smaller step"),
        "{fall}"
    );
    assert!(line(&fall, "conserved").contains("energy (not kept: "), "{fall}");
    assert!(!prints(&["run", "two-body"]).contains("warning"));
}

#[test]
fn conserved_quantities_are_found() {
    let found = |system| line(&prints(&["run", system, "--until", "10"]), "conserved").to_owned();
    let pair = found("two-body");
    // The angular momentum is the momentum of the angle, told once.
    assert!(
        pair.contains("energy (to ") && pair.contains(", p_th (exactly)") && !pair.contains("angular"),
        "{pair}"
    );
    let planets = found("outer-solar-system");
    assert!(planets.contains("momentum along x (") && planets.contains("angular momentum about z ("));
}

#[test]
fn constraints_are_told_of() {
    let cross = prints(&["run", "dzhanibekov", "--until", "1"]);
    let constraints = line(&cross, "constraints");
    assert!(
        constraints.contains("3: positions and velocities are at most ") && constraints.ends_with(" off"),
        "{cross}"
    );
    let numbers = constraints.split_whitespace().filter_map(|word| word.parse::<f64>().ok());
    let off: Vec<f64> = numbers.collect();
    assert!(off.len() == 2 && off.iter().all(|x| *x < 1e-14), "{constraints}");
    assert!(line(&cross, "method").contains("constraints"), "{cross}");
    assert!(line(&cross, "conserved").contains("angular momentum about z (to "), "{cross}");
    assert!(!cross.contains("start  ") && !prints(&["run", "pendulum"]).contains("constraints"));
}

/// The published start of the rollercoaster is not on its constraints; one that is far from them is refused.
#[test]
fn a_start_that_is_moved_is_told_of() {
    let carts = prints(&["run", "rollercoaster", "--until", "0.1"]);
    assert_eq!(
        line(&carts, "start").trim_start_matches("start").trim(),
        "the start was moved onto its constraints: q5 by 0.00015, velocities by up to 0.0016"
    );
    let bob = |values: &[&'static str]| -> Vec<&'static str> {
        let starts: Vec<&str> = values.iter().flat_map(|value| ["--start", *value]).collect();
        [&["run", "damped-pendulum", "--until", "0.1"], &starts[..]].concat()
    };
    let text = prints(&bob(&["x=0.6", "y=-0.8"]));
    assert!(!text.contains("moved"), "{text}");
    let text = prints(&bob(&["x=0.61", "y=-0.8", "y'=1"]));
    // The velocity that is given stays, and the other follows from it.
    assert!(line(&text, "start").ends_with("onto its constraints: y by 0.0048"), "{text}");
    let (code, text) = fails(&bob(&["x=0.1", "y=-3"]));
    assert!(
        code == 2 && text.contains("the start is far from what the constraints allow: `y` would"),
        "{text}"
    );
}

#[test]
fn starts_are_drawn_from_a_seed() {
    let drawn = |seed| prints(&["run", "n-pendulum", "--until", "0.1", "--seed", seed]);
    let end = |text: &str| line(text, "end").to_owned();
    assert_eq!(end(&drawn("1")), end(&drawn("1")));
    assert_ne!(end(&drawn("1")), end(&drawn("2")));
    let refused = |more: &[&str]| fails(&[&["run", "pendulum", "--seed", "1"], more].concat());
    assert_eq!(
        refused(&[]),
        (
            2,
            "error: pendulum has no random starts: give one (--start); n-pendulum, coupled-pendulums, magnet-pendulum, gyroscope, \
             rigid-rotor have some (--seed)\n"
                .to_owned()
        )
    );
    assert!(refused(&["--start", "th=1"]).1.contains("cannot be used with"));
}

#[test]
fn lists_name_everything() {
    let systems = prints(&["list"]);
    for entry in leastaction::catalog::ALL {
        assert!(line(&systems, entry.name).contains(&entry.about()));
    }
    assert!(line(&systems, "coupled-chain").ends_with("(--size 1 to 1000, usually 8)"));
    let methods = prints(&["methods"]);
    for card in leastaction::METHODS {
        assert!(line(&methods, card.name).contains(card.about));
    }
    assert_eq!(methods.lines().count(), leastaction::METHODS.len() + 1);
    let verlet = prints(&["methods", "verlet"]);
    assert_eq!(line(&verlet, "described in").trim(), "described in  doi:10.1017/S0962492902000144");
}

#[test]
fn wrong_usage_is_2_and_says_what_to_do() {
    for (arguments, message) in [
        (
            &["run", "duble-pendulum"][..],
            "there is no system `duble-pendulum`: did you mean `double-pendulum`?",
        ),
        (&["run", "wing-nut"], "there is no system `wing-nut`: choose one of pendulum, "),
        (&["run", "double-pendulum", "--set", "m=1"], "there is no parameter `m`: did you mean `m1`?"),
        (
            &["run", "pendulum", "--start", "thh=1"],
            "`thh`, which is no coordinate, velocity or momentum: did you mean `th`?",
        ),
        (
            &["run", "pendulum", "--start", "th'=1", "--start", "p_th=1"],
            "give velocities or momenta, not both",
        ),
        (&["run", "pendulum", "--start", "th=nan"], "`th` cannot be NaN: numbers are finite"),
        (&["run", "pendulum", "--set", "m=-1"], "the mass of particle `bob` is -1"),
        (&["run", "pendulum", "--set", "m"], "write NAME=VALUE, such as m1=2"),
        (&["run", "pendulum", "--set", "m=heavy"], "`heavy` is not a number"),
        (&["run", "pendulum", "--method", "rk5"], "there is no method `rk5`: did you mean `rk4`?"),
        (&["run", "pendulum", "--step", "0"], "the step is 0: it must be a finite number other than 0"),
        (&["run", "pendulum", "--step", "-0.1"], "leads away from the end at t = 20: use 0.1"),
        (&["run", "pendulum", "--step", "-1e-9"], "a step of -1e-9 from t = 0 leads away"),
        (
            &["run", "pendulum", "--step", "1", "--until", "-1e300"],
            "leads away from the end at t = -1e300: use -1",
        ),
        (&["run", "pendulum", "--until", "inf"], "the end of the run is at t = inf: it must be finite"),
        (&["run", "pendulum", "--step", "1e-12"], "2e13 steps"),
        (&["run", "pendulum", "--size", "3"], "can be given a size"),
        (
            &["run", "n-pendulum", "--method", "verlet"],
            "verlet does not support constraints, which this system has: use rattle",
        ),
        (&["run", "coupled-chain", "--size", "0"], "cannot have 0 pieces: choose 1 to 1000"),
        (&["run"], "SYSTEM"),
        (&["swim"], "unrecognized subcommand 'swim'"),
    ] {
        let (code, text) = fails(arguments);
        assert_eq!(code, 2, "{arguments:?}: {text}");
        assert!(text.starts_with("error: ") && text.contains(message), "{arguments:?}: {text}");
    }
    assert_eq!(fails(&[]).0, 2);
}

#[test]
fn a_failing_run_is_1_and_says_where() {
    let unstable = ["run", "harmonic-oscillator", "--method", "rk4", "--step", "100", "--until", "1e5"];
    let (code, text) = fails(&unstable);
    assert_eq!(code, 1, "{text}");
    assert!(text.starts_with("error: `th` became ") && text.contains(" in the step to t = "), "{text}");
    assert!(text.contains("try a smaller step, or look for a singularity"), "{text}");
    // The method and its steps, the number that broke, and what does not fail.
    assert!(
        text.contains("rk4 with steps of 100, 35 steps taken") && text.contains("t = 3500, th = "),
        "{text}"
    );
    assert!(text.contains("from the start, ") && text.contains("--tol 1e-6"), "{text}");
}

/// What falls into a singularity fails, and says where; machines are told, too, and files have what was computed.
#[test]
fn failures_are_told_to_machines_and_marked_in_files() {
    let model = file("fall.motion", b"coord x\nkinetic x'^2/2\npotential -1/x\nstart x = 1\nrun until 2\n");
    let out = file("fall.json", b"");
    let ran = run(&["run", &model, "--json", "--out", &out]);
    assert_eq!(ran.status.code(), Some(1));
    let (said, errors) = (String::from_utf8(ran.stdout).unwrap(), String::from_utf8(ran.stderr).unwrap());
    let failure = line(&said, "  \"failure\"");
    assert!(failure.contains("\"name\": \"") && failure.contains("\"t\": 1.1"), "{failure}");
    assert!(line(&said, "  \"ended\"").contains("failed: "), "{said}");
    assert!(
        errors.contains("what was computed until t = 1.1") && errors.contains("  where  t = 1.1"),
        "{errors}"
    );
    let kept = std::fs::read_to_string(&out).unwrap();
    assert!(kept.contains("\"ended\": \"failed: ") && kept.contains("\"accuracy\": \""), "{kept}");
}

#[test]
fn events_are_written_and_pictures_change_no_file() {
    let model = b"coord x\nkinetic x'^2/2\npotential x^2/2\nstart x = 1\nevent zero: x = 0\nrun until 10\n";
    let model = file("swing.motion", model);
    let [events, plain, other, picture] =
        ["events.csv", "plain.csv", "beside.csv", "swing.svg"].map(|name| file(name, b""));
    prints(&["run", &model, "--events", &events, "--out", &plain]);
    let table = std::fs::read_to_string(&events).unwrap();
    let rows: Vec<_> = table.lines().collect();
    assert!(rows[0] == "t,t_error,event,direction,x,x',p_x" && rows.len() == 4, "{table}");
    assert!(rows[1].starts_with("1.570796") && rows[1].contains(",zero,falling,"), "{table}");
    prints(&["run", &model, "--out", &other, "--plot", &picture]);
    assert_eq!(std::fs::read(&plain).unwrap(), std::fs::read(&other).unwrap());
}

/// Kapitza's pendulum: positions depend on time, and p·q̇ − L is not T + V.
#[test]
fn the_energy_is_kinetic_and_potential() {
    let text = "param a = 0.1, w = 50\ncoord th\nparticle bob mass 1 at [sin(th), -cos(th) + a*cos(w*t)]\n\
                gravity [0, -9.81]\noutput sum = kinetic + potential\nstart th = 3\nrun until 1\n";
    let (model, out) = (file("kapitza.motion", text.as_bytes()), file("kapitza.csv", b""));
    prints(&["run", &model, "--out", &out]);
    let table = std::fs::read_to_string(&out).unwrap();
    let names: Vec<_> = table.lines().next().unwrap().split(',').collect();
    let place = |name: &str| names.iter().position(|n| *n == name).unwrap_or_else(|| panic!("{names:?}"));
    let mut apart = 0.0_f64;
    for row in table.lines().skip(1) {
        let numbers: Vec<f64> = row.split(',').map(|text| text.parse().unwrap()).collect();
        assert_eq!(numbers[place("energy")], numbers[place("sum")]);
        apart = apart.max((numbers[place("energy")] - numbers[place("jacobi")]).abs());
    }
    assert!(apart > 1.0, "{apart}");
    // On a ring that turns steadily, Jacobi's function is conserved, and the energy is not.
    let ring = "coord th\nparticle bead mass 1 at [sin(th)*cos(3*t), sin(th)*sin(3*t), -cos(th)]\n\
                gravity [0, 0, -9.81]\nstart th = 1\nrun until 5\n";
    let ring = file("ring.motion", ring.as_bytes());
    let said = prints(&["run", &ring]);
    assert!(line(&said, "conserved").contains("jacobi (to "), "{said}");
    assert!(line(&said, "energy").contains("changed by up to"), "{said}");
}

#[test]
fn a_closed_pipe_is_no_failure() {
    let mut child = command(&["run", "coupled-chain", "--size", "200", "--until", "0.01"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut first = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
    assert!(first.starts_with("system"));
    let output = child.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");

    let mut closed = command(&["list"]).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    drop(closed.stdout.take());
    let output = closed.wait_with_output().unwrap();
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
}

#[test]
fn help_shows_examples() {
    let help = prints(&["--help"]);
    assert!(help.contains("leastaction run double-pendulum") && help.contains("methods"));
    let run = prints(&["run", "--help"]);
    assert!(run.contains("--start <NAME=VALUE>") && run.contains("leastaction run two-body --start"));
    assert!(prints(&["--version"]).starts_with("leastaction 0."));
}

/// A file with these bytes.
fn file(name: &str, bytes: &[u8]) -> String {
    let path = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::write(&path, bytes).unwrap();
    path.to_str().unwrap().to_owned()
}

/// What `run` would refuse, `check` finds; and what is recorded anyway may be asked for.
#[test]
fn check_finds_outputs_that_run_would_refuse() {
    let model = "coord x, y\nparticle bob mass 1 at [x, y]\npotential x^2 + y^2\n";
    let taken = file("taken.motion", format!("{model}output energy = x\n").as_bytes());
    let refused = fails(&["check", &taken]);
    assert!(refused.1.contains("`energy` is recorded anyway") && refused.1.contains("taken.motion:4:8"));
    assert_eq!(fails(&["run", &taken]), refused);
    let again =
        file("again.motion", format!("{model}output bob, bob.y, height = bob.y\nrun until 1\n").as_bytes());
    assert!(prints(&["check", &again]).ends_with("nothing wrong\n"));
    let table = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("again.csv");
    prints(&["run", &again, "--out", table.to_str().unwrap()]);
    let table = std::fs::read_to_string(table).unwrap();
    let head = table.lines().find(|line| line.starts_with("t,")).unwrap();
    let count = |name: &str| head.split(',').filter(|column| *column == name).count();
    assert_eq!((count("bob.x"), count("bob.y"), count("height")), (1, 1, 1), "{head}");
}

#[test]
fn files_that_are_no_text_are_named() {
    for (name, bytes) in
        [("nothing.motion", &b""[..]), ("wide.motion", b"\xff\xfec\0"), ("binary.motion", b"\x7fELF\0")]
    {
        let (code, message) = fails(&["check", &file(name, bytes)]);
        assert!(code != 0 && message.contains(name), "{message}");
    }
}

#[test]
fn fmt_keeps_line_ends() {
    let windows = file("windows.motion", b"\xef\xbb\xbfcoord x\r\nkinetic x'^2/2\r\n");
    assert_eq!(prints(&["fmt", "--check", &windows]), "");
    let untidy = file("untidy.motion", b"\xef\xbb\xbfcoord  x\r\nkinetic x'^2/2\r\n");
    prints(&["fmt", &untidy]);
    assert_eq!(std::fs::read(&untidy).unwrap(), b"coord x\r\nkinetic x'^2/2\r\n");
}

/// Widths of `format!` end at 65 535: what is longer is printed all the same.
#[test]
fn long_comments_and_names_are_printed() {
    let long = "x".repeat(70_000);
    let comment = format!("# {long}\ncoord x\nkinetic x'^2/2\nstart x = 1\nrun until 1\n");
    let text = prints(&["run", &file("long-comment.motion", comment.as_bytes())]);
    assert!(line(&text, "system").contains(&long));
    let name = format!("coord {long}\nkinetic {long}'^2/2\nstart {long} = 1\nrun until 1\n");
    assert!(prints(&["run", &file("long-name.motion", name.as_bytes())]).contains(&format!("{long} = 1")));
}

/// What a file says is shown, and not obeyed by the terminal.
#[test]
fn escapes_of_a_model_are_not_obeyed() {
    let text = "# a \u{1b}]0;title\u{7}\u{1b}[2J\u{9b}2J b \u{202e}c\ncoord x\nkinetic x'^2/2\nrun until 1\n";
    let hostile = file("hostile.motion", text.as_bytes());
    for arguments in [
        &["run", &hostile][..],
        &["section", &hostile, "--through", "x - 0.5", "--start", "x'=1"],
        &["check", &hostile],
    ] {
        let output = run(arguments);
        for said in [output.stdout, output.stderr] {
            let said = String::from_utf8(said).unwrap();
            assert!(!said.contains(['\u{1b}', '\u{7}', '\u{9b}', '\u{202e}']), "{arguments:?}: {said:?}");
        }
    }
    assert!(line(&prints(&["run", &hostile]), "system").contains("a \\u{1b}]0;title\\u{7}\\u{1b}[2J"));
    // The text itself is passed on as it is.
    assert_eq!(prints(&["show", &hostile]), text);
}

/// The model is not replaced by what is computed of it.
#[cfg(unix)]
#[test]
fn a_model_is_not_written_over() {
    let text = "coord x\nkinetic x'^2/2\nrun until 1\n";
    let model = file("read.motion", text.as_bytes());
    let link = model.replace("read.motion", "read.csv");
    let _ = std::fs::remove_file(&link);
    std::os::unix::fs::symlink("read.motion", &link).unwrap();
    let (code, message) = fails(&["run", &model, "--out", &link]);
    assert!(code == 2 && message.contains("the command reads this file"), "{message}");
    assert_eq!(std::fs::read_to_string(&model).unwrap(), text);
}

/// On a full disk nothing is left of a new file: a limit to the size of files stands for the disk.
#[cfg(unix)]
#[test]
fn new_leaves_nothing_where_there_is_no_room() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let path = folder.join("no-room.motion");
    let _ = std::fs::remove_file(&path);
    let script =
        format!("trap '' XFSZ; ulimit -f 0; exec '{}' new no-room", env!("CARGO_BIN_EXE_leastaction"));
    let output = Command::new("sh").args(["-c", &script]).current_dir(folder).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.code() == Some(1) && errors.contains("cannot write no-room.motion"), "{errors}");
    assert!(!path.exists());
}

/// A batch system's SIGTERM and a closed terminal's SIGHUP keep what was computed, as Ctrl-C does; `nohup` lets the run go on.
#[cfg(target_os = "linux")]
#[test]
fn every_request_to_end_keeps_what_was_computed() {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR"));
    let table = folder.join("asked-to-end.csv");
    for (signal, code, by) in [("TERM", 143, "SIGTERM"), ("HUP", 129, "SIGHUP"), ("INT", 130, "Ctrl-C")] {
        let _ = std::fs::remove_file(&table);
        let long =
            ["run", "double-pendulum", "--until", "1e5", "--every", "1", "--out", table.to_str().unwrap()];
        // Whoever runs the tests may ignore signals (`nohup make test`), and children would too.
        let mut command = Command::new("env");
        command.args(["--default-signal", env!("CARGO_BIN_EXE_leastaction")]).args(long);
        let child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        std::thread::sleep(std::time::Duration::from_millis(500));
        Command::new("kill").args([&format!("-{signal}"), &child.id().to_string()]).status().unwrap();
        let output = child.wait_with_output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{signal}: {said}");
        assert!(line(&said, "stopped").contains(&format!("by {by} at t = ")), "{said}");
        assert!(std::fs::read_to_string(&table).unwrap().lines().count() > 1, "{signal}");
    }
}

#[test]
fn check_warns_of_what_is_hardly_meant_and_runs_say_so() {
    let text = "param k = 3\ncoord th\nparticle bob mass 1 at [sin(th), -cos(th)]\ngravity [0, 9.81]\nstart th = 45\n";
    let doubted = file("doubted.motion", text.as_bytes());
    let warned = prints(&["check", &doubted]);
    assert!(warned.contains("1 coordinate, 3 warnings\n"), "{warned}");
    for (place, what) in [
        (":1:7", "the parameter `k` is never used"),
        (":4:9", "gravity points up"),
        (":5:7", "`th` at the start is 45, which looks like degrees"),
    ] {
        assert!(warned.contains(what) && warned.contains(place), "{what}: {warned}");
    }
    let summary = prints(&["run", &doubted, "--until", "0.1"]);
    assert!(line(&summary, "note").contains("line 1: the parameter `k` is never used"));
    let json = prints(&["run", &doubted, "--until", "0.1", "--json"]);
    for code in ["unused", "gravity-up", "degrees"] {
        assert!(json.contains(&format!("{{\"code\": \"{code}\", \"message\": \"line ")), "{json}");
    }
    // A start that constraints move far away.
    let text =
        "coord x, y\nparticle bob mass 1 at [x, y]\nconstraint x^2 + y^2 = 1\nstart x = 0.8, y = 0.3\n";
    let warned = prints(&["check", &file("far.motion", text.as_bytes())]);
    assert!(
        warned.contains("1 warning\n") && warned.contains("the start was moved onto its constraints"),
        "{warned}"
    );
}

/// A pendulum that is let go at 1 swings back and forth: its extremes and means are known, and `--from` leaves out what came before.
#[test]
fn runs_are_reduced_to_numbers() {
    let swing = [
        "run",
        "pendulum",
        "--start",
        "th=1",
        "--start",
        "th'=0",
        "--until",
        "10",
        "--tol",
        "1e-10",
        "--samples",
        "4000",
    ];
    let what = "max(th), min(th), range(th'), mean(th'), start(th), first(bottom), crossings(bottom)";
    let asked = ["--event", "bottom=th", "--reduce", what, "--reduce", "energy"];
    let text = prints(&[&swing[..], &asked, &["--json"]].concat());
    let reduced = text.lines().find(|line| line.trim_start().starts_with("\"reduced\"")).unwrap().to_owned();
    let number = |name: &str| -> f64 {
        let (_, rest) =
            reduced.split_once(&format!("\"{name}\": ")).unwrap_or_else(|| panic!("{name}: {reduced}"));
        rest.split([',', '}']).next().unwrap().parse().unwrap()
    };
    // v² = 2 g (1 − cos 1) at the bottom; what is not at a sample is missed by little.
    let fastest = (2.0 * 9.81 * (1.0 - 1.0_f64.cos())).sqrt();
    assert!(number("max(th)") == 1.0 && (number("min(th)") + 1.0).abs() < 1e-4, "{reduced}");
    assert!((number("range(th')") - 2.0 * fastest).abs() < 1e-3, "{reduced}");
    assert!(number("start(th)") == 1.0);
    // A quarter of a period is K(sin ½)/sqrt(g), which the arithmetic-geometric mean of 1 and cos ½ gives.
    let mut pair = [1.0, 0.5_f64.cos()];
    for _ in 0..6 {
        pair = [(pair[0] + pair[1]) / 2.0, (pair[0] * pair[1]).sqrt()];
    }
    let quarter = std::f64::consts::FRAC_PI_2 / pair[0] / 9.81_f64.sqrt();
    assert!((number("first(bottom)") - quarter).abs() < 1e-8, "{reduced}");
    assert!(number("crossings(bottom)") == (0.5 + 10.0 / (2.0 * quarter)).floor(), "{reduced}");
    assert!((number("energy") + 9.81 * (1.0_f64.cos() - 0.5)).abs() < 1e-9, "{reduced}");

    let late = prints(
        &[&swing[..], &["--event", "bottom=th", "--reduce", "crossings(bottom),max(th)", "--from", "9"]]
            .concat(),
    );
    let said = line(&late, "reduced");
    assert!(said.contains("max(th) = ") && said.contains("(401 samples from t = 9 on)"), "{said}");
    // In a sweep they are columns.
    let table = prints(&["run", "pendulum", "--set", "l=1,4", "--until", "5", "--reduce", "max(th)"]);
    assert!(table.lines().next().unwrap().contains("max(th)"), "{table}");
    let wrong: [(&[&str], &str); 4] = [
        (&["--reduce", "max(thh)"], "thh"),
        (&["--reduce", "first(flip)"], "there is no event `flip`"),
        (&["--reduce", "max(th)", "--from", "30"], "nothing is left from t = 30 on"),
        (&["--from", "1"], "--reduce"),
    ];
    for (options, said) in wrong {
        let (code, error) = fails(&[&swing[..], options].concat());
        assert!(code == 2 && error.contains(said), "{error}");
    }
}
