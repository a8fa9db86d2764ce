//! Open files of this process, shared by the sessions that it may have at a time.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use skyhaul_files::{MIN_OPEN_FILES, WIDE_WINDOW_FILES};

use crate::places::MAX_SESSIONS;

/// What everything but files needs: sockets, the runtime, streams, captures, folders.
const RESERVED: u64 = 32;

/// Raises the limit of open files as far as may be; how many of them each session may have. Together they
/// never have more than there are, those included that wait for a place, a farewell or the disk: none can
/// take the place of another.
pub(crate) fn for_each_session() -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, ..limit };
    let now = if setrlimit(Resource::Nofile, raised).is_ok() { raised } else { limit };
    share(now.current)
}

/// Share of a session under a limit; without one, what a session can use.
fn share(limit: Option<u64>) -> usize {
    let files = limit.map_or(u64::MAX, |limit| limit.saturating_sub(RESERVED));
    let share = usize::try_from(files).unwrap_or(usize::MAX) / MAX_SESSIONS;
    share.clamp(MIN_OPEN_FILES, WIDE_WINDOW_FILES)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_sessions_together_stay_below_the_limit() {
        for limit in [416, 512, 1024, 4096, 1 << 20] {
            let all = share(Some(limit)) as u64 * MAX_SESSIONS as u64;
            assert!(all + RESERVED <= limit, "{limit}: {all}");
        }
        assert_eq!((share(Some(1024)), share(Some(1 << 20)), share(None)), (10, 512, 512));
        assert_eq!(share(Some(256)), MIN_OPEN_FILES, "less is no use");
    }
}
