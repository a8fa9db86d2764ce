//! Dimensions of a path out of a scenario file.

use std::path::Path;

use skyhaul_lab::{load, standard};
use skyhaul_link::{DirectionConfig, LinkConfig};
use skyhaul_petra::dimensioning::{
    Acknowledgement, Batches, Pdus, Plan, Satellite, Segments, SplitPath, Statuses, Wire,
};
use skyhaul_scenario::{Flow, Hop, Scenario};

use super::constraints::{Split, broken, smaller};
use super::rows::{Checked, Dimensions, Given, Names};
use super::timer::Timer;
use crate::failure::Failure;

/// Points of a sweep that are looked at; further ones are left out.
const MAX_CHECKED_POINTS: usize = 1000;
/// Header of a PDU of STPP, bits.
const PDU_HEADER_BITS: f64 = 160.0;
/// Headers of a segment of TCP over IP, octets.
pub(super) const SEGMENT_HEADER_BYTES: u16 = 40;
/// Header of a UTL confirmation that goes as a segment, bits.
const ACKNOWLEDGEMENT_BITS: f64 = 320.0;
/// Bits of a status that name one damaged PDU, with a bitmap.
const BITMAP_ALPHA: f64 = 1.16;
/// Segments of a batch where a file has no end-to-end layer.
const BATCH_SEGMENTS: u64 = 50;

/// Dimensions of the first pair of relays at the first point of a file, and what the values of all pairs and
/// points break.
pub(super) fn check(path: &Path) -> Result<(Dimensions, Vec<String>), Failure> {
    let file = load(&standard(), path, &[])?;
    let mut first = None;
    let mut told: Vec<String> = Vec::new();
    for point in file.points().take(MAX_CHECKED_POINTS) {
        let scenario = file.scenario_at(&point).map_err(|error| Failure::usage(error.to_string()))?;
        let refused = |problem: String| Failure::usage(format!("{}: {problem}", path.display()));
        let (dimensions, new) = of(&scenario).map_err(refused)?;
        let new: Vec<String> = new.into_iter().filter(|words| !told.contains(words)).collect();
        told.extend(new);
        first.get_or_insert(dimensions);
    }
    let first = first.ok_or_else(|| Failure::usage(format!("{}: it has no point", path.display())))?;
    Ok((first, told))
}

/// Dimensions of the first pair of relays, and what all of them break.
fn of(scenario: &Scenario) -> Result<(Dimensions, Vec<String>), String> {
    let mut first = None;
    let mut told: Vec<String> = Vec::new();
    for split in scenario.flows.iter().flat_map(splits) {
        let (dimensions, new) = pair(scenario, &split)?;
        let new: Vec<String> = new.into_iter().filter(|words| !told.contains(words)).collect();
        told.extend(new);
        first.get_or_insert(dimensions);
    }
    let first = first.ok_or(
        "(1) to (31) are about a flow that goes via two relays, with TCP on the wires and STPP between them; there is \
         none",
    )?;
    Ok((first, told))
}

/// Dimensions of a pair of relays, and what it breaks.
fn pair(scenario: &Scenario, split: &Split<'_>) -> Result<(Dimensions, Vec<String>), String> {
    let names = [0, 1].map(|relay| split.name(scenario, relay));
    let wrong = |error: skyhaul_petra::dimensioning::PlanError| {
        format!("flows.{}, relays {} and {}: {error}", split.flow.name, names[0], names[1])
    };
    let segment = u64::from(split.tcp.mss_bytes);
    let pdus =
        Pdus { payload_bits: 8.0 * f64::from(split.stpp.payload_bytes), overhead_bits: PDU_HEADER_BITS };
    let link = path(scenario, split)?;
    // What leaves to the link is the declared rate, if that is less.
    let mut used = link;
    let declared_bps = split.stpp_opener.rate_bps.map_or(f64::INFINITY, |bps| bps as f64);
    used.satellite.rate_bps = link.satellite.rate_bps.min(declared_bps);
    let window = smaller(split.ltl_windows());
    let plan = Plan::new(used, segments(split, window.0), pdus).map_err(wrong)?;
    let buffer = split.buffer(0);
    let threshold = (buffer.threshold_bytes / segment).max(1);
    let utl = split.flow.end_to_end;
    let batch = utl.map_or(BATCH_SEGMENTS, |utl| u64::from(utl.batch_bytes).div_ceil(segment));
    let dimensions = Dimensions {
        plan,
        statuses: Statuses {
            interval_s: split.stpp.status_interval_ns() as f64 / 1e9,
            bits_per_damaged: BITMAP_ALPHA,
        },
        batches: Batches::new(batch, threshold).map_err(wrong)?,
        batch_segments: batch,
        threshold_segments: threshold,
        acknowledgement: Acknowledgement(ACKNOWLEDGEMENT_BITS),
        timer: Timer::of(split.tcp_opener),
        sharing: sharing(scenario, split.hops[1]),
        given: Given { payload: true, threshold: true },
    };
    let (stpp_window, far_window) = (smaller(split.stpp_windows()), smaller(split.far_windows()));
    let checked = Checked {
        threshold: Some(buffer.threshold_bytes / segment),
        buffer: Some(buffer.size_bytes / segment),
        utl_timeout_s: utl.map(|utl| utl.timeout_ns as f64 / 1e9),
        utl_window: utl.map(|utl| u64::from(utl.window_batches)),
        stpp_window: Some(stpp_window.0),
        far_window: far_window.0,
        names: Names::Keys {
            flow: split.flow.name.clone(),
            buffer: ["threshold", "size"].map(|key| split.relay_key(scenario, 0, key)),
            window: window.1,
            far_window: far_window.1,
            stpp_window: stpp_window.1,
        },
    };
    let mut told = dimensions.broken(&checked);
    told.extend(broken(scenario, split, &link, &dimensions.plan));
    Ok((dimensions, told))
}

