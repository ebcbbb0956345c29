//! Pictures from the command line.

use std::fs;
use std::path::PathBuf;
use std::process::{Command, Output};

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("leastaction-pictures-{name}-{}", std::process::id()));
    fs::create_dir_all(&folder).unwrap();
    folder
}

fn run(folder: &PathBuf, words: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_leastaction"));
    // No ffmpeg is to be found.
    command.arg("run").args(words.split(' ')).current_dir(folder).env("PATH", "");
    command.output().unwrap()
}

#[test]
fn plots_and_animations_are_written_and_said_to_be() {
    let folder = folder("written");
    let output = run(&folder, "double-pendulum --until 2 --plot a.svg --plot b.png --animate c.gif");
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(text.contains("a.svg, b.png, c.gif (51 frames, 1 unit of time in a second)"), "{text}");
    let starts = |name: &str, with: &[u8]| fs::read(folder.join(name)).unwrap().starts_with(with);
    assert!(starts("a.svg", b"<svg") && starts("b.png", b"\x89PNG") && starts("c.gif", b"GIF89a"));
    let svg = fs::read_to_string(folder.join("a.svg")).unwrap();
    assert!(["double-pendulum", "elbow", "th1", "Energy error"].iter().all(|word| svg.contains(word)));
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 3);
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn pictures_that_cannot_be_are_refused_before_the_run() {
    let folder = folder("refused");
    for (words, reason) in [
        ("--plot a.pdf", "should end in .svg or .png"),
        ("--plot a", "should end in .svg or .png"),
        ("--animate a.avi", "should end in .gif or .mp4"),
        ("--animate a.mp4", "needs the program `ffmpeg`"),
        ("--plot nowhere/a.svg", "there is no directory `nowhere`"),
    ] {
        // It would never end.
        let output = run(&folder, &format!("double-pendulum --until 1e9 --max-steps 1000000000000 {words}"));
        let said = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "{words}: {said}");
        assert!(said.contains(reason), "{words}: {said}");
    }
    assert_eq!(fs::read_dir(&folder).unwrap().count(), 0);
    fs::remove_dir(folder).unwrap();
}
