use std::fmt::Write as _;

use super::*;
use crate::figure::pictures_tests::keep;
use crate::figure::{Definitions, Figure};

const SERIES: &str = r#"
[[figure]]
id = "series"
title = "Queue at the bottleneck"
type = "series"
[figure.panel]
results = "series.jsonl"
x = { label = "Time", unit = "s" }
y = { metric = "queue", label = "Queue", unit = "kB", scale = 0.001 }
series = { axis = "point", names = { 0 = "probing", 1 = "no probing" } }
"#;

/// A made-up saw, `samples` samples of two points.
fn made_up(samples: usize) -> Samples {
    let mut text = String::new();
    for point in 0..2 {
        for i in 0..samples {
            let level = (i * (97 + point * 31)) % (samples / 4 + 1) * 64_000 / samples;
            let t_s = i as f64 * 60.0 / samples as f64;
            writeln!(text, "{{\"point\":{point},\"t_s\":{t_s},\"metrics\":{{\"queue\":{level}}}}}").unwrap();
        }
    }
    Samples::parse(&text, "series.jsonl").unwrap()
}

fn figure(samples: &Samples) -> Result<Figure, ReportError> {
    let definition = Definitions::parse(SERIES, "d").unwrap().figures.remove(0);
    let panels = vec![select("series", &definition.panels().next().unwrap().clone(), samples)?];
    Ok(Figure { definition, panels, ladder: None, drawing: None })
}

#[test]
fn pictures_of_a_series_of_two_points() {
    let figure = figure(&made_up(300)).unwrap();
    assert_eq!(figure.panels[0].curves.len(), 2);
    assert_eq!(figure.panels[0].curves[1].data.len(), 300);
    keep("series", &figure.to_svg().unwrap(), &figure.to_png(1.5).unwrap());
}

#[test]
fn a_long_series_keeps_its_peaks() {
    let samples = made_up(50_000);
    let highest = |point: usize| {
        let own = samples.all.iter().filter(|sample| sample.point == point);
        own.filter_map(|sample| sample.metrics["queue"]).fold(0.0, f64::max) / 1000.0
    };
    for (point, curve) in figure(&samples).unwrap().panels[0].curves.iter().enumerate() {
        assert!(curve.data.len() <= MAX_POINTS, "{}", curve.data.len());
        let shown = curve.data.iter().map(|datum| datum.y.mean).fold(0.0, f64::max);
        assert!((shown - highest(point)).abs() < 1e-9);
    }
}

#[test]
fn wrong_samples_and_missing_metrics_are_refused() {
    assert!(
        Samples::parse("{}\n", "s.jsonl")
            .unwrap_err()
            .to_string()
            .starts_with("s.jsonl:1: this is no sample")
    );
    let other = Samples::parse("{\"t_s\":1,\"metrics\":{\"rate\":1}}", "s.jsonl").unwrap();
    assert!(figure(&other).unwrap_err().to_string().contains("there is rate"));
}

#[test]
fn a_folder_has_a_file_for_each_run() {
    let folder = tempfile::tempdir().unwrap();
    let series = folder.path().join("series.jsonl");
    std::fs::create_dir(&series).unwrap();
    for point in 0..2 {
        for replication in 0..2 {
            let line = format!(
                "{{\"point\":{point},\"replication\":{replication},\"t_s\":1,\"metrics\":{{\"queue\":{}}}}}\n",
                point * 1000
            );
            std::fs::write(series.join(format!("point-{point}-replication-{replication}.jsonl")), line)
                .unwrap();
        }
    }
    let curves = |text: &str| {
        let definition = Definitions::parse(text, "d").unwrap().figures.remove(0);
        let figure = Figure::from_definition(&definition, folder.path()).unwrap();
        figure.panels[0]
            .curves
            .iter()
            .map(|curve| (curve.name.clone(), curve.data[0].y.mean))
            .collect::<Vec<_>>()
    };
    assert_eq!(curves(SERIES), [("probing".to_owned(), 0.0), ("no probing".to_owned(), 1.0)]);
    let one = SERIES.replace("series = {", "filter = { point = 1, replication = 1 }\n# ");
    assert_eq!(curves(&one), [(String::new(), 1.0)]);
}

#[test]
fn a_file_of_one_run_needs_no_filter() {
    let text = SERIES.replace("series = {", "# ");
    let definition = Definitions::parse(&text, "d").unwrap().figures.remove(0);
    let samples =
        Samples::parse("{\"point\":3,\"replication\":7,\"t_s\":1,\"metrics\":{\"queue\":5}}", "s").unwrap();
    assert_eq!(select("s", definition.panels().next().unwrap(), &samples).unwrap().curves.len(), 1);
}
