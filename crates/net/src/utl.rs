//! UTL above a stream: what relays have acknowledged is worth nothing here, what the far application has read
//! is (`docs/spec/petra.md`, 9).

use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use skyhaul_core::Instant;
use skyhaul_petra::utl::{Config, UtlError, UtlEvent, UtlLayer};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::{Sleep, sleep};

use crate::{Protocol, Stream};

/// Times that the layer is asked in a turn: other tasks want one, too.
const MAX_ROUNDS: usize = 16;

/// Layer, and who waits for it.
#[derive(Debug)]
struct Inner {
    layer: UtlLayer,
    reader: Option<Waker>,
    writer: Option<Waker>,
    /// Task that works at the connection below.
    worker: Option<Waker>,
    /// Everything is confirmed, the end included.
    is_finished: bool,
    /// The application has ended its direction.
    is_finishing: bool,
    /// The application has dropped the stream.
    is_left: bool,
}

impl Inner {
    /// Wakes whom the layer's events concern.
    fn tell(&mut self) {
        while let Some(event) = self.layer.poll_event() {
            let (reader, writer) = match event {
                UtlEvent::Readable => (true, false),
                UtlEvent::Writable => (false, true),
                UtlEvent::Finished => {
                    self.is_finished = true;
                    (false, true)
                }
                UtlEvent::Failed(_) => (true, true),
            };
            wake(self.reader.take_if(|_| reader));
            wake(self.writer.take_if(|_| writer));
        }
    }

    /// True if nothing is left to do: all is over, or has failed, or nobody will ever read what still comes.
    fn is_done(&self) -> bool {
        let is_idle = self.is_left && (self.is_finished || !self.is_finishing);
        self.layer.is_over() || self.layer.failure().is_some() || is_idle
    }
}

fn wake(waker: Option<Waker>) {
    if let Some(waker) = waker {
        waker.wake();
    }
}

/// Stream that is confirmed end to end, over a connection of a path that relays split. Both ends must have
/// one, and both must end their direction.
///
/// `shutdown` ends our direction and resolves when the far *application* has read everything, and never
/// before; it fails with an error, of which [`UtlError`] can be had, that says how much is not known to have
/// arrived.
/// Dropped before a shutdown was begun, the connection is broken off; after that, it goes on in the
/// background until everything is confirmed, or not in time.
#[derive(Debug)]
pub struct UtlStream(Arc<Mutex<Inner>>);

impl UtlStream {
    /// Layer above `stream`, of which nothing was read or written. Must be called within a tokio runtime with
    /// a timer, a task of which works at the stream.
    pub fn over<P: Protocol>(stream: Stream<P>, config: Config) -> Self {
        let inner = Arc::new(Mutex::new(Inner {
            layer: UtlLayer::new(config),
            reader: None,
            writer: None,
            worker: None,
            is_finished: false,
            is_finishing: false,
            is_left: false,
        }));
        let worker = Worker { inner: Arc::clone(&inner), stream, timer: Box::pin(sleep(Duration::ZERO)) };
        tokio::spawn(worker.run());
        Self(inner)
    }

    /// Octets that the far application is not known to have.
    pub fn unconfirmed_bytes(&self) -> u64 {
        lock(&self.0).layer.unconfirmed_bytes()
    }

    /// Checks that the layer has not failed, changes it by `change`, and has the worker look.
    fn change<T>(&self, change: impl FnOnce(&mut Inner) -> T) -> io::Result<T> {
        let mut inner = lock(&self.0);
        if let Some(error) = inner.layer.failure() {
            return Err(failed(error));
        }
        let result = change(&mut inner);
        wake(inner.worker.take());
        Ok(result)
    }
}

/// State: whole after each change, so that a panic elsewhere does not make it wrong.
fn lock(inner: &Mutex<Inner>) -> MutexGuard<'_, Inner> {
    inner.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Error that `error` can be had back from.
