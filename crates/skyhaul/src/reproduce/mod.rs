//! `skyhaul reproduce PAPER`: every figure of a paper, and every claim beside what was measured.

mod args;
mod classification;
mod papers;
mod selection;

use std::fmt::Write as _;
use std::process::ExitCode;
use std::sync::atomic::AtomicBool;

use serde_json::json;
use skyhaul_report::{Figure, Judged, Report, Verdict, evaluate_claims, read_results, write_report};
use skyhaul_sim::scenario::File;
use skyhaul_sim::sweep::{RESULTS, Sweep};

pub(crate) use args::ReproduceArgs;
use papers::{About, PAPERS, Paper};
use selection::Selection;

use crate::failure::Failure;
use crate::output::{note, print};
use crate::sweep::{ShownArgs, SimulateArgs, finish, stoppable};
use crate::wrap::wrapped;

/// Folder of results within that of the report.
const RESULTS_FOLDER: &str = "results";

/// Columns in front of a claim's text.
const INDENT: usize = 21;

pub(crate) async fn run(args: ReproduceArgs) -> Result<ExitCode, Failure> {
    stoppable(move |stop| reproduce(&args, stop)).await
}

fn reproduce(args: &ReproduceArgs, stop: &AtomicBool) -> Result<ExitCode, Failure> {
    let paper = PAPERS.iter().find(|paper| paper.name == args.paper);
    let paper = paper.ok_or_else(|| Failure::usage(format!("no paper called {}", args.paper)))?;
    let about = paper.about().map_err(Failure::new)?;
    let selection = Selection::new(paper, &args.items)?;
    for (name, text) in paper.scenarios.iter().filter(|(name, _)| selection.scenarios.contains(*name)) {
        if !simulate(args, paper, &about, name, text, stop)? {
            return Ok(ExitCode::FAILURE);
        }
    }
    let report = report(args, paper, &about, &selection)?;
    let page = write_report(&args.out, &report)?;
    show(args, &report)?;
    note(&format!("report: {}", page.display()));
    Ok(ExitCode::SUCCESS)
}

/// Runs what is missing of a scenario; false if that was interrupted or runs failed.
fn simulate(
    args: &ReproduceArgs,
    paper: &Paper,
    about: &About,
    name: &str,
    text: &str,
    stop: &AtomicBool,
) -> Result<bool, Failure> {
    let label = format!("papers/{}/{name}.toml", paper.name);
    let file = File::parse(&label, text).map_err(|error| Failure::new(error.to_string()))?;
    let quick = args.quick.then(|| about.quick_replications.min(file.settings().replications));
    let order = SimulateArgs {
        file: label.clone().into(),
        set: Vec::new(),
        replications: quick,
        seed: None,
        jobs: args.jobs,
        shard: None,
        out: Some(args.out.join(RESULTS_FOLDER).join(name)),
        max_events: None,
        plot: Vec::new(),
        quiet: true,
        shown: ShownArgs { json: args.json, csv: false },
    };
    let file =
        File::load(&label, text, &order.overrides()).map_err(|error| Failure::new(error.to_string()))?;
    note(&format!("{name}: {}", file.settings().title));
    let done = finish(&Sweep::new(file)?, &order, stop)?;
    Ok(done.conclude(&order) == ExitCode::SUCCESS)
}

fn report(
    args: &ReproduceArgs,
    paper: &Paper,
    about: &About,
    selection: &Selection,
) -> Result<Report, Failure> {
    let folder = args.out.join(RESULTS_FOLDER);
    let figures = selection.figures.iter().map(|definition| Figure::from_definition(definition, &folder));
    let figures: Vec<Figure> = figures.collect::<Result<_, _>>()?;
    let mut table = classification::table();
    for name in &selection.scenarios {
        classification::add(&mut table, name, &read_results(&folder.join(name).join(RESULTS))?);
    }
    let mut introduction = about.introduction.clone();
    let runs = if args.quick {
        format!("{} runs a point", about.quick_replications)
    } else {
        "As many runs a point as the scenario files say: 20, one for ladders".to_string()
    };
    let (command, version) = (command(args, paper), env!("CARGO_PKG_VERSION"));
    introduction.push(format!("{runs}. Made by `{command}` of skyhaul {version}."));
    Ok(Report {
        title: about.title.clone(),
        introduction,
        claims: evaluate_claims(&selection.claims, &figures),
        figures,
        tables: vec![("Verdicts of the sender beside what the links did, packets".to_string(), table)],
        notes: about.notes.clone(),
    })
}

/// The command that makes the same report.
fn command(args: &ReproduceArgs, paper: &Paper) -> String {
    let words = ["skyhaul", "reproduce", paper.name].into_iter();
    let words = words.chain(args.items.iter().map(String::as_str)).chain(args.quick.then_some("--quick"));
    words.collect::<Vec<_>>().join(" ")
}

fn show(args: &ReproduceArgs, report: &Report) -> Result<(), Failure> {
    let count = |wanted| report.claims.iter().filter(|judged| judged.verdict == wanted).count();
    let (reproduced, differ) = (count(Verdict::Reproduced), count(Verdict::Differs));
    let not_testable = count(Verdict::NotTestable);
    if args.json {
        let claims: Vec<_> = report.claims.iter().map(claim_object).collect();
        let object = json!({
            "paper": args.paper, "quick": args.quick, "report": args.out.join("report.html"),
            "reproduced": reproduced, "differ": differ, "not_testable": not_testable, "claims": claims,
        });
        return print(&format!("{object}\n"));
    }
    let mut text = String::new();
    for Judged { claim, verdict, measured } in &report.claims {
        let (statement, measured) = (wrapped(&claim.statement, INDENT), wrapped(measured, INDENT));
        let _ =
            writeln!(text, "{:<6} {:<13} {statement}\n{:INDENT$}{measured}", claim.item, verdict.words(), "");
    }
    print(&format!(
        "{text}\n{} claims: {reproduced} reproduced, {differ} differ, {not_testable} not testable\n",
        report.claims.len()
    ))
}

fn claim_object(judged: &Judged) -> serde_json::Value {
    let Judged { claim, verdict, measured } = judged;
    json!({
        "id": claim.id, "item": claim.item, "statement": claim.statement, "source": claim.source,
        "figure": claim.figure, "verdict": verdict.words(), "measured": measured,
    })
}
