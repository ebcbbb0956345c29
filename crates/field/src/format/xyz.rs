//! `.xyz`: atoms. The number of them, a line of anything, and then for each its element and its place.

use super::scanner::Scanner;
use super::{Format, FormatError};
use crate::mesh::Mesh;

pub(super) const FORMAT: Format = Format { ending: "xyz", about: "XYZ, for atoms", read };

fn read(bytes: &[u8]) -> Result<Mesh, FormatError> {
    let mut scanner = Scanner::new(bytes);
    let count: usize = scanner.number("the number of atoms")?;
    scanner.rest_of_line();
    scanner.rest_of_line();
    // An element and three numbers take eight bytes at least.
    let mut nodes = Vec::with_capacity(scanner.room(count, 8));
    for _ in 0..count {
        scanner.expect("the element of an atom")?;
        nodes.push(scanner.vector()?);
        // Some programs write forces or charges behind.
        scanner.rest_of_line();
    }
    match scanner.word() {
        Some(more) => {
            Err(scanner.unexpected("the end of the file after the number of atoms that it begins with", more))
        }
        None => Ok(Mesh::new(nodes)?),
    }
}
