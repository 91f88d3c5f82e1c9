//! A sweep: a directory with a manifest, and a part for every chunk of states.

use super::chunk::{Chunk, Failures};
use super::random_states::Random;
use super::table::{Column, Numbers as Cells, parquet};
use crate::user_error::UserError;
use anyhow::{Context, Result, bail};
use linkwork::batch::{Rollout, RolloutMethod, Variation};
use linkwork::closed::ClosedMechanism;
use linkwork::quantity::{Evaluation, Given, Input, Quantity};
use linkwork::{Mechanism, Reference};
use linkwork_formats::{Format, Robot};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Write;
use std::path::{Path, PathBuf};

/// The most chunks of a sweep: every one is a file.
const MOST_CHUNKS: u64 = 10_000_000;
/// The most numbers of a chunk, 2 GB of them.
const MOST_NUMBERS: u64 = 1 << 28;

/// The inputs that are made of numbers.
pub(super) const NUMBERS: [Input; 6] = [Input::Q, Input::Qd, Input::Qdd, Input::Tau, Input::X, Input::Change];

/// The place of an input among those made of numbers.
pub(super) fn number(input: Input) -> u64 {
    let place = NUMBERS.iter().position(|i| *i == input);
    place.unwrap_or(NUMBERS.len()) as u64
}

/// The numbers of some states, state after state.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Numbers {
    /// What quantities take.
    pub inputs: Vec<(Input, Vec<f64>)>,
    /// What models differ in, by its place in [`Variation::NAMES`].
    pub models: Vec<(usize, Vec<f64>)>,
}

impl Numbers {
    /// The numbers of an input.
    pub(super) fn of(&self, input: Input) -> &[f64] {
        let found = self.inputs.iter().find(|(own, _)| *own == input);
        found.map_or(&[], |(_, numbers)| numbers)
    }

    pub(super) fn variation(&self) -> Option<Variation<'_>> {
        let mut lists = [None; 6];
        for (kind, numbers) in &self.models {
            lists[*kind] = Some(&numbers[..]);
        }
        (!self.models.is_empty()).then(|| Variation::of(lists))
    }
}

/// Where states come from.
#[derive(Clone, Debug, PartialEq)]
pub enum States {
    /// Drawn by their numbers.
    Random(Random),
    /// Handed over with every chunk.
    Given {
        /// How many.
        total: u64,
        /// What is given of each, by name.
        names: Vec<String>,
        /// What tells them from others: see [`digest`].
        digest: String,
    },
}

impl States {
    fn total(&self) -> u64 {
        match self {
            Self::Random(random) => random.total,
            Self::Given { total, .. } => *total,
        }
    }

    fn told(&self) -> Value {
        match self {
            Self::Random(random) => random.told(),
            Self::Given { total, names, digest } => {
                json!({"kind": "given", "total": total, "names": names, "digest": digest})
            }
        }
    }
}

/// How states are rolled forward: steps of `dt` seconds under their torques, which are held, with a row for every `every` of them.
#[derive(Clone, Debug, PartialEq)]
pub struct Roll {
    /// In seconds.
    pub dt: f64,
    /// How many.
    pub steps: usize,
    /// One row for so many.
    pub every: usize,
    /// `semi_implicit_euler` or `runge_kutta4`.
    pub method: String,
}

/// What is asked of every state, by names.
#[derive(Clone, Debug, Default)]
pub struct Asked {
    /// Quantities of the library's list.
    pub what: Vec<String>,
    /// `frame`, `joint` and `reference`, where they are given.
    pub named: BTreeMap<String, String>,
    /// Where the states go in time.
    pub roll: Option<Roll>,
}

/// A sweep that is checked.
#[derive(Debug)]
pub struct Sweep {
    pub(super) mechanism: Mechanism,
    pub(super) closed: Option<ClosedMechanism>,
    quantities: Vec<&'static Quantity>,
    named: BTreeMap<String, String>,
    pub(super) given: Given<'static>,
    roll: Option<(Roll, RolloutMethod)>,
    states: States,
    out: PathBuf,
    chunk: u64,
    manifest: Map<String, Value>,
}

