use proptest::prelude::*;

use super::*;
use crate::results::parse_results;
use crate::results::results_tests::{made_up, made_up_results};
use crate::scene::Item;

pub(crate) const LINE: &str = r#"
[[figure]]
id = "X-6"
title = "Throughput against loss in the bad state"
[figure.panel]
results = "made-up.jsonl"
x = { axis = "loss", label = "Loss in the bad state", unit = "%", scale = 100 }
y = { metric = "goodput_bps", label = "Throughput", unit = "kbit/s", scale = 0.001 }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
"#;

fn definition(text: &str) -> FigureDefinition {
    Definitions::parse(text, "figures.toml").unwrap().figures.remove(0)
}

fn refused(text: &str) -> String {
    Definitions::parse(text, "figures.toml").expect_err("refused").to_string()
}

fn not_drawn(text: &str) -> String {
    Figure::from_results(&definition(text), &made_up_results()).expect_err("refused").to_string()
}

#[test]
fn curves_have_the_means_of_the_file_in_the_shown_unit() {
    let results = made_up_results();
    let figure = Figure::from_results(&definition(LINE), &results).unwrap();
    let [on, off] = &figure.panels[0].curves[..] else { panic!("two curves") };
    assert_eq!((on.name.as_str(), off.name.as_str()), ("XSTP-ON", "XSTP-OFF"));
    assert_eq!(
        on.data.iter().map(|datum| datum.name.as_str()).collect::<Vec<_>>(),
        ["0", "5", "10", "20", "50"]
    );
    let expected = results.summary(9, "goodput_bps").unwrap();
    let last = &off.data[4].y;
    assert!((last.mean - expected.mean / 1000.0).abs() < 1e-9);
    assert!((last.ci95.unwrap() - expected.ci95.unwrap() / 1000.0).abs() < 1e-9);
}

#[test]
fn a_metric_is_divided_run_by_run() {
    let text = LINE
        .replace("metric = \"goodput_bps\",", "metric = \"goodput_bps\", divided_by = \"overhead_percent\",");
    let results = made_up_results();
    let figure = Figure::from_results(&definition(&text), &results).unwrap();
    let quotients: Vec<f64> = results
        .runs_of(0)
        .iter()
        .map(|run| run.metric("goodput_bps").unwrap() / run.metric("overhead_percent").unwrap())
        .collect();
    let expected = crate::Summary::of(&quotients).unwrap().scaled(0.001);
    assert_eq!(figure.panels[0].curves[0].data[0].y, expected);
}

#[test]
fn equal_results_give_equal_bytes() {
    let draw = || Figure::from_results(&definition(LINE), &made_up_results()).unwrap();
    assert_eq!(draw().to_svg().unwrap(), draw().to_svg().unwrap());
    assert_eq!(draw().to_png(1.0).unwrap(), draw().to_png(1.0).unwrap());
}

#[test]
fn the_picture_names_axes_units_series_and_title() {
    let svg = Figure::from_results(&definition(LINE), &made_up_results()).unwrap().to_svg().unwrap();
    for text in ["Throughput (kbit/s)", "Loss in the bad state (%)", "XSTP-ON", "XSTP-OFF", "against loss"] {
        assert!(svg.contains(text), "{text}");
    }
    assert!(svg.matches("<circle").count() >= 6, "five points and the legend's sample");
}

/// Places of these texts in a picture.
fn places_of<const N: usize>(text: &str, names: [&str; N]) -> [Option<(f64, f64)>; N] {
    let scene = Figure::from_results(&definition(text), &made_up_results()).unwrap().scene().unwrap();
    names.map(|name| {
        scene.items.iter().find_map(|item| match item {
            Item::Text(text) if text.text == name => Some(text.at),
            _ => None,
        })
    })
}

/// A figure of so many panels.
fn of_panels(count: u32) -> String {
    let panel = &LINE[LINE.find("results").unwrap()..];
    let titled = |i: u32| format!("[[figure.panels]]\ntitle = \"panel {i}\"\n{panel}");
    let panels: Vec<String> = (1..=count).map(titled).collect();
    format!("[[figure]]\nid = \"X\"\ntitle = \"Panels\"\n{}", panels.concat())
}

