//! Coded blocks are decoded, whatever is lost; too little or nonsense gives nothing or nonsense, but no
//! panic.

use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;
use skyhaul_core::Stream;

use super::*;

fn packets(count: usize, stream: &mut Stream) -> Vec<Box<[u8]>> {
    let packet = |_| {
        let bytes = 1 + stream.next_u64() as usize % 40;
        (0..bytes).map(|_| stream.next_u64() as u8).collect()
    };
    (0..count).map(packet).collect()
}

fn symbol_bytes(packets: &[Box<[u8]>]) -> u16 {
    packets.iter().map(|p| p.len()).max().unwrap() as u16
}

fn encoder(packets: &[Box<[u8]>]) -> Encoder {
    Encoder::new(packets.iter().map(|p| (&p[..p.len() / 2], &p[p.len() / 2..])), symbol_bytes(packets))
}

fn padded(packets: &[Box<[u8]>]) -> Vec<u8> {
    let mut all = Vec::new();
    for (i, packet) in packets.iter().enumerate() {
        all.extend_from_slice(packet);
        all.resize((i + 1) * usize::from(symbol_bytes(packets)), 0);
    }
    all
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn any_packets_and_a_few_more_symbols_than_are_missing_give_the_block(
        count in 1usize..150,
        lost in 0u64..100,
        first in 0u16..60_000,
        seed in any::<u64>(),
    ) {
        let mut stream = Stream::new(seed, "coding");
        let packets = packets(count, &mut stream);
        let encoder = encoder(&packets);
        let there: Vec<Option<Box<[u8]>>> =
            packets.iter().map(|p| (stream.next_u64() % 100 >= lost).then(|| p.clone())).collect();
        let missing = there.iter().filter(|p| p.is_none()).count() as u16;
        // Symbols get lost as well: any will do.
        let indices = (first..).filter(|_| !stream.next_u64().is_multiple_of(3)).take(usize::from(missing) + 3);
        let symbols: Vec<(u16, Vec<u8>)> = indices.map(|i| (i, encoder.symbol(i))).collect();
        let repairs = symbols.iter().map(|(i, symbol)| (*i, &symbol[..]));
        prop_assert_eq!(decode(&there, repairs, symbol_bytes(&packets)), Some(padded(&packets)));
    }

    #[test]
    fn nonsense_is_no_panic(
        count in 1usize..40,
        there in proptest::collection::vec(any::<bool>(), 40),
        indices in proptest::collection::vec(any::<u16>(), 0..60),
        symbol_bytes in 1u16..20,
        seed in any::<u64>(),
    ) {
        let mut stream = Stream::new(seed, "nonsense");
        let mut symbol = || (0..symbol_bytes).map(|_| stream.next_u64() as u8).collect::<Box<[u8]>>();
        let packets: Vec<_> = there[..count].iter().map(|&is| is.then(&mut symbol)).collect();
        let symbols: Vec<_> = indices.iter().map(|&i| (i, symbol())).collect();
        let repairs = symbols.iter().map(|(i, symbol)| (*i, &symbol[..]));
        if let Some(block) = decode(&packets, repairs, symbol_bytes) {
            prop_assert_eq!(block.len(), count * usize::from(symbol_bytes));
        }
    }
}

#[test]
fn fewer_symbols_than_are_missing_give_nothing() {
    let mut stream = Stream::new(1, "coding");
    let packets = packets(30, &mut stream);
    let encoder = encoder(&packets);
    let there: Vec<_> = packets.iter().enumerate().map(|(i, p)| (i >= 4).then(|| p.clone())).collect();
    let symbols: Vec<_> = (0..3).map(|i| (i, encoder.symbol(i))).collect();
    let repairs = symbols.iter().map(|(i, symbol)| (*i, &symbol[..]));
    assert_eq!(decode(&there, repairs, symbol_bytes(&packets)), None);
    assert_eq!(decode(&vec![None; 1], core::iter::empty(), 5), None);
}
