//! This machine and its peers as JSON (docs/guide/json.md). No secret is in it.

use serde::Serialize;
use skyhaul_association::{Callsign, mode_word};
use skyhaul_store::{KnownPeer, Machine, to_hex};

/// This machine.
#[derive(Debug, Serialize)]
pub(super) struct MachineObject {
    pub(super) name: String,
    pub(super) public_key: String,
    pub(super) callsign: Option<String>,
}

/// Machine that this one knows.
#[derive(Debug, Serialize)]
pub(super) struct PeerObject {
    pub(super) name: String,
    pub(super) public_key: String,
    pub(super) mode: &'static str,
    pub(super) may_send: bool,
    pub(super) address: Option<String>,
    pub(super) callsign: Option<String>,
}

/// All of them.
#[derive(Debug, Serialize)]
pub(super) struct PeersObject {
    pub(super) peers: Vec<PeerObject>,
}

impl MachineObject {
    pub(super) fn new(machine: &Machine) -> Self {
        Self {
            name: machine.name.to_string(),
            public_key: to_hex(&machine.identity().public().0),
            callsign: machine.callsign.as_ref().map(Callsign::to_string),
        }
    }
}

impl PeerObject {
    pub(super) fn new(peer: &KnownPeer) -> Self {
        Self {
            name: peer.name.to_string(),
            public_key: to_hex(&peer.key.0),
            mode: mode_word(peer.mode),
            may_send: peer.may_send,
            address: peer.address.clone(),
            callsign: peer.callsign.as_ref().map(Callsign::to_string),
        }
    }
}

impl PeersObject {
    pub(super) fn new(peers: &[KnownPeer]) -> Self {
        Self { peers: peers.iter().map(PeerObject::new).collect() }
    }
}

/// One line of JSON.
pub(super) fn line(object: &impl Serialize) -> String {
    // Neither maps with other keys than text nor anything else that cannot be JSON is in it.
    serde_json::to_string(object).unwrap_or_default() + "\n"
}
