//! Many seeds: handshakes and records lost, doubled, reordered; ends that restart, with a disk that may have
//! gone back; an opener whose address changes; hours that pass. A segment is delivered once at most, and when
//! the faults are over, all are.

use std::net::SocketAddr;
use std::vec::Vec;

use skyhaul_core::envelope::Mode;
use skyhaul_core::{MS, SECOND, Stream};

use crate::world::{A, B, Datagram, Disk, World};
use crate::{AssociationId, Counters};

/// What a seed chooses.
struct Faults {
    random: Stream,
    loss_percent: u64,
    copies_percent: u64,
    delay_ms: u64,
    restarts_percent: u64,
    hours_percent: u64,
    moves_percent: u64,
}

impl Faults {
    fn new(seed: u64) -> Self {
        let mut random = Stream::new(seed, "association swarm");
        Self {
            loss_percent: random.below(60),
            copies_percent: random.below(40),
            delay_ms: 1 + random.below(3000),
            restarts_percent: random.below(4),
            hours_percent: random.below(6),
            moves_percent: random.below(6),
            random,
        }
    }

    fn happens(&mut self, percent: u64) -> bool {
        self.random.below(100) < percent
    }
}

/// Datagrams under way, by the time at which they arrive.
#[derive(Default)]
struct Way {
    under_way: Vec<(skyhaul_core::Instant, Datagram)>,
    log: Vec<Datagram>,
}

impl Way {
    fn take(&mut self, world: &mut World, faults: &mut Faults) {
        for datagram in world.wire.split_off(0) {
            let copies = u64::from(!faults.happens(faults.loss_percent))
                * (1 + u64::from(faults.happens(faults.copies_percent)));
            for _ in 0..copies {
                let delay_ns = (faults.delay_ms + faults.random.below(faults.delay_ms)) * MS;
                self.under_way.push((world.now.after(delay_ns), datagram.clone()));
            }
            self.log.push(datagram);
        }
    }

    fn arrive(&mut self, world: &mut World) {
        self.under_way.sort_by_key(|&(at, _)| at);
        while self.under_way.first().is_some_and(|&(at, _)| at <= world.now) {
            let (_, datagram) = self.under_way.remove(0);
            world.deliver(&datagram);
        }
    }
}

/// Sends from the end's last association, or a new one.
fn send(world: &mut World, end: usize, segment: &[u8]) {
    let id: AssociationId = world.ends[end].last.unwrap_or_else(|| world.open(end));
    let ids = world.ends[end].associations.len();
    if ids == 0 || !world.ends[end].associations.contains(id) {
        world.ends[end].last = None;
        world.open(end);
    }
    let id = world.ends[end].last.expect("opened just now");
    world.send(end, id, segment);
}

fn run(seed: u64) -> [Counters; 2] {
    let mut faults = Faults::new(seed);
    let mode = if faults.happens(50) { Mode::Encrypted } else { Mode::Authenticated };
    let aes = [faults.happens(50), faults.happens(50)];
    let mut world = World::with_aes(mode, aes);
    let (mut way, mut backups) = (Way::default(), [world.ends[A].disk, world.ends[B].disk]);
    for number in 0..150_u32 {
        let end = faults.random.below(2) as usize;
        send(&mut world, end, &number.to_be_bytes());
        step(&mut world, &mut way, &mut faults, &mut backups, aes);
    }
    (faults.loss_percent, faults.copies_percent, faults.restarts_percent) = (0, 0, 0);
    (faults.hours_percent, faults.moves_percent) = (0, 0);
    heal(&mut world, &mut way, &mut faults, &mut backups, aes, seed);
    for end in [A, B] {
        no_copies(&world, end);
    }
    replay(&mut world, &way);
    [world.ends[A].associations.counters(), world.ends[B].associations.counters()]
}

fn step(world: &mut World, way: &mut Way, faults: &mut Faults, backups: &mut [Disk; 2], aes: [bool; 2]) {
    way.take(world, faults);
    if faults.happens(faults.restarts_percent) {
        let end = faults.random.below(2) as usize;
        if faults.happens(30) {
            world.ends[end].disk = backups[end];
        } else {
            backups[end] = world.ends[end].disk;
        }
        no_copies(world, end);
        world.ends[end].delivered.clear();
        world.ends[end].restart(aes[end]);
        world.collect();
    }
    if faults.happens(faults.moves_percent) {
        // One end alone: of two that move at once neither knows where the other is.
        world.ends[A].address = SocketAddr::from(([198, 51, 100, 7], faults.random.below(60_000) as u16));
    }
    let hours = u64::from(faults.happens(faults.hours_percent)) * faults.random.below(9000) * SECOND;
    let pause_ns = faults.random.below(2 * SECOND) + hours;
    world.pass(pause_ns);
    way.take(world, faults);
    way.arrive(world);
}

/// Asserts that this life of an end was given no segment twice. A former life is forgotten.
fn no_copies(world: &World, end: usize) {
    let repeated = world.deliveries(end).into_iter().find(|&(_, times)| times > 1);
    assert_eq!(repeated, None, "delivered more than once at end {end}");
}

/// With no more faults, segments of either end arrive soon: those of the last of thirty are all there.
fn heal(
    world: &mut World,
    way: &mut Way,
    faults: &mut Faults,
    backups: &mut [Disk; 2],
    aes: [bool; 2],
    seed: u64,
) {
    for number in 1000..1150_u32 {
        for end in [A, B] {
            send(world, end, &number.to_be_bytes());
        }
        step(world, way, faults, backups, aes);
    }
    for _ in 0..20 {
        step(world, way, faults, backups, aes);
    }
    for end in [A, B] {
        let delivered = world.deliveries(end);
        let missing = (1120..1150_u32).find(|number| !delivered.contains_key(&number.to_be_bytes()[..]));
        assert_eq!(missing, None, "seed {seed}: not delivered at end {end} though nothing was lost");
    }
}

/// Everything that was ever sent comes again: nothing is delivered a second time, though what was lost may
/// be a first.
fn replay(world: &mut World, way: &Way) {
    for datagram in &way.log {
        world.deliver(datagram);
        world.wire.clear();
    }
    no_copies(world, A);
    no_copies(world, B);
}

#[test]
fn segments_are_delivered_once_at_most_and_all_when_faults_are_over() {
    let seeds = std::env::var("SKYHAUL_SWARM").ok().and_then(|seeds| seeds.parse().ok()).unwrap_or(60);
    let mut sums = [0; 4];
    for seed in 0..seeds {
        std::println!("SKYHAUL_SWARM={} reaches seed {seed}", seed + 1);
        for counters in run(seed) {
            let met = [counters.computed, counters.replayed, counters.copies, counters.unknown_index];
            sums.iter_mut().zip(met).for_each(|(sum, met)| *sum += met);
        }
    }
    assert!(sums.iter().all(|&sum| sum > 100), "the swarm met too little: {sums:?}");
}
