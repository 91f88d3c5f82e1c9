//! Compiled expressions against their dense definitions.

mod support;

use linkwork::algebra::{Dense, Evaluator, Expression, Matrix, Space};
use linkwork::model::FrameId;
use linkwork::{Mechanism, Reference};
use support::expressions::{self, RANGES, norm};
use support::random::{Random, State, random_state, random_tree};

/// Three frames of a mechanism, with different references.
fn frames(mechanism: &Mechanism, random: &mut Random) -> Vec<(FrameId, Reference)> {
    let links = mechanism.links().iter().map(|l| &l.name);
    let names: Vec<&String> = links.chain(mechanism.frames().iter().map(|f| &f.name)).collect();
    let references = [Reference::Local, Reference::World, Reference::Aligned];
    let each = references.iter();
    each.map(|&r| (mechanism.frame(names[random.below(names.len())]).unwrap(), r))
        .collect()
}

#[test]
fn a_thousand_random_expressions_run_as_their_definitions_say() {
    let (mut worst, mut saved, mut tried) = (0.0_f64, 0, 0);
    for seed in 0..1000 {
        let mut random = Random::new(seed + 7);
        let mechanism = random_tree(seed % 250, if seed % 5 == 0 { 12 } else { 5 });
        let State { q, qd, qdd, tau } = random_state(&mechanism, seed);
        let nv = mechanism.nv();
        let frames = frames(&mechanism, &mut random);
        let vector = random.chance(0.7);
        let range = RANGES[random.below(if vector { 5 } else { 4 })];
        let factors = 1 + random.below(12);
        let part = match range {
            // A number: two vectors paired.
            Space::Number => {
                let product = expressions::random(&mut random, Space::Joint, factors, vector);
                expressions::Part::Product(vec![expressions::Part::Atom("T^*".to_owned()), product])
            }
            range => expressions::random(&mut random, range, factors, vector),
        };
        let text = part.text();
        let expression: Expression = text.parse().unwrap_or_else(|e| panic!("{e}"));
        let dense = Dense::new(&mechanism, &q, &qd, &frames).unwrap();
        let mut evaluator = Evaluator::new(&expression, &mechanism, &frames, &[]).unwrap();
        let links = evaluator.size(Space::Force);
        let numbers = |n: usize, random: &mut Random| random.numbers(n, 1.0);
        let (u, v, w) = (
            numbers(nv, &mut random),
            numbers(links, &mut random),
            numbers(links, &mut random),
        );
        let f = numbers(evaluator.size(Space::Tip), &mut random);
        let x = numbers(evaluator.size(expression.domain()), &mut random);
        let given: [(&str, &[f64]); 8] = [
            ("T", &tau),
            ("qdd", &qdd),
            ("u", &u),
            ("v", &v),
            ("w", &w),
            ("f", &f),
            ("x", &x),
            ("qd", &qd),
        ];
        let bound = part.bound(&dense, &given).unwrap();
        let mass = dense.evaluate(&"Mass".parse().unwrap(), &[]).unwrap();
        let inverse = dense.evaluate(&"inv(Mass)".parse().unwrap(), &[]).unwrap();
        let condition = norm(&mass) * norm(&inverse);

        let mut expect = dense.evaluate(&expression, &given).unwrap();
        let mut scale = bound;
        if !expression.is_vector() {
            expect = &expect * &Matrix::column(&x);
            scale *= norm(&Matrix::column(&x));
        }
        let mut got = vec![f64::NAN; evaluator.len()];
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let inputs = evaluator.algorithm().inputs();
        let used: Vec<_> = given
            .iter()
            .copied()
            .filter(|(name, _)| inputs.iter().any(|(n, _)| n == name))
            .collect();
        let mut moving = posed.moving(&qd).unwrap();
        moving.evaluate(&mut evaluator, &used, &mut got).unwrap();
        let error = got
            .iter()
            .zip(&expect.data)
            .map(|(g, e)| (g - e).abs())
            .fold(0.0, f64::max);
        let relative = error / (scale * condition).max(f64::MIN_POSITIVE);
        let algorithm = evaluator.algorithm();
        assert!(
            relative < 1e-9 && got.iter().all(|x| x.is_finite()),
            "{}: `{text}` became `{}`: error {error:e} of {scale:e}, condition {condition:e}\n{:#?}",
            mechanism.name(),
            algorithm.rewritten(),
            algorithm.laws(linkwork::algebra::Notation::Symbols)
        );
        // Where nothing cancels, the plain relative error is as small.
        let size = norm(&expect);
        if size > 1e-3 * scale {
            assert!(
                error < 1e-9 * size * condition.sqrt(),
                "`{text}`: {error:e} of {size:e}"
            );
        }
        let (before, after) = (algorithm.naive_cost(), algorithm.cost());
        assert!(
            after.total() <= before.total(),
            "`{text}`: {after:?} against {before:?}"
        );
        assert!(after.sweeps <= before.sweeps, "`{text}`: {after:?} against {before:?}");
        worst = worst.max(relative);
        saved += before.total() - after.total();
        tried += before.total();
    }
    println!(
        "worst {worst:.1e}; {:.0} % of the cost saved",
        100.0 * saved as f64 / tried as f64
    );
}
