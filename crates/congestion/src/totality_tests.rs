//! Any order of calls with any values is survived.

use proptest::prelude::*;
use skyhaul_core::{Instant, Verdict};

use crate::pipe::config;
use crate::{Acked, ControllerKind, Delivery, ExtraSegments, Lost, RateSample, RouterFeedback, Signal};

proptest! {
    #[test]
    fn any_order_of_calls_is_survived(
        kind in proptest::sample::select([&ControllerKind::NAMES[..], &ControllerKind::EXPLICIT[..], &ControllerKind::LOW_PRIORITY[..]].concat()),
        calls in proptest::collection::vec((0u8..11, any::<u64>(), any::<u64>(), any::<bool>()), 1..200),
    ) {
        let mut cc = kind.1.build(config());
        for (call, a, b, yes) in calls {
            // Times up to 580 years, sizes up to a tebibyte.
            let (now, bytes, ns) = (Instant::from_ns(a), b >> 24, b >> 8);
            match call {
                0 => cc.on_sent(now, bytes),
                1 | 2 => {
                    let prior_total_bytes = a >> 20;
                    let rate = RateSample { bytes, interval_ns: ns, prior_total_bytes, app_limited: yes };
                    let delivery = Delivery {
                        newly_bytes: bytes,
                        total_bytes: b >> 20,
                        in_flight_bytes: a >> 24,
                        rtt_ns: Some(ns),
                        rate: (call == 1).then_some(rate),
                    };
                    cc.on_acked(now, &Acked {
                        bytes,
                        packets: 1,
                        in_flight_before_bytes: a >> 24,
                        rtt_ns: Some(ns),
                        smoothed_rtt_ns: ns,
                        app_limited: yes,
                        in_recovery: false,
                        delivery: Some(delivery),
                    });
                }
                3 => {
                    let (in_flight_bytes, verdict) = (a >> 24, Verdict::Congestion);
                    cc.on_lost(now, &Lost { bytes, packets: 1, begins_event: yes, in_flight_bytes, verdict });
                }
                4 => cc.on_signal(now, Signal::EcnMarks { in_flight_bytes: bytes }),
                5 => cc.on_signal(now, Signal::Timeout { in_flight_bytes: bytes, lost_bytes: bytes, left_bytes: 0, first: yes }),
                6 => cc.on_signal(now, Signal::Idle { idle_ns: ns, rto_ns: bytes }),
                7 => cc.on_signal(now, Signal::Recovered),
                8 => cc.on_feedback(now, &RouterFeedback { bytes_per_s: b as i32, routers: u8::from(yes), smoothed_rtt_ns: a }),
                9 => cc.on_extra(now, if yes { ExtraSegments::Ordered } else { ExtraSegments::Answered }),
                _ => cc.on_signal(now, Signal::Spurious),
            }
            prop_assert!(cc.window_bytes() > 0);
            prop_assert!(cc.pacing_rate_bps(ns).is_none_or(|rate_bps| rate_bps > 0));
        }
    }
}
