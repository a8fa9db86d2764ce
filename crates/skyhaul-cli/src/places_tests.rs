use super::*;

fn at(ms: u64) -> Instant {
    Instant::from_ns(ms * SECOND / 1000)
}

fn address(last: u8) -> Party {
    Party::at(IpAddr::from([192, 0, 2, last]))
}

/// Progress of a session that began then; opened, if it has opened.
fn begun(ms: u64, is_opened: bool) -> Rc<Progress> {
    let progress = Progress::new(at(ms));
    if is_opened {
        progress.observe(&Event::Started { files: 1, bytes: 9 }, at(ms));
    }
    progress
}

/// True if the holder of this place is asked to leave.
fn has_to_leave(place: &Place<'_>) -> bool {
    use std::future::Future as _;
    let mut leaving = std::pin::pin!(place.taken_away());
    leaving.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready()
}

/// All places, half of them of each of two addresses.
fn fill<'a>(places: &'a Places, progress: &Rc<Progress>) -> Vec<Place<'a>> {
    let now = progress.at.get();
    (0..MAX_PLACES).map(|i| places.take(address(1 + i as u8 % 2), progress, now).unwrap()).collect()
}

#[test]
fn who_brings_nothing_gives_way_and_who_brings_something_does_not() {
    let places = Places::default();
    let progress = begun(0, true);
    let held = fill(&places, &progress);
    progress.observe(&Event::Moved { bytes: 2048, total: 9999 }, at(0));
    assert!(places.take(address(9), &begun(2900, false), at(2900)).is_none(), "too early");
    progress.observe(&Event::Moved { bytes: 3072, total: 9999 }, at(2900));
    assert!(places.take(address(9), &begun(5000, false), at(5000)).is_none());
    progress.observe(&Event::Moved { bytes: 3172, total: 9999 }, at(5800));
    assert!(places.take(address(9), &begun(5900, false), at(5900)).is_some(), "a little is nothing");
    assert_eq!(held.iter().filter(|place| has_to_leave(place)).count(), 1);
}

#[test]
fn without_an_opening_one_gives_way_sooner_and_before_others() {
    let places = Places::default();
    let opened = begun(0, true);
    let mut held = fill(&places, &opened);
    opened.observe(&Event::Moved { bytes: 2048, total: 9999 }, at(0));
    held.pop();
    let silent = places.take(address(3), &begun(4000, false), at(4000)).unwrap();
    let early = places.take(address(4), &begun(4500, false), at(4500)).unwrap();
    assert!(!has_to_leave(&silent), "others have brought nothing for longer, and it is new");
    assert_eq!(held.iter().filter(|place| has_to_leave(place)).count(), 1);
    let next = places.take(address(5), &begun(5000, false), at(5000)).unwrap();
    assert!(has_to_leave(&silent) && !has_to_leave(&early) && !has_to_leave(&next));
}

#[test]
fn an_address_has_half_of_the_places_and_only_its_own_give_way_to_it() {
    let places = Places::default();
    let (busy, idle) = (begun(9000, true), begun(0, false));
    let _others: Vec<_> = (0..4).map(|i| places.take(address(10 + i), &idle, at(0)).unwrap()).collect();
    let held: Vec<_> = (0..16).map(|_| places.take(address(1), &busy, at(9000)).unwrap()).collect();
    assert!(places.take(address(1), &begun(9000, false), at(9000)).is_none());
    assert!(places.take(address(2), &begun(9000, false), at(9000)).is_some());
    drop(held);
    assert!(places.take(address(1), &begun(9000, false), at(9000)).is_some(), "a place that ended is free");
}

#[test]
fn whoever_opens_the_most_is_not_served_the_most() {
    let places = Places::default();
    let held = fill(&places, &begun(0, true));
    let newcomer =
        places.take(address(9), &begun(10, false), at(10)).expect("others have 16, and bring nothing");
    assert_eq!(held.iter().filter(|place| has_to_leave(place)).count(), 1);
    assert!(places.take(address(1), &begun(20, false), at(20)).is_none(), "not to one who has as many");
    assert!(!has_to_leave(&newcomer));
}

