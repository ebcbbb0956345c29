//! The README and the book show what commands print, and models that can be read.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const ROOT: &str = env!("CARGO_MANIFEST_DIR");

/// The README and the pages of the book.
fn pages() -> Vec<PathBuf> {
    let book = Path::new(ROOT).join("book/src");
    let mut pages: Vec<_> = fs::read_dir(book).unwrap().map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|end| end == "md"));
    pages.push(Path::new(ROOT).join("README.md"));
    pages.sort();
    pages
}

/// A fenced block: its language and the lines in it, with the place of the text.
struct Block<'t> {
    language: &'t str,
    text: &'t str,
    start: usize,
}

fn blocks(page: &str) -> Vec<Block<'_>> {
    let (mut found, mut open, mut at) = (Vec::new(), None, 0);
    for line in page.split_inclusive('\n') {
        if let Some(rest) = line.trim_end().strip_prefix("```") {
            open = match open {
                None => Some((rest, at + line.len())),
                Some((language, start)) => {
                    found.push(Block { language, text: &page[start..at], start });
                    None
                }
            };
        }
        at += line.len();
    }
    assert!(open.is_none(), "a block is never closed");
    found
}

/// Commands of a block, each with what it is shown to print.
fn commands(block: &str) -> Vec<(&str, String)> {
    let mut found: Vec<(&str, String)> = Vec::new();
    for line in block.lines() {
        match (line.strip_prefix("$ "), found.last_mut()) {
            (Some(command), _) => found.push((command, String::new())),
            (None, Some((_, output))) => output.push_str(&format!("{line}\n")),
            (None, None) => panic!("a console begins with `$ `: {line}"),
        }
    }
    found
}

/// The words of a command, of which some are quoted.
fn words(command: &str) -> Vec<String> {
    let (mut words, mut word, mut quote) = (Vec::new(), None::<String>, None);
    for c in command.chars() {
        match (quote, c) {
            (Some(mark), c) if c == mark => quote = None,
            (None, '"' | '\'') => (quote, word) = (Some(c), word.or(Some(String::new()))),
            (None, c) if c.is_whitespace() => words.extend(word.take()),
            (_, c) => word.get_or_insert_default().push(c),
        }
    }
    words.extend(word);
    words
}

/// What a command prints, in a folder with the models and data of the book.
fn output(folder: &Path, command: &str) -> String {
    let words = words(command);
    let (program, arguments) = words.split_first().unwrap();
    assert_eq!(program, "leastaction", "{command}");
    let run =
        Command::new(env!("CARGO_BIN_EXE_leastaction")).args(arguments).current_dir(folder).output().unwrap();
    String::from_utf8(run.stdout).unwrap() + &String::from_utf8(run.stderr).unwrap()
}

/// Times differ from run to run, and what is left of rounding from one machine to another.
fn masked(text: &str) -> String {
    let word = |words: &[&str], i: usize| {
        let bare = words[i].trim_end_matches([',', ')', '}']);
        let timed = matches!(words.get(i + 1), Some(&("s" | "s," | "ms")))
            || i > 0 && words[i - 1].ends_with("_s\":");
        match bare.parse::<f64>() {
            Ok(_) if timed => "…".to_owned(),
            Ok(value) if value != 0.0 && value.abs() < 1e-11 => words[i].replace(bare, "≈0"),
            Ok(value) if bare.len() > 10 => words[i].replace(bare, &format!("{value:.6e}")),
            _ => words[i].to_owned(),
        }
    };
    let line = |line: &str| {
        let words: Vec<&str> = line.split(' ').collect();
        (0..words.len()).map(|i| word(&words, i)).collect::<Vec<_>>().join(" ")
    };
    text.lines().map(|l| line(l.trim_end()) + "\n").collect()
}

/// Whether an output is as shown, where a line `…` stands for any lines.
fn is_shown(shown: &str, found: &str) -> bool {
    let (shown, found) = (masked(shown), masked(found));
    let mut pieces = shown.split("…\n").filter(|_| shown.lines().any(|line| line == "…"));
    let Some(first) = pieces.next() else { return shown == found };
    let Some(mut rest) = found.strip_prefix(first) else { return false };
    let mut last = first;
    for piece in pieces {
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
        last = piece;
    }
    last.is_empty() || found.ends_with(last)
}

fn folder(page: &Path) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pages").join(page.file_stem().unwrap());
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    for source in ["book/models", "book/data"] {
        for file in fs::read_dir(Path::new(ROOT).join(source)).unwrap() {
            let file = file.unwrap();
            fs::copy(file.path(), folder.join(file.file_name())).unwrap();
        }
    }
    folder
}

