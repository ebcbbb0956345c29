//! A buffer of numbers that starts on a cache line.

/// One cache line.
#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([f64; 8]);

/// Numbers that start on a cache line, of a length rounded up to whole lines: rows of lanes in them never lie across two.
#[derive(Clone)]
pub struct Aligned {
    lines: Vec<Line>,
}

impl Aligned {
    /// Zeros, so many and up to seven more.
    #[must_use]
    pub fn zeros(len: usize) -> Aligned {
        Aligned { lines: vec![Line([0.0; 8]); len.div_ceil(8)] }
    }

    /// The numbers.
    #[must_use]
    pub fn as_slice(&self) -> &[f64] {
        // SAFETY: a `Line` is `repr(C)` and exactly eight `f64` long, so the lines are contiguous numbers.
        unsafe { std::slice::from_raw_parts(self.lines.as_ptr().cast(), 8 * self.lines.len()) }
    }

    /// The numbers, to be changed.
    pub fn as_mut_slice(&mut self) -> &mut [f64] {
        // SAFETY: as above; the exclusive borrow of `self` covers the numbers.
        unsafe { std::slice::from_raw_parts_mut(self.lines.as_mut_ptr().cast(), 8 * self.lines.len()) }
    }
}
