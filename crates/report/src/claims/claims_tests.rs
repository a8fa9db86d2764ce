use std::fmt::Write as _;

use proptest::prelude::*;

use super::*;
use crate::figure::{Definitions, Figure};
use crate::results::parse_results;

/// A figure of series with given (x, mean) and a spread that gives an interval around each mean; runs of one
/// seed deviate alike.
pub(crate) fn figure(id: &str, curves: &[(&str, &[(f64, f64)])], spread: f64) -> Figure {
    figure_of(id, curves, |_, r| (f64::from(r) - 1.0) * spread)
}

/// A figure of series with given (x, mean), each point with three runs that deviate by (series, run).
fn figure_of(id: &str, curves: &[(&str, &[(f64, f64)])], deviation: impl Fn(usize, u32) -> f64) -> Figure {
    let names: Vec<&str> = curves.iter().map(|(name, _)| *name).collect();
    let xs: Vec<f64> = curves[0].1.iter().map(|(x, _)| *x).collect();
    let mut text = format!(
        "{{\"skyhaul_results\":1,\"scenario\":\"s\",\"axes\":[{{\"key\":\"t\",\"values\":{names:?}}},{{\"key\":\"x\",\"values\":{xs:?}}}],\"points\":{},\"replications\":3,\"seed\":1}}\n",
        names.len() * xs.len()
    );
    let values = curves.iter().flat_map(|(_, points)| points.iter().map(|(_, y)| *y));
    for (point, y) in values.enumerate() {
        for r in 0..3 {
            let y = y + deviation(point / xs.len(), r);
            writeln!(
                text,
                "{{\"point\":{point},\"replication\":{r},\"seed\":{r},\"metrics\":{{\"m\":{y}}}}}"
            )
            .unwrap();
        }
    }
    let definition = format!(
        "[[figure]]\nid = \"{id}\"\ntitle = \"t\"\n[figure.panel]\nresults = \"r\"\nx = {{ axis = \"x\", label = \"x\" }}\n\
         y = {{ metric = \"m\", label = \"m\" }}\nseries = {{ axis = \"t\" }}\n"
    );
    let definition = Definitions::parse(&definition, "d").unwrap().figures.remove(0);
    Figure::from_results(&definition, &parse_results(text.as_bytes(), "r").unwrap()).unwrap()
}

const ON: &[(f64, f64)] = &[(0.0, 100.0), (5.0, 90.0), (10.0, 60.0), (20.0, 50.0)];
const OFF: &[(f64, f64)] = &[(0.0, 98.0), (5.0, 60.0), (10.0, 40.0), (20.0, 20.0)];
const SMALL: &[(f64, f64)] = &[(0.0, 99.0), (5.0, 70.0), (10.0, 42.0), (20.0, 25.0)];

fn figures(spread: f64) -> Vec<Figure> {
    vec![
        figure("A", &[("on", ON), ("off", OFF)], spread),
        figure("B", &[("on", SMALL), ("off", OFF)], spread),
    ]
}

pub(crate) fn claims(tests: &[&str]) -> Claims {
    let claim = |(i, test): (usize, &&str)| {
        format!(
            "[[claim]]\nid = \"c{i}\"\nitem = \"X-6\"\nstatement = \"it holds\"\nsource = \"[XSTP 6.1]\"\nfigure = \"A\"\ntest = {test}\n"
        )
    };
    Claims::parse(&tests.iter().enumerate().map(claim).collect::<String>(), "claims.toml").unwrap()
}

fn verdict(test: &str, spread: f64) -> (ClaimVerdict, String) {
    let judged = evaluate_claims(&claims(&[test]), &figures(spread)).remove(0);
    (judged.verdict, judged.measured)
}

fn holds(test: &str) -> bool {
    match verdict(test, 0.01) {
        (ClaimVerdict::NotTestable, reason) => panic!("{test}: {reason}"),
        (verdict, _) => verdict == ClaimVerdict::Reproduced,
    }
}

