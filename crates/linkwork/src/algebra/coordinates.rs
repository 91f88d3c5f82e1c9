//! The steps at a link in coordinates: a motion is [ω; v], a force [N; F], each three numbers in the link's axes.
//!
//! M is J, m and the mass centre p; P has the blocks A, B, C; a joint has the columns h = [h_ω; h_v] of H* and gains g.

use super::algorithm::Algorithm;
use super::explain::Told;
use super::graph::{Core, Id, Local, Node};
use super::levels::joint_name;
use super::schedule::Sweep;
use super::space::Space;
use super::steps::Teller;

/// Half of a link vector.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Half {
    /// ω or N.
    First,
    /// v or F.
    Second,
}

use Half::{First, Second};

/// Every sweep in coordinates.
pub(super) fn told(algorithm: &Algorithm) -> Vec<Told> {
    let teller = Teller::new(&algorithm.graph, &algorithm.schedule, &algorithm.expression.names);
    algorithm.in_order(&teller, sweep_of)
}

/// What half of a vector is called.
fn suffix(space: Space, half: Half) -> &'static str {
    match (space, half) {
        (Space::Force, First) => "N",
        (Space::Force, Second) => "F",
        (_, First) => "ω",
        (_, Second) => "v",
    }
}

fn in_brackets(text: &str) -> String {
    if text.contains(" + ") || text.contains(" − ") || text.starts_with('−') {
        format!("({text})")
    } else {
        text.to_owned()
    }
}

/// One half of a link vector at link k.
fn half(teller: &Teller<'_>, id: Id, which: Half) -> String {
    let (graph, space) = (teller.graph, teller.graph.spaces[id]);
    if let Some(name) = teller.name(id) {
        return format!("{name}.{}(k)", suffix(space, which));
    }
    let of = |id: Id, which: Half| in_brackets(&half(teller, id, which));
    let two = |id: Id, [a, b]: [&str; 2]| format!("{a} {} + {b} {}", of(id, First), of(id, Second));
    match &graph.nodes[id] {
        Node::Local(Local::HStar, t) => {
            let h = if which == First { "h_ω" } else { "h_v" };
            format!("{h} {}", in_brackets(&joint(teller, *t)))
        }
        Node::Local(Local::G, t) => {
            let g = if which == First { "g_N" } else { "g_F" };
            format!("{g} {}", in_brackets(&joint(teller, *t)))
        }
        Node::Local(Local::M, x) => match which {
            First => format!("J {} + m p × {}", of(*x, First), of(*x, Second)),
            Second => format!("m ({} + {} × p)", half(teller, *x, Second), of(*x, First)),
        },
        Node::Local(Local::P, x) => two(*x, if which == First { ["A", "B"] } else { ["Bᵀ", "C"] }),
        Node::Local(Local::PPlus, x) => two(
            *x,
            if which == First {
                ["A⁺", "B⁺"]
            } else {
                ["B⁺ᵀ", "C⁺"]
            },
        ),
        Node::Local(Local::Upsilon, x) => two(*x, if which == First { ["U", "W"] } else { ["Wᵀ", "Y"] }),
        Node::Local(Local::MInv, x) => two(
            *x,
            if which == First {
                ["M⁻¹₁₁", "M⁻¹₁₂"]
            } else {
                ["M⁻¹₂₁", "M⁻¹₂₂"]
            },
        ),
        Node::Local(Local::PInv, x) => two(
            *x,
            if which == First {
                ["P⁻¹₁₁", "P⁻¹₁₂"]
            } else {
                ["P⁻¹₂₁", "P⁻¹₂₂"]
            },
        ),
        Node::Local(Local::TauBar, x) => {
            let g = if which == First { "g_N" } else { "g_F" };
            format!("{} − {g} ({})", of(*x, which), projected(teller, *x))
        }
        Node::Local(Local::TauBarStar, x) => {
            let h = if which == First { "h_ω" } else { "h_v" };
            format!("{} − {h} ({})", of(*x, which), felt(teller, *x))
        }
        Node::Combine(terms, _) => sum(terms, |x| half(teller, x, which)),
        Node::Times(number, x) => format!("{} {}", teller.text(*number), of(*x, which)),
        Node::PRateTimes(_, x) => two(
            *x,
            if which == First {
                ["Ȧ", "Ḃ"]
            } else {
                ["Ḃᵀ", "Ċ"]
            },
        ),
        Node::Cross(force, v, x) => {
            let ((w, u), (a, b)) = ((of(*v, First), of(*v, Second)), (of(*x, First), of(*x, Second)));
            match (force, which) {
                (false, First) => format!("{w} × {a}"),
                (false, Second) => format!("{w} × {b} + {u} × {a}"),
                (true, First) => format!("{w} × {a} + {u} × {b}"),
                (true, Second) => format!("{w} × {b}"),
            }
        }
        _ => teller.text(id),
    }
}

