//! Dynamics of branches side by side: the sweeps of [`super::forward`] and [`super::inverse`] on rows of links instead of
//! links.
//!
//! Every lane computes exactly what its link would alone, in the same order; where a branch has no link, its lane carries
//! one without inertia behind a rotor of one, which hands nothing to its parent.

use crate::body::{GAP, Gain, Hinge, PACK, Passage, sizes};
use crate::model::Compiled;
use crate::plan::{Abreast as Row, Bundles, Each, Passed, Run};
use crate::scalar::{Pack, Register};
use crate::spatial::{Apart, Eccentric, Flat, Force, Leaning, Motion, Quarter, RigidBody, Screw, Tilt, Turn, Vec3};
use crate::stage::Stages;
use crate::stage::branches::{at, read, write};
use crate::stage::crossing::AnyJoint;
use crate::stage::way_to_parent::{Across, Ways};

/// The numbers of all lanes, taken from their links.
macro_rules! from_each {
    (<$pack:ty> $places:expr, $k:ident => $number:expr) => {{
        let [a, b, c, d] = $places;
        <$pack>::read(&[
            {
                let $k = a;
                $number
            },
            {
                let $k = b;
                $number
            },
            {
                let $k = c;
                $number
            },
            {
                let $k = d;
                $number
            },
        ])
    }};
}

#[inline(always)]
fn each<P: Pack<f64>>(x: &Each) -> P {
    P::read(x)
}

impl<P: Pack<f64>, T> Ways<P, T> {
    #[inline(always)]
    fn new(row: &Row, turn: T, z: Screw<P>) -> Self {
        let mut before = None;
        if let Some([cos, sin, shift]) = &row.before {
            before = Some(Screw::new(each(cos), each(sin), each(shift)));
        }
        let mut across = None;
        if let Some(shift) = &row.across {
            across = Some(each(shift));
        }
        let mut aside = None;
        if let Some([y, z]) = &row.aside {
            aside = Some([each(y), each(z)]);
        }
        let along = each(&row.along);
        let turn = Apart { turn, along, across };
        Self {
            before,
            tilt: Tilt { turn, along: 0.0 },
            aside,
            z,
        }
    }
}

/// Runs `$run` with `$ways` bound to the ways of a row.
macro_rules! at_row {
    (<$pack:ty> $row:expr, $z:expr, $ways:ident => $run:expr) => {{
        match $row.tilt {
            Passage::TurnFlat => {
                let $ways = Ways::<$pack, _>::new($row, Flat, $z);
                $run
            }
            Passage::TurnQuarter => {
                let $ways = Ways::<$pack, _>::new($row, Quarter, $z);
                $run
            }
            _ => {
                let [cos, sin] = &$row.lean;
                let turn = Turn {
                    cos: each(cos),
                    sin: each(sin),
                };
                let $ways = Ways::<$pack, _>::new($row, Leaning(turn), $z);
                $run
            }
        }
    }};
}

/// Outward: a and b of every row, and what other sweeps need of its joints. The trunk's rates are there.
#[inline(always)]
pub(crate) fn rates<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>, tau: &[f64]) {
    for run in &b.runs {
        let mut last = omegas::<P>(run, s);
        for (i, row) in run.rows.iter().enumerate() {
            let torque: P = from_each!(<P> row.dofs, v => tau[v]);
            let z = screws::<P>(row, &s.joints.screws);
            let inner = at_row!(<P> row, z, ways => ways.spin_out(last));
            let rate: P = from_each!(<P> row.dofs, v => s.qd[v]);
            let (omega, a) = Hinge::Revolute.step(Some(inner), &[rate]);
            let (inertia, differences) = inertia(row);
            let mut force = inertia.gyroscopic(differences, omega);
            if s.loaded {
                force -= loads(row, &s.loads);
            }
            let memory = &mut s.scratch.abreast.rows[run.first_row + i];
            write(memory, at::A, a.to_array());
            write(memory, at::B, force.to_array());
            write(memory, at::SCREW, [z.turn.cos, z.turn.sin, z.shift]);
            write(memory, at::TORQUE, [torque * each(&row.real)]);
            if row.bears {
                leave_omega(row, omega, s);
            }
            last = omega;
        }
    }
}

/// ω of the links of a row, for the chains that hang on them.
#[inline(always)]
fn leave_omega<P: Pack<f64>>(row: &Row, omega: Vec3<P>, s: &mut Stages<f64>) {
    for lane in 0..PACK {
        if row.own_dofs[lane] != GAP {
            let omega = Vec3::new(omega.x.lane(lane), omega.y.lane(lane), omega.z.lane(lane));
            s.rates[row.links[lane]].omega = omega;
        }
    }
}