#[test]
fn three_panels_stand_in_a_row_and_a_fifth_in_the_middle_of_its_own() {
    let row = places_of(&of_panels(3), ["panel 1", "panel 2", "panel 3"]).map(Option::unwrap);
    assert!(row[0].0 < row[1].0 && row[1].0 < row[2].0 && (row[0].1 - row[2].1).abs() < 1e-9, "{row:?}");
    let [one, two, last] = places_of(&of_panels(5), ["panel 1", "panel 2", "panel 5"]).map(Option::unwrap);
    assert!((last.0 - f64::midpoint(one.0, two.0)).abs() < 1e-9 && two.0 > one.0, "{one:?} {two:?} {last:?}");
}

#[test]
fn a_line_with_a_short_name_has_it_beside_it_and_others_have_theirs_above_the_axes() {
    let marks =
        "marks = [{ on = \"x\", at = 0.05, label = \"B\" }, { on = \"x\", at = 0.06, label = \"ceiling\" }]";
    let [short, long] =
        places_of(&format!("{LINE}{marks}\n"), ["B", "ceiling"]).map(|place| place.unwrap().1);
    assert!(short > long, "the legend is above: {short} {long}");
}

#[test]
fn failed_and_missing_runs_are_said() {
    let text = made_up(&[0.0, 0.1], &["on", "off"], 3);
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines.truncate(12);
    lines[1] = lines[1].replace("\"ended\"", "\"error\":\"too long\",\"ended\"");
    let results = parse_results((lines.join("\n") + "\n").as_bytes(), "x").unwrap();
    let figure = Figure::from_results(&definition(LINE), &results).unwrap();
    let notes: Vec<&str> = figure.notes().collect();
    assert_eq!(
        notes,
        [
            "runs that failed and are left out: 1",
            "runs that are missing, since the sweep is not complete: 1 of 12"
        ]
    );
}

#[test]
fn what_the_sweep_does_not_have_is_refused_with_what_it_has() {
    assert!(
        not_drawn(&LINE.replace("\"loss\"", "\"lost\""))
            .contains("'lost' is no axis of the sweep; there is loss, flows")
    );
    assert!(
        not_drawn(&LINE.replace("goodput_bps", "speed")).contains("there is goodput_bps, overhead_percent")
    );
    let ambiguous = LINE.replace("series = {", "# ");
    assert!(not_drawn(&ambiguous).contains("several points of the sweep lie at loss = 0"));
    let filtered = ambiguous + "filter = { \"flows.file.transport\" = \"half\" }";
    assert!(not_drawn(&filtered).contains("no point of the sweep has flows.file.transport = half"));
}

#[test]
fn a_filter_holds_an_axis() {
    let text = LINE.replace("series = {", "# ") + "filter = { \"flows.file.transport\" = \"off\" }";
    let figure = Figure::from_results(&definition(&text), &made_up_results()).unwrap();
    assert_eq!((figure.panels[0].curves.len(), figure.panels[0].curves[0].data.len()), (1, 5));
}

#[test]
fn definitions_are_strict_and_errors_name_the_line() {
    assert!(
        refused(&LINE.replace("title =", "tilte =")).starts_with("figures.toml:4: unknown field `tilte`")
    );
    assert!(refused(&LINE.replace("scale = 100", "scale = \"x\"")).starts_with("figures.toml:7:"));
    assert!(refused(&LINE.replace("X-6", "../X")).contains("an id is 1 to 64"));
    assert!(refused(&format!("{LINE}{LINE}")).contains("two figures have this id"));
    assert!(refused(&LINE.replace("scale = 100", "scale = 0")).contains("a scale is not 0"));
    assert!(refused(&LINE.replace("scale = 100", "from = 3, to = 3")).contains("x.from = 3 is not below"));
    assert!(refused(&LINE.replace("scale = 100", "log = true, from = 0")).contains("above 0"));
    assert!(refused(&LINE.replace("title", "type = \"ladder\"\ntitle")).contains("a table 'ladder'"));
}

