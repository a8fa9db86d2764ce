//! CPU time spent.

use std::ops::Sub;

/// The kernel counts in these, whatever its own tick is: `sysconf(_SC_CLK_TCK)` is 100 on every architecture
/// of Linux that Rust knows.
const TICKS_PER_S: f64 = 100.0;

/// CPU time of a thread.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Cpu {
    pub(crate) user_s: f64,
    /// Includes what the kernel did for others on this thread: TCP at the other end of a device that was
    /// written to.
    pub(crate) system_s: f64,
}

impl Cpu {
    /// Of the calling thread, until now.
    pub(crate) fn of_this_thread() -> Self {
        // After the name in brackets, which may contain anything: fields 14 and 15 of proc_pid_stat(5).
        let line = std::fs::read_to_string("/proc/thread-self/stat").unwrap_or_default();
        let mut fields = line.rsplit(')').next().unwrap_or_default().split_whitespace().skip(11).map(seconds);
        let mut next = || fields.next().unwrap_or_default();
        Self { user_s: next(), system_s: next() }
    }

    pub(crate) fn total_s(self) -> f64 {
        self.user_s + self.system_s
    }
}

impl Sub for Cpu {
    type Output = Self;

    fn sub(self, before: Self) -> Self {
        Self { user_s: self.user_s - before.user_s, system_s: self.system_s - before.system_s }
    }
}

/// CPU time that the whole machine was busy for, until now: with whatever else runs on it.
pub(crate) fn machine_s() -> f64 {
    let text = std::fs::read_to_string("/proc/stat").unwrap_or_default();
    let fields: Vec<f64> =
        text.lines().next().unwrap_or_default().split_whitespace().skip(1).map(seconds).collect();
    // user, nice, system, (idle, iowait,) irq, softirq
    [0, 1, 2, 5, 6].into_iter().filter_map(|place| fields.get(place)).sum()
}

fn seconds(ticks: &str) -> f64 {
    ticks.parse::<f64>().unwrap_or_default() / TICKS_PER_S
}
