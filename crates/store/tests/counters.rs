//! Counters are granted once, whoever asks; a disk that is full or went back costs freshness, nothing else.
#![allow(clippy::unwrap_used, reason = "a test that meets an error has failed")]
#![allow(missing_docs, reason = "a test")]

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Write as _;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use skyhaul_association::{
    AssociationId, Associations, Config, Event, HEAD_BYTES, Identity, OVERHEAD_BYTES, PeerId, PeerSettings,
    PublicKey, RESERVATION, Sealed, Secret, Token,
};
use skyhaul_core::Instant;
use skyhaul_core::envelope::Mode;
use skyhaul_store::{Clerk, Counters, Entered, KnownPeer, Remembered, Store, StoreError, Whom, enter};
use tempfile::TempDir;

const KEY: PublicKey = PublicKey([7; 32]);

fn counters(folder: &TempDir) -> Counters {
    Counters::in_folder(folder.path().join("counters"))
}

#[test]
fn every_counter_is_granted_once() {
    let folder = tempfile::tempdir().unwrap();
    let granted = std::thread::scope(|scope| {
        let claims = (0..8).map(|_| scope.spawn(|| counters(&folder).claim(KEY, 0).unwrap()));
        let claims: Vec<_> = claims.collect();
        claims.into_iter().flat_map(|claim| claim.join().unwrap()).collect::<Vec<u64>>()
    });
    assert_eq!(granted.len() as u64, 8 * RESERVATION);
    assert_eq!(granted.iter().collect::<BTreeSet<_>>().len(), granted.len());
    assert!(!granted.contains(&0), "0 says that there is none");
    let far = counters(&folder).claim(KEY, 10_000).unwrap();
    assert_eq!(far, 10_000 - RESERVATION..10_000, "where the acceptor said to count on from");
}

#[test]
fn a_token_and_counters_leave_each_other_alone() {
    let folder = tempfile::tempdir().unwrap();
    let counters = counters(&folder);
    assert_eq!(counters.recall(KEY).unwrap(), Remembered::default());
    let granted = counters.claim(KEY, 0).unwrap();
    counters.keep_token(KEY, Token([3; 32])).unwrap();
    let remembered = Remembered { reserved: granted.end, token: Token([3; 32]) };
    assert_eq!(counters.recall(KEY).unwrap(), remembered);
    assert_eq!(counters.recall(PublicKey([8; 32])).unwrap(), Remembered::default(), "of another peer");
}

#[test]
fn torn_counters_begin_anew_and_foreign_ones_are_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let counters = counters(&folder);
    counters.claim(KEY, 5000).unwrap();
    let place = fs::read_dir(folder.path().join("counters")).unwrap().next().unwrap().unwrap().path();
    let whole = fs::read(&place).unwrap();
    fs::write(&place, &whole[..whole.len() / 2]).unwrap();
    assert_eq!(counters.recall(KEY).unwrap(), Remembered::default());
    assert_eq!(counters.claim(KEY, 0).unwrap(), 1..1 + RESERVATION);
    fs::write(&place, "a letter\n").unwrap();
    let refused = [counters.recall(KEY).map(drop), counters.claim(KEY, 0).map(drop)];
    for refused in refused {
        assert!(matches!(refused, Err(StoreError::Unusable { .. })), "{refused:?}");
    }
    assert_eq!(fs::read(&place).unwrap(), b"a letter\n");
}

/// Machine with a store that opens, and one that accepts; datagrams between them never get lost.
struct World {
    store: Store,
    state: std::path::PathBuf,
    acceptor: Associations,
    peer: KnownPeer,
    now: Instant,
}

/// Process of the opening machine.
struct Process {
    entered: Entered,
    clerk: Clerk,
    id: PeerId,
}

const OPENER: ([u8; 4], u16) = ([192, 0, 2, 1], 4700);
const ACCEPTOR: ([u8; 4], u16) = ([192, 0, 2, 2], 4700);

impl World {
    fn new(folder: &Path) -> Self {
        let (config, state) = (folder.join("config"), folder.join("state"));
        let store = Store::at(config, state.clone());
        let machine = store.machine_or_new().unwrap();
        let identity = Identity::new(Secret::new([2; 32]));
        let psk = Secret::new([3; 32]);
        let peer = KnownPeer {
            name: "acceptor".parse().unwrap(),
            key: identity.public(),
            psk: psk.clone(),
            mode: Mode::Encrypted,
            callsign: None,
            address: None,
            may_send: false,
        };
        store.change_book(|book| book.add(peer.clone())).unwrap();
        let mut acceptor = Associations::new(Config::default(), identity, Secret::new([4; 32]));
        let key = machine.identity().public();
        let settings = PeerSettings { key, psk, mode: Mode::Encrypted, token: Token::NONE, reserved: 0 };
        acceptor.add_peer(settings).unwrap();
        Self { store, state, acceptor, peer, now: Instant::from_ns(1_000_000_000) }
    }

