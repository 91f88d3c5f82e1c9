//! The cost model against the scalar that counts.

mod support;

use linkwork::algebra::{Cost, Evaluator, Expression};
use linkwork::scalar::{Count, Operations};
use support::arm::general_arm;
use support::random::Random;

/// What an expression on joint space costs on an arm of n links, from its sweeps alone.
fn counted(text: &str, n: usize) -> (Operations, Cost) {
    let arm = general_arm(n);
    let mut random = Random::new(1);
    let mut numbers = || random.numbers(n, 1.0).into_iter().map(Count).collect::<Vec<_>>();
    let (q, qd, x, mut out) = (numbers(), numbers(), numbers(), numbers());
    let expression: Expression = text.parse().unwrap_or_else(|e| panic!("{e}"));
    let mut evaluator = Evaluator::<Count>::new(&expression, &arm, &[], &[]).unwrap();
    let mut workspace = arm.workspace_of::<Count>();
    let mut posed = workspace.at(&q).unwrap();
    let mut moving = posed.moving(&qd).unwrap();
    let inputs = evaluator.algorithm().inputs();
    let given: Vec<(&str, &[Count])> = inputs.iter().map(|(name, _)| (&name[..], &x[..])).collect();
    let operations = Count::operations(|| moving.evaluate(&mut evaluator, &given, &mut out).unwrap());
    (operations, evaluator.algorithm().cost())
}

#[test]
fn predicted_operations_per_link_are_those_counted() {
    let mut wrong = Vec::new();
    for text in EXPRESSIONS {
        let [(six, cost), (seven, _), (twelve, _)] = [6, 7, 12].map(|n| counted(text, n));
        let each = (
            (seven.multiplications - six.multiplications) as usize,
            (seven.additions - six.additions) as usize,
        );
        assert_eq!(
            twelve.total() - six.total(),
            6 * (seven.total() - six.total()),
            "{text}"
        );
        let predicted = (cost.multiplications, cost.additions);
        if predicted != each {
            wrong.push(format!("{text}: predicted {predicted:?}, counted {each:?}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

const EXPRESSIONS: [&str; 51] = [
    "H r H^* T",
    "T + qdd",
    "2 T - 3 qdd",
    "D T",
    "inv(D) T",
    "sqrt(D) T",
    "sqrt(D)^* T",
    "inv(sqrt(D)) T",
    "A T",
    "H M H^* T",
    "G^* Upsilon G T",
    "H phi P_plus phi^* H^* T",
    "H E_phi M H^* T",
    "H phi M H^* T",
    "H psi M H^* T",
    "H M phi^* H^* T",
    "H M psi^* H^* T",
    "(I - H psi K) T",
    "(I + H phi K) T",
    "(I - H psi K)^* T",
    "(I + H phi K)^* T",
    "G^* tau_bar^* phi^* H^* T",
    "H phi G T",
    "H M tau_bar^* phi^* H^* T",
    "H phi tau_bar M H^* T",
    "K^* phi^* H^* T",
    "K^* psi^* H^* T",
    "H psi (M phi^* H^* T + K qdd)",
    "qdd qdd^* T",
    "H phi M H^* T (qdd^* T)",
    "H phi M phi^* H^* qdd",
    "Mass qdd",
    "inv(Mass) T",
    "C",
    "g",
    "H b",
    "H M a",
    "H M V",
    "Mass qdd + C",
    "inv(Mass) (T - C)",
    "m T",
    "ell T",
    "ell^* T + H phi P phi^* H^* qdd",
    "H crf(V) M H^* T",
    "H M crm(V) H^* T",
    "H P_dot(T) H^* qdd",
    "root_dot(T) qdd",
    "G^* Upsilon_dot(T) G qdd",
    "P_dq(V)^* phi^* H^* T",
    "d(Mass qdd + C, w)",
    "d(inv(Mass) (T - C), w)",
];
