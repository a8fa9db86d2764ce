//! Confirmations as a peer should not send them.

use skyhaul_core::{Instant, SECOND};

use super::config::Config;
use super::error::UtlError;
use super::sender::Sender;

/// Sender with two batches of 10 octets that the hop has taken.
fn two_batches() -> Sender {
    let config = Config { batch_bytes: 10, window_batches: 2, timeout_ns: SECOND, send_limit_bytes: 1000 };
    let mut sender = Sender::new(config);
    assert_eq!(sender.write(&[7; 20]), 20);
    for start in [0, 22] {
        sender.begin(start).unwrap();
        sender.given(10);
    }
    sender
}

#[test]
fn a_batch_that_is_confirmed_twice_is_counted_and_changes_nothing() {
    let (mut sender, now) = (two_batches(), Instant::from_ns(5));
    assert_eq!(sender.on_confirm(0, now), Ok(false), "before the first one");
    assert_eq!(sender.on_confirm(1, now), Ok(true));
    assert_eq!(sender.repeated_confirmations(), 1);
    for _ in 0..3 {
        assert_eq!(sender.on_confirm(1, now), Ok(false));
    }
    assert_eq!(sender.on_confirm(0, now), Ok(false), "older still");
    assert_eq!(sender.repeated_confirmations(), 5);
    assert_eq!((sender.unconfirmed_bytes(), sender.round_trips().count), (10, 1));
    assert_eq!(sender.on_confirm(2, now), Ok(true));
    assert_eq!(sender.on_confirm(2, now), Ok(false));
    assert_eq!((sender.repeated_confirmations(), sender.unconfirmed_bytes()), (6, 0));
}

#[test]
fn a_batch_that_was_never_sent_is_confirmed_by_nobody() {
    let (mut sender, now) = (two_batches(), Instant::from_ns(5));
    assert_eq!(sender.on_confirm(3, now), Err(UtlError::FalseConfirmation));
    assert_eq!(sender.repeated_confirmations(), 0);
}
