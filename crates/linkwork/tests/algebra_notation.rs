//! What is printed can be pasted back, and what people write is read.

mod support;

use linkwork::Reference;
use linkwork::algebra::{Dense, Expression, Notation, Space};
use linkwork::closed::{ClosedMechanism, Constraint};
use support::expressions::{self, RANGES};
use support::fully_driven;
use support::random::Random;

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// Expressions that random ones do not reach.
const OTHERS: [&str; 33] = [
    "I_q",
    "2 I_V - 3 I_V",
    "inv(Mass + J^* diag(w:tip) J) T",
    "inv(I + J inv(Mass) J^*) f",
    "pinv(J)^* T",
    "J[left] qd - J[right] qd",
    "(J[left] - J[right])^* k:frame",
    "B[left hand] u:frame",
    "S[left] f",
    "Jc^* k + H phi Bc k",
    "(Jc_dot qd)^* k",
    "inv(diag(d:joint)) T",
    "u:joint + v",
    "3 u:tip",
    "u:motion^* w",
    "Phi b + Psi b",
    "sqrt(D) D sqrt(inv(D)) T",
    "inv(M) b + inv(P) b",
    "-inv(Mass) J^* f",
    "p = T^* qd; qdd = inv(Mass) (T - C)",
    "a0 + 1e-7 V",
    "H P H^* G^* V",
    "d(Jc, w) T",
    "d(Jc^*, w) k",
    "dot(Jc)^* k",
    "grad(k^* Jc T)",
    "logdet(Mass)",
    "grad(logdet(Mass))",
    "0.5 d(logdet(Mass), w)",
    "inv(Mass + J^* sym(W) J) T",
    "inv(Mass + 2 Jc^* G Jc) Jc^*",
    "sym(W:joint) T",
    "J inv(Mass + J^* inv(sym(W:tip)) J) J^* sym(W) f",
];

#[test]
fn what_is_printed_is_read_back() {
    let mut texts: Vec<String> = OTHERS.iter().map(|t| (*t).to_owned()).collect();
    for seed in 0..2000 {
        let mut random = Random::new(seed);
        let vector = random.chance(0.6);
        let range = RANGES[random.below(4)];
        let factors = 1 + random.below(12);
        texts.push(expressions::random(&mut random, range, factors, vector).text());
    }
    for text in &texts {
        let expression = parse(text);
        if expression.written(Notation::Ascii) == "0" {
            continue;
        }
        for notation in [Notation::Ascii, Notation::Symbols] {
            let printed = expression.written(notation);
            let again = printed.parse::<Expression>();
            let again = again.unwrap_or_else(|e| panic!("{text}\n{printed}\n{e}"));
            // A number before a parenthesis may go into it.
            if again != expression {
                same_value(&expression, &again);
            }
        }
    }
    // And what the compiler makes of them.
    for text in OTHERS
        .iter()
        .map(|t| (*t).to_owned())
        .chain(texts.into_iter().skip(100).take(150))
    {
        let rewritten = parse(&text).compile(true, &[]).rewritten();
        for notation in [Notation::Ascii, Notation::Symbols] {
            let printed = rewritten.written(notation);
            if printed == "0" {
                continue;
            }
            let again = printed.parse::<Expression>();
            let again = again.unwrap_or_else(|e| panic!("{text}\n{printed}\n{e}"));
            assert_eq!(parse(&again.written(notation)), again, "{text}\n{printed}");
        }
    }
}

/// Two expressions have one value on a robot.
fn same_value(a: &Expression, b: &Expression) {
    let arm = linkwork::model::examples::puma560();
    let tie = Constraint::hinge("tie", "link6_dh", "world", [0.3, -0.5, 0.8]);
    let closed = ClosedMechanism::new(fully_driven(&arm), vec![tie]).unwrap();
    let arm = closed.mechanism();
    let frames = [(arm.frame("link6_dh").unwrap(), Reference::Local)];
    let mut random = Random::new(5);
    let (q, qd) = (random.numbers(6, 1.0), random.numbers(6, 1.0));
    let dense = Dense::closed(&closed, &q, &qd, &frames).unwrap();
    let known = ["qd", "V", "a", "a0", "b", "C", "g"];
    let bound: Vec<(String, Vec<f64>)> = a
        .vectors()
        .into_iter()
        .filter(|(name, _)| !known.contains(&&name[..]) && !name.contains([' ', '(']))
        .map(|(name, space)| {
            let size = |space: Space| match space {
                Space::Motion | Space::Force => 36,
                Space::Constraint => closed.rows(),
                _ => 6,
            };
            let n = space.side().map_or_else(|| size(space), |side| size(side).pow(2));
            (name, random.numbers(n, 1.0))
        })
        .collect();
    let given: Vec<(&str, &[f64])> = bound.iter().map(|(name, x)| (&name[..], &x[..])).collect();
    let [x, y] = [a, b].map(|e| dense.evaluate(e, &given).unwrap().data);
    let size = x.iter().fold(1e-300, |m: f64, x| m.max(x.abs()));
    assert_eq!(x.len(), y.len());
    assert!(x.iter().zip(&y).all(|(x, y)| (x - y).abs() <= 1e-9 * size), "{a}\n{b}");
}

