//! Racers that carry STP.

use skyhaul_link::{Discipline, ExplicitConfig};
use skyhaul_scenario::{EndConfig, Grounds, RacerEntry};
use skyhaul_stp::{Config, ControllerKind, ProbingConfig};

use super::STP;

/// STP as it is without any option, and by the papers' window: with or without the probing of XSTP, with or
/// without a declared rate; and by the routers on the path.
pub(super) static RACERS: [RacerEntry; 7] = [
    RacerEntry {
        board_name: Some("skyhaul"),
        is_subject: true,
        is_sealed: true,
        ..RacerEntry::new("skyhaul", |grounds| ends(grounds, true, &Config::standard().controller))
    },
    RacerEntry {
        groups: &["xstp"],
        board_name: Some("xstp-declared"),
        is_declared: true,
        ..RacerEntry::new("xstp-declared", xstp)
    },
    RacerEntry { groups: &["xstp"], board_name: Some("xstp"), ..RacerEntry::new("xstp-undeclared", xstp) },
    RacerEntry { groups: &["stp"], is_declared: true, ..RacerEntry::new("stp-declared", stp) },
    RacerEntry { groups: &["stp"], board_name: Some("stp"), ..RacerEntry::new("stp-undeclared", stp) },
    by_routers("skyhaul-xcp", Discipline::Xcp, |grounds| ends(grounds, true, &ControllerKind::Xcp)),
    by_routers("skyhaul-p-xcp", Discipline::PXcp, |grounds| ends(grounds, true, &ControllerKind::PXcp)),
];

/// What `send --controller` does, over routers by this discipline.
const fn by_routers(
    name: &'static str,
    discipline: Discipline,
    ends: fn(&Grounds<'_>) -> [EndConfig; 2],
) -> RacerEntry {
    RacerEntry {
        board_name: Some(name),
        router: Some(ExplicitConfig { discipline, set_off: None }),
        is_sealed: true,
        ..RacerEntry::new(name, ends)
    }
}

fn xstp(grounds: &Grounds<'_>) -> [EndConfig; 2] {
    ends(grounds, true, &ControllerKind::SlowStartAvoidance)
}

fn stp(grounds: &Grounds<'_>) -> [EndConfig; 2] {
    ends(grounds, false, &ControllerKind::SlowStartAvoidance)
}

/// Parameters as the file has them, if it speaks STP.
fn ends(grounds: &Grounds<'_>, probing: bool, controller: &ControllerKind) -> [EndConfig; 2] {
    let end = |of_file: &EndConfig, rate_bps| {
        let own = of_file.get().cloned().unwrap_or_else(|| Config {
            max_payload_bytes: usize::from(grounds.max_payload_bytes()),
            ..Config::standard()
        });
        STP.end(Config {
            rate_bps,
            controller: controller.clone(),
            probing: probing.then(|| own.probing.unwrap_or_else(ProbingConfig::standard)),
            send_limit_bytes: own.send_limit_bytes.max(grounds.buffer_bytes),
            receive_limit_bytes: own.receive_limit_bytes.max(grounds.buffer_bytes),
            ..own
        })
    };
    let [opener, acceptor] = grounds.of_file;
    [end(opener, grounds.rate_bps), end(acceptor, None)]
}
