//! Every tunable of STPP. What each is for is in `docs/spec/petra.md`.

use skyhaul_petra::stpp::{Config, MAX_WINDOW_PDUS, MaskCoding};
use skyhaul_scenario::keys::Key;
use skyhaul_scenario::kinds::{Bytes, Choice, Count, Or, PayloadBytes, Rate, Time};

/// Window in PDUs.
const WINDOW: Count = Count { min: 1, max: MAX_WINDOW_PDUS as u64 };
/// Part of the window.
const PERCENT: Count = Count { min: 1, max: 100 };

pub(super) fn config_keys() -> Vec<Key<Config>> {
    let mut keys = pdu_keys();
    keys.extend(timer_keys());
    keys.extend(buffer_keys());
    keys
}

fn pdu_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("payload", PayloadBytes::ANY, |c: &mut Config| &mut c.payload_bytes).means(
            "Largest payload of a PDU, which has a header of 20 octets. A PDU is one frame of its link, of any size up \
             to 65 020 octets; a link with an `mtu` drops larger ones.",
        ),
        Key::new("window_pdus", WINDOW, |c: &mut Config| &mut c.window_pdus)
            .means("PDUs sent and not confirmed in order, at most; those of the other end, if they are less."),
        Key::new("sdu", PayloadBytes::ANY, |c: &mut Config| &mut c.sdu_bytes)
            .means("Octets of the stream in a full SDU."),
        Key::new("sdu_header", PayloadBytes::ANY, |c: &mut Config| &mut c.sdu_header_bytes)
            .means("Header of an SDU: that of LTL and that of the relay. From 4 to 1024 octets."),
        Key::new("rate", Or("none", Rate), |c: &mut Config| &mut c.rate_bps).means(
            "Declared rate of the path, counting every octet of PDUs; \"none\": what the window lets leave leaves at \
             once. Counts at the end that opens; `acceptor.rate` at the other.",
        ),
        Key::new(
            "mask",
            Choice(&[
                ("bitmap", MaskCoding::Bitmap),
                ("list", MaskCoding::List),
                ("rice", MaskCoding::Rice),
                ("shorter", MaskCoding::Shorter),
            ]),
            |c: &mut Config| &mut c.mask,
        )
        .means("How statuses list what is missing: a bit for each PDU, 16 bits for each missing one, Rice codes of runs, or whichever is shortest."),
    ]
}

fn timer_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("rtt", Time::POSITIVE, |c: &mut Config| &mut c.rtt_ns).means(
            "Round trip of the hop. No PDU goes again within it, and a POLL that is not answered goes again after it.",
        ),
        Key::new("status_interval", Or("rtt/8", Time::POSITIVE), |c: &mut Config| &mut c.status_interval_ns)
            .means("Time between two statuses."),
        Key::new("timeout", Or("ample", Time::POSITIVE), |c: &mut Config| &mut c.timeout_ns).means(
            "A PDU that no status has spoken of goes again after this time; \"ample\": twice `rtt` and \
             `status_interval`. Openings, too.",
        ),
        Key::new("poll_percent", Or("none", PERCENT), |c: &mut Config| &mut c.poll_percent)
            .means("Above this part of the window the receiver is asked for a status."),
        Key::new("max_tries", Count::at_least(1), |c: &mut Config| &mut c.max_tries)
            .means("Openings sent before the connection fails."),
        Key::new("give_up", Or("none", Time::POSITIVE), |c: &mut Config| &mut c.give_up_ns)
            .means("Silence of the peer after which a connection ends that waits for it."),
    ]
}

fn buffer_keys() -> Vec<Key<Config>> {
    vec![
        Key::new("send_limit", Bytes::BUFFER, |c: &mut Config| &mut c.send_limit_bytes)
            .means("Octets that an application may have written and that are not confirmed."),
        Key::new("threshold", Bytes::BUFFER, |c: &mut Config| &mut c.threshold_bytes)
            .means("Octets that wait for the reader, from which on the peer is told to stop; at most `receive_limit`."),
        Key::new("receive_limit", Bytes::BUFFER, |c: &mut Config| &mut c.receive_limit_bytes)
            .means("Octets kept of what arrives; a PDU beyond is as if it was lost. At least two payloads."),
    ]
}
