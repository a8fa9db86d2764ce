//! TCP Fast Open as packet traces, and what a peer, a path or a stranger may do to it.
#![allow(clippy::unwrap_used)]

mod common;

use common::*;
use skyhaul_core::{Connections, Engine, NullSink, SECOND, StreamEvent};
use skyhaul_tcp::scps::Scps;
use skyhaul_tcp::segment::{Options, flags};
use skyhaul_tcp::{AcceleratedOpen, Config, FastOpenFacts, IcmpMessage, State, Unreachable};

const SYN: u8 = flags::SYN;
const ACK: u8 = flags::ACK;
const FIN: u8 = flags::FIN;
const PSH: u8 = flags::PSH;
/// Kind of the option.
const COOKIE: u8 = 34;
/// Time for which a key makes cookies.
const KEY_NS: u64 = 12 * 3600 * SECOND;

fn fast() -> Config {
    Config { accelerated_open: Some(AcceleratedOpen::FastOpen), ..plain() }
}

/// Options of a peer with 1000-octet segments and this cookie; empty: it asks for one.
fn with(cookie: &[u8]) -> Options {
    let mut options = Options { mss: Some(1000), ..Options::default() };
    assert!(options.extra.push(COOKIE, cookie));
    options
}

fn told(heard: &Heard) -> Option<Vec<u8>> {
    heard.options.extra.get(COOKIE).map(<[u8]>::to_vec)
}

/// A client that has this cookie of the peer's; its first connection is over.
fn holding(cookie: &[u8]) -> Lone {
    let (mut lone, syn) = Lone::connecting(&fast());
    assert_eq!((syn.flags, told(&syn)), (SYN, Some(vec![])), "it asks");
    lone.say(SYN | ACK, 0, 1, with(cookie), b"");
    assert_eq!(lone.one().flags, ACK);
    lone.endpoint.finish(lone.id);
    lone.hear();
    lone.say(FIN | ACK, 1, 2, Options::default(), b"");
    assert_eq!((lone.one().flags, lone.state()), (ACK, State::TimeWait));
    lone.events();
    lone
}

/// A further connection, with this for its first word.
fn ask(lone: &mut Lone, request: &[u8]) -> Vec<Heard> {
    lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, fast()).unwrap();
    lone.local_port = lone.endpoint.local_port(lone.id).unwrap();
    assert_eq!(lone.endpoint.write(lone.id, request), Ok(request.len()));
    lone.hear()
}

/// A listener and the cookie that it grants the peer.
fn granting() -> (Lone, Vec<u8>) {
    let mut lone = Lone::new(&fast());
    lone.say(SYN, 0, 0, with(&[]), b"not taken");
    let answer = lone.one();
    assert_eq!((answer.flags, answer.acknowledgement), (SYN | ACK, 1));
    lone.say(flags::RST, 1, 0, Options::default(), b"");
    (lone, told(&answer).unwrap())
}

#[test]
fn at_first_contact_a_client_asks_for_a_cookie_and_goes_the_ordinary_way() {
    let (mut lone, syn) = Lone::connecting(&fast());
    assert_eq!((syn.flags, told(&syn), syn.payload.len()), (SYN, Some(vec![]), 0));
    lone.write(100);
    assert_eq!(lone.hear(), []);
    lone.say(SYN | ACK, 0, 1, with(&[7; 8]), b"");
    let heard = lone.hear();
    assert_eq!((heard[0].payload.len(), told(&heard[0])), (100, None));
}

