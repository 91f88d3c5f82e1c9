//! `linkwork convert`: a robot in another format.

use crate::robot::Chosen;
use crate::user_error::UserError;
use crate::{atomic_file, style};
use anyhow::Result;
use clap::{Args, ValueEnum};
use linkwork_formats::{Format, out_of_scope, write};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Arguments of `linkwork convert`.
#[derive(Args)]
#[command(after_help = "\
Examples:
  linkwork convert robot.urdf robot.xml             to MJCF
  linkwork convert robot.xml robot.json             to the native format, which loses nothing
  linkwork convert --repair robot.urdf repaired.urdf
  linkwork convert humanoid - --to urdf             to standard output
  linkwork convert robot.urdf.xacro robot.sdf --arg prefix:=left_ --package arm_description=./arm

What the new format cannot express is reported; a joint that it cannot express is an error.")]
pub(crate) struct Arguments {
    #[command(flatten)]
    chosen: Chosen,
    /// The file to write (.urdf, .sdf, .xml or .mjcf, .json), or `-` for standard output.
    #[arg(value_name = "OUT")]
    out: PathBuf,
    /// The format, if the ending of the file's name does not say it.
    #[arg(long, value_enum, value_name = "FORMAT")]
    to: Option<To>,
}

#[derive(Clone, Copy, ValueEnum)]
enum To {
    /// Unified Robot Description Format.
    Urdf,
    /// MuJoCo's format.
    Mjcf,
    /// The format of Gazebo and Drake.
    Sdf,
    /// Linkwork's own, JSON.
    Native,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<()> {
    let format = match arguments.to {
        Some(To::Urdf) => Format::Urdf,
        Some(To::Mjcf) => Format::Mjcf,
        Some(To::Sdf) => Format::Sdf,
        Some(To::Native) => Format::Native,
        None => Format::of_name(&arguments.out).ok_or_else(|| {
            let problem = match out_of_scope(&arguments.out) {
                Some(format) => format!("{format} files are out of scope"),
                None => format!("the ending of `{}` names no format", arguments.out.display()),
            };
            UserError::usage(problem, "end it with .urdf, .sdf, .xml or .json, or give --to")
        })?,
    };
    let loaded = arguments.chosen.load()?;
    let text = write(&loaded.robot, format)
        .map_err(|refusal| UserError::failure(refusal.to_string(), "the native format (.json) can say everything"))?;
    for finding in &text.report.findings {
        anstream::eprintln!("{}: {finding}", style::paint(style::HEAD, finding.severity.name()));
    }
    if arguments.out == Path::new("-") {
        std::io::stdout().write_all(text.text.as_bytes())?;
        return Ok(());
    }
    atomic_file::write(&arguments.out, text.text.as_bytes())
}
