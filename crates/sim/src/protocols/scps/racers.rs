//! Racers that carry SCPS-TP.

use skyhaul_core::Verdict;
use skyhaul_scenario::{EndConfig, Grounds, RacerEntry};
use skyhaul_tcp::scps::Scps;
use skyhaul_tcp::{Config, ControllerKind};

use super::SCPS_TP;

/// SCPS-TP told nothing, by Vegas; and told the rate of a path that nobody else uses, whose losses are damage
/// [SCPS-TP 6.1.2]; and with the parameters of the file.
pub(super) static RACERS: [RacerEntry; 3] = [
    RacerEntry { board_name: Some("scps-tp"), ..RacerEntry::new("scps-tp", |grounds| ends(grounds, false)) },
    RacerEntry {
        board_name: Some("scps-tp-declared"),
        is_declared: true,
        ..RacerEntry::new("scps-tp-declared", |grounds| ends(grounds, true))
    },
    RacerEntry::new("scps-tp-of-file", of_file),
];

/// As the file has it for the flow, where that is SCPS-TP; else told nothing.
fn of_file(grounds: &Grounds<'_>) -> [EndConfig; 2] {
    let is_own = |end: &EndConfig| end.get::<Config>().is_some_and(|config| config.scps.is_some());
    if grounds.of_file.into_iter().all(is_own) {
        return grounds.of_file.map(Clone::clone);
    }
    ends(grounds, false)
}

fn ends(grounds: &Grounds<'_>, is_declared: bool) -> [EndConfig; 2] {
    let plain = Config::scps_tp();
    let (controller, loss_cause) = if is_declared {
        (ControllerKind::Off, Verdict::Corruption)
    } else {
        (ControllerKind::Vegas, Verdict::Congestion)
    };
    let end = |rate_bps| {
        SCPS_TP.end(Config {
            mss_bytes: grounds.max_payload_bytes(),
            rate_bps,
            send_limit_bytes: plain.send_limit_bytes.max(grounds.buffer_bytes),
            receive_limit_bytes: plain.receive_limit_bytes.max(grounds.buffer_bytes),
            scps: Some(Scps { controller: controller.clone(), loss_cause, ..Scps::standard() }),
            ..plain.clone()
        })
    };
    [end(grounds.rate_bps), end(None)]
}
