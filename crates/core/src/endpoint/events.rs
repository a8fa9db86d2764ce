//! Events that wait for the application.

use alloc::collections::VecDeque;

use crate::{ConnectionId, StreamEvent};

/// Kinds of events.
pub(super) const MAX_EVENTS_PER_CONNECTION: usize = 5;

/// Events of one connection that wait, a bit for each kind.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Waiting(u8);

/// Events that wait, the oldest first; of each connection at most one of each kind. One that happens again
/// before it was told is told once.
#[derive(Clone, Debug, Default)]
pub(super) struct EventQueue(VecDeque<(ConnectionId, StreamEvent)>);

impl EventQueue {
    /// Puts an event of a connection in line, unless one of its kind waits.
    pub(super) fn push(&mut self, id: ConnectionId, waiting: &mut Waiting, event: StreamEvent) {
        let bit = bit_of(event);
        if waiting.0 & bit == 0 {
            waiting.0 |= bit;
            self.0.push_back((id, event));
        }
    }

    /// Next event; `waiting` finds those of its connection.
    pub(super) fn pop<'a>(
        &mut self,
        waiting: impl FnOnce(ConnectionId) -> Option<&'a mut Waiting>,
    ) -> Option<(ConnectionId, StreamEvent)> {
        let (id, event) = self.0.pop_front()?;
        if let Some(waiting) = waiting(id) {
            waiting.0 &= !bit_of(event);
        }
        Some((id, event))
    }

    /// Drops the events of a connection that nobody asks about any more.
    pub(super) fn forget(&mut self, id: ConnectionId, waiting: &mut Waiting) {
        if waiting.0 != 0 {
            waiting.0 = 0;
            self.0.retain(|&(other, _)| other != id);
        }
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }
}

fn bit_of(event: StreamEvent) -> u8 {
    match event {
        StreamEvent::Connected => 1,
        StreamEvent::Readable => 2,
        StreamEvent::Writable => 4,
        StreamEvent::Finished => 8,
        StreamEvent::Closed(_) => 16,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use StreamEvent::{Closed, Connected, Finished, Readable, Writable};

    #[test]
    fn each_kind_waits_once_and_in_the_order_in_which_it_came() {
        let (mut events, mut one, mut two) = (EventQueue::default(), Waiting::default(), Waiting::default());
        for _ in 0..1000 {
            for event in [Connected, Readable, Writable, Finished, Closed(None)] {
                events.push(1, &mut one, event);
            }
            events.push(2, &mut two, Readable);
        }
        assert_eq!(events.len(), MAX_EVENTS_PER_CONNECTION + 1);
        let mut told = alloc::vec::Vec::new();
        while let Some(event) = events.pop(|id| Some(if id == 1 { &mut one } else { &mut two })) {
            told.push(event);
        }
        let expected =
            [(1, Connected), (1, Readable), (1, Writable), (1, Finished), (1, Closed(None)), (2, Readable)];
        assert_eq!(told, expected);
        events.push(1, &mut one, Readable);
        assert_eq!(events.len(), 1, "it happened again after it was told");
    }

    #[test]
    fn nothing_is_told_of_a_connection_that_was_let_go() {
        let (mut events, mut one, mut two) = (EventQueue::default(), Waiting::default(), Waiting::default());
        events.push(1, &mut one, Readable);
        events.push(2, &mut two, Readable);
        events.push(1, &mut one, Closed(None));
        events.forget(1, &mut one);
        assert_eq!(events.pop(|_| Some(&mut two)), Some((2, Readable)));
        assert_eq!(events.len(), 0);
    }
}