/// A number that tells states from others, in hexadecimal digits: of the names and numbers of all that is given.
pub fn digest(given: &[(&str, &Vec<f64>)]) -> String {
    hashed(given.iter().flat_map(|(name, numbers)| {
        let numbers = numbers.iter().flat_map(|x| x.to_le_bytes());
        name.bytes().chain(numbers)
    }))
}

/// FNV-1a, in hexadecimal digits.
fn hashed(bytes: impl Iterator<Item = u8>) -> String {
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3)
    });
    format!("{hash:016x}")
}

impl Sweep {
    /// Checks what is asked of a robot's states; nothing is written.
    pub fn new(robot: &Robot, asked: Asked, states: States, out: &Path, chunk: u64) -> Result<Self> {
        let wrong = |problem: String, hint: &str| Err(UserError::usage(problem, hint));
        if chunk == 0 {
            return wrong("chunk is 0".into(), "give every chunk at least 1 state");
        }
        if states.total() == 0 {
            return wrong("there are no states to compute".into(), "ask for at least 1");
        }
        if asked.what.is_empty() && asked.roll.is_none() {
            return wrong("nothing is asked".into(), "name quantities, or roll the states forward");
        }
        let quantities = asked.what.iter().map(|name| {
            Quantity::find(name).map_err(|_| {
                let problem = format!("there is no quantity `{name}`");
                UserError::usage(problem, "`linkwork eval --help` and `linkwork.quantities()` list them")
            })
        });
        let quantities = quantities.collect::<Result<Vec<_>>>()?;
        let closed = match quantities.iter().any(|q| q.is_of_loops()) {
            true => Some(robot.closed()?),
            false => None,
        };
        let mechanism = closed.as_ref().map_or(&robot.mechanism, |c| c.mechanism()).clone();
        let given = meant(&mechanism, &quantities, &asked.named)?;
        let roll = asked.roll.map(|roll| checked(roll, &mechanism)).transpose()?;
        let mut sweep = Self {
            closed,
            named: asked.named,
            given,
            roll,
            states,
            out: out.to_owned(),
            chunk,
            manifest: Map::new(),
            quantities,
            mechanism,
        };
        sweep.check_states()?;
        sweep.check_size()?;
        let text = linkwork_formats::write(robot, Format::Native)
            .map_err(|r| anyhow::anyhow!("{r}"))?
            .text;
        sweep.manifest = sweep.told(&text)?;
        Ok(sweep)
    }

    /// An error if there are too many chunks to look for, or one has too many numbers for memory.
    fn check_size(&self) -> Result<()> {
        if self.chunks() > MOST_CHUNKS {
            let problem = format!("{} states are {} chunks", self.states.total(), self.chunks());
            let hint = format!("{MOST_CHUNKS} are the most; take larger ones");
            return Err(UserError::usage(problem, hint));
        }
        let m = &self.mechanism;
        let mut numbers: u64 = self
            .inputs()
            .iter()
            .filter_map(|input| input.len(m))
            .map(|n| n as u64)
            .sum();
        if let Some((roll, _)) = &self.roll {
            let rows = (roll.steps / roll.every.max(1)) as u64;
            numbers = numbers.saturating_add(rows.saturating_mul((m.nq() + m.nv()) as u64));
        }
        for quantity in &self.quantities {
            let dimensions = self.dimensions(quantity)?;
            let product = dimensions.iter().fold(1_u64, |all, n| all.saturating_mul(*n as u64));
            numbers = numbers.saturating_add(product);
        }
        let all = numbers.saturating_mul(self.chunk.min(self.states.total()));
        if all > MOST_NUMBERS {
            let problem = format!("a chunk would have {all} numbers, {numbers} for every state");
            let hint = format!("{MOST_NUMBERS} fit into memory; take smaller chunks, or keep fewer steps of a rollout");
            return Err(UserError::usage(problem, hint));
        }
        Ok(())
    }

