//! How impulses of contacts change with the configuration, as a matrix and without sweeps.
//!
//! In the world's axes at a tree's home the rigid steps φ are identities. A displacement along the column S_j of a joint moves all links
//! outboard of it by S_j and turns their velocities at fixed joint rates by V × S_j, V being that of the link inboard. So a contact
//! whose wrench changes by K with both adds S_i·K(S_j, V × S_j) for the joints i and j on the ways of its links to the root; and what
//! is outboard of j turns with it, F being its total: S_i·(S_j ×* F) for joints inboard of j.

use super::cone::ROWS;
use super::contact_derivatives::{EndChange, Touching};
use crate::model::Compiled;
use crate::spatial::{Force, Motion};
use crate::stage::world::World;

/// What the matrix is made of: velocities and totals of forces are in the links' frames. `users` has for each degree of freedom the
/// users' one that it follows, and its ratio.
pub(super) struct Parts<'a> {
    pub(super) m: &'a Compiled,
    pub(super) world: &'a World<f64>,
    pub(super) touching: &'a [Touching],
    pub(super) velocities: &'a [Motion],
    pub(super) totals: &'a [Force],
    pub(super) users: &'a [(usize, f64)],
    /// The order of the matrix.
    pub(super) n: usize,
}

crate::functions! {
    /// Adds how J*γ changes with q at fixed v⁺, row by row.
    pub(super) fn AddImpulses((parts, out): (&Parts<'_>, &mut [f64])) -> () {
        let Parts { m, world, n, .. } = *parts;
        let mut add = |i: usize, j: usize, x: f64| {
            let ((row, left), (column, right)) = (parts.users[i], parts.users[j]);
            out[row * n + column] += left * right * x;
        };
        for (k, body) in m.bodies.iter().enumerate() {
            let total = world.poses[k].force_in(parts.totals[k]);
            for j in body.v..body.v + body.dofs {
                let turned = world.columns[j].cross_force(total);
                let mut next = body.parent;
                while let Some(p) = next {
                    let inner = &m.bodies[p];
                    for i in inner.v..inner.v + inner.dofs {
                        add(i, j, world.columns[i].dot(turned));
                    }
                    next = inner.parent;
                }
            }
        }
        for one in parts.touching {
            let links = one.point.arms.ends;
            let mut ways = links;
            // A parent has the smaller number.
            while let Some(k) = ways[0].max(ways[1]) {
                let body = &m.bodies[k];
                let on = [ways[0] == Some(k), ways[1] == Some(k)];
                let inner = body.parent.map_or(Motion::ZERO, |p| {
                    world.poses[p].inverse().motion_out(parts.velocities[p])
                });
                for j in body.v..body.v + body.dofs {
                    let s = world.columns[j];
                    let bent = inner.cross(s);
                    let mut ends = [EndChange::ZERO; 2];
                    for side in 0..2 {
                        if let (true, Some(link)) = (on[side], links[side]) {
                            let link = &world.poses[link];
                            ends[side] = EndChange { moved: link.motion_out(s), velocity: link.motion_out(bent) };
                        }
                    }
                    let changed = one.change(&ends, &[0.0; ROWS]);
                    for side in 0..2 {
                        let Some(link) = links[side] else { continue };
                        let force = world.poses[link].force_in(changed[side]);
                        let mut next = Some(link);
                        while let Some(p) = next {
                            let outer = &m.bodies[p];
                            for i in outer.v..outer.v + outer.dofs {
                                add(i, j, world.columns[i].dot(force));
                            }
                            next = outer.parent;
                        }
                    }
                }
                for side in 0..2 {
                    if on[side] {
                        ways[side] = body.parent;
                    }
                }
            }
        }
    }
}
