//! Identities of the papers, proved from definitions; and others that are none.

use linkwork::algebra::{Notation, prove};

/// Proved for every robot.
const PROVED: &[&str] = &[
    // Sums of powers.
    "phi~ = E_phi phi",
    "phi~ = phi E_phi",
    "psi~ = E_psi psi",
    "inv(phi) = I - E_phi",
    "inv(psi) = I - E_psi",
    // Newton and Euler.
    "Mass = H phi M phi^* H^* + A",
    "J = B^* phi^* H^*",
    // Composite bodies.
    "r = M + E_phi r E_phi^*",
    "phi M phi^* = r + phi~ r + r phi~^*",
    "Mass = H (r + phi~ r + r phi~^*) H^* + A",
    "C = H phi (M phi^* a + b)",
    "V = phi^* H^* qd",
    // The Riccati equation.
    "M = P - E_phi P_plus E_phi^*",
    "M = P - E_psi P E_phi^*",
    "P_plus = tau_bar P",
    "P_plus = P - G D G^*",
    "P_plus = P tau_bar^*",
    "D = H P H^* + A",
    "G = P H^* inv(D)",
    "K = E_phi G",
    "E_psi = E_phi tau_bar",
    "P = M + E_phi P_plus E_phi^*",
    // Innovations factorization.
    "Mass = (I + H phi K) D (I + H phi K)^*",
    "inv(I + H phi K) = I - H psi K",
    "(I + H phi K) (I - H psi K) = I",
    "(I - H psi K) (I + H phi K) = I",
    "inv(Mass) = (I - H psi K)^* inv(D) (I - H psi K)",
    "Mass (I - H psi K)^* inv(D) (I - H psi K) = I",
    "(I - H psi K)^* inv(D) (I - H psi K) Mass = I",
    // Laws.
    "inv(psi) = inv(phi) + K H",
    "(I - H psi K) H phi = H psi",
    "phi K (I - H psi K) = psi K",
    "I + H phi K = H phi G + A inv(D)",
    "H Psi G = H psi K",
    "phi M phi^* = P + phi~ P + P phi~^* + phi K D K^* phi^*",
    "inv(Mass) H phi M phi^* = (I - H psi K)^* inv(D) H psi P + K^* psi^*",
    "psi M phi^* = psi P + P phi~^*",
    "psi K H phi = phi - psi",
    "phi K H psi = phi - psi",
    "psi = phi - phi K H psi",
    "phi = (I + phi K H) psi",
    "inv(psi) phi = I + K H phi",
    "H psi = H phi - H psi K H phi",
    // Diagonalized equations.
    "m m^* = Mass",
    "ell^* ell = inv(Mass)",
    "ell m = I",
    "ell Mass ell^* = I",
    "ell = inv(sqrt(D)) (I - H psi K)",
    "qd^* Mass qd = (m^* qd)^* (m^* qd)",
    "(ell T)^* (m^* qd) = T^* qd",
    "ell J^* = inv(sqrt(D)) H psi B",
    // Operational space.
    "J inv(Mass) J^* = B^* psi^* H^* inv(D) H psi B",
    "inv(Mass) J^* f = (I - H psi K)^* inv(D) H psi B f",
    "Lambda J inv(Mass) J^* = I",
    "Lambda = inv(B^* psi^* H^* inv(D) H psi B)",
    "J inv(Mass) J^* Lambda f = f",
    "(I - J^* Lambda J inv(Mass)) J^* = 0 J^*",
    "pinv(J^*) = pinv(J)^*",
    // Forward dynamics.
    "inv(Mass) (T - C) = (I - H psi K)^* inv(D) (T - H psi (K T + P a + b)) - K^* psi^* a",
    "J[left] inv(Mass) J[right]^* = B[left]^* psi^* H^* inv(D) H psi B[right]",
    "Jc inv(Mass) Jc^* = Bc^* psi^* H^* inv(D) H psi Bc",
    "inv(Mass) (T - C) = (I - H psi K)^* inv(D) (I - H psi K) (T - H phi (M phi^* a + b))",
    "inv(Mass) (T - C) = (I - H psi K)^* inv(D) (T - H psi (K T + M phi^* a + b))",
    "phi^* (H^* inv(Mass) (T - C) + a) = psi^* H^* inv(D) (T - H psi (K T + P a + b)) + psi^* a",
    // Kalman's words: the mass matrix is the covariance of the torques, its factor whitens them.
    "(I - H psi K) Mass (I - H psi K)^* = D",
    "(I - H psi K) Mass = D (I + H phi K)^*",
    "psi P psi^* - psi E_psi P E_psi^* psi^* = P + psi~ P + P psi~^*",
    // Un-normalized quasi-coordinates.
    "qd^* Mass qd = ((I + H phi K)^* qd)^* D ((I + H phi K)^* qd)",
    "((I - H psi K) T)^* (I + H phi K)^* qd = T^* qd",
    // Closed chains: what constraints leave of a motion, and of a force.
    "J (I - inv(Mass) J^* Lambda J) = 0 J",
    "(I - inv(Mass) J^* Lambda J) inv(Mass) J^* = 0 J^*",
    "(I - J^* Lambda J inv(Mass)) (I - J^* Lambda J inv(Mass)) = I - J^* Lambda J inv(Mass)",
    // Weights, by Woodbury.
    "inv(Mass + J^* J) (Mass + J^* J) = I",
    // The table of rates, and the product rule.
    "dot(H) = 0 H",
    "dot(M) = 0 M",
    "dot(E_phi) = E_phi crf(H^* qd)",
    "dot(phi) = phi E_phi crf(H^* qd) phi",
    "dot(phi^*) = -phi^* crm(H^* qd) E_phi^* phi^*",
    "dot(P) = P_dot(qd)",
    "dot(P_plus) = tau_bar P_dot(qd) tau_bar^*",
    "dot(D) = H P_dot(qd) H^*",
    "dot(G) = tau_bar P_dot(qd) H^* inv(D)",
    "dot(tau_bar) = -dot(G) H",
    "dot(K) = E_phi crf(H^* qd) G + E_psi P_dot(qd) H^* inv(D)",
    "dot(E_psi) = E_phi crf(H^* qd) tau_bar - E_psi P_dot(qd) H^* inv(D) H",
    "dot(inv(D)) = -inv(D) dot(D) inv(D)",
    "dot(inv(Mass)) = -inv(Mass) dot(Mass) inv(Mass)",
    "d(Mass, w) = H phi E_phi crf(H^* w) phi M phi^* H^* - H phi M phi^* crm(H^* w) E_phi^* phi^* H^*",
    "dot(V) = phi^* H^* qdd - phi^* crm(H^* qd) E_phi^* V",
    "d(Mass qdd)/dqdd = Mass",
    "d(inv(Mass) (T - C))/dT = inv(Mass)",
    "d(inv(Mass) (T - C))/dqd = -inv(Mass) (d(C)/dqd)",
    "d(J qd)/dqd = J",
    "grad(0.5 qd^* Mass qd) = 0.5 (d(Mass qd)/dq)^* qd",
    "dot(psi) = psi dot(E_psi) psi",
    "dot(ell) = -ell dot(m) ell",
    "d(V)/dq = phi^* crm(E_phi^* V) H^*",
    "d(V)/dqd = phi^* H^*",
    "dot(Mass) qd = d(Mass qd)/dq qd",
    // The Riccati equation and the factors, differentiated.
    "dot(P - E_psi P E_phi^*) = 0 M",
    "dot(sqrt(D)) sqrt(D)^* + sqrt(D) dot(sqrt(D))^* = dot(D)",
    "dot((I + H phi K) D (I + H phi K)^*) = dot(Mass)",
    "ell dot(Mass) ell^* = ell dot(m) + (ell dot(m))^*",
    // The Coriolis term of total rates, and what it does not do.
    "ell C - dot(m)^* qd = ell (C - m dot(m)^* qd)",
    "(m^* qd)^* (ell C - dot(m)^* qd) = qd^* C - qd^* m dot(m)^* qd",
    "crm(V) V = 0 V",
    "V^* crf(V) M V = 0 (qd^* qd)",
    "a = crm(V) H^* qd + a0",
    "b = crf(V) M V",
    // Linearization: how torques change with velocities.
    "d(C)/dqd = H phi (M phi^* (crm(V) H^* - crm(H^* qd) phi^* H^*) + (bar(M V) + crf(V) M) phi^* H^*)",
    // Four ways of forward dynamics, with forces on tips; the articulated body algorithm and its reaction forces.
    "inv(Mass) (T - C - J^* f) = (I - H psi K)^* inv(D) (T - H psi (K T + P a + b + B f)) - K^* psi^* a",
    "phi^* (H^* inv(Mass) (T - C) + a) = psi^* (H^* inv(D) (T - H psi (K T + P a + b)) + a)",
    "psi (K T + P a + b) - P a = psi (b + E_phi P_plus a + K T)",
    "phi (M phi^* (H^* inv(Mass) (T - C) + a) + b) = P_plus (E_phi^* phi^* (H^* inv(Mass) (T - C) + a) + a) \
     + psi (b + E_phi P_plus a + K T) + G (T - H (psi (b + E_phi P_plus a + K T) + P a)) + P a - P_plus a",
    // Constrained motion.
    "Jc (inv(Mass) (T - C) - inv(Mass) Jc^* inv(Jc inv(Mass) Jc^*) (Jc inv(Mass) (T - C) + Jc_dot qd)) \
     + Jc_dot qd = 0 Jc T",
    "(I - inv(Mass) Jc^* inv(Jc inv(Mass) Jc^*) Jc) inv(Mass) Jc^* = 0 Jc^*",
    "(J[left] - J[right]) inv(Mass) (J[left] - J[right])^* = J[left] inv(Mass) J[left]^* \
     + J[right] inv(Mass) J[right]^* - J[left] inv(Mass) J[right]^* - J[right] inv(Mass) J[left]^*",
    "inv(I + J inv(Mass) J^*) = I - J inv(Mass + J^* J) J^*",
    // In whatever space.
    "2 I = I + I",
    // Pseudo-inverses.
    "J pinv(J) J = J",
    "pinv(J) J pinv(J) = pinv(J)",
    "pinv(J) = J^* inv(J J^*)",
    "J (I - pinv(J) J) = 0 J",
    // Velocity terms do no work but that of the changing mass matrix.
    "qd^* (dot(Mass) qd - 2 (C - g)) = 0 (qd^* qd)",
    "0.5 qd^* dot(Mass) qd - qd^* (C - g) + d(qd^* Mass qd, qd) = qd^* dot(Mass) qd",
    // The factors, differentiated, rotors or not.
    "dot(m) m^* + m dot(m)^* = dot(Mass)",
    "dot((I - H psi K)^* inv(D) (I - H psi K)) = dot(inv(Mass))",
    "dot(ell^* ell) = dot(inv(Mass))",
    // Woodbury.
    "inv(Mass + J^* J) = inv(Mass) - inv(Mass) J^* inv(I + J inv(Mass) J^*) J inv(Mass)",
    "inv(Mass + J^* J) = inv(Mass) - inv(Mass) J^* J inv(Mass + J^* J)",
];

