//! Round trips, and decoders that accept any bytes.

use alloc::vec;
use alloc::vec::Vec;

use proptest::prelude::*;

use super::*;

pub(super) fn reseal(bytes: &mut [u8]) {
    use skyhaul_core::checksum::{START, crc16};
    bytes[8..10].fill(0);
    let sum = crc16(START, bytes);
    bytes[8..10].copy_from_slice(&sum.to_be_bytes());
}

fn opening() -> impl Strategy<Value = Opening> {
    (any::<u16>(), 0u32..1 << 24, any::<u32>(), any::<u64>(), any::<[bool; 5]>()).prop_map(
        |(
            max_payload_bytes,
            initial,
            window_bytes,
            nonce,
            [timing, repairs, increments, pieces, feedback],
        )| Opening {
            max_payload_bytes,
            initial,
            window_bytes,
            nonce,
            options: Options { timing, repairs, increments, pieces, feedback, padding: 0 },
        },
    )
}

fn report() -> impl Strategy<Value = Report> {
    let runs = proptest::collection::vec(prop_oneof![1u32..4, 1u32..300, 1u32..60_000], 0..40);
    let silent = proptest::option::of((0u32..100_000, 1u32..100_000));
    (0u32..1 << 24, any::<u32>(), any::<bool>(), silent, 0u32..1000, runs).prop_map(
        |(next, window_bytes, more, silent, start, runs)| Report {
            next,
            window_bytes,
            more,
            silent,
            start: if runs.is_empty() { 0 } else { start },
            runs,
        },
    )
}

type Parts = (
    Option<Opening>,
    Option<Opening>,
    Option<(u32, u32, Option<u32>, bool)>,
    Option<(u32, Report, Option<(u32, u32)>, Option<(u32, u8)>, Option<(u8, u32)>)>,
    Option<Report>,
    Option<u32>,
    bool,
    Vec<u8>,
);

fn parts() -> impl Strategy<Value = Parts> {
    use proptest::option::of;
    (
        of(opening()),
        of(opening()),
        of((any::<u32>(), 0u32..1 << 24, of(0u32..1 << 24), any::<bool>())),
        of((
            any::<u32>(),
            report(),
            of((any::<u32>(), any::<u32>())),
            of(any::<(u32, u8)>()),
            of((any::<u8>(), 0u32..1 << 28)),
        )),
        of(report()),
        of(0u32..1 << 24),
        any::<bool>(),
        proptest::collection::vec(any::<u8>(), 0..50),
    )
}

fn assemble(parts: &Parts) -> Segment<'_> {
    let (bgn, bgnak, poll, stat, ustat, end, endak, data) = parts;
    let alone = bgn.is_some();
    Segment {
        source_port: 7,
        destination_port: 9,
        number: 0x12_3456,
        instance: 0xBEEF,
        bgn: *bgn,
        bgnak: bgnak.filter(|_| !alone),
        poll: poll.map(|(timestamp, next, settled, spares_ustats)| Poll {
            timestamp,
            next,
            settled,
            spares_ustats,
            pads: timestamp % 2 == 1,
        }),
        stat: stat.clone().filter(|_| !alone).map(|(echo, report, timing, feedback, wanting)| Stat {
            echo,
            report,
            timing: timing.map(|(clock, octets)| Timing { clock, octets }),
            feedback: feedback.map(|(sum_bytes_per_s, routers)| Feedback { sum_bytes_per_s, routers }),
            wanting,
        }),
        ustat: ustat.clone().filter(|_| !alone),
        end: *end,
        endak: *endak && !alone,
        rst: None,
        data: (!data.is_empty()).then_some((&data[..], &[])),
        ..Segment::default()
    }
}

/// At least one packet, and as many sizes as packets.
fn block() -> impl Strategy<Value = Block> {
    let runs = proptest::collection::vec(prop_oneof![1u32..4, 1u32..60], 1..40);
    let sizes = proptest::collection::vec((1u32..9, 1u16..1500), 1..20);
    (any::<u8>(), runs, sizes).prop_map(|(id, mut runs, mut sizes)| {
        runs.truncate((runs.len() - 1) / 2 * 2 + 1);
        let mut left: u32 = runs.iter().step_by(2).sum();
        for (packets, _) in &mut sizes {
            *packets = left.min(*packets);
            left -= *packets;
        }
        sizes.retain(|&(packets, _)| packets > 0);
        sizes.extend((left > 0).then_some((left, 7)));
        Block { id, runs, sizes }
    })
}

