//! JSON, as far as headers of weights have it: objects, lists, texts and whole numbers.

use std::fmt::Write;

/// Deeper nests are refused.
const DEEPEST: usize = 8;

#[derive(Clone, Debug, PartialEq)]
pub(super) enum Value {
    Object(Vec<(String, Value)>),
    List(Vec<Value>),
    Text(String),
    Whole(u64),
}

impl Value {
    pub(super) fn whole_numbers(&self) -> Option<Vec<usize>> {
        let Value::List(list) = self else { return None };
        let number = |value: &Value| match value {
            Value::Whole(number) => usize::try_from(*number).ok(),
            _ => None,
        };
        list.iter().map(number).collect()
    }
}

/// A text in quotes.
pub(super) fn text(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => write!(out, "\\u{:04x}", u32::from(c)).expect("writing to a text does not fail"),
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

pub(super) fn read(text: &str) -> Result<Value, String> {
    let mut reader = Reader { rest: text };
    let value = reader.value(0)?;
    reader.space();
    if reader.rest.is_empty() { Ok(value) } else { Err("there is something after its header".to_owned()) }
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn space(&mut self) {
        self.rest = self.rest.trim_start_matches([' ', '\t', '\n', '\r']);
    }

    fn accept(&mut self, sign: char) -> bool {
        self.space();
        let after = self.rest.strip_prefix(sign);
        after.inspect(|_| ()).map(|after| self.rest = after).is_some()
    }

    fn expect(&mut self, sign: char) -> Result<(), String> {
        if self.accept(sign) {
            Ok(())
        } else {
            Err(format!("its header has no `{sign}` where one should be"))
        }
    }

    fn value(&mut self, depth: usize) -> Result<Value, String> {
        if depth > DEEPEST {
            return Err("its header is nested too deeply".to_owned());
        }
        if self.accept('{') {
            let mut members = Vec::new();
            while !self.accept('}') {
                if !members.is_empty() {
                    self.expect(',')?;
                }
                self.expect('"')?;
                let name = self.quoted()?;
                self.expect(':')?;
                members.push((name, self.value(depth + 1)?));
            }
            return Ok(Value::Object(members));
        }
        if self.accept('[') {
            let mut list = Vec::new();
            while !self.accept(']') {
                if !list.is_empty() {
                    self.expect(',')?;
                }
                list.push(self.value(depth + 1)?);
            }
            return Ok(Value::List(list));
        }
        if self.accept('"') {
            return Ok(Value::Text(self.quoted()?));
        }
        let digits = self.rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(self.rest.len());
        let (number, rest) = self.rest.split_at(digits);
        self.rest = rest;
        number
            .parse()
            .map(Value::Whole)
            .map_err(|_| "its header has something in it that is no value".to_owned())
    }

    /// The rest of a text whose first quote was read.
    fn quoted(&mut self) -> Result<String, String> {
        let cut_off = || "a text in its header does not end".to_owned();
        let mut out = String::new();
        loop {
            let mut letters = self.rest.chars();
            let letter = letters.next().ok_or_else(cut_off)?;
            self.rest = letters.as_str();
            match letter {
                '"' => return Ok(out),
                '\\' => {
                    let escaped = letters.next().ok_or_else(cut_off)?;
                    self.rest = letters.as_str();
                    out.push(match escaped {
                        'n' => '\n',
                        't' => '\t',
                        'r' => '\r',
                        'b' => '\u{8}',
                        'f' => '\u{c}',
                        'u' => self.code()?,
                        '"' | '\\' | '/' => escaped,
                        _ => return Err(format!("its header has `\\{escaped}` in it")),
                    });
                }
                letter => out.push(letter),
            }
        }
    }

    /// Four digits of a letter, or eight of a pair of surrogates.
    fn code(&mut self) -> Result<char, String> {
        let wrong = || "its header has a letter in it that is none".to_owned();
        let mut unit = || {
            let digits = self.rest.get(..4).ok_or_else(wrong)?;
            self.rest = &self.rest[4..];
            u32::from_str_radix(digits, 16).map_err(|_| wrong())
        };
        let high = unit()?;
        let code = match high {
            0xd800..0xdc00 => {
                self.rest = self.rest.strip_prefix("\\u").ok_or_else(wrong)?;
                let digits = self.rest.get(..4).ok_or_else(wrong)?;
                self.rest = &self.rest[4..];
                let low = u32::from_str_radix(digits, 16).map_err(|_| wrong())?;
                let low = low.checked_sub(0xdc00).filter(|low| *low < 0x400).ok_or_else(wrong)?;
                0x10000 + ((high - 0xd800) << 10) + low
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(wrong)
    }
}

#[cfg(test)]
mod tests {
    use super::{Value, read, text};

    #[test]
    fn texts_read_back() {
        for example in ["", "a \"b\" \\ /", "é\u{1}\n\t", "\u{1f600}"] {
            assert_eq!(read(&text(example)), Ok(Value::Text(example.to_owned())));
        }
        assert_eq!(read(r#""\u00e9\ud83d\ude00\/""#), Ok(Value::Text("é\u{1f600}/".to_owned())));
        assert!(read(r#""\ud83d""#).is_err() && read(r#""\ud83dxxxxxx""#).is_err() && read("\"a").is_err());
        assert!(read("{\"a\": [1, 2,, 3]}").is_err() && read("-1").is_err() && read("1.5").is_err());
    }
}