/// Connections over the link of this hop, in its direction.
fn sharing(scenario: &Scenario, hop: Hop<'_>) -> u64 {
    let crosses = |flow: &Flow| flow.hops().iter().any(|other| (other.from, other.to) == (hop.from, hop.to));
    scenario.flows.iter().filter(|flow| crosses(flow)).map(|flow| u64::from(flow.count)).sum()
}

/// Pairs of relays of a flow with TCP on the wires and STPP between them.
fn splits(flow: &Flow) -> impl Iterator<Item = Split<'_>> {
    let hops = flow.hops();
    let last = hops.len().saturating_sub(2);
    (0..last).filter_map(move |place| split(flow, place, hops.get(place..place + 3)?))
}

fn split<'a>(flow: &'a Flow, place: usize, hops: &[Hop<'a>]) -> Option<Split<'a>> {
    let hops: [Hop<'a>; 3] = hops.try_into().ok()?;
    // The end that accepts has the window of the wire, and sends the statuses.
    let tcp = hops[0].transport.acceptor.get()?;
    let (stpp, stpp_opener) = (hops[1].transport.acceptor.get()?, hops[1].transport.opener.get()?);
    let [tcp_opener, far_opener] = [hops[0].transport.opener.get()?, hops[2].transport.opener.get()?];
    let far = hops[2].transport.acceptor.get()?;
    Some(Split { flow, place, hops, tcp, tcp_opener, stpp, stpp_opener, far, far_opener })
}

fn segments(split: &Split<'_>, window_segments: u64) -> Segments {
    let payload = u64::from(split.tcp.mss_bytes);
    Segments {
        payload_bits: 8.0 * payload as f64,
        header_bits: 8.0 * f64::from(SEGMENT_HEADER_BYTES),
        relay_header_bits: 8.0 * f64::from(split.stpp.sdu_header_bytes.saturating_sub(SEGMENT_HEADER_BYTES)),
        window_segments,
    }
}

fn path(scenario: &Scenario, split: &Split<'_>) -> Result<SplitPath, String> {
    let [first, between, last] = split.hops;
    let (rate_bps, rtt_s, bit_error_rate) = link(scenario, between)?;
    let wire = |hop| link(scenario, hop).map(|(rate_bps, rtt_s, _)| Wire { rate_bps, rtt_s });
    Ok(SplitPath {
        wires: [wire(first)?, wire(last)?],
        satellite: Satellite { rate_bps, rtt_s, bit_error_rate },
    })
}

/// Rate, round trip and bit error rate of the link of a hop, in its direction.
fn link(scenario: &Scenario, hop: Hop<'_>) -> Result<(f64, f64, f64), String> {
    let name = |node: usize| &scenario.nodes[node].name;
    let (config, port) = config(scenario, hop).ok_or_else(|| {
        format!("(2) and (3) need the link between {} and {}; there is none", name(hop.from), name(hop.to))
    })?;
    let there: &DirectionConfig = config.direction(port);
    let rate_bps = there
        .rate_bps
        .ok_or_else(|| format!("(2) and (3) need a rate; that of links.{} is unlimited", config.name))?;
    let rtt_ns = there.delay_ns + config.direction(1 - port).delay_ns;
    Ok((rate_bps as f64, rtt_ns as f64 / 1e9, there.bit_error_rate))
}

/// Link of a hop, and the port of the end where the hop begins.
pub(super) fn config<'s>(scenario: &'s Scenario, hop: Hop<'_>) -> Option<(&'s LinkConfig, u32)> {
    scenario.links.iter().find_map(|link| {
        let port = link.ends.iter().position(|end| *end == hop.from)?;
        (link.ends[1 - port] == hop.to).then_some((&link.config, port as u32))
    })
}