proptest! {
    #[test]
    fn what_is_encoded_is_decoded(parts in parts()) {
        let segment = assemble(&parts);
        prop_assume!(segment.type_bits() != 0 && segment.type_bits() != types::RST);
        let mut bytes = vec![0xAA; 3];
        encode(&segment, &mut bytes);
        let coded = &bytes[3..];
        let decoded = decode(coded);
        prop_assert_eq!(decoded.as_ref(), Ok(&segment));
        let bare = encoded_len(&segment);
        let padding = if segment.data.is_some() { (4 - bare % 4) % 4 } else { 0 };
        prop_assert_eq!(coded.len(), bare + padding + segment.payload_bytes());
    }

    #[test]
    fn a_block_and_its_symbols_come_back(block in block(), number in 0u32..1 << 24, symbol in any::<u8>()) {
        let symbol = [symbol; 5];
        let base = Segment { source_port: 7, number, instance: 9, ..Segment::default() };
        for segment in [
            Segment { block: Some(block.clone()), ..base.clone() },
            Segment { repair: Some(&symbol), ..base.clone() },
        ] {
            let mut bytes = Vec::new();
            encode(&segment, &mut bytes);
            prop_assert_eq!(bytes.len(), encoded_len(&segment));
            prop_assert_eq!(decode(&bytes), Ok(segment));
        }
        prop_assert_eq!(block.members().count(), block.packets() as usize);
        prop_assert_eq!(block.member_bytes().count(), block.packets() as usize);
        let (id, index) = repair_of(number);
        prop_assert_eq!(repair_number(id, index), number);
    }

    #[test]
    fn a_piece_comes_back(
        number in 0u32..1 << 24,
        offset in any::<u16>(),
        more in 0u16..300,
        data in proptest::collection::vec(any::<u8>(), 1..400),
    ) {
        let total = offset.saturating_add(data.len() as u16).saturating_add(more);
        let piece = Some(Piece { offset, total, data: (&data, &[]) });
        let segment = Segment { source_port: 7, number, instance: 9, piece, ..Segment::default() };
        let mut bytes = Vec::new();
        encode(&segment, &mut bytes);
        prop_assert_eq!(bytes.len(), encoded_len(&segment));
        prop_assert_eq!(segment.payload_bytes(), data.len());
        let end = usize::from(offset) + data.len();
        let is_last = end == usize::from(total);
        let is_part = end <= usize::from(total) && data.len() < usize::from(total);
        if is_part && (is_last || data.len() >= MIN_PIECE_BYTES) {
            prop_assert_eq!(decode(&bytes), Ok(segment));
        } else {
            prop_assert_eq!(decode(&bytes), Err(Malformed::Piece));
        }
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(mut bytes in proptest::collection::vec(any::<u8>(), 0..120)) {
        let _ = decode(&bytes);
        if bytes.len() >= HEADER_BYTES {
            reseal(&mut bytes);
            if let Ok(segment) = decode(&bytes) {
                let mut again = Vec::new();
                encode(&segment, &mut again);
                let (runs, second) = (decode(&again).map(|s| s.stat.map(|s| s.report.runs)), segment.stat);
                prop_assert_eq!(runs, Ok(second.map(|s| s.report.runs)));
            }
        }
    }

    #[test]
    fn every_damaged_bit_is_noticed(parts in parts(), at in any::<prop::sample::Index>(), bit in 0u8..8) {
        let segment = assemble(&parts);
        prop_assume!(segment.type_bits() != 0);
        let mut bytes = Vec::new();
        encode(&segment, &mut bytes);
        let index = at.index(bytes.len());
        bytes[index] ^= 1 << bit;
        prop_assert_eq!(decode(&bytes), Err(Malformed::Checksum));
    }

    #[test]
    fn a_list_in_parts_says_what_the_whole_one_does(
        runs in proptest::collection::vec(1u32..5000, 1..400),
        max_bytes in 16usize..200,
        max_gaps in 1usize..100,
    ) {
        let mut at = 1000u64;
        let mut gaps = Vec::new();
        for (i, &run) in runs.iter().enumerate() {
            if i % 2 == 0 {
                gaps.push((at, at + u64::from(run)));
            }
            at += u64::from(run);
        }
        let (mut from, mut told) = (0, Vec::new());
        loop {
            let left = gaps.iter().copied().filter(|&(first, _)| first >= from);
            let list = GapList::of(left, ListBounds { max_bytes, max_gaps });
            let report = Report { runs: list.runs.clone(), ..Report::default() };
            prop_assert!(report_len(&report) <= max_bytes + 20, "{report:?}");
            prop_assert!(list.runs.len() <= 2 * max_gaps);
            let mut at = list.first.expect("gaps are left");
            for (i, &run) in list.runs.iter().enumerate() {
                if i % 2 == 0 {
                    told.push((at, at + u64::from(run)));
                }
                at += u64::from(run);
            }
            prop_assert!(list.rest.is_none_or(|rest| rest == at), "{list:?}");
            let Some(rest) = list.rest else { break };
            from = rest;
        }
        prop_assert_eq!(told, gaps);
    }

    #[test]
    fn the_coding_is_the_shortest_there_is(runs in proptest::collection::vec(1u32..100_000, 1..60)) {
        let bits = |first: usize, k: u32| -> u64 {
            let of = |&run: &u32| match (run - 1) >> k {
                24.. => 48,
                quotient => u64::from(quotient + 1 + k),
            };
            runs.iter().skip(first).step_by(2).map(of).sum()
        };
        let best = |first| (0..16).map(|k| bits(first, k)).min().unwrap_or(0);
        let rice = 1 + (best(0) + best(1)).div_ceil(8) as usize;
        let varint: usize = runs.iter().map(|&run| gap_list::varint_len(run - 1)).sum();
        prop_assert_eq!(gap_list::choose(&runs).1, rice.min(varint));
    }
}

#[test]
fn a_list_costs_no_more_than_its_bounds_say() {
    let mut looked_at = 0;
    let endless = (0u64..).map(|i| (3 * i, 3 * i + 1)).inspect(|_| looked_at += 1);
    let list = GapList::of(endless, ListBounds { max_bytes: 1400, max_gaps: 500 });
    assert_eq!((list.runs.len(), looked_at), (1000, 501));
    looked_at = 0;
    let endless = (0u64..).map(|i| (300 * i, 300 * i + 1)).inspect(|_| looked_at += 1);
    let list = GapList::of(endless, ListBounds { max_bytes: 100, max_gaps: 500 });
    assert!(looked_at < 100 && list.rest.is_some(), "{looked_at}");
}

fn refused(change: impl Fn(&mut Vec<u8>), segment: &Segment<'_>) -> Malformed {
    let mut bytes = Vec::new();
    encode(segment, &mut bytes);
    change(&mut bytes);
    reseal(&mut bytes);
    decode(&bytes).unwrap_err()
}

fn poll() -> Segment<'static> {
    Segment { poll: Some(Poll { timestamp: 1, next: 2, ..Poll::default() }), ..Segment::default() }
}

