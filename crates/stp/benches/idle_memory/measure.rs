//! Measurements, and how they are told. Shared by the protocols.

use std::process::ExitCode;

use crate::ends::{Ends, MAX_CONNECTIONS};
use crate::heap;

pub(crate) fn main() -> ExitCode {
    let given = std::env::args().skip(1).find(|argument| argument != "--bench");
    let Ok(connections) = given.unwrap_or("10000".into()).parse::<usize>() else {
        eprintln!("usage: idle_memory [CONNECTIONS]");
        return ExitCode::from(2);
    };
    if !(1..=MAX_CONNECTIONS).contains(&connections) {
        eprintln!("CONNECTIONS must be from 1 to {MAX_CONNECTIONS}");
        return ExitCode::from(2);
    }
    measure(connections);
    ExitCode::SUCCESS
}

fn measure(connections: usize) {
    let before = heap::resident_bytes();
    let mut ends = Ends::new(connections);
    let report = |step: &str, ends: &Ends| {
        let count = connections as i64;
        let [opener, acceptor] = ends.held_bytes().map(|bytes| bytes / count);
        let grown = heap::resident_bytes().zip(before).map(|(now, before)| (now - before) / count);
        let grown = grown.map_or("unknown".into(), |bytes| format!("{bytes} B"));
        println!("{step:<27} opener {opener:>6} B   acceptor {acceptor:>6} B   resident, both ends {grown}");
    };
    println!("{connections} idle connections; memory of one:");
    ends.open();
    report("established", &ends);
    ends.exchange(1000);
    report("after 1 kB each way", &ends);
    ends.exchange(100_000);
    report("after 100 kB each way", &ends);
}
