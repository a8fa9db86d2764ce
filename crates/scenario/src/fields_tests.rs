//! A field that is added to what a link's tables configure has a key, or these tests fail.

use skyhaul_link::{
    ArqConfig, BurstLoss, ChannelConfig, ChannelState, DirectionConfig, ExplicitConfig, LinkConfig, LowLimit,
    PolicerConfig, RedConfig, Reordering, StateConfig,
};

use super::fields::{each_sets_its_field, field_names, names};
use super::tables::{
    arq_keys, burst_keys, channel_keys, direction_keys, explicit_keys, link_keys, policer_keys, red_keys,
    reordering_keys, state_keys,
};

fn channel() -> ChannelConfig {
    let state = StateConfig { mean_stay_ns: 1, loss: 0.0, min_delay_ns: 0, max_delay_ns: 0 };
    ChannelConfig { good: state, bad: state, start: ChannelState::Good }
}

/// With a largest packet and all that came after it: without them, there are no such fields in the text.
fn direction() -> DirectionConfig {
    DirectionConfig {
        mtu_bytes: Some(1400),
        jitter_ns: 1,
        low_limit: LowLimit(2),
        explicit: Some(ExplicitConfig::default()),
        policer: Some(PolicerConfig { rate_bps: 1, depth_bytes: 1 }),
        ..DirectionConfig::default()
    }
}

#[test]
fn every_field_has_a_key_of_its_name_and_no_key_has_none() {
    let mut direction = field_names(&direction());
    assert!(direction.remove("schedule"), "traces bring it");
    assert_eq!(direction, names(direction_keys()));
    assert_eq!(field_names(&BurstLoss::default()), names(burst_keys()));
    assert_eq!(field_names(&RedConfig::default()), names(red_keys()));
    let mut arq = field_names(&ArqConfig::default());
    arq.insert("enabled".to_string());
    assert_eq!(arq, names(arq_keys()));
    assert_eq!(field_names(&PolicerConfig { rate_bps: 1, depth_bytes: 1 }), names(policer_keys()));
    assert_eq!(field_names(&ExplicitConfig::default()), names(explicit_keys()));
    assert_eq!(field_names(&Reordering::default()), names(reordering_keys()));
    assert_eq!(field_names(&channel()), names(channel_keys()));
    assert_eq!(field_names(&channel().good), names(state_keys()));
    let mut link = field_names(&LinkConfig::default());
    assert!(link.remove("name"), "the name of its table");
    link.extend(["arq", "between", "preset", "outages_every", "trace", "trace_repeats"].map(String::from));
    assert_eq!(link, names(link_keys()));
}

#[test]
fn each_key_sets_the_field_of_its_name() {
    each_sets_its_field(direction_keys(), &direction());
    each_sets_its_field(burst_keys(), &BurstLoss::default());
    each_sets_its_field(red_keys(), &RedConfig::default());
    each_sets_its_field(policer_keys(), &PolicerConfig { rate_bps: 1, depth_bytes: 1 });
    each_sets_its_field(explicit_keys(), &ExplicitConfig::default());
    each_sets_its_field(reordering_keys(), &Reordering::default());
    each_sets_its_field(channel_keys(), &channel());
    each_sets_its_field(state_keys(), &channel().good);
}
