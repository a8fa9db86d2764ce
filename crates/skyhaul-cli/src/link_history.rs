//! History of an emulated link, and the delays with which a sender met its outages.

use serde::Serialize;
use skyhaul_core::{Instant, SECOND};
use skyhaul_link::{Conditions, LinkConfig, LinkCounters, Outage};

use crate::verdicts::{VerdictResult, seconds};

/// Outages that are listed.
const MAX_OUTAGES: usize = 256;
/// Time ahead in which an outage is looked for that a larger file would have met.
const AHEAD_NS: u64 = 3600 * SECOND;

/// History of the emulated link: what it really did.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct LinkHistory {
    /// Times at which it was gone, the first [`MAX_OUTAGES`] times.
    pub(crate) gone: Vec<Gone>,
    /// Number of times that it was gone.
    pub(crate) gone_times: usize,
    /// Length of all of them together.
    pub(crate) gone_s: f64,
    /// If it was never gone: when it would have been the next time, after the first write.
    #[serde(skip)]
    pub(crate) next_gone_s: Option<f64>,
    /// Packets on the way there that it dropped, named like what a sender takes them for.
    pub(crate) dropped: Dropped,
}

/// A time without a link.
#[derive(Clone, Copy, Debug, Serialize)]
pub(crate) struct Gone {
    /// From the first write on.
    pub(crate) at_s: f64,
    pub(crate) duration_s: f64,
}

/// Dropped packets by what really happened.
#[derive(Clone, Copy, Debug, Default, Serialize)]
pub(crate) struct Dropped {
    pub(crate) congestion: u64,
    pub(crate) corruption: u64,
    pub(crate) outage: u64,
}

impl LinkHistory {
    /// About the link from `start` to `end`, by its own clock.
    pub(crate) fn new(
        config: &LinkConfig,
        seed: u64,
        start: Instant,
        end: Instant,
        counters: &LinkCounters,
    ) -> Self {
        let conditions = Conditions::new(config, seed).ok();
        let within = |until| conditions.as_ref().map(|c| c.outages(start, until)).unwrap_or_default();
        let outages = within(end);
        let next = if outages.is_empty() { within(end.after(AHEAD_NS)) } else { Vec::new() };
        let length_ns = |outage: &Outage| outage.to.since(outage.from);
        let gone = |outage: &Outage| Gone {
            at_s: seconds(outage.from.since(start)),
            duration_s: seconds(length_ns(outage)),
        };
        let drops = counters.dropped;
        Self {
            gone: outages.iter().take(MAX_OUTAGES).map(gone).collect(),
            gone_times: outages.len(),
            gone_s: seconds(outages.iter().map(length_ns).sum()),
            next_gone_s: next.first().map(|outage| gone(outage).at_s),
            dropped: Dropped {
                congestion: drops.congestion(),
                corruption: drops.random_loss + drops.bit_error,
                outage: drops.outage,
            },
        }
    }
}

/// Delays with which a sender met the outages of a link.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Noticed {
    /// Outages that a cycle fell to.
    pub(crate) times: usize,
    /// From the beginning of an outage to the alarm, on average.
    pub(crate) after_gone_s: f64,
    /// From the end of an outage to the end of the cycle, on average.
    pub(crate) after_back_s: f64,
}

/// Sets the cycles that found an outage beside the outages; `None` if there was no such cycle. A
/// cycle that lasted through several counts from the beginning of the first to the end of the last.
pub(crate) fn noticed(verdicts: &[VerdictResult], gone: &[Gone]) -> Option<Noticed> {
    let delays: Vec<[f64; 2]> = verdicts
        .iter()
        .filter(|v| v.verdict == "outage")
        .filter_map(|v| delays_s(v.at_s, v.at_s + v.duration_s?, gone))
        .collect();
    let mean = |which: usize| delays.iter().map(|d| d[which]).sum::<f64>() / delays.len() as f64;
    (!delays.is_empty()).then(|| Noticed {
        times: delays.len(),
        after_gone_s: mean(0),
        after_back_s: mean(1),
    })
}

/// Delays of a cycle that found an outage, at both ends.
fn delays_s(alarm_s: f64, end_s: f64, gone: &[Gone]) -> Option<[f64; 2]> {
    let met = |g: &&Gone| g.at_s <= end_s && alarm_s <= g.at_s + g.duration_s;
    let first = gone.iter().find(met).or_else(|| gone.iter().rev().find(|g| g.at_s <= alarm_s))?;
    let backs = gone.iter().rev().map(|g| g.at_s + g.duration_s);
    let back = backs.into_iter().find(|back| *back <= end_s)?;
    // A machine that stood still raises an alarm of its own, and the link may go while the sender asks.
    Some([(alarm_s - first.at_s).max(0.0), end_s - back])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verdicts::samples::outage;

    fn cycle(at_s: f64, duration_s: f64) -> VerdictResult {
        VerdictResult { at_s, duration_s: Some(duration_s), ..outage() }
    }

    #[test]
    fn a_short_run_knows_the_outage_that_it_did_not_meet() {
        let config = skyhaul_link::preset("leo-passes").unwrap();
        let truth = |seconds: u64| {
            let end = Instant::from_ns(seconds * SECOND);
            LinkHistory::new(&config, 1, Instant::ZERO, end, &LinkCounters::default())
        };
        let (long, short) = (truth(3000), truth(0));
        assert!(long.gone_times > 100 && long.next_gone_s.is_none(), "{}", long.gone_times);
        assert_eq!((short.gone_times, short.next_gone_s), (0, Some(long.gone[0].at_s)));
    }

    fn gone(at_s: f64, duration_s: f64) -> Gone {
        Gone { at_s, duration_s }
    }

    #[test]
    fn cycles_are_set_beside_the_outages() {
        let outages = [gone(1.0, 2.0), gone(10.0, 1.0), gone(11.5, 0.5)];
        assert_eq!(noticed(&[], &outages), None);
        assert_eq!(noticed(&[cycle(0.5, 0.1)], &outages), None, "before the first outage");
        let both = noticed(&[cycle(1.5, 1.75), cycle(10.25, 2.0)], &outages);
        assert_eq!(both, Some(Noticed { times: 2, after_gone_s: 0.375, after_back_s: 0.25 }));
    }

    #[test]
    fn an_outage_that_begins_while_the_sender_already_asks_was_noticed_at_once() {
        let outages = [gone(1.0, 0.5), gone(3.0, 0.5)];
        let at_once = |after_back_s| Some(Noticed { times: 1, after_gone_s: 0.0, after_back_s });
        assert_eq!(noticed(&[cycle(0.75, 1.0)], &outages), at_once(0.25));
        assert_eq!(noticed(&[cycle(2.75, 1.0)], &outages), at_once(0.25), "not of the first outage");
    }
}
