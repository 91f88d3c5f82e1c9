//! Files that a file includes.

use crate::report::Findings;
use crate::roots::Roots;
use crate::source::{Spot, shortened};
use crate::xml::{Document, Element};
use std::collections::{HashMap, HashSet};

/// More files than this are refused.
const MOST_FILES: usize = 1000;

/// All documents of a robot, and which includes which.
pub(super) struct Includes {
    documents: Vec<Document>,
    /// By the spot of an `<include>`, the document it stands for.
    included: HashMap<Spot, usize>,
}

impl Includes {
    /// Loads what a document includes, and what that includes. A file is taken once, as MuJoCo does.
    pub(super) fn load(document: Document, roots: &Roots, f: &mut Findings) -> Self {
        let mut this = Self {
            documents: vec![document],
            included: HashMap::new(),
        };
        let mut taken = HashSet::new();
        let mut next = 0;
        while next < this.documents.len() {
            let mut wanted = Vec::new();
            for e in this.documents[next].elements().filter(|e| e.name() == "include") {
                let file = e.attribute("file").unwrap_or_default();
                let at = e.at();
                let Some(path) = roots.find(&file) else {
                    let message = format!(
                        "the included file `{}` was not found in the robot's directory",
                        shortened(&file)
                    );
                    f.error(
                        at,
                        "include",
                        message,
                        "put it beside this file, or give its directory as a package",
                    );
                    continue;
                };
                if !taken.insert(path.clone()) || taken.len() > MOST_FILES {
                    let message = format!("`{}` is included twice", shortened(&file));
                    f.error(at, "include", message, "include each file once");
                    continue;
                }
                wanted.push((e.spot(), path));
            }
            for (spot, path) in wanted {
                let bytes = crate::source::read(&path);
                let shown = path.display().to_string();
                let at = crate::source::At::new(spot, "include", "");
                match bytes {
                    Ok(bytes) => {
                        if let Some(document) = Document::parse(&shown, &bytes, f) {
                            this.included.insert(spot, this.documents.len());
                            this.documents.push(document);
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

    /// All elements of all files.
    pub(super) fn elements(&self) -> impl Iterator<Item = Element<'_>> {
        self.documents.iter().flat_map(Document::elements)
    }

    /// The names of all elements of a kind.
    pub(super) fn names(&self, tag: &str) -> HashSet<String> {
        let named = self
            .elements()
            .filter(|e| e.name() == tag)
            .filter_map(|e| e.attribute("name"));
        named.map(|n| n.into_owned()).collect()
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
