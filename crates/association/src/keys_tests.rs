use std::vec;
use std::vec::Vec;

use ::aes_gcm::Aes128Gcm;
use chacha20poly1305::ChaCha20Poly1305;
use chacha20poly1305::aead::{AeadInPlace as _, KeyInit as _};
use proptest::prelude::*;
use skyhaul_core::Instant;
use skyhaul_core::envelope::Mode;

use crate::aead::{AeadName, NONCE_BYTES, TAG_BYTES};
use crate::keys::*;
use crate::nonces::{forget, recording_aead};
use crate::{Addressee, HEAD_BYTES, Head, Index, OVERHEAD_BYTES, REPLAY_WINDOW, RecordError, Secret};

const BOTH: [AeadName; 2] = [AeadName::Aes128Gcm, AeadName::ChaCha20Poly1305];
const MODES: [Mode; 2] = [Mode::Encrypted, Mode::Authenticated];
const START: Instant = Instant::from_ns(7);
const TEXT: &[u8] = b"seventeen octets!";

/// Two ends of one direction.
struct Pair {
    sealing: SealingKeys,
    opening: OpeningKeys,
}

impl Pair {
    fn new(mode: Mode, aead: AeadName) -> Self {
        forget();
        let secret = Secret::new([0x42; 32]);
        let protection = Protection { mode, aead, maker: recording_aead };
        let addressee = Addressee::Association(Index::new(0x0A_0B0C).unwrap());
        Self {
            sealing: SealingKeys::new(protection, addressee, &secret, START),
            opening: OpeningKeys::new(protection, &secret),
        }
    }

    fn seal(&mut self, now: Instant, text: &[u8]) -> Vec<u8> {
        let mut datagram = vec![0; text.len() + OVERHEAD_BYTES];
        datagram[HEAD_BYTES..HEAD_BYTES + text.len()].copy_from_slice(text);
        self.sealing.seal(now, &mut datagram).unwrap();
        datagram
    }

    fn open(&mut self, now: Instant, datagram: &[u8]) -> Result<Vec<u8>, RecordError> {
        let mut datagram = datagram.to_vec();
        let head = Head::decode(&datagram)?;
        let opened = self.opening.open(now, head, &mut datagram)?;
        Ok(datagram[opened.text].to_vec())
    }

    /// Sender that has used up all numbers of its generation but `left`.
    fn near_the_step(mut self, left: u64) -> Self {
        self.sealing = self.sealing.at_number(GENERATION_DATAGRAMS - left);
        self
    }
}

#[test]
fn records_are_the_golden_octets_of_the_specification() {
    let page = include_str!("../../../docs/spec/protection.md");
    let mut rows = Vec::new();
    for (mode, name) in MODES.into_iter().zip(["encrypted", "authenticated"]) {
        for (aead, short) in BOTH.into_iter().zip(["AES-128-GCM", "ChaCha20-Poly1305"]) {
            let record = hex(&Pair::new(mode, aead).seal(START, TEXT));
            rows.push(std::format!("| {name} | {short} | `{record}` |"));
        }
    }
    let rows = rows.join("\n");
    assert!(page.contains(&rows), "the page lacks:\n{rows}");
}

fn hex(octets: &[u8]) -> std::string::String {
    octets.iter().fold(std::string::String::new(), |text, octet| text + &std::format!("{octet:02x}"))
}

#[test]
fn what_is_sealed_opens_once() {
    for (mode, aead) in MODES.into_iter().flat_map(|mode| BOTH.map(|aead| (mode, aead))) {
        let mut pair = Pair::new(mode, aead);
        for length in [0, 1, 15, 16, 17, 1448] {
            let text = vec![0x5A; length];
            let datagram = pair.seal(START, &text);
            assert_eq!(datagram.len(), length + 24);
            assert_eq!(pair.open(START, &datagram), Ok(text));
            assert_eq!(pair.open(START, &datagram), Err(RecordError::Replayed));
        }
    }
}

#[test]
fn every_flipped_bit_and_every_cut_is_refused() {
    for (mode, aead) in MODES.into_iter().flat_map(|mode| BOTH.map(|aead| (mode, aead))) {
        let mut pair = Pair::new(mode, aead);
        let datagram = pair.seal(START, TEXT);
        for bit in 0..datagram.len() * 8 {
            let mut flipped = datagram.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            // An index is looked up by its owner; here it must be found wrong by the tag.
            assert!(pair.open(START, &flipped).is_err(), "bit {bit} of {mode:?}, {aead:?}");
        }
        for length in 0..datagram.len() {
            assert!(pair.open(START, &datagram[..length]).is_err(), "cut to {length}");
        }
        assert_eq!(pair.open(START, &datagram), Ok(TEXT.to_vec()), "no forgery took its number");
    }
}