#[test]
fn bars_take_numbers_as_names() {
    let text = LINE.replace("title", "type = \"bar\"\ntitle");
    let figure = Figure::from_results(&definition(&text), &made_up_results()).unwrap();
    assert_eq!(figure.panels[0].categories, ["0", "5", "10", "20", "50"]);
    assert!(figure.to_svg().unwrap().contains("XSTP-OFF"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn no_definition_panics(at in 0_usize..500, text in "[ -~]{0,12}", cut in 0_usize..20) {
        let at = at % LINE.len();
        let end = (at + cut).min(LINE.len());
        let changed = format!("{}{text}{}", &LINE[..at], &LINE[end..]);
        if let Ok(definitions) = Definitions::parse(&changed, "x") {
            let results = made_up_results();
            for figure in &definitions.figures {
                if let Ok(figure) = Figure::from_results(figure, &results) {
                    let _ = figure.to_svg().unwrap();
                }
            }
        }
    }
}

/// Vertical lines of a colour in a picture of one panel: error bars, by their places. (Caps are horizontal,
/// and lines of axes and of the grid have other colours.)
fn bars_of(scene: &Scene, index: usize) -> Vec<f64> {
    let color = look::Look::of(index).color();
    let inside = scene.items.iter().find_map(|item| match item {
        Item::Clipped { items, .. } => Some(items),
        _ => None,
    });
    let vertical = |item: &Item| match item {
        Item::Lines { points, stroke: Some(stroke), fill: None, .. } if stroke.color == color => {
            match points[..] {
                [a, b] if (a.0 - b.0).abs() < 1e-9 => Some(a.0),
                _ => None,
            }
        }
        _ => None,
    };
    inside.unwrap().iter().filter_map(vertical).collect()
}

#[test]
fn error_bars_at_one_place_stand_beside_each_other_and_the_picture_says_what_they_are() {
    let figure = Figure::from_results(&definition(LINE), &made_up_results()).unwrap();
    let scene = figure.scene().unwrap();
    let [on, off] = [0, 1].map(|index| bars_of(&scene, index));
    assert!(on.len() > 1 && off.len() > 1, "{on:?} {off:?}");
    for (one, other) in on.iter().flat_map(|one| off.iter().map(move |other| (one, other))) {
        assert!((one - other).abs() > 7.0, "their caps touch: {one} {other}");
    }
    assert!(figure.to_svg().unwrap().contains("mean and its 95 % interval"));
    let median = LINE.replace("scale = 0.001", "scale = 0.001, statistic = \"median\"");
    let figure = Figure::from_results(&definition(&median), &made_up_results()).unwrap();
    assert!(figure.to_svg().unwrap().contains("median, smallest and largest value"));
}

#[test]
fn bars_on_a_logarithmic_axis_are_dots() {
    let shapes = |text: &str| {
        let figure = Figure::from_results(&definition(text), &made_up_results()).unwrap();
        let items = figure.scene().unwrap().items.into_iter();
        let inside =
            items.filter_map(|item| if let Item::Clipped { items, .. } = item { Some(items) } else { None });
        let inside: Vec<Item> = inside.flatten().collect();
        let circles = inside.iter().filter(|item| matches!(item, Item::Circle { .. })).count();
        (circles, inside.len())
    };
    let bars = LINE.replace("[figure.panel]", "type = \"bar\"\n[figure.panel]");
    assert_eq!(shapes(&bars).0, 0);
    let (circles, _) = shapes(&bars.replace("scale = 0.001", "scale = 0.001, log = true"));
    assert_eq!(circles, 5, "one of the two series has circles for markers");
}

#[test]
fn values_are_multiplied_by_their_place_and_some_curves_alone_are_drawn() {
    let text = LINE.replace("metric = \"goodput_bps\",", "metric = \"goodput_bps\", times_x = true,");
    let text = text
        .replace("axis = \"flows.file.transport\",", "axis = \"flows.file.transport\", only = [\"off\"],");
    let results = made_up_results();
    let figure = Figure::from_results(&definition(&text), &results).unwrap();
    let [off] = &figure.panels[0].curves[..] else { panic!("one curve") };
    let expected = 50.0 * results.summary(9, "goodput_bps").unwrap().mean / 1000.0;
    assert_eq!(off.name, "XSTP-OFF");
    assert!((off.data[4].y.mean - expected).abs() < 1e-9, "{:?}", off.data[4]);
    assert!(
        (off.data[4].runs.iter().map(|run| run.1).sum::<f64>() / off.data[4].runs.len() as f64 - expected)
            .abs()
            < 1e-9
    );
}

/// A table over two of the places, with published values of one series.
pub(crate) const TABLE: &str = r#"
[[figure]]
id = "T-1"
title = "Throughput and overhead"
type = "table"
[[figure.panels]]
title = "Throughput"
results = "made-up.jsonl"
x = { axis = "loss", label = "Loss", only = [0.05, 0.5], names = { "0.05" = "few losses", "0.5" = "many losses" } }
y = { metric = "goodput_bps", label = "Throughput", unit = "kbit/s", scale = 0.001 }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
reference = [{ name = "XSTP-ON", points = [[0, 672.3], [1, 420]] }]
[[figure.panels]]
title = "Overhead"
results = "made-up.jsonl"
x = { axis = "loss", label = "Loss", only = [0.05, 0.5], names = { "0.05" = "few losses", "0.5" = "many losses" } }
y = { metric = "overhead_percent", label = "Overhead", unit = "%" }
series = { axis = "flows.file.transport", names = { on = "XSTP-ON", off = "XSTP-OFF" } }
"#;

#[test]
fn a_table_has_a_row_for_each_series_at_each_place_with_published_values_beside() {
    let results = made_up_results();
    let figure = Figure::from_results(&definition(TABLE), &results).unwrap();
    let svg = figure.to_svg().unwrap();
    let texts = |wanted: &str| svg.matches(&format!(">{wanted}<")).count();
    assert_eq!((texts("few losses"), texts("many losses")), (1, 1));
    assert_eq!((texts("XSTP-ON"), texts("XSTP-OFF")), (2, 2));
    assert_eq!((texts("(kbit/s)"), texts("Overhead"), texts("(%)"), texts("published")), (1, 1, 1, 1));
    assert_eq!((texts("672.3"), texts("420")), (1, 1));
    let summary = results.summary(2, "goodput_bps").unwrap().scaled(0.001);
    let half = summary.ci95.unwrap();
    assert!((10.0..100.0).contains(&half), "two digits before the point: {half}");
    assert_eq!(texts(&format!("{:.0}", summary.mean)), 1, "{}", summary.mean);
    assert_eq!(svg.matches(&format!(">± {half:.0}<")).count(), 1, "{half}");
    assert_eq!(svg.matches(">± ").count(), 8, "an interval in each cell");
}

/// The single place of a table is in its title, and what the paper prints as 2.0 is no 2.
#[test]
fn a_table_of_one_place_has_no_row_for_it_and_published_values_have_equal_digits() {
    let one = TABLE.replace("only = [0.05, 0.5]", "only = [0.5]").replace(
        "points = [[0, 672.3], [1, 420]] }",
        "points = [[0, 672.3]] }, { name = \"XSTP-OFF\", points = [[0, 420]] }",
    );
    let svg = Figure::from_results(&definition(&one), &made_up_results()).unwrap().to_svg().unwrap();
    let texts = |wanted: &str| svg.matches(&format!(">{wanted}<")).count();
    assert_eq!((texts("many losses"), texts("XSTP-ON"), texts("XSTP-OFF")), (0, 1, 1));
    assert_eq!((texts("672.3"), texts("420.0"), texts("420")), (1, 1, 0));
}

#[test]
fn a_table_of_medians_and_chosen_values_of_no_axis_are_refused() {
    let medians = TABLE.replace("unit = \"%\"", "unit = \"%\", statistic = \"median\"");
    assert!(refused(&medians).contains("means"), "{}", refused(&medians));
    let series = LINE
        .replace("[figure.panel]", "type = \"series\"\n[figure.panel]")
        .replace("axis = \"loss\",", "only = [1],");
    assert!(refused(&series).contains("x.only"), "{}", refused(&series));
}
