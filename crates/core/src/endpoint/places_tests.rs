use alloc::vec::Vec;

use super::*;

const BOUNDS: Bounds = Bounds { max_connections: 8, max_unproven: 4, max_early: 2 };

/// Places with these connections, by host and whether it is unproven; they are numbered from 1.
fn with(connections: &[(u64, bool)]) -> (Places, Vec<Seat>) {
    let mut places = Places::new(BOUNDS, true);
    let seats =
        connections.iter().zip(1..).map(|(&(host, is_unproven), id)| places.enter(id, host, is_unproven));
    let seats = seats.collect();
    (places, seats)
}

#[test]
fn the_oldest_without_proof_gives_way_and_never_a_proven_one() {
    let (mut places, mut seats) = with(&[(1, false), (1, true), (2, true), (3, true), (4, true)]);
    assert_eq!(places.find(9, 5), Place::Instead(2));
    places.settle(2, &mut seats[1], false);
    assert_eq!(places.find(9, 5), Place::Free, "one of them is proven now");
    assert_eq!(places.find(9, 8), Place::Instead(3), "all places are taken");
    let (places, _) = with(&[(1, false), (2, false)]);
    assert_eq!(places.find(9, 8), Place::None, "nobody gives way");
}

#[test]
fn a_host_has_half_of_the_places_and_gives_way_to_itself() {
    let (places, _) = with(&[(1, true), (7, true), (7, true)]);
    assert_eq!(places.find(7, 3), Place::Instead(2));
    assert_eq!(places.find(8, 3), Place::Free);
    let (places, _) = with(&[(7, false), (7, false), (7, false), (7, false)]);
    assert_eq!(places.find(7, 4), Place::None);
    assert_eq!(places.find(8, 4), Place::Free);
}

#[test]
fn a_proven_newcomer_needs_a_place_among_all_and_none_among_the_unproven() {
    let (places, _) = with(&[(1, true), (2, true), (3, true), (4, true)]);
    assert_eq!((places.find(9, 4), places.find_proven(9, 4)), (Place::Instead(1), Place::Free));
    assert_eq!(places.find_proven(9, 8), Place::Instead(1), "all places are taken");
    let (places, _) = with(&[(1, true), (7, false), (7, true), (7, false), (7, false)]);
    assert_eq!(places.find_proven(7, 8), Place::Instead(3), "a host makes room for itself");
    let (places, _) = with(&[(7, false), (7, false), (7, false), (7, false)]);
    assert_eq!(places.find_proven(7, 4), Place::None);
}

#[test]
fn hosts_that_nobody_tells_apart_have_all_places() {
    let mut places = Places::new(BOUNDS, false);
    for id in 1..=7 {
        places.enter(id, 0, false);
    }
    assert_eq!(places.find(0, 7), Place::Free);
}

#[test]
fn few_are_handed_out_before_the_proof_and_each_frees_its_place_once() {
    let (mut places, mut seats) = with(&[(1, true), (2, true), (3, true), (4, false)]);
    assert!(places.may_announce(&mut seats[0]) && places.may_announce(&mut seats[1]));
    assert!(!places.may_announce(&mut seats[2]) && places.may_announce(&mut seats[3]));
    places.settle(2, &mut seats[1], true);
    assert_eq!(places.find(9, 8), Place::Free, "of 8 one is over");
    assert!(!places.may_announce(&mut seats[2]), "it is over, and not let go");
    places.settle(1, &mut seats[0], false);
    places.settle(1, &mut seats[0], false);
    assert!(places.may_announce(&mut seats[2]));
    for (seat, id) in seats.into_iter().zip(1..) {
        places.leave(id, seat);
    }
    places.check_invariants(0);
}
