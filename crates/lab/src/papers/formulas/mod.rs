//! Figures of a paper that need no run: results that formulas give, kept as those of a sweep are, so that
//! figures and claims read them alike; and drawings, made of the program's own tables and of scenario files.

mod p_xcp;
mod petra;
mod stp;
mod topology;

use serde_json::{Map, Value, json};

pub(super) use p_xcp::P_XCP;
pub(super) use petra::PETRA;
pub(super) use stp::STP;

/// What needs no run, by name; that of NAME goes to the folder NAME.
pub(super) type Formula = (&'static str, Content);

/// Name of a drawing's file.
const DRAWING: &str = "drawing.json";

/// Content that needs no run.
#[derive(Clone, Copy, Debug)]
pub(super) enum Content {
    /// Results of a formula.
    Results(fn() -> Computed),
    /// Drawing.
    Drawing(fn() -> Value),
}

impl Content {
    /// Name and text of its file, in the folder `name`.
    pub(super) fn file(self, name: &str) -> (&'static str, String) {
        match self {
            Self::Results(computed) => (skyhaul_sim::sweep::RESULTS, computed().text(name)),
            Self::Drawing(drawing) => (DRAWING, drawing().to_string()),
        }
    }
}

/// Seeds of simulated results, at most: scenarios of papers have 1 to 20.
const SEEDS: usize = 20;

/// Names and values of metrics.
type Values = Vec<(&'static str, f64)>;

/// Table of computed values: every combination of the axes' values.
#[derive(Debug)]
pub(super) struct Computed {
    title: &'static str,
    /// Name and values of each; the last one varies fastest.
    axes: Vec<(&'static str, Vec<Value>)>,
    /// Metrics of a point, by what it sets.
    metrics: fn(&Map<String, Value>) -> Values,
}

impl Computed {
    /// Text of a result file. Each point has a run for each of the seeds that simulated results may have, all
    /// of them alike, so that both can be compared seed by seed.
    pub(super) fn text(&self, name: &str) -> String {
        let sizes = self.axes.iter().map(|axis| axis.1.len());
        let points: usize = sizes.product();
        let axes: Vec<Value> =
            self.axes.iter().map(|(key, values)| json!({ "key": key, "values": values })).collect();
        let header = json!({
            "skyhaul_results": skyhaul_sim::sweep::FORMAT, "version": env!("CARGO_PKG_VERSION"), "scenario": name,
            "title": self.title, "axes": axes, "points": points, "replications": SEEDS, "seed": 1,
        });
        let lines =
            (0..points).flat_map(|point| (0..SEEDS).map(move |replication| self.line(point, replication)));
        std::iter::once(format!("{header}\n")).chain(lines).collect()
    }

    fn line(&self, point: usize, replication: usize) -> String {
        let set = self.set_at(point);
        let metrics: Map<String, Value> =
            (self.metrics)(&set).into_iter().map(|(name, value)| (name.to_string(), json!(value))).collect();
        let line = json!({ "point": point, "replication": replication, "seed": replication + 1, "set": set, "metrics": metrics });
        format!("{line}\n")
    }

    fn set_at(&self, point: usize) -> Map<String, Value> {
        let (mut rest, mut set) = (point, Map::new());
        for (key, values) in self.axes.iter().rev() {
            set.insert((*key).to_string(), values[rest % values.len()].clone());
            rest /= values.len();
        }
        set
    }
}

/// Number that a point sets for this axis; 0 if it is none.
fn number(set: &Map<String, Value>, key: &str) -> f64 {
    set.get(key).and_then(Value::as_f64).unwrap_or(0.0)
}

#[cfg(test)]
mod tests {
    use skyhaul_report::Definitions;
    use skyhaul_report::figure::Figure;
    use skyhaul_report::figure::drawing::Drawing;

    use crate::papers::paper::PAPERS;

    /// Every node has its place in the papers' figures, and no place is left over. The pictures are left in
    /// the folder that `SKYHAUL_PICTURES` names.
    #[test]
    fn every_drawing_fits_its_figure() {
        let mut drawn = 0;
        for paper in PAPERS {
            let figures = Definitions::parse(paper.figures, "figures.toml").unwrap().figures;
            for figure in figures.iter().filter(|figure| figure.drawing.is_some()) {
                let name = figure.drawing.as_ref().unwrap().file.split('/').next().unwrap();
                let (_, content) = paper.formulas.iter().find(|formula| formula.0 == name).unwrap();
                let (file, text) = content.file(name);
                let drawing = Drawing::parse(&text, file).unwrap();
                let picture = Figure::from_drawing(figure, drawing).unwrap().to_png(2.0).unwrap();
                if let Some(folder) = std::env::var_os("SKYHAUL_PICTURES") {
                    std::fs::write(std::path::Path::new(&folder).join(format!("{}.png", figure.id)), picture)
                        .unwrap();
                }
                drawn += 1;
            }
        }
        assert_eq!(drawn, 9);
    }
}
