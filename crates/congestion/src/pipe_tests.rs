//! How each controller behaves on one path, as a snapshot: 10 Mbit/s, 100 ms, a queue of half a
//! bandwidth-delay product (60 packets).

use skyhaul_core::{MS, SECOND};

use crate::ControllerKind;
use crate::pipe::{Path, Run};

const PATH: Path = Path { rate_bps: 10_000_000, rtt_ns: 100 * MS, queue_packets: 60, lost_per_million: 0 };

fn behaviour(kind: &ControllerKind) -> alloc::string::String {
    Run::new(kind, PATH).table(500 * MS, 40)
}

#[test]
fn reno_behaves_as_ever() {
    insta::assert_snapshot!(behaviour(&ControllerKind::Reno));
}

#[test]
fn cubic_behaves_as_ever() {
    insta::assert_snapshot!(behaviour(&ControllerKind::Cubic));
}

#[test]
fn bbr_behaves_as_ever() {
    insta::assert_snapshot!(behaviour(&ControllerKind::Bbr));
}

#[test]
fn vegas_behaves_as_ever() {
    insta::assert_snapshot!(behaviour(&ControllerKind::Vegas));
}

#[test]
fn each_controller_fills_a_clean_path() {
    for (name, kind) in ControllerKind::WINDOWS {
        let mut run = Run::new(&kind, PATH);
        run.go(5 * SECOND);
        let share = run.share_percent(30 * SECOND);
        assert!((80..=101).contains(&share), "{name}: {share} %");
    }
}