#[test]
fn above_and_below() {
    assert!(holds("{ kind = \"greater\", series = \"on\", than = \"off\" }"));
    assert!(!holds("{ kind = \"greater\", series = \"off\", than = \"on\" }"));
    assert!(holds("{ kind = \"less\", series = \"off\", than = \"on\" }"));
    assert!(holds("{ kind = \"greater\", series = \"off\", than = \"on\", at = [0], tolerance = 3 }"));
    assert!(!holds("{ kind = \"greater\", series = \"off\", than = \"on\", at = [0], tolerance = 1 }"));
    assert!(!holds("{ kind = \"greater\", series = \"off\", than = \"on\", except = [0], tolerance = 3 }"));
    assert!(!holds("{ kind = \"greater\", series = \"on\", than = \"on\" }"), "equal is not greater");
}

#[test]
fn differences_by_seed_decide_and_an_interval_with_zero_leaves_it_open() {
    let test = "{ kind = \"greater\", series = \"on\", than = \"off\" }";
    // The means' own intervals overlap everywhere, but each seed is higher by as much as the mean is.
    let (alike, words) = verdict(test, 50.0);
    assert_eq!(alike, ClaimVerdict::Reproduced, "{words}");
    assert_eq!(words, "above at 4 of 4 places; difference +2 % to +150 %");
    // Seeds that deviate against each other: 2 ± 5 at 0, 20 ± 5 and more elsewhere.
    let against = |series: usize, r: u32| if series == 0 { f64::from(r) - 1.0 } else { 1.0 - f64::from(r) };
    let judged = |test: &str, figures: &[Figure]| evaluate_claims(&claims(&[test]), figures).remove(0);
    let open = judged(test, &[figure_of("A", &[("on", ON), ("off", OFF)], against)]);
    assert_eq!(open.verdict, ClaimVerdict::Undecided, "{}", open.measured);
    assert!(open.measured.starts_with("above at 3 of 4 places, undecided at 0;"), "{}", open.measured);
    // One place that is surely on the other side decides.
    let other = judged(
        "{ kind = \"less\", series = \"on\", than = \"off\" }",
        &[figure_of("A", &[("on", ON), ("off", OFF)], against)],
    );
    assert_eq!(other.verdict, ClaimVerdict::Differs, "{}", other.measured);
    let trend = judged(
        "{ kind = \"falls\", series = \"on\" }",
        &[figure_of("A", &[("on", &[(0.0, 3.0), (1.0, 2.0)])], |_, r| f64::from(r) - 1.0)],
    );
    assert_eq!(trend.verdict, ClaimVerdict::Reproduced, "each seed falls by 1: {}", trend.measured);
}

#[test]
fn without_two_seeds_in_common_nothing_is_decided() {
    let mut figures = figures(0.1);
    for datum in figures.iter_mut().flat_map(|figure| &mut figure.panels[0].curves[1].data) {
        datum.runs.truncate(1);
    }
    for test in [
        "{ kind = \"greater\", series = \"on\", than = \"off\" }",
        "{ kind = \"gain_at\", series = \"on\", over = \"off\", x = 20, expected = 150, tolerance = 3 }",
        "{ kind = \"larger_gain\", series = \"on\", over = \"off\", than_figure = \"B\" }",
    ] {
        let judged = evaluate_claims(&claims(&[test]), &figures).remove(0);
        assert_eq!(judged.verdict, ClaimVerdict::Undecided, "{test}: {}", judged.measured);
    }
}

