//! Products with the Coriolis matrix and the regressor of passivity-based control: golden numbers, dense definitions and laws.

mod support;

use linkwork::model::examples;
use serde_json::Value;
use support::assert_close;
use support::coupled::cases;
use support::golden;
use support::library::{matrix, vector};
use support::matrix::dot;
use support::random::Random;

fn numbers(value: &Value) -> Vec<f64> {
    match value {
        Value::Array(all) => all.iter().flat_map(numbers).collect(),
        x => vec![x.as_f64().unwrap()],
    }
}

#[test]
fn products_are_golden() {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/identification/products.json");
    let all: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    for case in all["cases"].as_array().unwrap() {
        let name = case["mechanism"].as_str().unwrap();
        let robot = golden::load(name);
        let (m, state) = (&robot.mechanism, &robot.cases[case["case"].as_u64().unwrap() as usize]);
        let nv = m.nv();
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&state.q).unwrap();
        let mut moving = posed.moving(&state.qd).unwrap();
        let [x, r, rd, s] = ["x", "r", "rd", "s"].map(|key| numbers(&case[key]));
        let expect = |key: &str| numbers(&case["expect"][key]);
        let close = |key: &str, got: &[f64]| assert_close(&format!("{name}: {key}"), got, &expect(key), 1e-10);
        close("C_x", &vector(nv, |out| moving.coriolis_times(&x, out)));
        close("Ct_x", &vector(nv, |out| moving.coriolis_transposed_times(&x, out)));
        let parameters = m.inertial_parameters();
        close(
            "slotine_li",
            &vector(nv, |out| moving.reference_torque(&parameters, &r, &rd, out)),
        );
        let wide = parameters.len();
        let got = vector(wide, |out| moving.reference_adjoint(&r, &rd, &s, out));
        close("slotine_li_transposed", &got);
    }
}

#[test]
fn products_are_those_of_the_matrix_and_the_regressor_is_linear_where_joints_follow_others() {
    let mut random = Random::new(5);
    let mut tested = 0;
    for case in cases() {
        let m = &case.coupled;
        let nv = m.nv();
        let mut workspace = m.workspace();
        let mut posed = workspace.at(&case.y).unwrap();
        let mut moving = posed.moving(&case.yd).unwrap();
        let mut draw = |n: usize| (0..n).map(|_| random.within(-1.0, 1.0)).collect::<Vec<f64>>();
        let (x, a, s) = (draw(nv), draw(nv), draw(nv));
        let fictitious = draw(m.inertial_parameters().len());
        let name = m.name();
        let matrix = matrix(nv, nv, |out| moving.coriolis_matrix(out));
        let product = vector(nv, |out| moving.coriolis_times(&x, out));
        assert_close(name, &product, &matrix.apply(&x), 1e-10);
        let transposed = vector(nv, |out| moving.coriolis_transposed_times(&x, out));
        assert_close(name, &transposed, &matrix.t().apply(&x), 1e-10);
        // 𝓜a + Cx + g.
        let parameters = m.inertial_parameters();
        let torque = vector(nv, |out| moving.reference_torque(&parameters, &x, &a, out));
        let (moved, gravity) = (
            vector(nv, |out| moving.mass_times(&a, out)),
            vector(nv, |out| moving.gravity_torque(out)),
        );
        let sum: Vec<f64> = (0..nv).map(|i| moved[i] + product[i] + gravity[i]).collect();
        assert_close(name, &torque, &sum, 1e-9);
        // s·(Yπ) = (Y*s)·π for parameters of no body, rotors apart.
        let plain = vector(nv, |out| {
            moving.reference_torque(&vec![0.0; fictitious.len()], &x, &a, out)
        });
        let with = vector(nv, |out| moving.reference_torque(&fictitious, &x, &a, out));
        let adjoint = vector(fictitious.len(), |out| moving.reference_adjoint(&x, &a, &s, out));
        let (left, right) = (dot(&s, &with) - dot(&s, &plain), dot(&adjoint, &fictitious));
        let size = 1.0 + with.iter().map(|x| x.abs()).sum::<f64>();
        assert!((left - right).abs() < 1e-10 * size, "{name}: {left} {right}");
        tested += 1;
    }
    assert!(tested > 20);
}

#[test]
fn lengths_and_numbers_are_checked() {
    let m = examples::arm7();
    let mut workspace = m.workspace();
    let mut posed = workspace.at(&[0.1; 7]).unwrap();
    let mut moving = posed.moving(&[0.2; 7]).unwrap();
    let mut out = [0.0; 7];
    assert!(moving.coriolis_times(&[0.0; 6], &mut out).is_err());
    assert!(moving.coriolis_times(&[f64::NAN; 7], &mut out).is_err());
    let wrong = moving.reference_torque(&[1.0; 3], &[0.0; 7], &[0.0; 7], &mut out);
    let text = wrong.unwrap_err().to_string();
    assert!(text.contains("parameters"), "{text}");
}