    /// An error unless all that is asked for can be had of the states.
    fn check_states(&self) -> Result<()> {
        let varies = match &self.states {
            States::Random(random) => {
                for (name, spread) in Variation::NAMES.into_iter().zip(random.vary) {
                    if !(0.0..1.0).contains(&spread) {
                        let problem = format!("{name} is to vary by {spread} of itself");
                        return Err(UserError::usage(problem, "give a part from 0 to less than 1"));
                    }
                }
                if random.vary[1] > 0.0 {
                    let problem = "inertial parameters that vary one by one make no bodies";
                    return Err(UserError::usage(problem, "vary the mass: its moments go with it"));
                }
                if !(random.velocity.is_finite() && random.torque.is_finite()) {
                    let problem = "the deviations of velocities and torques must be finite";
                    return Err(UserError::usage(problem, "1 is usual"));
                }
                random.vary.iter().any(|s| *s > 0.0)
            }
            States::Given { names, .. } => {
                for input in self.inputs() {
                    if !names.iter().any(|n| n == input.name()) {
                        let asked = self.quantities.iter().find(|q| q.takes(input));
                        let asked = asked.map_or("a rollout", |q| q.name);
                        let problem = format!("`{asked}` needs {}, which the states do not have", input.name());
                        return Err(UserError::usage(problem, "give it for every state"));
                    }
                }
                names.iter().any(|n| Variation::NAMES.contains(&n.as_str()))
            }
        };
        if varies && self.closed.is_some() {
            let problem = "models whose numbers vary have no quantities of closed loops";
            return Err(UserError::usage(problem, "ask for quantities of the tree"));
        }
        Ok(())
    }

    /// The inputs that are made of numbers and used, in a fixed order.
    pub fn inputs(&self) -> Vec<Input> {
        let rolls = |i: Input| self.roll.is_some() && matches!(i, Input::Q | Input::Qd | Input::Tau);
        let used = |i: Input| rolls(i) || self.quantities.iter().any(|q| q.takes(i));
        NUMBERS.into_iter().filter(|i| used(*i)).collect()
    }

    /// The manifest.
    fn told(&self, text: &str) -> Result<Map<String, Value>> {
        let mut shapes = Map::new();
        for input in self.inputs() {
            shapes.insert(input.name().into(), json!([input.len(&self.mechanism)]));
        }
        if let Some((roll, _)) = &self.roll {
            let rows = roll.steps / roll.every;
            shapes.insert("q_path".into(), json!([rows, self.mechanism.nq()]));
            shapes.insert("qd_path".into(), json!([rows, self.mechanism.nv()]));
        }
        for quantity in &self.quantities {
            shapes.insert(quantity.name.into(), json!(self.dimensions(quantity)?));
        }
        let roll = self
            .roll
            .as_ref()
            .map(|(r, _)| json!({"dt": r.dt, "steps": r.steps, "every": r.every, "method": r.method}));
        let what: Vec<&str> = self.quantities.iter().map(|q| q.name).collect();
        let all = json!({
            "linkwork": env!("CARGO_PKG_VERSION"),
            "model": self.mechanism.name(),
            "model_digest": hashed(text.bytes()),
            "states": self.states.told(),
            "what": what,
            "named": self.named,
            "rollout": roll,
            "chunk": self.chunk,
            "chunks": self.chunks(),
            "shapes": shapes,
        });
        match all {
            Value::Object(all) => Ok(all),
            _ => bail!("a manifest is an object"),
        }
    }

    fn dimensions(&self, quantity: &Quantity) -> linkwork::Result<Vec<usize>> {
        self.evaluation().dimensions(quantity, &self.given)
    }

    pub(super) fn evaluation(&self) -> Evaluation {
        match &self.closed {
            Some(closed) => Evaluation::of_closed(closed),
            None => Evaluation::new(&self.mechanism),
        }
    }

    /// How many chunks there are.
    pub fn chunks(&self) -> u64 {
        self.states.total().div_ceil(self.chunk)
    }