/// Σ of multiples.
fn sum(terms: &[(u64, Id)], of: impl Fn(Id) -> String) -> String {
    let mut text = String::new();
    for (i, &(scale, x)) in terms.iter().enumerate() {
        let scale = f64::from_bits(scale);
        text += match (i, scale < 0.0) {
            (0, true) => "−",
            (0, false) => "",
            (_, true) => " − ",
            (_, false) => " + ",
        };
        if scale.abs() != 1.0 {
            text += &format!("{} ", scale.abs());
        }
        let inner = of(x);
        text += &if scale == 1.0 { inner } else { in_brackets(&inner) };
    }
    if text.is_empty() { "0".to_owned() } else { text }
}

/// H f.
fn projected(teller: &Teller<'_>, f: Id) -> String {
    let of = |which| in_brackets(&half(teller, f, which));
    format!("h_ω · {} + h_v · {}", of(First), of(Second))
}

/// G*v.
fn felt(teller: &Teller<'_>, v: Id) -> String {
    let of = |which| in_brackets(&half(teller, v, which));
    format!("g_N · {} + g_F · {}", of(First), of(Second))
}

/// The numbers of the joint of link k.
fn joint(teller: &Teller<'_>, id: Id) -> String {
    if teller.name(id).is_some() {
        return teller.text(id);
    }
    let of = |x: Id| in_brackets(&joint(teller, x));
    match &teller.graph.nodes[id] {
        Node::Local(Local::H, f) => projected(teller, *f),
        Node::Local(Local::GStar, v) => felt(teller, *v),
        Node::Local(Local::DInv, x) => format!("{} / D", of(*x)),
        Node::Local(Local::D, x) => format!("D {}", of(*x)),
        Node::Local(Local::Root | Local::RootStar, x) => format!("√D {}", of(*x)),
        Node::Local(Local::RootInv | Local::RootInvStar, x) => format!("{} / √D", of(*x)),
        Node::Local(Local::Rotors, x) => format!("armature {}", of(*x)),
        Node::Combine(terms, _) => sum(terms, |x| joint(teller, x)),
        Node::Times(number, x) => format!("{} {}", teller.text(*number), of(*x)),
        _ => teller.text(id),
    }
}

