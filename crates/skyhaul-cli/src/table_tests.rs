//! Tables that people read.

use super::*;
use crate::file_results::FileResults;
use crate::link_history::{Gone, LinkHistory};
use skyhaul_core::Stats;
use skyhaul_core::event::RuledBy;
use skyhaul_files::SessionReport;

fn with(lost_packets: [u64; 4]) -> TransferResult {
    let stats = Stats { lost_packets, controller: "fixed-rate", ..Stats::default() };
    delivered(TransferResult::new(&SessionReport::default(), Some(&stats)))
}

fn table(result: &TransferResult, every_file: bool) -> String {
    let mut out = Vec::new();
    write_table(&mut out, result, every_file).unwrap();
    String::from_utf8(out).unwrap()
}

fn delivered(result: TransferResult) -> TransferResult {
    TransferResult { files: FileResults::of([("", true)]), ..result }
}

#[test]
fn a_transfer_that_came_to_nothing_has_no_figures() {
    let unheard = TransferResult { files: FileResults::of([("f", false)]), ..with([0; 4]) };
    assert_eq!(table(&unheard, false), "");
    let reverse = Traffic { packets: 1, bytes: 60 };
    let heard_once = TransferResult { reverse, ..unheard };
    let told = table(&heard_once, false);
    assert!(!told.contains("delivered") && told.ends_with("f  FAILED: receiver: no\n"), "{told}");
    let probing = Probing { cycles: 1, ..heard_once.probing };
    let told = table(&TransferResult { probing, ..heard_once }, false);
    assert!(
        told.contains("  paused to ask     once; found: no answer 1\n"),
        "what is listed has its head: {told}"
    );
}

#[test]
fn what_was_sent_for_each_mb_is_told_of_files_that_outweigh_the_opening() {
    let sent = Traffic { packets: 4, bytes: 444 };
    let told = |payload_bytes| traffic(&TransferResult { payload_bytes, ..with([0; 4]) }, sent);
    assert_eq!(told(2), "444 B in 4 packets");
    assert_eq!(told(222_000), "444 B in 4 packets: 2.0 kB for each MB delivered");
}

#[test]
fn losses_are_told_in_plain_words() {
    assert_eq!(losses(&with([0; 4])), "nothing");
    assert_eq!(losses(&with([0, 0, 0, 7])), "7 packets with data, for a reason that was not sought");
    assert_eq!(losses(&with([0, 0, 0, 1])), "1 packet with data, for a reason that was not sought");
    let judged = losses(&with([1, 20, 3, 4]));
    assert!(judged.starts_with("28 packets") && judged.contains("damage 20"), "{judged}");
}

#[test]
fn what_the_link_did_stands_beside_what_the_sender_took_it_for() {
    let gone = vec![Gone { at_s: 1.0, duration_s: 2.0 }];
    let dropped = Dropped { outage: 30, ..Dropped::default() };
    let truth = LinkHistory { gone, gone_times: 1, gone_s: 2.0, next_gone_s: None, dropped };
    let all = table(&TransferResult { truth: Some(truth), ..with([0, 0, 28, 0]) }, true);
    for line in ["gone     once, 2.0 s in all", "the link being gone 28", "the link being gone 30"] {
        assert!(all.contains(line), "{line}: {all}");
    }
}

#[test]
fn a_run_that_met_no_outage_says_where_one_is() {
    let truth = LinkHistory { next_gone_s: Some(12.34), ..LinkHistory::default() };
    let all = table(&TransferResult { truth: Some(truth), ..with([0; 4]) }, true);
    assert!(all.contains("link was gone     not yet: first at 12.3 s"), "{all}");
    let all = table(&TransferResult { truth: Some(LinkHistory::default()), ..with([0; 4]) }, true);
    assert!(!all.contains("link was gone"), "a link that never goes: {all}");
}

#[test]
fn a_rate_that_no_router_told_is_told_with_its_reason() {
    let of = |ruled_by| {
        let stats = Stats { controller: "model", ruled_by, ..Stats::default() };
        table(&delivered(TransferResult::new(&SessionReport::default(), Some(&stats))), false)
    };
    for by in [None, Some(RuledBy::Routers)] {
        assert!(!of(by).contains("  rate "), "{by:?}");
    }
    for (by, why) in [
        (RuledBy::NoRouter, "no router on the path tells one"),
        (RuledBy::QueueBehind, "a queue stands behind the last router"),
        (RuledBy::PeerWithout, "the receiver takes no questions to routers"),
    ] {
        let line = format!("  rate              measured, as {why}\n");
        assert!(of(Some(by)).contains(&line), "{}", of(Some(by)));
    }
}

#[test]
fn asking_is_told_if_it_happened() {
    assert_eq!(asked(Probing::default()), None);
    let told = asked(Probing { cycles: 4, congestion: 0, link: 2, aborted: 1 }).unwrap_or_default();
    assert!(
        told.starts_with("4 times") && told.ends_with("the link at fault 2, a false alarm 1, no answer 1"),
        "{told}"
    );
}

#[test]
fn repeats_are_told_apart() {
    assert_eq!(again_of(0, 0), "0 packets");
    assert_eq!(again_of(9, 2), "9 packets: 7 taken for lost, 2 just in case");
    let late = TransferResult { retransmitted_packets: 9, spurious_repeats: 4, ..with([0; 4]) };
    assert_eq!(again(&late), "9 packets; 4 had only been overtaken");
    let coded = TransferResult { retransmitted_packets: 3, repair_packets: 85, ..with([0; 4]) };
    assert_eq!(again(&coded), "3 packets; 85 for repair");
}

fn again_of(retransmitted_packets: u64, idle_repeats: u64) -> String {
    again(&TransferResult { retransmitted_packets, idle_repeats, ..with([0; 4]) })
}

#[test]
fn pauses_stand_between_their_number_and_the_losses() {
    let verdicts = Some(vec![crate::verdicts::samples::outage()]);
    let probing = Probing { cycles: 1, link: 1, ..Probing::default() };
    let told = table(&TransferResult { probing, verdicts, ..with([0, 0, 30, 0]) }, true);
    let at = |text: &str| told.find(text).unwrap_or_else(|| panic!("{text}: {told}"));
    let places = ["paused to ask", "    at 0.0 s", "in a row", "lost on the way"].map(at);
    assert!(places.is_sorted(), "{told}");
    assert!(told.lines().all(|line| line.chars().count() <= 80), "{told}");
}

#[test]
fn a_receiver_does_not_claim_that_nothing_was_lost() {
    let told = table(&delivered(TransferResult::new(&SessionReport::default(), None)), false);
    assert!(told.contains("received") && !told.contains("lost"), "{told}");
}

#[test]
fn round_trips_of_every_size_have_digits() {
    let shown = [562.34, 1.0, 0.512, 0.0314].map(milliseconds);
    assert_eq!(shown, ["562.3 ms", "1.0 ms", "0.51 ms", "0.031 ms"]);
}
