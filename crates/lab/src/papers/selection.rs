//! Selections: the figures, claims and scenarios that some items of a paper need.

use std::collections::BTreeSet;

use skyhaul_report::claims::Test;
use skyhaul_report::{Claims, Definitions, FigureDefinition};

use super::error::PaperError;
use super::paper::Paper;

/// Selection of a paper's items.
#[derive(Debug)]
pub(super) struct Selection {
    pub(super) figures: Vec<FigureDefinition>,
    pub(super) claims: Claims,
    /// Names of the scenarios that the figures draw.
    pub(super) scenarios: BTreeSet<String>,
    /// Names of the formulas and drawings that they show.
    pub(super) formulas: BTreeSet<String>,
}

impl Selection {
    /// Selection of these items; of all if there are none.
    pub(super) fn new(paper: &Paper, items: &[String]) -> Result<Self, PaperError> {
        let place = |file: &str| format!("papers/{}/{file}", paper.name);
        let mut figures = Definitions::parse(paper.figures, &place("figures.toml"))?.figures;
        let mut claims = Claims::parse(paper.claims, &place("claims.toml"))?;
        if !items.is_empty() {
            let known: BTreeSet<&str> = claims.claims.iter().map(|claim| claim.item.as_str()).collect();
            if let Some(item) = items.iter().find(|item| !known.contains(item.as_str())) {
                let known = known.into_iter().collect::<Vec<_>>().join(", ");
                return Err(PaperError::UnknownItem { paper: paper.name, item: item.clone(), known });
            }
            claims.claims.retain(|claim| items.contains(&claim.item));
            let wanted = wanted_figures(&claims, items);
            let belongs =
                |id: &str| items.iter().any(|item| id.strip_prefix(item.as_str()).is_some_and(is_part));
            figures.retain(|figure| wanted.contains(&figure.id) || belongs(&figure.id));
        }
        let is_formula = |name: &String| paper.formulas.iter().any(|formula| formula.0 == name);
        let (formulas, scenarios) = figures.iter().flat_map(sources_of).partition(is_formula);
        Ok(Self { figures, claims, scenarios, formulas })
    }
}

/// True if a figure with this behind its item's name belongs to the item: X-6-both to X-6, but not X-61.
fn is_part(rest: &str) -> bool {
    rest.is_empty() || rest.starts_with('-')
}

/// Figures that the claims are judged by.
fn wanted_figures(claims: &Claims, items: &[String]) -> BTreeSet<String> {
    let mut wanted: BTreeSet<String> = items.iter().cloned().collect();
    for claim in &claims.claims {
        wanted.extend(claim.figure.clone());
        match &claim.test {
            Test::GainBetween(test) => wanted.extend(test.and_figures.iter().cloned()),
            Test::MeanBetween(test) => wanted.extend(test.and_figures.iter().cloned()),
            Test::LargerGain(test) => wanted.extend([test.than_figure.clone()]),
            Test::FigureGreater(test) | Test::FigureLess(test) => wanted.extend([test.than_figure.clone()]),
            _ => {}
        }
    }
    wanted
}

/// Folders that a figure draws from: `NAME/results.jsonl` is made by the scenario or the formula NAME.
fn sources_of(figure: &FigureDefinition) -> Vec<String> {
    let panels = figure.panel.iter().chain(&figure.panels).map(|panel| panel.results.as_str());
    let paths = panels.chain(figure.ladder.iter().map(|ladder| ladder.events.as_str()));
    let paths = paths.chain(figure.drawing.iter().map(|drawing| drawing.file.as_str()));
    paths.filter_map(|path| path.split_once('/')).map(|(name, _)| name.to_string()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::papers::paper::PAPERS;

    fn selection(items: &[&str]) -> Selection {
        let items: Vec<String> = items.iter().map(ToString::to_string).collect();
        Selection::new(&PAPERS[0], &items).unwrap()
    }

    #[test]
    fn an_item_brings_what_its_claims_are_compared_with_and_nothing_else() {
        let one = selection(&["X-6"]);
        let ids: Vec<&str> = one.figures.iter().map(|figure| figure.id.as_str()).collect();
        assert_eq!(ids, ["X-6", "X-6-1s", "X-6-both"]);
        let scenarios: Vec<&str> = one.scenarios.iter().map(String::as_str).collect();
        assert_eq!(scenarios, ["corruption-10s", "corruption-1s", "corruption-both"]);
        assert!(one.claims.claims.iter().all(|claim| claim.item == "X-6"));
    }

    #[test]
    fn every_scenario_that_a_figure_needs_is_there_and_every_scenario_is_drawn() {
        for paper in PAPERS {
            let all = Selection::new(paper, &[]).unwrap();
            let there: BTreeSet<String> =
                paper.scenarios.iter().map(|(name, _)| (*name).to_string()).collect();
            assert_eq!(all.scenarios, there, "{}", paper.name);
            let formulas: BTreeSet<String> =
                paper.formulas.iter().map(|(name, _)| (*name).to_string()).collect();
            assert_eq!(all.formulas, formulas, "{}", paper.name);
        }
    }

    #[test]
    fn the_binary_has_every_file_of_every_paper() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../papers");
        for paper in PAPERS {
            let mut files: Vec<String> = std::fs::read_dir(format!("{folder}/{}", paper.name))
                .unwrap()
                .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
                .collect();
            files.sort();
            let mut known: Vec<String> =
                paper.scenarios.iter().map(|(name, _)| format!("{name}.toml")).collect();
            known.extend(["paper.toml", "figures.toml", "claims.toml"].map(String::from));
            let real = paper.real.map(|_| ["real.toml", "real-figures.toml"].map(String::from));
            known.extend(real.into_iter().flatten());
            known.sort();
            assert_eq!(files, known, "{}", paper.name);
            paper.about().unwrap();
        }
    }

    #[test]
    fn every_item_of_a_paper_has_a_claim() {
        for (paper, items) in [(0, ("X", 17)), (2, ("R", 15))] {
            let all = Selection::new(&PAPERS[paper], &[]).unwrap();
            for number in 1..=items.1 {
                let item = format!("{}-{number}", items.0);
                assert!(all.claims.claims.iter().any(|claim| claim.item == item), "{item}");
            }
        }
    }

    #[test]
    fn an_unknown_item_is_wrong_usage_and_the_known_ones_are_told() {
        let error = Selection::new(&PAPERS[1], &["X-6".to_string()]).unwrap_err();
        assert!(
            error
                .to_string()
                .contains("S-5.1, S-5.10, S-5.11, S-5.2, S-5.3, S-5.4, S-5.5, S-5.6, S-5.7, S-5.8, S-5.9"),
            "{error}"
        );
    }
}
