//! Readers that do not read, read slowly, or are gone.
#![allow(clippy::disallowed_methods, reason = "real threads in real time")]

use std::sync::mpsc::{Receiver, SyncSender, sync_channel};

use super::*;

const PATIENCE: Duration = Duration::from_secs(20);
const SHORT: Duration = Duration::from_millis(20);

/// Something that takes a step for each permission that it is given.
struct Slow {
    permissions: Receiver<()>,
    written: Written,
}

impl Write for Slow {
    fn write(&mut self, stream: Stream, bytes: &[u8]) -> io::Result<usize> {
        self.permissions.recv().map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
        self.written.lock().unwrap().push((stream, String::from_utf8_lossy(bytes).into_owned()));
        Ok(bytes.len())
    }
}

/// What was written, and where.
type Written = Arc<Mutex<Vec<(Stream, String)>>>;

fn slow() -> (Lane, SyncSender<()>, Written) {
    let (permit, permissions) = sync_channel(1_000_000);
    let written = Written::default();
    let lane = Lane::start(Slow { permissions, written: Arc::clone(&written) }, Stream::Error);
    (lane, permit, written)
}

fn permit(to: &SyncSender<()>, steps: usize) {
    (0..steps).for_each(|_| to.send(()).unwrap());
}

#[test]
fn who_writes_never_waits_and_what_was_dropped_is_counted() {
    let (lane, to, written) = slow();
    let line = "x".repeat(1023) + "\n";
    (0..1000).for_each(|_| lane.put(Text::new(Stream::Error, Kind::Note, line.clone())));
    assert!(lane.queue().waiting[Kind::Note as usize] <= MAX_NOTE_BYTES, "bounded");
    assert!(lane.finish(PATIENCE, SHORT), "notes are given up soon");
    permit(&to, 1000);
    assert!(lane.finish(PATIENCE, PATIENCE));
    let written = written.lock().unwrap();
    assert_eq!(written.len(), MAX_NOTE_BYTES / 1024 + 1);
    let last = &written.last().unwrap().1;
    assert_eq!(last, "skyhaul: not written, since nobody read for long: 936 lines\n");
}

#[test]
fn a_result_is_written_while_somebody_reads_however_slowly() {
    let (lane, to, written) = slow();
    (0..200).for_each(|_| lane.put(Text::new(Stream::Error, Kind::Note, "n".repeat(1024))));
    let result = "r".repeat(20 * STEP_BYTES);
    lane.put(Text::new(Stream::Output, Kind::Result, result.clone()));
    let reader = std::thread::spawn(move || {
        for _ in 0..200 {
            std::thread::sleep(Duration::from_millis(2));
            if to.send(()).is_err() {
                return;
            }
        }
    });
    assert!(lane.finish(PATIENCE, SHORT));
    let written = written.lock().unwrap();
    let out: String = written.iter().filter(|(stream, _)| *stream == Stream::Output).map(|w| &*w.1).collect();
    assert_eq!(out, result);
    reader.join().unwrap();
}

#[test]
fn a_result_that_nobody_reads_is_given_up_and_said() {
    let (lane, to, _) = slow();
    lane.put(Text::new(Stream::Output, Kind::Result, "{}\n".into()));
    assert!(!lane.finish(SHORT, SHORT), "nobody reads");
    drop(to);
    assert!(lane.finish(PATIENCE, PATIENCE), "the reader is gone: nothing waits any more");
    assert!(lane.failure().is_none(), "which is no failure");
}

#[test]
fn a_result_of_any_size_takes_no_room_from_others_and_more_than_the_bound_are_not_taken() {
    let (lane, to, written) = slow();
    let (large, small) = ("r".repeat(MAX_RESULT_BYTES + 1), "s".repeat(1 << 20));
    lane.put(Text::new(Stream::Output, Kind::Result, large.clone()));
    lane.put(Text::new(Stream::Output, Kind::Result, large.clone()));
    (0..=MAX_RESULT_BYTES >> 20)
        .for_each(|_| lane.put(Text::new(Stream::Output, Kind::Result, small.clone())));
    assert_eq!(lane.queue().waiting[Kind::Result as usize], MAX_RESULT_BYTES);
    permit(&to, (large.len() + MAX_RESULT_BYTES) / STEP_BYTES + 2);
    assert!(lane.finish(PATIENCE, PATIENCE));
    let written = written.lock().unwrap();
    let out: usize = written.iter().filter(|(stream, _)| *stream == Stream::Output).map(|w| w.1.len()).sum();
    assert_eq!(out, large.len() + MAX_RESULT_BYTES);
    assert!(written.last().unwrap().1.ends_with(": 2 results\n"));
}

#[test]
fn a_large_result_is_waited_for_like_others() {
    let (lane, _to, _) = slow();
    lane.put(Text::new(Stream::Output, Kind::Result, "r".repeat(MAX_RESULT_BYTES + 1)));
    assert!(!lane.finish(SHORT, SHORT), "nobody reads");
}

#[test]
fn texts_stand_above_the_line_which_goes_at_the_end() {
    let (lane, to, written) = slow();
    permit(&to, 1000);
    lane.draw(Box::new(|_| Some("50 %".into())));
    let has = |part: &str| written.lock().unwrap().iter().any(|(_, text)| text.ends_with(part));
    while !has("50 %") {
        std::thread::yield_now();
    }
    lane.put(Text::new(Stream::Error, Kind::Note, "note\n".into()));
    assert!(lane.finish(PATIENCE, PATIENCE));
    let all: String = written.lock().unwrap().iter().map(|(_, text)| text.as_str()).collect();
    assert!(all.contains("50 %\r\x1b[2Knote\n"), "{all:?}");
    assert!(all.ends_with(ERASE) || all.ends_with("note\n"), "{all:?}");
}

#[test]
fn a_disk_that_is_full_fails_a_result_and_not_a_note() {
    struct Full;
    impl Write for Full {
        fn write(&mut self, _: Stream, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::StorageFull.into())
        }
    }
    let lane = Lane::start(Full, Stream::Error);
    lane.put(Text::new(Stream::Error, Kind::Note, "note\n".into()));
    assert!(lane.finish(PATIENCE, PATIENCE) && lane.failure().is_none());
    lane.put(Text::new(Stream::Output, Kind::Result, "{}\n".into()));
    assert!(lane.finish(PATIENCE, PATIENCE));
    assert_eq!(lane.failure().map(|error| error.kind()), Some(io::ErrorKind::StorageFull));
}