/// α likewise.
#[inline(always)]
fn leave_alpha<P: Pack<f64>>(row: &Row, alpha: Motion<P>, s: &mut Stages<f64>) {
    let alpha = alpha.to_array();
    for lane in 0..PACK {
        if row.own_dofs[lane] != GAP {
            let mut one = [0.0; 6];
            for i in 0..6 {
                one[i] = alpha[i].lane(lane);
            }
            s.alpha[row.links[lane]] = Motion::from_array(one);
        }
    }
}

/// What the joints of a row do, from their links.
#[inline(always)]
fn screws<P: Pack<f64>>(row: &Row, screws: &[Screw<f64>]) -> Screw<P> {
    let [a, b, c, d] = row.links;
    let [a, b, c, d] = [&screws[a], &screws[b], &screws[c], &screws[d]];
    Screw::new(
        P::read(&[a.turn.cos, b.turn.cos, c.turn.cos, d.turn.cos]),
        P::read(&[a.turn.sin, b.turn.sin, c.turn.sin, d.turn.sin]),
        P::read(&[a.shift, b.shift, c.shift, d.shift]),
    )
}

/// ω of the links that a run hangs on.
#[inline(always)]
fn omegas<P: Pack<f64>>(run: &Run, s: &Stages<f64>) -> Vec3<P> {
    Vec3::new(
        from_each!(<P> run.parents, p => s.rates[p].omega.x),
        from_each!(<P> run.parents, p => s.rates[p].omega.y),
        from_each!(<P> run.parents, p => s.rates[p].omega.z),
    )
}

/// α of the links that a run hangs on.
#[inline(always)]
fn alphas<P: Pack<f64>>(run: &Run, s: &Stages<f64>) -> Motion<P> {
    let alphas = &s.alpha;
    Motion::from_array([
        from_each!(<P> run.parents, p => alphas[p].angular.x),
        from_each!(<P> run.parents, p => alphas[p].angular.y),
        from_each!(<P> run.parents, p => alphas[p].angular.z),
        from_each!(<P> run.parents, p => alphas[p].linear.x),
        from_each!(<P> run.parents, p => alphas[p].linear.y),
        from_each!(<P> run.parents, p => alphas[p].linear.z),
    ])
}

/// What the joints of a row do, once that is known.
#[inline(always)]
fn screw<P: Pack<f64>>(memory: &[Register<f64>]) -> Screw<P> {
    let [cos, sin, shift] = read(memory, at::SCREW);
    Screw::new(cos, sin, shift)
}

#[inline(always)]
fn inertia<P: Pack<f64>>(row: &Row) -> (RigidBody<P>, [P; 3]) {
    let x = &row.inertia;
    let body = RigidBody {
        mass: each(&x[0]),
        first: Vec3::new(each(&x[1]), each(&x[2]), each(&x[3])),
        second: [
            each(&x[4]),
            each(&x[5]),
            each(&x[6]),
            each(&x[7]),
            each(&x[8]),
            each(&x[9]),
        ],
    };
    (body, [each(&x[10]), each(&x[11]), each(&x[12])])
}

/// For torques alone.
#[inline(always)]
fn laden<P: Pack<f64>>(row: &Row) -> Eccentric<P> {
    let x = &row.laden;
    Eccentric {
        first: [each(&x[0]), each(&x[1])],
        second: [each(&x[2]), each(&x[3]), each(&x[4]), each(&x[5]), each(&x[6])],
    }
}

#[inline(always)]
fn loads<P: Pack<f64>>(row: &Row, loads: &[Force<f64>]) -> Force<P> {
    let real = each::<P>(&row.real);
    let mut f = [P::ZERO; 6];
    for (i, f) in f.iter_mut().enumerate() {
        let x: P = from_each!(<P> row.links, k => loads[k].to_array()[i]);
        *f = x * real;
    }
    Force::from_array(f)
}

/// Inward: P, D, G and P⁺, ε and z⁺ of every row; and what the first rows hand to those they hang on.
#[inline(always)]
pub(crate) fn inward<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>) {
    for (place, run) in b.runs.iter().enumerate().rev() {
        inward_along::<P>(run, place, s);
    }
}

