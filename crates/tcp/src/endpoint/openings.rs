//! Openings with data: what an endpoint decides on them, by what it keeps of hosts and by its keys.

use skyhaul_core::endpoint::{self, Arrival, Context};
use skyhaul_core::{ConnectionId, EventSink, Instant, SECOND};

use super::Tcp;
use super::secrets::Secrets;
use crate::accelerated::{AcceleratedOpen, Cookie, Counts, FastOpen, FastOpenFacts, Opening, Told, Ttcp};
use crate::connection::{Connection, Names};
use crate::segment::{Segment, Way};

type Endpoint = endpoint::Endpoint<Tcp>;

/// Time for which one key makes cookies. They are good for one to two of these [RFC 7413 4.1.2].
const KEY_NS: u64 = 12 * 3600 * SECOND;

impl super::Endpoint {
    /// Facts about the far end of `way` that Fast Open goes by.
    pub fn fast_open(&self, now: Instant, way: Way) -> FastOpenFacts {
        self.0.family.ways.opening_of(way).map_or_else(FastOpenFacts::default, |facts| facts.fast_open(now))
    }

    /// Takes such facts, in the place of those that it has.
    pub fn assume_fast_open(&mut self, now: Instant, way: Way, facts: FastOpenFacts) {
        self.0.family.ways.opening(way, now).assume_fast_open(facts, now);
    }
}

impl Tcp {
    /// Count of the next connection; never 0 [RFC 1644 3.1].
    fn next_count(&mut self) -> u32 {
        self.count = self.count.wrapping_add(1).max(1);
        self.count
    }
}

/// Prepares an opening of ours.
pub(super) fn open(
    family: &mut Tcp,
    (way, now): (Way, Instant),
    accelerated: Option<AcceleratedOpen>,
    connection: &mut Connection,
) {
    match accelerated {
        None => {}
        Some(AcceleratedOpen::Ttcp) => {
            let own = family.next_count();
            let facts = family.ways.opening(way, now);
            let is_comparable = facts.begin(own);
            let syn_bytes = if is_comparable { u64::from(facts.mss()) } else { 0 };
            if let Some(known) = facts.round_trip() {
                connection.assume_round_trip(known);
            }
            connection.open_with(Opening::Ttcp(Ttcp::opening(own, !is_comparable, now)), syn_bytes);
        }
        Some(AcceleratedOpen::FastOpen) => {
            let facts = family.ways.opening(way, now);
            if facts.has_vanished(now) {
                return;
            }
            let cookie =
                facts.cookie().filter(|&cookie| FastOpen::bytes(cookie) <= connection.syn_room_bytes());
            let syn_bytes = cookie.map_or(0, |_| u64::from(facts.mss()));
            connection.open_with(Opening::FastOpen(FastOpen::opening(cookie)), syn_bytes);
        }
    }
}

/// Decides on a peer's opening, for which there is a connection.
pub(super) fn answer(
    endpoint: &mut Endpoint,
    id: ConnectionId,
    arrival: Arrival<Way>,
    syn: &Segment<'_>,
    sink: &mut dyn EventSink,
) {
    let Arrival { now, key: names, .. } = arrival;
    let Some(accelerated) = endpoint.family.accept.accelerated_open else { return };
    let disowned = endpoint.family.disowned.count(now);
    let has_room = endpoint.has_early_room(disowned);
    let family = &mut endpoint.family;
    let decided = match accelerated {
        AcceleratedOpen::Ttcp => judge_count(family, (names, now), syn, has_room),
        AcceleratedOpen::FastOpen => judge_cookie(&family.secrets, names, syn, now),
    };
    let Some((opening, is_good)) = decided else { return };
    let takes = is_good.is_some_and(|is_good| is_good && has_room);
    family.stats.early_taken += u64::from(takes);
    family.stats.early_refused += u64::from(is_good.is_some() && !takes);
    let known = endpoint.family.ways.known_opening(names.peer).and_then(|facts| facts.round_trip());
    if let Some((connection, path)) = endpoint.get_mut(id) {
        if let Some(known) = known {
            connection.assume_round_trip(known);
        }
        connection.answer_with(opening, takes, syn, &mut Context { now, path, sink });
        endpoint.touch(id);
    }
}

/// Opening, and whether it is good; `None` of that: it does not ask to be.
type Decided = Option<(Opening, Option<bool>)>;

/// TAO test [RFC 1644 2.1]; `None`: it has no count.
fn judge_count(
    family: &mut Tcp,
    (names, now): (Names, Instant),
    syn: &Segment<'_>,
    has_room: bool,
) -> Decided {
    let counts = Counts::of(syn);
    let is_new = counts.new.is_some();
    let peer = counts.new.or(counts.own)?;
    let own = family.next_count();
    // One that finds no room is not remembered: a whole handshake is to show that it is no old one.
    let mut passes = || family.ways.known_opening(names.peer).is_some_and(|facts| facts.passes(peer, own));
    let is_good = (!is_new).then(|| has_room && passes());
    Some((Opening::Ttcp(Ttcp::accepting(own, peer, is_new, now)), is_good))
}

/// Cookie test [RFC 7413 4.2.2]; `None`: it has no such option. Whoever has no cookie of the newest key gets
/// one.
fn judge_cookie(secrets: &Secrets, names: Names, syn: &Segment<'_>, now: Instant) -> Decided {
    let told = Told::of(syn)?;
    let key = now.as_ns() / KEY_NS;
    let newest = cookie(secrets, names, key);
    let is_newest = newest.is_some_and(|cookie| told == Told::Cookie(cookie));
    let is_former = || key > 0 && cookie(secrets, names, key - 1).map(Told::Cookie) == Some(told);
    let is_good = (told != Told::Request).then(|| is_newest || is_former());
    let granted = newest.filter(|_| !is_newest);
    Some((Opening::FastOpen(FastOpen::accepting(granted)), is_good))
}

/// Cookie for the peer's host by the key of this number.
fn cookie(secrets: &Secrets, names: Names, key: u64) -> Option<Cookie> {
    let mut text = *b"fast open of key \0\0\0\0\0\0\0\0";
    text[17..].copy_from_slice(&key.to_be_bytes());
    Cookie::new(&secrets.host_cookie(names, &text).to_be_bytes())
}
