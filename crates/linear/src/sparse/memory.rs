//! Memory that the library works in.

use faer::dyn_stack::{MemBuffer, MemStack, StackReq};

/// Memory without content between calls.
pub(super) struct Scratch {
    size: StackReq,
    buffer: MemBuffer,
}

impl Scratch {
    pub(super) fn new(size: StackReq) -> Scratch {
        Scratch { size, buffer: MemBuffer::new(size) }
    }

    pub(super) fn stack(&mut self) -> &mut MemStack {
        MemStack::new(&mut self.buffer)
    }
}

impl Clone for Scratch {
    fn clone(&self) -> Scratch {
        Scratch::new(self.size)
    }
}

impl std::fmt::Debug for Scratch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} bytes", self.size.size_bytes())
    }
}
