//! Files that a file includes.

use crate::report::Findings;
use crate::search_paths::{Lost, SearchPaths};
use crate::source::{Spot, shortened};
use crate::xml::{Document, Element};
use std::collections::{HashMap, HashSet};
use std::path::Path;

/// More files than this are refused.
const MOST_FILES: usize = 1000;

/// All documents of a robot, and which includes which.
pub(super) struct Includes {
    documents: Vec<Document>,
    /// By the spot of an `<include>`, the document it stands for.
    included: HashMap<Spot, usize>,
    /// Directories of included files, seen from the model's own, by their sources.
    directories: HashMap<u32, String>,
}

impl Includes {
    /// Loads what a document includes, and what that includes. A file is taken once, as MuJoCo does. Files are looked for
    /// in the directory of the model, which is the robot's own where none is given, and beside the file that includes them.
    pub(super) fn load(document: Document, home: Option<&Path>, roots: &SearchPaths, f: &mut Findings) -> Self {
        let mut this = Self {
            documents: vec![document],
            included: HashMap::new(),
            directories: HashMap::new(),
        };
        let mut taken = HashSet::new();
        let mut directories = vec![(home.map(Path::to_path_buf), String::new())];
        let mut next = 0;
        while next < this.documents.len() {
            let mut wanted = Vec::new();
            for e in this.documents[next].elements().filter(|e| e.name() == "include") {
                let file = e.attribute("file").unwrap_or_default();
                let at = e.at();
                let (own, shown) = &directories[next];
                let within = Path::new(&*file).parent().map(|p| p.to_string_lossy().into_owned());
                let within = within.unwrap_or_default();
                let found = roots.look(home, &file).map(|path| (path, within.clone()));
                let found = found.or_else(|lost| {
                    let beside = own.as_deref().filter(|_| lost == Lost::Missing);
                    let place = Path::new(shown).join(&within).to_string_lossy().into_owned();
                    beside.map_or(Err(lost), |d| roots.look(Some(d), &file).map(|path| (path, place)))
                });
                let (path, place) = match found {
                    Ok(found) => found,
                    Err(lost) => {
                        let message = format!("the included file `{}` {}", shortened(&file), lost.message());
                        f.error(at.seen_at(e.spot_of("file")), "include", message, lost.advice());
                        continue;
                    }
                };
                if !taken.insert(path.clone()) || taken.len() > MOST_FILES {
                    let message = format!("`{}` is included twice", shortened(&file));
                    f.error(at, "include", message, "include each file once");
                    continue;
                }
                wanted.push((e.spot(), path, place));
            }
            for (spot, path, place) in wanted {
                let bytes = crate::source::read(&path);
                let shown = path.display().to_string();
                let at = crate::source::At::new(spot, "include", "");
                match bytes {
                    Ok(bytes) => {
                        if let Some(document) = Document::parse(&shown, &bytes, f) {
                            this.included.insert(spot, this.documents.len());
                            this.directories.insert(document.root().spot().source, place.clone());
                            this.documents.push(document);
                            directories.push((path.parent().map(Path::to_path_buf), place));
                        }
                    }
                    Err(problem) => f.error(at, "include", format!("`{shown}` cannot be read: {problem}"), ""),
                }
            }
            next += 1;
        }
        this
    }

    pub(super) fn root(&self) -> Element<'_> {
        self.documents[0].root()
    }

    /// The directory of the included file that an element stands in, seen from the model's own; none in that.
    pub(super) fn directory_of(&self, e: Element<'_>) -> Option<&str> {
        let found = self.directories.get(&e.spot().source)?;
        Some(found).filter(|d| !d.is_empty()).map(String::as_str)
    }

    /// All elements of all files.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.documents.iter().flat_map(Document::elements)
    }

    /// The elements directly in an element, those of included files in the place of the `<include>`.
    pub(super) fn children<'a>(&'a self, e: Element<'a>) -> Vec<Element<'a>> {
        let mut found = Vec::new();
        let mut waiting: Vec<Element<'a>> = e.children().collect();
        waiting.reverse();
        // Every file stands in one place, so that this ends.
        while let Some(child) = waiting.pop() {
            if child.name() != "include" {
                found.push(child);
            } else if let Some(&document) = self.included.get(&child.spot()) {
                let mut inner: Vec<_> = self.documents[document].root().children().collect();
                inner.reverse();
                waiting.extend(inner);
            }
        }
        found
    }
}
