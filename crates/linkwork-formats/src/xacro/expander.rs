//! Goes through a file's elements and writes what they become.

use super::Problem;
use super::expression::{Context, Trouble};
use super::output::Output;
use super::scope::{Entry, Macro, Piece, Scopes};
use super::value::{Value, literal};
use crate::Options;
use crate::report::Findings;
use crate::search_paths::SearchPaths;
use crate::source::Spot;
use crate::xml::Document;
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::rc::Rc;

/// Work and memory that a file may take, in bytes.
const BUDGET: usize = 64 << 20;
/// Macros that call each other deeper than this are refused.
const DEEPEST_CALL: usize = 1000;
/// Files that include each other deeper than this are refused.
const DEEPEST_FILE: usize = 50;

/// Something to do.
pub(super) enum Task {
    /// Expand an element in a scope, into an element of the output.
    Visit { piece: Piece, scope: usize, into: usize },
    /// Call a macro; the blocks that it is given are in an element of their own.
    Call {
        piece: Piece,
        called: Rc<Macro>,
        inner: usize,
        scope: usize,
        blocks: usize,
        into: usize,
    },
    /// Expand what is in an included file.
    File {
        path: PathBuf,
        spot: Spot,
        scope: usize,
        into: usize,
    },
    /// The body of a macro ends here.
    Return,
    /// An included file ends here.
    EndOfFile,
}

/// What goes through a file.
pub(super) struct Expander<'a> {
    pub(super) roots: &'a SearchPaths,
    pub(super) arguments: BTreeMap<String, String>,
    pub(super) environment: bool,
    pub(super) scopes: Scopes,
    pub(super) output: Output,
    pub(super) tasks: Vec<Task>,
    /// The directories of the files that are being read; none where the first has none.
    folders: Vec<Option<PathBuf>>,
    documents: HashMap<PathBuf, Rc<Document>>,
    pub(super) yaml_files: HashMap<PathBuf, Value>,
    /// How many macros are being called.
    calls: usize,
    left: usize,
    depth: usize,
    /// The scope of the expression that is being evaluated, and names that comprehensions give.
    pub(super) scope: usize,
    pub(super) names: Vec<(String, Value)>,
}

impl<'a> Expander<'a> {
    /// Expands a document; gives its text, and where each element comes from.
    pub(super) fn run(
        document: Document,
        home: Option<&Path>,
        roots: &'a SearchPaths,
        options: &Options,
        f: &mut Findings,
    ) -> Result<(String, Vec<Spot>), Problem> {
        let mut this = Self {
            roots,
            arguments: options.arguments.iter().cloned().collect(),
            environment: options.environment,
            scopes: Scopes::new(),
            output: Output::default(),
            tasks: Vec::new(),
            folders: vec![home.map(Path::to_path_buf)],
            documents: HashMap::new(),
            yaml_files: HashMap::new(),
            calls: 0,
            left: BUDGET,
            depth: 0,
            scope: 0,
            names: Vec::new(),
        };
        let root = Piece::root(Rc::new(document));
        let spot = root.element().spot();
        let top = this.output.make("", spot);
        if this.plain(&root, 0, top).is_err() {
            // The name of a robot is often an argument whose default comes after it.
            for piece in root.children() {
                if piece.element().name() == "xacro:arg" {
                    this.visit(&piece, 0, top)?;
                }
            }
            this.output.nodes[top].children.clear();
            this.plain(&root, 0, top)?;
        }
        while let Some(task) = this.tasks.pop() {
            match task {
                Task::Visit { piece, scope, into } => this.visit(&piece, scope, into)?,
                Task::File {
                    path,
                    spot,
                    scope,
                    into,
                } => this.file(&path, spot, scope, into, f)?,
                Task::Call {
                    piece,
                    called,
                    inner,
                    scope,
                    blocks,
                    into,
                } => this.call(&piece, &called, inner, scope, blocks, into)?,
                Task::Return => this.calls -= 1,
                Task::EndOfFile => drop(this.folders.pop()),
            }
        }
        let root = this.output.nodes[top].children[0];
        if this.output.size(root, BUDGET).is_none() {
            return Err(Problem::new(spot, too_much()).advised(SMALLER));
        }
        Ok(this.output.written(root))
    }

