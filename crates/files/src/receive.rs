//! The receiver's session.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::{Instant, sleep_until, timeout};

use crate::destination::Destination;
use crate::errors::{Fault, ReceiveError, Violation};
use crate::frames::{FrameStep, Frames};
use crate::incoming::{Incoming, ReceiveOptions};
use crate::observe::Event;
use crate::outbox::Outbox;
use crate::reason::{Code, Reason};
use crate::replies::Replies;
use crate::report::{SessionReport, Side};

/// While more than this waits to be written back, nothing is read: a sender that does not listen is not
/// listened to either.
const BACKLOG_BYTES: usize = 64 * 1024;

/// Steps after which a session lets others of its thread go on, ...
const STEPS_A_TURN: u32 = 256;
/// ... or time: for a small file the system is called several times, whatever that takes.
const TURN: Duration = Duration::from_millis(1);

/// How long a receiver that gives up tries to say why.
const FAREWELL: Duration = Duration::from_secs(5);

/// How long a receiver whose replies have all arrived waits for the sender to close its half; and, when that
/// has happened, for the confirmation of its own end.
const PARTING: Duration = Duration::from_secs(10);

/// Receives the files of one transfer into `destination`, and closes its half when every file has its result;
/// returns when the sender has closed its own, too.
///
/// A file that fails is an entry in the report. An error means that the session ended early; its report
/// tells which files had been delivered until then, and nothing is left of the others.
pub async fn receive<R, W, O>(
    reader: R,
    mut writer: W,
    destination: &Destination,
    options: &ReceiveOptions,
    observer: O,
) -> Result<SessionReport, ReceiveError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    O: FnMut(&Event<'_>),
{
    let mut frames = Frames::new(reader, Side::Sender);
    let opening = match frames.opening().await {
        Ok(opening) => opening,
        Err(cause) => {
            say_why(&mut Replies::default(), &mut writer, &cause).await;
            return Err(ReceiveError { cause, report: SessionReport::default() });
        }
    };
    let mut incoming = Incoming::new(opening, destination, options, observer);
    match converse(&mut frames, &mut writer, &mut incoming).await {
        Ok(()) => {
            // Every reply was flushed; a sender that has gone by now has them or never will.
            let _ = timeout(PARTING, writer.shutdown()).await;
            Ok(incoming.into_report())
        }
        Err(cause) => {
            let finished = incoming.finisher.wind_up().await;
            incoming.finished(finished);
            say_why(&mut incoming.replies, &mut writer, &cause).await;
            Err(ReceiveError { cause, report: incoming.into_report() })
        }
    }
}

async fn converse<R, W, O>(
    frames: &mut Frames<R>,
    writer: &mut W,
    incoming: &mut Incoming<'_, O>,
) -> Result<(), Fault>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    O: FnMut(&Event<'_>),
{
    let mut ended = false;
    // Set once our half is closed and the sender has confirmed it, or has gone.
    let mut leave_at = None;
    let mut turn = Turn::begin();
    while !(ended && incoming.all_settled() && incoming.replies.is_empty()) {
        let is_done = incoming.all_settled() && incoming.replies.is_empty();
        let due = incoming.replies.due();
        let release = due.unwrap_or_else(Instant::now);
        let storing = incoming.storing.is_busy();
        let speaks = incoming.replies.out.wants() || is_done && leave_at.is_none();
        let has_room = incoming.has_room() && incoming.replies.out.len() <= BACKLOG_BYTES;
        let listening = !ended && !storing && has_room;
        tokio::select! {
            biased;
            spoken = speak(&mut incoming.replies.out, writer), if speaks => match spoken {
                Err(error) if !is_done => return Err(Fault::stream("answering")(error)),
                _ if is_done => leave_at = Some(Instant::now() + PARTING),
                _ => {}
            },
            () = sleep_until(release), if due.is_some() => incoming.replies.release(Instant::now()),
            finished = incoming.finisher.step(), if incoming.finisher.len() > 0 => incoming.finished(finished),
            stored = incoming.storing.next(), if storing => incoming.stored(stored),
            () = sleep_until(leave_at.unwrap_or_else(Instant::now)), if leave_at.is_some() => return Ok(()),
            step = frames.step(), if listening => ended = take(frames, step, incoming)?,
        }
        turn.step().await;
    }
    Ok(())
}

/// Turn of a session on its thread. A window full of small records is read without a pause: others have
/// theirs in between.
struct Turn {
    steps: u32,
    ends_at: Instant,
}

impl Turn {
    fn begin() -> Self {
        Self { steps: 0, ends_at: Instant::now() + TURN }
    }

    /// Counts a step, and lets others go on if it was the last of this turn.
    async fn step(&mut self) {
        self.steps += 1;
        if self.steps >= STEPS_A_TURN || Instant::now() >= self.ends_at {
            tokio::task::yield_now().await;
            *self = Self::begin();
        }
    }
}

/// Writes some of the replies; where there are none closes our half, and waits for that to be confirmed.
async fn speak<W: AsyncWrite + Unpin>(out: &mut Outbox, writer: &mut W) -> std::io::Result<()> {
    if out.wants() { out.drive(writer).await } else { writer.shutdown().await }
}

/// Takes what was read; `true` when the sender's stream has ended as it should.
fn take<R, O>(
    frames: &Frames<R>,
    step: Result<FrameStep, Fault>,
    incoming: &mut Incoming<'_, O>,
) -> Result<bool, Fault>
where
    R: AsyncRead + Unpin,
    O: FnMut(&Event<'_>),
{
    match step {
        Ok(FrameStep::Data { file, bytes }) => incoming.data(file, bytes),
        Ok(FrameStep::Frame) => incoming.frame(&frames.frame()?)?,
        // Everything is done: how the sender leaves makes no difference.
        Ok(FrameStep::End) | Err(Fault::Stream { .. } | Fault::Ended(_)) if incoming.all_settled() => {
            return Ok(true);
        }
        Ok(FrameStep::End) if incoming.may_end() => return Ok(true),
        Ok(FrameStep::End) => return Err(Fault::Ended("before all files were complete")),
        Err(fault) => return Err(fault),
    }
    Ok(false)
}

/// Tells a sender that there is no room for its session, where nothing underneath has a word for that; what
/// it still sends is dropped meanwhile. For a session whose [`receive`] was given up before it had replied to
/// anything. An error means that the sender may not have heard it.
pub async fn turn_away<R, W>(mut reader: R, mut writer: W) -> std::io::Result<()>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
{
    let mut replies = Replies::default();
    replies.stop(Reason::new(Code::Busy, "there is no room for another transfer"));
    let hears = async { tokio::io::copy(&mut reader, &mut tokio::io::sink()).await };
    tokio::try_join!(say(&mut replies.out, &mut writer), hears).map(drop)
}

/// Tells a sender that broke the protocol, if it still listens.
async fn say_why<W: AsyncWrite + Unpin>(replies: &mut Replies, writer: &mut W, cause: &Fault) {
    let Fault::Protocol(violation) = cause else { return };
    let code = match violation {
        Violation::Version(_) => Code::Version,
        _ => Code::Protocol,
    };
    replies.stop(Reason::new(code, violation.to_string()));
    let _ = timeout(FAREWELL, say(&mut replies.out, writer)).await;
}

async fn say<W: AsyncWrite + Unpin>(out: &mut Outbox, writer: &mut W) -> std::io::Result<()> {
    while out.wants() {
        out.drive(writer).await?;
    }
    writer.shutdown().await
}