#[test]
fn a_gain_lies_within_a_band_at_the_places_that_are_named() {
    let within =
        |keys: &str| format!("{{ kind = \"gain_within\", series = \"on\", over = \"off\", {keys} }}");
    assert!(holds(&within("at = [5, 10], low = 45, high = 55, stated = 50")));
    assert!(!holds(&within("low = 45, high = 55")), "2 % at 0");
    assert!(holds(&within("low = 1")), "no upper end");
    assert!(!holds(&within("at = [20], low = 151")));
    // Seeds that deviate against each other leave an interval that is wider than the band.
    let against = |series: usize, r: u32| if series == 0 { f64::from(r) - 1.0 } else { 1.0 - f64::from(r) };
    let figures = [figure_of("A", &[("on", ON), ("off", OFF)], against)];
    let test = within("at = [5], low = 49, high = 51, stated = 50");
    let judged = evaluate_claims(&claims(&[&test]), &figures).remove(0);
    assert_eq!(judged.verdict, ClaimVerdict::Undecided, "{}", judged.measured);
    assert!(judged.measured.starts_with("gain +50 % ± "), "{}", judged.measured);
    assert!(judged.measured.ends_with(" (at 5); stated +50 %"), "{}", judged.measured);
    let (verdict, reason) = verdict(&within("at = [7], low = 1"), 0.1);
    assert_eq!((verdict, reason.as_str()), (ClaimVerdict::NotTestable, "nothing was measured at 7"));
}

#[test]
fn a_mean_over_the_places_of_two_figures_has_the_interval_of_the_seeds_means() {
    let test = |low: f64, high: f64| {
        format!(
            "{{ kind = \"mean_between\", series = \"on\", low = {low}, high = {high}, stated = 68, and_figures = [\"B\"] }}"
        )
    };
    // (300 + 236) / 8.
    assert!(holds(&test(66.0, 68.0)));
    assert!(!holds(&test(67.5, 70.0)));
    let (verdict, words) = verdict(&test(66.0, 68.0), 1.0);
    assert_eq!(verdict, ClaimVerdict::Undecided, "seeds deviate by 1 at every place alike: {words}");
    assert_eq!(words, "67 ± 2.484, over 8 places; stated 68");
}

#[test]
fn values_of_some_places_lie_in_a_range() {
    assert!(holds("{ kind = \"values_between\", series = \"on\", at = [5], low = 89, high = 91 }"));
    assert!(!holds("{ kind = \"values_between\", series = \"on\", low = 89, high = 91 }"));
    let (verdict, words) =
        verdict("{ kind = \"values_between\", series = \"on\", at = [7], low = 89, high = 91 }", 0.1);
    assert_eq!((verdict, words.as_str()), (ClaimVerdict::NotTestable, "nothing was measured at 7"));
}

#[test]
fn a_range_must_be_reached_at_both_ends() {
    let range = |keys: &str| {
        format!("{{ kind = \"gain_between\", series = \"on\", over = \"off\", low = 3, high = 150{keys} }}")
    };
    let at = |gains: [f64; 3]| gains.map(|gain| 100.0 + gain);
    let judged = |gains: [f64; 3], keys: &str| {
        let on: Vec<(f64, f64)> = (0..3).map(f64::from).zip(at(gains)).collect();
        let off: Vec<(f64, f64)> = (0..3).map(|x| (f64::from(x), 100.0)).collect();
        let figures = [figure("A", &[("on", &on), ("off", &off)], 0.01)];
        evaluate_claims(&claims(&[&range(keys)]), &figures).remove(0).verdict
    };
    assert_eq!(judged([3.7, 40.0, 75.0], ", reach = 10"), ClaimVerdict::Differs);
    assert_eq!(judged([3.7, 40.0, 75.0], ""), ClaimVerdict::Reproduced);
    assert_eq!(judged([3.7, 40.0, 145.0], ", reach = 10"), ClaimVerdict::Reproduced);
    assert_eq!(judged([20.0, 40.0, 145.0], ", reach = 10"), ClaimVerdict::Differs);
}

#[test]
fn a_range_of_several_figures_may_be_reached_in_either() {
    let test = |more: &str| {
        format!(
            "{{ kind = \"gain_between\", series = \"on\", over = \"off\", low = 1, high = 150, reach = 2{more} }}"
        )
    };
    let judged = |more: &str| {
        let figures = [
            figure("A", &[("on", SMALL), ("off", OFF)], 0.01),
            figure("B", &[("on", ON), ("off", OFF)], 0.01),
        ];
        evaluate_claims(&claims(&[&test(more)]), &figures).remove(0).verdict
    };
    assert_eq!(judged(""), ClaimVerdict::Differs);
    assert_eq!(judged(", and_figures = [\"B\"]"), ClaimVerdict::Reproduced);
    assert_eq!(judged(", and_figures = [\"C\"]"), ClaimVerdict::NotTestable);
}

