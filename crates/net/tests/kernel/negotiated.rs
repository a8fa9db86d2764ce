//! Agreements of the SYNs: as either side's SYN shows, and as the kernel says (`TCP_INFO`).

use std::sync::{Arc, Mutex};

use etherparse::{TcpHeader, TcpOptionElement};
use skyhaul_net::tun::TunOptions;
use skyhaul_tcp::Config;

use crate::lab::{Lab, exchange, in_a_namespace, kernel_knows, options, sysctl};
use crate::socket::{from_kernel, to_kernel};
use crate::tap::{From, tcp};

/// The options that `ss` names by words.
fn agreed() -> [bool; 3] {
    let text = kernel_knows();
    let line = text.lines().find(|line| line.starts_with("ESTAB"));
    let line = line.unwrap_or_else(|| panic!("no connection: {text}"));
    let words: Vec<&str> = line.split_whitespace().collect();
    [words.contains(&"ts"), words.contains(&"sack"), words.iter().any(|word| word.starts_with("wscale:"))]
}

/// The options in a header.
fn offered(header: &TcpHeader) -> [bool; 3] {
    let elements: Vec<_> = header.options_iterator().map(Result::unwrap).collect();
    [
        elements.iter().any(|option| matches!(option, TcpOptionElement::Timestamp(..))),
        elements.contains(&TcpOptionElement::SelectiveAcknowledgementPermitted),
        elements.iter().any(|option| matches!(option, TcpOptionElement::WindowScale(_))),
    ]
}

fn config(features: [bool; 3]) -> Config {
    let recovery = if features[1] { skyhaul_tcp::Recovery::Sack } else { skyhaul_tcp::Recovery::NewReno };
    Config { timestamps: features[0], recovery, window_scale: features[2], ..Config::standard() }
}

#[test]
fn everything_is_agreed_on_by_default_in_either_role() {
    in_a_namespace(async |lab: Lab| {
        let syns = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&syns);
        let (host, _tap) = lab.tapped(move |from, packet: Vec<u8>, out: &mut Vec<_>| {
            if let Some(header) = tcp(&packet).filter(|header| header.syn) {
                seen.lock().unwrap().push((from, header.ack, offered(&header)));
            }
            out.push((from, packet));
        });
        let (ours, kernel) = to_kernel(&host, 0, None, Config::standard()).await;
        assert_eq!(agreed(), [true; 3], "{}", kernel_knows());
        exchange(ours, kernel, 300_000, 300_000).await;
        let (ours, kernel) = from_kernel(&host, 1, None).await;
        assert_eq!(agreed(), [true; 3], "{}", kernel_knows());
        exchange(ours, kernel, 300_000, 300_000).await;
        let expected = [(From::Ours, false), (From::Kernel, true), (From::Kernel, false), (From::Ours, true)];
        let mut seen = syns.lock().unwrap().clone();
        seen.dedup(); // a busy machine repeats one
        assert_eq!(seen, expected.map(|(from, ack)| (from, ack, [true; 3])));
    });
}

#[test]
fn what_the_kernel_does_not_want_is_not_used() {
    in_a_namespace(async |lab| {
        let host = lab.host();
        let names = ["tcp_timestamps", "tcp_sack", "tcp_window_scaling"];
        for (place, name) in names.into_iter().enumerate() {
            sysctl(name, "0");
            let expected: [bool; 3] = std::array::from_fn(|n| n != place);
            let (ours, kernel) = to_kernel(&host, 0, None, Config::standard()).await;
            assert_eq!(agreed(), expected, "{name}: {}", kernel_knows());
            exchange(ours, kernel, 500_000, 500_000).await;
            let (ours, kernel) = from_kernel(&host, 0, None).await;
            assert_eq!(agreed(), expected, "{name}: {}", kernel_knows());
            exchange(ours, kernel, 500_000, 500_000).await;
            sysctl(name, "1");
        }
    });
}

#[test]
fn what_we_do_not_want_is_not_used() {
    for place in 0..3 {
        in_a_namespace(async move |lab| {
            let expected: [bool; 3] = std::array::from_fn(|n| n != place);
            let host = lab.host_with(TunOptions { accept: config(expected), ..options() });
            let (ours, kernel) = to_kernel(&host, 0, None, config(expected)).await;
            assert_eq!(agreed(), expected, "{}", kernel_knows());
            exchange(ours, kernel, 500_000, 500_000).await;
            let (ours, kernel) = from_kernel(&host, 0, None).await;
            assert_eq!(agreed(), expected, "{}", kernel_knows());
            exchange(ours, kernel, 500_000, 500_000).await;
        });
    }
}