    /// Writes the manifest; an error if there is one of another sweep.
    pub fn open(&self) -> Result<()> {
        std::fs::create_dir_all(&self.out).with_context(|| format!("cannot make `{}`", self.out.display()))?;
        let path = self.out.join("manifest.json");
        let there = match std::fs::read(&path) {
            Ok(there) => there,
            Err(e) if e.kind() == std::io::ErrorKind::NotFound => {
                let text = serde_json::to_string_pretty(&self.manifest)?;
                return written(&path, text.as_bytes());
            }
            Err(e) => return Err(e).with_context(|| format!("cannot read `{}`", path.display())),
        };
        let there: Map<String, Value> =
            serde_json::from_slice(&there).with_context(|| format!("`{}` is not a manifest", path.display()))?;
        let differ = self
            .manifest
            .iter()
            .filter(|(key, value)| there.get(*key) != Some(value));
        let differ: Vec<&str> = differ.map(|(key, _)| key.as_str()).collect();
        if differ.is_empty() {
            return Ok(());
        }
        let problem = format!("{} is of another sweep ({} differ)", path.display(), differ.join(", "));
        Err(UserError::failure(problem, "give another directory, or remove it"))
    }

    /// Where a chunk's results go.
    pub fn part(&self, index: u64) -> PathBuf {
        self.out.join(format!("part-{index:05}.parquet"))
    }

    /// The chunks that are not there yet.
    pub fn missing(&self) -> Vec<u64> {
        (0..self.chunks()).filter(|i| !self.part(*i).exists()).collect()
    }

    /// The numbers of a chunk's states: which is the first, and how many there are.
    pub fn range(&self, index: u64) -> (u64, usize) {
        let first = index * self.chunk;
        (
            first,
            self.chunk.min(self.states.total().saturating_sub(first)) as usize,
        )
    }

    /// Draws the states of a chunk; none where they are given.
    pub fn draw(&self, index: u64) -> Option<Numbers> {
        let (first, count) = self.range(index);
        match &self.states {
            States::Random(random) => Some(random.draw(&self.mechanism, &self.inputs(), first, count)),
            States::Given { .. } => None,
        }
    }

    /// The states of a chunk, out of those of all.
    pub fn part_of(&self, all: &Numbers, index: u64) -> Numbers {
        let (first, count) = self.range(index);
        let (first, m) = (first as usize, &self.mechanism);
        let part = |numbers: &[f64], n: usize| numbers.get(first * n..(first + count) * n).unwrap_or(&[]).to_vec();
        let inputs = all.inputs.iter();
        let models = all.models.iter();
        Numbers {
            inputs: inputs.map(|(i, x)| (*i, part(x, i.len(m).unwrap_or(0)))).collect(),
            models: models.map(|(k, x)| (*k, part(x, Variation::lengths(m)[*k]))).collect(),
        }
    }

    /// Computes one chunk on so many threads and writes its part; how many of its states failed. Those are NaN in it, and named with
    /// what is wrong in a file beside it.
    pub fn compute(&self, index: u64, numbers: Numbers, threads: usize) -> Result<usize> {
        let (first, count) = self.range(index);
        self.check_lengths(&numbers, count)?;
        let m = &self.mechanism;
        let mut failures = Failures::new();
        let mut columns = vec![Column {
            name: "state".into(),
            numbers: Cells::Whole((first..first + count as u64).map(|i| i as i64).collect()),
        }];
        let mut add = |name: &str, dimensions: Vec<usize>, all: Vec<f64>| {
            let numbers = Cells::Doubles { dimensions, all };
            columns.push(Column {
                name: name.to_owned(),
                numbers,
            });
        };
        let mut chunk = Chunk::new(self, &numbers, count, threads, &mut failures)?;
        let mut results = Vec::new();
        if let Some((roll, method)) = &self.roll {
            let [q, qd] = chunk.rolled(roll, *method, &mut failures)?;
            let rows = roll.steps / roll.every;
            results.push(("q_path", vec![rows, m.nq()], q));
            results.push(("qd_path", vec![rows, m.nv()], qd));
        }
        for quantity in &self.quantities {
            let dimensions = self.dimensions(quantity)?;
            let size = dimensions.iter().product();
            results.push((
                quantity.name,
                dimensions,
                chunk.evaluated(quantity, size, &mut failures)?,
            ));
        }
        let Numbers { inputs, models } = numbers;
        for (input, all) in inputs {
            add(input.name(), vec![input.len(m).unwrap_or(0)], all);
        }
        for (kind, all) in models {
            add(Variation::NAMES[kind], vec![Variation::lengths(m)[kind]], all);
        }
        for (name, dimensions, all) in results {
            add(name, dimensions, all);
        }
        if !failures.is_empty() {
            let told: Map<String, Value> = failures
                .iter()
                .map(|(i, problem)| ((first + *i as u64).to_string(), Value::from(problem.as_str())))
                .collect();
            let report = self.out.join(format!("failed-{index:05}.json"));
            written(&report, serde_json::to_string_pretty(&told)?.as_bytes())?;
        }
        written(&self.part(index), &parquet(count, &columns))?;
        Ok(failures.len())
    }

