//! Parts: `place`; and what is said of `part` and `include` where they cannot stand.

use crate::diagnostic::Diagnostic;
use crate::reader::Reader;
use crate::role::Role;
use leastaction_expr::{Kind, Parser};

type Outcome = Result<(), Diagnostic>;

/// `place NAME = PART(VALUE, …)`
pub(super) fn place<'g, 's>(reader: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    let (name, span) = reader.new_name(parser, Role::Place)?;
    reader.sign(parser, "=", "`=` and the part")?;
    reader.declare(&name, span, Role::Place);
    reader.place_part(parser, &name, span)
}

/// A part that stands where none can, as with a `for`.
pub(super) fn part<'g, 's>(_: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    Err(Diagnostic::at(parser.previous(), "a part is written at the margin")
        .help("repeat `place`, not `part`"))
}

/// What is left of `include`: the others have been replaced by the texts that they name.
pub(super) fn include<'g, 's>(_: &mut Reader<'g, 's>, parser: &mut Parser<'g, 's>) -> Outcome {
    match parser.peek().kind {
        Kind::Text => Err(Diagnostic::at(parser.previous(), "`include` stands by itself, at the margin")
            .help("write it once, on a line of its own")),
        _ => Err(parser.unexpected("the path of a file in double quotes, as `\"lib.motion\"`").into()),
    }
}
