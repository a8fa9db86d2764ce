//! Sentences, for every cause.

use super::*;
use crate::errors::ErrorCode;
use crate::file_results::FileResults;
use crate::limited::samples::table;
use skyhaul_core::Stats;
use skyhaul_core::event::RuledBy;
use skyhaul_files::SessionReport;
use skyhaul_lab::transfer::{LossCounts, Traffic};

fn result(ms: &[(Cause, u64)]) -> TransferResult {
    let blank = TransferResult::new(&SessionReport::default(), Some(&Stats::default()));
    TransferResult { limited_by: Some(table(ms)), ..blank }
}

fn sentence(result: &TransferResult) -> String {
    why(result).unwrap_or_default()
}

#[test]
fn the_longest_cause_comes_first_and_long_ones_follow() {
    let causes = [
        (Cause::Confirmation, 300),
        (Cause::PathRate, 8_000),
        (Cause::Machine, 1_500),
        (Cause::Opening, 100),
    ];
    let told = sentence(&result(&causes));
    assert!(
        told.starts_with("the path's rate, 8.0 s of 9.9 s (then this machine 1.5 s); this machine: it was "),
        "advice on what can be helped: {told}"
    );
    assert_eq!(why(&result(&[])), None, "no time has passed");
    assert_eq!(
        why(&result(&[(Cause::Opening, 20), (Cause::Confirmation, 1)])),
        None,
        "nobody waits for that"
    );
}

#[test]
fn a_path_within_a_machine_is_no_machine_that_was_stopped() {
    let within = result(&[(Cause::PathRate, 3_000)]);
    let within = TransferResult { limited_by: within.limited_by.map(LimitedBy::within_machine), ..within };
    let told = sentence(&within);
    assert!(
        told.starts_with("this machine, 3.0 s of 3.0 s: the path lies within it, and both ends"),
        "{told}"
    );
}

#[test]
fn every_cause_has_its_words() {
    let mut seen = std::collections::BTreeSet::new();
    for (cause, _) in table(&[]).ranked() {
        let told = sentence(&result(&[(cause, 1_000)]));
        assert!(told.starts_with(&format!("{}, 1.0 s of 1.0 s: ", named(cause))), "{told}");
        assert!(seen.insert(told.split_once(": ").unwrap_or_default().1.to_string()), "{told}");
        assert!(doing(cause).chars().count() <= 36, "there is room for it on a line");
    }
}

#[test]
fn no_sentence_fills_the_screen() {
    let causes: Vec<Cause> = table(&[]).ranked().into_iter().map(|(cause, _)| cause).collect();
    for (place, &cause) in causes.iter().enumerate() {
        let others = causes[..place].iter().chain(&causes[place + 1..]).map(|&other| (other, 1_000));
        let all: Vec<(Cause, u64)> = [(cause, 10_000)].into_iter().chain(others).collect();
        let lines = crate::wrap::wrapped(&sentence(&result(&all[..3])), 20).lines().count();
        assert!(lines <= 5, "{lines} lines about {cause:?}");
    }
}

fn too_fast() -> TransferResult {
    TransferResult {
        declared_rate_bps: Some(30_000_000),
        payload_bytes: 5_000_000,
        forward: Traffic { packets: 11_262, bytes: 16_100_000 },
        losses: LossCounts { congestion: 4_798, corruption: 1_281, outage: 0, unknown: 0 },
        ..result(&[(Cause::Losses, 2_500), (Cause::DeclaredRate, 1_800)])
    }
}

#[test]
fn a_declaration_above_what_the_path_carries_is_told_with_one_that_is_not() {
    let told = sentence(&too_fast());
    for part in
        ["losses, 2.5 s of 4.3 s", "30.00 Mbit/s, is above", "about 9.58 Mbit/s, so 3.2 MB", "--rate 9.1M"]
    {
        assert!(told.contains(part), "{part}: {told}");
    }
    let unknown = LossCounts { congestion: 0, corruption: 0, outage: 0, unknown: 6_000 };
    assert!(sentence(&TransferResult { losses: unknown, ..too_fast() }).contains("is above"));
    let damage = LossCounts { congestion: 1, corruption: 300, outage: 0, unknown: 0 };
    let told = sentence(&TransferResult { losses: damage, ..too_fast() });
    assert!(told.contains("taken for damage, and 3.2 MB"), "what a link loses is no sign: {told}");
}

