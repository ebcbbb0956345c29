//! Texts that include others: `include "lib.motion"` stands for what that file says.

use crate::diagnostic::{Diagnostic, Errors, File};
use crate::lines::statements;
use crate::text::{LONGEST, text};
use leastaction_expr::{Kind, Span, Token, tokens};
use std::io::Read;
use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

/// Words after which a path stands, taken from the folder of the file that it stands in.
const BEFORE_PATHS: [&str; 3] = ["table", "file", "from"];

/// A text with everything that it includes, and where that is from.
#[derive(Clone, Debug, Default)]
pub(crate) struct Whole {
    pub(crate) text: String,
    pieces: Vec<Piece>,
    /// The files that are included.
    files: Vec<Arc<File>>,
}

/// A part of the whole text.
#[derive(Clone, Debug)]
struct Piece {
    /// Where it begins in the whole.
    begins: usize,
    length: usize,
    /// The file that it is of; none for the text that includes the others.
    file: Option<usize>,
    /// What it was there.
    from: Span,
}

/// The text in which `include` is replaced by what the files say, paths in them by paths from the folder of the text. A text without `include` is given as it is.
///
/// # Errors
/// [`Errors`] for files that cannot be read, and for those that include themselves.
pub fn whole(source: &str, folder: Option<&Path>) -> Result<String, Errors> {
    Ok(Whole::new(source, folder)?.text)
}

impl Whole {
    pub(crate) fn new(source: &str, folder: Option<&Path>) -> Result<Whole, Errors> {
        let mut writer =
            Writer { whole: Whole::default(), root: folder, seen: Vec::new(), wrong: Vec::new() };
        writer.add(source, None, Path::new(""), &mut Vec::new());
        match writer.wrong.is_empty() {
            true => Ok(writer.whole),
            false => {
                let wrong = writer.wrong.into_iter().map(|(wrong, file)| Diagnostic { file, ..wrong });
                Err(Errors { diagnostics: wrong.collect() })
            }
        }
    }

    /// What is wrong, at its place in the file that it is in. Places in other files are told in words.
    pub(crate) fn placed(&self, mut wrong: Diagnostic) -> Diagnostic {
        if self.files.is_empty() {
            return wrong;
        }
        let Some(span) = wrong.span else { return wrong };
        let (file, span) = self.place(span);
        wrong.span = Some(span);
        wrong.file = file.map(|file| self.files[file].clone());
        let mut elsewhere = String::new();
        wrong.related.retain_mut(|(span, label)| {
            let (other, place) = self.place(*span);
            *span = place;
            if other != file {
                let at = match other {
                    Some(other) => self.files[other].at(place),
                    None => format!("line {} of the text that includes it", self.line(place)),
                };
                elsewhere.push_str(&format!("{}{label}: {at}", if elsewhere.is_empty() { "" } else { "; " }));
            }
            other == file
        });
        if !elsewhere.is_empty() {
            wrong.help = Some(match wrong.help {
                Some(help) => format!("{help} ({elsewhere})"),
                None => elsewhere,
            });
        }
        wrong
    }

    /// The line of a place in the text that includes the others.
    fn line(&self, place: Span) -> usize {
        let before =
            self.pieces.iter().filter(|piece| piece.file.is_none() && piece.from.start < place.start);
        // Where something is included, a line ends that is not in the pieces.
        let lines = before.map(|piece| {
            let length = piece.length.min(place.start - piece.from.start);
            self.text[piece.begins..piece.begins + length].matches('\n').count()
        });
        1 + lines.sum::<usize>()
    }

    /// The file of a place, and the place there.
    fn place(&self, span: Span) -> (Option<usize>, Span) {
        let at = self.pieces.partition_point(|piece| piece.begins <= span.start).saturating_sub(1);
        let Some(first) = self.pieces.get(at) else { return (None, span) };
        let within = |piece: &Piece, at: usize| match piece.length == piece.from.end - piece.from.start {
            true => piece.from.start + at.saturating_sub(piece.begins).min(piece.length),
            // A path that is another one here.
            false if at <= piece.begins => piece.from.start,
            false => piece.from.end,
        };
        let end = self.pieces.partition_point(|piece| piece.begins < span.end).saturating_sub(1);
        let last = self.pieces.get(end).filter(|last| last.file == first.file && end >= at).unwrap_or(first);
        (first.file, Span { start: within(first, span.start), end: within(last, span.end) })
    }
}

/// Writes the whole of a text.
struct Writer<'p> {
    whole: Whole,
    root: Option<&'p Path>,
    /// Files that are included already.
    seen: Vec<PathBuf>,
    wrong: Vec<(Diagnostic, Option<Arc<File>>)>,
}

