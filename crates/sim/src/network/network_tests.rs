//! Packets find their way, workloads do what they say, and nothing disturbs what it should not.

#![allow(clippy::float_cmp)] // counts are exact

use skyhaul_core::{MS, NullSink, SECOND};
use skyhaul_link::{ArqConfig, DirectionConfig, LinkConfig};
use skyhaul_stp::Config;

use crate::{Ended, Measured, Simulation, simulate};
use skyhaul_scenario::{
    Flow, Keep, LinkBetween, Node, NodeKind, Scenario, Sizes, Stop, Transport, WebLoad, Workload,
};

fn direction(rate_bps: u64, delay_ns: u64) -> DirectionConfig {
    DirectionConfig { rate_bps: Some(rate_bps), delay_ns, ..DirectionConfig::default() }
}

fn link(name: &str, ends: [usize; 2], direction: DirectionConfig) -> LinkBetween {
    let config = LinkConfig {
        name: name.into(),
        forward: direction.clone(),
        reverse: direction,
        ..LinkConfig::default()
    };
    LinkBetween { config, ends, arq: None }
}

fn bulk(bytes: u64) -> Workload {
    Workload::Bulk { bytes: Some(bytes), chunk_bytes: 1000, rate_bps: None }
}

fn flow(name: &str, from: usize, to: usize, workload: Workload) -> Flow {
    let transport = Transport {
        name: "stp".into(),
        opener: crate::STP.end(Config::standard()),
        acceptor: crate::STP.end(Config::standard()),
    };
    let weight = skyhaul_core::Weight::ONE;
    Flow {
        name: name.into(),
        from,
        to,
        count: 1,
        start_ns: 0,
        stagger_ns: 0,
        weight,
        transport,
        via: Vec::new(),
        end_to_end: None,
        workload,
    }
}

/// Hosts 0 and 3 at the ends of a row with two routers, and host 4 beside the second router.
fn row(flows: Vec<Flow>) -> Scenario {
    let node = |name: &str, kind| Node { name: name.into(), kind, signals: None };
    Scenario {
        name: "row".into(),
        nodes: vec![
            node("left", NodeKind::Host),
            node("near", NodeKind::Router),
            node("far", NodeKind::Router),
            node("right", NodeKind::Host),
            node("below", NodeKind::Host),
        ],
        links: vec![
            link("in", [0, 1], direction(100_000_000, MS)),
            link("space", [1, 2], direction(10_000_000, 270 * MS)),
            link("out", [2, 3], direction(100_000_000, 4 * MS)),
            link("side", [4, 2], direction(100_000_000, 10 * MS)),
        ],
        flows,
        stop: Stop { duration_ns: Some(600 * SECOND), ..Stop::default() },
        ..Scenario::default()
    }
}

fn run(scenario: &Scenario) -> Measured {
    simulate(scenario, 1).expect("it runs")
}

fn metric(measured: &Measured, name: &str) -> f64 {
    *measured.metrics.get(name).unwrap_or_else(|| panic!("no {name} in {:?}", measured.metrics.keys()))
}

#[test]
fn a_transfer_crosses_two_routers_and_each_link_once() {
    let measured = run(&row(vec![flow("file", 0, 3, bulk(2_000_000))]));
    assert_eq!(measured.ended, Ended::Done);
    assert_eq!(metric(&measured, "completed"), 1.0);
    assert_eq!(metric(&measured, "payload_bytes"), 2_000_000.0);
    assert_eq!(metric(&measured, "duplicates"), 0.0);
    let sent = metric(&measured, "forward.packets");
    for link in ["in", "space", "out"] {
        assert_eq!(metric(&measured, &format!("links.{link}.forward.delivered_packets")), sent, "{link}");
    }
    assert_eq!(metric(&measured, "links.side.forward.delivered_packets"), 0.0);
    // 275 ms of propagation and at least one serialisation on each link.
    let (least, mean) = (metric(&measured, "rtt_ms.min"), metric(&measured, "delay_ms.mean"));
    assert!((550.0..552.0).contains(&least), "{least}");
    assert!((275.0..2000.0).contains(&mean), "{mean}");
}

#[test]
fn flows_in_both_directions_between_three_hosts_arrive_complete() {
    let flows = vec![
        flow("there", 0, 3, bulk(500_000)),
        flow("back", 3, 0, bulk(300_000)),
        flow("aside", 4, 0, bulk(200_000)),
        Flow { count: 3, stagger_ns: 100 * MS, start_ns: SECOND, ..flow("many", 0, 4, bulk(100_000)) },
    ];
    let measured = run(&row(flows));
    assert_eq!(measured.ended, Ended::Done);
    assert_eq!(metric(&measured, "completed"), 6.0);
    assert_eq!(metric(&measured, "failed"), 0.0);
    for (name, bytes) in [("there", 5e5), ("back", 3e5), ("aside", 2e5), ("many", 3e5)] {
        assert_eq!(metric(&measured, &format!("flows.{name}.payload_bytes")), bytes, "{name}");
    }
    let jain = metric(&measured, "jain");
    assert!(jain > 0.1 && jain <= 1.0, "{jain}");
}

