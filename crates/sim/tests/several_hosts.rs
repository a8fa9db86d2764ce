//! Hosts that measure one path, each for itself: none knows of the others but by what is lost and by what
//! trains show.
#![allow(missing_docs, clippy::unwrap_used, reason = "a test")]

use std::collections::BTreeMap;
use std::fmt::Write as _;

use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP, simulate};

const NETWORK: &str = r#"
[run]
duration = "60s"
warm_up = "15s"
[transports.stp]
protocol = "stp"
[nodes]
west = { kind = "router" }
east = { kind = "router" }
far = { kind = "host" }
"#;

/// Metrics by name of so many hosts, each with a transfer without an end, at 10 Mbit/s, 40 ms, and a queue of
/// so many bytes. `loss`: part of them lost by chance, either way.
fn hosts(count: usize, queue_bytes: u64, loss: f64) -> BTreeMap<String, f64> {
    let both = |line: &str| format!("forward = {{ {line} }}\nreverse = {{ {line} }}\n");
    let access = both("rate = \"100Mbit/s\", delay = \"100us\"");
    let mut text = String::from(NETWORK) + &format!("[links.far]\nbetween = [\"east\", \"far\"]\n{access}");
    let line = format!("rate = \"10Mbit/s\", delay = \"20ms\", loss = {loss}, queue = \"{queue_bytes}B\"");
    write!(text, "[links.bottleneck]\nbetween = [\"west\", \"east\"]\n{}", both(&line)).unwrap();
    for number in 1..=count {
        let host = format!("host{number}");
        write!(text, "[nodes.{host}]\nkind = \"host\"\n").unwrap();
        write!(text, "[links.{host}]\nbetween = [\"{host}\", \"west\"]\n{access}").unwrap();
        write!(text, "[flows.own{number}]\nfrom = \"{host}\"\nto = \"far\"\ntransport = \"stp\"\n").unwrap();
        write!(text, "start = \"{}ms\"\nworkload = {{ kind = \"bulk\" }}\n", 700 * (number - 1)).unwrap();
    }
    let file = File::parse(&Register::new(&[&STP, &TCP]), "hosts.toml", &text)
        .unwrap_or_else(|error| panic!("{error}"));
    simulate(&file.first_scenario().unwrap(), 1).unwrap().metrics.into_iter().collect()
}

/// Packets that were sent again, of all that were sent.
fn sent_again(metrics: &BTreeMap<String, f64>) -> f64 {
    let sum =
        |of: &str| metrics.iter().filter(|(name, _)| name.ends_with(of)).map(|(_, value)| value).sum::<f64>();
    sum(".retransmitted_packets") / sum(".forward.packets")
}

#[test]
fn four_hosts_do_not_flood_a_short_queue() {
    // A quarter of a product: each took for noise what the others' packets pushed out.
    let of = hosts(4, 12_500, 0.0);
    let (jain, again, used) = (of["jain"], sent_again(&of), of["links.bottleneck.forward.utilisation"]);
    assert!(
        jain > 0.95 && again < 0.12 && used > 0.9,
        "{jain}, {again} sent again (0.77 before), use {used}"
    );
}

#[test]
fn two_hosts_share_a_queue_of_a_product_in_vain_for_few_packets() {
    let of = hosts(2, 50_000, 0.0);
    let (jain, again, used) = (of["jain"], sent_again(&of), of["links.bottleneck.forward.utilisation"]);
    assert!(jain > 0.9 && again < 0.05 && used > 0.95, "{jain}, {again} sent again, use {used}");
}

#[test]
fn noise_of_a_hundredth_is_nobodys_packets() {
    let of = hosts(2, 50_000, 0.01);
    let (jain, used) = (of["jain"], of["links.bottleneck.forward.utilisation"]);
    assert!(jain > 0.9 && used > 0.93, "{jain}, use {used}");
}
