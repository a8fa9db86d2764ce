//! The sender's session.

use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, AsyncWriteExt as _};
use tokio::time::timeout;

use crate::codec::Version;
use crate::errors::{Fault, SendError};
use crate::frames::{FrameStep, Frames};
use crate::observe::Event;
use crate::outgoing::Outgoing;
use crate::report::{SessionReport, Side};
use crate::source::Source;

/// How long a sender that cannot write any more, or gave a file up, waits for the receiver's last words.
const LAST_WORDS: Duration = Duration::from_secs(5);

/// How long a sender that knows every result waits for the receiver to confirm the end.
const PARTING: Duration = Duration::from_secs(10);

/// Sends `sources` in their order, in version 1, which every receiver takes; returns when the receiver has
/// told the result of each, and shuts its half of the stream down. The stream must live on until that has
/// reached the other side.
///
/// A file that fails is an entry in the report. An error means that the session ended early; its report
/// tells what is known of the files: one called interrupted may have arrived all the same.
pub async fn send<R, W, O>(
    reader: R,
    writer: W,
    sources: Vec<Source>,
    observer: O,
) -> Result<SessionReport, SendError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    O: FnMut(&Event<'_>),
{
    send_as(Version::One, reader, writer, sources, observer).await
}

/// As [`send`], in a version that the receiver takes.
pub async fn send_as<R, W, O>(
    version: Version,
    reader: R,
    mut writer: W,
    sources: Vec<Source>,
    observer: O,
) -> Result<SessionReport, SendError>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    O: FnMut(&Event<'_>),
{
    let mut replies = Frames::new(reader, Side::Receiver);
    let mut outgoing = Outgoing::new(sources, version, observer);
    match converse(&mut replies, &mut writer, &mut outgoing).await {
        Ok(()) => {
            if outgoing.has_aborted() {
                // The receiver's end may still be under way: who ends before it has to stay, and answer it.
                let _ = timeout(LAST_WORDS, ended(&mut replies)).await;
            }
            // All results are known; if the stream is gone by now, nothing is lost.
            let _ = timeout(PARTING, writer.shutdown()).await;
            Ok(outgoing.into_report())
        }
        Err(cause) => Err(SendError { cause, report: outgoing.into_report() }),
    }
}

/// Waits until the receiver has ended its half, whatever it says before.
async fn ended<R: AsyncRead + Unpin>(replies: &mut Frames<R>) {
    while matches!(replies.step().await, Ok(FrameStep::Frame | FrameStep::Data { .. })) {}
}

async fn converse<R, W, O>(
    replies: &mut Frames<R>,
    writer: &mut W,
    outgoing: &mut Outgoing<O>,
) -> Result<(), Fault>
where
    R: AsyncRead + Unpin,
    W: AsyncWrite + Unpin,
    O: FnMut(&Event<'_>),
{
    outgoing.open()?;
    loop {
        outgoing.fill();
        let settled = outgoing.all_settled();
        if settled && !outgoing.out.wants() {
            return Ok(());
        }
        tokio::select! {
            biased;
            step = replies.step(), if !settled => take(replies, &step?, outgoing)?,
            () = outgoing.fetching.done(), if !settled => {}
            written = outgoing.out.drive(writer), if outgoing.out.wants() => match written {
                Ok(()) => outgoing.written(),
                Err(_) if settled => return Ok(()),
                Err(error) => return last_words(replies, outgoing, Fault::stream("sending")(error)).await,
            },
        }
    }
}

fn take<R, O>(replies: &Frames<R>, step: &FrameStep, outgoing: &mut Outgoing<O>) -> Result<(), Fault>
where
    R: AsyncRead + Unpin,
    O: FnMut(&Event<'_>),
{
    match step {
        FrameStep::Frame => outgoing.frame(&replies.frame()?),
        FrameStep::Data { .. } => Ok(()),
        FrameStep::End => Err(Fault::Ended("before it had told all results")),
    }
}

/// The stream takes nothing more. Perhaps the receiver has said why; else `fault` is all that is known.
async fn last_words<R, O>(
    replies: &mut Frames<R>,
    outgoing: &mut Outgoing<O>,
    fault: Fault,
) -> Result<(), Fault>
where
    R: AsyncRead + Unpin,
    O: FnMut(&Event<'_>),
{
    let listening = async {
        while !outgoing.all_settled() {
            let step = replies.step().await?;
            take(replies, &step, outgoing)?;
        }
        Ok(())
    };
    match timeout(LAST_WORDS, listening).await {
        Ok(Ok(())) => Ok(()),
        Ok(Err(stopped @ Fault::Stopped(_))) => Err(stopped),
        _ => Err(fault),
    }
}
