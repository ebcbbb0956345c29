//! `leastaction show`: the text of a system.

use super::Failure;
use super::source::open;
use clap::Args;

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction show double-pendulum\n  \
                  leastaction show n-pendulum --size 5 > chain.motion")]
pub(crate) struct Show {
    /// A system of the catalog (see `leastaction list`), or a .motion file
    system: String,
    /// Build the system with this number of pieces, if the catalog allows it
    #[arg(long, value_name = "N")]
    size: Option<usize>,
}

impl Show {
    pub(super) fn execute(self) -> Result<String, Failure> {
        Ok(open(&self.system, self.size)?.text)
    }
}
