//! Verdicts of senders beside what the links really did.

use std::collections::BTreeMap;

use skyhaul_report::{Results, Table};
use skyhaul_sim::{CAUSES, VERDICTS};

/// Axis whose values tell transports apart.
const TRANSPORT: &str = "flows.file.transport";

/// Adds a row for each transport and each cause of losses in these results.
pub(super) fn add(table: &mut Table, scenario: &str, results: &Results) {
    let mut sums: BTreeMap<String, [[f64; 4]; 4]> = BTreeMap::new();
    for run in &results.runs {
        let transport = run.set.get(TRANSPORT).map_or_else(String::new, ToString::to_string);
        let sum = sums.entry(transport).or_default();
        for (truth, row) in CAUSES.iter().zip(sum) {
            for (verdict, cell) in VERDICTS.iter().zip(row) {
                *cell += run.metric(&format!("verdicts.{truth}.{verdict}")).unwrap_or(0.0);
            }
        }
    }
    for (transport, sum) in sums {
        for (index, (truth, row)) in CAUSES.iter().zip(sum).enumerate() {
            let total: f64 = row.iter().sum();
            if total > 0.0 {
                let right = if index < 3 { format!("{:.3}", row[index] / total) } else { "-".into() };
                let mut cells = vec![scenario.to_string(), transport.clone(), (*truth).to_string(), right];
                cells.extend(row.iter().map(|packets| format!("{packets:.0}")));
                table.push(cells);
            }
        }
    }
}

/// Empty table.
pub(super) fn table() -> Table {
    Table::new(&[
        "scenario",
        "transport",
        "really",
        "right",
        "taken for congestion",
        "for corruption",
        "for outage",
        "unknown",
    ])
}
