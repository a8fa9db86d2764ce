use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;

/// A result file of a made-up sweep, for tests of this crate: two axes (loss, transport), a value that a
/// formula and the replication give. Nothing of it was measured.
pub(crate) fn made_up(losses: &[f64], names: &[&str], replications: usize) -> String {
    let points = losses.len() * names.len();
    let mut text = format!(
        "{{\"skyhaul_results\":1,\"scenario\":\"made-up\",\"title\":\"Made up\",\"digest\":\"0\",\"axes\":[{{\"key\":\"loss\",\"values\":{losses:?}}},{{\"key\":\"flows.file.transport\",\"values\":{names:?}}}],\"points\":{points},\"replications\":{replications},\"seed\":1}}\n"
    );
    for (i, loss) in losses.iter().enumerate() {
        for (j, name) in names.iter().enumerate() {
            for r in 0..replications {
                let goodput =
                    1e6 * (1.0 - loss) / (1.0 + j as f64 * loss * 4.0) * (1.0 + 0.08 * noise(i, j, r));
                let overhead = (5.0 + 80.0 * loss * (j as f64 + 1.0)) * (1.0 + 0.1 * noise(j, i, r));
                writeln!(
                    text,
                    "{{\"point\":{},\"replication\":{r},\"seed\":{},\"set\":{{\"loss\":{loss},\"flows.file.transport\":\"{name}\"}},\"ended\":\"done\",\"metrics\":{{\"goodput_bps\":{goodput},\"overhead_percent\":{overhead}}}}}",
                    i * names.len() + j,
                    r + 1
                )
                .unwrap();
            }
        }
    }
    text
}

fn noise(i: usize, j: usize, r: usize) -> f64 {
    ((i * 7919 + j * 104_729 + r * 1_299_709) % 97) as f64 / 48.0 - 1.0
}

pub(crate) fn made_up_results() -> Results {
    parse_results(made_up(&[0.0, 0.05, 0.1, 0.2, 0.5], &["on", "off"], 5).as_bytes(), "made-up.jsonl")
        .unwrap()
}

fn refused(text: &str) -> String {
    parse_results(text.as_bytes(), "r.jsonl").expect_err("refused").to_string()
}

#[test]
fn points_have_their_coordinates_runs_and_summaries() {
    let results = made_up_results();
    assert_eq!(results.points(), 10);
    assert_eq!(results.coordinates(3)["loss"], AxisValue::Number(0.05));
    assert_eq!(results.coordinates(3)["flows.file.transport"], AxisValue::Text("off".into()));
    assert_eq!(results.runs_of(3).len(), 5);
    assert_eq!(results.summary(3, "goodput_bps").unwrap().n, 5);
    assert!(results.summary(3, "nothing").is_none());
    assert_eq!(results.keys(), ["loss", "flows.file.transport"]);
    assert_eq!((results.missing(), results.torn_line), (0, None));
}

#[test]
fn the_order_of_the_lines_does_not_matter() {
    let text = made_up(&[0.0, 0.1], &["on", "off"], 3);
    let mut lines: Vec<&str> = text.lines().collect();
    lines[1..].reverse();
    let turned = parse_results((lines.join("\n") + "\n").as_bytes(), "x").unwrap();
    assert_eq!(turned, parse_results(text.as_bytes(), "x").unwrap());
}

#[test]
fn a_torn_last_line_is_left_out_and_said() {
    let text = made_up(&[0.0], &["on"], 3);
    let results = parse_results(&text.as_bytes()[..text.len() - 10], "x").unwrap();
    assert_eq!((results.runs.len(), results.torn_line, results.missing()), (2, Some(4), 1));
}

#[test]
fn a_torn_line_in_the_middle_is_an_error_with_its_place() {
    let mut lines: Vec<String> = made_up(&[0.0], &["on"], 3).lines().map(str::to_owned).collect();
    lines[2].truncate(30);
    let message = refused(&(lines.join("\n") + "\n"));
    assert!(message.starts_with("r.jsonl:3: this is no run"), "{message}");
}

#[test]
fn what_is_no_result_file_is_refused() {
    assert!(refused("").contains("empty"));
    assert!(refused("{\"a\":1}\n").starts_with("r.jsonl:1: this is no header"));
    let other = made_up(&[0.0], &["on"], 1).replace("\"skyhaul_results\":1", "\"skyhaul_results\":2");
    assert!(refused(&other).contains("version 2"));
    let points = made_up(&[0.0], &["on"], 1).replace("\"points\":1", "\"points\":7");
    assert!(refused(&points).contains("7 points, but the axes"));
    let outside = made_up(&[0.0], &["on"], 1).replace("\"point\":0", "\"point\":1");
    assert!(refused(&outside).starts_with("r.jsonl:2: point 1"));
}

#[test]
fn a_run_that_stands_there_twice_is_refused() {
    let text = made_up(&[0.0], &["on"], 2).replace("\"replication\":1", "\"replication\":0");
    assert!(refused(&text).contains("point 0 replication 0 stands there twice"));
}

#[test]
fn failed_runs_and_null_do_not_count() {
    let text = made_up(&[0.0], &["on"], 3)
        .replace("\"replication\":1,", "\"replication\":1,\"error\":\"too many events\",")
        .replacen(
            "\"ended\":\"done\",\"metrics\":{\"goodput_bps\":",
            "\"metrics\":{\"goodput_bps\":null,\"x\":",
            1,
        );
    let results = parse_results(text.as_bytes(), "x").unwrap();
    assert_eq!(results.failed().count(), 1);
    assert_eq!(results.summary(0, "goodput_bps").unwrap().n, 1);
}

#[test]
fn a_sweep_without_axes_is_one_point() {
    let text = "{\"skyhaul_results\":1,\"scenario\":\"s\",\"points\":1,\"replications\":1}\n{\"point\":0,\"replication\":0,\"seed\":1,\"metrics\":{\"m\":2}}";
    let results = parse_results(text.as_bytes(), "x").unwrap();
    assert_eq!(results.summary(0, "m").map(|m| m.mean), Some(2.0));
    assert_eq!(results.torn_line, None, "a last line that is whole counts");
}

#[test]
fn quantities_on_axes_are_numbers_in_base_units() {
    let number = |text: &str| AxisValue::Text(text.into()).number();
    assert_eq!(number("100ms"), Some(0.1));
    assert_eq!(number("10Mbit/s"), Some(1e7));
    assert_eq!(number("64kB"), Some(64_000.0));
    assert_eq!(number("20packets"), Some(20.0));
    assert_eq!(number("1e-6"), Some(1e-6));
    assert_eq!(number("on"), None);
    assert_eq!(number("inf"), None);
    assert_eq!(number("nan"), None);
}

proptest! {
    #[test]
    fn nothing_that_is_read_panics(bytes in prop::collection::vec(any::<u8>(), 0..300)) {
        let _ = parse_results(&bytes, "x");
    }

    #[test]
    fn a_damaged_file_is_read_or_refused(at in 0_usize..3000, byte in any::<u8>(), cut in 0_usize..3000) {
        let mut bytes = made_up(&[0.0, 0.5], &["on", "off"], 2).into_bytes();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(cut.max(at));
        if let Ok(results) = parse_results(&bytes, "x") {
            for point in 0..=results.points() {
                let _ = (results.coordinates(point), results.summary(point, "goodput_bps"));
            }
        }
    }
}