    fn start(&self) -> Process {
        let machine = self.store.machine().unwrap().unwrap();
        let whom = Whom::Called(self.peer.key);
        let entered = enter(&self.store, &machine, Config::default(), whom).unwrap();
        let clerk = Clerk::start(self.store.counters(), entered.roster.keys()).unwrap();
        let id = *entered.roster.keys().keys().next().unwrap();
        Process { entered, clerk, id }
    }

    /// One exchange over a new association: whether its early data was delivered at once, and what the
    /// acceptor noticed.
    fn exchange(&mut self, process: &mut Process) -> (bool, Vec<Event>) {
        let associations = &mut process.entered.associations;
        let id = associations.open(self.now, process.id, ACCEPTOR.into()).unwrap();
        self.seal(associations, id);
        let mut to_acceptor = drain(associations);
        let first = self.accept(&to_acceptor);
        let mut is_delivered = first > 0;
        let mut delivered = first;
        for _ in 0..4 {
            for datagram in drain(&mut self.acceptor) {
                let associations = &mut process.entered.associations;
                associations.handle(self.now, ACCEPTOR.into(), &mut datagram.clone());
            }
            to_acceptor = drain(&mut process.entered.associations);
            delivered += self.accept(&to_acceptor);
        }
        is_delivered &= delivered == 1;
        assert_eq!(delivered, 1, "nothing is refused, and nothing comes twice");
        process.attend();
        process.entered.associations.close(id);
        (is_delivered, std::iter::from_fn(|| self.acceptor.poll_event()).collect())
    }

    fn seal(&self, associations: &mut Associations, id: AssociationId) {
        let mut datagram = vec![0; OVERHEAD_BYTES + 5];
        datagram[HEAD_BYTES..HEAD_BYTES + 5].copy_from_slice(b"early");
        let sealed = associations.seal(self.now, id, &mut datagram).unwrap();
        assert_eq!(sealed, Sealed::InMessage);
    }

    /// Segments that the acceptor delivers of these datagrams.
    fn accept(&mut self, datagrams: &[Vec<u8>]) -> usize {
        let mut delivered = 0;
        for datagram in datagrams {
            let arrived = self.acceptor.handle(self.now, OPENER.into(), &mut datagram.clone());
            delivered += usize::from(arrived.is_some_and(|arrived| !arrived.segment.is_empty()));
            delivered += std::iter::from_fn(|| self.acceptor.poll_released()).count();
        }
        delivered
    }
}

fn drain(associations: &mut Associations) -> Vec<Vec<u8>> {
    std::iter::from_fn(|| associations.poll_transmit()).map(|outgoing| outgoing.datagram).collect()
}

impl Process {
    /// Has the clerk write what is to be written.
    fn attend(&mut self) {
        while let Some(event) = self.entered.associations.poll_event() {
            self.clerk.take(&event);
        }
        std::thread::yield_now();
        self.entered.troubles.extend(self.clerk.report(&mut self.entered.associations));
    }

    fn end(mut self) -> Vec<StoreError> {
        self.attend();
        self.clerk.finish();
        self.entered.troubles
    }
}

fn copy_of(folder: &Path) -> BTreeMap<std::path::PathBuf, Vec<u8>> {
    let files = fs::read_dir(folder.join("counters")).unwrap().map(|file| file.unwrap().path());
    files.map(|file| (file.clone(), fs::read(&file).unwrap())).collect()
}

fn is_taken(events: &[Event]) -> bool {
    events.iter().any(|event| matches!(event, Event::CounterTaken { .. }))
}

#[test]
fn from_the_second_run_on_early_data_is_delivered_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(folder.path());
    for run in 0..5 {
        let mut process = world.start();
        let (at_once, events) = world.exchange(&mut process);
        assert_eq!(at_once, run > 0, "run {run}");
        assert!(!is_taken(&events));
        assert!(process.end().is_empty());
    }
}

#[test]
fn a_state_directory_put_back_from_a_copy_costs_one_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(folder.path());
    let run = |world: &mut World| {
        let mut process = world.start();
        let told = world.exchange(&mut process);
        process.end();
        told
    };
    run(&mut world);
    let copy = copy_of(&world.state);
    for _ in 0..3 {
        assert!(run(&mut world).0);
    }
    for (file, octets) in copy {
        fs::write(file, octets).unwrap();
    }
    let (at_once, events) = run(&mut world);
    assert!(!at_once && is_taken(&events), "withheld, not refused, and said: {events:?}");
    assert!(run(&mut world).0, "it counts on from where the acceptor said");
}

