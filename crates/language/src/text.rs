//! Bytes as text.

use crate::diagnostic::{Diagnostic, Errors};

/// Texts longer than this are refused: somebody gave the wrong file.
pub(crate) const LONGEST: usize = 16 << 20;

/// The text of a file, without the mark that some editors put at its beginning.
///
/// ```
/// use leastaction_language::text;
///
/// assert_eq!(text(b"\xef\xbb\xbfcoord x\n")?, "coord x\n");
/// assert!(text(b"\xff\xfec\0o\0").unwrap_err().to_string().contains("UTF-16"));
/// # Ok::<(), leastaction_language::Errors>(())
/// ```
///
/// # Errors
/// [`Errors`] if the bytes are no text in UTF-8, or more than 16 MB.
pub fn text(bytes: &[u8]) -> Result<&str, Errors> {
    check_size(bytes.len())?;
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let save = "save it as UTF-8; editors offer that under `Save as` or `Encoding`";
    if bytes.starts_with(b"\xff\xfe") || bytes.starts_with(b"\xfe\xff") {
        return Err(Diagnostic::of_all("this is text in UTF-16, not in UTF-8").help(save).into());
    }
    if bytes.contains(&0) {
        let wrong = Diagnostic::of_all("this is no text: it has bytes that are 0");
        return Err(wrong.help("give a `.motion` file, or the name of a system: `leastaction list`").into());
    }
    std::str::from_utf8(bytes).map_err(|error| {
        let line = 1 + bytes[..error.valid_up_to()].iter().filter(|byte| **byte == b'\n').count();
        Diagnostic::of_all(format!("line {line} is not text in UTF-8")).help(save).into()
    })
}

/// Refuses texts that nobody wrote.
pub(crate) fn check_size(bytes: usize) -> Result<(), Errors> {
    if bytes <= LONGEST {
        return Ok(());
    }
    let (size, most) = (bytes as f64 / f64::from(1 << 20), LONGEST >> 20);
    let wrong = Diagnostic::of_all(format!("the text has {size:.1} MB: models have at most {most} MB"));
    Err(wrong.help("give a `.motion` file, or the name of a system: `leastaction list`").into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_is_refused() {
        let message = |bytes: &[u8]| text(bytes).map_err(|error| error.to_string()).unwrap_err();
        assert_eq!(message(b"coord x\nlet a = \xe9\n"), "line 2 is not text in UTF-8");
        assert!(message(b"\x7fELF\0\0").starts_with("this is no text"));
        assert!(message(&vec![b' '; LONGEST + 1]).contains("16 MB"));
        assert!(text(b"").is_ok());
    }
}