/// Proved where joints have no rotors, and false with them.
const WITHOUT_ROTORS: &[&str] = &[
    "tau_bar^2 = tau_bar",
    "H tau_bar = 0 H",
    "H G = I",
    "I + H phi K = H phi G",
    "M = P - E_psi P E_psi^*",
    "Mass = H phi M phi^* H^*",
    "tau_bar P_plus = P_plus",
    "psi G = G",
    "phi M phi^* H^* = (I + phi K H) P phi^* H^*",
    "inv(H phi M phi^* H^*) = (I - H psi K)^* inv(D) (I - H psi K)",
    "Mass qdd + C + J^* f = H phi (M phi^* (H^* qdd + a) + b + B f)",
];

/// True on every robot; not a matter of these laws alone.
const TRUE: &[&str] = &[
    // Υ of one frame: true where there is one way from it to the base.
    "J inv(Mass) J^* = B^* (Upsilon + psi~^* Upsilon + Upsilon psi~) B",
];

const FALSE: &[&str] = &[
    "Mass = H psi M psi^* H^*",
    "phi M phi^* = P + phi~ P",
    "(I - H psi K) H psi = H phi",
    "inv(Mass) = (I - H psi K) inv(D) (I - H psi K)^*",
    "psi phi = phi psi",
    "C = H phi M phi^* a",
    "H phi G = I - H phi K",
    "P = M",
    "ell ell^* = inv(Mass)",
];

