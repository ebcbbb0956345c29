//! What is wrong, and apart from that what to do about it.

use std::fmt;

/// What an error says: a cause, and what to do about it. Together they read "cause: remedy".
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Advice {
    /// What is wrong.
    pub cause: String,
    /// What to do, if that is known.
    pub remedy: Option<String>,
}

impl Advice {
    /// A cause without a remedy.
    pub fn cause(cause: impl Into<String>) -> Advice {
        Advice { cause: cause.into(), remedy: None }
    }

    /// With something to do about it.
    #[must_use]
    pub fn remedy(self, remedy: impl Into<String>) -> Advice {
        Advice { remedy: Some(remedy.into()), ..self }
    }

    /// With a name that may be meant.
    #[must_use]
    pub fn nearest(self, nearest: Option<&String>) -> Advice {
        Advice { remedy: nearest.map(|name| format!("did you mean `{name}`?")), ..self }
    }
}

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.cause)?;
        self.remedy.iter().try_for_each(|remedy| write!(f, ": {remedy}"))
    }
}