#[test]
fn transactions_of_drawn_sizes_are_equal_over_every_transport_and_need_a_head_of_eight_bytes() {
    let requests = |keep| Workload::Requests {
        request_bytes: Sizes::Pareto { mean_bytes: 5, shape: 1.5, max_bytes: 400 },
        response_bytes: Sizes::LogNormal { median_bytes: 2000, mean_bytes: 8000, max_bytes: 100_000 },
        think_ns: 0,
        requests: Some(20),
        keep,
    };
    let payload = |keep| {
        let measured = run(&row(vec![flow("web", 0, 3, requests(keep))]));
        assert_eq!((measured.ended, metric(&measured, "completed")), (Ended::Done, 1.0), "{keep:?}");
        metric(&measured, "payload_bytes")
    };
    let each = payload(Keep::AfterResponse);
    assert!(each > 20.0 * 1000.0, "{each}");
    assert_eq!([payload(Keep::WithRequest), payload(Keep::Whole)], [each; 2]);
}

#[test]
fn what_an_exchange_takes_of_the_network_is_counted_at_both_ends() {
    let requests = Workload::Requests {
        request_bytes: Sizes::Fixed(400),
        response_bytes: Sizes::Fixed(800),
        think_ns: 2 * SECOND,
        requests: Some(5),
        keep: Keep::AfterResponse,
    };
    let measured = run(&row(vec![flow("web", 0, 3, requests)]));
    let both = |what: &str| {
        metric(&measured, &format!("forward.{what}")) + metric(&measured, &format!("reverse.{what}"))
    };
    assert_eq!(metric(&measured, "exchange.packets"), both("packets") / 5.0);
    assert_eq!(metric(&measured, "exchange.bytes"), both("bytes") / 5.0);
    assert!(metric(&measured, "exchange.bytes") > 1200.0);
}

#[test]
fn transactions_take_a_round_trip_each_and_are_counted() {
    let requests = |keep| Workload::Requests {
        request_bytes: Sizes::Fixed(400),
        response_bytes: Sizes::Fixed(1000),
        think_ns: 100 * MS,
        requests: Some(10),
        keep,
    };
    for keep in [Keep::WithRequest, Keep::AfterResponse, Keep::Whole] {
        let measured = run(&row(vec![flow("web", 0, 3, requests(keep))]));
        assert_eq!(measured.ended, Ended::Done);
        assert_eq!(metric(&measured, "completed"), 1.0);
        assert_eq!(metric(&measured, "payload_bytes"), 14_000.0);
        let (median, max) = (metric(&measured, "completion_ms.p50"), metric(&measured, "completion_ms.max"));
        // The request goes with the opening packet, and the response is within three times its size
        // [3x limit]: one round trip, connection or not.
        assert!((550.0..600.0).contains(&median), "{median} {max}");
    }
}

#[test]
fn pages_are_read_object_by_object_over_connections_of_their_own() {
    let load = WebLoad { object_bytes: 3000, think_ns: 100 * MS, pages: Some(20), ..WebLoad::default() };
    let one = run(&row(vec![flow("web", 0, 3, Workload::Web(WebLoad { objects: 1.0, ..load }))]));
    assert_eq!((one.ended, metric(&one, "completed")), (Ended::Done, 1.0));
    // A page of one object is a transaction: the median fits three times the request or one more round trip.
    let median = metric(&one, "completion_ms.p50");
    assert!((550.0..1200.0).contains(&median), "{median}");
    let alone = run(&row(vec![flow("web", 0, 3, Workload::Web(WebLoad { parallel: 1, ..load }))]));
    let beside = run(&row(vec![flow("web", 0, 3, Workload::Web(WebLoad { parallel: 6, ..load }))]));
    assert_eq!(metric(&alone, "payload_bytes"), metric(&beside, "payload_bytes"), "the same draws");
    let mean = |measured| metric(measured, "completion_ms.mean");
    assert!(mean(&beside) < 0.7 * mean(&alone), "{} {}", mean(&beside), mean(&alone));
}