pub(super) fn sweep_of(teller: &Teller<'_>, number: usize, sweep: &Sweep, rotors: bool) -> Told {
    let way = if sweep.inward { "inward" } else { "outward" };
    let mut lines: Vec<(String, String)> = Vec::new();
    let mut line = |left: &str, right: String| lines.push((left.to_owned(), right));
    if sweep.riccati {
        riccati(&mut line, rotors);
    }
    if sweep.upsilon {
        line(
            "Υ(k)",
            "h hᵀ / D + what τ̄ leaves of the parent's, turned by Rᵀ and moved by l".to_owned(),
        );
    }
    for &id in &sweep.nodes {
        let Some(name) = teller.names[id].clone() else { continue };
        let space = teller.graph.spaces[id];
        let at = |which: Half| format!("{name}.{}(k)", suffix(space, which));
        match &teller.graph.nodes[id] {
            Node::Core(core, t, x) => recursion(teller, id, *core, (*t, *x), &name, &mut line),
            Node::Joint(_) | Node::Link(_) => {}
            Node::Shift(true, x) => {
                let x = teller.whole(*x);
                line(&at(First), format!("Σ R {x}.N(c) + l × R {x}.F(c)"));
                line(&at(Second), format!("Σ R {x}.F(c)"));
            }
            Node::Shift(false, x) => {
                let x = teller.whole(*x);
                line(&at(First), format!("Rᵀ {x}.ω(p)"));
                line(&at(Second), format!("Rᵀ ({x}.v(p) + {x}.ω(p) × l)"));
            }
            Node::Coriolis(v, qd) => {
                let (w, u) = (half(teller, *v, First), half(teller, *v, Second));
                let qd = joint(teller, *qd);
                line(&at(First), format!("{w} × h_ω {qd}"));
                line(&at(Second), format!("{w} × h_v {qd} + {u} × h_ω {qd}"));
            }
            Node::Gyroscopic(v) => {
                let (w, u) = (half(teller, *v, First), half(teller, *v, Second));
                line("n", format!("J {w} + m p × {u}"));
                line("j", format!("m ({u} + {w} × p)"));
                line(&at(First), format!("{w} × n + {u} × j"));
                line(&at(Second), format!("{w} × j"));
            }
            Node::BaseAcceleration => {
                line(&at(First), "0".to_owned());
                line(&at(Second), "−Rᵀ g where the parent is the world, else 0".to_owned());
            }
            Node::PRate(w) => {
                let delta = joint(teller, *w);
                line("δ", format!("[h_ω {0}; h_v {0}]", in_brackets(&delta)));
                line(
                    "[Ȧ Ḃ; Ḃᵀ Ċ]",
                    "Σ of what the children's joints leave, turned by R and moved by l".to_owned(),
                );
            }
            Node::RateAdjoint(_) => line(
                &format!("{name}(k)"),
                "−2 h · Σ z ×* p⁺, over columns of Z and P⁺".to_owned(),
            ),
            _ if matches!(space, Space::Motion | Space::Force) => {
                let mut unnamed = Unnamed { teller, id };
                line(&at(First), unnamed.half(First));
                line(&at(Second), unnamed.half(Second));
            }
            _ if space == Space::Joint => {
                let unnamed = Unnamed { teller, id };
                line(&format!("{name}(k)"), unnamed.joint());
            }
            _ => line(&name, teller.written_out(id)),
        }
    }
    Told {
        heading: format!("sweep {number}, {way}"),
        lines,
    }
}

/// A node whose own name is not used: what it is made of.
struct Unnamed<'a, 'b> {
    teller: &'a Teller<'b>,
    id: Id,
}

impl Unnamed<'_, '_> {
    fn without(&self) -> Teller<'_> {
        let mut names = self.teller.names.clone();
        names[self.id] = None;
        Teller {
            graph: self.teller.graph,
            names,
            at_links: true,
        }
    }

    fn half(&mut self, which: Half) -> String {
        half(&self.without(), self.id, which)
    }

    fn joint(&self) -> String {
        joint(&self.without(), self.id)
    }
}

/// P, D, g and what the joint leaves.
fn riccati(line: &mut impl FnMut(&str, String), rotors: bool) {
    let across = |x: &str| format!("Σ over the children: R {x}⁺ Rᵀ");
    line("C(k)", format!("m I + {}", across("C")));
    line("B(k)", "m p̃ + Σ (R B⁺ Rᵀ + l̃ R C⁺ Rᵀ)".to_owned());
    line(
        "A(k)",
        "J + Σ (R A⁺ Rᵀ − R B⁺ Rᵀ l̃ + l̃ (R B⁺ Rᵀ)ᵀ − l̃ R C⁺ Rᵀ l̃)".to_owned(),
    );
    line("u_N(k)", "A h_ω + B h_v".to_owned());
    line("u_F(k)", "Bᵀ h_ω + C h_v".to_owned());
    let armature = if rotors { " + armature" } else { "" };
    line("D(k)", format!("h_ω · u_N + h_v · u_F{armature}"));
    line("g_N(k), g_F(k)", "u_N / D, u_F / D".to_owned());
    line("A⁺, B⁺, C⁺", "A − g_N u_Nᵀ, B − g_N u_Fᵀ, C − g_F u_Fᵀ".to_owned());
}

