//! Quantiles of Student's t distribution.

/// 97.5 % quantiles for 1 to 30 degrees of freedom, to 10 decimals.
#[rustfmt::skip]
const T_975: [f64; 30] = [
    12.706_204_736_2, 4.302_652_729_9, 3.182_446_305_3, 2.776_445_105_2, 2.570_581_836_6, 2.446_911_848_8,
    2.364_624_251_0, 2.306_004_135_2, 2.262_157_162_7, 2.228_138_852_0, 2.200_985_160_1, 2.178_812_829_7,
    2.160_368_656_5, 2.144_786_687_9, 2.131_449_545_6, 2.119_905_299_2, 2.109_815_577_8, 2.100_922_040_2,
    2.093_024_054_4, 2.085_963_447_3, 2.079_613_844_7, 2.073_873_067_9, 2.068_657_610_4, 2.063_898_561_6,
    2.059_538_552_8, 2.055_529_438_6, 2.051_830_516_5, 2.048_407_141_8, 2.045_229_642_1, 2.042_272_456_3,
];

/// The 97.5 % quantile of the standard normal distribution.
const Z_975: f64 = 1.959_963_984_540_054;

/// The 97.5 % quantile of Student's t with `freedom` degrees of freedom: half of a two-sided 95 % interval.
///
/// A table to 30, beyond it the expansion of Abramowitz and Stegun 26.7.5 (off by less than 10^-6 there).
/// No degree of freedom has no quantile: infinite.
pub fn t_975(freedom: usize) -> f64 {
    match freedom {
        0 => f64::INFINITY,
        1..=30 => T_975[freedom - 1],
        _ => expanded(freedom as f64),
    }
}

fn expanded(freedom: f64) -> f64 {
    let z = Z_975;
    let square = z * z;
    let powers = [z, z * square, z * square * square, z * square * square * square];
    let first = (powers[1] + z) / 4.0;
    let second = (5.0 * powers[2] + 16.0 * powers[1] + 3.0 * z) / 96.0;
    let third = (3.0 * powers[3] + 19.0 * powers[2] + 17.0 * powers[1] - 15.0 * z) / 384.0;
    z + first / freedom + second / (freedom * freedom) + third / (freedom * freedom * freedom)
}
