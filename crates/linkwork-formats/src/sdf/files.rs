//! The files of a robot: one, and those that its includes name.

use crate::report::Findings;
use crate::search_paths::SearchPaths;
use crate::source::{At, Spot, shortened};
use crate::xml::{Document, Element};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// More files than this are refused.
const MOST_FILES: usize = 1000;
/// The newest version that this reader knows.
const NEWEST: (u32, u32) = (1, 12);

/// A version of the format, its numbers apart.
pub(super) type Version = (u32, u32);

/// All documents of a robot, and which includes which.
pub(super) struct Files {
    documents: Vec<(Document, Option<PathBuf>)>,
    /// By the spot of an `<include>`, the document it stands for.
    included: HashMap<Spot, usize>,
}

impl Files {
    /// Loads what a document includes, and what that includes: each file once.
    pub(super) fn load(document: Document, roots: &SearchPaths, f: &mut Findings) -> Self {
        let mut this = Self {
            documents: vec![(document, None)],
            included: HashMap::new(),
        };
        let mut known: HashMap<PathBuf, Option<usize>> = HashMap::new();
        let mut next = 0;
        while next < this.documents.len() {
            let home = this.documents[next].1.clone();
            let mut wanted = Vec::new();
            let all = this.documents[next].0.elements().filter(|e| e.name() == "include");
            // Each address is looked for once.
            let mut located: HashMap<String, Option<PathBuf>> = HashMap::new();
            for e in all.filter(|e| e.child("uri").is_some()) {
                let found = located
                    .entry(uri(e))
                    .or_insert_with(|| locate(e, home.as_deref(), roots, f));
                wanted.extend(found.clone().map(|path| (e.spot(), path)));
            }
            for (spot, path) in wanted {
                let count = known.len();
                let place = known.entry(path.clone()).or_insert_with(|| {
                    let at = At::new(spot, "include", "");
                    if count >= MOST_FILES {
                        let message = format!("more than {MOST_FILES} files are included");
                        f.error(at, "include", message, "include fewer");
                        return None;
                    }
                    let document = open(&path, at, f)?;
                    let folder = path.parent().map(Path::to_path_buf);
                    this.documents.push((document, folder));
                    Some(this.documents.len() - 1)
                });
                if let Some(place) = *place {
                    this.included.insert(spot, place);
                }
            }
            next += 1;
        }
        this
    }

    pub(super) fn root(&self) -> Element<'_> {
        self.documents[0].0.root()
    }

    /// The root of the file that an include means, and which it is.
    pub(super) fn included(&self, include: Element<'_>) -> Option<(Element<'_>, usize)> {
        let place = *self.included.get(&include.spot())?;
        Some((self.documents[place].0.root(), place))
    }

    /// The directory of an included file; none for the first.
    pub(super) fn folder(&self, place: usize) -> Option<&Path> {
        self.documents[place].1.as_deref()
    }
}

/// The address of an included file.
pub(super) fn uri(include: Element<'_>) -> String {
    include
        .child("uri")
        .map_or_else(String::new, |e| e.content().into_owned())
}

/// The file that an address means, seen from the directory of an included file.
pub(super) fn find(uri: &str, home: Option<&Path>, roots: &SearchPaths) -> Option<PathBuf> {
    let path = uri.strip_prefix("file://").unwrap_or(uri);
    match home {
        Some(home) if !path.contains("://") && !Path::new(path).is_absolute() => {
            let near = home.join(path);
            roots.find(near.to_str()?).or_else(|| roots.find(uri))
        }
        _ => roots.find(uri),
    }
}

/// The file that an include means, if it is there.
fn locate(e: Element<'_>, home: Option<&Path>, roots: &SearchPaths, f: &mut Findings) -> Option<PathBuf> {
    let uri = uri(e);
    let found = find(&uri, home, roots).or_else(|| roots.package(&uri)?.canonicalize().ok())?;
    if !found.is_dir() {
        return Some(found);
    }
    // A model's directory says in `model.config` which of its files is meant.
    let inside = |name: &str| {
        let file = found.join(name).canonicalize().ok()?;
        (file.starts_with(&found) && file.is_file()).then_some(file)
    };
    let Some(config) = inside("model.config").or_else(|| inside("manifest.xml")) else {
        return inside("model.sdf");
    };
    let document = open(&config, At::new(e.spot(), "include", ""), f)?;
    let mut best: Option<(Version, String)> = None;
    for file in document.root().children_named("sdf") {
        let version = file.attribute("version").and_then(|v| parse(&v)).unwrap_or((1, 0));
        if best.as_ref().is_none_or(|(b, _)| version >= *b) {
            best = Some((version, file.content().into_owned()));
        }
    }
    inside(&best.map_or_else(|| "model.sdf".to_owned(), |(_, name)| name))
}

fn open(path: &Path, at: At<'_>, f: &mut Findings) -> Option<Document> {
    let shown = path.display().to_string();
    match crate::source::read(path) {
        Ok(bytes) => Document::parse(&shown, &bytes, f),
        Err(problem) => {
            f.error(
                at,
                "include",
                format!("`{}` cannot be read: {problem}", shortened(&shown)),
                "",
            );
            None
        }
    }
}

fn parse(text: &str) -> Option<Version> {
    let (major, minor) = text.trim().split_once('.')?;
    let minor = minor.split('.').next()?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The version that a file is written in.
pub(super) fn version(root: Element<'_>, f: &mut Findings) -> Version {
    let at = At::new(root.spot_of("version"), "", "");
    let Some(given) = root.attribute("version") else {
        f.doubt(
            at,
            "version",
            "the file does not say its version; it is read as 1.7",
            "add version=\"1.7\"",
        );
        return (1, 7);
    };
    match parse(&given) {
        Some(version) if version < (1, 2) => {
            let message = format!("SDF {} is older than this reader knows", shortened(&given));
            f.error(at, "version", message, "convert it with `gz sdf --convert`");
            version
        }
        Some(version) => {
            if version > NEWEST {
                let message = format!("SDF {} is newer than this reader knows", shortened(&given));
                f.doubt(at, "version", message, "check that everything in it was understood");
            }
            version
        }
        None => {
            let message = format!("`{}` is not a version of SDF", shortened(&given));
            f.error(at, "version", message, "write version=\"1.11\"");
            (1, 7)
        }
    }
}