/// Every address had one place at most, each as new as the newcomer's: none of them gave way, and a newcomer
/// got one of 32 in 3 s only before them.
#[test]
fn fresh_sessions_of_many_addresses_that_bring_nothing_give_way_to_one_with_a_clean_record() {
    let places = Places::default();
    let take = |last: u8, ms| places.take(address(last), &begun(ms, true), at(ms));
    let crowd = |ms: u64| (0..MAX_PLACES as u8).map(|i| take(100 + i, ms)).collect::<Vec<_>>();
    drop(crowd(0));
    let held = crowd(500);
    let newcomer = take(9, 510).expect("the others had places and brought nothing");
    assert_eq!(held.iter().flatten().filter(|place| has_to_leave(place)).count(), 1);
    // It is not their victim, and they are none of each other's.
    assert!((0..200).all(|i| take(100 + i % 32, 520 + u64::from(i)).is_none()) && !has_to_leave(&newcomer));
    let wasted = |last| places.fruitless.borrow().of(address(last), at(800));
    assert_eq!((0..200).map(wasted).sum::<usize>(), 32, "being told that there is no room counts for nobody");
    assert!(take(8, 800).is_some());
}

/// It would be out for good: whoever has given way once gives way at once, before it can bring anything.
#[test]
fn who_gave_way_before_it_had_time_to_bring_anything_has_a_clean_record() {
    let places = Places::default();
    let take = |last: u8, ms| places.take(address(last), &begun(ms, true), at(ms));
    let _crowd: Vec<_> = (0..31).map(|i| take(100 + i, 0).unwrap()).collect();
    drop(take(9, 0)); // it left by itself
    let second = take(9, 100).unwrap();
    let other = take(10, 200).expect("the second place of one that brought nothing");
    assert!(has_to_leave(&second) && !has_to_leave(&other));
    drop(second);
    assert_eq!(places.fruitless.borrow().of(address(9), at(200)), 1, "that it left");
}

/// With 3 s for each a newcomer beside 64 new addresses had to wait for twice that.
#[test]
fn transfers_that_have_brought_nothing_have_less_time_where_many_have_not() {
    let places = Places::default();
    let take = |last: u8, progress: &_, ms| places.take(address(last), progress, at(ms));
    let (slow, busy) = (begun(0, true), begun(0, true));
    busy.observe(&Event::Moved { bytes: 2048, total: 9999 }, at(0));
    let mut held: Vec<_> = (0..16).map(|i| take(100 + i, &busy, 0).unwrap()).collect();
    held.extend((0..16).map(|i| take(200 + i, &slow, 0).unwrap()));
    assert!(take(9, &begun(2000, true), 2000).is_none(), "half of them have brought something");
    held.remove(0);
    let _one_more = take(8, &slow, 2000).unwrap();
    let newcomer = take(9, &begun(2000, true), 2000);
    assert!(newcomer.is_some() && !held[..15].iter().any(has_to_leave), "who has keeps its place");
}

#[test]
fn who_brought_something_has_a_clean_record_and_keeps_its_place() {
    let places = Places::default();
    let progress = begun(0, true);
    progress.observe(&Event::Moved { bytes: 2048, total: 9999 }, at(0));
    let crowd = |ms| {
        let take = |i| places.take(address(100 + i), &progress, at(ms)).unwrap();
        (0..MAX_PLACES as u8).map(take).collect::<Vec<_>>()
    };
    drop(crowd(0));
    let _held = crowd(100);
    assert!(places.take(address(9), &begun(110, true), at(110)).is_none());
}

#[test]
fn half_as_many_wait_as_have_places_and_those_of_one_address_leave_room() {
    let places = Places::default();
    let mut turns: Vec<_> = (0..8).map(|_| places.wait(address(1)).unwrap()).collect();
    assert!(places.wait(address(1)).is_none());
    turns.extend((0..8).map(|i| places.wait(address(2 + i)).unwrap()));
    assert!(places.wait(address(99)).is_none());
    turns.pop();
    assert!(places.wait(address(99)).is_some());
}

#[test]
fn who_waits_takes_no_place_from_anybody() {
    use std::future::Future as _;
    let places = Places::default();
    let mut held = fill(&places, &begun(0, true)); // all idle for long
    let (turn, progress) = (places.wait(address(3)).unwrap(), begun(0, true));
    let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap();
    let _entered = runtime.enter();
    let mut waits = std::pin::pin!(turn.place(&progress));
    let context = &mut std::task::Context::from_waker(std::task::Waker::noop());
    assert!(waits.as_mut().poll(context).is_pending());
    assert!(!held.iter().any(has_to_leave));
    held.pop();
    drop(runtime.block_on(waits));
}