#[test]
fn with_a_cookie_the_first_data_goes_with_the_opening() {
    for cookie in [&[7; 8][..], &[9; 4], &[1; 16]] {
        let mut lone = holding(cookie);
        let heard = ask(&mut lone, &[5; 1500]);
        assert_eq!(heard.len(), 1, "the window is the peer's to tell");
        let options = heard[0].options.encoded_len();
        assert_eq!((heard[0].flags, told(&heard[0])), (SYN, Some(cookie.to_vec())));
        assert_eq!(heard[0].payload.len(), 1000 - options, "as much as the peer's segments have");
        let sent = heard[0].payload.len() as u32;
        lone.say(SYN | ACK, 0, 1 + sent, Options { mss: Some(1000), ..Options::default() }, b"response");
        let rest = lone.one();
        assert_eq!((rest.sequence, rest.payload.len()), (1 + sent, 1500 - sent as usize));
        assert_eq!((lone.read(), rest.acknowledgement), (b"response".to_vec(), 9));
        assert_eq!(lone.events()[..2], [StreamEvent::Connected, StreamEvent::Readable]);
        assert_eq!(lone.stats().retransmitted_packets, 0);
    }
}

#[test]
fn a_server_takes_data_with_its_cookie_and_answers_before_the_handshake_is_over() {
    let (mut lone, cookie) = granting();
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    lone.take();
    assert_eq!(lone.read(), b"request");
    lone.write(1500);
    let heard = lone.hear();
    assert_eq!((heard[0].flags & SYN, heard[0].acknowledgement, told(&heard[0])), (SYN, 8, None));
    assert_eq!(heard.iter().map(|heard| heard.payload.len()).sum::<usize>(), 1500);
    lone.ack(8, 1501);
    assert_eq!((lone.state(), lone.endpoint.endpoint_stats().early_taken), (State::Established, 1));
}

#[test]
fn a_stale_or_forged_cookie_gets_a_new_one_and_the_ordinary_way() {
    let (mut lone, cookie) = granting();
    lone.now = lone.now.after(2 * KEY_NS);
    let mut forged = cookie.clone();
    forged[3] ^= 1;
    for (cookie, port) in [(&cookie[..], 1), (&forged, 2), (&cookie[..4], 3), (&[1; 16], 4)] {
        lone.say_from(port, SYN, 0, with(cookie), b"request");
        let answer = lone.one();
        assert_eq!((answer.flags, answer.acknowledgement), (SYN | ACK, 1), "{cookie:?}");
        assert!(told(&answer).is_some_and(|fresh| fresh.len() == 8 && fresh != cookie));
        assert!(lone.endpoint.accept().is_none(), "nobody is told");
    }
    assert_eq!(lone.endpoint.endpoint_stats().early_refused, 4);
}

#[test]
fn a_cookie_of_the_last_key_is_good_and_replaced() {
    let (mut lone, cookie) = granting();
    lone.now = lone.now.after(KEY_NS);
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    lone.take();
    let answer = lone.one();
    assert_eq!((lone.read(), answer.acknowledgement), (b"request".to_vec(), 8));
    assert!(told(&answer).is_some_and(|fresh| fresh != cookie));
}

#[test]
fn a_cookie_is_good_for_its_host_and_its_server_alone() {
    let (_, cookie) = granting();
    let other = skyhaul_tcp::segment::Way { remote: std::net::Ipv4Addr::new(10, 0, 0, 9).into(), ..way() };
    let (mut lone, _) = granting();
    lone.say_to(other, SYN, with(&cookie), b"request");
    assert!(lone.endpoint.accept().is_none(), "another host");
    let accept = skyhaul_tcp::EndpointConfig { accept: fast(), ..Default::default() };
    lone.endpoint = skyhaul_tcp::Endpoint::new(accept, skyhaul_core::Stream::new(2, "another"));
    lone.endpoint.listen(PORT);
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    assert_eq!((lone.one().acknowledgement, lone.endpoint.accept()), (1, None), "another key");
}

#[test]
fn data_that_the_answer_does_not_take_goes_again_at_once_without_a_sign_of_congestion() {
    let mut lone = holding(&[7; 8]);
    ask(&mut lone, b"request");
    lone.say(SYN | ACK, 0, 1, with(&[8; 8]), b"");
    let again = lone.one();
    assert_eq!((again.flags, again.sequence, &again.payload[..]), (ACK | PSH, 1, &b"request"[..]));
    assert_eq!((lone.stats().timeouts, lone.stats().cwnd_bytes), (0, 10_000));
    assert_eq!(told(&ask(&mut lone, b"next")[0]), Some(vec![8; 8]), "the new cookie");
}

