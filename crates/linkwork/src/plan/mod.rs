//! Planning for registers, once per mechanism: which links, columns and elements stand side by side.

mod bundles;
mod tiles;
mod zeros;

pub(crate) use bundles::{Abreast, Borne, Bundles, Course, Each, Met, Passed, Picks, Run, Whole};
pub(crate) use tiles::{MOST_SEEN, Seen, TILE, Tile, Tiles};
pub(crate) use zeros::{GROUP, Zeros, joins, path_order, waits_for_next, zero_ranges};
