//! A ladder shows what happened: each packet once, lost or with its delay, and the cycles in between.

use skyhaul_core::{Instant, MS};
use skyhaul_link::{DirectionConfig, LinkConfig, Outage};
use skyhaul_stp::{Config, ProbingConfig};

use super::LadderLine;
use crate::{Transfer, simulate};

/// A paper sender over a link of 100 ms without a rate that is gone from 2.0 to 2.7 s.
fn lines() -> Vec<LadderLine> {
    let direction = DirectionConfig { delay_ns: 100 * MS, ..DirectionConfig::default() };
    let at = |ms| Instant::from_ns(ms * MS);
    let link = LinkConfig {
        name: "ladder".into(),
        forward: direction.clone(),
        reverse: direction,
        outages: vec![Outage { from: at(2_000), to: at(2_700) }],
        ..LinkConfig::default()
    };
    let paper = Config { probing: Some(ProbingConfig::paper()), ..Config::paper() };
    let transfer = Transfer { sender: paper.clone(), receiver: paper, ..Transfer::new(link, 1, 700_000) };
    let mut scenario = transfer.scenario();
    scenario.metrics.ladder = true;
    simulate(&scenario, 1).expect("it arrives").ladder
}

#[test]
fn packets_of_the_outage_are_lost_and_all_others_take_the_delay_of_the_link() {
    let mut packets = 0;
    for line in lines() {
        let LadderLine::Packet { t_s, arrived_s, .. } = line else { continue };
        packets += 1;
        let is_lost = (2.0..2.7).contains(&t_s);
        assert_eq!(arrived_s.is_none(), is_lost, "{t_s}");
        if let Some(arrived_s) = arrived_s {
            assert!((arrived_s - t_s - 0.1).abs() < 1e-9, "{t_s} {arrived_s}");
        }
    }
    assert!(packets > 700, "{packets}");
}

#[test]
fn the_outage_and_the_cycle_that_it_starts_are_bands_and_the_map_fills_behind_its_reserved_entry() {
    let (mut bands, mut maps, mut probes) = (Vec::new(), Vec::new(), Vec::new());
    for line in lines() {
        match line {
            LadderLine::Band { band, from_s, to_s } => bands.push((band, from_s, to_s)),
            LadderLine::Map { map, .. } => maps.push(map),
            LadderLine::Packet { label, kind: "probe", .. } => probes.push(label),
            LadderLine::Packet { .. } => {}
        }
    }
    assert_eq!(bands[0], ("link down".to_string(), 2.0, 2.7));
    assert!(bands[1].0.starts_with("probing after early timeout"), "{bands:?}");
    assert!(bands[1].1 > 2.0 && bands[1].2 > 2.7, "{bands:?}");
    assert_eq!(maps[0], ["reserved", "asked"]);
    assert!(probes.iter().any(|label| label.contains("PROBE 1")), "{probes:?}");
}
