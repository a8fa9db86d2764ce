//! Task of a coupling.

use std::future::poll_fn;
use std::task::{Context, Poll};

use skyhaul_petra::relay::{Coupling, Side};

use super::{Live, RelayEnd, lock};

/// Times that both sides are asked in a turn: other tasks want one, too.
const MAX_ROUNDS: usize = 16;

/// Works until both streams were passed on to their ends, or a connection has failed; true if none has.
pub(super) async fn work(live: &Live, near: &mut impl RelayEnd, far: &mut impl RelayEnd) -> bool {
    poll_fn(|cx| poll(cx, &mut lock(live), near, far)).await
}

fn poll(
    cx: &mut Context<'_>,
    coupling: &mut Coupling,
    near: &mut impl RelayEnd,
    far: &mut impl RelayEnd,
) -> Poll<bool> {
    for _ in 0..MAX_ROUNDS {
        let went = far.work(cx, coupling, Side::Far);
        let came = near.work(cx, coupling, Side::Near);
        if coupling.is_over() {
            return Poll::Ready(!coupling.has_failed());
        }
        if !went && !came {
            return Poll::Pending;
        }
    }
    cx.waker().wake_by_ref();
    Poll::Pending
}
