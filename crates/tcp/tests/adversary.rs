//! Whatever arrives, nothing panics, and memory and answers stay bounded.

mod common;

use common::{Lone, plain};
use proptest::prelude::*;
use skyhaul_core::{Connections, Engine, NetworkFields, NullSink};
use skyhaul_tcp::Config;
use skyhaul_tcp::segment::{Options, SackBlocks, Timestamps};

#[derive(Clone, Debug)]
enum Step {
    Say { bits: u8, sequence: u32, acknowledgement: u32, window: u16, options: Options, length: usize },
    Garbage(Vec<u8>),
    Wait { ms: u64 },
    Write { bytes: usize },
    Read,
    Finish,
}

fn near() -> impl Strategy<Value = u32> {
    prop_oneof![4 => 0u32..4000, 1 => (0u32..100).prop_map(|n| 0u32.wrapping_sub(n)), 1 => any::<u32>()]
}

fn options() -> impl Strategy<Value = Options> {
    let block = proptest::option::of((near(), near()));
    let stamps = proptest::option::of((near(), near()));
    (block, stamps, proptest::option::of(any::<u16>()), proptest::option::of(any::<u8>()), any::<bool>())
        .prop_map(|(block, stamps, mss, window_scale, sack_permitted)| {
            let mut sack = SackBlocks::default();
            if let Some((first, end)) = block {
                sack.push(first, end);
            }
            let timestamps = stamps.map(|(value, echo)| Timestamps { value, echo });
            Options { mss, window_scale, sack_permitted, timestamps, sack, ..Options::default() }
        })
}

fn step() -> impl Strategy<Value = Step> {
    let bits = prop_oneof![
        6 => Just(0x10u8),
        1 => Just(0x11),
        1 => Just(0x02),
        1 => Just(0x12),
        1 => Just(0x04),
        1 => any::<u8>(),
    ];
    prop_oneof![
        12 => (bits, near(), near(), any::<u16>(), options(), 0usize..1500).prop_map(
            |(bits, sequence, acknowledgement, window, options, length)| Step::Say {
                bits, sequence, acknowledgement, window, options, length
            }
        ),
        1 => proptest::collection::vec(any::<u8>(), 0..60).prop_map(Step::Garbage),
        2 => (0u64..3000).prop_map(|ms| Step::Wait { ms }),
        2 => (0usize..5000).prop_map(|bytes| Step::Write { bytes }),
        1 => Just(Step::Read),
        1 => Just(Step::Finish),
    ]
}

fn apply(lone: &mut Lone, step: Step) {
    match step {
        Step::Say { bits, sequence, acknowledgement, window, options, length } => {
            lone.peer_window = window;
            lone.say(bits, sequence, acknowledgement, options, &vec![1; length]);
        }
        Step::Garbage(bytes) => {
            lone.endpoint.handle(lone.now, common::way(), NetworkFields::default(), &bytes, &mut NullSink);
        }
        Step::Wait { ms } => lone.wait_ms(ms),
        Step::Write { bytes } => {
            let _ = lone.endpoint.write(lone.id, &vec![7; bytes]);
        }
        Step::Read => {
            let _ = lone.endpoint.read(lone.id, &mut [0; 4000]);
        }
        Step::Finish => lone.endpoint.finish(lone.id),
    }
}

proptest! {
    #[test]
    fn nothing_panics_and_every_call_has_few_answers(
        opens in any::<bool>(),
        timestamps in any::<bool>(),
        steps in proptest::collection::vec(step(), 0..80),
    ) {
        let config = Config { timestamps, window_scale: timestamps, ..plain() };
        let mut lone = if opens { Lone::connecting(&config).0 } else { Lone::ordinary(&config) };
        for step in steps {
            apply(&mut lone, step);
            prop_assert!(lone.hear().len() < 100);
            prop_assert_eq!(lone.hear(), [], "a second poll finds nothing");
            if let Some(due) = lone.endpoint.deadline() {
                prop_assert!(due > lone.now, "a deadline that has passed would be polled for ever");
            }
            while lone.endpoint.accept().is_some() {}
            lone.events();
        }
    }
}
