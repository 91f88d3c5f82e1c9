//! What the compiler must find by itself, and what the parser must refuse.

mod support;

use linkwork::Error;
use linkwork::algebra::{Algorithm, Expression, Look, Notation};
use support::random::Random;

fn parse(text: &str) -> Expression {
    text.parse().unwrap_or_else(|e| panic!("{e}"))
}

fn compile(text: &str) -> Algorithm {
    parse(text).compile(false, &[])
}

/// Asserts what an expression becomes, and in how many sweeps.
#[track_caller]
fn becomes(text: &str, expect: &str, sweeps: usize) -> Algorithm {
    let algorithm = compile(text);
    assert_eq!(algorithm.rewritten().written(Notation::Symbols), expect, "{text}");
    assert_eq!(algorithm.cost().sweeps, sweeps, "{text}");
    assert!(algorithm.cost().total() <= algorithm.naive_cost().total(), "{text}");
    algorithm
}

#[test]
fn the_inverse_mass_matrix_is_one_sweep_in_with_the_riccati_equation_and_one_out() {
    becomes("inv(Mass) T", "(I − HψK)*D⁻¹ (I − HψK) T", 2);
    becomes("(I - H psi K)^* inv(D) (I - H psi K) T", "(I − HψK)*D⁻¹ (I − HψK) T", 2);
}

#[test]
fn tip_forces_need_no_sweep_of_phi() {
    let algorithm = becomes("inv(Mass) J^* f", "(I − HψK)*D⁻¹HψB f", 2);
    assert_eq!(algorithm.naive_cost().sweeps, 4);
    assert!(
        algorithm
            .laws(Notation::Symbols)
            .contains(&"(I − HψK)Hφ = Hψ".to_owned())
    );
    becomes("-inv(Mass) J^* f", "−(I − HψK)*D⁻¹HψB f", 2);
}

#[test]
fn the_operational_inertia_is_the_recursion_of_upsilon() {
    let algorithm = becomes("J inv(Mass) J^*", "B*ψ*H*D⁻¹HψB", 2);
    assert_eq!(algorithm.naive_cost().sweeps, 5);
    let last = algorithm.laws(Notation::Symbols).pop().unwrap();
    assert_eq!(last, "ψ*H*D⁻¹Hψ = Υ + (ψ − I)*Υ + Υ(ψ − I)");
    assert!(
        algorithm
            .explain(Look::Plain)
            .contains("Υ(k) = H* D⁻¹ H + ψ*(p,k) Υ(p) ψ(p,k)")
    );
}

#[test]
fn explanations_name_the_sweeps_and_their_steps() {
    let told = compile("inv(Mass) (T - C)").explain(Look::Plain);
    for line in [
        "sweeps      3 (operator by operator 6)",
        "sweep 1, outward: from the base to the tips",
        "V(k) = φ*(p,k) V(p) + H* q̇(k)",
        "sweep 2, inward: from the tips to the base",
        "P(k) = M(k) + Σ φ(k,c) P⁺(c) φ*(k,c)",
        "z⁺(k) = z(k) + G ε(k)",
        "sweep 3, outward: from the base to the tips",
        "λ⁺(k) = φ*(p,k) λ(p)",
    ] {
        assert!(told.contains(line), "{line}:\n{told}");
    }
    assert!(!told.contains('\x1b') && compile("Mass T").explain(Look::Coloured).contains("\x1b[1;36m"));
    let markdown = compile("inv(Mass) T").explain(Look::Markdown);
    assert!(
        markdown.contains(r"\mathcal{M}^{-1} T") && markdown.contains("| sweeps | 3 | 2 |"),
        "{markdown}"
    );
}

#[test]
fn inverses_meet() {
    for text in [
        "(I + H phi K)(I - H psi K)",
        "(I - H psi K)^* (I + H phi K)'",
        "Mass inv(Mass)",
        "inv(Mass) Mass",
        "H phi M phi^* H^* inv(Mass)",
        "(I - H psi K)^* inv(D) (I - H psi K) Mass",
        "ell Mass ell^*",
        "inv(m) m",
        "phi inv(phi)",
        "(inv(phi) + K H) psi",
        "sqrt(D) sqrt(D)^* inv(D)",
    ] {
        let named = if text.contains("phi)") { "I_f" } else { "I_q" };
        let algorithm = becomes(text, named, 0);
        assert_eq!(algorithm.cost().total(), 0, "{text}");
    }
    becomes("inv(Mass) Mass T - T", "0", 0);
}

