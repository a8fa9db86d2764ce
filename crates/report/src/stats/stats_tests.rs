use super::*;
use proptest::prelude::*;

#[test]
fn quantiles_are_those_that_are_published() {
    let published = [
        (1, 12.706),
        (2, 4.303),
        (5, 2.571),
        (9, 2.262),
        (10, 2.228),
        (19, 2.093),
        (20, 2.086),
        (30, 2.042),
        (40, 2.021),
        (60, 2.000),
        (80, 1.990),
        (100, 1.984),
        (120, 1.980),
        (1000, 1.962),
    ];
    for (freedom, value) in published {
        assert!((t_975(freedom) - value).abs() < 5.1e-4, "{freedom}: {}", t_975(freedom));
    }
}

/// Against the integral of the density (Simpson), independent of table and expansion.
#[test]
fn quantiles_leave_two_and_a_half_percent_above() {
    for freedom in [1_usize, 2, 3, 7, 15, 29, 30, 31, 33, 50, 199] {
        let v = freedom as f64;
        let constant = libm::exp(libm::lgamma(f64::midpoint(v, 1.0)) - libm::lgamma(v / 2.0))
            / libm::sqrt(std::f64::consts::PI);
        let end = libm::atan(t_975(freedom) / libm::sqrt(v));
        let steps = 4000;
        let width = end / f64::from(steps);
        let density = |i: i32| libm::pow(libm::cos(f64::from(i) * width), v - 1.0);
        let inner: f64 = (1..steps).map(|i| if i % 2 == 1 { 4.0 } else { 2.0 } * density(i)).sum();
        let below = 0.5 + constant * (density(0) + inner + density(steps)) * width / 3.0;
        assert!((below - 0.975).abs() < 2e-7, "{freedom}: {below}");
    }
}

#[test]
fn a_sample_from_a_textbook() {
    let sample = Summary::of(&[2.0, 4.0, 4.0, 4.0, 5.0, 5.0, 7.0, 9.0]).unwrap();
    assert_eq!((sample.n, sample.mean, sample.min, sample.max), (8, 5.0, 2.0, 9.0));
    assert!((sample.sd.unwrap() - (32.0_f64 / 7.0).sqrt()).abs() < 1e-12);
    assert!((sample.ci95.unwrap() - 2.364_624_251 * (32.0_f64 / 7.0 / 8.0).sqrt()).abs() < 1e-8);
}

#[test]
fn one_value_has_no_interval_and_none_no_summary() {
    let one = Summary::of(&[3.0]).unwrap();
    assert_eq!((one.n, one.mean, one.sd, one.ci95), (1, 3.0, None, None));
    assert!(Summary::of(&[]).is_none());
    assert!(Summary::of(&[f64::NAN, f64::INFINITY]).is_none());
}

#[test]
fn equal_values_have_no_deviation() {
    let equal = Summary::of(&[0.1; 7]).unwrap();
    assert_eq!((equal.mean, equal.sd, equal.ci95), (0.1, Some(0.0), Some(0.0)));
}

#[test]
fn the_median_is_shown_with_the_range_and_the_mean_with_its_interval() {
    let four = Summary::of(&[9.0, 1.0, 2.0, 4.0]).unwrap();
    assert_eq!(four.shown(Statistic::Median), (3.0, Some((1.0, 9.0))));
    assert_eq!(four.shown(Statistic::Mean), (4.0, Some(four.interval())));
    let one = Summary::of(&[2.0]).unwrap();
    assert_eq!([Statistic::Median, Statistic::Mean].map(|what| one.shown(what)), [(2.0, None); 2]);
    assert_eq!((median(&[]), median(&[3.0, 1.0, 2.0])), (None, Some(2.0)));
}

#[test]
fn a_scale_turns_everything() {
    let turned = Summary::of(&[1.0, 2.0, 3.0]).unwrap().scaled(-2.0);
    assert_eq!((turned.mean, turned.min, turned.max, turned.sd), (-4.0, -6.0, -2.0, Some(2.0)));
}

proptest! {
    #[test]
    fn the_mean_lies_between_the_smallest_and_the_largest(
        values in prop::collection::vec(-1e9..1e9_f64, 1..60),
    ) {
        let sample = Summary::of(&values).unwrap();
        prop_assert!(sample.min - 1e-6 <= sample.mean && sample.mean <= sample.max + 1e-6);
        prop_assert!(sample.overlaps(&sample));
    }
}

#[test]
fn percentiles_are_by_nearest_rank_and_the_50th_is_the_median() {
    let values: Vec<f64> = (1..=20).rev().map(f64::from).collect();
    assert_eq!((percentile(&values, 95), percentile(&values, 50)), (Some(19.0), Some(10.5)));
    assert_eq!((percentile(&values[..3], 95), percentile(&[4.0], 5)), (Some(20.0), Some(4.0)));
    assert_eq!((percentile(&values, 100), percentile(&[], 95)), (Some(20.0), None));
}
