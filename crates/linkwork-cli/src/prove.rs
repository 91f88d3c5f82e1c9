//! `linkwork prove`: whether an equation of operators holds, by a chain of laws or a robot on which it does not.

use crate::ExitCode;
use crate::style;
use crate::user_error::UserError;
use anyhow::Result;
use clap::Args;
use linkwork::algebra::{Counterexample, Judgement, Notation, Proof, Step, prove};
use linkwork::model::Joint;
use serde::Serialize;
use std::io::Write;

/// Arguments of `linkwork prove`.
#[derive(Args)]
#[command(after_help = HELP)]
pub(crate) struct Arguments {
    /// The equation, such as "(I - H psi K) H phi = H psi".
    #[arg(allow_hyphen_values = true)]
    equation: String,
    /// Print JSON.
    #[arg(long, conflicts_with = "latex")]
    json: bool,
    /// Print the proof as LaTeX.
    #[arg(long)]
    latex: bool,
}

const HELP: &str = "\
Both sides are taken to one normal form by the definitions of the operators and the Riccati equation; the steps on the
way are the proof. Where none is found, both are evaluated as dense matrices on a hundred random robots, trees with
several kinds of joints, every other one with rotors, and one on which they differ is shown. Very long equations, as
third derivatives are, are tried on fewer, so that the answer comes within seconds; the answer says on how many.

`linkwork derive --help` lists operators and vectors. The exit code is 1 where the equation is false.

Examples:
  linkwork prove \"(I - H psi K) H phi = H psi\"
  linkwork prove \"inv(Mass) = (I - H psi K)^* inv(D) (I - H psi K)\"
  linkwork prove \"J inv(Mass) J^* = B^* psi^* H^* inv(D) H psi B\" --latex
  linkwork prove \"Mass = (I + H phi K) D (I + H phi K)^*\" --json";

/// What `--json` prints.
#[derive(Serialize)]
struct Answer {
    left: String,
    right: String,
    verdict: String,
    proved: bool,
    tried: usize,
    failed: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    proof: Option<Written>,
    #[serde(skip_serializing_if = "Option::is_none")]
    counterexample: Option<Robot>,
}

#[derive(Serialize)]
struct Written {
    shown: String,
    rotors: bool,
    left: Vec<Line>,
    right: Vec<Line>,
    lemmas: Vec<Written>,
}

#[derive(Serialize)]
struct Line {
    name: String,
    law: String,
    source: String,
    becomes: String,
}

#[derive(Serialize)]
struct Robot {
    joints: Vec<String>,
    q: Vec<f64>,
    qd: Vec<f64>,
    row: usize,
    column: usize,
    left: f64,
    right: f64,
    difference: f64,
}

/// Runs the command.
pub(crate) fn run(arguments: &Arguments) -> Result<ExitCode> {
    let judgement = prove(&arguments.equation).map_err(|error| {
        let hint = "`linkwork derive --help` lists operators and vectors";
        UserError::usage(format!("the equation, {error}"), hint)
    })?;
    let mut out = anstream::stdout();
    if arguments.json {
        writeln!(out, "{}", serde_json::to_string(&answer(&judgement))?)?;
    } else if arguments.latex {
        writeln!(out, "{}", latex(&judgement))?;
    } else {
        show(&mut out, &judgement)?;
    }
    Ok(match judgement.counterexample {
        Some(_) => ExitCode::FAILURE,
        None => ExitCode::SUCCESS,
    })
}

fn answer(judgement: &Judgement) -> Answer {
    Answer {
        left: judgement.left.to_string(),
        right: judgement.right.to_string(),
        verdict: judgement.verdict(),
        proved: judgement.is_proved(),
        tried: judgement.tried,
        failed: judgement.failed,
        proof: judgement.proof.as_ref().map(written),
        counterexample: judgement.counterexample.as_ref().map(|c| Robot {
            joints: c.mechanism.joints().iter().map(in_words).collect(),
            q: c.q.clone(),
            qd: c.qd.clone(),
            row: c.at.0,
            column: c.at.1,
            left: c.left,
            right: c.right,
            difference: (c.left - c.right).abs(),
        }),
    }
}

fn written(proof: &Proof) -> Written {
    let line = |step: Step| Line {
        name: step.name,
        law: step.law,
        source: step.source,
        becomes: step.becomes,
    };
    let (left, right) = proof.steps(Notation::Symbols);
    Written {
        shown: proof.shown(Notation::Symbols),
        rotors: proof.rotors,
        left: left.into_iter().map(line).collect(),
        right: right.into_iter().map(line).collect(),
        lemmas: proof.lemmas().map(|(_, lemma)| written(lemma)).collect(),
    }
}