#[test]
fn a_declaration_that_was_lowered_is_told_whatever_took_the_most_time() {
    for causes in [[600, 200, 3_500], [600, 3_500, 200], [3_500, 600, 200]] {
        let [losses, declared, path] = causes;
        let by = [(Cause::Losses, losses), (Cause::DeclaredRate, declared), (Cause::PathRate, path)];
        let losses = LossCounts { congestion: 600, corruption: 0, outage: 0, unknown: 900 };
        let lowered = TransferResult { lowered_rate_bps: Some(9_500_000), losses, ..too_fast() };
        let told = sentence(&TransferResult { limited_by: Some(table(&by)), ..lowered });
        for part in ["30.00 Mbit/s, is above", "about 9.58 Mbit/s, so 3.2 MB", "--rate 9.1M"] {
            assert!(told.contains(part), "{part}: {told}");
        }
    }
}

#[test]
fn a_declaration_that_is_a_little_too_high_is_not_to_be_raised() {
    let slightly = TransferResult {
        declared_rate_bps: Some(12_000_000),
        payload_bytes: 20_000_000,
        forward: Traffic { packets: 16_200, bytes: 24_000_000 },
        losses: LossCounts { congestion: 2_170, corruption: 0, outage: 0, unknown: 0 },
        ..result(&[(Cause::DeclaredRate, 13_400), (Cause::Losses, 3_300)])
    };
    let told = sentence(&slightly);
    assert!(told.contains("12.00 Mbit/s, is above") && told.contains("--rate 9.3M"), "{told}");
    let few = result(&[(Cause::DeclaredRate, 13_400), (Cause::Losses, 300)]);
    let told = sentence(&TransferResult { losses: slightly.losses, ..few });
    assert!(told.contains("declare more"), "{told}");
}

#[test]
fn losses_of_which_most_are_known_to_be_of_a_full_queue_are_not_called_a_faulty_link() {
    let lost = |congestion, corruption, unknown| {
        let losses = LossCounts { congestion, corruption, outage: 0, unknown };
        sentence(&TransferResult { losses, ..result(&[(Cause::Losses, 2_000), (Cause::PathRate, 1_000)]) })
    };
    assert!(lost(118, 78, 147).contains("a full queue"), "{}", lost(118, 78, 147));
    assert!(lost(10, 90, 80).contains("damage"), "{}", lost(10, 90, 80));
    assert!(lost(10, 20, 80).contains("no known reason"), "{}", lost(10, 20, 80));
}

#[test]
fn a_silence_in_which_nothing_was_lost_is_no_lost_link() {
    let silent = result(&[(Cause::Outage, 4_000), (Cause::PathRate, 1_000)]);
    assert!(sentence(&silent).contains("stood still"), "{}", sentence(&silent));
    let losses = LossCounts { congestion: 0, corruption: 0, outage: 5, unknown: 0 };
    let told = sentence(&TransferResult { losses, ..silent });
    assert!(told.contains("nothing passed"), "{told}");
}

#[test]
fn a_link_that_came_back_gets_no_advice_on_giving_up() {
    let losses = LossCounts { congestion: 0, corruption: 0, outage: 5, unknown: 0 };
    let gone = TransferResult { losses, ..result(&[(Cause::Outage, 4_000), (Cause::PathRate, 1_000)]) };
    let with = |code| TransferResult { error: Some(ErrorResult::new(code, "why")), ..gone.clone() };
    assert!(!sentence(&gone).contains("--give-up"), "{}", sentence(&gone));
    assert!(!sentence(&with(ErrorCode::Exists)).contains("--give-up"), "a file was refused, none given up");
    let given_up = sentence(&with(ErrorCode::GaveUp));
    assert!(given_up.contains("--give-up says how long"), "{given_up}");
}