#[test]
fn an_opening_that_vanishes_goes_again_without_cookie_and_data_and_the_path_is_spared() {
    let mut lone = holding(&[7; 8]);
    ask(&mut lone, b"request");
    lone.wait();
    let again = lone.one();
    assert_eq!((again.flags, again.payload.len(), told(&again)), (SYN, 0, None));
    lone.say(SYN | ACK, 0, 1, Options { mss: Some(1000), ..Options::default() }, b"");
    assert_eq!(lone.one().payload, b"request");
    let next = ask(&mut lone, b"next");
    assert_eq!((next[0].payload.len(), told(&next[0])), (0, None), "for a minute");
    lone.now = lone.now.after(60 * SECOND);
    lone.endpoint.handle_timeout(lone.now, &mut NullSink);
    lone.hear();
    assert_eq!(told(&ask(&mut lone, b"later")[0]), Some(vec![7; 8]));
}

/// [RFC 7413 4.1.3.1]: a server that takes no data, and gives no other cookie, is asked the ordinary way for
/// a minute.
#[test]
fn a_server_that_takes_no_data_and_gives_no_cookie_is_spared() {
    let mut lone = holding(&[7; 8]);
    ask(&mut lone, b"request");
    lone.say(SYN | ACK, 0, 1, Options { mss: Some(1000), ..Options::default() }, b"");
    assert_eq!(lone.one().payload, b"request");
    assert_eq!(told(&ask(&mut lone, b"next")[0]), None, "for a minute");
    lone.now = lone.now.after(60 * SECOND);
    assert_eq!(told(&ask(&mut lone, b"later")[0]), Some(vec![7; 8]));
}

/// [RFC 7413 4.1.3.1]
#[test]
fn an_opening_that_icmp_answers_or_nobody_spares_the_path() {
    let unreachable = IcmpMessage::Unreachable(Unreachable::Host);
    let silent = Config { max_syn_repeats: 2, ..fast() };
    for answer in [Some(unreachable), None] {
        let mut lone = holding(&[7; 8]);
        lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, silent.clone()).unwrap();
        lone.local_port = lone.endpoint.local_port(lone.id).unwrap();
        lone.write(7);
        assert!(told(&lone.one()).is_some());
        if let Some(answer) = answer {
            lone.icmp(answer, 0);
        }
        while answer.is_none() && lone.state() == State::SynSent {
            lone.wait();
            lone.hear();
        }
        assert_eq!(told(&ask(&mut lone, b"next")[0]), None, "{answer:?}");
        assert_eq!(lone.endpoint.fast_open(lone.now, way()).lost_openings, 1, "{answer:?}");
    }
}

/// [RFC 7413 4.1.3]: a cookie without a largest segment, as another program may have kept it.
#[test]
fn of_a_server_whose_largest_segment_is_not_known_536_octets_are_assumed() {
    let mut lone = holding(&[7; 8]);
    let facts = FastOpenFacts { mss_bytes: None, ..lone.endpoint.fast_open(lone.now, way()) };
    lone.endpoint.assume_fast_open(lone.now, way(), facts);
    let heard = ask(&mut lone, &[1; 2000]);
    let bytes = heard[0].payload.len();
    assert!(told(&heard[0]).is_some() && (500..=536).contains(&bytes), "{bytes}");
    assert_eq!(heard.len(), 1, "nothing follows before the answer");
}

/// [RFC 7413 4.2.2, 5.2]: whoever has stolen a cookie has this sent to its owner, and no more.
#[test]
fn before_the_handshake_is_over_a_first_window_goes_to_the_client() {
    let (mut lone, cookie) = granting();
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    lone.take();
    lone.write(60_000);
    let bytes = lone.hear().iter().map(|heard| heard.payload.len()).sum::<usize>();
    assert!((9_000..=10_000).contains(&bytes), "ten segments of 1000 octets: {bytes}");
    assert_eq!(lone.hear(), []);
}

