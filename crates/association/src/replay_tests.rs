use std::collections::BTreeSet;
use std::vec::Vec;

use proptest::prelude::*;

use crate::replay::*;

/// What a window must do, by a set that forgets nothing.
#[derive(Default)]
struct Model {
    taken: BTreeSet<u64>,
}

impl Model {
    fn take(&mut self, number: u64) -> Result<(), Replay> {
        let next = self.taken.last().map_or(0, |highest| highest + 1);
        if self.taken.contains(&number) && next - number <= REPLAY_WINDOW {
            return Err(Replay::Copy);
        }
        if number < next && next - number > REPLAY_WINDOW {
            return Err(Replay::Old);
        }
        self.taken.insert(number);
        Ok(())
    }
}

/// Steps of a sender whose datagrams are reordered, doubled and lost: mostly a few numbers on or back.
fn steps() -> impl Strategy<Value = Vec<i64>> {
    let step = prop_oneof![
        8 => -4..8i64,
        3 => -200..200i64,
        2 => -4200..4200i64,
        1 => 0..1_000_000i64,
    ];
    proptest::collection::vec(step, 1..400)
}

proptest! {
    #[test]
    fn the_window_takes_what_a_set_takes(start in 0..1u64 << 40, steps in steps()) {
        let (mut window, mut model) = (ReplayWindow::new(), Model::default());
        let mut number = start;
        for step in steps {
            number = number.saturating_add_signed(step);
            let expected = model.take(number);
            prop_assert_eq!(window.check(number), expected, "number {}", number);
            prop_assert_eq!(window.take(number), expected, "number {}", number);
        }
    }
}

#[test]
fn numbers_in_order_are_taken_once_each() {
    let mut window = ReplayWindow::new();
    for number in 0..20_000 {
        assert_eq!(window.take(number), Ok(()));
        assert_eq!(window.take(number), Err(Replay::Copy));
    }
}

#[test]
fn the_window_has_4096_numbers() {
    let mut window = ReplayWindow::new();
    window.take(10_000).unwrap();
    assert_eq!(window.take(10_001 - REPLAY_WINDOW - 1), Err(Replay::Old));
    for number in 10_001 - REPLAY_WINDOW..10_000 {
        assert_eq!(window.take(number), Ok(()), "number {number}");
    }
    assert_eq!(window.next(), 10_001);
}

#[test]
fn a_refused_number_moves_nothing() {
    let mut window = ReplayWindow::new();
    window.take(100).unwrap();
    assert_eq!(window.check(1 << 40), Ok(()), "asking alone takes nothing");
    assert_eq!(window.take(99), Ok(()));
    assert_eq!(window.next(), 101);
}
