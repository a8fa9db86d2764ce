//! The tool itself: what it is told, and one small transfer of each kind.

use std::io;
use std::time::Duration;

use skyhaul_link::LinkConfig;

use crate::arguments::{self, Mode};
use crate::ends::{Amount, Transfer};
use crate::lab::{self, Middle};
use crate::numbers::median;
use crate::stacks::Tcp::{self, Kernel, Ours};

fn parse(line: &str) -> Result<Mode, String> {
    arguments::parse(line.split_whitespace().map(str::to_string))
}

#[test]
fn what_is_not_understood_is_said() {
    let wrong = |line: &str| parse(line).err().unwrap();
    assert!(wrong("").contains("missing"));
    assert!(wrong("race").contains("'race' is no mode"));
    assert!(wrong("cpu --rate 5M").contains("--rate 5M: no such option"));
    assert!(wrong("compare --rtt").contains("--rtt needs a value"));
    assert!(wrong("compare --rtt 5").contains("--rtt 5"));
    assert!(wrong("compare --loss 1").contains("below 1"));
    assert!(wrong("compare --controllers reno,vegas").contains("reno, cubic or bbr"));
    assert!(wrong("compare --repeats 0").contains("from 1"));
}

#[test]
fn a_link_is_as_it_is_told() {
    let line =
        "compare --rate 10M --rtt 40ms --queue 33 --loss 0.01 --seed 5 --controllers bbr --receiver ours";
    let Ok(Mode::Compare(plan)) = parse(line) else { panic!() };
    assert_eq!((plan.link.forward.rate_bps, plan.link.forward.delay_ns), (Some(10_000_000), 20_000_000));
    assert_eq!((plan.link.forward.loss, plan.link.reverse.loss), (0.01, 0.0));
    assert_eq!((plan.seed, plan.receiver), (5, Ours));
}

#[test]
fn the_middle_of_two_is_between_them() {
    let medians = [median([3.0, 1.0, 2.0]), median([4.0, 1.0]), median([])];
    assert_eq!(medians.map(|value| (2.0 * value) as u64), [4, 5, 0]);
}

fn transfer(sender: Tcp, receiver: Tcp, amount: Amount) -> Transfer {
    Transfer { sender, receiver, controller: "reno", mtu_bytes: 1500, amount, log: None }
}

fn skipped() -> bool {
    let failed = lab::check();
    if let Err(error) = &failed {
        let _ = io::Write::write_fmt(
            &mut io::stderr(),
            format_args!("SKIPPED a transfer of tcp-perf: {error}\n"),
        );
    }
    failed.is_err()
}

#[test]
fn every_pair_transfers_everything() {
    const BYTES: u64 = 2_000_000;
    if skipped() {
        return;
    }
    let nothing = |sender, receiver| {
        if (sender, receiver) == (Kernel, Kernel) { Middle::Relay } else { Middle::Nothing }
    };
    for (sender, receiver) in [(Kernel, Kernel), (Kernel, Ours), (Ours, Kernel), (Ours, Ours)] {
        let whole = transfer(sender, receiver, Amount::Bytes(BYTES, Duration::from_secs(30)));
        for middle in [Middle::Relay, nothing(sender, receiver)] {
            let outcome = lab::run(&whole, &middle).unwrap();
            assert_eq!(outcome.received.bytes, BYTES, "{sender:?} to {receiver:?}");
        }
        let timed = transfer(sender, receiver, Amount::Time(Duration::from_millis(300)));
        let outcome = lab::run(&timed, &Middle::Link(&LinkConfig::default(), 1)).unwrap();
        let link = outcome.link.unwrap();
        assert!(outcome.received.bytes > 0 && link.forward.counters.entered_packets > 0, "{link:?}");
        assert!(outcome.sent.retransmitted.is_some() || sender == Kernel, "ours always knows");
    }
}