fn failed(error: UtlError) -> io::Error {
    let kind = match error {
        UtlError::Timeout { .. } => ErrorKind::TimedOut,
        UtlError::Closed { .. } => ErrorKind::ConnectionReset,
        UtlError::FalseConfirmation | UtlError::Malformed => ErrorKind::InvalidData,
    };
    io::Error::new(kind, error)
}

impl AsyncRead for UtlStream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, out: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let read = self.change(|inner| {
            let read = inner.layer.read(out.initialize_unfilled());
            if read.is_none() {
                inner.reader = Some(cx.waker().clone());
            }
            read
        })?;
        let Some(octets) = read else { return Poll::Pending };
        out.advance(octets);
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for UtlStream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, data: &[u8]) -> Poll<io::Result<usize>> {
        let taken = self.change(|inner| {
            let taken = (!inner.is_finishing).then(|| inner.layer.write(data));
            if taken == Some(0) {
                inner.writer = Some(cx.waker().clone());
            }
            taken
        })?;
        match taken {
            None => Poll::Ready(Err(ErrorKind::BrokenPipe.into())),
            Some(0) if !data.is_empty() => Poll::Pending,
            Some(octets) => Poll::Ready(Ok(octets)),
        }
    }

    /// Does nothing: what was written leaves as soon as the path lets it.
    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        if lock(&self.0).is_finished {
            return Poll::Ready(Ok(()));
        }
        self.change(|inner| {
            inner.layer.finish();
            inner.is_finishing = true;
            inner.writer = Some(cx.waker().clone());
        })?;
        Poll::Pending
    }
}

impl Drop for UtlStream {
    fn drop(&mut self) {
        let mut inner = lock(&self.0);
        inner.is_left = true;
        wake(inner.worker.take());
    }
}

/// Task that works at the connection below.
struct Worker<P: Protocol> {
    inner: Arc<Mutex<Inner>>,
    stream: Stream<P>,
    timer: Pin<Box<Sleep>>,
}

impl<P: Protocol> Worker<P> {
    async fn run(mut self) {
        poll_fn(|cx| self.poll(cx)).await;
    }

    fn poll(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        let mut inner = lock(&self.inner);
        inner.worker = Some(cx.waker().clone());
        let has_more = move_all(&self.stream, &mut inner, cx);
        inner.tell();
        if inner.is_done() {
            // What was said last is delivered; a connection that has failed is broken off.
            if inner.layer.is_over() {
                self.stream.connection().part();
            }
            return Poll::Ready(());
        }
        let deadline = inner.layer.deadline();
        drop(inner);
        if has_more || self.is_due(deadline, cx) {
            cx.waker().wake_by_ref();
        }
        Poll::Pending
    }

    /// Sets the timer; true if it has ended.
    fn is_due(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = deadline else { return false };
        let left_ns = deadline.as_ns().saturating_sub(self.stream.connection().now().as_ns());
        self.timer.set(sleep(Duration::from_nanos(left_ns)));
        self.timer.as_mut().poll(cx).is_ready()
    }
}

/// Moves what can be moved, after a timer that is due; true if there may be more.
fn move_all<P: Protocol>(stream: &Stream<P>, inner: &mut Inner, cx: &Context<'_>) -> bool {
    for _ in 0..MAX_ROUNDS {
        let moved = stream.connection().work(cx, |now, connections, id| {
            inner.layer.handle_timeout(now);
            inner.layer.work(now, connections, id)
        });
        match moved {
            Ok(true) => {}
            Ok(false) => return false,
            Err(_) => {
                inner.layer.on_closed();
                return false;
            }
        }
    }
    true
}

impl<P: Protocol> Drop for Worker<P> {
    /// Nobody waits in vain: also when the runtime goes, what is not confirmed by now will never be.
    fn drop(&mut self) {
        let mut inner = lock(&self.inner);
        inner.layer.on_closed();
        inner.tell();
        wake(inner.reader.take());
        wake(inner.writer.take());
    }
}
