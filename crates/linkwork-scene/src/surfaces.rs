//! What two surfaces do together.

use linkwork::contact::Surface;

/// The surface of one collider, and how it meets others.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Matter {
    /// What it does where it touches.
    pub surface: Surface,
    /// Of two colliders the one with the higher priority says alone what they do.
    pub priority: i32,
    /// Two colliders may touch if one's `kind` shares a bit with the other's `affinity`.
    pub kind: u32,
    /// See `kind`.
    pub affinity: u32,
}

impl Default for Matter {
    fn default() -> Self {
        Self {
            surface: Surface::default(),
            priority: 0,
            kind: 1,
            affinity: 1,
        }
    }
}

impl Matter {
    /// Whether two may touch.
    pub fn meets(&self, other: &Self) -> bool {
        self.kind & other.affinity != 0 || other.kind & self.affinity != 0
    }
}

/// What two surfaces do together: of equal priority the greater friction and restitution, springs in a row, and the slower
/// relaxation.
pub fn combine(a: &Matter, b: &Matter) -> Surface {
    if a.priority != b.priority {
        return if a.priority > b.priority { a.surface } else { b.surface };
    }
    let (a, b) = (&a.surface, &b.surface);
    Surface {
        friction: a.friction.max(b.friction),
        torsion: a.torsion.max(b.torsion),
        rolling: a.rolling.max(b.rolling),
        restitution: a.restitution.max(b.restitution),
        stiffness: match (a.stiffness, b.stiffness) {
            (Some(a), Some(b)) => Some(a * b / (a + b)),
            (one, other) => one.or(other),
        },
        relaxation: match (a.relaxation, b.relaxation) {
            (Some(a), Some(b)) => Some(a.max(b)),
            (one, other) => one.or(other),
        },
    }
}
