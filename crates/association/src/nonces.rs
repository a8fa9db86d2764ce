//! AEAD that records nonces: under all tests, none may come twice with a key.

use std::boxed::Box;
use std::cell::RefCell;
use std::collections::BTreeSet;

use crate::Secret;
use crate::aead::{Aead, AeadName, Forged, NONCE_BYTES, TAG_BYTES, ring_aead};

/// Key, AEAD and nonce of a seal.
type Use = ([u8; 32], AeadName, [u8; NONCE_BYTES]);

std::thread_local! {
    /// What this thread's test sealed.
    static SEALED: RefCell<BTreeSet<Use>> = const { RefCell::new(BTreeSet::new()) };
}

/// Forgets what was sealed, before a case that begins with keys of an earlier one.
pub(crate) fn forget() {
    SEALED.with_borrow_mut(BTreeSet::clear);
}

/// AEAD that ships, behind a record of its nonces.
pub(crate) fn recording_aead(name: AeadName, key: &Secret) -> Box<dyn Aead> {
    Box::new(Recording { name, key: key.clone(), inner: ring_aead(name, key) })
}

struct Recording {
    name: AeadName,
    key: Secret,
    inner: Box<dyn Aead>,
}

impl Aead for Recording {
    fn seal(&self, nonce: [u8; NONCE_BYTES], associated: &[u8], text: &mut [u8]) -> [u8; TAG_BYTES] {
        let is_new = SEALED.with_borrow_mut(|sealed| sealed.insert((*self.key.octets(), self.name, nonce)));
        assert!(is_new, "nonce {nonce:02x?} came twice");
        self.inner.seal(nonce, associated, text)
    }

    fn open(
        &self,
        nonce: [u8; NONCE_BYTES],
        associated: &[u8],
        text: &mut [u8],
        tag: [u8; TAG_BYTES],
    ) -> Result<(), Forged> {
        self.inner.open(nonce, associated, text, tag)
    }
}
