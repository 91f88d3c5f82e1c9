//! An algorithm in the words of filtering: links are times, from the tips to the base; the torques are measured, the forces
//! between links are the state; and the mass matrix is the covariance of the torques.

use super::algorithm::Algorithm;
use super::graph::{Core, Id, Local, Node};
use super::schedule::Sweep;
use super::steps::Teller;
use core::fmt::Write;

/// What stands for what.
const WORDS: [(&str, &str); 6] = [
    ("link k", "time k; the tips come first, the base last"),
    ("φ(k,c)", "the transition from one time to the next"),
    ("M", "the covariance of the noise that drives the state"),
    ("H", "the measurement: of the state, the part along the joint"),
    ("A", "the covariance of the measurement's own noise: rotors"),
    ("𝓜", "the covariance of all measurements, 𝓜 = HφMφ*H* + A"),
];

impl Algorithm {
    /// The algorithm as a filter and a smoother would be told.
    ///
    /// ```
    /// use linkwork::algebra::Expression;
    /// let told = "inv(Mass) T".parse::<Expression>()?.compile(false, &[]).in_words_of_filtering();
    /// assert!(told.contains("Kalman filter") && told.contains("innovations") && told.contains("smoother"));
    /// # Ok::<(), linkwork::Error>(())
    /// ```
    pub fn in_words_of_filtering(&self) -> String {
        let teller = Teller::new(&self.graph, &self.schedule, &self.expression.names);
        let mut out = "in the words of filtering\n".to_owned();
        let rotors = self.rotors;
        for (symbol, words) in WORDS.iter().filter(|w| rotors || w.0 != "A") {
            let words = if rotors {
                (*words).to_owned()
            } else {
                words.replace(" + A", "")
            };
            writeln!(out, "  {symbol:<8} {words}").unwrap_or(());
        }
        for (i, sweep) in self.schedule.sweeps.iter().enumerate() {
            let told = told(&teller, sweep);
            if told.is_empty() {
                continue;
            }
            let way = if sweep.inward {
                "forward in time"
            } else {
                "backward in time"
            };
            writeln!(out, "\nsweep {}, {way}", i + 1).unwrap_or(());
            for line in told {
                writeln!(out, "  {line}").unwrap_or(());
            }
        }
        out
    }
}

fn told(teller: &Teller<'_>, sweep: &Sweep) -> Vec<String> {
    let mut lines = Vec::new();
    if sweep.riccati {
        lines.push("the Riccati equation of the Kalman filter:".to_owned());
        lines.push("  P   the covariance of the prediction's error".to_owned());
        lines.push("  D   the covariance of the innovations: what a torque tells beyond its prediction".to_owned());
        lines.push("  G   the Kalman gain, and τ̄ = I − GH what an update leaves of the prediction's error".to_owned());
        lines.push("  P⁺  the covariance after the update".to_owned());
    }
    if sweep.upsilon {
        lines.push("Υ  the information that all measurements have of the state: the smoother's Gramian".to_owned());
    }
    for &id in &sweep.nodes {
        lines.extend(of_node(teller, id));
    }
    lines
}

fn of_node(teller: &Teller<'_>, id: Id) -> Option<String> {
    let name = teller.names[id].clone()?;
    let joint = || {
        let at = teller.graph.nodes.iter().position(|n| *n == Node::Joint(id))?;
        teller.names[at].clone()
    };
    Some(match &teller.graph.nodes[id] {
        Node::Core(Core::InPsi, t, _) => {
            let eps = joint().unwrap_or_else(|| "ε".to_owned());
            let of = t.map_or_else(|| "measurements that are zero".to_owned(), |t| teller.whole(t));
            format!(
                "{name}, {eps}  a Kalman filter: {name} predicts the state from {of} so far, {eps} are the innovations, white"
            )
        }
        Node::Core(Core::InPhi, Some(t), _) => {
            format!(
                "{name}  the innovations model: the state that {} drives through the gain",
                teller.whole(*t)
            )
        }
        Node::Core(Core::InPhi, None, _) => format!("{name}  the state that its noise drives, unmeasured"),
        Node::Core(Core::OutPsi, ..) => {
            format!("{name}  a smoother: the filter's adjoint takes what later measurements tell back to earlier times")
        }
        Node::Core(Core::OutPhi, ..) => format!("{name}  the adjoint of the model, without updates"),
        Node::Local(Local::DInv, x) => format!("{name}  {} weighed by the innovations' covariance", teller.whole(*x)),
        Node::Local(Local::RootInv | Local::RootInvStar, x) => {
            format!("{name}  {} whitened: of unit covariance", teller.whole(*x))
        }
        Node::PRate(_) => format!("{name}  how the covariance of the prediction changes"),
        _ => return None,
    })
}