#[test]
fn the_standard_input_is_told_from_a_disk() {
    let read = result(&[(Cause::Source, 9_000), (Cause::PathRate, 100)]);
    assert!(sentence(&read).contains("the files were read"));
    assert!(sentence(&TransferResult { read_s: Some(8.9), ..read }).contains("standard input"));
}

#[test]
fn a_suggested_rate_is_one_that_options_take() {
    for (bps, text) in
        [(9.58e6, "9.5M"), (13.7e6, "13M"), (2.419e8, "240M"), (1.26e9, "1.2G"), (800.0, "0.8k")]
    {
        assert_eq!(argument(bps), text);
        assert!(skyhaul_core::units::parse_rate_bps(text).is_ok_and(|rate| rate as f64 <= bps));
    }
}

#[test]
fn an_opening_that_was_lost_in_a_queue_gets_no_advice_on_files() {
    let after = |ms| {
        let mut opened = result(&[(Cause::Opening, ms), (Cause::PathRate, 200)]);
        opened.rtt_ms.min = Some(120.0);
        sentence(&opened)
    };
    assert!(after(360).contains("many files in one command"), "{}", after(360));
    let drowned = after(4_000);
    assert!(!drowned.contains("many files") && drowned.contains("lost or waited in a queue"), "{drowned}");
}

#[test]
fn what_a_file_took_that_failed_is_no_rate_and_not_sent_for_the_others() {
    let partly = |result| TransferResult {
        files: FileResults::of([("large", false), ("small", true)]),
        payload_bytes: 1_000,
        ..result
    };
    let told = sentence(&partly(too_fast()));
    let part =
        "is above what the path carries, so 16.1 MB were sent for 1.0 kB; declare less, or leave --rate out";
    assert!(told.contains(part), "{told}");
    let losses = LossCounts { congestion: 372, corruption: 0, outage: 0, unknown: 0 };
    let lost = result(&[(Cause::Losses, 500), (Cause::PathRate, 100)]);
    let forward = Traffic { packets: 2_527, bytes: 3_500_000 };
    let told = sentence(&partly(TransferResult { forward, losses, ..lost }));
    assert!(told.contains("a full queue, and 3.5 MB were sent for 1.0 kB; "), "{told}");
}

#[test]
fn a_rate_that_routers_told_was_not_found_out() {
    let ruled = |ruled_by, cause| {
        let stats = Stats { ruled_by, ..Stats::default() };
        let blank = TransferResult::new(&SessionReport::default(), Some(&stats));
        sentence(&TransferResult { limited_by: Some(table(&[(cause, 1_000)])), ..blank })
    };
    let told = ruled(Some(RuledBy::Routers), Cause::PathRate);
    assert!(told.contains("routers on the path told this rate") && !told.contains("found"), "{told}");
    let told = ruled(Some(RuledBy::Routers), Cause::Opening);
    assert!(told.contains("first words of routers") && !told.contains("search"), "{told}");
    for by in [None, Some(RuledBy::NoRouter), Some(RuledBy::QueueBehind), Some(RuledBy::PeerWithout)] {
        assert!(ruled(by, Cause::PathRate).contains("was found to carry"), "{by:?}");
        assert!(ruled(by, Cause::Opening).contains("search for a rate"), "{by:?}");
    }
}

#[test]
fn a_rate_that_was_found_out_may_be_declared_and_others_are_not_advised_to() {
    let lost = LossCounts { congestion: 372, corruption: 0, outage: 0, unknown: 0 };
    for cause in [Cause::PathRate, Cause::Neighbour, Cause::Losses] {
        let measured =
            TransferResult { controller: "model".into(), losses: lost, ..result(&[(cause, 1_000)]) };
        let told = sentence(&measured);
        assert!(told.ends_with(", declare the path's rate (--rate)"), "{told}");
        let told = sentence(&TransferResult { controller: "p-xcp".into(), ..measured });
        assert!(!told.contains("--rate"), "routers tell it: {told}");
    }
}
