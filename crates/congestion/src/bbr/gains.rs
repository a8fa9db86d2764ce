//! Gains as multiples of 1/256.

/// One.
pub(super) const UNIT: u64 = 256;
/// 2/ln 2 = 2.885: the smallest that doubles the rate each round trip, rounded up.
pub(super) const HIGH: u64 = UNIT * 2885 / 1000 + 1;
/// Its inverse.
pub(super) const DRAIN: u64 = UNIT * 1000 / 2885;
/// The window in bandwidth-delay products: delayed and bunched acknowledgements do not stop the sender.
pub(super) const WINDOW: u64 = 2 * UNIT;
/// Probing for more bandwidth, draining what that queued, then cruising: a round trip each.
pub(super) const CYCLE: [u64; 8] = [UNIT * 5 / 4, UNIT * 3 / 4, UNIT, UNIT, UNIT, UNIT, UNIT, UNIT];

/// `value` times `gain`.
pub(super) fn scaled(value: u64, gain: u64) -> u64 {
    u64::try_from(u128::from(value) * u128::from(gain) / u128::from(UNIT)).unwrap_or(u64::MAX)
}
