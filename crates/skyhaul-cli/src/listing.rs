//! Memory for the names and results of files, of all sessions together: whoever likes can announce very many.

use std::cell::Cell;

use skyhaul_files::Event;
use tokio::sync::Notify;

/// Bytes of them at most, of all sessions.
const BUDGET_BYTES: u64 = 128 << 20;
/// Bytes that a file takes beside its name, which counts twice: once kept, and once in the record under way.
const FILE_BYTES: u64 = 384;

/// What all sessions list.
#[derive(Debug, Default)]
pub(crate) struct Listings(Cell<u64>);

/// What one session lists, until it is dropped. It may list as much as is still free: one session alone half
/// of the budget, which is enough for the most files with the longest names.
#[derive(Debug)]
pub(crate) struct Listing<'a> {
    all: &'a Listings,
    bytes: Cell<u64>,
    is_too_long: Notify,
}

impl Listings {
    pub(crate) fn begin(&self) -> Listing<'_> {
        Listing { all: self, bytes: Cell::new(0), is_too_long: Notify::new() }
    }
}

impl Listing<'_> {
    /// Takes what the session tells.
    pub(crate) fn observe(&self, event: &Event<'_>) {
        let Event::File { name, .. } = event else { return };
        let bytes = FILE_BYTES + 2 * name.as_bytes().len() as u64;
        self.bytes.set(self.bytes.get() + bytes);
        self.all.0.set(self.all.0.get() + bytes);
        if self.bytes.get() > BUDGET_BYTES.saturating_sub(self.all.0.get()) {
            self.is_too_long.notify_one();
        }
    }

    /// Ends when the session lists more than there is room for.
    pub(crate) async fn too_long(&self) {
        self.is_too_long.notified().await;
    }
}

impl Drop for Listing<'_> {
    fn drop(&mut self) {
        self.all.0.set(self.all.0.get() - self.bytes.get());
    }
}

#[cfg(test)]
mod tests {
    use skyhaul_files::{MAX_FILES, MAX_NAME_BYTES, RawName};

    use super::*;

    /// Files that a session lists beside others before it lists too much; `None`: it may list all.
    fn listed(listing: &Listing<'_>) -> Option<usize> {
        use std::future::Future as _;
        let name = RawName::new(vec![b'x'; MAX_NAME_BYTES]);
        let mut waiting = std::pin::pin!(listing.too_long());
        let mut cx = std::task::Context::from_waker(std::task::Waker::noop());
        (0..MAX_FILES).find(|_| {
            listing.observe(&Event::File { file: 0, name: &name, bytes: 0 });
            waiting.as_mut().poll(&mut cx).is_ready()
        })
    }

    #[test]
    fn one_session_lists_all_that_it_may_and_many_share() {
        let all = Listings::default();
        let one = all.begin();
        assert_eq!(listed(&one), None);
        let (two, three) = (all.begin(), all.begin());
        assert!(listed(&two).is_some_and(|files| files > 30_000));
        assert!(listed(&three).is_some_and(|files| files > 15_000));
        assert!(all.0.get() <= BUDGET_BYTES);
        drop((two, three));
        drop(one);
        assert_eq!(all.0.get(), 0);
    }
}
