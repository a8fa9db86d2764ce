//! Parts that the benchmarks share. Not every one uses all of them.
#![allow(dead_code)]

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

/// True if `name` is on the command line.
pub(crate) fn flag(name: &str) -> bool {
    std::env::args().any(|a| a == name)
}

/// The word after `name` on the command line.
pub(crate) fn text(name: &str) -> Option<String> {
    let args: Vec<String> = std::env::args().collect();
    args.iter().position(|a| a == name).and_then(|i| args.get(i + 1).cloned())
}

/// User and system time of this thread; 0 with `--count`, for a run under callgrind, where the clock of this
/// crate's dependency does not work.
pub(crate) fn cpu_seconds() -> f64 {
    if flag("--count") {
        return 0.0;
    }
    let time = rustix::time::clock_gettime(rustix::time::ClockId::ThreadCPUTime);
    time.tv_sec as f64 + time.tv_nsec as f64 / 1e9
}

/// The most memory that this process ever used (`VmHWM`); 0 where the system does not tell.
pub(crate) fn peak_memory_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or_default();
    line.trim().trim_end_matches("kB").trim().parse::<u64>().unwrap_or(0) * 1024
}
