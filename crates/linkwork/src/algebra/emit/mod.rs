//! Expressions as source code: the algorithm is run once on numbers that write down what is done to them.

mod bare;
mod origin;
mod trace;
mod write;

use super::{Evaluator, Expression, Look, Notation};
use crate::model::FrameId;
use crate::{Error, Mechanism, Reference, Result};
use origin::{Origin, Origins};
use trace::Traced;
use write::{Argument, Function};

/// What source code is written in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Language {
    /// A function in Rust.
    Rust,
    /// The same without the standard library, for `no_std`: roots and sines are its own.
    BareRust,
    /// A function in C99.
    C,
    /// A function in Python with NumPy, of one state or of many in the rows of arrays: to read and to teach by.
    Python,
}

/// A line of source code, which knows the steps and links that it computes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenLine {
    /// What is written.
    pub text: String,
    /// The steps, and the places of their links in link space.
    pub(crate) made: Vec<Origin>,
}

/// An algorithm that was run once.
struct Traces {
    tape: trace::Tape,
    arguments: Vec<Argument>,
    results: Vec<Traced>,
    about: String,
    origins: Origins,
}

impl Traces {
    fn function(&self) -> Function<'_> {
        Function {
            tape: &self.tape,
            arguments: &self.arguments,
            results: &self.results,
            about: &self.about,
        }
    }
}

impl Expression {
    /// The fused algorithm as a function specialised to a mechanism: straight-line code without loops, branches, allocation
    /// or dependencies, in double precision. It takes q, then the vectors of [`Algorithm::inputs`](super::Algorithm::inputs),
    /// and an output. `frames` and `bound` are those of [`Evaluator::new`].
    ///
    /// Inverses that are solved as dense matrices, and couplings that are functions of users, are refused.
    ///
    /// ```
    /// use linkwork::algebra::{Expression, Language};
    /// let arm = linkwork::model::examples::double_pendulum();
    /// let expression: Expression = "inv(Mass) (T - C)".parse()?;
    /// let code = expression.source_code(&arm, &[], &[], Language::Rust)?;
    /// assert!(code.contains("pub fn evaluate(q: &[f64; 2], qd: &[f64; 2], tau: &[f64; 2], out: &mut [f64; 2])"));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    // Compiled by those who call it: numbers that write down what is done need sweeps of their own.
    #[inline]
    pub fn source_code(
        &self,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        bound: &[&str],
        language: Language,
    ) -> Result<String> {
        let traces = self.traced(mechanism, frames, bound, false)?;
        Ok(write::write(&traces.function(), language))
    }

    /// The same line by line, for [`Algorithm::followed`](super::Algorithm::followed).
    #[inline]
    pub fn written_lines(
        &self,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        bound: &[&str],
        language: Language,
    ) -> Result<Vec<WrittenLine>> {
        let traces = self.traced(mechanism, frames, bound, true)?;
        let lines = write::write_lines(&traces.function(), language);
        let line = |(text, numbers, result): write::Computing| {
            let mut made: Vec<Origin> = Vec::new();
            let numbers = numbers.iter().flat_map(|&id| &traces.origins.numbers[id as usize]);
            for origin in numbers.chain(result.and_then(|i| traces.origins.results.get(i))) {
                if !made.contains(origin) {
                    made.push(*origin);
                }
            }
            WrittenLine { text, made }
        };
        Ok(lines.into_iter().map(line).collect())
    }

