use std::format;
use std::string::{String, ToString as _};
use std::vec::Vec;

use skyhaul_core::envelope::Mode;

use super::*;

const RIGHT: u8 = 1;
const WRONG: u8 = 2;

fn code(octet: u8) -> Code {
    Code::new(&Secret::new([octet; 32]))
}

fn identity(octet: u8) -> Identity {
    Identity::new(Secret::new([octet; 32]))
}

fn card(name: &str, mode: Mode) -> Card {
    let callsign = (mode == Mode::Authenticated).then(|| "DL1ABC".parse().unwrap());
    Card { name: name.parse().unwrap(), mode, callsign }
}

fn opener(code_of: u8) -> Pairing {
    let card = card("ground", Mode::Encrypted);
    Pairing::open(&code(code_of), identity(0x11), card, &Secret::new([0x44; 32]))
}

fn invitation() -> Invitation {
    Invitation::new(code(RIGHT), identity(0x22), card("ship", Mode::Encrypted))
}

fn acceptor(invitation: &mut Invitation) -> Pairing {
    invitation.session(&Secret::new([0x55; 32])).unwrap()
}

/// Frames of a stream's octets.
fn frames(mut octets: &[u8]) -> Vec<Vec<u8>> {
    let mut frames = Vec::new();
    while let Ok(Some((_, frame))) = frame::next(octets) {
        octets = &octets[frame.len()..];
        frames.push(frame);
    }
    frames
}

/// What came of the opener, whose owner could keep whom it meets.
fn opener_event(opener: &mut Pairing) -> Option<PairingEvent> {
    let event = opener.poll_event();
    if matches!(event, Some(PairingEvent::Met(_))) {
        opener.confirm();
        return None;
    }
    event
}

/// What came of both ends.
struct Outcome {
    opener: Option<PairingEvent>,
    acceptor: Option<PairingEvent>,
    /// Frames as they were sent, in order.
    sent: Vec<Vec<u8>>,
}

/// Runs two ends until nobody says anything; `change` sees each frame with its number and gives what
/// arrives. The owners confirm.
fn run(opener: &mut Pairing, acceptor: &mut Pairing, mut change: impl FnMut(usize, &mut Vec<u8>)) -> Outcome {
    let mut outcome = Outcome { opener: None, acceptor: None, sent: Vec::new() };
    for _ in 0..8 {
        for turn in 0..2 {
            let (from, to) =
                if turn == 0 { (&mut *opener, &mut *acceptor) } else { (&mut *acceptor, &mut *opener) };
            for mut frame in frames(&from.poll_transmit().unwrap_or_default()) {
                change(outcome.sent.len(), &mut frame);
                outcome.sent.push(frame.clone());
                to.handle(&frame);
            }
            let event = acceptor.poll_event();
            if matches!(event, Some(PairingEvent::Paired(_))) {
                acceptor.confirm();
            }
            outcome.acceptor = outcome.acceptor.or(event);
            outcome.opener = outcome.opener.or(opener_event(opener));
        }
    }
    outcome
}

fn paired(event: Option<&PairingEvent>) -> &Paired {
    match event {
        Some(PairingEvent::Paired(paired)) => paired,
        other => panic!("{other:?}"),
    }
}