#[test]
fn a_state_directory_that_is_lost_costs_one_round_trip() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(folder.path());
    for at_once in [false, true, true] {
        let mut process = world.start();
        assert_eq!(world.exchange(&mut process).0, at_once);
        process.end();
    }
    fs::remove_dir_all(&world.state).unwrap();
    for at_once in [false, true] {
        let mut process = world.start();
        let (delivered, events) = world.exchange(&mut process);
        assert_eq!((delivered, is_taken(&events)), (at_once, false));
        process.end();
    }
}

#[test]
fn two_processes_of_one_machine_take_no_counter_twice() {
    let folder = tempfile::tempdir().unwrap();
    let mut world = World::new(folder.path());
    let mut first = world.start();
    world.exchange(&mut first);
    let mut second = world.start();
    for turn in 0..150 {
        let process = if turn % 3 == 0 { &mut first } else { &mut second };
        let (_, events) = world.exchange(process);
        assert!(!is_taken(&events), "turn {turn}");
    }
    assert!(first.end().is_empty() && second.end().is_empty());
}

/// File system of this many bytes in a folder, where this is allowed; it goes with its owner.
struct SmallDisk(TempDir);

impl SmallDisk {
    fn mount(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", size, "skyhaul-test"]).arg(folder.path());
        mount.output().is_ok_and(|output| output.status.success()).then(|| Self(folder))
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg("-l").arg(self.0.path()).output();
    }
}

#[test]
fn without_room_on_the_disk_nothing_is_fresh_and_nothing_refused() {
    let Some(disk) = SmallDisk::mount("size=64k") else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: mounting a small tmpfs needs root");
        return;
    };
    let mut world = World::new(disk.0.path());
    let mut process = world.start();
    world.exchange(&mut process);
    assert!(process.end().is_empty());
    let _ = fs::write(disk.0.path().join("filler"), vec![1; 100_000]);
    for _ in 0..2 {
        let mut process = world.start();
        assert!(!world.exchange(&mut process).0, "no counter is granted");
        let troubles = process.end();
        let text = troubles[0].to_string();
        assert!(
            text.starts_with("the counters of a peer cannot be written: ") && text.contains("No space"),
            "{text}"
        );
    }
    fs::remove_file(disk.0.path().join("filler")).unwrap();
    let mut process = world.start();
    assert!(world.exchange(&mut process).0, "with room it is as before");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a thread that works in real time")]
fn a_claim_that_failed_is_made_again_and_told_once() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    fs::create_dir_all(&world.state).unwrap();
    fs::write(world.state.join("counters"), "in the place of the folder").unwrap();
    let mut process = world.start();
    assert_eq!(std::mem::take(&mut process.entered.troubles).len(), 2, "neither claimed nor read");
    process.attend();
    std::thread::sleep(Duration::from_millis(2500));
    process.attend();
    let told = std::mem::take(&mut process.entered.troubles);
    assert_eq!(told.len(), 1, "the second failure of the claim is not told: {told:?}");
    fs::remove_file(world.state.join("counters")).unwrap();
    let folder = world.state.join("counters");
    for _ in 0..100 {
        std::thread::sleep(Duration::from_millis(100));
        if folder.is_dir() && fs::read_dir(&folder).unwrap().next().is_some() {
            return assert!(process.end().is_empty());
        }
    }
    panic!("it was not made again");
}

#[test]
#[allow(clippy::disallowed_methods, reason = "a thread that works in real time")]
fn a_claim_that_failed_is_made_again_although_other_requests_keep_coming() {
    let folder = tempfile::tempdir().unwrap();
    let world = World::new(folder.path());
    fs::create_dir_all(&world.state).unwrap();
    let folder = world.state.join("counters");
    fs::write(&folder, "in the place of the folder").unwrap();
    let mut process = world.start();
    process.attend();
    std::thread::sleep(Duration::from_millis(300));
    fs::remove_file(&folder).unwrap();
    for _ in 0..50 {
        process.clerk.know(process.id, world.peer.key);
        std::thread::sleep(Duration::from_millis(100));
        if folder.is_dir() && fs::read_dir(&folder).unwrap().next().is_some() {
            return;
        }
    }
    panic!("it was not made again");
}

#[test]
fn without_room_on_the_disk_identity_and_peers_stay_as_they_were() {
    let Some(disk) = SmallDisk::mount("size=64k") else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: mounting a small tmpfs needs root");
        return;
    };
    let world = World::new(disk.0.path());
    let _ = fs::write(disk.0.path().join("filler"), vec![1; 100_000]);
    let refused = [
        world.store.change_machine(|machine| machine.name = "other".parse().unwrap()).unwrap_err(),
        world.store.remove_peer(&world.peer.name).unwrap_err(),
    ];
    for refused in refused {
        let text = refused.to_string();
        assert!(text.contains("No space left on device") && text.ends_with("nothing is changed"), "{text}");
    }
    assert_eq!(world.store.book().unwrap().peers().len(), 1);
    assert_ne!(world.store.machine().unwrap().unwrap().name.as_str(), "other");
}
