//! What the default controller says of a path that a token bucket polices. Example `policed` prints what it
//! sends and gets there.

#[allow(dead_code, reason = "the example uses the rest")]
mod paths;

use paths::{Policed, USUAL};
use skyhaul_core::Limit;

#[test]
fn nobody_is_named_where_a_bucket_takes_what_exceeds_its_rate() {
    for (depth_bytes, rtt_ms, times) in
        [(16_000, 20, 5), (64_000, 60, 10), (256_000, 60, 2), (64_000, 600, 5)]
    {
        let path = Policed { depth_bytes, rtt_ms, line_kbps: times * USUAL.rate_kbps, ..USUAL };
        let run = path.run(1);
        assert!(matches!(run.first(), Limit::PathRate | Limit::Losses), "{path:?}: {run:?}");
        let all_ms: u64 = Limit::ALL.into_iter().map(|limit| run.spent_ms(limit)).sum();
        assert!(run.spent_ms(Limit::Neighbour) * 20 < all_ms, "{path:?}: {run:?}");
    }
}
