//! TCP's parameters, as the seed picks them.

use skyhaul_core::{MS, SECOND, Verdict};
use skyhaul_tcp::scps::{Scps, Snack};
use skyhaul_tcp::{AcceleratedOpen, AckPolicy, Config, ControllerKind, Counting, Keepalive, Recovery};

use crate::common::dice::Dice;

/// Nobody who is patient repeats anything more often than this.
const FOR_EVER: u32 = 1 << 20;

/// A profile, with some of its parameters changed. The patient do not give up.
pub(crate) fn config(d: &mut Dice, impatient: bool) -> Config {
    let mut config = d.pick(&[Config::standard(), Config::paper(), Config::sunos_4_1_3()]);
    if d.percent(60) {
        vary_losses(d, &mut config);
    }
    if d.percent(60) {
        vary_limits(d, &mut config);
    }
    if d.percent(60) {
        vary_timers(d, &mut config);
    }
    if d.percent(60) {
        vary_habits(d, &mut config);
    }
    if d.percent(20) {
        config.keepalive = Some(keepalive(d, FOR_EVER));
    }
    if d.percent(25) {
        config.accelerated_open = Some(d.pick(&[AcceleratedOpen::Ttcp, AcceleratedOpen::FastOpen]));
    }
    if impatient {
        (config.max_syn_repeats, config.max_repeats) = (d.scale(1, 6) as u32, d.scale(3, 15) as u32);
        // An end that only listens would not notice that the other one has given up.
        config.keepalive = Some(keepalive(d, 5));
    } else {
        (config.max_syn_repeats, config.max_repeats) = (FOR_EVER, FOR_EVER);
    }
    config
}

/// Asks often enough for a run.
pub(crate) fn keepalive(d: &mut Dice, max_questions: u32) -> Keepalive {
    Keepalive {
        idle_ns: d.scale(SECOND, 100 * SECOND),
        interval_ns: d.scale(SECOND, 30 * SECOND),
        max_questions,
    }
}

fn vary_losses(d: &mut Dice, config: &mut Config) {
    config.recovery = d.pick(&[config.recovery, Recovery::Reno, Recovery::NewReno, Recovery::Sack]);
    let controllers =
        [&ControllerKind::WINDOWS[..], &ControllerKind::EXPLICIT[..], &ControllerKind::LOW_PRIORITY[..]]
            .concat();
    config.controller = d.pick(&controllers).1.clone();
    config.pacing_percent = d.pick(&[None, None, Some((200, 120)), Some((100, 100))]);
    config.hystart = d.percent(50);
    config.counting = d.pick(&[Counting::Acks, Counting::Bytes]);
    config.rate_reduction = d.percent(50);
    config.limited_transmit = d.percent(50);
    config.idle_restart = d.percent(50);
}

fn vary_limits(d: &mut Dice, config: &mut Config) {
    if d.percent(60) {
        config.receive_limit_bytes = d.scale(300, 1 << 20);
    }
    if d.percent(40) {
        config.send_limit_bytes = d.scale(300, 1 << 20);
    }
    if d.percent(30) {
        config.mss_bytes = d.pick(&[88, 100, 536, 1000, 8960]);
    }
    if d.percent(30) {
        config.initial_window_packets = Some(d.scale(1, 20));
    }
    config.window_scale = d.percent(50);
}

fn vary_timers(d: &mut Dice, config: &mut Config) {
    config.timer_granularity_ns = d.pick(&[0, 10 * MS, 500 * MS, SECOND]);
    config.initial_rto_ns = d.pick(&[300 * MS, SECOND, 3 * SECOND]);
    config.min_rto_ns = d.pick(&[10 * MS, 200 * MS, SECOND]);
    config.rto_margin_ns = d.pick(&[0, 200 * MS]);
    config.max_rto_ns = d.pick(&[10 * SECOND, 60 * SECOND, 120 * SECOND]);
    config.time_wait_ns = d.pick(&[30 * SECOND, 60 * SECOND, 240 * SECOND]);
    config.timestamp_tick_ns = d.pick(&[MS, 10 * MS, 500 * MS, SECOND]);
    config.black_hole_timeouts = d.pick(&[None, Some(1), Some(2), Some(4)]);
}

fn vary_habits(d: &mut Dice, config: &mut Config) {
    let (every_packets, delay_ns) = (d.scale(1, 16) as u32, d.scale(MS, 500 * MS));
    config.ack_policy = d.pick(&[
        AckPolicy::Immediate,
        AckPolicy::Delayed { every_packets, delay_ns },
        AckPolicy::Heartbeat { every_packets, tick_ns: delay_ns },
        AckPolicy::Reduced { every_packets, delay_ns },
        AckPolicy::Reduced { every_packets: u32::MAX, delay_ns },
        AckPolicy::Bytes { every_bytes: u64::from(every_packets) * 1400, delay_ns },
    ]);
    config.timestamps = d.percent(50);
    config.ecn = d.percent(70);
    config.nagle = d.percent(50);
    config.max_challenges_per_s = d.pick(&[1, 10, 1000]);
    config.discover_mtu = d.percent(50);
}

/// What counts where both speak SCPS-TP.
pub(crate) fn scps(d: &mut Dice) -> Scps {
    let (every_packets, delay_ns) = (d.scale(1, 16) as u32, d.scale(MS, 500 * MS));
    Scps {
        controller: d.pick(&[ControllerKind::Vegas, ControllerKind::Vegas, ControllerKind::Off]),
        pacing_percent: d.pick(&[None, Some((100, 100)), Some((200, 120))]),
        bandwidth_delay_bytes: None,
        ack_policy: d.pick(&[
            AckPolicy::PerRoundTrip { acks: 1 },
            AckPolicy::PerRoundTrip { acks: 4 },
            AckPolicy::PerRoundTrip { acks: 8 },
            AckPolicy::Reduced { every_packets: u32::MAX, delay_ns },
            AckPolicy::Delayed { every_packets, delay_ns },
        ]),
        loss_cause: d.pick(&[Verdict::Congestion, Verdict::Corruption]),
        snack: d.pick(&[Snack::Vector, Snack::Vector, Snack::Short, Snack::Off]),
        max_snacks: d.scale(1, 6) as u8,
        compression: d.percent(60),
        best_effort_ns: None, // everything is to arrive
        source_quench: false,
        ..Scps::standard()
    }
}