#[test]
fn the_mass_matrix_is_newton_and_euler() {
    let by_hand = becomes("H phi M phi^* H^* qdd", "HφMφ*H* q̈", 2);
    let by_name = compile("Mass qdd");
    assert_eq!(by_hand.cost(), by_name.cost());
    let factored = compile("m m^* qdd");
    assert_eq!(factored.cost(), by_name.cost());
    // Inverse dynamics: both ways along with the velocities.
    becomes("Mass qdd + C", "Hφ (Mφ* (H* q̈ + a) + b)", 2);
}

#[test]
fn forward_dynamics_is_the_articulated_body_algorithm() {
    let form = "(I − HψK)*D⁻¹ ((I − HψK) T − Hψ (P a + b)) − K*ψ* a";
    let algorithm = becomes("inv(Mass) (T - H phi (M phi^* a + b))", form, 3);
    assert_eq!(algorithm.naive_cost().sweeps, 6);
    becomes("inv(Mass) (T - C)", form, 3);
    becomes("(I - H psi K)^* inv(D) (I - H psi K) (T - C)", form, 3);
    // The links' accelerations come out of the same sweeps.
    let links = becomes(
        "phi^* (H^* inv(Mass) (T - C) + a)",
        "ψ* (H*D⁻¹ ((I − HψK) T − Hψ (P a + b)) + a)",
        3,
    );
    assert_eq!(links.cost(), algorithm.cost());
}

#[test]
fn rotors_change_what_holds() {
    let product = parse("tau_bar P tau_bar^* - P_plus");
    assert!(product.compile(false, &[]).rewritten().written(Notation::Ascii) == "0");
    assert!(product.compile(true, &[]).rewritten().written(Notation::Ascii) != "0");
    assert_eq!(parse("H G").compile(false, &[]).rewritten(), parse("I:joint"));
    assert_eq!(parse("H G").compile(true, &[]).rewritten(), parse("I - A inv(D)"));
    assert_eq!(parse("H phi M phi^* H^* inv(Mass)").compile(true, &[]).cost().sweeps, 2);
}

#[test]
fn greek_and_plain_spellings_are_the_same() {
    for (a, b) in [
        ("(I - HψK)^* D⁻¹ (I − HψK) T", "(I - H psi K)' inv(D) (I - H psi K) T"),
        ("B'φ'H' q̇", "B^* phi^* H^* qd"),
        ("𝓜⁻¹ T", "Mass^-1 T"),
        ("E_φ^2 τ̄", "E_phi E_phi tau_bar"),
        ("ℓ T", "ell T"),
        ("2 * T / 4", "0.5 T"),
        ("T - 2 (T - qdd)", "2 qdd - T"),
    ] {
        assert_eq!(parse(a), parse(b), "{a}");
    }
}

#[test]
fn what_is_written_is_read_back() {
    for text in [
        "inv(Mass) (T - C)",
        "B^* psi^* H^* inv(D) H psi B",
        "-3 E_phi^2 w:force + 0.5 phi (w - G T)",
        "inv(sqrt(D)) (I - H psi K) (T - 2 qdd)",
        "qd^* Mass qd",
        "P - G D G^*",
        "(I - E_psi)^* inv(phi)^*",
    ] {
        let expression = parse(text);
        let again = expression.written(Notation::Ascii);
        let (head, rest) = again.split_once(" w").unwrap_or((&again, ""));
        let again = if rest.is_empty() {
            again.clone()
        } else {
            format!("{head} w:force{rest}")
        };
        assert_eq!(parse(&again), expression, "{text} -> {again}");
    }
}

/// Problem, column and hint of a refused expression.
fn refused(text: &str) -> (String, usize, usize, String) {
    match text.parse::<Expression>() {
        Err(Error::Expression {
            problem,
            start,
            end,
            hint,
            ..
        }) => (problem, start, end, hint),
        other => panic!("`{text}`: {other:?}"),
    }
}

