//! Symbols in LaTeX: Greek letters, subscripts, dots.

use super::greek;
use crate::parse::is_identifier;
use crate::symbols::Symbol;
use std::borrow::Cow;

/// A symbol with its dots and its subscript.
pub(super) fn dotted(symbol: &Symbol) -> String {
    let [letter, subscript] = undotted(&symbol.name);
    match symbol.dots {
        0 => letter + &subscript,
        dots @ 1..=3 => format!(r"\{}ot{{{letter}}}{subscript}", "d".repeat(dots.into())),
        dots => format!("{letter}{subscript}^{{({dots})}}"),
    }
}

/// The letter or word that a name begins with, and its subscript: the digits at its end, and what follows an
/// underscore.
pub(super) fn undotted(name: &str) -> [String; 2] {
    if let Some((base, indices)) = indexed(name) {
        let [letter, subscript] = undotted(base);
        let inside = subscript.strip_prefix("_{").and_then(|inner| inner.strip_suffix('}'));
        let all: Vec<String> = inside.map(str::to_owned).into_iter().chain(indices).collect();
        return [letter, format!("_{{{}}}", all.join(","))];
    }
    if !is_identifier(name) || name.starts_with('_') {
        return [format!(r"\text{{{}}}", name.chars().map(escaped).collect::<String>()), String::new()];
    }
    let mut parts = name.split('_').filter(|part| !part.is_empty());
    let first = parts.next().unwrap_or(name);
    let letter = first.trim_end_matches(|c| digit(c).is_some());
    let digits = Some(&first[letter.len()..]).filter(|digits| !digits.is_empty());
    let subscripts: Vec<String> = digits.into_iter().chain(parts).map(upright).collect();
    let subscript =
        if subscripts.is_empty() { String::new() } else { format!("_{{{}}}", subscripts.join(",")) };
    [upright(letter), subscript]
}

/// The name of an array or of a part, and what else tells its member: `u[2][3].x` is u with 2, 3 and x; `left.th` is th with left.
fn indexed(name: &str) -> Option<(&str, Vec<String>)> {
    let (whole, part) = name.rsplit_once('.').map_or((name, None), |(whole, part)| (whole, Some(part)));
    if let Some(open) = whole.find('[') {
        let (base, inside) = whole.split_at(open);
        let numbers = inside.strip_prefix('[')?.strip_suffix(']')?.split("][");
        let numbers: Vec<String> = numbers.map(str::to_owned).collect();
        let plain = is_identifier(base) && numbers.iter().all(|n| n.chars().all(|c| c.is_ascii_digit()));
        return plain.then(|| (base, numbers.into_iter().chain(part.map(upright)).collect()));
    }
    let part = part.filter(|part| is_identifier(part) && is_identifier(whole))?;
    // A component is named by its axis, a part of a model by what contains it.
    Some(match part {
        "x" | "y" | "z" => (whole, vec![part.to_owned()]),
        _ => (part, vec![upright(whole)]),
    })
}

/// A Greek letter, a number, a single letter, or a word that is not a product of its letters.
fn upright(part: &str) -> String {
    let digits: Option<String> = part.chars().map(digit).collect();
    match (greek::latex(part), digits) {
        (Some(letter), _) => letter.into(),
        (_, Some(digits)) => digits,
        _ if part.chars().count() == 1 => part.into(),
        _ => format!(r"\mathrm{{{part}}}"),
    }
}

/// The digit that a digit or subscript digit stands for.
pub(super) fn digit(c: char) -> Option<char> {
    match c {
        '₀'..='₉' => char::from_digit(c as u32 - '₀' as u32, 10),
        _ => Some(c).filter(char::is_ascii_digit),
    }
}

fn escaped(c: char) -> Cow<'static, str> {
    match c {
        '\\' => r"\textbackslash{}".into(),
        '^' => r"\textasciicircum{}".into(),
        '~' => r"\textasciitilde{}".into(),
        '{' | '}' | '#' | '$' | '%' | '&' | '_' => format!(r"\{c}").into(),
        c if c.is_control() => " ".into(),
        c => c.to_string().into(),
    }
}

#[cfg(test)]
mod tests {
    use crate::Graph;

    #[test]
    fn letters_words_subscripts_and_dots() {
        let cases = [
            ("x", "x"),
            ("theta", r"\theta"),
            ("θ₁₂", r"\theta_{12}"),
            ("varphi", r"\varphi"),
            ("Omega_0'", r"\dot{\Omega}_{0}"),
            ("Alpha", r"\mathrm{A}"),
            ("theta1''", r"\ddot{\theta}_{1}"),
            ("x'''", r"\dddot{x}"),
            ("x''''", "x^{(4)}"),
            ("th1'", r"\dot{\theta}_{1}"),
            ("th[3]''", r"\ddot{\theta}_{3}"),
            ("u[2][3].x", "u_{2,3,x}"),
            ("bob.x", r"\mathrm{bob}_{x}"),
            ("left.th", r"\theta_{\mathrm{left}}"),
            ("ma1", r"\mathrm{ma}_{1}"),
            ("k_max", r"k_{\mathrm{max}}"),
            ("x1_a_beta", r"x_{1,a,\beta}"),
            ("_x", r"\text{\_x}"),
            ("50% of {a}'", r"\dot{\text{50\% of \{a\}}}"),
        ];
        let graph = Graph::new();
        for (name, expected) in cases {
            assert_eq!(graph.symbol(name).latex(), expected);
        }
    }
}