#[test]
fn each_malformed_field_has_its_error() {
    assert_eq!(decode(&[0; 11]), Err(Malformed::Truncated));
    assert_eq!(refused(|b| b[4] = 0, &poll()), Malformed::Type);
    assert_eq!(refused(|b| b[4] |= types::BGN | types::STAT, &poll()), Malformed::Type);
    assert_eq!(refused(|b| b.truncate(15), &poll()), Malformed::Truncated);
    assert_eq!(refused(|b| b.push(1), &poll()), Malformed::Length);
    assert_eq!(refused(|b| b[4] |= types::SD, &poll()), Malformed::Length);
    let bgn = Segment {
        bgn: Some(Opening { max_payload_bytes: 1, nonce: 4, ..Opening::default() }),
        ..Segment::default()
    };
    assert_eq!(refused(|b| b[12] = 9, &bgn), Malformed::Opening);
    assert_eq!(refused(|b| b[19] = 4, &bgn), Malformed::Truncated, "options longer than the segment");
    let broken_option = |b: &mut Vec<u8>| {
        b[19] = 3;
        b.extend_from_slice(&[1, 9, 0]);
    };
    assert_eq!(refused(broken_option, &bgn), Malformed::Opening);
    let ustat = |runs| Segment { ustat: Some(Report { runs, ..Report::default() }), ..Segment::default() };
    assert_eq!(refused(|b| b[15] = 3, &ustat(vec![5])), Malformed::GapList, "unknown coding");
    assert_eq!(refused(|b| b[21] = 0, &ustat(vec![5])), Malformed::GapList, "no runs");
    assert_eq!(refused(|_| (), &ustat(vec![1 << 23, 1])), Malformed::GapList, "too wide");
}

