use proptest::prelude::*;

use super::ticks::*;

fn labels(scale: &Scale) -> Vec<String> {
    let name = |label| match label {
        TickLabel::Plain(text) => text,
        TickLabel::Power(exponent) => format!("10^{exponent}"),
    };
    scale.ticks(7).into_iter().filter_map(|tick| tick.label).map(name).collect()
}

#[test]
fn ticks_are_round_numbers() {
    let scale = Scale { from: 0.0, to: 53.0, log: false };
    assert_eq!(labels(&scale), ["0", "10", "20", "30", "40", "50"]);
    let scale = Scale { from: -0.012, to: 0.5, log: false };
    assert_eq!(labels(&scale), ["0.0", "0.1", "0.2", "0.3", "0.4", "0.5"]);
    let scale = Scale { from: -25.0, to: 31.0, log: false };
    assert_eq!(labels(&scale), ["−20", "−10", "0", "10", "20", "30"]);
}

#[test]
fn decades_are_powers_and_less_than_that_plain_numbers() {
    assert_eq!(labels(&Scale { from: 8e-8, to: 1.2e-4, log: true }), ["10^-7", "10^-6", "10^-5", "10^-4"]);
    assert_eq!(labels(&Scale { from: 3.0, to: 60.0, log: true }), ["5", "10", "20", "50"]);
    let narrow = labels(&Scale { from: 4.2, to: 14.0, log: true });
    assert_eq!(narrow, ["5", "6", "7", "8", "9", "10"]);
    assert_eq!(labels(&Scale { from: 40.0, to: 60.0, log: true }), ["40", "45", "50", "55", "60"]);
}

#[test]
fn numbers_for_people() {
    let shown = [0.0, 0.05 * 100.0, 0.1 + 0.2, 1e-6, 1234.5, 968_000.0, -2.0, 3e12].map(plain);
    assert_eq!(shown, ["0", "5", "0.3", "1e−6", "1234.5", "968000", "−2", "3e12"]);
}

#[test]
fn axes_hold_their_values_with_room() {
    let scale = Scale::around(&[3.0, 80.0], false, true, (None, None));
    assert!(scale.from == 0.0 && scale.to > 80.0);
    let negative = Scale::around(&[-3.0, 80.0], false, true, (None, None));
    assert!(negative.from < -3.0);
    let flat = Scale::around(&[5.0], false, false, (None, None));
    assert!(flat.from < 5.0 && flat.to > 5.0);
    let zero = Scale::around(&[0.0, 0.0], false, true, (None, None));
    assert!(zero.from == 0.0 && zero.to > 0.0);
}

proptest! {
    #[test]
    fn any_axis_has_finite_ticks(
        values in prop::collection::vec(prop::num::f64::ANY, 0..5),
        log: bool, zero: bool, most in 0_usize..12,
    ) {
        let scale = Scale::around(&values, log, zero, (None, None));
        let ticks = scale.ticks(most);
        prop_assert!(ticks.len() < 4000);
        for value in &values {
            let _ = (scale.share(*value), plain(*value));
        }
    }
}