fn failed(event: Option<&PairingEvent>) -> PairingError {
    match event {
        Some(PairingEvent::Failed(error)) => *error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_has_the_code_learns_key_name_and_mode_and_both_get_one_fresh_psk() {
    let mut invitation = invitation();
    let (mut a, mut b) = (opener(RIGHT), acceptor(&mut invitation));
    let outcome = run(&mut a, &mut b, |_, _| {});
    let (at_opener, at_acceptor) = (paired(outcome.opener.as_ref()), paired(outcome.acceptor.as_ref()));
    assert_eq!((at_opener.key, at_opener.card.name.as_str()), (identity(0x22).public(), "ship"));
    assert_eq!((at_acceptor.key, at_acceptor.card.name.as_str()), (identity(0x11).public(), "ground"));
    assert_eq!(at_opener.psk.octets(), at_acceptor.psk.octets());
    invitation.take_back(b);
    let other = invitation.session(&Secret::new([0x56; 32]));
    let again = run(&mut opener(RIGHT), &mut other.unwrap(), |_, _| {});
    let fresh = paired(again.opener.as_ref()).psk.octets();
    assert_ne!(fresh, at_opener.psk.octets(), "it is of both ends' randomness");
}

fn hex(octets: &[u8]) -> String {
    octets.iter().fold(String::new(), |text, octet| text + &format!("{octet:02x}"))
}

#[test]
fn pairing_is_the_golden_octets_of_the_specification() {
    let mut invitation = invitation();
    let outcome = run(&mut opener(RIGHT), &mut acceptor(&mut invitation), |_, _| {});
    let page = include_str!("../../../../docs/spec/protection.md");
    let psk = hex(paired(outcome.opener.as_ref()).psk.octets());
    let rows = outcome.sent.iter().map(|frame| hex(frame)).chain([psk, code(RIGHT).to_string()]);
    let missing: Vec<String> = rows.filter(|row| !page.contains(&format!("`{row}`"))).collect();
    assert!(missing.is_empty(), "{missing:#?}");
    assert_eq!(outcome.sent.len(), 6);
}

#[test]
fn a_wrong_code_is_noticed_and_ends_it() {
    let mut invitation = invitation();
    let (mut a, mut b) = (opener(WRONG), acceptor(&mut invitation));
    let outcome = run(&mut a, &mut b, |_, _| {});
    assert_eq!(failed(outcome.acceptor.as_ref()), PairingError::WrongCode);
    assert_eq!(failed(outcome.opener.as_ref()), PairingError::CodeRefused);
    invitation.take_back(b);
    assert!(invitation.is_void());
}

#[test]
fn there_is_no_second_guess() {
    let mut invitation = invitation();
    let mut session = acceptor(&mut invitation);
    assert!(invitation.session(&Secret::new([3; 32])).is_none(), "none beside the first one");
    run(&mut opener(WRONG), &mut session, |_, _| {});
    // In the same stream, with a whole new pairing, now by the right code.
    let outcome = run(&mut opener(RIGHT), &mut session, |_, _| {});
    assert!(outcome.acceptor.is_none() && outcome.opener.is_none() && outcome.sent.len() == 1);
    invitation.take_back(session);
    assert!(invitation.session(&Secret::new([3; 32])).is_none(), "in another stream");
}

#[test]
fn who_does_not_try_the_code_does_not_spend_it() {
    let mut invitation = invitation();
    for number in 0..MAX_SESSIONS - 1 {
        let mut session = acceptor(&mut invitation);
        match number % 4 {
            0 => session.handle(b"GET / HTTP/1.1\r\n\r\n"),
            1 => session.handle(&opener(WRONG).poll_transmit().unwrap()),
            2 => session.handle(&[4, 0, 2, 2, VERSION]),
            _ => {}
        }
        session.end();
        assert!(matches!(session.poll_event(), Some(PairingEvent::Failed(_))));
        invitation.take_back(session);
    }
    let mut session = acceptor(&mut invitation);
    let outcome = run(&mut opener(RIGHT), &mut session, |_, _| {});
    paired(outcome.opener.as_ref());
    invitation.take_back(session);
    assert!(invitation.is_void(), "that was the last of {MAX_SESSIONS}");
}

#[test]
fn a_man_in_the_middle_with_a_guess_of_his_own_is_noticed_at_both_ends() {
    let mut invitation = invitation();
    let (mut a, mut b) = (opener(RIGHT), acceptor(&mut invitation));
    let mut towards_b =
        Pairing::open(&code(WRONG), identity(0x66), card("ground", Mode::Encrypted), &Secret::new([7; 32]));
    let mut guess = Invitation::new(code(WRONG), identity(0x66), card("ship", Mode::Encrypted));
    let mut towards_a = acceptor(&mut guess);
    let to_a = run(&mut a, &mut towards_a, |_, _| {});
    let to_b = run(&mut towards_b, &mut b, |_, _| {});
    assert_eq!(failed(to_a.acceptor.as_ref()), PairingError::WrongCode, "his guess is wrong");
    assert_eq!(failed(to_a.opener.as_ref()), PairingError::CodeRefused);
    assert_eq!(failed(to_b.acceptor.as_ref()), PairingError::WrongCode);
    invitation.take_back(b);
    assert!(invitation.is_void());
}

#[test]
fn a_man_in_the_middle_who_relays_the_hellos_and_goes_on_alone_is_refused() {
    // He lets the elements pass, and has a first message of another pairing in the place of the opener's.
    let mut others = invitation();
    let foreign =
        run(&mut opener(RIGHT), &mut others.session(&Secret::new([9; 32])).unwrap(), |_, _| {}).sent;
    for place in [2, 3, 4, 5] {
        let mut invitation = invitation();
        let outcome = run(&mut opener(RIGHT), &mut acceptor(&mut invitation), |number, frame| {
            if number == place {
                frame.clone_from(&foreign[place]);
            }
        });
        let is_paired = matches!(outcome.opener, Some(PairingEvent::Paired(_)));
        assert!(!is_paired, "frame {place} of another pairing");
    }
}

#[test]
fn every_flipped_bit_of_every_message_pairs_nobody() {
    let whole = run(&mut opener(RIGHT), &mut acceptor(&mut invitation()), |_, _| {}).sent;
    for (place, frame) in whole.iter().enumerate() {
        for bit in 0..8 * frame.len() {
            let flip = |number: usize, frame: &mut Vec<u8>| {
                if number == place {
                    frame[bit / 8] ^= 1 << (bit % 8);
                }
            };
            let mut invitation = invitation();
            let outcome = run(&mut opener(RIGHT), &mut acceptor(&mut invitation), flip);
            let is_paired = matches!(outcome.opener, Some(PairingEvent::Paired(_)));
            assert!(!is_paired, "bit {bit} of frame {place}");
            // The last frame only tells the opener of what the acceptor has kept.
            let is_kept = matches!(outcome.acceptor, Some(PairingEvent::Paired(_)));
            assert_eq!(is_kept, place == 5, "bit {bit} of frame {place}");
        }
    }
}

#[test]
fn every_cut_pairs_nobody_and_is_told() {
    let whole = run(&mut opener(RIGHT), &mut acceptor(&mut invitation()), |_, _| {}).sent;
    for (place, frame) in whole.iter().enumerate() {
        for length in 0..frame.len() {
            let mut is_cut = false;
            let cut = |number: usize, frame: &mut Vec<u8>| {
                if number == place {
                    frame.truncate(length);
                }
            };
            let mut invitation = invitation();
            let (mut a, mut b) = (opener(RIGHT), acceptor(&mut invitation));
            let before = run(&mut a, &mut b, cut);
            for end in [&mut a, &mut b] {
                end.end();
                is_cut |= matches!(end.poll_event(), Some(PairingEvent::Failed(PairingError::Cut)));
            }
            assert!(is_cut && before.opener.is_none(), "frame {place} of {length} octets");
            invitation.take_back(b);
            assert!(!invitation.is_void(), "a link that was cut is no guess");
        }
    }
}

#[test]
fn octets_may_arrive_one_by_one_or_all_at_once() {
    let mut invitation = invitation();
    let (mut a, mut b) = (opener(RIGHT), acceptor(&mut invitation));
    for _ in 0..8 {
        for octet in a.poll_transmit().unwrap_or_default() {
            b.handle(&[octet]);
        }
        if let Some(PairingEvent::Paired(_)) = b.poll_event() {
            b.confirm();
        }
        if matches!(a.event, Some(PairingEvent::Met(_))) {
            a.confirm();
        }
        a.handle(&[b.poll_transmit().unwrap_or_default(), Vec::new()].concat());
    }
    assert!(matches!(a.poll_event(), Some(PairingEvent::Paired(_))));
}

#[test]
fn another_version_is_told_at_both_ends_and_spends_nothing() {
    let mut invitation = invitation();
    let mut session = acceptor(&mut invitation);
    let mut hello = opener(RIGHT).poll_transmit().unwrap();
    hello[3 + 15] = 9;
    session.handle(&hello);
    assert_eq!(failed(session.poll_event().as_ref()), PairingError::Version(9));
    let told = session.poll_transmit().unwrap();
    invitation.take_back(session);
    assert!(!invitation.is_void());
    let mut a = opener(RIGHT);
    a.handle(&told);
    assert_eq!(failed(a.poll_event().as_ref()), PairingError::Version(0));
    let mut a = opener(RIGHT);
    a.handle(&[4, 0, 2, 1, 9]);
    assert_eq!(failed(a.poll_event().as_ref()), PairingError::Version(9));
    assert!(failed(Some(&PairingEvent::Failed(PairingError::Version(9)))).to_string().contains("version 9"));
}

#[test]
fn modes_that_differ_are_told_with_both_names() {
    let mut invitation = Invitation::new(code(RIGHT), identity(0x22), card("ship", Mode::Authenticated));
    let mut b = acceptor(&mut invitation);
    let outcome = run(&mut opener(RIGHT), &mut b, |_, _| {});
    let (encrypted, authenticated) = (Mode::Encrypted, Mode::Authenticated);
    let at_opener = PairingError::Mode { own: encrypted, other: authenticated };
    assert_eq!(failed(outcome.opener.as_ref()), at_opener);
    let at_acceptor = PairingError::Mode { own: authenticated, other: encrypted };
    assert_eq!(failed(outcome.acceptor.as_ref()), at_acceptor);
    assert!(at_opener.to_string().contains("here encrypted, at the other machine authenticated"));
    invitation.take_back(b);
    assert!(!invitation.is_void(), "the code was right: it may be tried again");
}

#[test]
fn ones_own_identity_is_no_peer() {
    let mut invitation = Invitation::new(code(RIGHT), identity(0x11), card("ship", Mode::Encrypted));
    let outcome = run(&mut opener(RIGHT), &mut acceptor(&mut invitation), |_, _| {});
    assert_eq!(failed(outcome.opener.as_ref()), PairingError::Oneself);
    assert_eq!(failed(outcome.acceptor.as_ref()), PairingError::Declined(Unkept::Other));
}

/// Three messages of the handshake, or what the opener says in the place of the third, and all of them
/// understood.
fn acquaint(a: &mut Pairing, b: &mut Pairing, mut meet: impl FnMut(&mut Pairing)) {
    for _ in 0..4 {
        b.handle(&a.poll_transmit().unwrap_or_default());
        a.handle(&b.poll_transmit().unwrap_or_default());
        if matches!(a.event, Some(PairingEvent::Met(_))) {
            assert_eq!(a.poll_transmit(), None, "nothing is told of this end before its owner has decided");
            a.poll_event();
            meet(a);
        }
    }
}

const REASONS: [Unkept; 3] = [Unkept::OwnName, Unkept::NameTaken, Unkept::Other];

#[test]
fn an_opener_who_cannot_keep_the_other_end_says_why_before_that_keeps_anything() {
    for why in REASONS {
        let mut invitation = invitation();
        let (mut a, mut b) = (opener(RIGHT), acceptor(&mut invitation));
        acquaint(&mut a, &mut b, |a| a.decline(why));
        assert_eq!(failed(b.poll_event().as_ref()), PairingError::Declined(why));
        assert!(a.is_over() && a.poll_event().is_none());
        invitation.take_back(b);
        assert!(!invitation.is_void(), "the code was right: it may be tried again");
    }
}

#[test]
fn an_owner_who_cannot_keep_the_other_end_says_why() {
    for why in REASONS {
        let mut invitation = invitation();
        let (mut a, mut b) = (opener(RIGHT), acceptor(&mut invitation));
        acquaint(&mut a, &mut b, Pairing::confirm);
        assert!(matches!(b.poll_event(), Some(PairingEvent::Paired(_))) && a.poll_event().is_none());
        b.decline(why);
        a.handle(&b.poll_transmit().unwrap());
        assert_eq!(failed(a.poll_event().as_ref()), PairingError::Declined(why));
    }
}

#[test]
fn what_an_end_keeps_of_a_stream_is_bounded() {
    let mut invitation = invitation();
    let mut session = acceptor(&mut invitation);
    session.handle(&[1, 0xFF, 0xFF]);
    assert_eq!(failed(session.poll_event().as_ref()), PairingError::Alien, "announced as too long");
    for _ in 0..1000 {
        session.handle(&[0; 1000]);
    }
    assert!(session.inbox.len() <= 3 + MAX_BODY_BYTES);
}

#[test]
fn debug_output_has_no_code_and_no_secret() {
    let mut invitation = invitation();
    let text = [
        format!("{:?}", opener(RIGHT)),
        format!("{:?}", acceptor(&mut invitation)),
        format!("{invitation:?}"),
    ];
    for text in text {
        assert!(!text.contains("17, 17, 17") && !text.contains(&code(RIGHT).to_string()), "{text}");
    }
}
