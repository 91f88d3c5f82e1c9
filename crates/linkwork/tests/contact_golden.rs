//! One step with contact against golden numbers: free velocity, compliance, impulses, v⁺ and the next state.

mod support;

use linkwork::contact::{Friction, JointRow, Region, StepReport, Stepper};
use serde_json::Value;
use support::golden_contact::{Golden, NAMES, load, numbers, rows, vector};
use support::{assert_close, error};

/// γ as the file has it: along t1, t2 and the normal.
fn impulses(report: &StepReport, file: &Value) -> Vec<f64> {
    let mut all = Vec::new();
    for (told, c) in report.contacts.iter().zip(file["contacts"].as_array().unwrap()) {
        all.extend([
            told.across.dot(vector(&c["t1"])),
            told.across.dot(vector(&c["t2"])),
            told.along,
        ]);
    }
    all
}

#[test]
fn the_convex_step_is_that_of_the_golden_numbers() {
    for golden in NAMES.map(load) {
        let Golden {
            name,
            file,
            mechanism,
            contacts,
            settings,
            q,
            v,
            torque,
            ..
        } = golden;
        let mut stepper = Stepper::new(&mechanism, settings).unwrap();
        let (mut q, mut v) = (q, v);
        let report = stepper.step(&mut q, &mut v, &torque, &contacts).unwrap().clone();
        assert!(report.settled, "{name}");
        assert_close(
            &format!("{name}: v*"),
            &report.free_velocity,
            &numbers(&file["v_star"]),
            1e-12,
        );
        for (told, c) in report.contacts.iter().zip(file["contacts"].as_array().unwrap()) {
            let r = numbers(&c["R"]);
            assert_close(name, &[told.compliance[1], told.compliance[0]], &[r[0], r[2]], 1e-12);
            let region = match c["region"].as_str().unwrap() {
                "apart" => Region::Apart,
                "sticking" => Region::Sticking,
                "sliding" => Region::Sliding,
                other => panic!("{other}"),
            };
            assert_eq!(told.region, region, "{name}");
        }
        let expect: Vec<f64> = file["contacts"]
            .as_array()
            .unwrap()
            .iter()
            .flat_map(|c| numbers(&c["gamma"]))
            .collect();
        assert_close(&format!("{name}: γ"), &impulses(&report, &file), &expect, 1e-9);
        assert_close(
            &format!("{name}: v⁺"),
            &report.velocity,
            &numbers(&file["v_plus"]),
            1e-10,
        );
        assert_close(&format!("{name}: q"), &q, &numbers(&file["q_next"]), 1e-11);
        assert_close(&format!("{name}: v"), &v, &numbers(&file["v_next"]), 1e-10);
        let objective = file["objective"].as_f64().unwrap();
        let found = report.objective.unwrap();
        assert!((found - objective).abs() < 1e-9 * objective, "{name}: {found}");
        let joints = file["scalar_rows"].as_array().unwrap();
        assert_eq!(report.joints.len(), joints.len(), "{name}");
        for row in joints {
            let line = numbers(&row["row"]);
            let dof = line.iter().position(|x| *x != 0.0).unwrap();
            let kind = match row["kind"].as_str().unwrap() {
                "limit" => JointRow::Limit,
                _ => JointRow::Friction,
            };
            let impulse = line[dof] * row["gamma"].as_f64().unwrap();
            let found = report.joints.iter().filter(|j| j.dof == dof && j.row == kind);
            let nearest = found.map(|j| (j.impulse - impulse).abs()).fold(f64::INFINITY, f64::min);
            assert!(
                nearest < 1e-10 * (1.0 + impulse.abs()),
                "{name}: {kind:?} {dof}: {nearest:e}"
            );
        }
    }
}

#[test]
fn coulombs_law_is_that_of_the_golden_numbers() {
    let mut count = 0;
    for golden in NAMES.map(load) {
        let Golden {
            name,
            file,
            mechanism,
            contacts,
            mut settings,
            q,
            v,
            torque,
            ..
        } = golden;
        if file["coulomb"].is_null() {
            continue;
        }
        count += 1;
        settings.friction = Friction::Coulomb;
        settings.coulomb_tolerance = 1e-12;
        settings.tolerance = 1e-13;
        let mut stepper = Stepper::new(&mechanism, settings).unwrap();
        let report = stepper.solve(&q, &v, &torque, &contacts).unwrap();
        assert!(report.residuals.coulomb < 1e-9, "{name}: {:?}", report.residuals);
        let expect: Vec<f64> = rows(&file["coulomb"]["gamma"]).concat();
        assert_close(&format!("{name}: γ"), &impulses(report, &file), &expect, 1e-8);
        assert_close(
            &format!("{name}: v⁺"),
            &report.velocity,
            &numbers(&file["coulomb"]["v_plus"]),
            1e-8,
        );
        assert!(
            error(&[report.residuals.normal], &[0.0]) < 1e-8,
            "{name}: {:?}",
            report.residuals
        );
    }
    assert_eq!(count, 4);
}
