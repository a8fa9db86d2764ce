//! The walk through the tree: depth first, one fork for each fault at each segment that leaves.

use crate::common::family::Parameters;

use crate::talk::Plan;
use crate::world::{Fault, World};

/// Failures that are printed before the walk ends.
const MAX_FAILURES: usize = 10;

/// Statistics of a walk.
#[derive(Clone, Debug, Default)]
pub(crate) struct Found {
    /// Ways from the opening to the end.
    pub(crate) runs: u64,
    /// Choices and events on them.
    pub(crate) states: u64,
    failures: Vec<String>,
}

/// Walks through everything that at most `faults` faults can do to this plan.
pub(crate) fn explore(config: &Parameters, plan: Plan, faults: u32) -> Found {
    let mut found = Found::default();
    walk(World::new(config, plan), faults, &mut found);
    assert!(found.failures.is_empty(), "{plan:?}, {config:?}:\n{}", found.failures.join("\n"));
    found
}

fn walk(mut world: World, faults: u32, found: &mut Found) {
    while found.failures.len() < MAX_FAILURES {
        found.states += 1;
        if let Some(segment) = world.next_leaving() {
            if faults > 0 && !world.is_gone() {
                for fault in Fault::ALL.into_iter().filter(|fault| fault.fits(&segment)) {
                    let mut fork = world.clone();
                    fork.strike(fault, segment.clone());
                    walk(fork, faults - 1, found);
                }
            }
            world.pass(segment);
            continue;
        }
        match world.step() {
            Ok(true) => {}
            Ok(false) => break,
            Err(why) => {
                found.failures.push(format!("{why}, after {:?}", world.faults));
                break;
            }
        }
    }
    found.runs += 1;
}
