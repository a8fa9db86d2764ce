//! Gap lists that cannot be.

use skyhaul_core::SECOND;
use skyhaul_stp::segment::{MAX_RUNS, Report, Segment};
use skyhaul_stp::{Config, ControllerKind};

use crate::peer::Liar;

/// Bound: a list that reaches beyond what was sent changes nothing and is counted.
#[test]
fn a_list_beyond_what_was_sent_is_refused() {
    let mut liar = Liar::new(Config::standard());
    liar.engine_writes(20_000);
    let before = liar.stats();
    for runs in [vec![1 << 22], vec![1; MAX_RUNS], vec![1, 1 << 20, 1]] {
        let lie = liar.stat(|report| Report { runs: runs.clone(), ..report });
        liar.say(&lie);
        let report = Report { next: lie.stat.unwrap().report.next, runs, ..Report::default() };
        liar.say(&Segment { ustat: Some(report), ..liar.blank.clone() });
    }
    let after = liar.stats();
    assert_eq!(after.refused, before.refused + 6);
    assert_eq!(after.lost_packets, before.lost_packets);
    assert_eq!(after.acknowledged_bytes, before.acknowledged_bytes);
}

/// Bound: the same gap reported a thousand times by USTAT costs one repeat, or one probing cycle, or both.
#[test]
fn a_gap_reported_for_ever_is_repeated_once() {
    let (window, model) = (&ControllerKind::SlowStartAvoidance, &ControllerKind::Model);
    let probing = Config::standard().probing;
    for (controller, probing, repeats, cycles) in
        [(window, None, 1, 0), (window, probing, 0, 1), (model, None, 1, 0), (model, probing, 1, 1)]
    {
        let controller = controller.clone();
        let liar = gap_reported_for_ever(Config { controller, probing, ..Config::standard() });
        let stats = liar.stats();
        assert_eq!((stats.retransmitted_packets, stats.probe_cycles), (repeats, cycles));
    }
}

fn gap_reported_for_ever(config: Config) -> Liar {
    let mut liar = Liar::new(config);
    liar.engine_writes(5_000);
    let Some(data) = liar.heard.iter().find(|heard| heard.payload_bytes > 0) else {
        panic!("the engine sent no data");
    };
    let first = data.segment.number;
    let report = Report { next: first, window_bytes: 1 << 20, runs: vec![1], ..Report::default() };
    for _ in 0..1000 {
        liar.say(&Segment { ustat: Some(report.clone()), ..liar.blank.clone() });
    }
    liar.wait(SECOND / 100);
    liar
}
