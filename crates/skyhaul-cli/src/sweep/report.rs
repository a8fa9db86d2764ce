//! `skyhaul report DIR|FILE`.

use std::path::Path;
use std::process::ExitCode;

use skyhaul_report::{
    Claims, Definitions, Figure, ReportPage, Results, Table, evaluate_claims, read_results, write_report,
};
use skyhaul_sim::sweep::{PARTIAL, RESULTS};

use super::args::ReportArgs;
use super::shown::{headline, show, shown_metrics};
use super::{plot, told};
use crate::failure::Failure;
use crate::output::{note, print};

pub(crate) fn run(args: &ReportArgs) -> Result<ExitCode, Failure> {
    let results = results(args)?;
    let mut report = ReportPage { title: "Results".to_string(), ..ReportPage::default() };
    if let Some(results) = &results {
        report.title.clone_from(&results.header.title);
        report.introduction = vec![headline(results)];
        report.figures = plot::figures(results, &args.plot)?;
        report.tables =
            vec![("Measured".to_string(), Table::of_statistics(results, &shown_metrics(results)))];
    }
    if let Some(path) = &args.figures {
        report.figures.extend(defined(path, folder(args))?);
    }
    if let Some(path) = &args.claims {
        report.claims = evaluate_claims(&Claims::read(path)?, &report.figures);
    }
    // Files first: what is shown may be cut short by a reader that goes away.
    if let Some(out) = &args.out {
        let page = write_report(out, &report)?;
        note(&format!("report: {}", page.display()));
    }
    show_report(args, results.as_ref(), &report)?;
    Ok(results.map_or(ExitCode::SUCCESS, |results| conclude(&results)))
}

/// The results to tell of; none if the folder has none itself, but figures name some below it.
fn results(args: &ReportArgs) -> Result<Option<Results>, Failure> {
    let from = &args.from;
    if !from.is_dir() {
        return Ok(Some(read_results(from)?));
    }
    let there = [RESULTS, PARTIAL].map(|name| from.join(name)).into_iter().find(|path| path.exists());
    match there {
        Some(path) => Ok(Some(read_results(&path)?)),
        None if args.figures.is_some() && args.plot.is_empty() => Ok(None),
        None => {
            Err(Failure::new(format!("no {RESULTS} in '{}'; simulate with --out writes one", from.display())))
        }
    }
}

/// Folder of the files that figures name.
fn folder(args: &ReportArgs) -> &Path {
    if args.from.is_dir() { &args.from } else { args.from.parent().unwrap_or(Path::new("")) }
}

fn defined(definitions: &Path, folder: &Path) -> Result<Vec<Figure>, Failure> {
    let definitions = Definitions::read(definitions)?;
    let figures = definitions.figures.iter().map(|definition| Figure::from_definition(definition, folder));
    Ok(figures.collect::<Result<_, _>>()?)
}

/// Claims if there are some, or else the statistics.
fn show_report(args: &ReportArgs, results: Option<&Results>, report: &ReportPage) -> Result<(), Failure> {
    let table = match (report.claims.is_empty(), results) {
        (false, _) => report.claims_table(),
        (true, Some(results)) if !args.markdown => return show(results, args.shown),
        (true, Some(results)) => Table::of_statistics(results, &shown_metrics(results)),
        (true, None) => return Ok(()),
    };
    print(&match (args.markdown, args.shown.csv) {
        (true, _) => table.to_markdown(),
        (_, true) => table.to_csv(),
        _ => table.to_terminal(),
    })
}

fn conclude(results: &Results) -> ExitCode {
    if results.missing() > 0 {
        let all = results.header.points * results.header.replications;
        note(&format!("{} of {all} runs are missing: the sweep is not complete", results.missing()));
    }
    told::tell_troubles(results, false);
    told::tell_problems(results, false);
    ExitCode::SUCCESS
}
