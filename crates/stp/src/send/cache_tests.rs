//! Operation sequences against the books.

use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::Instant;

use super::cache::SendCache;
use super::count::Count;

#[derive(Clone, Debug)]
enum Op {
    Write(usize),
    New(usize),
    Below(u64),
    Selective(u64, u64),
    Lose(u64),
    Again,
}

fn op() -> impl Strategy<Value = Op> {
    prop_oneof![
        (1usize..3000).prop_map(Op::Write),
        (1usize..1400).prop_map(Op::New),
        (0u64..8).prop_map(Op::Below),
        (0u64..40, 1u64..9).prop_map(|(a, n)| Op::Selective(a, n)),
        (0u64..40).prop_map(Op::Lose),
        Just(Op::Again),
    ]
}

proptest! {
    #[test]
    fn the_books_balance_and_payloads_are_the_stream(ops in proptest::collection::vec(op(), 1..200)) {
        let mut cache = SendCache::new(100);
        let mut written = 0usize;
        let mut total = Count::default();
        let mut packets = 0u64;
        for op in ops {
            match op {
                Op::Write(n) => {
                    let data: Vec<u8> = (written..written + n).map(|i| (i % 251) as u8).collect();
                    cache.write(&data, 4000); // the limit is kept by the connection
                    written += n;
                }
                Op::New(n) if cache.unsent_bytes() > 0 => {
                    cache.send_new(n.min(cache.unsent_bytes()), Instant::ZERO, packets);
                    packets += 1;
                }
                Op::Below(n) => {
                    let next = (cache.first() + n).min(cache.next());
                    cache.acknowledge_below(next, &mut total);
                }
                Op::Selective(a, n) => {
                    let from = cache.first() + a;
                    cache.acknowledge(from, from + n, &mut total);
                }
                Op::Lose(a) => {
                    cache.lose(cache.first() + a, false);
                }
                Op::Again => {
                    if let Some(number) = cache.queued_outside((0, 0)) {
                        cache.send_again(number, Instant::ZERO, packets, 0);
                    }
                }
                Op::New(_) => {}
            }
            cache.recount();
            prop_assert_eq!(u64::from(total.packets) + cache.unacknowledged(), packets);
            for number in cache.first()..cache.next() {
                let entry = cache.entry(number).copied().unwrap();
                let (a, b) = cache.payload(&entry);
                let expected = (entry.offset..).map(|i| (i % 251) as u8);
                prop_assert!(a.iter().chain(b).copied().zip(expected).all(|(x, y)| x == y));
                prop_assert_eq!(a.len() + b.len(), usize::from(entry.bytes));
            }
        }
    }
}

#[test]
fn the_buffer_grows_to_what_it_may_hold_and_no_further() {
    let mut cache = SendCache::new(0);
    while cache.held_bytes() < 16_000 {
        cache.write(&[0; 959][..959.min(16_000 - cache.held_bytes() as usize)], 16_000);
        assert!(cache.capacity_bytes() <= 16_000);
    }
    assert_eq!(cache.capacity_bytes(), 16_000);
}
