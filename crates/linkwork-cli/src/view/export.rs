//! Files, pictures and films.

use super::{Stage, html, live, recorded};
use crate::ExitCode;
use crate::numbers::positive;
use crate::user_error::UserError;
use anyhow::{Context, Result};
use clap::Args;
use linkwork::Mechanism;
use linkwork_view::{Assets, Content, Headless, Recording, Source, export, find_browser};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{RecvTimeoutError, channel, sync_channel};
use std::time::{Duration, Instant};

/// What to write instead of serving a page.
#[derive(Args)]
pub(crate) struct Output {
    /// Write one file with everything inside, meshes and motion, that any browser opens without a network.
    #[arg(long, value_name = "FILE.html")]
    export: Option<PathBuf>,
    /// Write a picture.
    #[arg(long, value_name = "FILE.png")]
    snapshot: Option<PathBuf>,
    /// Write a film of a log or of --simulate: .mp4, .webm or .gif.
    #[arg(long, value_name = "FILE")]
    video: Option<PathBuf>,
    /// The size of pictures and films, in pixels.
    #[arg(long, value_name = "WIDTHxHEIGHT", default_value = "1280x720", value_parser = size)]
    size: (u32, u32),
    /// Frames per second of a film.
    #[arg(long, value_name = "HZ", default_value_t = 30.0, value_parser = |s: &str| positive(s, 60.0), allow_negative_numbers = true)]
    fps: f64,
    /// The time that a picture shows, in seconds; the first of the log or simulation if left out.
    #[arg(long, value_name = "S", requires = "snapshot", allow_negative_numbers = true)]
    at: Option<f64>,
    /// Layers to show from the start, beside the robot: frames, axes, com, inertia, articulated, collision, rates, moments.
    #[arg(long, value_name = "LAYER", value_delimiter = ',')]
    layers: Vec<String>,
}

/// What a page can show.
const LAYERS: [&str; 8] = [
    "frames",
    "axes",
    "com",
    "inertia",
    "articulated",
    "collision",
    "rates",
    "moments",
];
/// A browser that says nothing for so long does not work.
const PATIENCE: Duration = Duration::from_secs(600);

fn size(text: &str) -> Result<(u32, u32), String> {
    let parse = |word: &str| word.parse::<u32>().ok().filter(|n| (16..=8192).contains(n));
    let pair = text.split_once('x').and_then(|(w, h)| parse(w).zip(parse(h)));
    pair.ok_or_else(|| "write it as 1280x720, each from 16 to 8192".to_owned())
}

fn end(path: &Path) -> String {
    path.extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase()
}

impl Output {
    /// An error if what is asked for cannot be, before anything is worked out.
    pub(super) fn check(&self) -> Result<()> {
        for (option, path, ends) in [
            ("--export", &self.export, &["html", "htm"][..]),
            ("--snapshot", &self.snapshot, &["png"]),
            ("--video", &self.video, &["mp4", "webm", "gif"]),
        ] {
            let Some(path) = path else { continue };
            if !ends.contains(&&*end(path)) {
                let problem = format!("{option} cannot write `{}`", path.display());
                return Err(UserError::usage(
                    problem,
                    format!("name a file that ends in .{}", ends.join(", .")),
                ));
            }
            let folder = path
                .parent()
                .filter(|p| !p.as_os_str().is_empty())
                .unwrap_or(Path::new("."));
            if !folder.is_dir() {
                let problem = format!("there is no directory `{}` to write into", folder.display());
                return Err(UserError::usage(problem, "make it first"));
            }
        }
        for layer in &self.layers {
            if !LAYERS.contains(&&**layer) {
                let problem = format!("`{layer}` is not a layer");
                return Err(UserError::usage(
                    problem,
                    format!("the layers are {}", LAYERS.join(", ")),
                ));
            }
        }
        if self.snapshot.is_some() || self.video.is_some() {
            find_browser().map_err(|problem| UserError::failure(problem, "--export needs no browser"))?;
        }
        Ok(())
    }

    /// Whether anything is to be written.
    pub(super) fn is_any(&self) -> bool {
        self.export.is_some() || self.snapshot.is_some() || self.video.is_some()
    }