#[inline(always)]
fn inward_along<P: Pack<f64>>(run: &Run, place: usize, s: &mut Stages<f64>) {
    let mut carried = s.scratch.abreast.gather::<P>(run);
    for (i, row) in run.rows.iter().enumerate().rev() {
        let memory = &s.scratch.abreast.rows[run.first_row + i];
        let force = Force::from_array(read::<_, P, 6>(memory, at::B));
        let a = Motion::from_array(read::<_, P, 6>(memory, at::A));
        let (own, _) = inertia::<P>(row);
        let (mut p, mut z) = carried;
        p += own;
        z += force;
        if let Some(slot) = row.slot {
            let (p_others, z_others) = s.scratch.abreast.waiting(slot);
            p += p_others;
            z += z_others;
        }
        let memory = &s.scratch.abreast.rows[run.first_row + i];
        let torque: [P; 1] = read(memory, at::TORQUE);
        let z_screw = screw::<P>(memory);
        let mut eps = [P::ZERO];
        let gain;
        if let Some(rotors) = &row.rotors {
            let (u, whole) = (p.column(2), sizes(&p)[0]);
            let d = u[2] + each(rotors);
            gain = Gain::new(d.recip(), u).judged(d, whole);
            p.subtract_outer(gain.g, u);
            Hinge::Revolute.innovate(&mut z, &torque, &[gain], &mut eps);
            let z_plus = p.times(a) + z;
            carried = at_row!(<P> row, z_screw, ways => (ways.carry_in(p), ways.force_in(z_plus)));
        } else {
            p.a[5] += each(&row.unreal);
            let d_inv = p.a[5].recip();
            let (g, rest) = p.release_about_z(d_inv);
            gain = Gain { d_inv, g }.judged(p.a[5], sizes(&p)[0]);
            Hinge::Revolute.innovate(&mut z, &torque, &[gain], &mut eps);
            let z_plus = rest.times(a) + z;
            carried = at_row!(<P> row, z_screw, ways => (ways.carry_in_about_z(rest), ways.force_in(z_plus)));
        }
        let Gain { d_inv, g } = gain;
        let memory = &mut s.scratch.abreast.rows[run.first_row + i];
        write(memory, at::GAIN, [d_inv, g[0], g[1], g[2], g[3], g[4], g[5]]);
        write(memory, at::EPS, eps);
    }
    s.scratch.abreast.hand(place, &carried.0, carried.1);
}

/// Outward: q̈ of every row. The trunk's accelerations are there. Zero is returned where every pivot is sound.
#[inline(always)]
pub(crate) fn outward<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>, qdd: &mut [f64]) -> f64 {
    let mut unsound = P::ZERO;
    for run in &b.runs {
        let mut last = alphas::<P>(run, s);
        for (i, row) in run.rows.iter().enumerate() {
            let memory = &s.scratch.abreast.rows[run.first_row + i];
            let a = Motion::from_array(read(memory, at::A));
            let [d_inv, g @ ..] = read::<_, P, 7>(memory, at::GAIN);
            let eps: [P; 1] = read(memory, at::EPS);
            let z = screw::<P>(memory);
            let mut alpha = at_row!(<P> row, z, ways => ways.motion_out(last)) + a;
            let (gain, mut acceleration) = (Gain { d_inv, g }, [P::ZERO]);
            Hinge::Revolute.resolve(&mut alpha, &eps, &[gain], &mut acceleration);
            acceleration[0].write_some(&row.own_dofs, GAP, qdd);
            unsound += gain.unsound();
            if row.bears {
                leave_alpha(row, alpha, s);
            }
            last = alpha;
        }
    }
    let mut total = 0.0;
    for lane in 0..P::LANES {
        total += unsound.lane(lane);
    }
    total
}

/// Inverse dynamics, outward: f = Mα + b − f_ext of every row. The trunk's rates and accelerations are there.
#[inline(always)]
pub(crate) fn accelerate<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>, qdd: &[f64]) {
    for run in &b.runs {
        let mut last = (omegas::<P>(run, s), alphas::<P>(run, s));
        for (i, row) in run.rows.iter().enumerate() {
            let z = screws::<P>(row, &s.joints.screws);
            let (spin, mut alpha) = at_row!(<P> row, z, ways => (ways.spin_out(last.0), ways.motion_out(last.1)));
            let rate: P = from_each!(<P> row.dofs, v => s.qd[v]);
            let acceleration: P = from_each!(<P> row.dofs, v => qdd[v]);
            let (omega, a) = Hinge::Revolute.step(Some(spin), &[rate]);
            alpha += Hinge::Revolute.add_motion(a, &[acceleration]);
            let mut force = laden::<P>(row).force(omega, alpha);
            if s.loaded {
                force -= loads(row, &s.loads);
            }
            let memory = &mut s.scratch.abreast.rows[run.first_row + i];
            write(memory, at::B, force.to_array());
            write(memory, at::SCREW, [z.turn.cos, z.turn.sin, z.shift]);
            if row.bears {
                leave_omega(row, omega, s);
                leave_alpha(row, alpha, s);
            }
            last = (omega, alpha);
        }
    }
}

