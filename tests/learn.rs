//! `leastaction learn`, from outside: data, training, judging, and the comparison.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder =
        std::env::temp_dir().join(format!("leastaction-command-learn-{name}-{}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(folder: &Path, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leastaction"));
    command.args(words.split(' ')).current_dir(folder).output().unwrap()
}

fn prints(folder: &Path, words: &str) -> String {
    let output = run(folder, words);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success() && errors.is_empty(), "{words}: {errors}");
    String::from_utf8(output.stdout).unwrap()
}

fn fails(folder: &Path, words: &str, code: i32) -> String {
    let output = run(folder, words);
    let errors = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(code), "{words}: {errors}");
    assert!(output.stdout.is_empty(), "{words}");
    errors
}

const DATA: &str = "learn data n-pendulum --size 1 --train 30 --validation 5 --test 4 --samples 20 --every 0.03 --out one.npz";
const TRAIN: &str = "learn train one.npz --hidden 8 --steps 30 --batch 30 --out one.safetensors";

#[test]
fn what_was_learned_is_rolled_out() {
    let folder = folder("rollout");
    prints(&folder, DATA);
    let printed = prints(&folder, &format!("{TRAIN} --log log.jsonl --plot losses.png"));
    assert!(printed.contains("chnn of n-pendulum: 30 steps in"), "{printed}");
    // Losses are measured often enough to be seen, and all are in the log.
    let log = fs::read_to_string(folder.join("log.jsonl")).unwrap();
    assert!(log.lines().count() == 30 && log.contains("\"validation\""), "{log}");
    assert!(fs::read(folder.join("losses.png")).unwrap().starts_with(b"\x89PNG"));

    let words = "learn rollout one.safetensors --data one.npz --times 3 --starts 3 --out errors.csv --plot errors.svg";
    let printed = prints(&folder, words);
    assert!(printed.starts_with("n-pendulum, 3 trajectories, 58 samples 0.03 apart\n"), "{printed}");
    assert!(
        printed.contains("the truth, moved by 0.0001\n") && printed.contains("\none.safetensors\n"),
        "{printed}"
    );
    assert_eq!(printed.matches("an error of 1 %: ").count(), 2, "{printed}");
    let table = fs::read_to_string(folder.join("errors.csv")).unwrap();
    assert_eq!(table.lines().count(), 1 + 2 * 58);
    assert!(table.starts_with("model,t,error,error_low,error_high,energy_error,"), "{table:.200}");
    let svg = fs::read_to_string(folder.join("errors.svg")).unwrap();
    assert!(
        ["Relative error", "Error of the energy", "Violation of constraints"].iter().all(|t| svg.contains(t))
    );
    // However many threads.
    let again = prints(&folder, &format!("{words} --threads 1"));
    assert_eq!(again, printed);
    let printed = prints(&folder, "learn evaluate one.safetensors --data one.npz --eigenvalues 3");
    assert!(printed.contains("  lost  dimension\n") && printed.contains("  0     –\n"), "{printed}");
    assert!(printed.contains("the effective dimension of one.safetensors is larger"), "{printed}");
    let printed = prints(&folder, "learn evaluate one.safetensors --data one.npz");
    assert!(printed.contains("geometric mean") && printed.contains("violation"), "{printed}");

    for (words, code, reason) in [
        ("learn rollout one.npz --data one.npz", 1, "one.npz"),
        ("learn rollout one.safetensors --data one.safetensors", 1, "archive"),
        ("learn rollout one.safetensors --data one.npz --times 0", 2, "--times"),
        ("learn rollout one.safetensors --data one.npz --times 99999 --perturbed -1", 2, "--perturbed"),
        ("learn rollout one.safetensors --data one.npz --times 99999 --substeps 0", 2, "--substeps"),
        ("learn rollout one.safetensors --data one.npz --out a.txt", 2, "a.txt"),
        ("learn rollout one.safetensors --data one.npz --out one.npz", 2, "choose another name"),
        ("learn rollout one.safetensors --data one.npz --plot a.txt", 2, ".svg or .png"),
        ("learn train one.npz --out b.safetensors --log b.txt", 2, ".csv or .jsonl"),
        ("learn evaluate one.safetensors --data one.npz --perturbed nan", 2, "NaN"),
    ] {
        let message = fails(&folder, words, code);
        assert!(message.contains(reason), "{words}: {message}");
    }
    prints(
        &folder,
        "learn data n-pendulum --size 2 --train 2 --validation 0 --test 1 --samples 5 --out two.npz",
    );
    let message = fails(&folder, "learn rollout one.safetensors --data two.npz", 2);
    assert!(message.contains("learned of another system"), "{message}");
    let huge = "learn data n-pendulum --size 1 --train 1 --validation 0 --test 300 --samples 30 --every 0.01 --out huge.npz";
    prints(&folder, huge);
    let message = fails(&folder, "learn rollout one.safetensors --data huge.npz --times 99999", 2);
    assert!(message.contains("too much memory") && message.contains("--starts"), "{message}");
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn data_of_ones_own_are_learned_from() {
    let folder = folder("own");
    for (name, start) in [("a", "1.0"), ("b", "0.7"), ("c", "-1.2")] {
        prints(&folder, &format!("run pendulum --start th={start} --until 6 --every 0.05 --out {name}.csv"));
    }
    let printed = prints(
        &folder,
        "learn data pendulum --from a.csv --from b.csv --from c.csv --samples 10 --out swing.npz",
    );
    assert!(
        printed.contains("3 trajectories of data, in 36 pieces of 10 samples, 0.05 apart, of 2 numbers each"),
        "{printed}"
    );
    assert!(printed.contains("30 for training, 3 for validation, 3 for tests"), "{printed}");
    assert!(printed.contains("left out: 3 samples that fill no piece"), "{printed}");
    prints(
        &folder,
        "learn train swing.npz --architecture hnn --hidden 8 --steps 5 --batch 10 --out swing.safetensors",
    );
    // The data are the motion of the model, so that it predicts them.
    let printed = prints(&folder, "learn evaluate swing.safetensors --data swing.npz");
    let own = printed.lines().find(|line| line.starts_with("the model of the text")).unwrap();
    let error: f64 = own.split_whitespace().nth(5).unwrap().parse().unwrap();
    assert!(error < 1e-6, "{printed}");
    assert!(
        printed.contains("note: energies and constraints are those of the model of the text"),
        "{printed}"
    );
    let message = fails(&folder, "learn rollout swing.safetensors --data swing.npz --times 2", 2);
    assert!(message.contains("the data were measured"), "{message}");

    for (words, code, reason) in [
        ("learn data pendulum --from a.csv --out a.npz --sample th=1", 2, "--sample"),
        ("learn data pendulum --from nowhere.csv --out a.npz", 1, "cannot read `nowhere.csv`"),
        ("learn data pendulum --from a.csv --out a.npz --every 0.1", 2, "leave it out"),
        ("learn data pendulum --from a.csv --out a.npz --train 99", 2, "ask for fewer"),
        ("learn data pendulum --from swing.npz --out a.npz", 1, "it is a dataset already"),
        ("learn data pendulum --from swing.npz --out swing.npz", 2, "choose another name"),
        ("learn data double-pendulum --from a.csv --out a.npz", 1, "the model has the coordinates th1, th2"),
        ("learn data pendulum --differences --out a.npz", 2, "--from"),
    ] {
        let message = fails(&folder, words, code);
        assert!(message.contains(reason), "{words}: {message}");
        assert!(!folder.join("a.npz").exists());
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn comparisons_are_written_and_gone_on_with() {
    let folder = folder("reproduce");
    let words = "learn reproduce --quick --systems 1-Pendulum --models chnn --hidden 6 --steps 4 --train 12 --test 3 --out all";
    let printed = prints(&folder, words);
    assert!(printed.contains("1-Pendulum") && printed.contains("6.08e-5"), "{printed}");
    for name in [
        "report.md",
        "results.csv",
        "curves.csv",
        "errors.svg",
        "energies.svg",
        "violations.svg",
        "published.svg",
    ] {
        assert!(folder.join("all").join(name).is_file(), "{name}");
    }
    let report = fs::read_to_string(folder.join("all/report.md")).unwrap();
    assert!(report.contains(&format!("leastaction {words}")), "{report}");
    let written =
        fs::metadata(folder.join("all/learned/1-Pendulum-chnn-0.safetensors")).unwrap().modified().unwrap();
    // Another model is added, and what is there stays.
    prints(&folder, &words.replace("--models chnn", "--models chnn,neural-ode"));
    let kept =
        fs::metadata(folder.join("all/learned/1-Pendulum-chnn-0.safetensors")).unwrap().modified().unwrap();
    assert_eq!(written, kept);
    // How errors depend on the number of trajectories.
    let several = words.replace("--train 12", "--train 20,10").replace("--out all", "--out several");
    let printed = prints(&folder, &several);
    assert!(printed.contains("| trajectories | truth | CHNN |") && printed.contains(&several), "{printed}");
    let (ten, twenty) = (printed.find("\n| 10 | "), printed.find("\n| 20 | "));
    assert!(ten.is_some() && ten < twenty, "{printed}");
    assert!(
        fs::read_to_string(folder.join("several/efficiency.svg"))
            .unwrap()
            .contains("Relative errors against")
    );
    assert!(folder.join("several/trajectories-20/results/1-Pendulum-chnn-0.npz").is_file());

    for (words, reason) in [
        (several.replace("20,10", "20,20"), "20 trajectories are asked for twice"),
        (words.replace("--steps 4", "--steps 5"), "another comparison"),
        (words.replace("1-Pendulum", "4-Pendulum"), "there are 1-Pendulum, 2-Pendulum"),
        (words.replace("chnn", "chnn,chnn"), "asked for twice"),
        (words.replace("chnn", "gan"), "neural-ode"),
        (words.replace("--quick", "--quick --full"), "--full"),
        (words.replace(" --quick", ""), "--quick"),
    ] {
        let message = fails(&folder, &words, 2);
        assert!(message.contains(reason), "{words}: {message}");
    }
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn data_that_cannot_be_made_are_refused() {
    let folder = folder("refused");
    let message = fails(&folder, "learn data pendulum --train 6 --out one.npz", 2);
    assert!(
        message.contains("pendulum has no random starts of its own: say what to draw, as --sample"),
        "{message}"
    );
    let ball = "coord y\nparticle ball mass 1 at [y]\ngravity [-9.81]\nstart y = 1\nevent floor: y = 0, falling, set y' = -0.8*y'\nrun until 2\n";
    fs::write(folder.join("ball.motion"), ball).unwrap();
    fs::write(folder.join("ball.csv"), "t,y,y'\n0,1,0\n0.1,0.95,-1\n0.2,0.8,-2\n0.3,0.6,-3\n").unwrap();
    for words in ["--sample y=uniform(1,2)", "--from ball.csv"] {
        let message = fails(&folder, &format!("learn data ball.motion {words} --train 6 --out one.npz"), 2);
        assert!(
            message.contains("the event `floor` of the model sets something, and learned energies do not"),
            "{message}"
        );
    }
    fs::remove_dir_all(folder).unwrap();
}