    /// Counts work at a spot.
    pub(super) fn charge_at(&mut self, bytes: usize, spot: Spot) -> Result<(), Problem> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => Err(Problem::new(spot, too_much()).advised(SMALLER)),
        }
    }

    pub(super) fn depth_mut(&mut self) -> &mut usize {
        &mut self.depth
    }

    /// The directory of the file that is being read.
    pub(super) fn folder(&self) -> PathBuf {
        self.folders
            .last()
            .cloned()
            .flatten()
            .unwrap_or_else(|| PathBuf::from("."))
    }

    /// A file as one of the robot's names it.
    pub(super) fn find(&self, name: &str) -> Option<PathBuf> {
        let near = match self.folders.last() {
            Some(Some(folder)) if !name.contains("://") => folder.join(name).to_str().map(str::to_owned),
            _ => None,
        };
        let absolute = near.and_then(|n| Path::new(&n).canonicalize().ok());
        let near = absolute.and_then(|n| self.roots.find(n.to_str()?));
        near.or_else(|| self.roots.find(name)).filter(|p| p.is_file())
    }

    /// Starts a macro's body.
    pub(super) fn enter(&mut self, spot: Spot) -> Result<(), Problem> {
        self.calls += 1;
        if self.calls > DEEPEST_CALL {
            let message = format!("macros call each other more than {DEEPEST_CALL} deep");
            return Err(Problem::new(spot, message).advised("look for a macro that calls itself without end"));
        }
        Ok(())
    }

    /// Starts an included file; gives its root.
    pub(super) fn open(&mut self, path: &Path, spot: Spot, f: &mut Findings) -> Result<Piece, Problem> {
        if self.folders.len() > DEEPEST_FILE {
            let message = format!("files include each other more than {DEEPEST_FILE} deep");
            return Err(Problem::new(spot, message).advised("look for a file that includes itself"));
        }
        let document = match self.documents.get(path) {
            Some(known) => known.clone(),
            None => {
                let shown = path.display().to_string();
                let bytes = crate::source::read(path)
                    .map_err(|e| Problem::new(spot, format!("`{shown}` cannot be read: {e}")))?;
                self.charge_at(bytes.len(), spot)?;
                let Some(document) = Document::parse(&shown, &bytes, f) else {
                    return Err(Problem::new(spot, format!("`{shown}` is not valid XML")));
                };
                let document = Rc::new(document);
                self.documents.insert(path.to_path_buf(), document.clone());
                document
            }
        };
        self.folders.push(path.parent().map(Path::to_path_buf));
        Ok(Piece::root(document))
    }

    /// The value of a property, evaluated now if it was not yet.
    pub(super) fn property(&mut self, scope: usize, name: &str) -> Result<Option<Value>, Problem> {
        let Some(holder) = self.scopes.holder(scope, name) else {
            return Ok(self.scopes.space(scope, name).map(Value::Space));
        };
        let (text, spot) = match self.scopes.get(holder, name) {
            Some(Entry::Ready(value)) => return Ok(Some(value.clone())),
            Some(Entry::Lazy(text, spot)) => (text.clone(), *spot),
            Some(Entry::Busy) => {
                let message = format!("the property `{name}` is defined by itself");
                let problem = Problem {
                    spot: None,
                    message,
                    advice: "set lazy_eval=\"false\" where it takes its old value",
                };
                return Err(problem);
            }
            _ => return Ok(None),
        };
        self.scopes.set(holder, name, Entry::Busy);
        let value = self.text(&text, spot, holder)?;
        let value = as_property(value);
        self.scopes.set(holder, name, Entry::Ready(value.clone()));
        Ok(Some(value))
    }
}

/// A value as properties hold it: texts that are numbers are numbers.
pub(super) fn as_property(value: Value) -> Value {
    match value {
        Value::Text(s) => literal(&s),
        other => other,
    }
}

const SMALLER: &str = "look for macros or properties that grow without end, or split the file";

fn too_much() -> String {
    format!("expanding the file takes more than {} MB", BUDGET >> 20)
}

impl Context for Expander<'_> {
    fn name(&mut self, name: &str) -> Result<Option<Value>, Trouble> {
        self.property(self.scope, name).map_err(Trouble::There)
    }

    fn member(&mut self, space: usize, name: &str) -> Result<Option<Value>, Trouble> {
        self.property(space, name).map_err(Trouble::There)
    }

    fn yaml(&mut self, file: &str) -> Result<Value, Trouble> {
        self.read_yaml(file)
    }

    fn argument(&mut self, name: &str) -> Option<Value> {
        self.arguments.get(name).map(Value::text)
    }

    fn charge(&mut self, bytes: usize) -> Result<(), Trouble> {
        match self.left.checked_sub(bytes) {
            Some(left) => {
                self.left = left;
                Ok(())
            }
            None => {
                let problem = Problem {
                    spot: None,
                    message: too_much(),
                    advice: SMALLER,
                };
                Err(Trouble::There(problem))
            }
        }
    }

    fn depth(&mut self) -> &mut usize {
        &mut self.depth
    }

    fn locals(&mut self) -> &mut Vec<(String, Value)> {
        &mut self.names
    }
}
