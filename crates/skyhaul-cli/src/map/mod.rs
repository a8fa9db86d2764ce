//! `skyhaul map`: the controller of a measured rate beside others.

mod args;

use std::fmt::Write as _;
use std::path::Path;
use std::process::ExitCode;

use skyhaul_lab::map::{Map, cells_table, introduction, report, run_map, tables};
use skyhaul_lab::sweep::{SweepBacklog, SweepOutcome, place_of, processors};
use skyhaul_report::{Results, check_report_folder, write_report};
use skyhaul_sim::sweep::save;

pub(crate) use args::MapArgs;

use crate::failure::Failure;
use crate::output::{note, print};
use crate::progress::RunsBar;
use crate::sweep::{show, stoppable, tell_found, tell_interrupted, tell_problems};
use crate::wrap::wrapped;

/// Table of the cells in the folder of results.
const CELLS: &str = "cells.csv";

pub(crate) async fn run(args: MapArgs) -> Result<ExitCode, Failure> {
    let map = Map::new(&args.order())?;
    if let Some(number) = args.scenario {
        print(&map.scenario_text(number)?)?;
        return Ok(ExitCode::SUCCESS);
    }
    args.out.as_deref().map_or(Ok(()), check_report_folder)?;
    let mut backlog = SweepBacklog::open(&map.header, map.header.runs().collect(), args.out.as_deref())?;
    tell_found(&backlog);
    let bar = RunsBar::of_sweep(backlog.todo().len(), args.shown.json || args.shown.csv);
    let jobs = args.jobs.unwrap_or_else(processors);
    let (map, backlog) = stoppable(move |stop| {
        run_map(&map, &mut backlog, jobs, stop, &bar)?;
        Ok((map, backlog))
    })
    .await?;
    conclude(&args, &map, &backlog.conclude(&place_of(args.out.as_deref()))?)
}

fn conclude(args: &MapArgs, map: &Map, outcome: &SweepOutcome) -> Result<ExitCode, Failure> {
    let (out, results) = (args.out.as_deref(), &outcome.results);
    if let Some(out) = out.filter(|_| !results.runs.is_empty()) {
        write_all(out, map, results)?;
    }
    show_all(args, map, results)?;
    let code = tell_problems(results, false);
    if outcome.missing > 0 {
        tell_interrupted(outcome, out);
        return Ok(ExitCode::FAILURE);
    }
    Ok(code)
}

/// Files about what there is: cells are of use one by one.
fn write_all(out: &Path, map: &Map, results: &Results) -> Result<(), Failure> {
    save(&out.join(CELLS), cells_table(map, results).to_csv().as_bytes())?;
    note(&format!("report: {}", write_report(out, &report(map, results)?)?.display()));
    Ok(())
}

fn show_all(args: &MapArgs, map: &Map, results: &Results) -> Result<(), Failure> {
    if args.shown.json {
        return show(results, args.shown);
    }
    if args.shown.csv {
        return print(&cells_table(map, results).to_csv());
    }
    let mut text = String::new();
    for line in introduction(map, results) {
        let _ = writeln!(text, "{}", wrapped(&line, 0));
    }
    for (title, table) in tables(map, results) {
        let _ = write!(text, "\n{title}\n{}", table.to_terminal());
    }
    print(&text)
}