    /// What names mean in a model of the same tree.
    pub(super) fn meant(&self, model: &Mechanism) -> Result<Given<'static>> {
        meant(model, &self.quantities, &self.named)
    }

    fn check_lengths(&self, numbers: &Numbers, count: usize) -> Result<()> {
        let m = &self.mechanism;
        for input in self.inputs() {
            let needed = count * input.len(m).unwrap_or(0);
            let given = numbers.of(input).len();
            if given != needed {
                bail!(
                    "{} has {given} numbers for {count} states but needs {needed}",
                    input.name()
                );
            }
        }
        if let Some(variation) = numbers.variation() {
            variation.check(m, count)?;
        }
        Ok(())
    }
}

/// What names mean.
fn meant(m: &Mechanism, quantities: &[&Quantity], named: &BTreeMap<String, String>) -> Result<Given<'static>> {
    let mut given = Given::default();
    let needs = |input: Input| quantities.iter().find(|q| q.takes(input));
    for (key, value) in named {
        match key.as_str() {
            "frame" => given.frame = m.frame(value)?,
            "joint" => given.joint = Some(m.joint(value)?),
            "reference" => {
                given.reference = match value.as_str() {
                    "local" => Reference::Local,
                    "world" => Reference::World,
                    "aligned" => Reference::Aligned,
                    _ => bail!("reference is `{value}`; it must be local, world or aligned"),
                }
            }
            _ => bail!("`{key}` is none of frame, joint and reference"),
        }
    }
    for (input, word) in [(Input::Frame, "frame"), (Input::Joint, "joint")] {
        if let (Some(quantity), false) = (needs(input), named.contains_key(word)) {
            let problem = format!("`{}` needs {word}", quantity.name);
            return Err(UserError::usage(problem, "give it by name"));
        }
    }
    if !named.contains_key("reference") {
        given.reference = Reference::Local;
    }
    Ok(given)
}

fn checked(roll: Roll, m: &Mechanism) -> Result<(Roll, RolloutMethod)> {
    let Roll { dt, steps, every, .. } = roll;
    if steps == 0 || every == 0 || !steps.is_multiple_of(every) {
        let problem = format!("steps is {steps} and every {every}");
        return Err(UserError::usage(problem, "steps must be a positive multiple of every"));
    }
    let method = match roll.method.as_str() {
        "semi_implicit_euler" => RolloutMethod::SemiImplicitEuler,
        "runge_kutta4" => RolloutMethod::RungeKutta4,
        other => {
            let problem = format!("method is `{other}`");
            return Err(UserError::usage(
                problem,
                "it must be semi_implicit_euler or runge_kutta4",
            ));
        }
    };
    // What is wrong with it is told before anything is written.
    let (mut q, mut v) = (m.neutral(), vec![0.0; m.nv()]);
    let one = Rollout { method, dt, steps: 1 };
    m.batch()
        .rollout(one, &m.neutral(), &vec![0.0; m.nv()], None, &mut q, &mut v)?;
    Ok((roll, method))
}

/// Under another name first: a file that has its own is whole.
fn written(path: &Path, bytes: &[u8]) -> Result<()> {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Nobody else writes to it, should two compute one chunk.
    let begun = path.with_file_name(format!(".{name}.{}.tmp", std::process::id()));
    let done = File::create(&begun).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()?;
        std::fs::rename(&begun, path)
    });
    if done.is_err() {
        let _ = std::fs::remove_file(&begun);
    }
    done.with_context(|| format!("cannot write `{}`", path.display()))
}