/// Inverse dynamics, inward: f = f + Σ φ f(c), T = H f; and what the first rows hand to those they hang on.
#[inline(always)]
pub(crate) fn project<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>, tau: &mut [f64]) {
    for (place, run) in b.runs.iter().enumerate().rev() {
        let mut carried = s.scratch.abreast.gather_force::<P>(run);
        for (i, row) in run.rows.iter().enumerate().rev() {
            let memory = &s.scratch.abreast.rows[run.first_row + i];
            let own = Force::from_array(read::<_, P, 6>(memory, at::B));
            let z = screw::<P>(memory);
            let mut force = carried + own;
            if let Some(slot) = row.slot {
                force += s.scratch.abreast.waiting_force::<P>(slot);
            }
            force.moment.z.write_some(&row.own_dofs, GAP, tau);
            carried = at_row!(<P> row, z, ways => ways.force_in(force));
        }
        s.scratch.abreast.hand_force(place, carried);
    }
}

/// 𝓜, inward: r of every row, and the elements that its columns give on their way to the base.
#[inline(always)]
pub(crate) fn composites<P: Pack<f64>>(m: &Compiled, b: &Bundles, s: &mut Stages<f64>, out: &mut [f64]) {
    let runs = b.runs.len();
    // Zeros are written in between, as memory has time for them there.
    let mut part = 0;
    for i in 0..runs + b.folded.len() {
        let is_folded = i >= runs;
        let run = if is_folded {
            &b.folded[i - runs]
        } else {
            &b.runs[runs - 1 - i]
        };
        let mut carried = s.scratch.abreast.gather_body::<P>(run);
        for row in run.rows.iter().rev() {
            let mut r = carried;
            let mut come = row.column;
            if !is_folded {
                r += inertia::<P>(row).0;
                if let Some(slot) = row.slot {
                    r += s.scratch.abreast.waiting_body::<P>(slot);
                }
                let own = Hinge::Revolute.column_of(&r, 0).to_array();
                write(&mut s.scratch.abreast.columns, 6 * row.column, own);
                come += 1;
            }
            for c in come..row.come {
                s.scratch.abreast.take_column::<P>(c, &b.columns[c].from);
            }
            P::fill(&b.copies, part, out);
            part += 1;
            let z = screws::<P>(row, &s.joints.screws);
            let (columns, elements) = s.scratch.abreast.columns.split_at_mut(row.elements);
            let columns = columns[6 * row.column..6 * run.end].as_chunks_mut::<6>().0;
            let elements = &mut elements[..columns.len()];
            at_row!(<P> row, z, ways => {
                if !is_folded {
                    carried = ways.carry_rigid_in(r);
                }
                for c in 0..elements.len() {
                    let column = &mut columns[c];
                    let f = Force::from_array(read::<_, P, 6>(column, 0));
                    f.moment.z.write(&mut elements[c].0);
                    write(column, 0, ways.force_in(f).to_array());
                }
            });
        }
        if !is_folded {
            s.scratch.abreast.hand_body(runs - 1 - i, carried);
        }
        along_trunk::<P>(m, run, s);
    }
    while part < b.copies.parts() {
        P::fill(&b.copies, part, out);
        part += 1;
    }
    P::copy(&b.copies, &s.scratch.abreast.columns, out);
}

/// The columns of a run, from its first row to the base.
#[inline(always)]
fn along_trunk<P: Pack<f64>>(m: &Compiled, run: &Run, s: &mut Stages<f64>) {
    for passed in &run.onward {
        let body = &m.bodies[passed.link];
        let start = passed.elements.unwrap_or(s.scratch.abreast.columns.len());
        let (columns, elements) = s.scratch.abreast.columns.split_at_mut(start);
        // A turning joint has its element in hand when a column passes it.
        let mut turned = &mut [][..];
        if body.revolute && body.parent.is_some() {
            turned = &mut elements[..passed.columns.len()];
        } else if passed.elements.is_some() {
            project_columns::<P>(body.hinge, columns, passed, elements);
        }
        if body.parent.is_some() {
            AnyJoint::new(m, &s.joints, passed.link).forces_in::<P>(columns, turned, passed);
        }
    }
}

/// H f of the columns that pass a link: one degree of freedom after the other.
#[inline(always)]
fn project_columns<P: Pack<f64>>(
    hinge: Hinge,
    columns: &[Register<f64>],
    passed: &Passed,
    elements: &mut [Register<f64>],
) {
    let mut to = 0;
    for &axis in hinge.axes() {
        for &(c, _) in &passed.columns {
            let mut x: [P; 1] = read(columns, 6 * c + axis);
            if let Some(pitch) = hinge.pitch() {
                let [along] = read(columns, 6 * c + 5);
                x = [P::lift(pitch).mul_add(along, x[0])];
            }
            write(elements, to, x);
            to += 1;
        }
    }
}
