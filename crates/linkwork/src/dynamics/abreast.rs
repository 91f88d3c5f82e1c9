//! Forward dynamics of branches side by side: the sweeps of [`super::forward`] on rows of links instead of links.
//!
//! Every lane computes exactly what its link would alone, in the same order; where a branch has no link, its lane carries
//! one without inertia behind a rotor of one, which hands nothing to its parent.

use crate::model::{Abreast as Row, Bundle, Bundles, Each, Gain, Hinge, Passage};
use crate::scalar::Pack;
use crate::spatial::{
    Apart, Articulated, Flat, Force, Leaning, Motion, PlanarTurn, Quarter, RigidBody, Screw, Tilt, Turn, Vec3,
};
use crate::stage::Stages;
use crate::stage::abreast::{Abreast, at, read, write};
use crate::stage::crossing::Across;

/// The numbers of all lanes, taken from their links.
macro_rules! from_each {
    ($places:expr, $k:ident => $number:expr) => {{
        let [a, b, c, d] = $places;
        P::read(&[
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

/// The way from the links of a row to their parents.
#[derive(Clone, Copy)]
struct Ways<P, T> {
    before: Option<Screw<P>>,
    tilt: Tilt<Apart<P, T>>,
    z: Screw<P>,
}

impl<P: Pack<f64>, T: PlanarTurn<P>> Across<P> for Ways<P, T> {
    type Tilting = Apart<P, T>;

    #[inline(always)]
    fn before(self) -> Option<Screw<P>> {
        self.before
    }

    #[inline(always)]
    fn tilt(self) -> Tilt<Apart<P, T>> {
        self.tilt
    }

    #[inline(always)]
    fn screw(self) -> Screw<P> {
        self.z
    }
}

#[inline(always)]
fn each<P: Pack<f64>>(x: &Each) -> P {
    P::read(x)
}

impl<P: Pack<f64>, T> Ways<P, T> {
    #[inline(always)]
    fn new(row: &Row, turn: T, screws: &[Screw<f64>]) -> Self {
        let mut before = None;
        if let Some([cos, sin, shift]) = &row.before {
            before = Some(Screw::new(each(cos), each(sin), each(shift)));
        }
        let mut across = None;
        if let Some(shift) = &row.across {
            across = Some(each(shift));
        }
        let along = each(&row.along);
        let turn = Apart { turn, along, across };
        Self {
            before,
            tilt: Tilt { turn, along: 0.0 },
            z: Screw::new(
                from_each!(row.links, k => screws[k].turn.cos),
                from_each!(row.links, k => screws[k].turn.sin),
                from_each!(row.links, k => screws[k].shift),
            ),
        }
    }
}

/// Runs `$run` with `$ways` bound to the ways of a row.
macro_rules! at_row {
    ($row:expr, $screws:expr, $ways:ident => $run:expr) => {{
        match $row.tilt {
            Passage::TurnFlat => {
                let $ways = Ways::<P, _>::new($row, Flat, $screws);
                $run
            }
            Passage::TurnQuarter => {
                let $ways = Ways::<P, _>::new($row, Quarter, $screws);
                $run
            }
            _ => {
                let [cos, sin] = &$row.lean;
                let turn = Turn {
                    cos: each(cos),
                    sin: each(sin),
                };
                let $ways = Ways::<P, _>::new($row, Leaning(turn), $screws);
                $run
            }
        }
    }};
}

/// Outward: ω, a and b of every row. The trunk's rates are there.
#[inline(always)]
pub(crate) fn rates<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>) {
    for bundle in &b.bundles {
        for (i, row) in bundle.rows.iter().enumerate() {
            let inner = match row.parent {
                Some(p) => read(&s.abreast.rows[bundle.first_row + p], at::OMEGA),
                None => [
                    from_each!(bundle.parents, p => s.rates[p].omega.x),
                    from_each!(bundle.parents, p => s.rates[p].omega.y),
                    from_each!(bundle.parents, p => s.rates[p].omega.z),
                ],
            };
            let rate: P = from_each!(row.dofs, v => s.qd[v]);
            let inner = at_row!(row, &s.joints.screws, ways => ways.spin_out(Vec3::from(inner)));
            let (omega, a) = Hinge::Revolute.step(Some(inner), &[rate]);
            let (inertia, differences) = inertia(row);
            let mut force = inertia.gyroscopic(differences, omega);
            if s.loaded {
                force -= loads(row, &s.loads);
            }
            let memory = &mut s.abreast.rows[bundle.first_row + i];
            write(memory, at::OMEGA, [omega.x, omega.y, omega.z]);
            write(memory, at::A, a.to_array());
            write(memory, at::B, force.to_array());
        }
    }
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

#[inline(always)]
fn loads<P: Pack<f64>>(row: &Row, loads: &[Force<f64>]) -> Force<P> {
    let real = each::<P>(&row.real);
    let mut f = [P::ZERO; 6];
    for (i, f) in f.iter_mut().enumerate() {
        let x: P = from_each!(row.links, k => loads[k].to_array()[i]);
        *f = x * real;
    }
    Force::from_array(f)
}

/// Inward: P, D, G and P⁺, ε and z⁺ of every row; and what the first row hands to the trunk.
#[inline(always)]
pub(crate) fn inward<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>, tau: &[f64]) {
    for (i, bundle) in b.bundles.iter().enumerate() {
        inward_along::<P>(bundle, i, s, tau);
    }
}

#[inline(always)]
fn inward_along<P: Pack<f64>>(bundle: &Bundle, place: usize, s: &mut Stages<f64>, tau: &[f64]) {
    let mut carried = (Articulated::<P>::ZERO, Force::<P>::ZERO);
    for (i, row) in bundle.rows.iter().enumerate().rev() {
        let memory = &s.abreast.rows[bundle.first_row + i];
        let force = Force::from_array(read::<_, P, 6>(memory, at::B));
        let a = Motion::from_array(read::<_, P, 6>(memory, at::A));
        let (own, _) = inertia::<P>(row);
        let (mut p, mut z) = if row.has_child {
            let (mut p, mut z) = carried;
            p += own;
            z += force;
            (p, z)
        } else {
            (Articulated::from(own), force)
        };
        if let Some(slot) = row.slot {
            let (p_others, z_others) = s.abreast.fetch::<P>(slot);
            p += p_others;
            z += z_others;
        }
        p.a[5] += each(&row.unreal);
        let d_inv = p.a[5].recip();
        let (g, rest) = p.release_about_z(d_inv);
        let gain = Gain { d_inv, g };
        let torque: P = from_each!(row.dofs, v => tau[v]);
        let mut eps = [P::ZERO];
        Hinge::Revolute.innovate(&mut z, &[torque * each(&row.real)], &[gain], &mut eps);
        let z_plus = rest.times(a) + z;
        carried = at_row!(row, &s.joints.screws, ways => (ways.carry_in_about_z(rest), ways.force_in(z_plus)));
        let memory = &mut s.abreast.rows[bundle.first_row + i];
        write(memory, at::GAIN, [d_inv, g[0], g[1], g[2], g[3], g[4], g[5]]);
        write(memory, at::EPS, eps);
        if let Some(slot) = row.hands_to {
            s.abreast.leave(slot, &carried.0, carried.1);
        }
    }
    s.abreast.hand(place, &carried.0, carried.1);
}

/// Outward: q̈ and α of every row. The trunk's accelerations are there.
#[inline(always)]
pub(crate) fn outward<P: Pack<f64>>(b: &Bundles, s: &mut Stages<f64>, qdd: &mut [f64]) {
    for bundle in &b.bundles {
        for (i, row) in bundle.rows.iter().enumerate() {
            let inner: [P; 6] = match row.parent {
                Some(p) => read(&s.abreast.rows[bundle.first_row + p], at::ALPHA),
                None => {
                    let alphas = &s.alpha;
                    [
                        from_each!(bundle.parents, p => alphas[p].angular.x),
                        from_each!(bundle.parents, p => alphas[p].angular.y),
                        from_each!(bundle.parents, p => alphas[p].angular.z),
                        from_each!(bundle.parents, p => alphas[p].linear.x),
                        from_each!(bundle.parents, p => alphas[p].linear.y),
                        from_each!(bundle.parents, p => alphas[p].linear.z),
                    ]
                }
            };
            let memory = &mut s.abreast.rows[bundle.first_row + i];
            let a = Motion::from_array(read(memory, at::A));
            let [d_inv, g @ ..] = read::<_, P, 7>(memory, at::GAIN);
            let eps: [P; 1] = read(memory, at::EPS);
            let inner = Motion::from_array(inner);
            let mut alpha = at_row!(row, &s.joints.screws, ways => ways.motion_out(inner)) + a;
            let mut acceleration = [P::ZERO];
            Hinge::Revolute.resolve(&mut alpha, &eps, &[Gain { d_inv, g }], &mut acceleration);
            write(memory, at::ALPHA, alpha.to_array());
            acceleration[0].write_some(&row.own_dofs, crate::model::GAP, qdd);
        }
    }
}

/// Nought where every pivot of every row is sound.
#[inline(always)]
pub(crate) fn unsound<P: Pack<f64>>(memory: &Abreast<f64>) -> f64 {
    let mut sum = P::ZERO;
    for row in &memory.rows {
        let [d_inv, g @ ..] = read::<_, P, 7>(row, at::GAIN);
        sum += Gain { d_inv, g }.unsound();
    }
    let mut total = 0.0;
    for lane in 0..P::LANES {
        total += sum.lane(lane);
    }
    total
}
