//! What the benchmarks share.

/// The middle of the values, or the mean of the two in the middle; 0 of none.
pub(crate) fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    let half = values.len() / 2;
    match values.len() {
        0 => 0.0,
        n if n % 2 == 1 => values[half],
        _ => f64::midpoint(values[half - 1], values[half]),
    }
}

/// The number after `name` on the command line.
pub(crate) fn argument(name: &str) -> Option<u64> {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|a| a == name).and_then(|i| args.get(i + 1)?.parse().ok())
}

/// Whether `name` is on the command line.
pub(crate) fn flag(name: &str) -> bool {
    std::env::args().any(|a| a == name)
}
