//! `skyhaul reproduce PAPER`: every figure of a paper, and every claim beside what was measured.

mod args;
mod real;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use serde_json::json;
use skyhaul_lab::papers::{PAPERS, Reproduction};
use skyhaul_report::{Judged, ReportPage, VerdictCounts, check_report_folder, write_report};

pub(crate) use args::ReproduceArgs;

use crate::failure::Failure;
use crate::output::{note, print};
use crate::sweep::{conclude, stoppable};
use crate::wrap::wrapped;

/// Columns in front of a claim's text.
const INDENT: usize = 21;

pub(crate) async fn run(args: ReproduceArgs) -> Result<ExitCode, Failure> {
    if args.real {
        return real::run(&args).await;
    }
    stoppable(move |stop| reproduce(&args, stop)).await
}

fn reproduce(args: &ReproduceArgs, stop: &AtomicBool) -> Result<ExitCode, Failure> {
    let paper = PAPERS.iter().find(|paper| paper.name == args.paper);
    let paper = paper.ok_or_else(|| Failure::usage(format!("no paper called {}", args.paper)))?;
    check_report_folder(&args.out)?;
    let reproduction = Reproduction::new(paper, args.order())?;
    for scenario in reproduction.scenarios() {
        let scenario = scenario?;
        note(&format!("{}: {}", scenario.name, scenario.title()));
        let outcome = scenario.simulate(stop, &())?;
        if conclude(&outcome, Some(scenario.folder()), true) != ExitCode::SUCCESS {
            return Ok(ExitCode::FAILURE);
        }
    }
    let report = reproduction.report()?;
    let page = write_report(&args.out, &report)?;
    show(args, &report)?;
    note(&format!("report: {}", page.display()));
    Ok(ExitCode::SUCCESS)
}

fn show(args: &ReproduceArgs, report: &ReportPage) -> Result<(), Failure> {
    let counts = VerdictCounts::of(&report.claims);
    if args.json {
        let claims: Vec<_> = report.claims.iter().map(claim_object).collect();
        let object = json!({
            "paper": args.paper, "quick": args.quick, "report": args.out.join("report.html"),
            "reproduced": counts.reproduced, "differ": counts.differ, "undecided": counts.undecided,
            "not_testable": counts.not_testable, "ours": counts.ours, "claims": claims,
        });
        return print(&format!("{object}\n"));
    }
    let mut text = String::new();
    for judged in &report.claims {
        let Judged { claim, measured, .. } = judged;
        let (statement, measured) = (wrapped(&claim.statement, INDENT), wrapped(measured, INDENT));
        let _ = writeln!(
            text,
            "{:<6} {:<13} {statement}\n{:INDENT$}{measured}",
            claim.item,
            judged.verdict.words(),
            ""
        );
        if claim.ours {
            let _ = writeln!(text, "{:INDENT$}(of our own, not counted among the paper's)", "");
        }
    }
    print(&format!("{text}\n{}\n", counts.sentence()))
}

fn claim_object(judged: &Judged) -> serde_json::Value {
    let Judged { claim, verdict, measured } = judged;
    json!({
        "id": claim.id, "item": claim.item, "statement": claim.statement, "source": claim.source,
        "figure": claim.figure, "verdict": verdict.words(), "measured": measured,
        "fails_if": claim.test.fails_if(), "ours": claim.ours,
    })
}