#[test]
fn what_is_waited_for_is_what_makes_progress_and_whose_sender_answers() {
    let places = Places::default();
    let progress = begun(0, true);
    assert!(!places.is_any_busy(at(0)), "nobody is there");
    let _held = places.take(address(1), &progress, at(0)).unwrap();
    assert!(places.is_any_busy(at(9_900)), "nothing tells that its sender is gone");
    progress.hear(at(0));
    assert!(places.is_any_busy(at(2_900)) && !places.is_any_busy(at(3_000)), "it is gone");
    progress.hear(at(8_000));
    assert!(places.is_any_busy(at(9_900)), "it answers, and reads a slow disk");
    progress.hear(at(9_900));
    assert!(!places.is_any_busy(at(10_000)), "it brings nothing");
}

#[test]
fn a_transfer_without_a_place_yet_is_waited_for_within_a_bound() {
    let places = Places::default();
    let (early, nothing) = (begun(0, true), begun(0, false));
    let _stranger = places.begin(&nothing, at(0));
    assert!(!places.is_any_busy(at(0)), "there is no transfer yet");
    let session = places.begin(&early, at(0));
    early.observe(&Event::Moved { bytes: 4000, total: 10_000 }, at(9_000));
    assert!(places.is_any_busy(at(9_900)) && !places.is_any_busy(at(10_000)), "whatever it brings");
    drop(session);
    assert!(!places.is_any_busy(at(1_000)), "it has ended");
}

#[test]
fn farewells_are_waited_for_within_a_bound_and_the_host_with_most_of_them_gives_way() {
    fn has_to_go(farewell: &Farewell<'_>) -> bool {
        use std::future::Future as _;
        let mut leaving = std::pin::pin!(farewell.taken_away());
        leaving.as_mut().poll(&mut std::task::Context::from_waker(std::task::Waker::noop())).is_ready()
    }
    let places = Places::default();
    let honest = places.farewell(address(1));
    let crowd: Vec<_> = (0..2 * MAX_FAREWELLS).map(|_| places.farewell(address(2))).collect();
    assert!(!has_to_go(&honest));
    let gone = crowd.iter().map(has_to_go).collect::<Vec<_>>();
    assert_eq!(gone.iter().filter(|&&gone| gone).count(), MAX_FAREWELLS + 1);
    assert!(gone[..=MAX_FAREWELLS].iter().all(|&gone| gone), "the oldest go first");
    drop(crowd);
    assert_eq!(places.farewells.borrow().len(), 1);
}

/// A file that was refused every 2.7 s was progress, whatever it brought.
#[test]
fn a_refused_file_now_and_then_is_no_progress_and_many_are_as_much_as_they_take() {
    let name = skyhaul_files::RawName::new(".x");
    let places = Places::default();
    let progress = begun(0, true);
    let held = fill(&places, &progress);
    let refused = |ms| {
        let report = skyhaul_files::FileReport::unfinished(name.clone(), 1, skyhaul_files::Side::Receiver);
        progress.observe(&Event::File { file: 0, name: &name, bytes: 1 }, at(ms));
        progress.observe(&Event::Settled { file: 0, report: &report }, at(ms));
    };
    (0..30).for_each(|_| refused(2700));
    assert!(places.take(address(9), &begun(5600, false), at(5600)).is_none(), "a kilobyte has come");
    refused(5400);
    let newcomer = places.take(address(9), &begun(5800, false), at(5800));
    assert!(newcomer.is_some() && held.iter().filter(|place| has_to_leave(place)).count() == 1);
}

/// Files of an octet moved less than a kilobyte, and were progress each.
#[test]
fn many_small_files_are_progress() {
    let name = skyhaul_files::RawName::new("small");
    let progress = begun(0, true);
    for i in 1..=100 {
        progress.observe(&Event::File { file: i, name: &name, bytes: 1 }, at(100 * u64::from(i)));
        progress.observe(&Event::Moved { bytes: i.into(), total: 100 }, at(100 * u64::from(i)));
        assert!(!progress.is_idle(at(100 * u64::from(i))), "{i}");
    }
}

/// The time that a slow disk takes for files that are here is not their sender's.
#[test]
fn files_that_wait_for_a_slow_disk_are_no_silence() {
    let name = skyhaul_files::RawName::new("file");
    let report = skyhaul_files::FileReport::unfinished(name.clone(), 1, skyhaul_files::Side::Receiver);
    let progress = begun(0, true);
    for file in 0..10 {
        progress.observe(&Event::File { file, name: &name, bytes: 1 }, at(0));
        progress.observe(&Event::Whole { file }, at(500));
    }
    for file in 0..10 {
        let now = at(2500 + 2000 * u64::from(file));
        progress.observe(&Event::Settled { file, report: &report }, now);
        assert_eq!(progress.idle_ns(now), SECOND / 2, "{file}");
    }
    assert!(progress.is_idle(at(23_000)), "nothing comes, and nothing waits for the disk");
}
