//! Untaken feedback: what nobody took in the last interval is offered on top in the next one. Ours.

use crate::shares::Share;

/// Largest factor. Where nothing else is to be added, a tenth of the load is handed out in an interval: ten
/// times that at most doubles the load, should all take what few took before.
const MAX_FACTOR: f64 = 10.0;

/// Positive feedback that was offered, and its part that was neither taken nor set off.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Untaken {
    offered: f64,
    untaken: f64,
}

impl Untaken {
    pub(super) fn departed(&mut self, share: &Share) {
        self.offered += share.offered;
        self.untaken += share.untaken;
    }

    /// 1 / (1 - u), where u is the untaken part; [`MAX_FACTOR`] at most.
    pub(super) fn turn(&mut self) -> f64 {
        let Self { offered, untaken } = core::mem::take(self);
        let taken = offered - untaken;
        if offered <= 0.0 {
            return 1.0;
        }
        if taken * MAX_FACTOR <= offered { MAX_FACTOR } else { offered / taken }
    }
}