/// Every command on a page prints what the page shows. UPDATE_GOLDEN=1 puts what it prints in place of what it showed.
#[test]
fn commands_print_what_pages_show() {
    let (mut wrong, update) = (Vec::new(), std::env::var_os("UPDATE_GOLDEN").is_some());
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        let (mut renewed, mut copied, folder) = (String::new(), 0, folder(&path));
        for block in blocks(&page).iter().filter(|block| block.language == "console") {
            renewed.push_str(&page[copied..block.start]);
            copied = block.start + block.text.len();
            for (command, shown) in commands(block.text) {
                let found = output(&folder, command);
                let same = is_shown(&shown, &found);
                renewed.push_str(&format!("$ {command}\n{}", if same { &shown } else { &found }));
                if !same {
                    wrong.push(format!("{}: {command}\nshown:\n{shown}\nprinted:\n{found}", path.display()));
                }
            }
        }
        renewed.push_str(&page[copied..]);
        if update && renewed != page {
            fs::write(&path, renewed).unwrap();
        }
    }
    assert!(update || wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What a page includes is there, and what it shows of the language is one of the models of the book, so it was run.
#[test]
fn models_on_pages_are_files() {
    let models = Path::new(ROOT).join("book/models");
    let files = fs::read_dir(&models).unwrap().map(|entry| entry.unwrap().path());
    // One is there to be wrong.
    let files = files.filter(|path| !path.ends_with("mistakes.motion"));
    let texts: Vec<String> = files.map(|path| fs::read_to_string(path).unwrap()).collect();
    for text in &texts {
        let graph = leastaction::Graph::new();
        let setup = leastaction::language::read(&graph, text, &[]).unwrap();
        // A network that is yet to be trained is no part of a system.
        setup.without_networks().system().unwrap();
        assert_eq!(&leastaction::language::format(text).unwrap(), text);
    }
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for block in blocks(&page) {
            let include =
                block.text.trim().strip_prefix("{{#include ").and_then(|rest| rest.strip_suffix("}}"));
            match (include, block.language) {
                (Some(include), _) => {
                    let file = include.split(':').next().unwrap();
                    assert!(path.parent().unwrap().join(file).is_file(), "{}: {include}", path.display());
                }
                (None, "motion") if path.ends_with("README.md") => {
                    assert!(
                        texts.iter().any(|text| text == block.text),
                        "{}:\n{}",
                        path.display(),
                        block.text
                    );
                }
                (None, "motion") => {
                    let graph = leastaction::Graph::new();
                    let read = leastaction::language::read(&graph, block.text, &[]);
                    assert!(read.is_ok(), "{}:\n{}\n{}", path.display(), block.text, read.unwrap_err());
                }
                _ => {}
            }
        }
    }
}

/// The model of the front page has ten lines at most, and is followed by what its run prints.
#[test]
fn the_first_model_has_ten_lines() {
    let page = fs::read_to_string(Path::new(ROOT).join("README.md")).unwrap();
    let blocks = blocks(&page);
    let at = blocks.iter().position(|block| block.language == "motion").unwrap();
    let lines = blocks[at].text.lines().count();
    assert!((5..=10).contains(&lines), "{lines} lines");
    assert!(blocks[at + 1].text.starts_with("$ leastaction run "), "{}", blocks[at + 1].text);
}

/// A classic takes twelve lines at most, comments and empty ones not counted, and its equations stand beside it. One is there to show what more lines can do.
#[test]
fn classics_are_short_and_have_their_equations_beside_them() {
    let page = fs::read_to_string(Path::new(ROOT).join("book/src/classics.md")).unwrap();
    let (mut classics, mut longer) = (0, Vec::new());
    for block in blocks(&page).iter().filter(|block| block.language == "console") {
        let commands = commands(block.text);
        let (show, model) = &commands[0];
        let name = show.strip_prefix("leastaction show ").unwrap_or_else(|| panic!("{show} shows no model"));
        let lines = model.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).count();
        if lines > 12 {
            longer.push((name, lines));
            continue;
        }
        let equations = format!("leastaction equations {name}");
        assert!(
            commands.iter().any(|(command, printed)| *command == equations && !printed.is_empty()),
            "{name}"
        );
        classics += 1;
    }
    assert!(classics >= 12, "{classics}");
    assert!(matches!(longer[..], [("bicycle", ..=30)]), "{longer:?}");
}

/// What a link calls a heading: its letters and digits, small, with dashes for spaces.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|c| c.is_alphanumeric() || [' ', '-', '_'].contains(c));
    kept.collect::<String>().trim().to_lowercase().replace(' ', "-")
}

/// Links between pages lead somewhere, and so do those to headings.
#[test]
fn links_lead_to_files() {
    for path in pages() {
        let page = fs::read_to_string(&path).unwrap();
        for link in page.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            let (file, heading) =
                link.split_once('#').map_or((link, None), |(file, heading)| (file, Some(heading)));
            if file.contains("://") || link.contains(' ') {
                continue;
            }
            let target = if file.is_empty() { path.clone() } else { path.parent().unwrap().join(file) };
            assert!(target.exists(), "{}: {link}", path.display());
            let Some(heading) = heading else { continue };
            let text = fs::read_to_string(&target).unwrap();
            let headings = text.lines().filter_map(|line| line.strip_prefix('#'));
            let known: Vec<String> =
                headings.map(|line| anchor(line.trim_start_matches('#').trim())).collect();
            assert!(
                known.iter().any(|known| known == heading),
                "{}: {link} is none of {known:?}",
                path.display()
            );
        }
    }
}
