use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * MS)
}

fn spent(limits: &LimitTimes, ms: u64, limit: Limit) -> u64 {
    limits.until(at(ms)).spent_ns(limit) / MS
}

#[test]
fn time_is_that_of_the_limit_that_held_and_none_is_lost() {
    let mut limits = LimitTimes::new(at(5));
    limits.rest(at(7), Limit::Opening, None);
    limits.depart(at(30));
    limits.rest(at(30), Limit::PathRate, Some(at(40)));
    assert_eq!(limits.current(), Limit::PathRate);
    for (limit, ms) in [(Limit::Unwritten, 2), (Limit::Opening, 23), (Limit::PathRate, 10)] {
        assert_eq!(spent(&limits, 40, limit), ms, "{limit:?}");
    }
    for ms in [5, 30, 40, 999] {
        assert_eq!(limits.until(at(ms)).total_ns() / MS, ms.max(30) - 5, "never less than was booked");
    }
}

#[test]
fn what_comes_later_than_the_credit_of_pacers_is_up_to_the_machine() {
    let mut limits = LimitTimes::new(at(0));
    limits.rest(at(0), Limit::DeclaredRate, Some(at(1)));
    assert_eq!(spent(&limits, 11, Limit::Machine), 0);
    assert_eq!(spent(&limits, 3001, Limit::Machine), 2990);
    limits.depart(at(3001));
    limits.depart(at(3101));
    assert_eq!(spent(&limits, 3101, Limit::Machine), 3090, "and so is sending without a rest");
    assert_eq!(spent(&limits, 3101, Limit::DeclaredRate), 11);
}

#[test]
fn a_look_ahead_never_takes_back_what_an_earlier_one_showed() {
    let mut limits = LimitTimes::new(at(0));
    limits.rest(at(0), Limit::PathRate, Some(at(3)));
    let mut before = limits.until(at(0));
    for ms in 1..40 {
        let after = limits.until(at(ms));
        assert!(Limit::ALL.iter().all(|&limit| after.spent_ns(limit) >= before.spent_ns(limit)), "{ms}");
        before = after;
    }
    limits.rest(at(39), Limit::Drained, None);
    assert_eq!(limits.until(at(39)), LimitTimes { current: Limit::Drained, due: None, ..before });
}

#[test]
fn questions_are_charged_to_what_they_found() {
    let mut limits = LimitTimes::new(at(0));
    limits.ask(Limit::Losses);
    limits.rest(at(0), Limit::Asking, None);
    assert_eq!((spent(&limits, 50, Limit::Losses), limits.current()), (50, Limit::Losses));
    limits.judge(at(80), Some(Limit::Outage));
    assert_eq!((spent(&limits, 80, Limit::Losses), spent(&limits, 80, Limit::Outage)), (0, 80));
    limits.ask(Limit::Outage);
    limits.judge(at(90), None);
    assert_eq!(spent(&limits, 90, Limit::Outage), 90);
    assert_eq!(limits.until(at(90)).spent_ns(Limit::Asking), 0);
}

#[test]
fn what_is_thought_to_be_others_time_is_moved_to_them_when_they_are_there() {
    let mut limits = LimitTimes::new(at(0));
    limits.rest(at(0), Limit::PathRate, None);
    limits.meet(at(100), Others::Suspected);
    limits.rest(at(130), Limit::Overflow, None);
    limits.rest(at(140), Limit::Losses, None);
    limits.rest(at(145), Limit::PathRate, None);
    limits.meet(at(200), Others::Suspected);
    assert_eq!((spent(&limits, 200, Limit::PathRate), spent(&limits, 200, Limit::Neighbour)), (185, 0));
    limits.meet(at(200), Others::Present);
    let rows = [Limit::PathRate, Limit::Overflow, Limit::Losses, Limit::Neighbour];
    assert_eq!(rows.map(|row| spent(&limits, 300, row)), [100, 0, 5, 195], "damage stays what it is");
    assert_eq!(limits.current(), Limit::Neighbour);
    limits.meet(at(300), Others::Absent);
    limits.meet(at(400), Others::Suspected);
    limits.meet(at(450), Others::Absent);
    limits.meet(at(470), Others::Suspected);
    limits.meet(at(500), Others::Present);
    assert_eq!(rows.map(|row| spent(&limits, 500, row)), [270, 0, 5, 225], "an old suspicion is none");
    assert_eq!(limits.until(at(500)).total_ns() / MS, 500);
}

#[test]
fn a_confirmation_takes_a_round_trip_and_what_is_beyond_waits_on_the_way() {
    let mut limits = LimitTimes::new(at(0));
    limits.confirm_within(500 * MS);
    limits.rest(at(0), Limit::Drained, None);
    assert_eq!(spent(&limits, 300, Limit::Drained), 300);
    limits.depart(at(300));
    limits.rest(at(300), Limit::Drained, None); // a POLL alone
    assert_eq!((spent(&limits, 5000, Limit::Drained), spent(&limits, 5000, Limit::PathRate)), (500, 4500));
    limits.rest(at(5000), Limit::Settled, None);
    limits.rest(at(6000), Limit::Drained, None);
    assert_eq!(spent(&limits, 6400, Limit::Drained), 900, "another one");
    assert_eq!(limits.until(at(7000)).total_ns() / MS, 7000);
}

#[test]
fn a_clock_that_stands_or_goes_back_costs_nothing() {
    let mut limits = LimitTimes::new(at(9));
    limits.rest(at(3), Limit::PathRate, Some(at(1)));
    limits.rest(at(9), Limit::PathRate, Some(at(1)));
    assert_eq!(limits.until(at(2)).total_ns(), 0);
}

#[test]
fn outages_that_were_packets_too_large_are_losses() {
    for (were_too_large, losses_ms, outage_ms) in [(true, 30, 0), (false, 0, 30)] {
        let mut limits = LimitTimes::new(at(0));
        limits.rest(at(0), Limit::Asking, None);
        limits.judge(at(30), Some(Limit::Outage));
        limits.settle_outages(were_too_large);
        limits.settle_outages(true); // what is decided stays
        assert_eq!(
            [Limit::Losses, Limit::Outage].map(|limit| spent(&limits, 30, limit)),
            [losses_ms, outage_ms],
            "{were_too_large}"
        );
        assert_eq!(limits.until(at(30)).total_ns(), 30 * 1_000_000);
    }
}