#[test]
fn a_repeated_opening_with_data_is_answered_once_more_and_delivers_nothing_twice() {
    let (mut lone, cookie) = granting();
    for _ in 0..3 {
        lone.say(SYN, 0, 0, with(&cookie), b"request");
        let answer = lone.one();
        assert_eq!((answer.flags, answer.acknowledgement), (SYN | ACK, 8));
    }
    lone.take();
    assert_eq!((lone.read(), lone.endpoint.accept()), (b"request".to_vec(), None));
}

#[test]
fn an_opening_that_is_replayed_when_its_connection_is_gone_delivers_its_data_again() {
    let (mut lone, cookie) = granting();
    for _ in 0..2 {
        lone.say(SYN, 0, 0, with(&cookie), b"request");
        lone.take();
        assert_eq!(lone.read(), b"request", "so says RFC 7413 2.1: applications must bear it");
        lone.endpoint.abort(lone.id);
        lone.hear();
        lone.endpoint.release(lone.now, lone.id);
    }
}

#[test]
fn pending_fast_opens_are_bounded_and_further_ones_are_ordinary() {
    let (mut lone, cookie) = granting();
    for port in 2000..4000 {
        lone.say_from(port, SYN, 0, with(&cookie), &[1; 900]);
    }
    assert_eq!(std::iter::from_fn(|| lone.endpoint.accept()).count(), 64);
    assert!(lone.endpoint.connection_count() <= 64);
    lone.hear();
    let stats = lone.endpoint.endpoint_stats();
    assert!(stats.early_taken == 64 && stats.cookies_sent > 1900, "{stats:?}");
}

#[test]
fn a_client_that_never_speaks_opens_nothing_and_one_that_ends_at_once_does() {
    let mut lone = holding(&[7; 8]);
    lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, fast()).unwrap();
    assert_eq!(lone.hear(), []);
    lone.endpoint.finish(lone.id);
    assert_eq!(lone.one().flags, SYN, "FIN follows: it has no place in a Fast Open");
}

#[test]
fn who_knows_nothing_of_it_is_served_as_ever() {
    let mut lone = Lone::new(&plain());
    lone.say(SYN, 0, 0, with(&[]), b"not taken");
    let answer = lone.one();
    assert_eq!((answer.acknowledgement, told(&answer)), (1, None));
    let mut lone = Lone::new(&fast());
    lone.say(SYN, 0, 0, Options { mss: Some(1000), ..Options::default() }, b"not taken");
    let answer = lone.one();
    assert_eq!((answer.acknowledgement, told(&answer)), (1, None));
}

#[test]
fn data_right_behind_the_answer_is_taken_before_we_have_acknowledged_that() {
    let mut lone = holding(&[7; 8]);
    ask(&mut lone, b"request");
    lone.say(SYN | ACK, 0, 8, Options { mss: Some(1000), ..Options::default() }, b"");
    lone.say(ACK | PSH, 1, 8, Options::default(), b"response");
    assert_eq!(lone.read(), b"response");
    assert_eq!((lone.one().acknowledgement, lone.stats().refused), (9, 0));
}

#[test]
fn what_went_with_an_opening_and_was_taken_is_counted_at_either_end() {
    let counts = |lone: &Lone| (lone.stats().opening_sent_bytes, lone.stats().opening_taken_bytes);
    let mut client = holding(&[7; 8]);
    for (taken, acknowledged) in [(7, 8), (3, 4), (0, 1)] {
        ask(&mut client, b"request");
        client.say(SYN | ACK, 0, acknowledged, Options { mss: Some(1000), ..Options::default() }, b"");
        client.hear();
        assert_eq!(counts(&client), (7, taken));
    }
    let (mut server, cookie) = granting();
    server.say_from(1, SYN, 0, with(&cookie), b"request");
    server.take();
    assert_eq!(counts(&server), (0, 7));
    server.say_from(2, SYN, 0, with(&cookie), &[1; 1000]);
    server.take();
    assert_eq!(counts(&server), (0, 1000));
    server.say_from(3, SYN, 0, with(&[1; 8]), b"request");
    assert!(server.endpoint.accept().is_none());
}