#[test]
fn misfits_are_shown_where_they_are() {
    for (text, start, end, says) in [
        (
            "phi H",
            4,
            5,
            "`phi` takes link space (6N, forces), but `H` gives joint space (n)",
        ),
        (
            "H phi M phi w:force",
            8,
            11,
            "`M` takes link space (6N, motions), but `phi` gives link space (6N, forces)",
        ),
        (
            "T Mass",
            2,
            6,
            "`T` is a vector and takes a number, but `Mass` gives joint space (n)",
        ),
        ("Mass + phi", 7, 10, "this leads from link space (6N, forces)"),
        ("T + f", 4, 5, "this is a vector of tip space"),
        ("inv(M + P) b", 0, 10, "no inverse in closed form"),
        ("inv(J inv(Mass))", 0, 16, "not square"),
        (
            "sqrt(M)",
            0,
            7,
            "only D, Mass, their inverses and positive numbers have a root",
        ),
        ("H^2", 0, 1, "a power needs one space"),
        ("x + y", 0, 1, "the space of the vector `x` cannot be inferred"),
        ("inv(0) T", 0, 6, "divides by zero"),
        ("(T", 0, 1, "never closed"),
        ("x:joint x^*", 0, 11, "is what an operator acts on"),
        ("1e300 1e300 T", 0, 13, "multiply to infinity"),
        ("T)", 1, 2, "closes nothing"),
        ("T + ", 3, 4, "missing here"),
        ("", 0, 1, "empty"),
        ("T $ T", 2, 3, "`$` means nothing"),
        ("1e999 T", 0, 5, "is not a number"),
        ("x:elbow", 2, 7, "there is no space `elbow`"),
        ("phi:force", 0, 9, "has its spaces already"),
        ("inv T", 0, 3, "needs parentheses"),
        ("T / Mass", 4, 8, "only a number can stand below"),
        ("E_phi^99", 6, 8, "must be followed by"),
    ] {
        let (problem, from, to, hint) = refused(text);
        assert!(problem.contains(says), "`{text}`: {problem}");
        assert_eq!((from, to), (start, end), "`{text}`: {problem}");
        assert!(!hint.is_empty(), "`{text}`");
    }
    let shown = "H phii T".parse::<Expression>().unwrap_err().to_string();
    assert_eq!(
        shown,
        "column 8: `phii` is a vector and takes a number, but `T` gives joint space (n)\n  H phii T\n         ^\n  vectors stand last; did you mean `phi`?"
    );
}

#[test]
fn ten_thousand_malformed_strings_are_refused_without_a_panic() {
    const PIECES: [&str; 40] = [
        "H",
        "phi",
        "ψ",
        "K",
        "M",
        "(",
        ")",
        "+",
        "-",
        "*",
        "^",
        "^*",
        "'",
        "inv(",
        "sqrt(",
        "T",
        "qd",
        "2",
        "1e",
        ".",
        "..",
        "I",
        "^2",
        "^-1",
        "⁻¹",
        ":",
        ":joint",
        "x",
        "E_",
        "φ̇",
        "\u{301}",
        "\t",
        "\n",
        "é",
        "🤖",
        "/",
        "∑",
        "D",
        "Mass",
        "^99999999999",
    ];
    let mut random = Random::new(3);
    let mut refused = 0;
    while refused < 10_000 {
        let n = 1 + random.below(14);
        let space = if random.chance(0.5) { " " } else { "" };
        let words: Vec<&str> = (0..n).map(|_| PIECES[random.below(PIECES.len())]).collect();
        let text = words.join(space);
        match text.parse::<Expression>() {
            Ok(expression) => assert!(!expression.written(Notation::Ascii).is_empty()),
            Err(error) => {
                let shown = error.to_string();
                assert!(shown.starts_with("column ") && shown.contains('^'), "`{text}`: {shown}");
                refused += 1;
            }
        }
    }
    // And what would take too long, or too deep.
    for text in [
        "(".repeat(5000),
        "(".repeat(100) + "T" + &")".repeat(100),
        "T".to_owned() + &"'".repeat(4000),
        "inv(".repeat(3000),
        "E_phi^64 ".repeat(400),
        "((((phi + psi)^64)^64)^64)^64".to_owned(),
        "I + ".repeat(1000) + "I",
        "-".repeat(4000),
        "(I + Mass)".repeat(300),
    ] {
        let short: String = text.chars().take(20).collect();
        assert!(
            text.parse::<Expression>().is_err() || text.starts_with("I + "),
            "{short}"
        );
    }
}
