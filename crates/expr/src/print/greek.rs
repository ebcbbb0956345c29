//! Greek letters: by name, by character, and as LaTeX.

/// Name, character, LaTeX. Letters that look Latin have no command of their own.
const LETTERS: &[(&str, char, &str)] = &[
    ("alpha", 'α', r"\alpha"),
    ("beta", 'β', r"\beta"),
    ("gamma", 'γ', r"\gamma"),
    ("delta", 'δ', r"\delta"),
    ("epsilon", 'ϵ', r"\epsilon"),
    ("varepsilon", 'ε', r"\varepsilon"),
    ("zeta", 'ζ', r"\zeta"),
    ("eta", 'η', r"\eta"),
    ("theta", 'θ', r"\theta"),
    ("vartheta", 'ϑ', r"\vartheta"),
    ("iota", 'ι', r"\iota"),
    ("kappa", 'κ', r"\kappa"),
    ("varkappa", 'ϰ', r"\varkappa"),
    ("lambda", 'λ', r"\lambda"),
    ("mu", 'μ', r"\mu"),
    ("nu", 'ν', r"\nu"),
    ("xi", 'ξ', r"\xi"),
    ("omicron", 'ο', "o"),
    ("pi", 'π', r"\pi"),
    ("varpi", 'ϖ', r"\varpi"),
    ("rho", 'ρ', r"\rho"),
    ("varrho", 'ϱ', r"\varrho"),
    ("sigma", 'σ', r"\sigma"),
    ("varsigma", 'ς', r"\varsigma"),
    ("tau", 'τ', r"\tau"),
    ("upsilon", 'υ', r"\upsilon"),
    ("phi", 'ϕ', r"\phi"),
    ("varphi", 'φ', r"\varphi"),
    ("chi", 'χ', r"\chi"),
    ("psi", 'ψ', r"\psi"),
    ("omega", 'ω', r"\omega"),
    ("Alpha", 'Α', r"\mathrm{A}"),
    ("Beta", 'Β', r"\mathrm{B}"),
    ("Gamma", 'Γ', r"\Gamma"),
    ("Delta", 'Δ', r"\Delta"),
    ("Epsilon", 'Ε', r"\mathrm{E}"),
    ("Zeta", 'Ζ', r"\mathrm{Z}"),
    ("Eta", 'Η', r"\mathrm{H}"),
    ("Theta", 'Θ', r"\Theta"),
    ("Iota", 'Ι', r"\mathrm{I}"),
    ("Kappa", 'Κ', r"\mathrm{K}"),
    ("Lambda", 'Λ', r"\Lambda"),
    ("Mu", 'Μ', r"\mathrm{M}"),
    ("Nu", 'Ν', r"\mathrm{N}"),
    ("Xi", 'Ξ', r"\Xi"),
    ("Omicron", 'Ο', r"\mathrm{O}"),
    ("Pi", 'Π', r"\Pi"),
    ("Rho", 'Ρ', r"\mathrm{P}"),
    ("Sigma", 'Σ', r"\Sigma"),
    ("Tau", 'Τ', r"\mathrm{T}"),
    ("Upsilon", 'Υ', r"\Upsilon"),
    ("Phi", 'Φ', r"\Phi"),
    ("Chi", 'Χ', r"\mathrm{X}"),
    ("Psi", 'Ψ', r"\Psi"),
    ("Omega", 'Ω', r"\Omega"),
];

/// What people write for letters with long names.
const SHORT: &[(&str, &str)] = &[
    ("th", r"\theta"),
    ("ph", r"\phi"),
    ("om", r"\omega"),
    ("lam", r"\lambda"),
    ("eps", r"\varepsilon"),
    ("sig", r"\sigma"),
];

/// The LaTeX of a Greek letter given by name or as a character.
pub(super) fn latex(text: &str) -> Option<&'static str> {
    if let Some((_, letter)) = SHORT.iter().find(|(short, _)| *short == text) {
        return Some(letter);
    }
    let mut letters = text.chars();
    let single = letters.next().filter(|_| letters.next().is_none());
    LETTERS.iter().find(|(name, letter, _)| *name == text || single == Some(*letter)).map(|row| row.2)
}

/// The name of a Greek letter.
pub(super) fn name(letter: char) -> Option<&'static str> {
    LETTERS.iter().find(|row| row.1 == letter).map(|row| row.0)
}