#[test]
fn facts_of_a_server_go_on_in_another_process() {
    let before = holding(&[7; 8]);
    let facts = before.endpoint.fast_open(before.now, way());
    assert_eq!(facts.cookie.map(|cookie| cookie.as_bytes().to_vec()), Some(vec![7; 8]));
    let mut after = Lone::new(&fast());
    assert_eq!(after.endpoint.fast_open(after.now, way()), FastOpenFacts::default());
    after.endpoint.assume_fast_open(after.now, way(), facts);
    let opening = &ask(&mut after, b"request")[0];
    assert_eq!((told(opening), &opening.payload[..]), (Some(vec![7; 8]), &b"request"[..]));
    after.endpoint.assume_fast_open(after.now, way(), FastOpenFacts { spared_ns: 1, ..facts });
    let opening = &ask(&mut after, b"request")[0];
    assert_eq!((told(opening), opening.payload.len()), (None, 0), "such openings were lost");
}

#[test]
fn an_option_of_a_wrong_length_or_outside_of_an_opening_is_none() {
    let (mut lone, cookie) = granting();
    for (port, length) in [1, 2, 3, 5, 7, 15, 17, 18, 20].into_iter().enumerate() {
        lone.say_from(port as u16 + 1, SYN, 0, with(&vec![1; length]), b"request");
        let answer = lone.one();
        assert_eq!((answer.acknowledgement, told(&answer)), (1, None), "{length}");
    }
    assert!(lone.endpoint.accept().is_none());
    assert_eq!(lone.endpoint.endpoint_stats().early_refused, 0);
    let mut client = holding(&[7; 8]);
    ask(&mut client, b"request");
    client.say(SYN | ACK, 0, 1, with(&[1; 5]), b"");
    assert_eq!(client.one().payload, b"request", "an ordinary answer");
    client.say(ACK, 1, 8, Options { mss: None, ..with(&[9; 8]) }, b"");
    client.now = client.now.after(60 * SECOND); // data that was not taken spares the server so long
    assert_eq!(told(&ask(&mut client, b"next")[0]), Some(vec![7; 8]), "what a later segment says is nothing");
    lone.say_from(99, ACK, 0, with(&cookie), b"request");
    assert!(lone.endpoint.accept().is_none(), "no opening");
}

#[test]
fn openings_that_are_reset_keep_their_place_for_a_minute() {
    let (mut lone, cookie) = granting();
    for port in 2000..2064 {
        lone.say_from(port, SYN, 0, with(&cookie), b"request");
        // The host whose address it bore knows nothing of it.
        lone.say_from(port, flags::RST, 8, Options::default(), b"");
        while let Some(id) = lone.endpoint.accept() {
            lone.endpoint.release(lone.now, id);
        }
        lone.hear();
    }
    assert_eq!((lone.endpoint.connection_count(), lone.endpoint.endpoint_stats().early_taken), (0, 64));
    lone.say_from(3000, SYN, 0, with(&cookie), b"request");
    assert_eq!((lone.one().acknowledgement, lone.endpoint.accept()), (1, None), "the ordinary way");
    lone.now = lone.now.after(60 * SECOND);
    lone.endpoint.handle_timeout(lone.now, &mut NullSink);
    lone.hear();
    lone.say_from(3001, SYN, 0, with(&cookie), b"request");
    assert_eq!((lone.hear().last().unwrap().acknowledgement, lone.endpoint.accept().is_some()), (8, true));
}

#[test]
fn openings_with_data_that_cross_deliver_it_once() {
    let mut lone = holding(&[7; 8]);
    ask(&mut lone, b"request");
    lone.say(SYN, 0, 0, with(&[]), b"theirs");
    let answer = lone.one();
    assert_eq!((answer.flags, answer.acknowledgement, answer.payload.len()), (SYN | ACK, 1, 0));
    lone.say(SYN | ACK, 0, 1, Options { mss: Some(1000), ..Options::default() }, b"");
    let heard = lone.hear();
    assert_eq!(heard.iter().filter(|heard| heard.payload == b"request").count(), 1, "{heard:?}");
    lone.say(ACK | PSH, 1, 8, Options::default(), b"theirs");
    assert_eq!((lone.read(), lone.state()), (b"theirs".to_vec(), State::Established));
}

