//! Operators as values, and the laws of the algebra between them and against dense definitions.
#![allow(non_snake_case)]

mod support;

use linkwork::algebra::{Direction, Expression, Operator, Typed};
use linkwork::scalar::Dual;
use linkwork::{Mechanism, Reference};
use support::dense::Dense;
use support::dual::along;
use support::matrix::Matrix;
use support::random::{State, random_state, random_tree, revolutes_for_universals};
use support::riccati::Riccati;
use support::rigid::force_in;
use support::worst::Worst;

/// The dense matrix of an operator, by applying it to every column.
fn dense<R: Typed, D: Typed>(operator: &Operator<'_, R, D>) -> Matrix {
    let (columns, rows) = operator.sizes().unwrap();
    Matrix::from_slice(rows, columns, &operator.to_dense().unwrap())
}

/// The links that move by themselves, and the operator that gathers what they carry: 6N×6L.
fn carried(mechanism: &Mechanism, of: &Dense) -> (Vec<usize>, Matrix) {
    let moving: Vec<usize> = (0..of.links()).filter(|&k| !of.dofs[k].is_empty()).collect();
    let mut gather = Matrix::zeros(6 * moving.len(), 6 * of.links());
    for l in 0..of.links() {
        let mut at = Some(l);
        while let Some(k) = at {
            if let Some(row) = moving.iter().position(|&m| m == k) {
                let seen = support::rigid::inverse(&of.world[k]) * &of.world[l];
                gather.set_block(6 * row, 6 * l, &force_in(&seen));
                break;
            }
            at = of.parent[k];
        }
    }
    assert_eq!(linkwork::algebra::link_space(mechanism).len(), moving.len());
    (moving, gather)
}

/// Every operator against the oracle, which treats fixed links as links: theirs are gathered first.
#[test]
fn operators_are_their_dense_definitions() {
    let mut worst = Worst::new(1e-11);
    for seed in 0..60 {
        let mechanism = revolutes_for_universals(&random_tree(seed, 9));
        let State { q, qd, .. } = random_state(&mechanism, seed);
        let of = Dense::new(&mechanism, &q, &qd);
        let riccati = Riccati::new(&of);
        let (moving, gather) = carried(&mechanism, &of);
        let n = moving.len();
        let picked = |x: &Matrix| {
            let block = |i: usize, j: usize| x.at(6 * moving[i / 6] + i % 6, 6 * moving[j / 6] + j % 6);
            Matrix::from_fn(6 * n, 6 * n, block)
        };
        let columns = |x: &Matrix| Matrix::from_fn(x.rows, 6 * n, |i, j| x.at(i, 6 * moving[j / 6] + j % 6));
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let frame = mechanism.frame(&mechanism.links()[0].name).unwrap();
        let J = of.jacobian(&mechanism.links()[0].name, support::dense::Reference::Aligned);
        let last = mechanism
            .frame(&mechanism.links()[mechanism.links().len() - 1].name)
            .unwrap();
        let frames = [(frame, Reference::Aligned), (last, Reference::Local)];
        let ops = posed.operators(&frames).unwrap();
        let mass = of.mass_matrix();
        let harm = 1.0 + 1e-3 * mass.condition();
        let name = mechanism.name();
        let mut check = |what: &'static str, got: Matrix, expect: Matrix| {
            let scale = (1.0 + expect.max_abs()) * harm;
            worst.check(what, name, &got.data, &expect.data, scale);
        };
        check("H", dense(&ops.h()), columns(&of.H));
        check("φ", dense(&ops.phi()), picked(&of.phi));
        check("M", dense(&ops.m()), &gather * &of.M * gather.t());
        check("𝓜", dense(&ops.mass()), mass.clone());
        check("𝓜⁻¹", dense(&ops.mass_inverse()), mass.inverse());
        let upper = dense(&ops.jacobian()).block(0, 0, 6, mechanism.nv());
        check("J", upper, J);
        let minus = ops.jacobian() * ops.mass_inverse() * ops.jacobian().adjoint();
        let (J, inverse) = (dense(&ops.jacobian()), mass.inverse());
        check("J𝓜⁻¹J*", dense(&minus), &J * inverse * J.t());
        check("P", dense(&ops.p()), picked(&riccati.P_all));
        check("D", dense(&ops.d()), riccati.D_all.clone());
        check("G", dense(&ops.g()), columns(&riccati.G_all.t()).t());
        check("D^½", dense(&ops.d_root()), riccati.D_root(&of));
        check("ψ", dense(&ops.psi()), picked(&riccati.psi));
        let one = Matrix::identity(mechanism.nv());
        let HpsiK = &of.H * &riccati.psi * &riccati.K;
        let N = ops.identity() - ops.h() * ops.psi() * ops.k();
        check("I − HψK", dense(&N), one - HpsiK);
    }
}

/// Asserts that two operators are the same, as compiled.
fn same<R: Typed, D: Typed>(
    worst: &mut Worst,
    what: &'static str,
    name: &str,
    harm: f64,
    a: &Operator<'_, R, D>,
    b: &Operator<'_, R, D>,
) {
    let (a, b) = (dense(a), dense(b));
    let size = a.data.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
    worst.check(what, name, &a.data, &b.data, size * harm);
}

