//! One flow that could fill a link of 10 Mbit/s, beside flows that take one packet a round trip
//! [P-XCP Fig. 4, 5]: `scenarios/explicit.toml`.

use std::path::Path;

use super::{assert_within, hop, run};

const HONEST: &[(&str, &str)] = &[];
/// As ns-2 does.
const GREEDY: &[(&str, &str)] =
    &[("transports.limited.explicit.asks", "always"), ("transports.open.explicit.asks", "always")];

/// Use of the hop, and packets that wait there on average.
fn found(discipline: &str, set_off: bool, limited: u32, asks: &[(&str, &str)]) -> (f64, f64) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios/explicit.toml");
    let (count, set_off) = (limited.max(1).to_string(), set_off.to_string());
    let mut changes = vec![
        ("sweep", "{}"),
        ("links.hop.forward.explicit.discipline", discipline),
        ("links.hop.forward.explicit.set_off", &set_off),
        ("flows.limited.count", &count),
    ];
    changes.extend(asks);
    if limited == 0 {
        // All flows are like the first.
        changes.push(("transports.limited.receive_limit", "480000B"));
    }
    let found = hop(&run(&std::fs::read_to_string(path).unwrap(), &changes), "hop");
    println!("{discipline} set_off={set_off} limited={limited} {asks:?}: {found:.3?}");
    found
}

/// r of the flows limited, 0.25 r of what is carried is lost: 1 / (1 + r / 4).
#[test]
fn xcp_loses_a_quarter_of_the_limited_flows_part() {
    for (limited, share) in [(1, 0.889), (4, 0.833), (9, 0.816)] {
        let (used, _) = found("xcp", false, limited, HONEST);
        assert_within(used, (share - 0.008, share + 0.008), &format!("{limited} limited"));
    }
}

#[test]
fn p_xcp_and_untaken_fill_the_link_with_a_short_queue() {
    for (discipline, set_off, least) in [("p-xcp", false, 0.97), ("untaken", true, 0.985)] {
        for limited in [1, 4, 9] {
            let (used, waiting) = found(discipline, set_off, limited, HONEST);
            assert_within(used, (least, 1.0), &format!("{discipline}, {limited} limited"));
            assert_within(waiting, (0.0, 3.0), &format!("{discipline}, {limited} limited: queue"));
        }
    }
}

#[test]
fn untaken_fills_the_link_whether_no_flow_is_limited_or_nearly_all() {
    for limited in [0, 19] {
        let (used, waiting) = found("untaken", true, limited, HONEST);
        assert_within(used, (0.985, 1.0), &format!("{limited} limited"));
        assert_within(waiting, (0.0, 3.0), &format!("{limited} limited: queue"));
    }
}

/// No flow that always asks for more counts as limited: P-XCP cures nothing.
#[test]
fn p_xcp_is_xcp_where_senders_always_ask_for_more() {
    for limited in [1, 9] {
        assert_eq!(found("p-xcp", false, limited, GREEDY), found("xcp", false, limited, GREEDY));
    }
}

/// Draft-03 with honest senders hardly has the problem; P-XCP's cure on top of it holds a standing queue.
#[test]
fn set_off_loses_little_by_itself_and_too_much_is_handed_out_on_top() {
    for limited in [1, 4, 9] {
        let (used, waiting) = found("xcp", true, limited, HONEST);
        assert_within(used, (0.985, 1.0), &format!("xcp, {limited} limited"));
        let (_, more) = found("p-xcp", true, limited, HONEST);
        assert!(
            more > 4.0 * waiting && more > 5.0,
            "{limited} limited: {more} packets wait, {waiting} by xcp"
        );
    }
}
