//! Connections that want to send segments of given sizes.

use alloc::vec;

use super::*;
use crate::Ecn;

/// A connection with segments of these sizes and fields left to send.
struct Talker {
    id: ConnectionId,
    turn: SchedulerEntry,
    left: VecDeque<(usize, Ecn)>,
    asked: usize,
}

/// Scheduler of an endpoint with one path.
struct Line {
    turns: Scheduler<()>,
    path: Path,
}

impl Line {
    fn new() -> Self {
        let config = crate::PathConfig { mtu_bytes: 1500, carrier_bytes: 0, head_bytes: 0, tail_bytes: 0 };
        Self { turns: Scheduler::default(), path: Path::new(config) }
    }

    fn touch(&mut self, talker: &mut Talker) {
        self.turns.touch(talker.id, &mut talker.turn, PathIndex::FIRST, || Some(&mut self.path));
    }
}

impl Talker {
    fn new(line: &mut Line, id: ConnectionId, left: &[(usize, Ecn)]) -> Self {
        let mut talker =
            Self { id, turn: SchedulerEntry::default(), left: left.iter().copied().collect(), asked: 0 };
        line.touch(&mut talker);
        talker
    }
}

fn poll(line: &mut Line, talkers: &mut [Talker], max: usize) -> Option<(ConnectionId, Vec<usize>)> {
    let Line { turns, path } = line;
    let mut buffer = Vec::new();
    let sizes = |sent: Transmit<()>, bytes: usize| {
        let mut sizes = vec![sent.segment_bytes; bytes / sent.segment_bytes];
        sizes.extend(Some(bytes % sent.segment_bytes).filter(|&rest| rest > 0));
        (sent.connection, sizes)
    };
    if let Some(sent) = turns.poll_stash(&mut buffer) {
        return Some(sizes(sent, buffer.len()));
    }
    while turns.call().is_some() {
        let id = path.next_connection().unwrap();
        let talker = talkers.iter_mut().find(|talker| talker.id == id).unwrap();
        let (sent, _) = turns.take(
            id,
            &mut talker.turn,
            Instant::ZERO,
            ((), PathIndex::FIRST, &mut *path),
            (&mut buffer, max),
            |_, buffer: &mut Vec<u8>| {
                talker.asked += 1;
                let (bytes, ecn) = talker.left.pop_front().ok_or(None)?;
                buffer.resize(buffer.len() + bytes, 0);
                Ok(ecn.into())
            },
        );
        if let Some(sent) = sent {
            return Some(sizes(sent, buffer.len()));
        }
    }
    None
}

const PLAIN: Ecn = Ecn::NotEct;

#[test]
fn a_batch_ends_with_a_smaller_segment_and_before_a_larger_one() {
    let mut line = Line::new();
    let sizes = [900, 900, 500, 900, 1000].map(|bytes| (bytes, PLAIN));
    let mut talkers = [Talker::new(&mut line, 1, &sizes)];
    let mut next = || poll(&mut line, &mut talkers, 16);
    assert_eq!(next(), Some((1, vec![900, 900, 500])));
    assert_eq!(next(), Some((1, vec![900])));
    assert_eq!(next(), Some((1, vec![1000])), "kept for a batch of its own");
    assert_eq!(next(), None);
}

#[test]
fn a_batch_has_one_field_in_the_ip_header() {
    let mut line = Line::new();
    let segments = [(900, Ecn::Ect0), (900, Ecn::Ect0), (900, PLAIN)];
    let mut talkers = [Talker::new(&mut line, 1, &segments)];
    let mut next = || poll(&mut line, &mut talkers, 16);
    assert_eq!(next(), Some((1, vec![900, 900])));
    assert_eq!(next(), Some((1, vec![900])));
}

#[test]
fn those_who_always_have_something_to_send_get_equal_shares_of_bytes() {
    let mut line = Line::new();
    let mut talkers =
        [(1, 1500), (2, 300)].map(|(id, bytes)| Talker::new(&mut line, id, &vec![(bytes, PLAIN); 4000]));
    let mut sent = [0; 2];
    while sent[0] < 1_000_000 {
        let (id, sizes) = poll(&mut line, &mut talkers, 1000).unwrap();
        sent[id as usize - 1] += sizes.iter().sum::<usize>();
    }
    assert!(sent[0].abs_diff(sent[1]) <= 2 * QUANTUM_BYTES, "{sent:?}");
}

#[test]
fn who_is_alone_fills_what_one_call_takes_and_others_wait_for_less() {
    let mut line = Line::new();
    let segments = [(1472, PLAIN); 200];
    let mut talkers = [Talker::new(&mut line, 1, &segments), Talker::new(&mut line, 2, &segments)];
    let mut sizes = |most| poll(&mut line, &mut talkers, most).map(|(id, sizes)| (id, sizes.len()));
    for id in [1, 2, 1, 2] {
        assert_eq!(sizes(64), Some((id, 17)), "the other waits");
    }
    let mut line = Line::new();
    let mut talkers = [Talker::new(&mut line, 1, &segments)];
    let mut sizes = |most| poll(&mut line, &mut talkers, most).map(|(_, sizes)| sizes.len());
    assert_eq!([sizes(64), sizes(64), sizes(10)], [Some(44), Some(44), Some(10)]);
}

#[test]
fn one_who_said_that_this_was_all_is_asked_again_only_when_something_happened() {
    let mut line = Line::new();
    let mut talkers = [Talker::new(&mut line, 1, &[(900, PLAIN)])];
    assert_eq!(poll(&mut line, &mut talkers, 16), Some((1, vec![900])));
    assert_eq!(talkers[0].asked, 2);
    assert_eq!(poll(&mut line, &mut talkers, 16), None);
    assert_eq!(talkers[0].asked, 2, "it has told before");
    assert_eq!(line.turns.call(), None, "and is not in line any more");
    line.touch(&mut talkers[0]);
    assert_eq!(poll(&mut line, &mut talkers, 16), None);
    assert_eq!(talkers[0].asked, 3);
}

/// A connection that sends on a shared path can make something due at one that had nothing.
#[test]
fn who_said_that_this_was_all_is_asked_again_when_others_have_sent_since() {
    let mut line = Line::new();
    let mut talkers = [1, 2].map(|id| Talker::new(&mut line, id, &[(500, PLAIN)]));
    assert_eq!(poll(&mut line, &mut talkers, 8), Some((1, vec![500])));
    assert_eq!(talkers[0].asked, 2, "for one segment, and for a second");
    assert_eq!(poll(&mut line, &mut talkers, 8), Some((2, vec![500])));
    talkers[0].left.push_back((70, PLAIN)); // nobody touched it
    assert_eq!(poll(&mut line, &mut talkers, 8), Some((1, vec![70])));
    assert_eq!(poll(&mut line, &mut talkers, 8), None);
}
