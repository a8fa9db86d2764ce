//! Progress of long work.

/// Listener to the progress of runs. Called between runs, from several threads in virtual time.
pub trait Progress: Sync {
    /// Name of the run that begins now.
    fn begun(&self, what: &str);

    /// Number of runs that are finished since the last call.
    fn finished(&self, runs: usize);
}

/// Nobody listens.
impl Progress for () {
    fn begun(&self, _: &str) {}

    fn finished(&self, _: usize) {}
}
