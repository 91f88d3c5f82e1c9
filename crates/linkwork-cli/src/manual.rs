//! `linkwork completions` and `linkwork man`: for shells and manuals.

use crate::Program;
use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use std::io::Write;
use std::path::PathBuf;

/// Arguments of `linkwork completions`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork completions bash > linkwork.bash
  linkwork completions zsh > _linkwork
  linkwork completions fish > linkwork.fish")]
pub(crate) struct Completions {
    /// The shell they are for.
    shell: clap_complete::Shell,
}

/// Arguments of `linkwork man`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork man > linkwork.1
  linkwork man --out man")]
pub(crate) struct Man {
    /// Write a page for every command into this directory, instead of the first page to standard output.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

/// Prints completions for a shell.
pub(crate) fn completions(arguments: &Completions) -> Result<()> {
    let mut text = Vec::new();
    clap_complete::generate(arguments.shell, &mut Program::command(), "linkwork", &mut text);
    Ok(std::io::stdout().write_all(&text)?)
}

/// Prints or writes the manual's pages.
pub(crate) fn man(arguments: &Man) -> Result<()> {
    let Some(directory) = &arguments.out else {
        let mut text = Vec::new();
        clap_mangen::Man::new(Program::command()).render(&mut text)?;
        return Ok(std::io::stdout().write_all(&text)?);
    };
    let problem = || format!("cannot write to `{}`", directory.display());
    std::fs::create_dir_all(directory).with_context(problem)?;
    clap_mangen::generate_to(Program::command(), directory).with_context(problem)
}