fn recursion(
    teller: &Teller<'_>,
    id: Id,
    core: Core,
    (t, x): (Option<Id>, Option<Id>),
    name: &str,
    line: &mut impl FnMut(&str, String),
) {
    let (result, t) = (joint_name(teller, id), t.map(|t| joint(teller, t)));
    let own = |which: Half, sign: &str| {
        x.map(|x| format!("{sign}{}", half(teller, x, which)))
            .unwrap_or_default()
    };
    if core.inward() {
        let into = if core == Core::InPsi || t.is_some() {
            format!("{name}⁺")
        } else {
            name.to_owned()
        };
        let [first, second] =
            [First, Second].map(|which| x.map(|x| half(teller, x, which) + " + ").unwrap_or_default());
        line(
            &format!("{name}.N(k)"),
            format!("{first}Σ (R {into}.N(c) + l × R {into}.F(c))"),
        );
        line(&format!("{name}.F(k)"), format!("{second}Σ R {into}.F(c)"));
        let projected = format!("h_ω · {name}.N(k) + h_v · {name}.F(k)");
        let e = result.unwrap_or_else(|| "ε".to_owned());
        let through = match (core, &t) {
            (Core::InPsi, Some(t)) => {
                line(&format!("{e}(k)"), format!("{t} − ({projected})"));
                Some(format!("{e}(k)"))
            }
            (Core::InPsi, None) => {
                line(&format!("{e}(k)"), format!("−({projected})"));
                Some(format!("{e}(k)"))
            }
            (_, Some(t)) => {
                if joint_name(teller, id).is_some() {
                    line(&format!("{e}(k)"), format!("{t} + {projected}"));
                }
                Some(in_brackets(t))
            }
            (_, None) => {
                if joint_name(teller, id).is_some() {
                    line(&format!("{e}(k)"), projected);
                }
                None
            }
        };
        if let Some(through) = through {
            line(&format!("{name}⁺.N(k)"), format!("{name}.N(k) + g_N {through}"));
            line(&format!("{name}⁺.F(k)"), format!("{name}.F(k) + g_F {through}"));
        }
        return;
    }
    let carried = [format!("Rᵀ {name}.ω(p)"), format!("Rᵀ ({name}.v(p) + {name}.ω(p) × l)")];
    let psi = core == Core::OutPsi;
    if !psi && result.is_none() {
        let [w, v] = t
            .map(|t| {
                [
                    format!(" + h_ω {}", in_brackets(&t)),
                    format!(" + h_v {}", in_brackets(&t)),
                ]
            })
            .unwrap_or_default();
        line(
            &format!("{name}.ω(k)"),
            format!("{}{w}{}", carried[0], own(First, " + ")),
        );
        line(
            &format!("{name}.v(k)"),
            format!("{}{v}{}", carried[1], own(Second, " + ")),
        );
        return;
    }
    line(&format!("{name}⁺.ω(k)"), carried[0].clone());
    line(&format!("{name}⁺.v(k)"), carried[1].clone());
    let e = result.unwrap_or_else(|| "ν".to_owned());
    let felt = format!("(g_N · {name}⁺.ω(k) + g_F · {name}⁺.v(k))");
    let sign = if psi { "−" } else { "+" };
    let first = t.as_ref().map(|t| format!("{t} ")).unwrap_or_default();
    line(&format!("{e}(k)"), format!("{first}{sign} {felt}"));
    let along = if psi {
        Some(format!("{e}(k)"))
    } else {
        t.map(|t| in_brackets(&t))
    };
    let [w, v] = along
        .map(|t| [format!(" + h_ω {t}"), format!(" + h_v {t}")])
        .unwrap_or_default();
    line(&format!("{name}.ω(k)"), format!("{name}⁺.ω(k){w}{}", own(First, " + ")));
    line(
        &format!("{name}.v(k)"),
        format!("{name}⁺.v(k){v}{}", own(Second, " + ")),
    );
}
