//! Connections that take their turns as a path with a rate lets them.

use super::*;

fn weighing(weight: u8) -> FairShare {
    FairShare { weight: Weight::new(weight).unwrap(), ..FairShare::default() }
}

/// So many packets leave; those of `queue` (numbers are places) that have something to send enter before
/// each.
fn octets(queue: &mut FairQueue, members: &mut [FairShare], packets: &[u64], count: usize) -> [u64; 3] {
    let mut sent = [0; 3];
    for _ in 0..count {
        for (id, share) in members.iter_mut().enumerate() {
            queue.enter(id as ConnectionId, share, true);
        }
        let next = queue.call().unwrap() as usize;
        queue.charge(&mut members[next], packets[next]);
        sent[next] += packets[next];
        while queue.call().is_some() {}
        for share in &mut *members {
            queue.set_waiting(share, true);
        }
    }
    sent
}

#[test]
fn octets_go_by_weight_whatever_the_size_of_the_packets() {
    let mut queue = FairQueue::default();
    let mut members = [weighing(1), weighing(3), weighing(255)];
    let sent = octets(&mut queue, &mut members, &[1500, 90, 1500], 40_000);
    let share = |octets: u64, weight: u64| octets as f64 / weight as f64;
    let each = [share(sent[0], 1), share(sent[1], 3), share(sent[2], 255)];
    assert!(each.iter().all(|one| (one / each[0] - 1.0).abs() < 0.02), "{sent:?}");
}

#[test]
fn silence_earns_nothing_and_costs_nothing() {
    let mut queue = FairQueue::default();
    let mut members = [weighing(1), weighing(1)];
    octets(&mut queue, &mut members[..1], &[1500], 1000);
    let sent = octets(&mut queue, &mut members, &[1500; 2], 100);
    assert_eq!(sent, [50 * 1500, 50 * 1500, 0]);
}

#[test]
fn what_goes_past_those_who_wait_does_not_hold_up_who_comes_next() {
    let mut queue = FairQueue::default();
    let mut members = [weighing(1), weighing(1)];
    octets(&mut queue, &mut members[..1], &[1500], 10);
    let mut answers = weighing(1);
    for _ in 0..1000 {
        queue.enter(7, &mut answers, true);
        assert_eq!(queue.call(), Some(7));
        queue.charge(&mut answers, 80);
    }
    let sent = octets(&mut queue, &mut members, &[1500; 2], 4);
    assert_eq!(sent, [2 * 1500, 2 * 1500, 0]);
}

#[test]
fn where_no_rate_is_kept_the_first_to_come_is_next() {
    let mut queue = FairQueue::default();
    let mut members = [weighing(1), weighing(1)];
    queue.charge(&mut members[0], 90_000);
    queue.enter(0, &mut members[0], false);
    queue.enter(1, &mut members[1], false);
    assert_eq!([queue.call(), queue.call(), queue.call()], [Some(0), Some(1), None]);
}

#[test]
fn weights_are_from_1_to_255() {
    assert_eq!(Weight::default(), Weight::ONE);
    assert_eq!((Weight::new(0), Weight::try_from(0).ok(), Weight::try_from(256).ok()), (None, None, None));
    assert_eq!(Weight::try_from(255).map(u64::from), Ok(255));
}
