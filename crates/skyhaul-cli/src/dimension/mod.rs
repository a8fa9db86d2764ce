//! `skyhaul dimension`: how large everything must be where relays split a path [PETRA IV].

mod args;
mod constraints;
mod read;
mod rows;
mod timer;
mod written;

use std::fmt::Write as _;
use std::process::ExitCode;

use serde::Serialize;
use skyhaul_petra::dimensioning::{Acknowledgement, Batches};
use skyhaul_report::table::Table;

pub(crate) use args::DimensionArgs;

use crate::failure::Failure;
use crate::output::{error, print};
use rows::{Dimensions, Given, Row, proposed_threshold};
use timer::Timer;

/// Result for programs.
#[derive(Serialize)]
struct DimensionResult<'a> {
    /// What each value is called, and what breaks beside it.
    dimensions: &'a [Row],
    /// What the operator's values break.
    broken: &'a [String],
}

pub(crate) fn run(args: &DimensionArgs) -> Result<ExitCode, Failure> {
    let (dimensions, broken) = match &args.check {
        Some(file) => read::check(file)?,
        None => given(args)?,
    };
    let rows = dimensions.rows();
    if let Some(out) = &args.scenario {
        let text = dimensions.scenario()?;
        std::fs::write(out, text).map_err(|error| Failure::new(format!("{}: {error}", out.display())))?;
    }
    let text = if args.json { as_json(&rows, &broken)? } else { as_table(&rows) };
    print(&text)?;
    for words in &broken {
        error(&format!("skyhaul: {words}"));
    }
    Ok(if broken.is_empty() { ExitCode::SUCCESS } else { ExitCode::FAILURE })
}

/// Dimensions of the options, and what the values among them break.
fn given(args: &DimensionArgs) -> Result<(Dimensions, Vec<String>), Failure> {
    let (plan, checked) = (args.plan()?, args.checked());
    let threshold_segments = checked.threshold.unwrap_or_else(|| proposed_threshold(&plan));
    let batches =
        Batches::new(args.batch, threshold_segments).map_err(|error| Failure::usage(error.to_string()))?;
    let dimensions = Dimensions {
        plan,
        statuses: args.statuses()?,
        batches,
        batch_segments: args.batch,
        threshold_segments,
        acknowledgement: Acknowledgement(args.acknowledgement_bits()),
        timer: Timer::of(&skyhaul_tcp::Config::petra()),
        sharing: 1,
        given: Given { payload: args.is_payload_given(), threshold: checked.threshold.is_some() },
    };
    let broken = dimensions.broken(&checked);
    Ok((dimensions, broken))
}

fn as_json(rows: &[Row], broken: &[String]) -> Result<String, Failure> {
    let result = DimensionResult { dimensions: rows, broken };
    let text = serde_json::to_string(&result).map_err(|error| Failure::new(error.to_string()))?;
    Ok(text + "\n")
}

fn as_table(rows: &[Row]) -> String {
    let mut table = Table::new(&["dimension", "formula", "#value", "too small", "too large"]);
    for row in rows {
        let cells = [row.words, row.formula, &row.shown, row.below, row.above];
        table.rows.push(cells.map(str::to_owned).to_vec());
    }
    let mut text = table.to_terminal();
    let _ = writeln!(
        text,
        "\nFormulas: docs/spec/petra.md. Paths with relays are simulated: scenarios/petra.toml."
    );
    text
}
