use crate::chance::{BitErrors, Chance};

#[test]
fn certainty_and_impossibility_are_exact() {
    for draw in [0, 1, u64::MAX - 1, u64::MAX] {
        assert!(Chance::new(1.0).hit(draw));
        assert!(!Chance::new(0.0).hit(draw));
    }
    assert!(!Chance::new(1.0 - f64::EPSILON / 2.0).hit(u64::MAX), "just below certainty is not certain");
}

#[test]
fn half_of_the_numbers_hit_a_chance_of_a_half() {
    assert!(Chance::new(0.5).hit((1 << 63) - 1));
    assert!(!Chance::new(0.5).hit(1 << 63));
}

#[test]
fn independent_chances_combine() {
    let combined = Chance::new(0.25).or(Chance::new(0.5));
    assert!((combined.as_f64() - 0.625).abs() < 1e-15);
    assert_eq!(Chance::NEVER.or(Chance::new(0.3)), Chance::new(0.3));
    assert_eq!(Chance::new(0.3).or(Chance::NEVER), Chance::new(0.3));
    for p in [0.0, 1e-18, 0.3, 0.999, 1.0] {
        assert_eq!(Chance::new(p).or(Chance::ALWAYS), Chance::ALWAYS);
        assert_eq!(Chance::ALWAYS.or(Chance::new(p)), Chance::ALWAYS);
    }
}

#[test]
fn bit_errors_follow_the_formula_at_every_length() {
    for rate in [1e-15, 1e-9, 1e-7, 1e-5, 1e-3, 0.1] {
        let bit_errors = BitErrors::new(rate);
        for bytes in (0..3000).chain([9000, 65_535, 1 << 20]) {
            // As written, the formula rounds 1 - rate: an error of up to 2^-54 for each bit.
            let bound = 1e-12 + f64::from(bytes) * 8.0 * f64::EPSILON / 4.0;
            let formula = 1.0 - (1.0 - rate).powf(8.0 * f64::from(bytes));
            let chance = bit_errors.chance(bytes).as_f64();
            assert!((chance - formula).abs() < bound, "{rate} {bytes}: {chance} for {formula}");
        }
    }
}

#[test]
fn tiny_rates_keep_their_precision() {
    let chance = BitErrors::new(1e-15).chance(1500).as_f64();
    assert!((chance / 1.2e-11 - 1.0).abs() < 1e-6, "{chance}");
}

#[test]
fn the_ends_of_the_range_hold() {
    assert!(BitErrors::new(0.0).is_never());
    assert_eq!(BitErrors::new(0.0).chance(u32::MAX), Chance::NEVER);
    assert_eq!(BitErrors::new(1.0).chance(1), Chance::ALWAYS);
    assert_eq!(BitErrors::new(1.0).chance(1500), Chance::ALWAYS);
    assert_eq!(BitErrors::new(1.0).chance(0), Chance::NEVER, "no bits, no errors");
}
