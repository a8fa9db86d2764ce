//! Formulas of CUBIC in integers: equal inputs give equal windows on every machine. Bytes, ns and us.

/// C of [RFC 9438 5]: 0.4 segments/s^3, as a fraction.
const C: (u128, u128) = (4, 10);
/// `beta_cubic` [RFC 9438 4.6]: 0.7, as a fraction.
const BETA: (u64, u64) = (7, 10);
/// `alpha_cubic` = 3 (1 - beta) / (1 + beta) = 9/17 [RFC 9438 4.3].
const ALPHA: (u64, u64) = (9, 17);
/// Cube of the microseconds of a second.
const CUBE: u128 = 1_000_000_000_000_000_000;
/// Longest time that the cubic function is followed: 10 000 s.
const MAX_US: u64 = 10_000_000_000;
/// Bound of windows (a pebibyte), so that no product leaves 128 bits.
const MAX_BYTES: u64 = 1 << 50;

/// Largest integer whose cube is at most `n`, for `n` below 2^126.
pub(super) fn cube_root(n: u128) -> u64 {
    let fits = |root: u128| root * root * root <= n;
    let root = (0..42).rev().fold(0u128, |root, bit| {
        let longer = root | 1 << bit;
        if fits(longer) { longer } else { root }
    });
    root as u64
}

/// K = cbrt((`W_max` - `cwnd_epoch`) / C), in us [RFC 9438 4.2 (2)].
pub(super) fn k_us(w_max: u64, cwnd_epoch: u64, mss_bytes: u64) -> u64 {
    let fall_bytes = u128::from(w_max.saturating_sub(cwnd_epoch).min(MAX_BYTES));
    cube_root(fall_bytes * C.1 * CUBE / (C.0 * u128::from(mss_bytes.max(1)))).min(MAX_US)
}

/// `W_cubic(t)` = C (t - K)^3 + `W_max` [RFC 9438 4.2 (1)].
pub(super) fn w_cubic(t_us: u64, k_us: u64, w_max: u64, mss_bytes: u64) -> u64 {
    let away_us = u128::from(t_us.abs_diff(k_us).min(MAX_US));
    // Below 10^36: 10^30 us^3, four, and a segment of at most 64 KiB.
    let cube = away_us * away_us * away_us * C.0 * u128::from(mss_bytes.min(1 << 16)) / C.1;
    let away_bytes = u64::try_from(cube / CUBE).unwrap_or(MAX_BYTES).min(MAX_BYTES);
    if t_us < k_us { w_max.saturating_sub(away_bytes) } else { w_max.saturating_add(away_bytes) }
}

/// Window left after a congestion event [RFC 9438 4.6].
pub(super) fn decreased(bytes: u64) -> u64 {
    bytes.min(MAX_BYTES) * BETA.0 / BETA.1
}

/// `W_max` of a flow that gives way to new ones: cwnd (1 + beta) / 2 [RFC 9438 4.7].
pub(super) fn given_way(bytes: u64) -> u64 {
    bytes.min(MAX_BYTES) * (BETA.0 + BETA.1) / (2 * BETA.1)
}

/// Fraction `alpha_cubic` as a number of segments for each window acknowledged; 1 above the window before the
/// last event [RFC 9438 4.3].
pub(super) fn alpha(is_above: bool) -> (u64, u64) {
    if is_above { (1, 1) } else { ALPHA }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn a_cube_root_is_exact(n in 0u128..1 << 120) {
            let root = u128::from(cube_root(n));
            prop_assert!(root.pow(3) <= n && (root + 1).pow(3) > n);
        }

        #[test]
        fn any_time_and_window_gives_a_window(
            at in any::<u64>(), k in any::<u64>(), max in 0u64..1 << 50, mss in 1u64..65_536,
        ) {
            let bytes = w_cubic(at, k, max, mss);
            let is_sane = if at < k { bytes <= max } else { bytes >= max };
            prop_assert!(is_sane);
            prop_assert!(k_us(max, 0, mss) <= MAX_US);
        }
    }

    #[test]
    fn the_plateau_is_reached_after_k() {
        // (100 - 70) segments / 0.4 = 75 s^3; its root is 4.217 s.
        let k = k_us(100_000, 70_000, 1000);
        assert_eq!(k, 4_217_163);
        assert_eq!(w_cubic(k, k, 100_000, 1000), 100_000);
        let first = w_cubic(0, k, 100_000, 1000);
        assert!((70_000..=70_001).contains(&first), "{first}");
        assert_eq!(w_cubic(k + 10_000_000, k, 100_000, 1000), 500_000, "0.4 * 10^3 segments more");
    }
}
