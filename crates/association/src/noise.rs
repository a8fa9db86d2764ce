//! Handshake `Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s`, and below it that of pairings: the one module that
//! knows
//! `snow`. It is fed with the octets that are random, and gives the secrets of both directions.

mod pairing;

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;
use core::fmt;

use snow::params::{CipherChoice, DHChoice, HashChoice, NoiseParams};
use snow::resolvers::{CryptoResolver, DefaultResolver};
use snow::types::{Cipher, Dh, Hash, Random};
use snow::{Builder, Error, HandshakeState};

use crate::Secret;
use crate::secret::SECRET_BYTES;
pub use pairing::PAIRING_NOISE_NAME;
pub(crate) use pairing::{Mutual, Side};

/// Name of the handshake in the Noise framework.
pub const NOISE_NAME: &str = "Noise_IKpsk2_25519_ChaChaPoly_BLAKE2s";

/// Octets of a public key.
pub const PUBLIC_KEY_BYTES: usize = 32;

/// Octets of the first Noise message beside its payload: ephemeral key, sealed static key, tag.
pub(crate) const FIRST_BYTES: usize = 2 * PUBLIC_KEY_BYTES + 2 * TAG_BYTES;
/// Octets of the second Noise message beside its payload: ephemeral key, tag.
pub(crate) const SECOND_BYTES: usize = PUBLIC_KEY_BYTES + TAG_BYTES;
const TAG_BYTES: usize = 16;

/// Place of the shared secret in the pattern `IKpsk2`.
const PSK_PLACE: u8 = 2;

/// Public half of an identity: what others know a machine by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct PublicKey(pub [u8; PUBLIC_KEY_BYTES]);

/// Static key pair of a machine.
#[derive(Clone, Debug)]
pub struct Identity {
    secret: Secret,
    public: PublicKey,
}

impl Identity {
    /// Identity with this secret key: 32 random octets.
    ///
    /// # Panics
    /// Never: the key pair's kind is compiled in.
    pub fn new(secret: Secret) -> Self {
        let mut pair = DefaultResolver.resolve_dh(&DHChoice::Curve25519).expect("the feature is on");
        pair.set(secret.octets());
        let public = pair.pubkey().try_into().expect("an X25519 key has 32 octets");
        Self { secret, public: PublicKey(public) }
    }

    /// Public half.
    pub fn public(&self) -> PublicKey {
        self.public
    }
}

/// Refusal of a message that is not of the keys, the prologue or the shared secret at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Refused;

impl From<Error> for Refused {
    fn from(_: Error) -> Self {
        Self
    }
}

/// Secrets of both directions, used by nobody before.
#[derive(Debug)]
pub(crate) struct Split {
    /// Secret of what the opener sends.
    pub(crate) from_opener: Secret,
    /// Secret of what the acceptor sends.
    pub(crate) from_acceptor: Secret,
}

/// Handshake of an opener that has sent its message.
pub(crate) struct Opener(HandshakeState);

impl Opener {
    /// Handshake, and its first message with `payload`. `ephemeral` is random and used for nothing else.
    pub(crate) fn new(
        identity: &Identity,
        peer: PublicKey,
        psk: &Secret,
        prologue: &[u8],
        ephemeral: Secret,
        payload: &[u8],
    ) -> Result<(Self, Vec<u8>), Refused> {
        let mut state = builder(NOISE_NAME, identity, prologue, ephemeral)?
            .remote_public_key(&peer.0)?
            .psk(PSK_PLACE, psk.octets())?
            .build_initiator()?;
        let message = written(&mut state, FIRST_BYTES, payload)?;
        Ok((Self(state), message))
    }

    /// Payload and secrets of the answer. After a refusal a genuine answer is still taken.
    pub(crate) fn read(&mut self, message: &[u8]) -> Result<(Vec<u8>, Split), Refused> {
        let payload = read(&mut self.0, SECOND_BYTES, message)?;
        Ok((payload, split(&mut self.0)))
    }
}

