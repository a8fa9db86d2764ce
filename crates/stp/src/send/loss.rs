//! Loss that a connection has seen, and how many repair symbols it asks for. In whole numbers.

/// A million of a million.
const MILLION: u64 = 1_000_000;
/// Loss of more than 9 packets in 10 is counted as that.
const MAX_LOSS: u64 = 900_000;
/// Symbols beyond those expected to be needed, in standard deviations: 49 times in 50 they suffice at once.
const MARGIN: u64 = 2;

/// Loss seen on a connection: packets judged lost, of a million transmissions whose fate is known.
#[derive(Clone, Copy, Debug)]
pub(super) struct Loss {
    per_million: u64,
}

impl Loss {
    /// Loss of `lost` among `known` transmissions.
    pub(super) fn new(lost: u64, known: u64) -> Self {
        Self { per_million: (lost.saturating_mul(MILLION) / known.max(1)).min(MAX_LOSS) }
    }

    /// True if there was any.
    pub(super) fn is_seen(self) -> bool {
        self.per_million > 0
    }

    /// Repair symbols to send for `missing` packets and `open` ones that may be lost, with `under_way`
    /// symbols not reported on: as many as arrive in sufficient number 49 times in 50. In thousandths of a
    /// packet.
    pub(super) fn symbols(self, missing: u64, open: u64, under_way: u64) -> u64 {
        if missing == 0 && open == 0 {
            return 0;
        }
        let (lost, kept) = (self.per_million, MILLION - self.per_million);
        let needed = missing * 1000 + open * lost / 1000;
        let arriving = under_way * kept / 1000;
        let variance = lost * kept / MILLION * (missing + open + under_way);
        let short = (needed + MARGIN * variance.isqrt()).saturating_sub(arriving);
        (short * 1000).div_ceil(kept)
    }
}
