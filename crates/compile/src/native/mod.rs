//! placeholder until merge
use crate::program::Program;
#[derive(Clone, Copy)]
pub(crate) enum Isa {
    Avx2,
    Avx512,
}
impl Isa {
    pub(crate) fn available(self) -> bool {
        false
    }
}
#[derive(Debug, thiserror::Error)]
#[error("none")]
pub struct NativeError;
pub(crate) struct Native;
impl Native {
    pub(crate) fn compile(_: &Program, _: Isa) -> Result<Native, NativeError> {
        Err(NativeError)
    }
    pub(crate) fn pool_stride(&self) -> usize {
        1
    }
    pub(crate) fn scratch_len(&self) -> usize {
        1
    }
    pub(crate) unsafe fn run_scalar(&self, _: *const f64, _: *mut f64, _: *const f64, _: *mut f64, _: usize) {
    }
    pub(crate) unsafe fn run_lanes(&self, _: *const f64, _: *mut f64, _: *const f64, _: *mut f64, _: usize) {}
    pub(crate) fn code_len(&self) -> usize {
        0
    }
}
