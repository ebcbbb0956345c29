//! The surface of a section.

use super::SectionError;
use leastaction_mechanics::System;
use std::fmt;
use std::str::FromStr;

/// A surface, written as `EXPR`, which vanishes on it, or as `EXPR = EXPR`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Surface {
    left: String,
    right: Option<String>,
}

impl FromStr for Surface {
    type Err = SectionError;

    fn from_str(text: &str) -> Result<Surface, SectionError> {
        let sides: Vec<String> = text.split('=').map(|side| side.trim().to_owned()).collect();
        match <[String; 2]>::try_from(sides) {
            Ok([left, right]) if !left.is_empty() && !right.is_empty() => {
                Ok(Surface { left, right: Some(right) })
            }
            Err(sides) if sides.len() == 1 && !sides[0].is_empty() => {
                Ok(Surface { left: sides.concat(), right: None })
            }
            _ => Err(SectionError::Surface { text: text.to_owned() }),
        }
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} = {}", self.left, self.right.as_deref().unwrap_or("0"))
    }
}

impl Surface {
    /// What vanishes on it.
    pub(super) fn vanishing(&self) -> String {
        let Surface { left, right } = self;
        right.as_ref().map_or_else(|| left.clone(), |right| format!("({left}) - ({right})"))
    }

    /// A coordinate that it does not hold, and its momentum.
    pub(super) fn usual(&self, system: &System) -> Result<[String; 2], SectionError> {
        let mut pairs = system.coordinates().iter().zip(system.momenta());
        let free = pairs.find(|(q, p)| *q != self.left && *p != self.left);
        free.map(|(q, p)| [q, p]).ok_or(SectionError::NothingShown)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)] // a test may panic
mod tests {
    use super::*;

    #[test]
    fn surfaces_are_read() {
        let good = |text: &str| text.parse::<Surface>().unwrap();
        assert_eq!(good(" x ").vanishing(), "x");
        assert_eq!(good("x = 0.5").vanishing(), "(x) - (0.5)");
        assert_eq!(good("x - y = 1 - z").vanishing(), "(x - y) - (1 - z)");
        assert_eq!([good("x").to_string(), good(" x=1").to_string()], ["x = 0", "x = 1"]);
        for bad in ["", "x =", "= 3", "x = 1 = 2"] {
            assert!(bad.parse::<Surface>().is_err(), "{bad}");
        }
    }
}
