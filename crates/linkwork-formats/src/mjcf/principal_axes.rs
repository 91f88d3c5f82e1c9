//! Principal axes as MuJoCo chooses them. Any choice gives the same body, but frames that are moved to them are coordinates.

use linkwork::spatial::Rotation;

/// Smaller products of inertia are none.
const SMALL: f64 = 1e-12;
const MOST_TURNS: usize = 500;

/// Principal moments of xx, xy, xz, yy, yz, zz, largest first, and their axes: turns about one axis at a time, each of which
/// makes the largest product of inertia zero.
pub(super) fn principal([xx, xy, xz, yy, yz, zz]: [f64; 6]) -> ([f64; 3], Rotation) {
    let tensor = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]];
    let mut q = [0.0, 0.0, 0.0, 1.0];
    let mut moments = [xx, yy, zz];
    for _ in 0..MOST_TURNS {
        let d = seen_in(&tensor, &Rotation::from_quaternion(q));
        moments = [d[0][0], d[1][1], d[2][2]];
        let (row, column, about) = if d[0][1].abs() > d[0][2].abs() && d[0][1].abs() > d[1][2].abs() {
            (0, 1, 2)
        } else if d[0][2].abs() > d[1][2].abs() {
            (0, 2, 1)
        } else {
            (1, 2, 0)
        };
        let product = d[row][column];
        if product.abs() < SMALL {
            break;
        }
        let tau = (d[column][column] - d[row][row]) / (2.0 * product);
        let tangent = match tau >= 0.0 {
            true => 1.0 / (tau + (1.0 + tau * tau).sqrt()),
            false => -1.0 / (-tau + (1.0 + tau * tau).sqrt()),
        };
        let cosine = 1.0 / (1.0 + tangent * tangent).sqrt();
        let half = tangent.abs() * cosine / (2.0 * (1.0 + cosine)).sqrt();
        let mut turn = [0.0; 4];
        turn[about] = if (tau >= 0.0) == (about == 1) { half } else { -half };
        turn[3] = (1.0 - half * half).sqrt();
        q = unit(product_of(q, turn));
    }
    for j in [0, 1, 0] {
        if moments[j] + SMALL < moments[j + 1] {
            moments.swap(j, j + 1);
            let mut turn = [0.0, 0.0, 0.0, core::f64::consts::FRAC_1_SQRT_2];
            turn[(j + 2) % 3] = turn[3];
            q = unit(product_of(q, turn));
        }
    }
    (moments, Rotation::from_quaternion(q))
}

/// R*IR.
fn seen_in(tensor: &[[f64; 3]; 3], turn: &Rotation) -> [[f64; 3]; 3] {
    let axes = [turn.x, turn.y, turn.z].map(|axis| axis.to_array());
    let times = |axis: &[f64; 3]| [0, 1, 2].map(|i| (0..3).map(|k| tensor[i][k] * axis[k]).sum::<f64>());
    let columns = [times(&axes[0]), times(&axes[1]), times(&axes[2])];
    [0, 1, 2].map(|i| [0, 1, 2].map(|j| (0..3).map(|k| axes[i][k] * columns[j][k]).sum()))
}

/// The product of quaternions x, y, z, w.
fn product_of([ax, ay, az, aw]: [f64; 4], [bx, by, bz, bw]: [f64; 4]) -> [f64; 4] {
    [
        aw * bx + ax * bw + ay * bz - az * by,
        aw * by - ax * bz + ay * bw + az * bx,
        aw * bz + ax * by - ay * bx + az * bw,
        aw * bw - ax * bx - ay * by - az * bz,
    ]
}

fn unit(q: [f64; 4]) -> [f64; 4] {
    let length = q.iter().map(|x| x * x).sum::<f64>().sqrt();
    q.map(|x| x / length)
}
