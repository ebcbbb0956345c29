//! Files that are cut off, damaged, or lie about themselves: an error or a mesh, never a panic, and never much more memory than the file.

use crate::formats::{examples, read};
use leastaction_field::FormatError;
use leastaction_testing::{CountingAllocator, Random, allocated_bytes};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What a reader may allocate for so many bytes of a file.
fn allowed(length: usize) -> u64 {
    (1 << 16) + 400 * length as u64
}

fn bounded(ending: &str, bytes: &[u8]) {
    let before = allocated_bytes();
    let found = read(ending, bytes);
    let used = allocated_bytes() - before;
    assert!(used <= allowed(bytes.len()), "{ending}: {used} bytes for {}", bytes.len());
    if let Ok(mesh) = found {
        let _ = mesh.check();
    }
}

#[test]
fn files_that_are_cut_off_anywhere() {
    for (ending, bytes) in examples() {
        (0..bytes.len()).for_each(|length| bounded(ending, &bytes[..length]));
    }
}

#[test]
fn files_with_random_damage() {
    let mut random = Random::new(17);
    for (ending, bytes) in examples() {
        for _ in 0..2000 {
            let mut damaged = bytes.clone();
            for _ in 0..1 + random.below(4) {
                let at = random.below(damaged.len());
                match random.below(4) {
                    0 => damaged[at] = random.below(256) as u8,
                    1 => drop(damaged.remove(at)),
                    2 => damaged.insert(at, b"0123456789-+.eE \n$"[random.below(18)]),
                    _ => {
                        // A number becomes a huge one.
                        let digits = b"99999999999999";
                        let end = at.min(damaged.len());
                        damaged.splice(end..end, digits.iter().copied());
                    }
                }
            }
            bounded(ending, &damaged);
        }
    }
}

#[test]
fn files_that_announce_more_than_they_have() {
    let huge = usize::MAX.to_string();
    for (ending, text) in [
        ("msh", format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$Nodes\n{huge}\n1 0 0 0\n")),
        ("msh", format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Nodes\n1 {huge} 1 2\n0 1 0 {huge}\n1\n2\n")),
        ("msh", format!("$MeshFormat\n4.1 0 8\n$EndMeshFormat\n$Entities\n{huge} 0 0 0\n1 0 0 0 {huge} 4\n")),
        ("msh", format!("$MeshFormat\n2.2 0 8\n$EndMeshFormat\n$PhysicalNames\n{huge}\n1 1 \"a\"\n")),
        (
            "vtk",
            format!("# vtk DataFile Version 3.0\n\nASCII\nDATASET POLYDATA\nPOINTS {huge} float\n0 0 0\n"),
        ),
        (
            "vtk",
            format!("# vtk DataFile Version 3.0\n\nBINARY\nDATASET POLYDATA\nPOINTS {huge} double\n0 0 0\n"),
        ),
    ] {
        let before = allocated_bytes();
        assert!(
            matches!(read(ending, &text), Err(FormatError::Ended { .. } | FormatError::Unexpected { .. })),
            "{text}"
        );
        assert!(allocated_bytes() - before <= allowed(text.len()), "{text}");
    }
    let mut stl = vec![0; 84];
    stl[80..].fill(0xff);
    stl.extend([0; 49]);
    let error = read("stl", &stl).unwrap_err();
    assert_eq!(
        error.to_string(),
        "byte 133: the file ends where a triangle is expected; it may have been cut off"
    );
}