/// Every identity of the innovations factorization, on chains, trees, forests and floating bases, with and without
/// rotors.
#[test]
fn laws_hold() {
    let mut worst = Worst::new(1e-11);
    for seed in 0..60 {
        let mechanism = random_tree(seed, 9);
        let State { q, .. } = random_state(&mechanism, seed);
        let name = mechanism.name();
        let mut workspace = mechanism.workspace();
        let mut posed = workspace.at(&q).unwrap();
        let o = posed.operators(&[]).unwrap();
        let mass = dense(&o.mass());
        let harm = 1.0 + 1e-3 * mass.condition();
        let (H, phi, psi, K, G, M, P, D, A) = (o.h(), o.phi(), o.psi(), o.k(), o.g(), o.m(), o.p(), o.d(), o.rotors());
        let (E_phi, E_psi, tau_bar) = (o.e_phi(), o.e_psi(), o.tau_bar());
        let I = o.identity();
        let one = o.identity();
        let N = &one - &H * &psi * &K;
        let F = &one + &H * &phi * &K;
        let D_inv = D.inverse().unwrap();
        let tilde = &phi - &I;
        let mut check = |what, a: &Matrix, b: &Matrix| {
            let size = a.max_abs().max(b.max_abs()).max(1.0);
            worst.check(what, name, &a.data, &b.data, size * harm);
        };
        let d = |m: &Matrix, n: &Matrix| m * n;
        // Products are of dense factors, so that no law is used to prove itself.
        let (h, f, s, k, g, mm, p, dd, a) = (
            dense(&H),
            dense(&phi),
            dense(&psi),
            dense(&K),
            dense(&G),
            dense(&M),
            dense(&P),
            dense(&D),
            dense(&A),
        );
        let (ef, es, tb, di) = (dense(&E_phi), dense(&E_psi), dense(&tau_bar), dense(&D_inv));
        let (nn, ff) = (dense(&N), dense(&F));
        let (i6, i1) = (Matrix::identity(f.rows), Matrix::identity(dd.rows));
        let td = dense(&tilde);
        check("P = M + E_φP⁺E_φ*", &p, &(&mm + &ef * dense(&o.p_plus()) * ef.t()));
        check("D = HPH* + A", &dd, &(&h * &p * h.t() + &a));
        check("G = PH*D⁻¹", &g, &(&p * h.t() * &di));
        check("τ̄ = I − GH", &tb, &(&i6 - &g * &h));
        check("P⁺ = τ̄P", &dense(&o.p_plus()), &(&tb * &p));
        check("E_ψ = E_φτ̄", &es, &(&ef * &tb));
        check("K = E_φG", &k, &(&ef * &g));
        check("φ(I − E_φ) = I", &(&f * (&i6 - &ef)), &i6);
        check("ψ(I − E_ψ) = I", &(&s * (&i6 - &es)), &i6);
        check(
            "ψ⁻¹ = φ⁻¹ + KH",
            &dense(&psi.inverse().unwrap()),
            &(dense(&phi.inverse().unwrap()) + &k * &h),
        );
        check("(I − HψK)Hφ = Hψ", &(&nn * &h * &f), &(&h * &s));
        check("φK(I − HψK) = ψK", &(&f * &k * &nn), &(&s * &k));
        check("(I + HφK)⁻¹ = I − HψK", &d(&ff, &nn), &i1);
        check("I + HφK = HφG + AD⁻¹", &ff, &(&h * &f * &g + &a * &di));
        let lhs = &f * &mm * f.t() * h.t();
        let rhs = (&i6 + &f * &k * &h) * &p * f.t() * h.t() + &f * &k * &a;
        check("φMφ*H* = (I + φKH)Pφ*H* + φKA", &lhs, &rhs);
        let rhs = &p + &td * &p + &p * td.t() + &f * &k * &dd * k.t() * f.t();
        check("φMφ* = P + φ̃P + Pφ̃* + φKDK*φ*", &(&f * &mm * f.t()), &rhs);
        check("M = P − E_ψPE_φ*", &mm, &(&p - &es * &p * ef.t()));
        check(
            "M = P − E_ψPE_ψ* − KAK*",
            &mm,
            &(&p - &es * &p * es.t() - &k * &a * k.t()),
        );
        check("ψMφ* = ψP + Pφ̃*", &(&s * &mm * f.t()), &(&s * &p + &p * td.t()));
        let mi = dense(&o.mass_inverse());
        let rhs = nn.t() * &di * &h * &s * &p + k.t() * s.t();
        check(
            "𝓜⁻¹HφMφ* = (I − HψK)*D⁻¹HψP + K*ψ*",
            &(&mi * &h * &f * &mm * f.t()),
            &rhs,
        );
        check("𝓜 = HφMφ*H* + A", &mass, &(&h * &f * &mm * f.t() * h.t() + &a));
        check("𝓜 = (I + HφK)D(I + HφK)*", &mass, &(&ff * &dd * ff.t()));
        check("𝓜⁻¹ = (I − HψK)*D⁻¹(I − HψK)", &mi, &(nn.t() * &di * &nn));
        let (m, l) = (dense(&o.mass_factor()), dense(&o.mass_factor_inverse()));
        check("𝓜 = m m*", &mass, &(&m * m.t()));
        check("ℓ = m⁻¹", &(&l * &m), &i1);
        // Υ is the diagonal of ψ*H*D⁻¹Hψ.
        let omega = s.t() * h.t() * &di * &h * &s;
        let upsilon = dense(&o.upsilon());
        let blocks = Matrix::from_fn(f.rows, f.rows, |i, j| if i / 6 == j / 6 { omega.at(i, j) } else { 0.0 });
        check("Υ", &upsilon, &blocks);
        // The same as compiled products, which may use the laws.
        same(&mut worst, "compiled", name, harm, &(&N * &H * &phi), &(&H * &psi));
        same(
            &mut worst,
            "compiled",
            name,
            harm,
            &(&psi * &M * phi.adjoint()),
            &(&psi * &P + &P * tilde.adjoint()),
        );
        same(&mut worst, "compiled", name, harm, &(&F * &D * F.adjoint()), &o.mass());
        same(&mut worst, "powers", name, harm, &E_phi.power(2), &(&E_phi * &E_phi));
        // Adjoints are transposes.
        for (x, y) in [
            (dense(&psi.adjoint()), s.t()),
            (dense(&N.adjoint()), nn.t()),
            (dense(&K.adjoint()), k.t()),
            (dense(&o.d_root().adjoint()), dense(&o.d_root()).t()),
            (dense(&tau_bar.adjoint()), tb.t()),
        ] {
            worst.check("adjoint", name, &x.data, &y.data, harm * (1.0 + y.max_abs()));
        }
    }
}

