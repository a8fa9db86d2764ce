use alloc::format;
use alloc::string::ToString;

use skyhaul_core::SECOND;

use crate::test_support::{at, state, with_channel, with_outages};
use crate::{
    BurstLoss, DirectionConfig, ExplicitConfig, LinkConfig, MIN_MEAN_STAY_NS, Outage, PolicerConfig, Problem,
    QueueLimit, RedConfig, Reordering,
};

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
fn every_probability_of_a_burst_is_checked() {
    let none = BurstLoss::default();
    let wrong = [
        ("good_to_bad", BurstLoss { good_to_bad: 1.5, ..none }),
        ("bad_to_good", BurstLoss { bad_to_good: 1.5, ..none }),
        ("loss_good", BurstLoss { loss_good: 1.5, ..none }),
        ("loss_bad", BurstLoss { loss_bad: 1.5, ..none }),
    ];
    for (field, burst_loss) in wrong {
        let config = forward(DirectionConfig { burst_loss, ..DirectionConfig::default() });
        let field = format!("forward.burst_loss.{field}");
        assert_eq!(complaint(&config), (field, Problem::NotAProbability(1.5)));
    }
}

#[test]
fn both_states_of_a_channel_are_checked() {
    let fine = state(MIN_MEAN_STAY_NS, 1.0, [5, 5]);
    let wrong = [
        ("mean_stay_ns", state(999, 0.0, [0, 0]), Problem::ShortStay(999)),
        ("loss", state(SECOND, 1.1, [0, 0]), Problem::NotAProbability(1.1)),
        ("min_delay_ns", state(SECOND, 0.0, [6, 5]), Problem::MinAboveMax { min_ns: 6, max_ns: 5 }),
    ];
    let config = |good, bad| with_channel(LinkConfig::default(), good, bad);
    assert_eq!(config(fine, fine).validate(), Ok(()));
    for (field, state, problem) in wrong {
        assert_eq!(complaint(&config(state, fine)), (format!("channel.good.{field}"), problem));
        assert_eq!(complaint(&config(fine, state)), (format!("channel.bad.{field}"), problem));
    }
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
fn a_policer_has_a_rate_and_a_depth_and_no_router_behind_it() {
    let policed = |rate_bps, depth_bytes| DirectionConfig {
        rate_bps: Some(1_000_000),
        policer: Some(PolicerConfig { rate_bps, depth_bytes }),
        ..DirectionConfig::default()
    };
    assert_eq!(forward(policed(1, 1)).validate(), Ok(()));
    let no_rate = complaint(&forward(policed(0, 1500)));
    assert_eq!(no_rate, ("forward.policer.rate_bps".to_string(), Problem::ZeroRate));
    let no_depth = complaint(&forward(policed(1_000_000, 0)));
    assert_eq!(no_depth, ("forward.policer.depth_bytes".to_string(), Problem::ZeroDepth));
    let explicit = Some(ExplicitConfig::default());
    let both = DirectionConfig { explicit, ..policed(1_000_000, 64_000) };
    assert_eq!(complaint(&forward(both)), ("forward.explicit".to_string(), Problem::ExplicitPoliced));
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

#[test]
fn early_detection_has_thresholds_of_one_unit_in_order() {
    let complaint_of =
        |red| complaint(&forward(DirectionConfig { red: Some(red), ..DirectionConfig::default() }));
    let standard = RedConfig::default();
    let (packets, bytes) = (QueueLimit::Packets, QueueLimit::Bytes);
    for (min, max) in [(packets(5), packets(5)), (packets(1), bytes(9)), (bytes(2), bytes(1))] {
        let red = RedConfig { min, max, ..standard };
        assert_eq!(complaint_of(red), ("forward.red.max".to_string(), Problem::Thresholds));
    }
    let red = RedConfig { min: QueueLimit::Unlimited, max: QueueLimit::Unlimited, ..standard };
    assert_eq!(complaint_of(red).1, Problem::Thresholds);
    assert_eq!(complaint_of(RedConfig { weight: 0.0, ..standard }).0, "forward.red.weight");
    assert_eq!(
        complaint_of(RedConfig { max_probability: f64::NAN, ..standard }).0,
        "forward.red.max_probability"
    );
    assert_eq!(complaint_of(RedConfig { mean_packet_bytes: 0, ..standard }).1, Problem::PacketSize);
}