#[test]
fn an_answer_that_is_lost_goes_again_by_the_timer_and_data_of_either_arrives_once() {
    let (mut lone, cookie) = granting();
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    lone.take();
    assert_eq!(lone.endpoint.write(lone.id, b"response"), Ok(8));
    let lost = lone.hear();
    assert_eq!(lost.iter().map(|heard| heard.payload.len()).sum::<usize>(), 8);
    lone.wait();
    let again = lone.hear();
    assert_eq!((again[0].flags, again[0].sequence, again[0].acknowledgement), (SYN | ACK, 0, 8));
    let response: Vec<u8> = again.into_iter().flat_map(|heard| heard.payload).collect();
    assert_eq!((lone.read(), response), (b"request".to_vec(), b"response".to_vec()));
    lone.ack(8, 9);
    assert_eq!((lone.hear(), lone.state(), lone.stats().in_flight_bytes), (vec![], State::Established, 0));
}

#[test]
fn a_server_whose_window_is_small_takes_a_part_and_the_rest_goes_again() {
    let small = Config { receive_limit_bytes: 4, ..fast() };
    let mut lone = Lone::new(&small);
    lone.say(SYN, 0, 0, with(&[]), b"");
    let cookie = told(&lone.one()).unwrap();
    lone.say(flags::RST, 1, 0, Options::default(), b"");
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    lone.take();
    let answer = lone.one();
    assert_eq!((lone.read(), answer.acknowledgement), (b"requ".to_vec(), 5));
    assert_eq!((lone.stats().opening_taken_bytes, lone.one().window), (4, 4), "there is room again");
    lone.say(ACK | PSH, 5, 1, Options::default(), b"est");
    assert_eq!(lone.read(), b"est");
}

/// [RFC 7413 4.2.2]: an answer that takes the data, or brings a cookie, is one to the opening with data. A
/// round trip that is longer than the first timeout is no sign of a path that drops such openings.
#[test]
fn a_round_trip_longer_than_the_timeout_does_not_pass_for_a_path_that_drops_openings_with_data() {
    for (acknowledged, cookie) in [(8, None), (1, Some([8; 8]))] {
        let mut lone = holding(&[7; 8]);
        ask(&mut lone, b"request");
        lone.wait();
        assert_eq!(lone.one().flags, SYN, "it goes again, without the data");
        let plain = Options { mss: Some(1000), ..Options::default() };
        let options = cookie.map_or(plain, |cookie| with(&cookie));
        lone.say(SYN | ACK, 0, acknowledged, options, b"");
        let goes_again = lone.hear().iter().any(|heard| heard.payload == b"request");
        assert_eq!(goes_again, acknowledged == 1, "what was taken does not");
        let facts = lone.endpoint.fast_open(lone.now, way());
        assert_eq!((facts.lost_openings, facts.spared_ns), (0, 0), "{acknowledged}");
        let next = ask(&mut lone, b"next");
        assert_eq!(told(&next[0]), Some(cookie.unwrap_or([7; 8]).to_vec()));
        assert_eq!(next[0].payload, b"next");
    }
}

/// [RFC 7413 4.2.1]: on timeouts neither end repeats the option.
#[test]
fn a_question_for_a_cookie_that_is_lost_goes_again_without_it_and_is_not_repeated_for_a_minute() {
    let (mut lone, syn) = Lone::connecting(&fast());
    assert_eq!(told(&syn), Some(vec![]));
    lone.wait();
    let again = lone.one();
    assert_eq!((again.flags, told(&again)), (SYN, None));
    lone.say(SYN | ACK, 0, 1, Options { mss: Some(1000), ..Options::default() }, b"");
    lone.hear();
    assert_eq!(told(&ask(&mut lone, b"next")[0]), None, "something on the way may not bear the question");
    lone.now = lone.now.after(60 * SECOND);
    lone.endpoint.handle_timeout(lone.now, &mut NullSink);
    lone.hear();
    let later = ask(&mut lone, b"later");
    assert_eq!((told(&later[0]), later[0].payload.len()), (Some(vec![]), 0));
}

