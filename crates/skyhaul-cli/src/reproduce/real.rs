//! `skyhaul reproduce PAPER --real`: figures of a paper in real time.

use std::process::ExitCode;

use serde_json::json;
use skyhaul_lab::papers::{PAPERS, RealItem, RealReproduction};
use skyhaul_lab::sweep::{SweepBacklog, SweepOutcome, place_of};
use skyhaul_report::{Results, check_report_folder, write_report};

use super::ReproduceArgs;
use crate::failure::Failure;
use crate::output::{note, print};
use crate::progress::RunsBar;
use crate::race::{end_command, tell, warn_of_busy_machine};
use crate::signals::stop_requested;
use crate::sweep::{tell_found, tell_interrupted, tell_problems};

/// Page for the guide, in the folder of the report.
const GUIDE: &str = "guide.md";

pub(super) async fn run(args: &ReproduceArgs) -> Result<ExitCode, Failure> {
    let paper = PAPERS.iter().find(|paper| paper.name == args.paper);
    let paper = paper.ok_or_else(|| Failure::usage(format!("no paper called {}", args.paper)))?;
    check_report_folder(&args.out)?;
    let all = RealReproduction::new(paper, args.real_order())?;
    warn_of_busy_machine();
    let (mut results, mut code) = (Vec::new(), ExitCode::SUCCESS);
    for item in &all.items {
        note(&format!("{}: {}", item.name, item.title));
        let outcome = of_item(&all, item, args.json).await?;
        if tell_problems(&outcome.results, true) != ExitCode::SUCCESS {
            code = ExitCode::FAILURE;
        }
        if outcome.missing > 0 {
            tell_interrupted(&outcome, Some(&item.folder));
            return Ok(ExitCode::FAILURE);
        }
        results.push(outcome.results);
    }
    show(args, &all, &results)?;
    Ok(code)
}

async fn of_item(all: &RealReproduction, item: &RealItem, is_json: bool) -> Result<SweepOutcome, Failure> {
    let asked = item.header.runs().collect();
    let mut backlog = SweepBacklog::open(&item.header, asked, Some(&item.folder))?;
    tell_found(&backlog);
    let bar = RunsBar::of_races(backlog.todo().len(), is_json);
    let (warnings, result) = item.run(&mut backlog, end_command, all.jobs(), stop_requested(), &bar).await;
    drop(bar);
    tell(&warnings);
    result?;
    Ok(backlog.conclude(&place_of(Some(&item.folder)))?)
}

fn show(args: &ReproduceArgs, all: &RealReproduction, results: &[Results]) -> Result<(), Failure> {
    let page = write_report(&args.out, &all.report(results)?)?;
    let (guide, path) = (all.guide(results), args.out.join(GUIDE));
    std::fs::write(&path, &guide)
        .map_err(|error| Failure::new(format!("'{}' cannot be written: {error}", path.display())))?;
    if args.json {
        let items: Vec<&str> = all.items.iter().map(|item| item.name.as_str()).collect();
        let object = json!({ "paper": args.paper, "quick": args.quick, "items": items, "report": page, "guide": path });
        print(&format!("{object}\n"))?;
    } else {
        print(&guide)?;
    }
    note(&format!("report: {}", page.display()));
    Ok(())
}