#[test]
fn operators_in_rust_and_in_text_are_the_same() {
    let arm = linkwork::model::examples::puma560();
    let mut workspace = arm.workspace();
    let mut posed = workspace.at(&[0.3; 6]).unwrap();
    let tip = [(arm.frame("link6_dh").unwrap(), Reference::Local)];
    let o = posed.operators(&tip).unwrap();
    let (i, h, psi, k) = (o.identity(), o.h(), o.psi(), o.k());
    let innovations = &i - &h * &psi * &k;
    let read = |text: &str| text.parse::<Expression>().unwrap();
    assert_eq!(innovations.expression(), read("I - H psi K"));
    assert_eq!(
        (innovations.adjoint() * o.d().inverse().unwrap() * &innovations).expression(),
        read("(I - H psi K)^* inv(D) (I - H psi K)")
    );
    assert_eq!(
        (o.jacobian() * o.mass_inverse() * o.jacobian().adjoint()).expression(),
        read("J inv(Mass) J^*")
    );
    assert_eq!(
        (-(o.phi() * 2.0) + o.e_phi().power(3)).expression(),
        read("-2 phi + E_phi^3")
    );
    assert_eq!(o.phi().direction(), Direction::Inward);
    assert_eq!(o.phi().adjoint().direction(), Direction::Outward);
    assert_eq!(o.m().direction(), Direction::Memoryless);
    assert_eq!(o.mass().direction(), Direction::Both);
    assert!(o.h().inverse().is_err());
    let mut short = [0.0; 5];
    assert!(o.mass().apply(&[0.0; 6], &mut short).is_err());
    assert!(o.mass().apply(&[0.0; 7], &mut [0.0; 6]).is_err());
    assert!(o.mass().apply(&[f64::NAN; 6], &mut [0.0; 6]).is_err());
}

/// The same operators over dual numbers: d𝓜/dt x, as 𝓜̇ = C + C*.
#[test]
fn operators_run_on_dual_numbers() {
    for seed in 0..20 {
        let mechanism = random_tree(seed, 8);
        let State { q, qd, tau, .. } = random_state(&mechanism, seed);
        let nv = mechanism.nv();
        let mut workspace = mechanism.workspace_of::<Dual<f64>>();
        let mut posed = workspace.at(&along(&mechanism, &q, &qd)).unwrap();
        let o = posed.operators(&[]).unwrap();
        let x: Vec<Dual<f64>> = tau.iter().map(|&t| Dual::constant(t)).collect();
        let mut out = x.clone();
        (o.h() * o.phi() * o.m() * o.phi().adjoint() * o.h().adjoint())
            .apply(&x, &mut out)
            .unwrap();
        let rate: Vec<f64> = out.iter().map(|x| x.derivative).collect();
        let expect = Dense::new(&mechanism, &q, &qd).mass_matrix_rate().apply(&tau);
        let size = expect.iter().fold(1.0, |m: f64, x| m.max(x.abs()));
        assert!(
            support::error_of(&rate, &expect, size) < 1e-10,
            "{}: {rate:?} {expect:?}, {nv}",
            mechanism.name()
        );
    }
}
