//! SCPS-TP offered to the kernel, which knows nothing of it: plain TCP in either role.

use std::sync::{Arc, Mutex};

use skyhaul_core::MS;
use skyhaul_link::{DirectionConfig, LinkConfig, Reordering};
use skyhaul_net::tun::{PacketLink, TcpStream, TunHost, TunOptions};
use skyhaul_tcp::Config;
use skyhaul_tcp::scps::{CAPABILITIES, Scps};

use crate::lab::{Lab, exchange, in_a_namespace, kernel_knows, options};
use crate::socket::{from_kernel, to_kernel};
use crate::tap::{From, Out, Tap, tcp};
use crate::wire::wire;

/// SCPS-TP with all that it has, behind it the TCP that a user has anyway.
fn speaking() -> Config {
    Config { scps: Some(Scps { compression: true, ..Scps::standard() }), ..Config::standard() }
}

fn host(end: std::os::fd::OwnedFd) -> TunHost {
    TunHost::over(end, TunOptions { accept: speaking(), ..options() }).unwrap()
}

/// Nothing of SCPS-TP is in force, and what plain TCP agrees on is.
fn is_plain(host: &TunHost, stream: &TcpStream) {
    assert_eq!(host.scps_agreement(stream.monitor().id().unwrap()), None);
    assert_eq!(stream.stats().controller, "cubic");
    let known = kernel_knows();
    let line = known.lines().find(|line| line.starts_with("ESTAB")).unwrap();
    assert!([" ts ", " sack ", " wscale:"].iter().all(|word| line.contains(word)), "{line}");
}

#[test]
fn the_kernel_is_offered_scps_tp_and_speaks_plain_tcp_in_either_role() {
    in_a_namespace(async |lab: Lab| {
        let syns = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&syns);
        let (near, far) = wire().unwrap();
        let _tap =
            Tap::start([lab.into_device().into(), near], move |from, packet: Vec<u8>, out: &mut Out| {
                match tcp(&packet) {
                    Some(header) if header.syn && from == From::Ours => {
                        let offer = header.options.as_slice().windows(2).any(|two| two == [CAPABILITIES, 4]);
                        seen.lock().unwrap().push((header.ack, offer));
                    }
                    Some(_) => {}
                    // Neighbours are looked for, too.
                    None => assert_ne!(packet[if packet[0] >> 4 == 4 { 9 } else { 6 }], 105),
                }
                out.push((from, packet));
            });
        let host = host(far);
        for family in [0, 1] {
            syns.lock().unwrap().clear();
            let (ours, kernel) = to_kernel(&host, family, None, speaking()).await;
            is_plain(&host, &ours);
            exchange(ours, kernel, 1_000_000, 1_000_000).await;
            let (ours, kernel) = from_kernel(&host, family, None).await;
            is_plain(&host, &ours);
            exchange(ours, kernel, 1_000_000, 1_000_000).await;
            let syns = syns.lock().unwrap();
            assert!(syns.contains(&(false, true)), "offered: {syns:?}");
            // An answer offers only what was offered.
            assert!(syns.contains(&(true, false)) && !syns.contains(&(true, true)), "{syns:?}");
        }
    });
}

#[test]
fn offering_scps_tp_leaves_plain_tcp_its_repairs_over_a_bad_link() {
    in_a_namespace(async |lab: Lab| {
        let reordering = Reordering { probability: 0.02, extra_delay_ns: 2 * MS };
        let direction = DirectionConfig {
            rate_bps: Some(50_000_000),
            delay_ns: 2 * MS,
            bit_error_rate: 1e-6,
            reordering,
            ..DirectionConfig::default()
        };
        let config = LinkConfig { forward: direction.clone(), reverse: direction, ..LinkConfig::default() };
        let (near, far) = wire().unwrap();
        let link = PacketLink::start(config, 7, [lab.into_device().into(), near]).unwrap();
        let host = host(far);
        let (mut ours, kernel) = to_kernel(&host, 0, None, speaking()).await;
        is_plain(&host, &ours);
        exchange(&mut ours, kernel, 1_000_000, 1_000_000).await;
        assert!(ours.stats().retransmitted_packets > 0, "{:?}", ours.stats());
        let (ours, kernel) = from_kernel(&host, 1, None).await;
        is_plain(&host, &ours);
        exchange(ours, kernel, 1_000_000, 1_000_000).await;
        let report = link.stop();
        let damaged = [&report.forward, &report.reverse].map(|way| way.counters.dropped.bit_error);
        assert!(damaged.iter().all(|&count| count > 0), "{damaged:?}");
    });
}