#[test]
fn an_encrypted_text_cannot_be_read_and_an_authenticated_one_can() {
    let text = [0x77; 64];
    let record = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm).seal(START, &text);
    assert!(!record.windows(4).any(|octets| octets == [0x77; 4]));
    let record = Pair::new(Mode::Authenticated, AeadName::Aes128Gcm).seal(START, &text);
    assert_eq!(&record[HEAD_BYTES..record.len() - TAG_BYTES], &text, "without any key");
}

/// What a second library makes of a record, with keys derived as the specification says.
fn opened_by_others(mode: Mode, aead: AeadName, secret: &Secret, number: u64, record: &[u8]) -> Vec<u8> {
    let key = secret.derive("skyhaul key");
    let mut nonce = [0; NONCE_BYTES];
    nonce.copy_from_slice(&secret.derive("skyhaul iv").octets()[..NONCE_BYTES]);
    for (place, octet) in nonce[4..].iter_mut().zip(number.to_be_bytes()) {
        *place ^= octet;
    }
    let (body, tag) = record.split_last_chunk::<TAG_BYTES>().unwrap();
    let (clear, sealed) = body.split_at(if mode == Mode::Encrypted { HEAD_BYTES } else { body.len() });
    let (mut text, nonce, tag) = (sealed.to_vec(), &nonce.into(), &(*tag).into());
    match aead {
        AeadName::Aes128Gcm => Aes128Gcm::new_from_slice(&key.octets()[..16])
            .unwrap()
            .decrypt_in_place_detached(nonce, clear, &mut text, tag),
        AeadName::ChaCha20Poly1305 => {
            ChaCha20Poly1305::new(key.octets().into()).decrypt_in_place_detached(nonce, clear, &mut text, tag)
        }
    }
    .unwrap();
    [&clear[HEAD_BYTES..], &text].concat()
}

#[test]
fn a_second_library_opens_records() {
    let secret = Secret::new([0x42; 32]);
    for (mode, aead) in MODES.into_iter().flat_map(|mode| BOTH.map(|aead| (mode, aead))) {
        let mut pair = Pair::new(mode, aead).near_the_step(1);
        let number = GENERATION_DATAGRAMS - 1;
        let record = pair.seal(START, TEXT);
        assert_eq!(opened_by_others(mode, aead, &secret, number, &record), TEXT);
        let record = pair.seal(START, TEXT);
        let stepped = secret.derive("skyhaul step");
        assert_eq!(opened_by_others(mode, aead, &stepped, number + 1, &record), TEXT);
    }
}

#[test]
fn keys_step_after_2_to_the_23_datagrams() {
    let mut pair = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm).near_the_step(2);
    let datagrams: Vec<_> = (0..4).map(|_| pair.seal(START, TEXT)).collect();
    assert_eq!(pair.sealing.next_number(), GENERATION_DATAGRAMS + 2);
    for place in [2, 0, 3, 1] {
        assert_eq!(pair.open(START, &datagrams[place]), Ok(TEXT.to_vec()), "late ones open, too");
        assert_eq!(pair.open(START, &datagrams[place]), Err(RecordError::Replayed));
    }
}

#[test]
fn keys_step_after_an_hour_of_use() {
    let mut pair = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm);
    let late = START.after(5 * MAX_GENERATION_NS);
    let first = pair.seal(late, TEXT);
    assert_eq!(pair.sealing.next_number(), 1, "a key that sealed nothing does not age");
    let second = pair.seal(late, TEXT);
    assert_eq!(pair.sealing.next_number(), GENERATION_DATAGRAMS + 1);
    assert!(pair.open(late, &second).is_ok() && pair.open(late, &first).is_ok());
}

#[test]
fn an_old_key_is_wiped_after_its_time() {
    let mut pair = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm).near_the_step(2);
    let datagrams: Vec<_> = (0..3).map(|_| pair.seal(START, TEXT)).collect();
    assert!(pair.open(START, &datagrams[2]).is_ok());
    assert_eq!(pair.opening.deadline(), Some(START.after(LATE_NS)));
    assert!(pair.open(START.after(LATE_NS - 1), &datagrams[0]).is_ok());
    pair.opening.handle_timeout(START.after(LATE_NS));
    assert_eq!(pair.opening.deadline(), None);
    assert_eq!(pair.open(START, &datagrams[1]), Err(RecordError::Old), "nothing here can open it");
}

#[test]
fn a_receiver_follows_over_generations_that_never_arrived() {
    let hours = |hours| START.after(hours * MAX_GENERATION_NS);
    let mut pair = Pair::new(Mode::Encrypted, AeadName::ChaCha20Poly1305);
    let lost: Vec<_> = (0..=MAX_GENERATIONS_AHEAD + 1).map(|hour| pair.seal(hours(hour), TEXT)).collect();
    let beyond = MAX_GENERATIONS_AHEAD as usize + 1;
    assert_eq!(pair.open(START, &lost[beyond]), Err(RecordError::Ahead));
    assert!(pair.open(START, &lost[beyond - 1]).is_ok());
    assert!(pair.open(START, &lost[beyond]).is_ok());
    assert_eq!(pair.open(START, &lost[0]), Err(RecordError::Old));
}

