//! The algorithms, one family per file, over stages that are filled on demand.

pub(crate) mod abreast;
pub(crate) mod centroidal;
mod columns;
pub(crate) mod composite;
pub(crate) mod coriolis;
pub(crate) mod diagonal;
pub(crate) mod elements;
pub(crate) mod embedded;
pub(crate) mod forward;
mod in_line;
pub(crate) mod inverse;
pub(crate) mod inverse_mass;
pub(crate) mod kinematics;
pub(crate) mod linearized;
pub(crate) mod operational;
pub(crate) mod paths;
mod square;
pub(crate) mod tiled;
