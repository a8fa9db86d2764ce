//! Reproductions of papers.

use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use skyhaul_report::{Figure, ReportPage, evaluate_claims, read_results};
use skyhaul_scenario::File;
use skyhaul_sim::sweep::{RESULTS, Sweep, save};

use super::classification;
use super::error::PaperError;
use super::formulas::Formula;
use super::paper::{About, Paper};
use super::selection::Selection;
use crate::Progress;
use crate::sweep::{SweepBacklog, SweepOutcome, processors};

/// Folder of results within that of the report.
const RESULTS_FOLDER: &str = "results";

/// Order of a reproduction.
#[derive(Clone, Debug)]
pub struct ReproductionOrder {
    /// Items of the paper, like X-6; all if none is named.
    pub items: Vec<String>,
    /// Fewer runs of each point.
    pub quick: bool,
    /// Folder for the report and the results, which may have runs of an interrupted reproduction.
    pub out: PathBuf,
    /// Runs at the same time; `None`: one for each processor. Results do not depend on it.
    pub jobs: Option<NonZeroUsize>,
}

/// Reproduction of a paper.
#[derive(Debug)]
pub struct Reproduction {
    paper: &'static Paper,
    order: ReproductionOrder,
    about: About,
    selection: Selection,
}

/// Scenario of a paper, to be simulated.
#[derive(Debug)]
pub struct PaperScenario {
    /// Name of its file, without the ending.
    pub name: &'static str,
    sweep: Sweep,
    folder: PathBuf,
    jobs: NonZeroUsize,
}

impl Reproduction {
    /// Reproduction of a paper's items.
    ///
    /// # Errors
    /// The paper has no such item.
    pub fn new(paper: &'static Paper, order: ReproductionOrder) -> Result<Self, PaperError> {
        let about = paper.about()?;
        let selection = Selection::new(paper, &order.items)?;
        Ok(Self { paper, order, about, selection })
    }

    /// Scenarios that the items need, in the order of the paper's.
    pub fn scenarios(&self) -> impl Iterator<Item = Result<PaperScenario, PaperError>> {
        let is_needed = |(name, _): &&(&str, &str)| self.selection.scenarios.contains(*name);
        self.paper.scenarios.iter().filter(is_needed).map(|&(name, text)| self.scenario(name, text))
    }

    fn scenario(&self, name: &'static str, text: &str) -> Result<PaperScenario, PaperError> {
        let label = format!("papers/{}/{name}.toml", self.paper.name);
        let file = File::parse(&crate::standard(), &label, text)?;
        let quick = self.about.quick_replications.min(file.settings().replications);
        let quick = self.order.quick.then(|| ("run.replications".to_string(), quick.to_string()));
        let file = File::load(&crate::standard(), &label, text, quick.as_slice())?;
        Ok(PaperScenario {
            name,
            sweep: Sweep::new(file)?,
            folder: self.order.out.join(RESULTS_FOLDER).join(name),
            jobs: self.order.jobs.unwrap_or_else(processors),
        })
    }

    /// Writes what needs no run, of what the items need.
    fn compute(&self, folder: &Path) -> Result<(), PaperError> {
        let is_needed = |formula: &&Formula| self.selection.formulas.contains(formula.0);
        for (name, content) in self.paper.formulas.iter().filter(is_needed) {
            let folder = folder.join(name);
            let failed = |error| PaperError::Formula { folder: folder.clone(), error };
            std::fs::create_dir_all(&folder).map_err(failed)?;
            let (file, text) = content.file(name);
            save(&folder.join(file), text.as_bytes())?;
        }
        Ok(())
    }

    /// Page about the paper, when all its scenarios were simulated.
    ///
    /// # Errors
    /// Results are missing, make no figure, or cannot be written.
    pub fn report(&self) -> Result<ReportPage, PaperError> {
        let Self { order, about, selection, .. } = self;
        let folder = order.out.join(RESULTS_FOLDER);
        self.compute(&folder)?;
        let figures = selection.figures.iter().map(|definition| Figure::from_definition(definition, &folder));
        let figures: Vec<Figure> = figures.collect::<Result<_, _>>()?;
        let mut table = classification::table();
        for name in &selection.scenarios {
            classification::add(&mut table, name, &read_results(&folder.join(name).join(RESULTS))?);
        }
        let title = "Verdicts of the sender beside what the links did, packets".to_string();
        let tables = Some((title, table)).into_iter().filter(|(_, table)| !table.rows.is_empty()).collect();
        let mut introduction = about.introduction.clone();
        let runs = if order.quick {
            format!("{} runs a point", about.quick_replications)
        } else {
            "As many runs a point as the scenario files say".to_string()
        };
        let (command, version) = (self.command(), env!("CARGO_PKG_VERSION"));
        introduction.push(format!("{runs}. Made by `{command}` of skyhaul {version}."));
        Ok(ReportPage {
            title: about.title.clone(),
            introduction,
            claims: evaluate_claims(&selection.claims, &figures),
            figures,
            tables,
            notes: about.notes.clone(),
        })
    }

    /// Command that makes the same report.
    fn command(&self) -> String {
        let words = ["skyhaul", "reproduce", self.paper.name].into_iter();
        let words = words.chain(self.order.items.iter().map(String::as_str));
        words.chain(self.order.quick.then_some("--quick")).collect::<Vec<_>>().join(" ")
    }
}

impl PaperScenario {
    /// Title of the scenario.
    pub fn title(&self) -> &str {
        &self.sweep.file().settings().title
    }

    /// Folder of its results.
    pub fn folder(&self) -> &PathBuf {
        &self.folder
    }

    /// Simulates what is missing of it, until all is done or `stop` is set.
    ///
    /// # Errors
    /// Finished runs cannot be kept, or make no sense.
    pub fn simulate(&self, stop: &AtomicBool, progress: &dyn Progress) -> Result<SweepOutcome, PaperError> {
        let asked = self.sweep.runs(None).collect();
        let mut backlog = SweepBacklog::open(self.sweep.header(), asked, Some(&self.folder))?;
        backlog.simulate(&self.sweep, self.jobs, stop, progress)?;
        Ok(backlog.conclude(&self.folder.join(RESULTS))?)
    }
}
