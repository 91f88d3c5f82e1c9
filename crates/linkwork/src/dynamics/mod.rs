//! The algorithms, one family per file, over stages that are filled on demand.

pub(crate) mod augmented;
pub(crate) mod branches;
pub(crate) mod centroidal;
mod columns;
pub(crate) mod composite;
pub(crate) mod coriolis;
pub(crate) mod coupled_inverse_mass;
pub(crate) mod diagonal;
pub(crate) mod forward;
pub(crate) mod innovations;
pub(crate) mod inverse;
pub(crate) mod inverse_mass;
mod inverse_mass_by_tiles;
pub(crate) mod kinematics;
pub(crate) mod linearized;
pub(crate) mod many_models;
pub(crate) mod mass_columns;
pub(crate) mod mass_elements;
pub(crate) mod operational;
pub(crate) mod passivity;
pub(crate) mod tiled;
