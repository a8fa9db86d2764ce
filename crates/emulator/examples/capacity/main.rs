//! How much an emulated link carries between two namespaces before it is late, and what it costs:
//! `cargo run --release -p skyhaul-emulator --example capacity -- [MBIT/S...]`. Needs root or user
//! namespaces.
#![allow(clippy::disallowed_methods, reason = "it measures real time")]

mod ends;
mod stage;

use std::process::ExitCode;

use skyhaul_emulator::{HOST_COMMAND, INIT_COMMAND, host_main, init_main};
use skyhaul_net::realtime::MachineTrial;

/// Rates that are tried unless some are named, in Mbit/s.
const RATES: [u64; 10] = [10, 50, 100, 200, 300, 400, 500, 600, 800, 1000];

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let done = match words.as_slice() {
        [HOST_COMMAND, socket] => return ExitCode::from(socket.parse().map_or(2, host_main)),
        [INIT_COMMAND, name, hosts, "--", command @ ..] => {
            let command: Vec<String> = command.iter().map(ToString::to_string).collect();
            return ExitCode::from(init_main(name, hosts, false, &command));
        }
        [ends::SEND, to, mbps, seconds] => ends::send(to, mbps, seconds),
        [ends::RECEIVE] => ends::receive(),
        rates => measure(rates),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("capacity: {error}");
            ExitCode::FAILURE
        }
    }
}

fn measure(rates: &[&str]) -> Result<(), Box<dyn std::error::Error>> {
    let named: Result<Vec<u64>, _> = rates.iter().map(|rate| rate.parse()).collect();
    let named = named.map_err(|_| "write rates as whole numbers of Mbit/s: capacity 100 500")?;
    let is_search = named.is_empty();
    if let Some(warning) = MachineTrial::run().warning() {
        eprintln!("capacity: {warning}");
    }
    println!(
        "| offered Mbit/s | packets/s through the link | Gbit/s | late > 0.5 ms | late > 1 ms | 99.9 % by | CPU a packet | of a processor | taken by the receiver |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for mbps in if is_search { RATES.to_vec() } else { named } {
        let seen = stage::run(mbps)?;
        println!("{seen}");
        if is_search && seen.is_too_much() {
            break;
        }
    }
    Ok(())
}