#[test]
fn an_open_loop_asks_for_equal_pages_at_equal_times_whatever_else_is_on_the_links() {
    let load =
        WebLoad { object_bytes: 3000, every_ns: Some(200 * MS), pages: Some(100), ..WebLoad::default() };
    let closed = WebLoad { every_ns: None, ..load };
    let measure = |load, bytes| {
        let files = Flow { count: 4, ..flow("files", 3, 0, bulk(bytes)) };
        let measured = run(&row(vec![flow("web", 0, 3, Workload::Web(load)), files]));
        assert_eq!((measured.ended, metric(&measured, "flows.web.completed")), (Ended::Done, 1.0));
        measured
    };
    let web = |measured: &Measured, name: &str| metric(measured, &format!("flows.web.{name}"));
    let [alone, beside] = [1000, 8_000_000].map(|bytes| measure(load, bytes));
    assert_eq!(web(&alone, "payload_bytes"), web(&beside, "payload_bytes"));
    let mean = |measured| web(measured, "completion_ms.mean");
    assert!(mean(&beside) > 1.02 * mean(&alone), "the files are felt: {} {}", mean(&alone), mean(&beside));
    // The last page begins when it does, so the flow is longer by no more than that page.
    let later_s = web(&beside, "elapsed_s") - web(&alone, "elapsed_s");
    assert!(later_s < web(&beside, "completion_ms.max") / 1000.0, "{later_s}");
    // A reader that waits for each page takes the sum of all of them.
    let waiting = measure(WebLoad { think_ns: 200 * MS, ..closed }, 1000);
    assert!(web(&waiting, "elapsed_s") > 3.0 * web(&alone, "elapsed_s"), "{}", web(&waiting, "elapsed_s"));
}

#[test]
fn an_open_loop_asks_for_all_objects_of_a_page_at_once() {
    let load = WebLoad {
        object_bytes: 300,
        shape: 100.0,
        objects: 30.0,
        every_ns: Some(SECOND),
        pages: Some(20),
        ..WebLoad::default()
    };
    let measured = run(&row(vec![flow("web", 0, 3, Workload::Web(load))]));
    assert_eq!((measured.ended, metric(&measured, "completed")), (Ended::Done, 1.0));
    // One round trip: no object waits for the first, nor for others.
    let max = metric(&measured, "completion_ms.max");
    assert!((550.0..700.0).contains(&max), "{max}");
}

#[test]
fn an_open_loop_has_a_bound_beyond_which_objects_fail() {
    let load = WebLoad {
        objects: 10_000.0,
        object_bytes: 10,
        every_ns: Some(MS),
        pages: Some(8),
        ..WebLoad::default()
    };
    let mut scenario = row(vec![flow("web", 0, 3, Workload::Web(load))]);
    scenario.stop = Stop { duration_ns: Some(SECOND / 2), ..Stop::default() };
    let measured = run(&scenario);
    let opened = metric(&measured, "links.in.forward.delivered_packets");
    assert!(metric(&measured, "failed") > 0.0 && opened <= 10_000.0, "{opened}");
}

#[test]
fn an_application_that_streams_is_as_fast_as_it_says() {
    let steady = Workload::Bulk { bytes: None, chunk_bytes: 500, rate_bps: Some(400_000) };
    let pausing = Workload::OnOff { rate_bps: 400_000, on_ns: SECOND, off_ns: SECOND, chunk_bytes: 500 };
    let mut scenario = row(vec![flow("steady", 0, 3, steady), flow("pausing", 0, 4, pausing)]);
    scenario.stop = Stop { duration_ns: Some(400 * SECOND), when_done: false, ..Stop::default() };
    scenario.warm_up_ns = 10 * SECOND;
    let measured = run(&scenario);
    assert_eq!(measured.ended, Ended::OutOfTime);
    let (steady, pausing) =
        (metric(&measured, "flows.steady.goodput_bps"), metric(&measured, "flows.pausing.goodput_bps"));
    assert!((steady - 400_000.0).abs() < 4000.0, "{steady}");
    assert!((pausing - 200_000.0).abs() < 30_000.0, "{pausing}");
}

#[test]
fn the_warm_up_does_not_count() {
    let endless = Workload::Bulk { bytes: None, chunk_bytes: 1000, rate_bps: None };
    let mut scenario = row(vec![flow("file", 0, 3, endless)]);
    scenario.flows[0].transport.opener.get_mut::<Config>().unwrap().rate_bps = Some(10_000_000);
    scenario.stop = Stop { duration_ns: Some(60 * SECOND), when_done: false, ..Stop::default() };
    let cold = run(&scenario);
    scenario.warm_up_ns = 10 * SECOND;
    let warm = run(&scenario);
    assert!(metric(&warm, "goodput_bps") > metric(&cold, "goodput_bps"));
    assert!(metric(&warm, "payload_bytes") < metric(&cold, "payload_bytes"));
    let utilisation = metric(&warm, "links.space.forward.utilisation");
    assert!((0.99..1.0001).contains(&utilisation), "{utilisation}");
}

