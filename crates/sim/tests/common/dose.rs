//! Running many seeds and telling how to replay those that fail.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

/// Failures after which a dose ends.
const MAX_FAILURES: usize = 20;

/// Real time that a seed may take, unless `SKYHAUL_SEED_LIMIT` says another number of seconds. Seeds take
/// milliseconds to seconds: one that takes this long has something that never gets anywhere.
const SEED_LIMIT_S: u64 = 600;

/// Ends the process, and says how to replay the seed, if `run` takes longer than a seed may.
pub(crate) fn guarded<T>(seed: u64, test: &str, run: impl FnOnce() -> T) -> T {
    let limit_s = number("SKYHAUL_SEED_LIMIT").unwrap_or(SEED_LIMIT_S);
    let replay = format!("SKYHAUL_SEED={seed} cargo test -p skyhaul-sim --test {test} -- --nocapture");
    let (done, watched) = channel::<()>();
    std::thread::spawn(move || {
        if watched.recv_timeout(Duration::from_secs(limit_s)) == Err(RecvTimeoutError::Timeout) {
            eprintln!("seed {seed} has not ended within {limit_s} s\n  replay: {replay}");
            std::process::abort(); // nothing else ends a thread that does not return
        }
    });
    let result = run();
    drop(done);
    result
}

/// The number in an environment variable.
pub(crate) fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok()?.parse().ok()
}

/// Runs a seed; a panic is a failure like any other.
pub(crate) fn caught<T>(seed: u64, run: impl Fn(u64) -> Result<T, String>) -> Result<T, String> {
    catch_unwind(AssertUnwindSafe(|| run(seed))).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().cloned();
        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
        Err(format!("panic: {}", text.unwrap_or_default()))
    })
}

/// How many seeds to run, unless `SKYHAUL_SWARM` says otherwise.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Dose {
    /// Names of the test program and of the test that replays a seed.
    pub(crate) test: &'static str,
    /// The small dose.
    pub(crate) seeds: u64,
}

impl Dose {
    /// Runs all seeds, panics with the list of those that failed, gives what the others returned.
    pub(crate) fn run<T>(self, run: impl Fn(u64) -> Result<T, String>) -> Vec<T> {
        let seeds = number("SKYHAUL_SWARM").unwrap_or(self.seeds);
        let from = number("SKYHAUL_SWARM_FROM").unwrap_or(1);
        let (mut done, mut failures) = (Vec::new(), Vec::new());
        for seed in from..from + seeds {
            match guarded(seed, self.test, || caught(seed, &run)) {
                Ok(result) => done.push(result),
                Err(why) => failures.push(format!(
                    "seed {seed}: {}\n  replay: SKYHAUL_SEED={seed} cargo test -p skyhaul-sim --test {} -- --nocapture",
                    why.lines().next().unwrap_or_default(),
                    self.test,
                )),
            }
            if failures.len() >= MAX_FAILURES {
                break;
            }
        }
        println!("{seeds} seeds from {from} on");
        assert!(failures.is_empty(), "{} seeds failed:\n{}", failures.len(), failures.join("\n"));
        done
    }
}