#[test]
fn a_block_that_is_too_large_or_broken_is_refused() {
    let of =
        |runs: Vec<u32>, sizes| Segment { block: Some(Block { id: 1, runs, sizes }), ..Segment::default() };
    let fine = of(vec![2, 1, 1], vec![(3, 100)]);
    assert_eq!(refused(|b| b[13] = 0, &fine), Malformed::Block, "no coding");
    assert_eq!(refused(|b| b[13] = 3, &fine), Malformed::Block, "unknown coding");
    assert_eq!(refused(|b| b[14] = 0, &fine), Malformed::Block, "no runs");
    assert_eq!(refused(|b| b.truncate(17), &fine), Malformed::Block, "no sizes");
    assert_eq!(refused(|b| b[17] = 3, &fine), Malformed::Block, "more sizes than packets");
    assert_eq!(refused(|b| b.push(0), &fine), Malformed::Length);
    assert_eq!(refused(|b| b[4] |= types::POLL, &fine), Malformed::Type, "never combined");
    assert_eq!(refused(|_| (), &of(vec![2, 1], vec![(2, 9)])), Malformed::Block, "ends with a gap");
    assert_eq!(refused(|_| (), &of(vec![4097], vec![(4097, 9)])), Malformed::Block, "too many packets");
    assert_eq!(refused(|_| (), &of(vec![4000], vec![(4000, 2000)])), Malformed::Block, "too many bytes");
    assert_eq!(refused(|_| (), &of(vec![1, 1 << 23, 1], vec![(2, 9)])), Malformed::Block, "too wide");
    let repair = Segment { repair: Some(&[1]), ..Segment::default() };
    assert_eq!(refused(|b| b.truncate(12), &repair), Malformed::Length, "no symbol");
}

#[test]
fn a_piece_that_contradicts_itself_is_refused() {
    let data = [7; 200];
    let of = |offset, total, bytes| Segment {
        piece: Some(Piece { offset, total, data: (&data[..bytes], &[]) }),
        ..Segment::default()
    };
    let fine = of(100, 400, 200);
    assert_eq!(refused(|b| b[4] |= types::POLL, &fine), Malformed::Type, "never combined");
    assert_eq!(refused(|b| b.truncate(15), &fine), Malformed::Piece, "no sizes");
    assert_eq!(refused(|b| b.truncate(16), &fine), Malformed::Piece, "no data");
    assert_eq!(refused(|_| (), &of(201, 400, 200)), Malformed::Piece, "beyond the packet");
    assert_eq!(refused(|_| (), &of(65_535, 65_535, 1)), Malformed::Piece, "behind the packet");
    assert_eq!(refused(|_| (), &of(0, 200, 200)), Malformed::Piece, "all of the packet");
    assert_eq!(refused(|_| (), &of(0, 0, 1)), Malformed::Piece, "of nothing");
    assert_eq!(refused(|_| (), &of(100, 400, 127)), Malformed::Piece, "a tiny one in the middle");
}

#[test]
fn an_unknown_option_is_skipped() {
    let bgn = Opening { max_payload_bytes: 1, nonce: 4, ..Opening::default() };
    let mut bytes = Vec::new();
    encode(&Segment { bgn: Some(bgn), ..Segment::default() }, &mut bytes);
    bytes[19] = 5;
    bytes.extend_from_slice(&[200, 3, 1, 2, 3]);
    reseal(&mut bytes);
    assert_eq!(decode(&bytes).unwrap().bgn, Some(bgn));
}
