//! Racers that carry TCP: our own engine in virtual time, the kernel's in real time.

use skyhaul_link::{Discipline, ExplicitConfig};
use skyhaul_scenario::{EndConfig, Grounds, RacerEntry};
use skyhaul_tcp::{Config, ControllerKind};

use super::TCP;

/// TCP by each controller that a kernel has, too, and by those that need something of the path: routers, or
/// drops by class.
pub(super) static RACERS: [RacerEntry; 7] = [
    RacerEntry {
        board_name: Some("tcp-cubic"),
        kernel_controller: Some("cubic"),
        ..RacerEntry::new("tcp-cubic", |grounds| ends(grounds, ControllerKind::Cubic))
    },
    RacerEntry {
        board_name: Some("tcp-bbr"),
        kernel_controller: Some("bbr"),
        ..RacerEntry::new("tcp-bbr", |grounds| ends(grounds, ControllerKind::Bbr))
    },
    RacerEntry {
        board_name: Some("tcp-reno"),
        kernel_controller: Some("reno"),
        ..RacerEntry::new("tcp-reno", |grounds| ends(grounds, ControllerKind::Reno))
    },
    RacerEntry {
        kernel_controller: Some("reno"),
        kernel_switches: &[
            ("ipv4/tcp_sack", "0"),
            ("ipv4/tcp_timestamps", "0"),
            ("ipv4/tcp_window_scaling", "0"),
            ("ipv4/tcp_ecn", "0"),
            ("ipv4/tcp_moderate_rcvbuf", "0"),
        ],
        keeps_window: true,
        ..RacerEntry::new("tcp-regular", regular)
    },
    RacerEntry {
        router: Some(ExplicitConfig { discipline: Discipline::Xcp, set_off: None }),
        ..simulated_alone("tcp-xcp", |grounds| ends(grounds, ControllerKind::Xcp))
    },
    RacerEntry {
        router: Some(ExplicitConfig { discipline: Discipline::PXcp, set_off: None }),
        ..simulated_alone("tcp-p-xcp", |grounds| ends(grounds, ControllerKind::PXcp))
    },
    simulated_alone("tcp-peach-plus", |grounds| ends(grounds, ControllerKind::PeachPlus)),
];

/// Racer that nothing plays in real time.
const fn simulated_alone(name: &'static str, ends: fn(&Grounds<'_>) -> [EndConfig; 2]) -> RacerEntry {
    RacerEntry { board_name: Some(name), is_simulated_alone: true, ..RacerEntry::new(name, ends) }
}

/// The "regular TCP" of the SCPS-TP paper: SunOS 4.1.3, of the kernel Reno without SACK, timestamps, scaled
/// windows and ECN, with a window of 1.1 bandwidth-delay products [SCPS-TP 6.1].
fn regular(grounds: &Grounds<'_>) -> [EndConfig; 2] {
    // Buffers are four products.
    let window_bytes = (grounds.buffer_bytes * 11 / 40).clamp(2048, 0xFFFF);
    let sunos = Config::sunos_4_1_3();
    let end = Config {
        mss_bytes: grounds.max_payload_bytes().min(sunos.mss_bytes),
        send_limit_bytes: window_bytes,
        receive_limit_bytes: window_bytes,
        ..sunos
    };
    [TCP.end(end.clone()), TCP.end(end)]
}

/// Parameters as a user today has them: the kernel's TCP knows nothing of the file's either.
fn ends(grounds: &Grounds<'_>, controller: ControllerKind) -> [EndConfig; 2] {
    let standard = Config::standard();
    let end = Config {
        controller,
        mss_bytes: grounds.max_payload_bytes(),
        send_limit_bytes: standard.send_limit_bytes.max(grounds.buffer_bytes),
        receive_limit_bytes: standard.receive_limit_bytes.max(grounds.buffer_bytes),
        ..standard
    };
    [TCP.end(end.clone()), TCP.end(end)]
}