#[test]
fn what_is_ours_is_judged_and_not_counted() {
    let mut all = claims(&["{ kind = \"falls\", series = \"on\" }", "{ kind = \"rises\", series = \"on\" }"]);
    all.claims[0].ours = true;
    let judged = evaluate_claims(&all, &figures(0.01));
    assert_eq!(judged[0].verdict_words(), "reproduced (ours)");
    let counts = VerdictCounts::of(&judged);
    assert_eq!(counts, VerdictCounts { differ: 1, ours: 1, ..VerdictCounts::default() });
    assert!(counts.sentence().starts_with("1 claim: 0 reproduced, 1 differs,"), "{}", counts.sentence());
}

#[test]
fn gains() {
    assert!(holds(
        "{ kind = \"gain_between\", series = \"on\", over = \"off\", low = 3, high = 150, tolerance = 1.5 }"
    ));
    assert!(!holds("{ kind = \"gain_between\", series = \"on\", over = \"off\", low = 3, high = 150 }"));
    assert!(!holds(
        "{ kind = \"gain_between\", series = \"on\", over = \"off\", low = 0, high = 300, reach = 20 }"
    ));
    assert!(holds(
        "{ kind = \"gain_at\", series = \"on\", over = \"off\", x = 20, expected = 148, tolerance = 3 }"
    ));
    assert!(!holds(
        "{ kind = \"gain_at\", series = \"off\", over = \"on\", x = 20, expected = -44, tolerance = 3 }"
    ));
}

#[test]
fn one_figure_beside_another() {
    assert!(holds("{ kind = \"larger_gain\", series = \"on\", over = \"off\", than_figure = \"B\" }"));
    assert!(holds("{ kind = \"figure_greater\", series = \"on\", than_figure = \"B\" }"));
    assert!(!holds("{ kind = \"figure_less\", series = \"on\", than_figure = \"B\" }"));
    assert!(holds("{ kind = \"figure_less\", series = \"off\", than_figure = \"B\", tolerance = 0.1 }"));
}

#[test]
fn trends() {
    assert!(holds("{ kind = \"falls\", series = \"on\" }"));
    assert!(!holds("{ kind = \"rises\", series = \"on\" }"));
    assert!(holds("{ kind = \"gain_rises\", series = \"on\", over = \"off\" }"));
    assert!(!holds("{ kind = \"gain_rises\", series = \"off\", over = \"on\" }"));
    assert!(holds("{ kind = \"gain_rises\", series = \"on\", over = \"off\", at = [5, 20] }"));
    assert!(!holds("{ kind = \"gain_rises\", series = \"on\", over = \"off\", at = [5, 10] }"));
    assert!(holds("{ kind = \"flat\", series = \"on\", ratio = 2.1 }"));
    assert!(!holds("{ kind = \"flat\", series = \"off\", ratio = 2 }"));
}

#[test]
fn stated_values() {
    assert!(holds("{ kind = \"value_at\", series = \"on\", x = 5, expected = 88, tolerance = 3 }"));
    assert!(!holds("{ kind = \"value_at\", series = \"on\", x = 5, expected = 70, tolerance = 3 }"));
    assert_eq!(
        verdict("{ kind = \"value_at\", series = \"on\", x = 5, expected = 88, tolerance = 3 }", 1.0).1,
        "90 ± 2.484 at 5; stated 88, inside the 95 % interval"
    );
}

