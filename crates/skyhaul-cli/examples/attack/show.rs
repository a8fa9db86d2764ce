//! The list of attacks and the table of outcomes.

use serde_json::json;
use skyhaul_core::units::{show_bytes, show_rate};

use crate::attack::{Attack, all};
use crate::honest::Entry;
use crate::measure::{Plan, Row};

pub(crate) fn list() {
    println!("{:18} {:8} {:32} what it wants", "attack", "where", "IP octets a second");
    for Attack { name, place, octets, aim, .. } in all() {
        println!("{name:18} {place:8} {octets:32} {aim}");
    }
    println!(
        "\noff: anywhere, with forged source addresses; peer: at an address that is answered; on: sees what he sends \
         again;\nreceiver: what `send` sends to"
    );
}

pub(crate) fn head(plan: &Plan) {
    if !plan.is_json {
        println!("honest: {} at {}", show_bytes(plan.bytes), show_rate(plan.rate_bps as f64));
        println!("| attack | honest | newcomer | memory | output | CPU | attacker | |");
        println!("|---|---|---|---|---|---|---|---|");
    }
}

pub(crate) fn row(plan: &Plan, attack: &Attack, row: &Row) {
    if plan.is_json {
        println!("{}", object(attack, row));
        return;
    }
    let cpu = row.cpu_us_per_datagram.map_or("-".into(), |us| format!("{us:.2} us"));
    println!(
        "| {} | {} | {} | {:.1} MiB | {:.0} B/s | {cpu} | {:.0}/s, {} | {} |",
        attack.name,
        row.honest.map_or("-".into(), |share| format!("{share:.3}")),
        row.newcomer.map_or("-".into(), entry),
        row.memory_bytes as f64 / f64::from(1 << 20),
        row.output_bytes_per_s,
        row.datagrams_per_s,
        show_rate(8.0 * row.octets_per_s),
        row.achieved.as_deref().unwrap_or_default(),
    );
}

fn entry(entry: Entry) -> String {
    match entry {
        Entry { took: None, tries } => format!("not in ({tries})"),
        Entry { took: Some(took), tries: 1 } => format!("{:.2} s", took.as_secs_f64()),
        Entry { took: Some(took), tries } => format!("{:.2} s ({tries})", took.as_secs_f64()),
    }
}

fn object(attack: &Attack, row: &Row) -> serde_json::Value {
    json!({
        "attack": attack.name,
        "where": attack.place.to_string(),
        "honest": row.honest,
        "newcomer_s": row.newcomer.and_then(|entry| entry.took).map(|took| took.as_secs_f64()),
        "newcomer_tries": row.newcomer.map(|entry| entry.tries),
        "memory_bytes": row.memory_bytes,
        "output_bytes_per_s": row.output_bytes_per_s,
        "cpu_us_per_datagram": row.cpu_us_per_datagram,
        "datagrams_per_s": row.datagrams_per_s,
        "octets_per_s": row.octets_per_s,
        "achieved": row.achieved,
    })
}