#[test]
fn another_component_does_not_disturb_the_draws_of_the_others() {
    let noisy = |flows| {
        let mut scenario = row(flows);
        scenario.links[1].config.forward.loss = 0.02;
        scenario
    };
    let alone = noisy(vec![flow("file", 0, 3, bulk(300_000))]);
    let mut beside = alone.clone();
    beside.links.push(link("new", [4, 3], DirectionConfig { loss: 0.5, ..direction(1_000_000, MS) }));
    beside.nodes.push(Node { name: "other".into(), kind: NodeKind::Router, signals: None });
    beside.links.push(link("newer", [4, 5], direction(1_000_000, MS)));
    for name in ["elapsed_s", "retransmitted_packets", "links.space.forward.drops.random_loss"] {
        assert_eq!(metric(&run(&alone), name), metric(&run(&beside), name), "{name}");
    }
}

#[test]
fn a_run_ends_after_so_many_events_with_what_it_has() {
    let mut scenario = row(vec![flow("file", 0, 3, bulk(2_000_000))]);
    scenario.stop.max_events = 1000;
    let measured = run(&scenario);
    assert_eq!(measured.ended, Ended::OutOfEvents);
    assert!((1000.0..1100.0).contains(&metric(&measured, "events")));
}

#[test]
fn frames_of_a_layer_that_repeats_are_events_which_bound_a_run() {
    let mut scenario = row(vec![flow("a", 0, 3, bulk(1_000_000))]);
    scenario.stop.max_events = 20_000;
    assert_eq!(run(&scenario).ended, Ended::Done, "whole packets are few");
    // Each packet crosses `space` in some 70 PDUs.
    scenario.links[1].arq = Some(ArqConfig { payload_bytes: 16, ..ArqConfig::default() });
    assert_eq!(run(&scenario).ended, Ended::OutOfEvents);
}

#[test]
fn packets_without_a_way_on_are_counted_and_the_run_ends() {
    let mut scenario = row(vec![flow("file", 0, 3, bulk(1000))]);
    scenario.links.remove(2);
    scenario.stop.duration_ns = Some(100 * SECOND);
    let mut simulation = Simulation::new(&scenario, 1).expect("it can be built");
    let ended = simulation.run(&mut NullSink);
    assert!(simulation.network().unroutable_packets() > 0);
    let measured = simulation.measured(ended).expect("no byte was wrong");
    assert_eq!(metric(&measured, "completed"), 0.0);
}

#[test]
fn a_run_by_the_clock_goes_on_to_its_end_when_its_flows_are_done_before() {
    let mut scenario = row(vec![flow("file", 0, 3, bulk(1000))]);
    scenario.stop = Stop { duration_ns: Some(900 * SECOND), when_done: false, ..Stop::default() };
    let mut simulation = Simulation::new(&scenario, 1).expect("it can be built");
    assert_eq!(simulation.run(&mut NullSink), Ended::OutOfTime);
    assert_eq!(simulation.network().now().as_ns(), 900 * SECOND);
}

#[test]
fn the_rate_counts_as_used_until_everything_is_delivered_not_until_all_has_said_goodbye() {
    let mut scenario = row(vec![flow("file", 0, 3, bulk(3_000_000))]);
    scenario.flows[0].transport.opener.get_mut::<Config>().unwrap().rate_bps = Some(10_000_000);
    let measured = run(&scenario);
    let busy = metric(&measured, "links.space.forward.utilisation");
    let elapsed = metric(&measured, "elapsed_s");
    // All but the propagation delay of the first packet.
    assert!((busy - (elapsed - 0.275) / elapsed).abs() < 0.01, "{busy} {elapsed}");
}

#[test]
fn a_run_whose_send_buffers_grow_beyond_bounds_ends_with_what_it_has() {
    let endless = Workload::Bulk { bytes: None, chunk_bytes: 16_384, rate_bps: None };
    let mut scenario = row(vec![Flow { count: 20, ..flow("many", 0, 3, endless) }]);
    scenario.stop = Stop {
        duration_ns: Some(60 * SECOND),
        when_done: false,
        max_memory_bytes: 4 << 20,
        ..Stop::default()
    };
    for flow in &mut scenario.flows {
        flow.transport.opener.get_mut::<Config>().unwrap().send_limit_bytes = 1 << 20;
    }
    let measured = run(&scenario);
    assert_eq!(measured.ended, Ended::OutOfMemory);
}

#[test]
fn a_warm_up_that_is_longer_than_the_run_is_an_error() {
    let mut scenario = row(vec![flow("file", 0, 3, bulk(1000))]);
    scenario.warm_up_ns = 100 * SECOND;
    let error = simulate(&scenario, 1).expect_err("nothing was measured");
    assert!(error.to_string().contains("warm-up"), "{error}");
}
