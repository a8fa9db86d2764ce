use alloc::format;
use alloc::vec::Vec;

use skyhaul_core::{Instant, MS, NullSink, SECOND, Stream};

use crate::conditions::RECENT_STAYS;
use crate::test_support::{at, both_ways, hollow, link, state, with_channel, with_outages};
use crate::{Conditions, DirectionConfig, Link, LinkConfig, Outage, Stay};

fn changing() -> LinkConfig {
    let direction = DirectionConfig { delay_ns: 5 * MS, ..DirectionConfig::default() };
    let (good, bad) = (state(10 * MS, 0.0, [MS, 2 * MS]), state(4 * MS, 1.0, [0, 0]));
    let scheduled = [(20 * MS, 30 * MS), (2 * SECOND, 2 * SECOND + MS)];
    with_channel(with_outages(both_ways(direction), &scheduled), good, bad)
}

fn conditions(config: &LinkConfig) -> Conditions {
    Conditions::new(config, 1).unwrap()
}

/// All that can be asked about an instant.
fn answers(conditions: &Conditions, ns: u64) -> (bool, u64, u64, Option<Stay>) {
    let t = at(ns);
    (conditions.is_up(t), conditions.delay_ns(0, t), conditions.delay_ns(1, t), conditions.stay(t))
}

/// A link through which so many packets went, one a millisecond.
fn used(packets: u64) -> Link {
    let mut link = link(&changing(), 1);
    for n in 0..packets {
        link.handle(at(n * MS), (n % 2) as u32, hollow(100, 0), &mut NullSink);
        while link.poll_transmit(at(n * MS)).is_some() {}
    }
    link
}

/// Instants all over the first ten seconds and beyond, in no order.
fn scattered() -> Vec<u64> {
    let mut stream = Stream::new(1, "instants");
    let mut all: Vec<u64> = (0..400).map(|_| stream.below(10 * SECOND)).collect();
    all.extend([0, 1, 100 * SECOND, 20 * MS, 30 * MS - 1]);
    all
}

#[test]
fn neither_the_order_of_questions_nor_traffic_changes_an_answer() {
    let fresh = conditions(&changing());
    let instants = scattered();
    let expected: Vec<_> = instants.iter().map(|&ns| answers(&fresh, ns)).collect();
    for link in [0, 50, 5000].map(used) {
        for (&ns, expected) in instants.iter().zip(&expected).rev() {
            assert_eq!(&answers(link.conditions(), ns), expected, "at {ns} ns");
            assert_eq!(link.is_up(at(ns)), expected.0);
        }
    }
}

#[test]
fn every_answer_is_that_of_the_stay_that_covers_the_instant() {
    let link = used(3000);
    let conditions = link.conditions();
    let stays: Vec<Stay> = conditions.stays().take(2000).collect();
    for ns in scattered().into_iter().filter(|&ns| ns < 10 * SECOND) {
        let covers = |stay: &&Stay| stay.from <= at(ns) && at(ns) < stay.to;
        let stay = *stays.iter().find(covers).unwrap();
        let scheduled = link.config().outages.iter().any(|o| o.from <= at(ns) && at(ns) < o.to);
        let expected =
            (!scheduled && !stay.is_down, 5 * MS + stay.delay_ns, 5 * MS + stay.delay_ns, Some(stay));
        assert_eq!(answers(conditions, ns), expected);
    }
}

#[test]
fn memory_is_bounded_and_the_present_is_in_it() {
    let mut link = link(&changing(), 1);
    for second in 0..200 {
        let now = at(second * SECOND);
        link.handle(now, 0, hollow(100, 0), &mut NullSink);
        assert!(link.conditions().kept_stays() <= RECENT_STAYS);
    }
    assert_eq!(link.conditions().kept_stays(), RECENT_STAYS, "it was used up");
    assert_eq!(conditions(&changing()).kept_stays(), 0, "nothing is made before it is needed");
}

#[test]
fn asking_changes_nothing() {
    let link = used(500);
    let before = format!("{link:?}");
    for ns in scattered() {
        answers(link.conditions(), ns);
    }
    let _ = (link.conditions().outages(at(0), at(SECOND)), link.conditions().stays().take(900).count());
    assert_eq!(format!("{link:?}"), before);
}

#[test]
fn a_link_without_a_channel_knows_its_schedule_and_delays() {
    let mut config = LinkConfig { channel: None, ..changing() };
    config.reverse.delay_ns = 8 * MS;
    let conditions = conditions(&config);
    assert_eq!(answers(&conditions, 25 * MS), (false, 5 * MS, 8 * MS, None));
    assert_eq!(answers(&conditions, 30 * MS), (true, 5 * MS, 8 * MS, None));
    assert_eq!(conditions.stays().count(), 0);
    assert_eq!(conditions.outages(at(0), at(SECOND)), [Outage { from: at(20 * MS), to: at(30 * MS) }]);
    assert_eq!(conditions.kept_stays(), 0);
}

#[test]
fn outages_are_those_of_the_schedule_and_of_the_channel_made_one_list() {
    let conditions = conditions(&changing());
    let all = conditions.outages(at(0), at(3 * SECOND));
    assert!(all.len() > 100);
    assert!(all.iter().all(|outage| outage.from < outage.to));
    assert!(all.windows(2).all(|pair| pair[0].to < pair[1].from), "neither overlapping nor touching");
    let inside = |t: Instant| all.iter().any(|outage| outage.from <= t && t < outage.to);
    for ns in scattered().into_iter().filter(|&ns| ns < 3 * SECOND) {
        assert_eq!(conditions.is_up(at(ns)), !inside(at(ns)), "at {ns} ns");
    }
    for outage in &all {
        assert!(!conditions.is_up(outage.from) && !conditions.is_up(outage.to.before(1)));
        assert!(conditions.is_up(outage.to) || outage.to == at(3 * SECOND));
    }
}

#[test]
fn outages_are_cut_off_at_the_ends_that_were_asked_for() {
    let conditions = conditions(&changing());
    assert_eq!(conditions.outages(at(22 * MS), at(24 * MS)), [Outage { from: at(22 * MS), to: at(24 * MS) }]);
    assert_eq!(conditions.outages(at(22 * MS), at(22 * MS)), []);
}

#[test]
fn a_senseless_configuration_has_no_conditions() {
    let config = with_channel(LinkConfig::default(), state(1, 0.0, [0, 0]), state(SECOND, 0.0, [0, 0]));
    assert_eq!(Conditions::new(&config, 1).unwrap_err().field, "channel.good.mean_stay_ns");
}

/// Stays that are all down have no end, and the end of their outage was looked for stay by stay.
#[test]
fn a_channel_that_is_never_up_is_one_outage() {
    let down = || state(MS, 1.0, [0, 0]);
    let conditions = conditions(&with_channel(LinkConfig::default(), down(), down()));
    let whole = Outage { from: Instant::ZERO, to: Instant::MAX };
    assert_eq!([0, SECOND].map(|ns| conditions.outage_at(at(ns))), [Some(whole); 2]);
}
