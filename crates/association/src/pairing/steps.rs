//! Steps of a pairing: what is waited for, and what is said to what comes.

use alloc::vec::Vec;

use skyhaul_core::envelope::Mode;

use super::PairingEvent;
use super::card::Card;
use super::code::Code;
use super::errors::{PairingError, Refusal};
use super::frame::{FrameKind, VERSION, body, encode};
use super::spake::{ELEMENT_BYTES, Half};
use crate::noise::{Mutual, Side, Split};
use crate::token::is_equal;
use crate::{Identity, PublicKey, Secret};

/// First octets of a hello.
const MAGIC: &[u8] = b"skyhaul pairing";
/// Octets of the proof that ends a pairing.
const PROOF_BYTES: usize = 16;

/// What two machines agreed on.
#[derive(Clone, Debug)]
pub struct Paired {
    /// Public key of the other end, which it proved to own.
    pub key: PublicKey,
    /// What it tells of itself.
    pub card: Card,
    /// Secret that both share.
    pub psk: Secret,
}

/// What this end is and has.
#[derive(Debug)]
pub(super) struct Own {
    identity: Identity,
    card: Card,
    /// Ephemeral key of the handshake, to be.
    ephemeral: Secret,
}

/// What an end waits for.
#[derive(Debug)]
pub(super) enum Step {
    /// Hello of the other end, as opener that has said its own.
    OpenerHello(Own, Half, Vec<u8>),
    /// Second message of the handshake, as opener.
    OpenerSecond(Own, Mutual),
    /// Owner's decision, as opener; with the third message of the handshake.
    Meeting(Paired, Vec<u8>),
    /// Word of the acceptor that it has kept this end.
    OpenerPaired(Paired),
    /// Hello of the other end, as acceptor.
    AcceptorHello(Own, Half, Vec<u8>),
    /// First message of the handshake, by which the code is tried, as acceptor.
    AcceptorFirst(Own, Mutual),
    /// Third message of the handshake, as acceptor.
    AcceptorThird(Own, Mutual),
    /// Owner's decision, as acceptor; with the frame that tells of it.
    Deciding(Vec<u8>),
    /// Nothing.
    Over,
}

/// What a frame led to.
#[derive(Debug)]
pub(super) struct Progress {
    pub(super) step: Step,
    pub(super) reply: Vec<u8>,
    pub(super) event: Option<PairingEvent>,
}

/// What a frame spoiled.
#[derive(Debug)]
pub(super) struct Failed {
    pub(super) error: PairingError,
    /// What the other end needs to find the error itself.
    pub(super) reply: Vec<u8>,
}

impl From<PairingError> for Failed {
    fn from(error: PairingError) -> Self {
        Self { error, reply: Vec::new() }
    }
}

impl Progress {
    fn to(step: Step, reply: Vec<u8>) -> Self {
        Self { step, reply, event: None }
    }
}

impl Step {
    /// First step of an opener, and its hello.
    pub(super) fn open(code: &Code, identity: Identity, card: Card, seed: &Secret) -> (Self, Vec<u8>) {
        let (own, half, hello) = begin(Side::Opener, code, identity, card, seed);
        (Self::OpenerHello(own, half, hello.clone()), hello)
    }

    /// First step of an acceptor, whose hello waits for the opener's.
    pub(super) fn accept(code: &Code, identity: Identity, card: Card, seed: &Secret) -> Self {
        let (own, half, hello) = begin(Side::Acceptor, code, identity, card, seed);
        Self::AcceptorHello(own, half, hello)
    }

    /// Step behind a frame.
    pub(super) fn advance(self, kind: FrameKind, frame: &[u8]) -> Result<Progress, Failed> {
        if kind == FrameKind::Refusal {
            return Err(PairingError::of_refusal(body(frame)).into());
        }
        match (self, kind) {
            (Self::OpenerHello(own, half, hello), FrameKind::Hello) => first(own, half, &hello, frame),
            (Self::AcceptorHello(own, half, hello), FrameKind::Hello) => greet(own, half, hello, frame),
            (Self::AcceptorFirst(own, noise), FrameKind::Handshake) => second(own, noise, body(frame)),
            (Self::OpenerSecond(own, noise), FrameKind::Handshake) => third(&own, noise, body(frame)),
            (Self::AcceptorThird(own, noise), FrameKind::Handshake) => decide(&own, noise, body(frame)),
            (Self::OpenerPaired(paired), FrameKind::Paired) => conclude(paired, body(frame)),
            _ => Err(PairingError::Alien.into()),
        }
    }
}

impl Step {
    /// Whether the owner has to decide.
    pub(super) fn is_decision(&self) -> bool {
        matches!(self, Self::Meeting(..) | Self::Deciding(_))
    }

    /// Step behind a decision for the other end, and what is told of it.
    pub(super) fn confirm(self) -> (Self, Vec<u8>) {
        match self {
            Self::Meeting(paired, third) => (Self::OpenerPaired(paired), third),
            Self::Deciding(proof) => (Self::Over, proof),
            undecided => (undecided, Vec::new()),
        }
    }
}

fn begin(side: Side, code: &Code, identity: Identity, card: Card, seed: &Secret) -> (Own, Half, Vec<u8>) {
    let (half, element) = Half::new(side, code, seed.derive("skyhaul pairing scalar"));
    let own = Own { identity, card, ephemeral: seed.derive("skyhaul pairing ephemeral") };
    (own, half, encode(FrameKind::Hello, &[MAGIC, &[VERSION], &element].concat()))
}

