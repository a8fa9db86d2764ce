//! Explicit rate control: TCP and STP that routers rule, over links that have such routers.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod groups;
mod limited_flows;
mod losses;
mod no_router;
mod stp;
mod window_model;

use std::collections::BTreeMap;

use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP, simulate};

/// Metrics of the first point of a scenario, with other values of its keys.
fn run(text: &str, changes: &[(&str, &str)]) -> BTreeMap<String, f64> {
    seeded(text, changes, 1)
}

/// Metrics by another seed.
fn seeded(text: &str, changes: &[(&str, &str)], seed: u64) -> BTreeMap<String, f64> {
    let changes: Vec<_> = changes.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    let file = File::load(&Register::new(&[&STP, &TCP]), "explicit.toml", text, &changes);
    let file = file.unwrap_or_else(|error| panic!("{error}"));
    simulate(&file.first_scenario().unwrap(), seed).unwrap().metrics.into_iter().collect()
}

/// Use of a link's rate forward, and packets of 1000 octets that wait for it on average, at 10 Mbit/s.
fn hop(of: &BTreeMap<String, f64>, link: &str) -> (f64, f64) {
    let metric = |what: &str| of[&format!("links.{link}.forward.{what}")];
    (metric("utilisation"), metric("wait_ms.mean") / 0.8)
}

fn assert_within(value: f64, (least, most): (f64, f64), what: &str) {
    assert!((least..=most).contains(&value), "{what}: {value:.3} is not within {least:.3} to {most:.3}");
}
