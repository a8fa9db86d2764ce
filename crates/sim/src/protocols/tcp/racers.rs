//! Racers that carry TCP: our own engine in virtual time, the kernel's in real time.

use skyhaul_link::{Discipline, ExplicitConfig};
use skyhaul_scenario::{EndConfig, Grounds, RacerEntry};
use skyhaul_tcp::{Config, ControllerKind};

use super::TCP;

/// TCP by each controller that a kernel has, too, and by those that need something of the path: routers, or
/// drops by class.
pub(super) static RACERS: [RacerEntry; 6] = [
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
