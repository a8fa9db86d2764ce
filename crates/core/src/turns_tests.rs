//! Connections that want to send segments of given sizes.

use alloc::vec;

use super::*;

/// A connection with segments of these sizes and fields left to send.
struct Talker {
    id: ConnectionId,
    turn: Turn,
    left: VecDeque<(usize, Ecn)>,
    asked: usize,
}

impl Talker {
    fn new(turns: &mut Turns<()>, id: ConnectionId, left: &[(usize, Ecn)]) -> Self {
        let mut turn = Turn::default();
        turns.touch(id, &mut turn);
        Self { id, turn, left: left.iter().copied().collect(), asked: 0 }
    }
}

fn poll(turns: &mut Turns<()>, talkers: &mut [Talker], max: usize) -> Option<(ConnectionId, Vec<usize>)> {
    let mut buffer = Vec::new();
    let sizes = |sent: Transmit<()>, bytes: usize| {
        let mut sizes = vec![sent.segment_bytes; bytes / sent.segment_bytes];
        sizes.extend(Some(bytes % sent.segment_bytes).filter(|&rest| rest > 0));
        (sent.connection, sizes)
    };
    if let Some(sent) = turns.poll_stash(&mut buffer) {
        return Some(sizes(sent, buffer.len()));
    }
    while let Some(id) = turns.call() {
        let talker = talkers.iter_mut().find(|talker| talker.id == id).unwrap();
        let sent = turns.take(
            id,
            &mut talker.turn,
            Instant::ZERO,
            (),
            (&mut buffer, max),
            |buffer: &mut Vec<u8>| {
                talker.asked += 1;
                let (bytes, ecn) = talker.left.pop_front()?;
                buffer.resize(buffer.len() + bytes, 0);
                Some(ecn)
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
    let mut turns = Turns::default();
    let sizes = [900, 900, 500, 900, 1000].map(|bytes| (bytes, PLAIN));
    let mut talkers = [Talker::new(&mut turns, 1, &sizes)];
    let mut next = || poll(&mut turns, &mut talkers, 16);
    assert_eq!(next(), Some((1, vec![900, 900, 500])));
    assert_eq!(next(), Some((1, vec![900])));
    assert_eq!(next(), Some((1, vec![1000])), "kept for a batch of its own");
    assert_eq!(next(), None);
}

#[test]
fn a_batch_has_one_field_in_the_ip_header() {
    let mut turns = Turns::default();
    let segments = [(900, Ecn::Ect0), (900, Ecn::Ect0), (900, PLAIN)];
    let mut talkers = [Talker::new(&mut turns, 1, &segments)];
    let mut next = || poll(&mut turns, &mut talkers, 16);
    assert_eq!(next(), Some((1, vec![900, 900])));
    assert_eq!(next(), Some((1, vec![900])));
}

#[test]
fn those_who_always_have_something_to_send_get_equal_shares_of_bytes() {
    let mut turns = Turns::default();
    let mut talkers =
        [(1, 1500), (2, 300)].map(|(id, bytes)| Talker::new(&mut turns, id, &vec![(bytes, PLAIN); 4000]));
    let mut sent = [0; 2];
    while sent[0] < 1_000_000 {
        let (id, sizes) = poll(&mut turns, &mut talkers, 1000).unwrap();
        sent[id as usize - 1] += sizes.iter().sum::<usize>();
    }
    assert!(sent[0].abs_diff(sent[1]) <= 2 * QUANTUM_BYTES as usize, "{sent:?}");
}

#[test]
fn one_who_said_that_this_was_all_is_asked_again_only_when_something_happened() {
    let mut turns = Turns::default();
    let mut talkers = [Talker::new(&mut turns, 1, &[(900, PLAIN)])];
    assert_eq!(poll(&mut turns, &mut talkers, 16), Some((1, vec![900])));
    assert_eq!(talkers[0].asked, 2);
    assert_eq!(poll(&mut turns, &mut talkers, 16), None);
    assert_eq!(talkers[0].asked, 2, "it has told before");
    assert_eq!(turns.call(), None, "and is not in line any more");
    turns.touch(1, &mut talkers[0].turn);
    assert_eq!(poll(&mut turns, &mut talkers, 16), None);
    assert_eq!(talkers[0].asked, 3);
}

/// What a connection takes of a path that others share can make something due at one that had nothing.
#[test]
fn who_said_that_this_was_all_is_asked_again_when_others_have_sent_since() {
    let mut turns = Turns::default();
    let mut talkers = [1, 2].map(|id| Talker::new(&mut turns, id, &[(500, PLAIN)]));
    assert_eq!(poll(&mut turns, &mut talkers, 8), Some((1, vec![500])));
    assert_eq!(talkers[0].asked, 2, "for one segment, and for a second");
    assert_eq!(poll(&mut turns, &mut talkers, 8), Some((2, vec![500])));
    talkers[0].left.push_back((70, PLAIN)); // nobody touched it
    assert_eq!(poll(&mut turns, &mut talkers, 8), Some((1, vec![70])));
    assert_eq!(poll(&mut turns, &mut talkers, 8), None);
}
