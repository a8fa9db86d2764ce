use std::fmt::Write as _;

use super::*;
use crate::results::parse_results;
use crate::results::results_tests::made_up_results;

fn sweep(axes: &[(&str, &str)]) -> Results {
    let count = |values: &str| values.matches(',').count() + 1;
    let points: usize = axes.iter().map(|(_, values)| count(values)).product();
    let axes: Vec<String> =
        axes.iter().map(|(key, values)| format!("{{\"key\":\"{key}\",\"values\":[{values}]}}")).collect();
    let mut text = format!(
        "{{\"skyhaul_results\":1,\"scenario\":\"s\",\"axes\":[{}],\"points\":{points},\"replications\":1}}\n",
        axes.join(",")
    );
    for point in 0..points {
        writeln!(
            text,
            "{{\"point\":{point},\"replication\":0,\"seed\":1,\"metrics\":{{\"goodput_bps\":{}}}}}",
            point * 1000
        )
        .unwrap();
    }
    parse_results(text.as_bytes(), "r.jsonl").unwrap()
}

#[test]
fn the_axis_of_numbers_lies_to_the_right_and_words_are_curves() {
    let figures = obvious_figures(&made_up_results(), "goodput_bps").unwrap();
    let panel = figures[0].definition.panels().next().unwrap();
    assert_eq!(panel.x.axis.as_deref(), Some("loss"));
    assert_eq!(panel.series.as_ref().unwrap().axis.as_deref(), Some("flows.file.transport"));
    assert_eq!((panel.y.unit.as_deref(), figures.len()), (Some("Mbit/s"), 1));
    assert_eq!(figures[0].panels[0].curves.len(), 2);
    let words = sweep(&[("transport", "\"on\",\"off\""), ("rate", "\"1Mbit/s\",\"2Mbit/s\",\"200Mbit/s\"")]);
    let figure = &obvious_figures(&words, "goodput_bps").unwrap()[0];
    let panel = figure.definition.panels().next().unwrap();
    assert_eq!(
        (panel.x.axis.as_deref(), panel.x.unit.as_deref(), panel.x.log),
        (Some("rate"), Some("bit/s"), true)
    );
}

#[test]
fn words_alone_are_bars() {
    let figures =
        obvious_figures(&sweep(&[("transport", "\"on\",\"off\",\"half\"")]), "goodput_bps").unwrap();
    assert_eq!(figures[0].definition.kind, FigureKind::Bar);
    assert_eq!(figures[0].panels[0].categories, ["on", "off", "half"]);
}

#[test]
fn further_axes_are_panels() {
    let results =
        sweep(&[("a", "1,2,3"), ("b", "true,false"), ("c", "1,2"), ("d", "\"x\",\"y\",\"z\",\"w\"")]);
    let figures = obvious_figures(&results, "goodput_bps").unwrap();
    assert_eq!(figures.iter().map(|figure| figure.panels.len()).collect::<Vec<_>>(), [6, 2]);
    assert_eq!(figures[1].definition.id, "goodput_bps-2");
    let title = figures[0].definition.panels[1].title.as_deref();
    assert_eq!(title, Some("c = 1, d = y"));
    assert!(figures[0].to_svg().unwrap().contains("c = 1, d = y"));
}

#[test]
fn what_has_no_obvious_figure_says_so() {
    let one = sweep(&[("a", "1")]);
    assert!(obvious_figures(&one, "goodput_bps").unwrap_err().to_string().contains("give it an axis"));
    assert!(
        obvious_figures(&made_up_results(), "speed")
            .unwrap_err()
            .to_string()
            .contains("there is goodput_bps")
    );
}