#[test]
fn stars_that_touch_are_adjoints_and_between_spaces_products() {
    for (text, same) in [
        ("J* f", "J^* f"),
        ("B*φ*H* q̇", "B^* phi^* H^* qd"),
        ("HφMφ*H*", "H phi M phi^* H^*"),
        ("(I − HψK)*D⁻¹(I − HψK) T", "(I - H psi K)^* inv(D) (I - H psi K) T"),
        ("H * phi * M * phi^* * H'", "H phi M phi^* H^*"),
        ("2*T", "2 T"),
        ("H*phi*b", "H phi b"),
        ("Mass*qdd + C", "Mass qdd + C"),
        ("D^½ D^½* T", "sqrt(D) sqrt(D)^* T"),
        ("D^-½ T", "inv(sqrt(D)) T"),
        ("φ̃ b", "(phi - I) b"),
        ("Ψ b", "psi E_phi b"),
        ("Φ b", "phi~ b"),
        ("a₀", "a0"),
        ("Λ f", "inv(J inv(Mass) J^*) f"),
        ("-T + C", "C - T"),
        ("D^(1/2) T", "sqrt(D) T"),
        ("D^{-1/2} T", "inv(sqrt(D)) T"),
        ("D^(-½) T", "inv(sqrt(D)) T"),
        ("Mass^{-1} T", "inv(Mass) T"),
        ("J^{T} f", "J^* f"),
        ("J^(*) f", "J^* f"),
        ("J^+ f", "pinv(J) f"),
        ("J^† f", "pinv(J) f"),
        ("J⁺ f", "pinv(J) f"),
        ("J⁺* T", "pinv(J)^* T"),
        ("P⁺ V", "P_plus V"),
        ("𝒥 θ̇", "J qd"),
        ("Mass × θ̈", "Mass qdd"),
        ("- -T", "T"),
        ("T --C", "T + C"),
        ("Mass * -T", "-Mass T"),
        ("D^-1 / 2 T", "0.5 inv(D) T"),
        ("inv(𝓜 + Jᵀ G J) T", "inv(Mass + J^* sym(G) J) T"),
        ("J[a]^* G J[a] T", "J[a]^* sym(G:frame) J[a] T"),
        ("log_det(𝓜⁻¹)", "-logdet(Mass)"),
        ("Jc_dot T", "dot(Jc) T"),
    ] {
        assert_eq!(parse(text), parse(same), "{text}");
    }
    let problem = "(I - H psi K)*D*(I + H phi K) T"
        .parse::<Expression>()
        .unwrap_err()
        .to_string();
    assert!(problem.contains("adjoint or a product"), "{problem}");
}

#[test]
fn unknown_words_get_suggestions() {
    for (text, suggestion) in [
        ("Mas T", "Mass"),
        ("Upsilonn b", "Upsilon"),
        ("sqr(D) T", "sqrt"),
        ("mass_matrix T", "Mass"),
        ("inverse(Mass) T", "write inv(…)"),
        ("transpose(J) f", "^*"),
        ("I_tip", "I_t"),
        ("J^* 2 G J T", "sym(W)"),
        ("det(Mass)", "logdet(Mass)"),
        ("symm(W) T", "sym"),
        ("log_dett(Mass)", "logdet"),
        // A root, or half of an inverse?
        ("D^-1/2 T", "^(-1/2)"),
        ("D^1/2 T", "^(1/2)"),
    ] {
        let problem = text.parse::<Expression>().unwrap_err().to_string();
        assert!(problem.contains(suggestion), "{text}: {problem}");
    }
}
