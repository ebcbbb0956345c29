//! What commands print, kept as files: a line with the command, then what it prints. Times are masked, and rounding.
//!
//! `UPDATE_GOLDEN=1 cargo test --test all golden` writes them anew; look at the difference.
use std::fs;
use std::path::Path;
use std::process::Command;

/// Times differ from run to run, and what is left of rounding from one machine to another.
fn masked(text: &str) -> String {
    let mask = |line: &str| {
        let timed =
            line.starts_with("time ") || line.contains("\"compile_s\": ") || line.contains("\"wall_s\": ");
        let word = |word: &str| {
            let bare = word.trim_end_matches([',', ')', '}']);
            match bare.parse::<f64>() {
                Ok(_) if timed => format!("…{}", &word[bare.len()..]),
                Ok(value) if value != 0.0 && value.abs() < 1e-11 => format!("≈0{}", &word[bare.len()..]),
                Ok(value) if bare.len() > 10 => format!("{value:.6e}{}", &word[bare.len()..]),
                _ => word.to_owned(),
            }
        };
        // The last cell of a row of `compare` is a time.
        let line = match line.strip_suffix(" ms").and_then(|line| line.rsplit_once(' ')) {
            Some((row, _)) => format!("{row} … ms"),
            None => line.to_owned(),
        };
        line.split(' ').map(word).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|line| mask(line) + "\n").collect()
}

#[test]
fn commands_print_what_they_should() {
    let shelf = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/run");
    let write = std::env::var_os("UPDATE_GOLDEN").is_some();
    let mut files: Vec<_> = fs::read_dir(&shelf).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.sort();
    assert!(files.len() >= 8, "{files:?}");
    let mut wrong = Vec::new();
    for path in files {
        let expected = fs::read_to_string(&path).unwrap();
        let asked = expected.lines().next().unwrap();
        let words = asked.strip_prefix("$ leastaction ").unwrap().split(' ');
        let output = Command::new(env!("CARGO_BIN_EXE_leastaction"))
            .args(words)
            .current_dir(env!("CARGO_MANIFEST_DIR"))
            .output()
            .unwrap();
        let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
        let code = output.status.code().unwrap();
        let ended = if code == 0 { String::new() } else { format!("exit code {code}\n") };
        let out = if asked.ends_with("--help") { out } else { masked(&out) };
        let found = format!("{asked}\n{out}{errors}{ended}");
        if write {
            fs::write(&path, found).unwrap();
        } else if found != expected {
            wrong.push(format!("{}:\n{found}\ninstead of\n{expected}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_times_and_rounding_are_masked() {
    let text = "time        0.001 s to compile, 1.250 s to run\n  \"wall_s\": 1.5e-3,\nrun  0.5 s, {2e-12}\n";
    assert_eq!(
        masked(text),
        "time        … s to compile, … s to run\n  \"wall_s\": …,\nrun  0.5 s, {2e-12}\n"
    );
    assert_eq!(masked("(to 2e-15) 0.30000000000000004}\n"), "(to ≈0) 3.000000e-1}\n");
}
