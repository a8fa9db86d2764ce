use super::*;
use crate::results::results_tests::made_up_results;

fn sample() -> Table {
    let mut table = Table::new(&["name", "#value"]);
    table.push(vec!["a, \"b\"".to_owned(), "1".to_owned()]);
    table.push(vec!["<i>|*x*".to_owned(), "23.5".to_owned()]);
    table.push(vec!["short".to_owned()]);
    table
}

#[test]
fn numbers_stand_to_the_right_on_a_terminal() {
    assert_eq!(sample().to_terminal(), "name     value\na, \"b\"       1\n<i>|*x*   23.5\nshort\n");
}

#[test]
fn a_cell_cannot_steer_the_terminal() {
    let mut table = Table::new(&["x"]);
    table.push(vec!["\u{1b}[2J".to_owned()]);
    assert!(!table.to_terminal().contains('\u{1b}'));
}

#[test]
fn csv_quotes_what_needs_it() {
    assert_eq!(sample().to_csv(), "name,value\n\"a, \"\"b\"\"\",1\n<i>|*x*,23.5\nshort,\n");
}

#[test]
fn markdown_and_html_show_text_as_it_is() {
    assert!(sample().to_markdown().contains("| &lt;i&gt;\\|\\*x\\* | 23.5 |"));
    assert!(sample().to_markdown().starts_with("| name | value |\n| --- | ---: |\n"));
    assert!(sample().to_html().contains("<td>&lt;i&gt;|*x*</td><td class=\"number\">23.5</td>"));
}

#[test]
fn a_sweep_as_rows_for_programs_and_for_people() {
    let results = made_up_results();
    let all = Table::of_summaries(&results, &[]);
    assert_eq!(all.rows.len(), 20);
    let expected = results.summary(0, "goodput_bps").unwrap();
    assert_eq!(all.rows[0][..6], ["0", "0", "on", "goodput_bps", "5", &expected.mean.to_string()]);
    let means = Table::of_means(&results, &["overhead_percent".to_owned()]);
    assert_eq!(means.rows.len(), 10);
    assert!(means.rows[9][2].contains(" ± "), "{:?}", means.rows[9]);
}

#[test]
fn digits_go_as_far_as_the_interval_allows() {
    let summary =
        |mean, ci95| crate::Summary { n: 2, mean, sd: ci95, ci95, min: mean, max: mean, median: mean };
    let shown = |mean, ci95| with_interval(&summary(mean, ci95));
    assert_eq!(shown(1234.567, Some(12.3)), "1235 ± 12");
    assert_eq!(shown(0.123_456, Some(0.001_23)), "0.1235 ± 0.0012");
    assert_eq!(shown(0.123_456, None), "0.1235");
    assert_eq!(shown(5.0, Some(0.0)), "5");
    assert_eq!(shown(0.0, None), "0");
}
