use alloc::string::ToString;

use crate::test_support::{at, with_outages};
use crate::{DirectionConfig, LinkConfig, Outage, Problem, QueueLimit, Reordering};

fn complaint(config: &LinkConfig) -> (alloc::string::String, Problem) {
    let error = config.validate().unwrap_err();
    assert!(error.to_string().starts_with(&error.field), "{error}");
    (error.field, error.problem)
}

fn forward(direction: DirectionConfig) -> LinkConfig {
    LinkConfig { forward: direction, ..LinkConfig::default() }
}

#[test]
fn a_perfect_wire_and_extremes_are_fine() {
    assert_eq!(LinkConfig::default().validate(), Ok(()));
    let extreme = DirectionConfig {
        rate_bps: Some(1),
        delay_ns: u64::MAX,
        queue: QueueLimit::Packets(1),
        loss: 1.0,
        bit_error_rate: 1.0,
        ..DirectionConfig::default()
    };
    assert_eq!(forward(extreme).validate(), Ok(()));
}

#[test]
fn probabilities_lie_between_0_and_1() {
    for p in [-0.1, 1.1, f64::INFINITY, f64::NEG_INFINITY] {
        let config = forward(DirectionConfig { loss: p, ..DirectionConfig::default() });
        assert_eq!(complaint(&config), ("forward.loss".to_string(), Problem::NotAProbability(p)));
    }
    let reverse = DirectionConfig { bit_error_rate: f64::NAN, ..DirectionConfig::default() };
    let (field, problem) = complaint(&LinkConfig { reverse, ..LinkConfig::default() });
    assert_eq!(field, "reverse.bit_error_rate");
    assert!(matches!(problem, Problem::NotAProbability(p) if p.is_nan()));
    let reordering = Reordering { probability: 2.0, extra_delay_ns: 1 };
    let (field, _) = complaint(&forward(DirectionConfig { reordering, ..DirectionConfig::default() }));
    assert_eq!(field, "forward.reordering.probability");
}

#[test]
fn rates_and_queues_are_not_zero() {
    let config = forward(DirectionConfig { rate_bps: Some(0), ..DirectionConfig::default() });
    assert_eq!(complaint(&config), ("forward.rate_bps".to_string(), Problem::ZeroRate));
    for queue in [QueueLimit::Packets(0), QueueLimit::Bytes(0)] {
        let config = forward(DirectionConfig { queue, ..DirectionConfig::default() });
        assert_eq!(complaint(&config), ("forward.queue".to_string(), Problem::ZeroQueue));
    }
}

#[test]
fn outages_are_sorted_and_disjoint_and_not_empty() {
    let outages = |outages| with_outages(LinkConfig::default(), outages);
    assert_eq!(outages(&[(0, 5), (5, 7), (9, 10)]).validate(), Ok(()), "they may touch");
    let empty = Problem::EmptyOutage(Outage { from: at(9), to: at(9) });
    assert_eq!(complaint(&outages(&[(0, 5), (9, 9)])), ("outages[1]".to_string(), empty));
    let early = Problem::OutageTooEarly { from: at(4), previous_to: at(5) };
    assert_eq!(complaint(&outages(&[(0, 5), (4, 9)])), ("outages[1]".to_string(), early));
}

#[test]
fn messages_say_what_where_and_what_to_do() {
    let config = forward(DirectionConfig { loss: 1.5, ..DirectionConfig::default() });
    assert_eq!(
        config.validate().unwrap_err().to_string(),
        "forward.loss: 1.5 is no probability; it must lie between 0 and 1"
    );
}
