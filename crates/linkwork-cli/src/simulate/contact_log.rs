//! The contacts of a run, a line for each that bears something: written as logs are, under another name until the run has ended.

use super::log::{Lines, quoted};
use crate::atomic_file;
use anyhow::{Context, Result};
use linkwork::contact::StepReport;
use linkwork_scene::Scene;
use linkwork_view::Sides;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

const HEAD: &str = "t,id,a,b,x,y,z,nx,ny,nz,gap,fx,fy,fz,along,region";
/// So often lines are handed to the system.
const FLUSH: Duration = Duration::from_millis(500);

pub(crate) struct ContactLog {
    path: PathBuf,
    begun: PathBuf,
    /// Held against others who would write there; nothing where it is a device or a pipe.
    held: Option<File>,
    lines: Lines<File>,
    flushed: Instant,
}

impl ContactLog {
    /// Begins one. An older file of its name goes, so that nobody takes that for the contacts of this run.
    pub(crate) fn begin(path: &Path) -> Result<Self> {
        let path = atomic_file::followed(path);
        let problem = || format!("cannot write to `{}`", path.display());
        let special = atomic_file::is_special(&path);
        let begun = if special {
            path.clone()
        } else {
            atomic_file::part(&path)
        };
        let file = if special {
            OpenOptions::new().write(true).open(&path).with_context(problem)?
        } else {
            atomic_file::begin(&begun).with_context(problem)?
        };
        let held = (!special).then(|| file.try_clone()).transpose().with_context(problem)?;
        if !special && path.exists() {
            std::fs::remove_file(&path).with_context(problem)?;
        }
        let mut lines = Lines::new(file);
        writeln!(lines.text(), "{HEAD}")?;
        let flushed = Instant::now();
        Ok(Self {
            path,
            begun,
            held,
            lines,
            flushed,
        })
    }

    /// What bears in a step: the force on a, which can move.
    pub(crate) fn add(&mut self, (scene, sides): (&Scene, &Sides), t: f64, dt: f64, report: &StepReport) -> Result<()> {
        for c in report.contacts.iter().filter(|c| c.along > 0.0) {
            let turned = sides.is_turned(c);
            let (f, p) = (sides.force(c, dt), c.point);
            let n = if turned { -c.normal } else { c.normal };
            let name = |i: usize| {
                let i = if turned { 1 - i } else { i };
                quoted(scene.colliders_of(c.id).map_or("", |pair| &*pair[i].name))
            };
            let numbers = [p.x, p.y, p.z, n.x, n.y, n.z, c.gap, f.x, f.y, f.z, c.along / dt];
            let numbers = numbers.map(|x| x.to_string()).join(",");
            let (a, b) = (name(0), name(1));
            writeln!(self.lines.text(), "{t},{},{a},{b},{numbers},{:?}", c.id, c.region)?;
        }
        let late = self.flushed.elapsed() >= FLUSH;
        if late {
            self.flushed = Instant::now();
        }
        self.lines.go_on(late).with_context(|| self.told())
    }

    /// Ends it, and gives it its name.
    pub(crate) fn finish(mut self) -> Result<()> {
        let told = self.told();
        let mut name = || {
            self.lines.go_on(true)?;
            let Some(held) = &self.held else { return Ok(()) };
            held.sync_all()?;
            std::fs::rename(&self.begun, &self.path)
        };
        name().context(told)
    }

    /// What went wrong, and what is left.
    fn told(&self) -> String {
        let mut told = format!("cannot write the contacts to `{}`", self.path.display());
        if self.held.is_some() {
            told += &format!("; what came before is in `{}`", self.begun.display());
        }
        told
    }
}
