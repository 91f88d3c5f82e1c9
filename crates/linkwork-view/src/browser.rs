//! Browsers: one to look at a page with, and one without a window that takes pictures of it.

use std::ffi::OsString;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

/// Opens an address in the user's browser; an error if there is none to open it with.
pub fn open(url: &str) -> io::Result<()> {
    let (program, first): (&str, &[&str]) = if cfg!(target_os = "macos") {
        ("open", &[])
    } else if cfg!(windows) {
        ("rundll32", &["url.dll,FileProtocolHandler"])
    } else {
        ("xdg-open", &[])
    };
    // Without a screen, what opens browsers would wait in a terminal.
    let unix = cfg!(unix) && !cfg!(target_os = "macos");
    if unix && std::env::var_os("DISPLAY").is_none() && std::env::var_os("WAYLAND_DISPLAY").is_none() {
        return Err(io::Error::other("there is no screen here"));
    }
    let mut child = Command::new(program)
        .args(first)
        .arg(url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    std::thread::spawn(move || child.wait());
    Ok(())
}

/// Names of browsers that can work without a window.
const NAMES: [&str; 7] = [
    "chromium",
    "chromium-browser",
    "google-chrome",
    "google-chrome-stable",
    "chrome",
    "microsoft-edge",
    "brave-browser",
];

/// Where browsers are on systems that do not put them on the path.
const PLACES: [&str; 4] = [
    "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
    "/Applications/Chromium.app/Contents/MacOS/Chromium",
    "C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe",
    "C:\\Program Files (x86)\\Microsoft\\Edge\\Application\\msedge.exe",
];

/// A browser that can work without a window: the one that `LINKWORK_BROWSER` names, or Chromium, Chrome or Edge.
pub fn find_browser() -> Result<PathBuf, String> {
    if let Some(named) = std::env::var_os("LINKWORK_BROWSER") {
        let path = PathBuf::from(named);
        return if path.is_file() {
            Ok(path)
        } else {
            Err(format!(
                "LINKWORK_BROWSER names `{}`, which is not a file",
                path.display()
            ))
        };
    }
    let path: OsString = std::env::var_os("PATH").unwrap_or_default();
    let end = std::env::consts::EXE_SUFFIX;
    let listed = std::env::split_paths(&path).flat_map(|d| NAMES.map(|name| d.join(format!("{name}{end}"))));
    let mut all = listed.chain(PLACES.iter().map(PathBuf::from));
    all.find(|p| p.is_file()).ok_or_else(|| {
        "pictures and films are taken by a browser without a window, and none was found: install Chromium or Chrome, or name one in LINKWORK_BROWSER".to_owned()
    })
}

/// A browser without a window, which ends when this is dropped.
#[derive(Debug)]
pub struct Headless {
    child: Child,
    profile: PathBuf,
}

impl Headless {
    /// Opens an address in a browser that nobody sees; `size` is that of its page.
    pub fn open(browser: &Path, url: &str, (width, height): (u32, u32)) -> io::Result<Self> {
        let profile = std::env::temp_dir().join(format!("linkwork-browser-{}", std::process::id()));
        std::fs::create_dir_all(&profile)?;
        let mut command = Command::new(browser);
        command.args([
            "--headless=new",
            "--no-first-run",
            "--no-default-browser-check",
            "--disable-extensions",
            "--hide-scrollbars",
            "--mute-audio",
            // Where there is no graphics card, the processor draws.
            "--use-gl=angle",
            "--use-angle=swiftshader",
            "--enable-unsafe-swiftshader",
        ]);
        // Browsers refuse to keep pages apart from a user who may do anything.
        if is_root() {
            command.arg("--no-sandbox");
        }
        let child = command
            .arg(format!("--user-data-dir={}", profile.display()))
            .arg(format!("--window-size={width},{height}"))
            .arg(url)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(Self { child, profile })
    }

    /// Whether it ended by itself, as one that cannot start does.
    pub fn ended(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(Some(_)))
    }
}

#[cfg(unix)]
fn is_root() -> bool {
    std::fs::metadata("/proc/self").is_ok_and(|m| std::os::unix::fs::MetadataExt::uid(&m) == 0)
}

#[cfg(not(unix))]
fn is_root() -> bool {
    false
}

impl Drop for Headless {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Its helpers may still write for a moment.
        for _ in 0..20 {
            if std::fs::remove_dir_all(&self.profile).is_ok() {
                break;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
