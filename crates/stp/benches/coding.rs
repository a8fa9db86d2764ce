//! Cost of coding a block: `cargo bench -p skyhaul-stp --bench coding`. One block a line, coded by the
//! library as `src/coding` does, 11 % of its packets missing.
#![expect(clippy::disallowed_methods, reason = "a benchmark looks at the clock")]

use std::time::Instant;

use raptorq::{ObjectTransmissionInformation, SourceBlockDecoder, SourceBlockEncoder};

const SYMBOL_BYTES: u16 = 1459;

fn main() {
    println!("packets  encode ms  decode ms");
    for packets in [10, 100, 560, 1000, 2000, 4000] {
        let (encode_ms, decode_ms) = cost(packets);
        println!("{packets:7}  {encode_ms:9.1}  {decode_ms:9.1}");
    }
}

fn cost(packets: usize) -> (f64, f64) {
    let shape = ObjectTransmissionInformation::new(0, SYMBOL_BYTES, 1, 1, 1);
    let bytes = packets * usize::from(SYMBOL_BYTES);
    let block: Vec<u8> = (0..bytes).map(|i| (i * 31 + i / 7) as u8).collect();
    let begin = Instant::now();
    let encoder = SourceBlockEncoder::new(0, &shape, &block);
    let encode_ms = begin.elapsed().as_secs_f64() * 1e3;
    let (kept, missing): (Vec<_>, Vec<_>) =
        encoder.source_packets().into_iter().enumerate().partition(|(i, _)| i % 9 != 4);
    let symbols = encoder.repair_packets(0, missing.len() as u32 + 2);
    let begin = Instant::now();
    let mut decoder = SourceBlockDecoder::new(0, &shape, bytes as u64);
    let decoded = decoder.decode(kept.into_iter().map(|(_, packet)| packet).chain(symbols));
    let decode_ms = begin.elapsed().as_secs_f64() * 1e3;
    assert!(decoded.is_some_and(|decoded| decoded == block), "{packets} packets");
    (encode_ms, decode_ms)
}