/// Handshake of an acceptor that has read message 1.
pub(crate) struct Acceptor {
    state: HandshakeState,
    /// Who opens, proven by message 1.
    pub(crate) opener: PublicKey,
    /// Payload of message 1.
    pub(crate) payload: Vec<u8>,
}

impl Acceptor {
    /// Handshake by its first message. `ephemeral` is random and used for nothing else.
    pub(crate) fn new(
        identity: &Identity,
        prologue: &[u8],
        ephemeral: Secret,
        message: &[u8],
    ) -> Result<Self, Refused> {
        let mut state = builder(NOISE_NAME, identity, prologue, ephemeral)?.build_responder()?;
        let payload = read(&mut state, FIRST_BYTES, message)?;
        let opener = state.get_remote_static().and_then(|key| key.try_into().ok()).ok_or(Refused)?;
        Ok(Self { state, opener: PublicKey(opener), payload })
    }

    /// Second message with `payload`, and the secrets.
    pub(crate) fn answer(mut self, psk: &Secret, payload: &[u8]) -> Result<(Vec<u8>, Split), Refused> {
        self.state.set_psk(usize::from(PSK_PLACE), psk.octets())?;
        let message = written(&mut self.state, SECOND_BYTES, payload)?;
        Ok((message, split(&mut self.state)))
    }
}

impl fmt::Debug for Opener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Opener(..)")
    }
}

fn builder<'a>(
    name: &str,
    identity: &'a Identity,
    prologue: &'a [u8],
    ephemeral: Secret,
) -> Result<Builder<'a>, Refused> {
    let params: NoiseParams = name.parse()?;
    let resolver = Box::new(HandedIn(ephemeral));
    Ok(Builder::with_resolver(params, resolver)
        .local_private_key(identity.secret.octets())?
        .prologue(prologue)?)
}

fn written(state: &mut HandshakeState, bytes: usize, payload: &[u8]) -> Result<Vec<u8>, Refused> {
    let mut message = vec![0; bytes + payload.len()];
    let length = state.write_message(payload, &mut message)?;
    message.truncate(length);
    Ok(message)
}

fn read(state: &mut HandshakeState, bytes: usize, message: &[u8]) -> Result<Vec<u8>, Refused> {
    let mut payload = vec![0; message.len().checked_sub(bytes).ok_or(Refused)?];
    let length = state.read_message(message, &mut payload)?;
    payload.truncate(length);
    Ok(payload)
}

fn split(state: &mut HandshakeState) -> Split {
    let (from_opener, from_acceptor) = state.dangerously_get_raw_split();
    Split { from_opener: Secret::new(from_opener), from_acceptor: Secret::new(from_acceptor) }
}

/// Primitives of `snow`, with random numbers that were handed in.
struct HandedIn(Secret);

impl CryptoResolver for HandedIn {
    fn resolve_rng(&self) -> Option<Box<dyn Random>> {
        Some(Box::new(Once(Some(self.0.clone()))))
    }

    fn resolve_dh(&self, choice: &DHChoice) -> Option<Box<dyn Dh>> {
        DefaultResolver.resolve_dh(choice)
    }

    fn resolve_hash(&self, choice: &HashChoice) -> Option<Box<dyn Hash>> {
        DefaultResolver.resolve_hash(choice)
    }

    fn resolve_cipher(&self, choice: &CipherChoice) -> Option<Box<dyn Cipher>> {
        DefaultResolver.resolve_cipher(choice)
    }
}

/// The one ephemeral key of a handshake; a second one does not exist.
struct Once(Option<Secret>);

impl Random for Once {
    fn try_fill_bytes(&mut self, dest: &mut [u8]) -> Result<(), Error> {
        let secret = self.0.take().filter(|_| dest.len() == SECRET_BYTES).ok_or(Error::Rng)?;
        dest.copy_from_slice(secret.octets());
        Ok(())
    }
}