fn show(out: &mut impl Write, judgement: &Judgement) -> Result<()> {
    let sides = [&judgement.left, &judgement.right].map(|side| side.written(Notation::Symbols));
    writeln!(out, "{} = {}", sides[0], sides[1])?;
    let good = judgement.counterexample.is_none();
    let verdict = judgement.verdict();
    let colour = if good { style::GOOD } else { style::BAD };
    writeln!(out, "{}", style::paint(colour, &verdict))?;
    if let Some(proof) = &judgement.proof {
        if !proof.rotors {
            writeln!(out, "\nwithout rotors, A = 0:")?;
        }
        derivation(out, proof, "proof")?;
        for (name, lemma) in proof.lemmas() {
            derivation(out, lemma, &format!("lemma, {name}"))?;
        }
    }
    match &judgement.counterexample {
        Some(robot) => counterexample(out, robot),
        None => Ok(()),
    }
}

/// The chain from the left, then that from the right.
fn derivation(out: &mut impl Write, proof: &Proof, heading: &str) -> Result<()> {
    let shown = proof.shown(Notation::Symbols);
    writeln!(out, "\n{}  {shown}", style::paint(style::HEAD, heading))?;
    let (left, right) = proof.steps(Notation::Symbols);
    if left.is_empty() && right.is_empty() {
        return Ok(writeln!(out, "  both sides are the same as they are written")?);
    }
    for (side, steps) in [("left side", left), ("right side", right)] {
        if steps.is_empty() {
            continue;
        }
        writeln!(out, "  {side}")?;
        for step in steps {
            let law = match &step.law[..] {
                "" => step.name,
                law => format!("{law}   ({}; {})", step.name, step.source),
            };
            writeln!(out, "    = {}", step.becomes)?;
            writeln!(out, "        {}", style::paint(style::FAINT, &law))?;
        }
    }
    Ok(())
}

fn counterexample(out: &mut impl Write, robot: &Counterexample) -> Result<()> {
    writeln!(out, "\n{}", style::paint(style::HEAD, "a robot on which it is false"))?;
    for joint in robot.mechanism.joints() {
        writeln!(out, "  {}", in_words(joint))?;
    }
    let numbers = |x: &[f64]| x.iter().map(|x| format!("{x:.3}")).collect::<Vec<_>>().join(", ");
    writeln!(out, "  q = {}", numbers(&robot.q))?;
    writeln!(out, "  q̇ = {}", numbers(&robot.qd))?;
    let (row, column) = robot.at;
    Ok(writeln!(
        out,
        "  at row {row}, column {column} the left side is {:.6}, the right side {:.6}: they differ by {:.3e}",
        robot.left,
        robot.right,
        (robot.left - robot.right).abs()
    )?)
}

/// A joint of a counterexample.
fn in_words(joint: &Joint) -> String {
    let rotor = match &joint.armature[..] {
        [] => String::new(),
        rotor => format!(
            ", rotor {}",
            rotor.iter().map(|x| format!("{x:.3}")).collect::<Vec<_>>().join(" ")
        ),
    };
    let kind = format!("{:?}", joint.kind);
    let kind = kind.split([' ', '{']).next().unwrap_or_default().to_lowercase();
    format!("{} -> {}: {kind}{rotor}", joint.parent, joint.child)
}

fn latex(judgement: &Judgement) -> String {
    let of = |proof: &Proof| {
        let shown = proof.shown(Notation::Latex).replacen(" = ", " &= ", 1);
        let (left, right) = proof.steps(Notation::Latex);
        let mut lines = vec![shown];
        for (side, steps) in [("left", left), ("right", right)] {
            for (i, step) in steps.iter().enumerate() {
                let tag = match i {
                    0 => format!(r"\text{{{side}: }}"),
                    _ => String::new(),
                };
                let law = match &step.law[..] {
                    "" => format!(r"\text{{{}}}", step.name),
                    law => law.to_owned(),
                };
                lines.push(format!(r"{tag}&= {} && {law}", step.becomes));
            }
        }
        format!("\\begin{{align*}}\n  {}\n\\end{{align*}}", lines.join(" \\\\\n  "))
    };
    match &judgement.proof {
        Some(proof) => {
            let all = core::iter::once(of(proof)).chain(proof.lemmas().map(|(_, lemma)| of(lemma)));
            all.collect::<Vec<_>>().join("\n")
        }
        None => {
            let sides = [&judgement.left, &judgement.right].map(|side| side.written(Notation::Latex));
            let relation = if judgement.failed > 0 { r"\neq" } else { "=" };
            let (left, right, verdict) = (&sides[0], &sides[1], judgement.verdict());
            format!("\\begin{{align*}}\n  {left} &{relation} {right} && \\text{{{verdict}}}\n\\end{{align*}}")
        }
    }
}