/// Element of a hello of this version.
fn element(frame: &[u8]) -> Result<&[u8], PairingError> {
    let rest = body(frame).strip_prefix(MAGIC).ok_or(PairingError::Alien)?;
    match rest.split_first() {
        Some((&VERSION, element)) if element.len() == ELEMENT_BYTES => Ok(element),
        Some((&version, _)) if version != VERSION => Err(PairingError::Version(version)),
        _ => Err(PairingError::Alien),
    }
}

/// Handshake under the key of both hellos.
fn handshake(
    side: Side,
    own: &Own,
    half: Half,
    hellos: [&[u8]; 2],
    element: &[u8],
) -> Result<Mutual, PairingError> {
    let key = half.finish(element).ok_or(PairingError::Alien)?;
    let prologue = hellos.concat();
    Mutual::new(side, &own.identity, &key, &prologue, own.ephemeral.clone()).map_err(|_| PairingError::Alien)
}

/// Opener's first message, behind the acceptor's hello: it tries the code.
fn first(own: Own, half: Half, hello: &[u8], frame: &[u8]) -> Result<Progress, Failed> {
    let mut noise = handshake(Side::Opener, &own, half, [hello, frame], element(frame)?)?;
    let message = noise.write(&[]).map_err(|_| PairingError::Alien)?;
    Ok(Progress::to(Step::OpenerSecond(own, noise), encode(FrameKind::Handshake, &message)))
}

/// Acceptor's hello, behind the opener's. Nothing in it helps who does not know the code.
fn greet(own: Own, half: Half, hello: Vec<u8>, frame: &[u8]) -> Result<Progress, Failed> {
    let noise = handshake(Side::Acceptor, &own, half, [frame, &hello], element(frame)?)?;
    Ok(Progress::to(Step::AcceptorFirst(own, noise), hello))
}

/// Acceptor's message, behind the opener's first, which shows whether the codes are equal.
fn second(own: Own, mut noise: Mutual, message: &[u8]) -> Result<Progress, Failed> {
    noise.read(message).map_err(|_| PairingError::WrongCode)?;
    let reply = noise.write(&own.card.encode()).map_err(|_| PairingError::Alien)?;
    Ok(Progress::to(Step::AcceptorThird(own, noise), encode(FrameKind::Handshake, &reply)))
}

/// Opener's third message, behind the acceptor's, which says who that is: its owner decides whether it goes.
fn third(own: &Own, mut noise: Mutual, message: &[u8]) -> Result<Progress, Failed> {
    let (key, card) = introduced(own, &mut noise, message)?;
    let reply = noise.write(&own.card.encode()).map_err(|_| PairingError::Alien)?;
    let reply = encode(FrameKind::Handshake, &reply);
    // The acceptor finds out by that message what the modes are.
    check_mode(own, card.mode).map_err(|error| Failed { error, reply: reply.clone() })?;
    let paired = Paired { key, card, psk: psk(&noise.split()) };
    let event = Some(PairingEvent::Met(paired.clone()));
    Ok(Progress { step: Step::Meeting(paired, reply), reply: Vec::new(), event })
}

/// Acceptor's end of the handshake: its owner decides.
fn decide(own: &Own, mut noise: Mutual, message: &[u8]) -> Result<Progress, Failed> {
    let (key, card) = introduced(own, &mut noise, message)?;
    check_mode(own, card.mode)?;
    let paired = Paired { key, card, psk: psk(&noise.split()) };
    let step = Step::Deciding(encode(FrameKind::Paired, &proof(&paired.psk)));
    Ok(Progress { step, reply: Vec::new(), event: Some(PairingEvent::Paired(paired)) })
}

/// Opener's end, behind the acceptor's word that it has kept this end.
fn conclude(paired: Paired, told: &[u8]) -> Result<Progress, Failed> {
    if !is_equal(told, &proof(&paired.psk)) {
        return Err(PairingError::Forged.into());
    }
    Ok(Progress { step: Step::Over, reply: Vec::new(), event: Some(PairingEvent::Paired(paired)) })
}

/// Key and card of the other end.
fn introduced(own: &Own, noise: &mut Mutual, message: &[u8]) -> Result<(PublicKey, Card), PairingError> {
    let card = noise.read(message).map_err(|_| PairingError::Forged)?;
    let card = Card::decode(&card).ok_or(PairingError::Alien)?;
    let key = noise.peer().ok_or(PairingError::Forged)?;
    if key == own.identity.public() { Err(PairingError::Oneself) } else { Ok((key, card)) }
}

fn check_mode(own: &Own, other: Mode) -> Result<(), PairingError> {
    let own = own.card.mode;
    if own == other { Ok(()) } else { Err(PairingError::Mode { own, other }) }
}

/// Secret that both share: of both directions' secrets, so that both ends' randomness is in it.
fn psk(split: &Split) -> Secret {
    Secret::new(split.from_opener.mac(&[b"skyhaul psk", split.from_acceptor.octets()]))
}

fn proof(psk: &Secret) -> [u8; PROOF_BYTES] {
    let mut proof = [0; PROOF_BYTES];
    proof.copy_from_slice(&psk.derive("skyhaul paired").octets()[..PROOF_BYTES]);
    proof
}

impl Refusal {
    /// Frame that tells it.
    pub(super) fn frame(self) -> Vec<u8> {
        encode(FrameKind::Refusal, &[self as u8, VERSION])
    }
}