/// [RFC 7413 4.2.1, 4.2.2]
#[test]
fn an_answer_that_goes_again_by_the_timer_has_neither_option_nor_data() {
    let (mut lone, cookie) = granting();
    lone.say(SYN, 0, 0, with(&[]), b"");
    assert!(told(&lone.one()).is_some());
    lone.wait();
    let again = lone.one();
    assert_eq!((again.flags, again.payload.len(), told(&again)), (SYN | ACK, 0, None));
    lone.say(flags::RST, 1, 0, Options::default(), b"");
    lone.now = lone.now.after(KEY_NS);
    lone.say(SYN, 0, 0, with(&cookie), b"request");
    lone.take();
    lone.write(100);
    let answer = &lone.hear()[0];
    assert!(told(answer).is_some_and(|fresh| fresh != cookie), "of the new key");
    lone.wait();
    let again = &lone.hear()[0];
    assert_eq!((again.flags, again.acknowledgement, told(again)), (SYN | ACK, 8, None));
    assert_eq!(again.payload.len(), 0, "data follows");
}

/// [RFC 7413 4.2.2]: an answer without a cookie tells the largest segment anew, too.
#[test]
fn each_answer_tells_the_largest_segment_for_the_next_opening() {
    let mut lone = holding(&[7; 8]);
    ask(&mut lone, b"request");
    lone.say(SYN | ACK, 0, 8, Options { mss: Some(700), ..Options::default() }, b"");
    lone.hear();
    assert_eq!(lone.endpoint.fast_open(lone.now, way()).mss_bytes, Some(700));
    let next = ask(&mut lone, &[1; 2000]);
    assert!(next[0].payload.len() <= 700, "{}", next[0].payload.len());
    lone.say(SYN | ACK, 0, 1 + next[0].payload.len() as u32, Options::default(), b"");
    lone.hear();
    assert_eq!(lone.endpoint.fast_open(lone.now, way()).mss_bytes, None, "it tells none");
    let bytes = ask(&mut lone, &[1; 2000])[0].payload.len();
    assert!((500..=536).contains(&bytes), "{bytes}");
}

/// [RFC 7413 4.2.2]: beside timestamps, a scale and the capabilities of SCPS-TP a cookie of 16 octets has no
/// room in a SYN: an ordinary opening. One of 8 octets has.
#[test]
fn a_cookie_that_finds_no_room_beside_the_other_options_stays_away_with_its_data() {
    for (cookie, fits) in [(&[7; 16][..], false), (&[7; 8], true)] {
        let mut lone = holding(cookie);
        let wide = Config { timestamps: true, window_scale: true, scps: Some(Scps::standard()), ..fast() };
        lone.id = lone.endpoint.connect(lone.now, way(), PEER_PORT, None, wide).unwrap();
        lone.local_port = lone.endpoint.local_port(lone.id).unwrap();
        lone.write(100);
        let syn = lone.one();
        assert_eq!((syn.flags & SYN, syn.payload.len()), (SYN, if fits { 100 } else { 0 }), "{syn:?}");
        assert_eq!(told(&syn).is_some_and(|told| told == cookie), fits, "{syn:?}");
    }
}

/// [RFC 7413 4.2.2]: an acknowledgement of the server's SYN makes room for another pending opening.
#[test]
fn an_opening_that_is_acknowledged_is_pending_no_more() {
    let (mut lone, cookie) = granting();
    for port in 2000..2200 {
        lone.say_from(port, SYN, 0, with(&cookie), b"request");
        let answer = lone.hear();
        assert_eq!(answer[0].acknowledgement, 8, "{port}");
        lone.ack_from(port, 8, 1);
        lone.take();
        assert_eq!(lone.state(), State::Established);
    }
    assert_eq!(lone.endpoint.endpoint_stats().early_taken, 200);
}