#[test]
fn identities_of_the_papers_are_proved() {
    let mut missing = Vec::new();
    for equation in PROVED {
        let judgement = prove(equation).unwrap_or_else(|e| panic!("{equation}: {e}"));
        if !judgement.is_proved() {
            missing.push(format!("{equation}: {}", judgement.verdict()));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn some_hold_without_rotors_alone() {
    for equation in WITHOUT_ROTORS {
        let judgement = prove(equation).unwrap_or_else(|e| panic!("{equation}: {e}"));
        let proved = judgement.proof.as_ref().is_some_and(|proof| !proof.rotors);
        let verdict = judgement.verdict();
        assert!(proved, "{equation}: {verdict}");
        let robot = judgement.counterexample.expect(equation);
        assert!(robot.rotors && judgement.failed > 0, "{equation}: {verdict}");
    }
}

#[test]
fn what_is_not_proved_is_tried_on_robots() {
    for equation in TRUE {
        let judgement = prove(equation).unwrap();
        let verdict = judgement.verdict();
        assert!(judgement.tried == 100 && judgement.failed == 0, "{equation}: {verdict}");
    }
}

#[test]
fn false_equations_have_counterexamples() {
    for equation in FALSE {
        let judgement = prove(equation).unwrap();
        assert!(judgement.proof.is_none(), "{equation} is proved");
        let robot = judgement.counterexample.expect(equation);
        assert!((robot.left - robot.right).abs() > 1e-9, "{equation}");
    }
}

#[test]
fn a_proof_reads_like_a_derivation() {
    let judgement = prove("(I - H psi K) H phi = H psi").unwrap();
    let proof = judgement.proof.unwrap();
    let (left, right) = proof.steps(Notation::Symbols);
    assert!(right.is_empty(), "{right:?}");
    assert_eq!(left.last().unwrap().becomes, "Hψ");
    let laws: Vec<&str> = left.iter().map(|step| &step.law[..]).collect();
    assert_eq!(laws, ["", "K = E_φG", "ψE_φG H = ψE_φ − ψ + I", "E_φφ = φ − I"]);
    let inverse = prove("inv(Mass) = (I - H psi K)^* inv(D) (I - H psi K)").unwrap();
    let proof = inverse.proof.unwrap();
    assert_eq!(proof.lemmas().count(), 1);
}

#[test]
fn what_is_no_equation_is_refused() {
    for (text, problem) in [
        ("Mass", "an equation has one equals sign"),
        ("Mass = H", "this side leads from"),
        ("Mass = T", "this side is a vector"),
        ("Mass = D = M", "and this has 2"),
    ] {
        let error = prove(text).unwrap_err().to_string();
        assert!(error.contains(problem), "{error}");
    }
}
