//! Explicit rate control: TCP and STP that routers rule, over links that have such routers.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

mod groups;
mod limited_flows;
mod losses;
mod no_router;
mod stp;
mod window_model;

use std::collections::BTreeMap;

use skyhaul_core::event::RuledBy;
use skyhaul_core::{Event, EventSink, Instant};
use skyhaul_scenario::{File, Register, Scenario};
use skyhaul_sim::{STP, Simulation, Source, TCP, simulate};

/// Metrics of the first point of a scenario, with other values of its keys.
fn run(text: &str, changes: &[(&str, &str)]) -> BTreeMap<String, f64> {
    seeded(text, changes, 1)
}

/// Metrics by another seed.
fn seeded(text: &str, changes: &[(&str, &str)], seed: u64) -> BTreeMap<String, f64> {
    simulate(&scenario(text, changes), seed).unwrap().metrics
}

fn scenario(text: &str, changes: &[(&str, &str)]) -> Scenario {
    let changes: Vec<_> = changes.iter().map(|&(key, value)| (key.to_string(), value.to_string())).collect();
    let file = File::load(&Register::new(&[&STP, &TCP]), "explicit.toml", text, &changes);
    file.unwrap_or_else(|error| panic!("{error}")).first_scenario().unwrap()
}

/// When a connection first went by measurement, for a queue behind the last router.
#[derive(Default)]
struct FellBack(Option<Instant>);

impl EventSink<Source> for FellBack {
    fn emit(&mut self, now: Instant, _: Source, event: Event) {
        if event == (Event::Ruled { by: RuledBy::QueueBehind }) {
            self.0.get_or_insert(now);
        }
    }
}

/// Metrics by another seed, and seconds after which the fallback was told, if it was.
fn watched(text: &str, changes: &[(&str, &str)], seed: u64) -> (BTreeMap<String, f64>, Option<f64>) {
    let (scenario, mut fell_back) = (scenario(text, changes), FellBack::default());
    let mut simulation = Simulation::new(&scenario, seed).unwrap();
    let ended = simulation.run(&mut fell_back);
    let metrics = simulation.measured(ended).unwrap().metrics;
    (metrics, fell_back.0.map(|at| at.as_ns() as f64 / 1e9))
}

/// Use of a link's rate forward, and packets of 1000 octets that wait for it on average, at 10 Mbit/s.
fn hop(of: &BTreeMap<String, f64>, link: &str) -> (f64, f64) {
    let metric = |what: &str| of[&format!("links.{link}.forward.{what}")];
    (metric("utilisation"), metric("wait_ms.mean") / 0.8)
}

fn assert_within(value: f64, (least, most): (f64, f64), what: &str) {
    assert!((least..=most).contains(&value), "{what}: {value:.3} is not within {least:.3} to {most:.3}");
}
