//! The surface of a section, and what is shown on it.

use super::super::Failure;
use leastaction::Dynamics;
use leastaction::System;

/// What vanishes on a surface that is written as `EXPR`, or as `EXPR = EXPR`.
pub(super) fn vanishing(text: &str) -> Result<String, Failure> {
    match text.split('=').collect::<Vec<_>>()[..] {
        [whole] if !whole.trim().is_empty() => Ok(whole.trim().to_owned()),
        [left, right] if !left.trim().is_empty() && !right.trim().is_empty() => {
            Ok(format!("({}) - ({})", left.trim(), right.trim()))
        }
        _ => Err(Failure::usage(format!(
            "`{text}` is no surface: write --through \"x\", or --through \"x = 0.5\""
        ))),
    }
}

/// The surface as it is told.
pub(super) fn told(text: &str) -> String {
    match text.split_once('=') {
        Some((left, right)) => format!("{} = {}", left.trim(), right.trim()),
        None => format!("{} = 0", text.trim()),
    }
}

/// Two expressions that are shown, separated by a comma. Without any: a coordinate that the surface does not hold, and its momentum.
pub(super) fn shown(
    text: Option<&str>,
    surface: &str,
    dynamics: &mut Dynamics,
) -> Result<[String; 2], Failure> {
    let Some(text) = text else { return usual(surface, &dynamics.system().clone()) };
    let parts = split(text);
    match &parts[..] {
        [a, b] if !a.is_empty() && !b.is_empty() => Ok([a.clone(), b.clone()]),
        _ => Err(Failure::usage(format!("`{text}` are not two expressions: write --show y,p_y"))),
    }
}

fn usual(surface: &str, system: &System) -> Result<[String; 2], Failure> {
    let held = surface.split('=').next().unwrap_or(surface).trim();
    let pairs = system.coordinates().iter().zip(system.momenta());
    let free = pairs.filter(|(q, p)| *q != held && *p != held).map(|(q, p)| [q.clone(), p.clone()]).next();
    free.ok_or_else(|| Failure::usage("what should be shown of the section? (--show A,B)"))
}

/// Parts between commas that are not inside brackets.
fn split(text: &str) -> Vec<String> {
    let (mut parts, mut depth) = (vec![String::new()], 0_i32);
    for letter in text.chars() {
        match letter {
            '(' | '[' => depth += 1,
            ')' | ']' => depth -= 1,
            _ => {}
        }
        match (letter, depth, parts.last_mut()) {
            (',', 0, _) => parts.push(String::new()),
            (_, _, Some(part)) => part.push(letter),
            _ => {}
        }
    }
    parts.iter().map(|part| part.trim().to_owned()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn surfaces_are_read() {
        let good = |text| vanishing(text).unwrap_or_else(|failure| failure.message);
        assert_eq!(good(" x "), "x");
        assert_eq!(good("x = 0.5"), "(x) - (0.5)");
        assert_eq!(good("x - y = 1 - z"), "(x - y) - (1 - z)");
        assert_eq!([told("x"), told(" x=1")], ["x = 0", "x = 1"]);
        for bad in ["", "x =", "= 3", "x = 1 = 2"] {
            assert!(vanishing(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn commas_inside_brackets_separate_nothing() {
        assert_eq!(split("y, p_y"), ["y", "p_y"]);
        assert_eq!(split("atan2(y, x), p_y"), ["atan2(y, x)", "p_y"]);
    }
}
