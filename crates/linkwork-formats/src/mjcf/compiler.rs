//! `<compiler>`: how the file is to be read.

use crate::numbers::{self, Range};
use crate::report::Findings;
use crate::source::{At, shortened};
use crate::xml::Element;

/// Whether inertia comes from geoms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum FromGeoms {
    Never,
    Always,
    /// Where a body has no `<inertial>`.
    Missing,
}

#[derive(Clone, Debug)]
pub(super) struct Compiler {
    /// Radians per unit of angle.
    pub(super) angle: f64,
    pub(super) euler: [u8; 3],
    pub(super) limits: bool,
    pub(super) from_geoms: FromGeoms,
    pub(super) balance: bool,
    pub(super) least_mass: f64,
    pub(super) least_inertia: f64,
    pub(super) total_mass: Option<f64>,
    pub(super) groups: [f64; 2],
    pub(super) mesh_directory: String,
    /// Whether file names lose their directories.
    pub(super) strip: bool,
    /// Whether meshes are filled exactly where they do not say how.
    pub(super) exact_meshes: bool,
    /// Whether primitives are fitted to the boxes around meshes, instead of boxes of the same inertia.
    pub(super) fit_bounds: bool,
    /// Whether frames of free bodies are moved to their centres of mass.
    pub(super) align: bool,
}

impl Default for Compiler {
    fn default() -> Self {
        Self {
            angle: std::f64::consts::PI / 180.0,
            euler: *b"xyz",
            limits: true,
            from_geoms: FromGeoms::Missing,
            balance: false,
            least_mass: 0.0,
            least_inertia: 0.0,
            total_mass: None,
            groups: [0.0, 5.0],
            mesh_directory: String::new(),
            strip: false,
            exact_meshes: false,
            fit_bounds: false,
            align: false,
        }
    }
}

impl Compiler {
    pub(super) fn read(&mut self, e: Element<'_>, f: &mut Findings) {
        let at = At::new(e.spot(), "compiler", "");
        let mut word = |name: &str, known: &[&str]| {
            let text = e.attribute(name)?;
            if !known.contains(&&*text) {
                let message = format!("{name}=\"{}\" is unknown", shortened(&text));
                f.error(
                    at.seen_at(e.spot_of(name)),
                    "compiler",
                    message,
                    &format!("use one of {}", known.join(", ")),
                );
            }
            Some(text)
        };
        match word("angle", &["degree", "radian"]).as_deref() {
            Some("radian") => self.angle = 1.0,
            Some(_) => self.angle = std::f64::consts::PI / 180.0,
            None => {}
        }
        match word("inertiafromgeom", &["false", "true", "auto"]).as_deref() {
            Some("false") => self.from_geoms = FromGeoms::Never,
            Some("true") => self.from_geoms = FromGeoms::Always,
            Some(_) => self.from_geoms = FromGeoms::Missing,
            None => {}
        }
        let flags = [
            ("autolimits", &mut self.limits),
            ("balanceinertia", &mut self.balance),
            ("strippath", &mut self.strip),
            ("exactmeshinertia", &mut self.exact_meshes),
            ("fitaabb", &mut self.fit_bounds),
            ("alignfree", &mut self.align),
        ];
        for (name, flag) in flags {
            if let Some(text) = word(name, &["false", "true"]) {
                *flag = text == "true";
            }
        }
        if word("coordinate", &["local"]).is_some_and(|c| c != "local") {
            return;
        }
        if let Some(sequence) = e.attribute("eulerseq") {
            match sequence.as_bytes() {
                &[a, b, c] if [a, b, c].iter().all(|x| b"xyzXYZ".contains(x)) => self.euler = [a, b, c],
                _ => {
                    let message = format!("eulerseq=\"{}\" is not a sequence of axes", shortened(&sequence));
                    f.error(
                        at.seen_at(e.spot_of("eulerseq")),
                        "compiler",
                        message,
                        "give three of x, y, z, X, Y and Z",
                    );
                }
            }
        }
        let mut number = |name| numbers::number(f, e, name, at, Range::Usable);
        self.least_mass = number("boundmass").unwrap_or(self.least_mass);
        self.least_inertia = number("boundinertia").unwrap_or(self.least_inertia);
        self.total_mass = number("settotalmass").filter(|x| *x > 0.0).or(self.total_mass);
        if let Some(groups) = numbers::several::<2>(f, e, "inertiagrouprange", at) {
            self.groups = groups;
        }
        let directory = e.attribute("meshdir").or_else(|| e.attribute("assetdir"));
        if let Some(directory) = directory {
            self.mesh_directory = directory.into_owned();
        }
    }
}