impl Writer<'_> {
    /// Adds a text, which is that of a file or the first one; `folder` is the way there from the folder of the first one, and `open` are the files whose texts are being added.
    fn add(&mut self, source: &str, file: Option<usize>, folder: &Path, open: &mut Vec<PathBuf>) {
        let (found, wrong) = statements(source);
        if file.is_some() {
            // Those of the first text are found when it is read.
            wrong.into_iter().for_each(|wrong| self.refuse(wrong, file));
        }
        let mut at = 0;
        for statement in found {
            let words = match tokens(&source[statement.start..statement.end]) {
                Ok(words) => words,
                // It is said where the statement is read.
                Err(_) => continue,
            };
            let shift =
                |span: Span| Span { start: statement.start + span.start, end: statement.start + span.end };
            let said = |token: &Token| {
                let span = shift(token.span);
                &source[span.start..span.end]
            };
            match words.as_slice() {
                [word, path, ..] if said(word) == "include" && path.kind == Kind::Text => {
                    let span = shift(path.span);
                    let behind = words[2..].iter().find(|token| token.kind != Kind::Newline);
                    if let Some(more) = behind.filter(|token| token.kind != Kind::End) {
                        let wrong = Diagnostic::at(shift(more.span), "a path is all that `include` takes")
                            .help("write one line for each file: `include \"lib.motion\"`");
                        self.refuse(wrong, file);
                        continue;
                    }
                    self.piece(source, Span { start: at, end: statement.start }, file);
                    self.include(&source[span.start + 1..span.end - 1], span, file, folder, open);
                    at = statement.end;
                }
                _ if file.is_some() && folder != Path::new("") => {
                    for pair in words.windows(2) {
                        let [word, path] = pair else { continue };
                        if path.kind != Kind::Text || !BEFORE_PATHS.contains(&said(word)) {
                            continue;
                        }
                        let span = shift(path.span);
                        self.piece(source, Span { start: at, end: span.start }, file);
                        let there = joined(folder, &source[span.start + 1..span.end - 1]);
                        self.push(&format!("\"{}\"", there.to_string_lossy()), span, file);
                        at = span.end;
                    }
                }
                _ => {}
            }
        }
        self.piece(source, Span { start: at, end: source.len() }, file);
    }

    /// Adds a part of a text as it is.
    fn piece(&mut self, source: &str, span: Span, file: Option<usize>) {
        if span.start < span.end {
            self.push(&source[span.start..span.end], span, file);
        }
    }

    fn push(&mut self, text: &str, from: Span, file: Option<usize>) {
        let begins = self.whole.text.len();
        self.whole.text.push_str(text);
        self.whole.pieces.push(Piece { begins, length: text.len(), file, from });
    }

    fn refuse(&mut self, wrong: Diagnostic, file: Option<usize>) {
        let file = file.map(|file| self.whole.files[file].clone());
        self.wrong.push((wrong, file));
    }

    /// Adds the text of a file, unless it is there already.
    fn include(
        &mut self,
        path: &str,
        span: Span,
        file: Option<usize>,
        folder: &Path,
        open: &mut Vec<PathBuf>,
    ) {
        let Some(root) = self.root else {
            let wrong = Diagnostic::at(span, "this text is no file, so there is no place to look for others");
            let wrong = wrong.help("save it as a `.motion` file beside the one that it includes");
            return self.refuse(wrong, file);
        };
        let there = joined(folder, path);
        let full = root.join(&there);
        let name = there.to_string_lossy().into_owned();
        let bytes = match bytes_of(&full) {
            Ok(bytes) => bytes,
            Err(why) => {
                let wrong = Diagnostic::at(span, format!("`{name}` cannot be read: {why}"));
                let from = "paths are taken from the folder of the file that they stand in";
                return self.refuse(wrong.help(from), file);
            }
        };
        let known = std::fs::canonicalize(&full).unwrap_or(full);
        if open.contains(&known) {
            let way = open.iter().map(|file| format!("`{}`", file.file_name().unwrap_or_default().display()));
            let way = way.collect::<Vec<_>>().join(", which includes ");
            let wrong = Diagnostic::at(span, format!("`{name}` includes itself: here it is within {way}"));
            return self.refuse(wrong.help("remove one of these lines"), file);
        }
        if self.seen.contains(&known) {
            return;
        }
        let text = match text(&bytes) {
            Ok(text) => text,
            Err(errors) => {
                let wrong = Diagnostic::at(span, format!("`{name}`: {errors}"));
                return self.refuse(wrong, file);
            }
        };
        if self.whole.text.len() + text.len() > LONGEST {
            let most = LONGEST >> 20;
            let wrong = Diagnostic::at(span, format!("with `{name}` the text has more than {most} MB"));
            return self.refuse(wrong.help("include less"), file);
        }
        self.whole.files.push(Arc::new(File { path: name, text: text.to_owned() }));
        let number = self.whole.files.len() - 1;
        self.seen.push(known.clone());
        open.push(known);
        let inner = there.parent().unwrap_or(Path::new("")).to_owned();
        self.add(text, Some(number), &inner, open);
        open.pop();
    }
}

/// A path from a folder, without going there and back.
fn joined(folder: &Path, path: &str) -> PathBuf {
    let mut all = PathBuf::new();
    for part in folder.join(path).components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir if matches!(all.components().next_back(), Some(Component::Normal(_))) => {
                all.pop();
            }
            part => all.push(part),
        }
    }
    all
}

fn bytes_of(path: &Path) -> Result<Vec<u8>, String> {
    let file = std::fs::File::open(path).map_err(|error| error.to_string())?;
    if !file.metadata().map_err(|error| error.to_string())?.is_file() {
        return Err("it is no file".to_owned());
    }
    let mut bytes = Vec::new();
    file.take(LONGEST as u64 + 1).read_to_end(&mut bytes).map_err(|error| error.to_string())?;
    Ok(bytes)
}
