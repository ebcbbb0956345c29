//! Texts that nobody would write: they are read, or refused with an error, without a panic and in time that grows with their length.

use leastaction_expr::Graph;
use leastaction_language::{format, read, text};
use leastaction_testing::Random;

/// Reads a text as the command line does, shows what is wrong with it, and derives the equations of motion of a small one.
fn try_text(bytes: &[u8]) {
    let Ok(source) = text(bytes) else { return };
    let graph = Graph::new();
    if let Err(errors) = format(source) {
        let _ = errors.render("fuzz.motion", source, false);
    }
    match read(&graph, source, &[]) {
        Err(errors) => {
            assert!(!errors.diagnostics.is_empty());
            let shown = errors.render("fuzz.motion", source, false);
            assert!(shown.len() < 200_000, "{} bytes are shown", shown.len());
        }
        Ok(setup) if source.len() < 2000 => {
            if let Err(error) = setup.model.equations() {
                let _ = setup.explain(&error).render("fuzz.motion", source, true);
            }
        }
        Ok(_) => {}
    }
}

/// The texts of the tests: right ones, and wrong ones.
fn corpus() -> Vec<Vec<u8>> {
    let folder = |name: &str| std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join(name);
    let mut files: Vec<_> = [folder("tests/wrong"), folder("../catalog/src/system")]
        .iter()
        .flat_map(|folder| std::fs::read_dir(folder).unwrap())
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "motion"))
        .collect();
    files.sort();
    files.into_iter().map(|path| std::fs::read(path).unwrap()).filter(|text| text.len() < 4000).collect()
}

const WORDS: &[&str] = &[
    "param",
    "coord",
    "momentum",
    "input",
    "let",
    "particle",
    "point",
    "body",
    "joint",
    "spring",
    "gravity",
    "kinetic",
    "potential",
    "lagrangian",
    "hamiltonian",
    "dissipation",
    "force",
    "constraint",
    "start",
    "run",
    "output",
    "invariant",
    "event",
    "every",
    "event x = 1, set x' = -x'",
    "set",
    "falling, ",
    "draw",
    "mesh",
    "atoms",
    "material",
    "field",
    "damping",
    "fix",
    "box",
    "rope",
    "file",
    "\"a.msh\"",
    "cells",
    "where",
    "on",
    "of",
    "nodes",
    "springs",
    "density",
    "block",
    "block[3]",
    "mass",
    "at",
    "to",
    "from",
    "for",
    "in",
    "sum(",
    "product(",
    "i in 1..N",
    "i < j in 1..3",
    "..",
    "i",
    "N",
    "param N = 3",
    "coord x[N]",
    "x[i]",
    "x[i+1]",
    "x[2]",
    "u[i][j]",
    "[N]",
    "part",
    "part leg(l, m = 1)\n coord th\n kinetic m*l^2*th'^2/2\nend\n",
    "end\n",
    "place",
    "place left = leg(1)\n",
    "place leg[i] = leg(i) for i in 1..2\n",
    "left.th",
    "include",
    "include \"a.motion\"\n",
    "with",
    "rod",
    "dot",
    "trail",
    "curve",
    "method",
    "step",
    "tol",
    "until",
    "x",
    "y",
    "x'",
    "t",
    "pi",
    "sin",
    "f",
    "a",
    "b.x",
    "`q q`",
    "1",
    "2.5",
    "1e300",
    "0",
    "+",
    "-",
    "*",
    "/",
    "^",
    "(",
    ")",
    "[",
    "]",
    ",",
    "=",
    "==",
    "<",
    ">",
    "'",
    ":",
    ";",
    "\n",
    "\n  ",
    "#",
    ".",
    "`",
    "θ",
    "°",
    "\t",
    "\r\n",
    "\u{feff}",
];

fn tokens(random: &mut Random) -> Vec<u8> {
    let mut text = String::new();
    for _ in 0..random.below(60) {
        text.push_str(random.pick(WORDS));
        if random.chance(0.7) {
            text.push(' ');
        }
    }
    text.into_bytes()
}

fn bytes(random: &mut Random) -> Vec<u8> {
    (0..random.below(200)).map(|_| random.bits() as u8).collect()
}

/// A text with some slips: bytes and pieces that are lost, doubled, swapped or put elsewhere.
fn mutated(random: &mut Random, corpus: &[Vec<u8>]) -> Vec<u8> {
    let mut text = corpus[random.below(corpus.len())].clone();
    for _ in 0..1 + random.below(4) {
        if text.is_empty() {
            break;
        }
        let at = random.below(text.len());
        let end = (at + random.below(20)).min(text.len());
        match random.below(6) {
            0 => drop(text.drain(at..end)),
            1 => text[at] = random.bits() as u8,
            2 => {
                let piece = text[at..end].to_vec();
                let to = random.below(text.len());
                text.splice(to..to, piece);
            }
            3 => {
                let other = &corpus[random.below(corpus.len())];
                let from = random.below(other.len().max(1)).min(other.len());
                let piece = other[from..(from + 30).min(other.len())].to_vec();
                text.splice(at..at, piece);
            }
            4 => {
                let word = random.pick(WORDS).as_bytes().to_vec();
                text.splice(at..at, word);
            }
            _ => {
                let to = random.below(text.len());
                text.swap(at, to);
            }
        }
    }
    text
}

