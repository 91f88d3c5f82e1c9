//! The robot's model, and the models that it attaches.

use super::Model;
use super::assets::Assets;
use super::compiler::Compiler;
use super::defaults::Defaults;
use super::includes::Includes;
use crate::report::Findings;
use crate::search_paths::SearchPaths;
use crate::source::shortened;
use crate::xml::Document;
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// More models than these are refused.
const MOST: usize = 256;

/// A model's files.
pub(super) struct Loaded {
    pub(super) includes: Includes,
    models: HashMap<String, usize>,
    /// Seen from the robot's file.
    directory: String,
}

/// Loads the robot's model and all `<model>` assets, each file once.
pub(super) fn load(document: Document, roots: &SearchPaths, f: &mut Findings) -> Vec<Loaded> {
    let mut all = vec![Loaded {
        includes: Includes::load(document, None, roots, f),
        models: HashMap::new(),
        directory: String::new(),
    }];
    let mut known: HashMap<PathBuf, usize> = HashMap::new();
    let mut homes: Vec<Option<PathBuf>> = vec![None];
    let mut next = 0;
    while next < all.len() {
        let root = all[next].includes.root();
        let assets = all[next]
            .includes
            .children(root)
            .into_iter()
            .filter(|e| e.name() == "asset");
        let assets = assets.flat_map(|e| all[next].includes.children(e));
        let wanted: Vec<_> = assets
            .filter(|e| e.name() == "model")
            .map(|e| {
                let file = e.attribute("file").unwrap_or_default().into_owned();
                (e.attribute("name").map(|n| n.into_owned()), file, e.spot())
            })
            .collect();
        for (name, file, spot) in wanted {
            let at = crate::source::At::new(spot, "model", name.as_deref().unwrap_or_default());
            let path = match roots.look(homes[next].as_deref(), &file) {
                Ok(path) => path,
                Err(lost) => {
                    let message = format!("the model `{}` {}", shortened(&file), lost.message());
                    f.error(at, "include", message, lost.advice());
                    continue;
                }
            };
            let place = match known.get(&path) {
                Some(place) => *place,
                None if all.len() >= MOST => {
                    f.error(
                        at,
                        "too-large",
                        format!("more than {MOST} models are attached"),
                        "attach fewer",
                    );
                    return all;
                }
                None => {
                    let shown = path.display().to_string();
                    let document = match crate::source::read(&path) {
                        Ok(bytes) => Document::parse(&shown, &bytes, f),
                        Err(problem) => {
                            f.error(at, "include", format!("`{shown}` cannot be read: {problem}"), "");
                            None
                        }
                    };
                    let Some(document) = document else { continue };
                    if document.root().name() != "mujoco" {
                        let message = format!("`{}` is not an MJCF file", shortened(&file));
                        f.error(at, "include", message, "give one whose root is <mujoco>");
                        continue;
                    }
                    let home = path.parent().map(Path::to_path_buf);
                    let within = Path::new(&file).parent().map(|p| p.to_string_lossy().into_owned());
                    let directory = [all[next].directory.clone(), within.unwrap_or_default()];
                    let directory = directory
                        .into_iter()
                        .filter(|d| !d.is_empty())
                        .collect::<Vec<_>>()
                        .join("/");
                    let includes = Includes::load(document, home.as_deref(), roots, f);
                    all.push(Loaded {
                        includes,
                        models: HashMap::new(),
                        directory,
                    });
                    homes.push(home);
                    known.insert(path, all.len() - 1);
                    all.len() - 1
                }
            };
            let inner = all[place].includes.root().attribute("model").map(|m| m.into_owned());
            let name = name.or(inner).unwrap_or("mujoco".to_owned());
            all[next].models.insert(name, place);
        }
        next += 1;
    }
    all
}

/// Reads how each model is to be read, its defaults and its assets.
pub(super) fn prepare<'a>(loaded: &'a [Loaded], roots: &SearchPaths, f: &mut Findings) -> Vec<Model<'a>> {
    let mut all = Vec::with_capacity(loaded.len());
    for one in loaded {
        let mut model = Model {
            includes: &one.includes,
            compiler: Compiler::default(),
            defaults: Defaults::default(),
            assets: Assets::default(),
            models: one.models.clone(),
            directory: one.directory.clone(),
        };
        model
            .section("compiler")
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|e| model.compiler.read(e, f));
        model
            .section("default")
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|e| model.defaults.read(&one.includes, e, f));
        all.push(model);
    }
    for i in 0..all.len() {
        let assets = Assets::read(&all[i], roots, f);
        all[i].assets = assets;
    }
    all
}
