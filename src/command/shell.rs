//! `leastaction completions` and `leastaction man`: what shells and manuals need.

use super::Failure;
use clap::{Args, CommandFactory};
use clap_complete::Shell;

#[derive(Args)]
#[command(
    after_help = "Examples:\n  leastaction completions bash > ~/.local/share/bash-completion/completions/leastaction\n  \
                  leastaction completions zsh > ~/.zfunc/_leastaction\n  \
                  leastaction completions fish > ~/.config/fish/completions/leastaction.fish"
)]
pub(crate) struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    pub(super) fn execute(self) -> String {
        let mut text = Vec::new();
        clap_complete::generate(self.shell, &mut super::Arguments::command(), "leastaction", &mut text);
        String::from_utf8_lossy(&text).into_owned()
    }
}

#[derive(Args)]
#[command(after_help = "Examples:\n  leastaction man | man -l -\n  leastaction man run > leastaction-run.1")]
pub(crate) struct Man {
    /// The command to describe; left out, all of it
    command: Option<String>,
}

impl Man {
    pub(super) fn execute(self) -> Result<String, Failure> {
        let mut all = super::Arguments::command();
        all.build();
        let command = match &self.command {
            None => all,
            Some(name) => {
                let found = all.find_subcommand(name).cloned();
                let found = found.ok_or_else(|| Failure::usage(format!("there is no command `{name}`")))?;
                found.display_name(format!("leastaction-{name}"))
            }
        };
        let mut text = Vec::new();
        clap_mangen::Man::new(command).render(&mut text).map_err(Failure::run)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }
}