    /// Runs the algorithm on numbers that write down what is done to them; `follow`: and what each was made for.
    #[inline]
    fn traced(
        &self,
        mechanism: &Mechanism,
        frames: &[(FrameId, Reference)],
        bound: &[&str],
        follow: bool,
    ) -> Result<Traces> {
        let refused = |needs: &'static str| Error::Unsupported {
            mechanism: mechanism.name().to_owned(),
            what: "source code for this expression",
            needs,
        };
        if mechanism.compiled.reduction.as_ref().is_some_and(|r| r.has_functions) {
            return Err(refused("couplings that are polynomials"));
        }
        trace::start();
        let mut evaluator = Evaluator::<Traced>::new(self, mechanism, frames, bound)?;
        if !evaluator.algorithm().solves().is_empty() {
            // The pivots of one configuration are not those of the next.
            return Err(refused(
                "inverses in closed form, and one of these is solved as a dense matrix; emit what it is applied to, and solve outside",
            ));
        }
        let sample = |argument: usize, values: &[f64]| -> Vec<Traced> {
            let each = values.iter().enumerate();
            each.map(|(i, &x)| Traced::input(argument, i, x)).collect()
        };
        let mut arguments = vec![Argument {
            name: "q".to_owned(),
            length: mechanism.nq(),
            about: "the configuration".to_owned(),
        }];
        let q = sample(0, &mechanism.neutral());
        let mut vectors: Vec<(String, Vec<Traced>)> = Vec::new();
        // The velocity first, then as they appear in the expression.
        let mut inputs = evaluator.algorithm().inputs();
        let appears = |name: &str| self.vectors().iter().position(|(n, _)| n == name);
        inputs.sort_by_key(|(name, _)| (name != "qd", appears(name)));
        for (name, space) in inputs {
            let length = evaluator.size(space);
            let place = arguments.len();
            arguments.push(Argument {
                name: argument_name(&name, &arguments),
                length,
                about: format!("{name}, {space}"),
            });
            // The samples matter nowhere but in checks that they are finite.
            vectors.push((name, sample(place, &vec![0.5; length])));
        }
        let still = vec![Traced::default(); mechanism.nv()];
        let mut out = vec![Traced::default(); evaluator.len()];
        let mut workspace = mechanism.workspace_of::<Traced>();
        let mut posed = workspace.at(&q)?;
        let mut moving = posed.moving(&still)?;
        let given: Vec<(&str, &[Traced])> = vectors.iter().map(|(n, x)| (n.as_str(), &x[..])).collect();
        moving.evaluate(&mut evaluator, &given, &mut out)?;
        let algorithm = evaluator.algorithm();
        let about = format!(
            "{} of {}: {}.\n\nWritten by Linkwork.\n\n```text\n{}```",
            self.written(Notation::Symbols),
            mechanism.name(),
            algorithm.rewritten().written(Notation::Symbols),
            algorithm.explain(Look::Plain)
        );
        let tape = trace::taken();
        let origins = match follow {
            true => origin::origins(
                &tape,
                &evaluator,
                &mechanism.compiled,
                moving.access(false).stages,
                &out,
            ),
            false => Origins::default(),
        };
        Ok(Traces {
            tape,
            arguments,
            results: out,
            about,
            origins,
        })
    }
}

/// A name that all languages take without complaint.
fn argument_name(name: &str, others: &[Argument]) -> String {
    let plain: String = match name {
        "T" => "tau".to_owned(),
        other => other.to_lowercase(),
    };
    let taken = |name: &str| {
        let reserved = ["q", "out", "s", "c", "madd", "evaluate", "i", "angle", "angles"];
        let temporary = name.strip_prefix('x').is_some_and(|rest| rest.parse::<u64>().is_ok());
        let keyword = KEYWORDS.contains(&name);
        temporary || keyword || reserved.contains(&name) || others.iter().any(|a| a.name == name)
    };
    let mut unique = plain;
    while taken(&unique) {
        unique += "_in";
    }
    unique
}

/// Words that C, Rust or Python keep for themselves and that a vector might be called.
const KEYWORDS: [&str; 84] = [
    "and", "assert", "class", "def", "del", "elif", "except", "finally", "from", "global", "import", "is", "lambda",
    "nonlocal", "not", "or", "pass", "raise", "try", "with", "yield", "np", "results", "shape", "as", "async", "auto",
    "await", "break", "case", "char", "const", "continue", "crate", "default", "do", "double", "dyn", "else", "enum",
    "extern", "false", "float", "fn", "for", "gen", "goto", "if", "impl", "in", "inline", "int", "let", "long", "loop",
    "match", "mod", "move", "mut", "pub", "ref", "register", "restrict", "return", "self", "short", "signed", "sizeof",
    "static", "struct", "super", "switch", "trait", "true", "type", "typedef", "union", "unsafe", "unsigned", "use",
    "void", "volatile", "where", "while",
];
