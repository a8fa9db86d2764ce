//! Figures of a paper in real time: its endpoints between network namespaces, and the kernel's TCP beside.

mod definition;
mod item;
mod page;

use std::num::NonZeroUsize;
use std::path::PathBuf;

use skyhaul_report::{ReportPage, Results};
use tempfile::TempDir;

use super::error::PaperError;
use super::paper::Paper;
use definition::Definition;
pub use item::RealItem;

/// Runs at the same time, unless somebody says otherwise: links of 1.5 Mbit/s leave a processor idle.
const USUAL_JOBS: usize = 4;

/// Order of a reproduction in real time.
#[derive(Clone, Debug)]
pub struct RealOrder {
    /// Items of the paper; all that can be run so if none is named.
    pub items: Vec<String>,
    /// Fewer points, runs and octets.
    pub quick: bool,
    /// Folder for the report and the results, which may have runs of an interrupted reproduction.
    pub out: PathBuf,
    /// Runs at the same time; `None`: 4.
    pub jobs: Option<NonZeroUsize>,
}

/// Reproduction of a paper's figures in real time.
#[derive(Debug)]
pub struct RealReproduction {
    paper: &'static Paper,
    order: RealOrder,
    definition: Definition,
    /// Definitions of its figures.
    figures: &'static str,
    /// Items, in the order of the paper.
    pub items: Vec<RealItem>,
    /// Folder of the scenario files, which the ends of runs read.
    _folder: TempDir,
}

impl RealReproduction {
    /// Reproduction of these items.
    ///
    /// # Errors
    /// The paper has no such item in real time, or none at all; its files cannot be unpacked.
    pub fn new(paper: &'static Paper, order: RealOrder) -> Result<Self, PaperError> {
        let (text, figures) = paper.real.ok_or(PaperError::NotInRealTime(paper.name))?;
        let wrong = |error| PaperError::Real { paper: paper.name, error };
        let mut definition: Definition = toml::from_str(text).map_err(wrong)?;
        if let Some(item) =
            order.items.iter().find(|name| definition.items.iter().all(|item| item.item != **name))
        {
            let known = definition.items.iter().map(|item| item.item.as_str()).collect::<Vec<_>>().join(", ");
            return Err(PaperError::UnknownItem { paper: paper.name, item: item.clone(), known });
        }
        definition.items.retain(|item| order.items.is_empty() || order.items.contains(&item.item));
        let folder = tempfile::Builder::new().prefix("skyhaul-paper-").tempdir();
        let folder = folder.map_err(|error| PaperError::Unpack { paper: paper.name, error })?;
        let amount = definition.amount(order.quick);
        let mut items = Vec::new();
        for item in &definition.items {
            let (_, scenario) = paper
                .scenarios
                .iter()
                .find(|(name, _)| *name == item.scenario)
                .ok_or(PaperError::NotInRealTime(paper.name))?;
            let path = folder.path().join(format!("{}.toml", item.scenario));
            std::fs::write(&path, scenario)
                .map_err(|error| PaperError::Unpack { paper: paper.name, error })?;
            let results = order.out.join("results").join(&item.item);
            let file = (*scenario, path.as_path());
            items.push(RealItem::new(item, &definition.who, file, (amount, order.quick), results)?);
        }
        Ok(Self { paper, order, definition, figures, items, _folder: folder })
    }

    /// Runs at the same time.
    pub fn jobs(&self) -> NonZeroUsize {
        let usual = NonZeroUsize::new(USUAL_JOBS).unwrap_or(NonZeroUsize::MIN);
        self.order.jobs.unwrap_or(usual)
    }

    /// Command that makes the same report.
    fn command(&self) -> String {
        let words = ["skyhaul", "reproduce", self.paper.name].into_iter();
        let words = words.chain(self.order.items.iter().map(String::as_str)).chain(["--real"]);
        words.chain(self.order.quick.then_some("--quick")).collect::<Vec<_>>().join(" ")
    }

    /// Page about the results of all items, in their order.
    ///
    /// # Errors
    /// They make no figure.
    pub fn report(&self, results: &[Results]) -> Result<ReportPage, PaperError> {
        page::report(self, results)
    }

    /// The page as `docs/guide/` has it.
    pub fn guide(&self, results: &[Results]) -> String {
        page::guide(self, results)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::papers::PAPERS;

    fn planned(quick: bool) -> RealReproduction {
        let paper = PAPERS.iter().find(|paper| paper.name == "scps-tp").unwrap();
        RealReproduction::new(paper, RealOrder { items: Vec::new(), quick, out: "x".into(), jobs: None })
            .unwrap()
    }

    #[test]
    fn every_point_of_the_paper_is_run_and_few_of_them_quickly() {
        let points = |quick| planned(quick).items.iter().map(RealItem::points).collect::<Vec<_>>();
        assert_eq!(points(false), [10, 12, 10]);
        assert_eq!(points(true), [3, 2, 4]);
        for item in planned(false).items {
            assert_eq!(item.header.points, 5 * item.points());
            let replications = item.header.replications;
            assert_eq!(replications, 3);
        }
    }

    #[test]
    fn what_is_pinned_or_quick_is_an_axis_of_its_scenario() {
        let all = planned(false);
        for (item, definition) in all.items.iter().zip(&all.definition.items) {
            let axes: BTreeSet<&str> = item.header.axes.iter().map(|axis| axis.key.as_str()).collect();
            assert!(definition.axes().all(|axis| axes.contains(axis.as_str())), "{axes:?}");
        }
    }

    #[test]
    fn unknown_items_and_other_papers_are_refused() {
        let order = |items: &[&str]| RealOrder {
            items: items.iter().map(ToString::to_string).collect(),
            quick: true,
            out: "x".into(),
            jobs: None,
        };
        let refused = |paper: &str, items: &[&str]| {
            let paper = PAPERS.iter().find(|one| one.name == paper).unwrap();
            RealReproduction::new(paper, order(items)).unwrap_err().to_string()
        };
        assert_eq!(refused("scps-tp", &["T-8"]), "scps-tp has no item 'T-8'; its items are T-3, T-4, T-7");
        assert!(refused("xstp", &[]).starts_with("xstp has nothing that runs in real time"));
    }

    #[test]
    fn the_command_of_the_page_is_the_one_that_makes_it() {
        assert_eq!(planned(true).command(), "skyhaul reproduce scps-tp --real --quick");
    }
}