#[test]
fn what_was_not_measured_is_not_testable() {
    let reason = |test: &str| match verdict(test, 0.1) {
        (ClaimVerdict::NotTestable, reason) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(reason("{ kind = \"not_testable\", reason = \"only in the thesis\" }"), "only in the thesis");
    assert!(reason("{ kind = \"rises\", series = \"SACK\" }").contains("there is 'on', 'off'"));
    assert!(
        reason("{ kind = \"value_at\", series = \"on\", x = 7, expected = 1, tolerance = 1 }")
            .contains("at 7")
    );
    let far = "{ kind = \"larger_gain\", series = \"on\", over = \"off\", than_figure = \"C\" }";
    assert!(reason(far).contains("figure C is not among those of this run"));
}

#[test]
fn definitions_are_strict() {
    let refused = |text: &str| Claims::parse(text, "claims.toml").unwrap_err().to_string();
    let claim = "[[claim]]\nid = \"a\"\nitem = \"X-6\"\nstatement = \"s\"\nsource = \"s\"\nfigure = \"A\"\n";
    assert!(
        refused(&format!("{claim}test = {{ kind = \"bigger\" }}\n"))
            .starts_with("claims.toml:7: unknown variant")
    );
    let unknown = format!("{claim}test = {{ kind = \"rises\", series = \"x\", more = 1 }}\n");
    assert!(refused(&unknown).contains("unknown field `more`"), "{}", refused(&unknown));
    let unknown = format!("{claim}test = {{ kind = \"flat\", series = \"x\", ratio = 2, more = 1 }}\n");
    assert!(refused(&unknown).contains("unknown field `more`"), "{}", refused(&unknown));
    assert!(
        refused(&format!("{claim}test = {{ kind = \"flat\", series = \"x\", ratio = 0.5 }}\n"))
            .contains("at least 1")
    );
    let unnamed = claim.replace("figure = \"A\"\n", "");
    assert!(
        refused(&format!("{unnamed}test = {{ kind = \"rises\", series = \"x\" }}\n"))
            .contains("names its figure")
    );
}

proptest! {
    #[test]
    fn no_claim_file_panics(at in 0_usize..300, text in "[ -~]{0,10}", cut in 0_usize..10) {
        let base = "[[claim]]\nid = \"a\"\nitem = \"X-6\"\nstatement = \"s\"\nsource = \"s\"\nfigure = \"A\"\ntest = { kind = \"gain_between\", series = \"on\", over = \"off\", low = 3, high = 150, tolerance = 1.5 }\n";
        let at = at % base.len();
        let end = (at + cut).min(base.len());
        let _ = Claims::parse(&format!("{}{text}{}", &base[..at], &base[end..]), "x");
    }
}

#[test]
fn a_single_exact_value_decides_and_a_single_drawn_one_does_not() {
    let mut figures = figures(0.0);
    for datum in figures.iter_mut().flat_map(|figure| &mut figure.panels[0].curves).flat_map(|c| &mut c.data)
    {
        datum.runs.truncate(1);
        datum.y = crate::stats::Summary::of(&[datum.y.mean]).unwrap();
    }
    let tests = [
        (
            "{ kind = \"value_at\", series = \"on\", x = 5, expected = 90, tolerance = 1 }",
            ClaimVerdict::Reproduced,
        ),
        (
            "{ kind = \"value_at\", series = \"on\", x = 5, expected = 80, tolerance = 1 }",
            ClaimVerdict::Differs,
        ),
        ("{ kind = \"greater\", series = \"on\", than = \"off\" }", ClaimVerdict::Reproduced),
        ("{ kind = \"less\", series = \"on\", than = \"off\" }", ClaimVerdict::Differs),
        ("{ kind = \"falls\", series = \"on\" }", ClaimVerdict::Reproduced),
    ];
    for (test, verdict) in tests {
        let mut claims = claims(&[test]);
        assert_eq!(evaluate_claims(&claims, &figures)[0].verdict, ClaimVerdict::Undecided, "{test}");
        claims.claims[0].exact = true;
        assert_eq!(evaluate_claims(&claims, &figures)[0].verdict, verdict, "{test}");
    }
}