fn fuzz(seed: u64, rounds: usize) {
    let corpus = corpus();
    assert!(corpus.len() > 50);
    for round in 0..rounds {
        let mut random = Random::new(seed.wrapping_add(round as u64));
        let text = match round % 8 {
            0 => bytes(&mut random),
            1 | 2 => tokens(&mut random),
            _ => mutated(&mut random, &corpus),
        };
        let caught = std::panic::catch_unwind(|| try_text(&text));
        assert!(
            caught.is_ok(),
            "seed {}:\n{}",
            seed.wrapping_add(round as u64),
            String::from_utf8_lossy(&text)
        );
    }
}

#[test]
fn random_texts() {
    fuzz(0, 2000);
}

#[test]
#[ignore = "long"]
fn more_random_texts() {
    fuzz(1 << 32, 300_000);
}

/// So many bytes of something.
fn long(size: usize, piece: impl Fn(usize) -> String) -> String {
    let mut text = String::new();
    let mut i = 0;
    while text.len() < size {
        text.push_str(&piece(i));
        i += 1;
    }
    text
}

#[test]
fn long_texts() {
    try_long(1 << 14);
}

#[test]
#[ignore = "long"]
fn very_long_texts() {
    try_long(1 << 20);
}

fn try_long(size: usize) {
    let long = |piece: fn(usize) -> String| long(size, piece);
    let one = |piece: &str| self::long(size, |_| piece.to_owned());
    let coordinates = "coord x\nkinetic x'^2/2\n";
    let all = [
        one("x"),
        one(" "),
        one("("),
        one("let a = ("),
        one("#"),
        one("\n"),
        one("é"),
        one("`"),
        one("["),
        one("coord "),
        format!("{coordinates}potential {}x", one("x + ")),
        format!("{coordinates}potential {}", one("(")),
        format!("{coordinates}potential {}x", one("-")),
        format!("{coordinates}potential x{}", one("^x")),
        format!("{coordinates}potential x{}", one("'")),
        format!("{coordinates}start x{} = 1", one("'")),
        format!("{coordinates}let v = [{}1]", one("1, ")),
        format!("{coordinates}let v = [1, x, 3]\nlet w = v{}", one(" + v")),
        format!("{coordinates}potential {}", one("1")),
        format!("{coordinates}potential sin({}1)", one("1, ")),
        long(|i| format!("param a{i} = {i}\n")),
        long(|i| format!("coord q{i}\n")),
        long(|i| format!("start q{i} = 1\n")),
        long(|i| format!("potential q{i}\n")),
        long(|i| format!("coord q{i}\nkinetic k{i} = q{i}'^2/2\nstart q{i} = 1\noutput q{i}\n")),
        long(|i| {
            format!("param a{i} = 1\ncoord q{i}\nparticle p{i} mass a{i} at [q{i}, 0]\ndraw dot p{i}\n")
        }),
        long(|i| {
            format!(
                "coord q{i}, r{i}\nparticle p{i} mass 1 at [q{i}, r{i}]\nconstraint q{i}^2 + r{i}^2 = 1\n"
            )
        }),
        format!("coord a0\n{}", long(|i| format!("let a{} = a{i}*a{i} + a{i}\n", i + 1))),
        format!("let f0(a) = a*a + a\n{}", long(|i| format!("let f{}(a) = f{i}(f{i}(a))\n", i + 1))),
        format!("coord x\n{}", long(|i| format!("let f{i}(a) = a*x + {i}\n"))),
        format!(
            "let f(a, b) = a*b + a\ncoord x\n{}",
            long(|i| format!("potential p{i} = f(x, f({i}, x))\n"))
        ),
        long(|i| format!("param a{i} = 1\nlet b{i} = a{i}x\n")),
        long(|i| format!("let b{i} = c{i}\nparam c{i} = 1\n")),
        format!("coord a0\n{}", long(|i| format!("let a{} = a{i}*a0 + 1, b{i} = a{i}'\n", i + 1))),
        long(|i| format!("part p{i}(l)\ncoord x\nkinetic l*x'^2/2\nend\nplace a{i} = p{i}({i} + 1)\n")),
        format!(
            "part p(l)\ncoord x\nkinetic l*x'^2/2\nend\n{}",
            long(|i| format!("place a{i} = p({i} + 1)\n"))
        ),
        format!("part p\n{}", one("coord x\n")),
        one("part p\n"),
        one("end\n"),
        long(|i| format!("event e{i}: t = {i}\n")),
        long(|i| format!("invariant e{i} = t\ninput u{i} = t\n")),
    ];
    for text in all {
        let before = std::time::Instant::now();
        try_text(text.as_bytes());
        let end = text.floor_char_boundary(50);
        println!("{:8.3} s  {:?}", before.elapsed().as_secs_f64(), &text[..end]);
    }
}
