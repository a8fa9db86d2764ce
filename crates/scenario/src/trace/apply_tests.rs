//! Links with a trace.

use std::sync::Arc;

use skyhaul_core::{Instant, MS, SECOND};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage, ScheduleStep, preset};

use super::{Span, Trace};
use crate::error::SourceText;

fn trace(text: &str) -> Trace {
    let source = SourceText { label: "t.csv".to_string(), text: text.to_string(), is_override: false };
    Trace::read(&Arc::new(source)).unwrap_or_else(|error| panic!("{error}"))
}

fn applied(text: &str, span: Span) -> LinkConfig {
    let mut config = preset("geo").unwrap();
    trace(text).apply(&mut config, span).unwrap();
    config.validate().unwrap();
    config
}

/// Seconds, rate, delay in milliseconds.
fn steps(way: &DirectionConfig) -> Vec<(f64, u64, u64)> {
    let step = |step: &ScheduleStep| (step.at.as_secs_f64(), step.rate_bps.unwrap(), step.delay_ns / MS);
    way.schedule.iter().map(step).collect()
}

fn outages(config: &LinkConfig) -> Vec<(f64, f64)> {
    config.outages.iter().map(|o| (o.from.as_secs_f64(), o.to.as_secs_f64())).collect()
}

#[test]
fn the_largest_packet_falls_and_rises_with_the_rows() {
    let text = "time_s,mtu_bytes,reverse_mtu_bytes,rate_bps\n0,1500,,\n5,1300,1280,\n9,,,1000\n12,1500,,\n";
    let config = applied(text, Span::Once);
    let mtus = |way: &DirectionConfig| -> Vec<(f64, Option<u32>)> {
        way.schedule.iter().map(|step| (step.at.as_secs_f64(), step.mtu_bytes)).collect()
    };
    let forward = [(0.0, Some(1500)), (5.0, Some(1300)), (9.0, Some(1300)), (12.0, Some(1500))];
    assert_eq!(mtus(&config.forward), forward);
    assert_eq!(mtus(&config.reverse)[1], (5.0, Some(1280)));
    let without = applied("time_s,delay_ms\n0,5\n1,6\n", Span::Once);
    assert!(without.forward.schedule.iter().all(|step| step.mtu_bytes.is_none()));
}

#[test]
fn columns_are_for_one_direction_or_both_and_empty_fields_change_nothing() {
    let text = "time_s,rate_bps,reverse_rate_bps,forward_delay_ms\n0,1000,,\n1.5,,500,20\n2,3000,,\n3,,,\n";
    let config = applied(text, Span::Once);
    assert_eq!(steps(&config.forward), [(0.0, 1000, 275), (1.5, 1000, 20), (2.0, 3000, 20)]);
    assert_eq!(steps(&config.reverse), [(0.0, 1000, 275), (1.5, 500, 275), (2.0, 3000, 275)]);
    assert_eq!(config.outages, []);
    let both = applied("reverse_rate_bps,time_s,rate_bps\n7,0,9\n", Span::Once);
    assert_eq!(
        (steps(&both.forward)[0].1, steps(&both.reverse)[0].1),
        (9, 7),
        "the one for one direction counts"
    );
}

#[test]
fn a_trace_that_says_nothing_new_changes_nothing() {
    assert_eq!(applied("time_s,rate_bps,up\n0,10000000,1\n9,,\n", Span::Once), preset("geo").unwrap());
}

#[test]
fn up_becomes_outages_beside_those_that_are_there() {
    let mut config = preset("geo").unwrap();
    let own = Outage { from: Instant::from_ns(SECOND), to: Instant::from_ns(3 * SECOND) };
    config.outages.push(own);
    trace("time_s,up\n0,1\n2,0\n4,\n5,1\n6,1\n8,0\n9,0\n").apply(&mut config, Span::Once).unwrap();
    config.validate().unwrap();
    assert_eq!(outages(&config)[0], (1.0, 5.0), "they overlap");
    assert_eq!(
        config.outages[1],
        Outage { from: Instant::from_ns(8 * SECOND), to: Instant::MAX },
        "to the end"
    );
}

#[test]
fn a_trace_begins_again_at_the_time_of_its_last_row() {
    let text = "time_s,rate_bps,delay_ms,up\n0,1000,10,1\n1,2000,,0\n2,,30,1\n";
    let config = applied(text, Span::RepeatedUntil { end_ns: 5 * SECOND });
    let expected = [
        (0.0, 1000, 10),
        (1.0, 2000, 10),
        (2.0, 1000, 10),
        (3.0, 2000, 10),
        (4.0, 1000, 10),
        (5.0, 2000, 10),
    ];
    assert_eq!(steps(&config.forward), [&expected[..], &[(6.0, 2000, 30)]].concat());
    assert_eq!(outages(&config), [(1.0, 2.0), (3.0, 4.0), (5.0, 6.0)]);
    let open = applied("time_s,rate_bps\n0,\n1,5\n", Span::RepeatedUntil { end_ns: 3 * SECOND });
    assert_eq!(steps(&open.forward), [(1.0, 5, 275)], "an empty first row leaves what the last one said");
}

#[test]
fn what_cannot_be_repeated() {
    let refused = |text: &str| {
        trace(text)
            .apply(&mut LinkConfig::default(), Span::RepeatedUntil { end_ns: 100_000 * SECOND })
            .unwrap_err()
    };
    assert_eq!(refused("time_s,up\n0,1\n")[0], "a trace of one row");
    assert_eq!(refused("time_s,up\n0,1\n1,1\n"), ["200000 rows until `run.duration`", "at most 100000"]);
}