#[test]
fn a_forged_number_steps_nothing() {
    let mut pair = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm);
    let mut forged = pair.seal(START, TEXT);
    forged[4..8].copy_from_slice(&(3 * GENERATION_DATAGRAMS as u32).to_be_bytes());
    assert_eq!(pair.open(START, &forged), Err(RecordError::Forged));
    let genuine = pair.seal(START, TEXT);
    assert!(pair.open(START, &genuine).is_ok());
    assert_eq!(pair.opening.deadline(), None);
}

#[test]
fn keys_are_given_up_after_as_many_forgeries_as_rfc_9001_allows() {
    for (aead, most) in BOTH.into_iter().zip([1 << 52, 1 << 36]) {
        assert_eq!(aead.max_forgeries(), most);
        let mut pair = Pair::new(Mode::Encrypted, aead);
        pair.opening = pair.opening.with_forgeries(most - 1);
        let genuine = pair.seal(START, TEXT);
        let mut forged = pair.seal(START, TEXT);
        forged[10] ^= 1;
        assert!(pair.open(START, &genuine).is_ok());
        assert_eq!(pair.open(START, &forged), Err(RecordError::Forged));
        let genuine = pair.seal(START, TEXT);
        assert_eq!(pair.open(START, &genuine), Err(RecordError::Exhausted));
    }
}

#[test]
fn the_other_mode_does_not_open() {
    let record = Pair::new(Mode::Authenticated, AeadName::Aes128Gcm).seal(START, TEXT);
    let mut encrypted = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm);
    assert_eq!(encrypted.open(START, &record), Err(RecordError::Forged));
}

#[test]
fn numbers_end_before_they_repeat() {
    let mut pair = Pair::new(Mode::Encrypted, AeadName::ChaCha20Poly1305);
    pair.sealing = pair.sealing.at_last_generation();
    let mut datagram = vec![0; OVERHEAD_BYTES];
    assert_eq!(pair.sealing.seal(START, &mut datagram), Ok(()));
    assert_eq!(pair.sealing.seal(START.after(MAX_GENERATION_NS), &mut datagram), Err(NumbersUsedUp));
}

/// What happens to each datagram: lost, or delivered so many places later, maybe twice.
#[derive(Clone, Debug)]
struct Fate {
    delay: usize,
    copies: usize,
    pause_ns: u64,
}

fn fates() -> impl Strategy<Value = Vec<Fate>> {
    let fate = (0..60usize, 0..3usize, prop_oneof![20 => 0..1000u64, 1 => Just(MAX_GENERATION_NS)]);
    let fate = fate.prop_map(|(delay, copies, pause_ns)| Fate { delay, copies, pause_ns });
    proptest::collection::vec(fate, 1..200)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn over_any_path_each_datagram_opens_once_at_most(left in 0..100u64, fates in fates()) {
        let mut pair = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm).near_the_step(left + 1);
        let mut now = START;
        let mut sent = Vec::new();
        for (order, fate) in fates.iter().enumerate() {
            now = now.after(fate.pause_ns);
            let datagram = pair.seal(now, &order.to_be_bytes());
            let copies = (1..=fate.copies).map(|copy| (order + fate.delay * copy, order, datagram.clone()));
            sent.extend(copies);
        }
        sent.sort_by_key(|&(arrives, ..)| arrives);
        let mut opened = std::collections::BTreeSet::new();
        for (_, order, datagram) in sent {
            match pair.open(now, &datagram) {
                Ok(text) => {
                    prop_assert_eq!(&text[..], &order.to_be_bytes()[..]);
                    prop_assert!(opened.insert(order), "{} opened twice", order);
                }
                Err(RecordError::Replayed) => prop_assert!(opened.contains(&order)),
                // Late by more than one generation: pauses of an hour may follow each other at once.
                Err(error) => prop_assert_eq!(error, RecordError::Old),
            }
        }
    }
}

#[test]
fn the_replay_window_holds_at_least_4096() {
    let mut pair = Pair::new(Mode::Encrypted, AeadName::Aes128Gcm);
    let datagrams: Vec<_> = (0..=REPLAY_WINDOW).map(|_| pair.seal(START, &[])).collect();
    assert!(pair.open(START, &datagrams[REPLAY_WINDOW as usize]).is_ok());
    assert_eq!(pair.open(START, &datagrams[0]), Err(RecordError::Old));
    assert!(pair.open(START, &datagrams[1]).is_ok());
}
