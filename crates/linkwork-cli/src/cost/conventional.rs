//! Conventional ways to what the library does by sweeps: the mass matrix as a dense one, factored and solved.

use super::{Bench, general_arm};
use linkwork::Error;
use linkwork::scalar::{Count, Scalar};

/// 𝓜 = LDL* in place, L unit lower: n³/6 multiplications and as many additions, and what is of lower order.
fn factor(a: &mut [Count], n: usize) {
    for j in 0..n {
        for k in 0..j {
            let scaled = a[j * n + k];
            // What stands above the diagonal keeps L D.
            let weighed = a[k * n + j];
            a[j * n + j] = (-scaled).mul_add(weighed, a[j * n + j]);
        }
        let inverse = a[j * n + j].recip();
        for i in j + 1..n {
            let mut x = a[i * n + j];
            for k in 0..j {
                x = (-a[i * n + k]).mul_add(a[k * n + j], x);
            }
            a[j * n + i] = x;
            a[i * n + j] = x * inverse;
        }
        a[j * n + j] = inverse;
    }
}

/// Solves with the factors, in place.
fn solve(a: &[Count], n: usize, b: &mut [Count]) {
    for i in 0..n {
        for k in 0..i {
            b[i] = (-a[i * n + k]).mul_add(b[k], b[i]);
        }
    }
    (0..n).for_each(|i| b[i] = b[i] * a[i * n + i]);
    for i in (0..n).rev() {
        for k in i + 1..n {
            b[i] = (-a[k * n + i]).mul_add(b[k], b[i]);
        }
    }
}

/// T − C into `vector`.
fn right_side(b: &mut Bench) -> linkwork::Result<()> {
    b.workspace.at(&b.q)?.moving(&b.qd)?.bias(&mut b.second)?;
    for ((x, t), c) in b.vector.iter_mut().zip(&b.given).zip(&b.second) {
        *x = *t - *c;
    }
    Ok(())
}

/// Walker and Orin's first: every column of 𝓜 by inverse dynamics.
pub(super) fn by_columns(b: &mut Bench) -> linkwork::Result<()> {
    right_side(b)?;
    let n = b.given.len();
    let mut posed = b.workspace.at(&b.q)?;
    let (mut unit, mut column) = (vec![Count::ZERO; n], vec![Count::ZERO; n]);
    for j in 0..n {
        unit.fill(Count::ZERO);
        unit[j] = Count::ONE;
        posed.mass_times(&unit, &mut column)?;
        (0..n).for_each(|i| b.matrix[i * n + j] = column[i]);
    }
    factor(&mut b.matrix, n);
    solve(&b.matrix, n, &mut b.vector);
    Ok(())
}

/// Their second: a column needs only the links from its joint outward.
pub(super) fn by_columns_from_the_joint_on(b: &mut Bench) -> linkwork::Result<()> {
    right_side(b)?;
    let n = b.given.len();
    if !b.is_arm {
        return Err(Error::Coupled {
            what: "a count of arms",
            mechanism: String::new(),
        });
    }
    for links in 1..=n {
        let arm = general_arm(links).map_err(|_| Error::Length {
            argument: "links",
            needed: n,
            given: links,
        })?;
        let mut workspace = arm.workspace_of::<Count>();
        let mut posed = workspace.at(&b.q[..links])?;
        posed.mass_times(&b.given[..links], &mut b.second[..links])?;
    }
    b.workspace.at(&b.q)?;
    factor(&mut b.matrix, n);
    solve(&b.matrix, n, &mut b.vector);
    Ok(())
}

/// Their third: composite bodies.
pub(super) fn by_composite_bodies(b: &mut Bench) -> linkwork::Result<()> {
    right_side(b)?;
    let n = b.given.len();
    b.workspace.at(&b.q)?.mass_matrix(&mut b.matrix)?;
    factor(&mut b.matrix, n);
    solve(&b.matrix, n, &mut b.vector);
    Ok(())
}

/// Their fourth: conjugate gradients, n steps with a product 𝓜x each.
pub(super) fn by_conjugate_gradients(b: &mut Bench) -> linkwork::Result<()> {
    right_side(b)?;
    let n = b.given.len();
    let dot = |x: &[Count], y: &[Count]| x.iter().zip(y).fold(Count::ZERO, |sum, (x, y)| x.mul_add(*y, sum));
    let mut posed = b.workspace.at(&b.q)?;
    let (mut x, mut rest) = (vec![Count::ZERO; n], b.vector.clone());
    let (mut along, mut product) = (rest.clone(), vec![Count::ZERO; n]);
    let mut size = dot(&rest, &rest);
    for _ in 0..n {
        posed.mass_times(&along, &mut product)?;
        let step = size * dot(&along, &product).recip();
        for i in 0..n {
            x[i] = step.mul_add(along[i], x[i]);
            rest[i] = (-step).mul_add(product[i], rest[i]);
        }
        let next = dot(&rest, &rest);
        let turn = next * size.recip();
        (0..n).for_each(|i| along[i] = turn.mul_add(along[i], rest[i]));
        size = next;
    }
    b.vector.copy_from_slice(&x);
    Ok(())
}

/// Algorithm 3: δT, 𝓜, and a dense solution.
pub(super) fn acceleration_change(b: &mut Bench) -> linkwork::Result<()> {
    let n = b.given.len();
    let mut posed = b.workspace.at(&b.q)?;
    posed.mass_matrix(&mut b.matrix)?;
    posed
        .moving(&b.qd)?
        .linearized(&b.given)?
        .torque_change(&b.change, &mut b.vector)?;
    for (x, t) in b.vector.iter_mut().zip(&b.change[2 * n..]) {
        *x = *t - *x;
    }
    factor(&mut b.matrix, n);
    solve(&b.matrix, n, &mut b.vector);
    Ok(())
}

/// Algorithm 4: 𝓜, A_D and B_D, then dense solutions of 3n columns.
pub(super) fn forward_derivatives(b: &mut Bench) -> linkwork::Result<()> {
    let n = b.given.len();
    b.workspace
        .at(&b.q)?
        .moving(&b.qd)?
        .linearized(&b.given)?
        .inverse_derivatives(&mut b.derivatives)?;
    b.matrix.copy_from_slice(b.derivatives.by_input());
    factor(&mut b.matrix, n);
    for j in 0..n {
        for by in [b.derivatives.by_q(), b.derivatives.by_qd()] {
            (0..n).for_each(|i| b.vector[i] = by[i * n + j]);
            solve(&b.matrix, n, &mut b.vector);
        }
        // A column of the identity is zero above j.
        b.vector.fill(Count::ZERO);
        b.vector[j] = Count::ONE;
        solve(&b.matrix, n, &mut b.vector);
    }
    Ok(())
}