    /// Writes all that is asked for.
    pub(super) fn write(&self, mut stage: Stage, source: Source, seconds: f64) -> Result<ExitCode> {
        if self.video.is_some() && matches!(source, Source::Still) {
            let hint = "add --simulate, or a log with --play";
            return Err(UserError::usage("a film needs something that moves", hint));
        }
        let motion = &match source {
            Source::Still => Recording::still(&stage.state, stage.touching.as_mut())?,
            Source::Recording(recording) => recording,
            Source::Simulation(run) => recorded(*run, seconds)?,
        };
        let at = self.time(motion.span())?;
        let page = &html()?;
        if let Some(path) = &self.export {
            let file = self.file(page, &stage, motion, None)?;
            save(path, &file)?;
        }
        for (path, kind) in [(&self.snapshot, "picture"), (&self.video, "film")] {
            let Some(path) = path else { continue };
            let task = json!({
                "kind": kind, "format": end(path), "width": self.size.0, "height": self.size.1,
                "fps": self.fps, "at": at, "layers": self.layers,
            });
            let file = self.file(page, &stage, motion, Some(task))?;
            save(path, &taken(file, self.size)?)?;
        }
        Ok(ExitCode::SUCCESS)
    }

    /// An error if a layer is asked for that a mechanism does not have.
    pub(super) fn defined(&self, mechanism: &Mechanism) -> Result<()> {
        let layer = self.layers.iter().find(|layer| *layer == "articulated");
        match layer.filter(|_| mechanism.is_coupled()) {
            Some(layer) => Err(UserError::usage(
                format!(
                    "`{layer}` is not defined for `{}`, in which joints follow others",
                    mechanism.name()
                ),
                "leave it out, or let them move on their own with --ignore-couplings",
            )),
            None => Ok(()),
        }
    }

    /// The layers to show from the start.
    pub(super) fn layers(&self) -> &[String] {
        &self.layers
    }

    /// The time that a picture shows, which must be one of the motion's.
    fn time(&self, (first, last): (f64, f64)) -> Result<f64> {
        let at = self.at.unwrap_or(first);
        if (first..=last).contains(&at) {
            return Ok(at);
        }
        let (problem, hint) = if last > first {
            let problem = format!("--at {at}: the motion is from {first} s to {last} s");
            (problem, "name a time in it, or simulate longer with --seconds")
        } else {
            let problem = format!("--at {at}: nothing moves, so there is no other time");
            (problem, "add --simulate, or a log with --play")
        };
        Err(UserError::usage(problem, hint))
    }

    fn file(&self, page: &[u8], stage: &Stage, motion: &Recording, task: Option<serde_json::Value>) -> Result<Vec<u8>> {
        let mut scene = stage.scene.clone();
        if let Some(task) = task {
            scene.insert("task".into(), task);
        }
        let file = export(page, scene, &stage.assets, &stage.mechanism, motion);
        file.context("cannot put the scene into one file")
    }
}

/// What a browser without a window makes of a file.
fn taken(file: Vec<u8>, size: (u32, u32)) -> Result<Vec<u8>> {
    let browser = find_browser().map_err(|problem| UserError::failure(problem, "--export needs no browser"))?;
    let server = live::private()?;
    let url = server.url().context("cannot tell the page's address")?;
    let (sender, pictures) = channel();
    let (commands, _heard) = sync_channel(1);
    let content = Content {
        page: file,
        scene: Vec::new(),
        assets: Assets::default(),
        output: Some(sender),
    };
    let _running = server.start(content, commands).context("cannot serve the page")?;
    let shown = browser.display().to_string();
    let mut headless = Headless::open(&browser, &url, size).with_context(|| format!("cannot start `{shown}`"))?;
    let begun = Instant::now();
    loop {
        match pictures.recv_timeout(Duration::from_millis(200)) {
            // The page sends a line of text where it cannot do it.
            Ok(bytes) => match bytes.strip_prefix(b"problem: ") {
                None => return Ok(bytes),
                Some(problem) => {
                    let problem = String::from_utf8_lossy(problem).into_owned();
                    return Err(UserError::failure(
                        format!("`{shown}` could not: {problem}"),
                        "try another format, or another browser in LINKWORK_BROWSER",
                    ));
                }
            },
            Err(RecvTimeoutError::Timeout) if headless.ended() => {
                let hint = "name another browser in LINKWORK_BROWSER";
                return Err(UserError::failure(format!("`{shown}` ended before it was done"), hint));
            }
            Err(RecvTimeoutError::Timeout) if begun.elapsed() < PATIENCE => {}
            Err(_) => {
                let problem = format!("`{shown}` did not answer for {} seconds", PATIENCE.as_secs());
                return Err(UserError::failure(
                    problem,
                    "try a smaller --size, or shorter --seconds",
                ));
            }
        }
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<()> {
    crate::atomic_file::write(path, bytes)?;
    Ok(writeln!(anstream::stdout(), "wrote {}", path.display())?)
}
