//! Options of other protocols over the engine.

mod common;

use common::{Lone, plain};
use skyhaul_core::Ecn;
use skyhaul_tcp::Config;
use skyhaul_tcp::segment::{ExtraOptions, Options, flags};

const KIND: u8 = 20;
const OTHER: u8 = 21;

fn extra(kind: u8, value: &[u8]) -> Options {
    let mut extra = ExtraOptions::default();
    assert!(extra.push(kind, value));
    Options { mss: Some(1000), sack_permitted: true, extra, ..Options::default() }
}

fn offering() -> Config {
    Config { offered_options: vec![(KIND, vec![1, 2]), (OTHER, vec![])], ..plain() }
}

#[test]
fn options_that_both_offer_are_agreed() {
    let (mut lone, syn) = Lone::connecting(&offering());
    assert_eq!(syn.options.extra.iter().collect::<Vec<_>>(), [(KIND, &[1, 2][..]), (OTHER, &[][..])]);
    lone.say(flags::SYN | flags::ACK, 0, 1, extra(KIND, &[7]), b"");
    assert_eq!(lone.endpoint.agreed_option(lone.id, KIND), Some(&[7][..]));
    assert_eq!(lone.endpoint.agreed_option(lone.id, OTHER), None);
    let mut lone = Lone::new(&offering());
    lone.say(flags::SYN, 0, 0, extra(OTHER, &[9]), b"");
    let answer = lone.one();
    assert_eq!(answer.options.extra.iter().collect::<Vec<_>>(), [(OTHER, &[][..])], "what was offered");
    let mut plain = Lone::new(&plain());
    plain.say(flags::SYN, 0, 0, extra(OTHER, &[9]), b"");
    assert_eq!(plain.one().options.extra, ExtraOptions::default());
}

#[test]
fn an_attached_option_leaves_at_once_and_takes_its_room() {
    let config = Config { mss_bytes: 1460, ..offering() };
    let options = Options { mss: Some(1460), ..extra(KIND, &[]) };
    let mut lone = Lone::accepted(&config, options);
    assert!(!lone.endpoint.attach_option(lone.id, OTHER, &[]), "not agreed");
    assert!(!lone.endpoint.attach_option(lone.id, KIND, &[0; 15]), "too long");
    assert!(lone.endpoint.attach_option(lone.id, KIND, &[5; 14]));
    assert!(!lone.endpoint.attach_option(lone.id, KIND, &[6]), "one at a time");
    let bare = lone.one();
    assert_eq!((bare.flags, bare.options.extra.get(KIND)), (flags::ACK, Some(&[5; 14][..])));
    assert!(lone.endpoint.attach_option(lone.id, KIND, &[5; 14]));
    lone.write(3000);
    let sizes: Vec<_> =
        lone.hear().iter().map(|heard| (heard.payload.len(), heard.options.extra.iter().count())).collect();
    assert_eq!(sizes, [(1444, 1), (1460, 0), (96, 0)]);
}

#[test]
fn received_options_wait_to_be_fetched_and_are_bounded() {
    let mut lone = Lone::accepted(&offering(), extra(KIND, &[]));
    lone.peer_ecn = Ecn::NotEct;
    lone.say(flags::ACK, 100_000, 1, extra(KIND, &[99]), b"");
    for n in 0..20 {
        lone.say(flags::ACK, 1, 1, extra(KIND, &[n]), b"");
        lone.say(flags::ACK, 1, 1, extra(OTHER, &[n]), b"");
    }
    let received: Vec<_> = std::iter::from_fn(|| lone.endpoint.poll_option(lone.id)).collect();
    assert_eq!(received, (12..20).map(|n| (KIND, vec![n])).collect::<Vec<_>>());
}

#[test]
fn what_does_not_fit_into_a_syn_is_left_out() {
    let offered_options = vec![(KIND, vec![1; 14]), (OTHER, vec![2; 20])];
    let config = Config { offered_options, timestamps: true, window_scale: true, ..plain() };
    let (_, syn) = Lone::connecting(&config);
    assert_eq!(syn.options.extra.iter().map(|(kind, _)| kind).collect::<Vec<_>>(), [KIND]);
    assert!(syn.options.timestamps.is_some() && syn.options.encoded_len() == 40);
}
