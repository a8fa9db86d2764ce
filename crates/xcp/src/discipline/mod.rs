//! Disciplines: by how much positive feedback is handed out beyond what is to be added. One file each.

mod p_xcp;
mod untaken;

use crate::shares::Share;
use crate::{Discipline, RouterConfig};
use p_xcp::PXcp;
use untaken::Untaken;

/// What a discipline has counted in a control interval.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Counted {
    /// Nothing: draft-03 hands out what is to be added, no more.
    Xcp,
    PXcp(PXcp),
    Untaken(Untaken),
}

impl Counted {
    pub(crate) fn new(config: &RouterConfig) -> Self {
        match config.discipline {
            Discipline::Xcp => Self::Xcp,
            Discipline::PXcp => Self::PXcp(PXcp::default()),
            Discipline::Untaken => Self::Untaken(Untaken::default()),
        }
    }

    /// A packet of this X (in units of 2^-28 s) departed with its share.
    pub(crate) fn departed(&mut self, x_units: u32, share: &Share) {
        match self {
            Self::Xcp => {}
            Self::PXcp(counted) => counted.departed(x_units, share.is_limited),
            Self::Untaken(counted) => counted.departed(share),
        }
    }

    /// Factor of positive feedback in the next interval, after one in which packets arrived whose X sum up to
    /// `sum_x_s` seconds. At least 1.
    pub(crate) fn turn(&mut self, sum_x_s: f64) -> f64 {
        match self {
            Self::Xcp => 1.0,
            Self::PXcp(counted) => counted.turn(sum_x_s),
            Self::Untaken(counted) => counted.turn(),
        }
    }
}
