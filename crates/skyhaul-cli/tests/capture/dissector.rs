//! The dissector beside the project's own decoder: the golden vectors of `docs/spec/stp.md`, what the page
//! says is refused, and segments at random.

use std::collections::BTreeSet;

use skyhaul_capture::Direction;
use skyhaul_stp::segment::{
    Block, Feedback, Opening, Piece, Poll, Report, Segment, Stat, Timing, decode, encode, repair_of,
};

use crate::common::noise;
use crate::tshark::{Fields, all_fields, capture_of, field_names, is_missing, vectors};

const PAGE: &str = include_str!("../../../../docs/spec/stp.md");
/// Octet of an envelope (`docs/spec/envelope.md`, 4).
const ENVELOPE: u8 = 0x20;

/// Fields that the dissector must show, put together from what the decoder says.
#[derive(Default)]
struct Expected(Fields);

impl Expected {
    fn add(&mut self, name: &str, value: impl std::fmt::Display) {
        self.0.entry(name.to_string()).or_default().push(value.to_string());
    }

    fn flag(&mut self, name: &str, is: bool) {
        self.add(name, u8::from(is));
    }

    fn hex(&mut self, name: &str, value: impl Into<u64>, digits: usize) {
        self.add(name, format!("0x{:0digits$x}", value.into()));
    }

    fn octets(&mut self, name: &str, octets: &[u8]) {
        let digits = octets.iter().map(|octet| format!("{octet:02x}"));
        self.add(name, digits.collect::<Vec<_>>().concat());
    }

    fn of(octets: &[u8], segment: &Segment<'_>) -> Fields {
        let mut expected = Self::default();
        expected.add("skyhaul.version", 1);
        expected.add("skyhaul.mode", 0);
        expected.flag("skyhaul.path_header", false);
        expected.flag("skyhaul.reserved", false);
        expected.add("skystp.srcport", segment.source_port);
        expected.add("skystp.dstport", segment.destination_port);
        expected.add("skystp.number", segment.number);
        expected.hex("skystp.instance", segment.instance, 4);
        expected.hex("skystp.checksum", u16::from_be_bytes([octets[8], octets[9]]), 4);
        expected.flag("skystp.checksum.good", true);
        expected.types(segment);
        segment.bgn.iter().chain(&segment.bgnak).for_each(|opening| expected.opening(opening));
        segment.poll.iter().for_each(|poll| expected.poll(poll));
        segment.stat.iter().for_each(|stat| expected.stat(stat));
        segment.ustat.iter().for_each(|report| expected.report(report, &Stat::default()));
        segment.end.iter().for_each(|end| expected.add("skystp.end.number", end));
        if segment.rst.is_some() {
            expected.add("skystp.rst.reason", octets[12]);
        }
        segment.block.iter().for_each(|block| expected.block(block));
        if let Some(symbol) = segment.repair {
            let (block, number) = repair_of(segment.number);
            expected.add("skystp.repair.block", block);
            expected.add("skystp.repair.symbol", number);
            expected.octets("skystp.repair.data", symbol);
        }
        if let Some(piece) = segment.piece {
            expected.add("skystp.piece.offset", piece.offset);
            expected.add("skystp.piece.total", piece.total);
            expected.octets("skystp.piece.data", piece.data.0);
        }
        if let Some((first, second)) = segment.data {
            let data = [first, second].concat();
            expected.add("skystp.len", data.len());
            expected.octets("skystp.data", &data);
        }
        expected.0
    }

    fn types(&mut self, segment: &Segment<'_>) {
        let types = segment.type_bits();
        self.hex("skystp.type", types, 2);
        let named = [
            (segment.data.is_some(), "SD", "sd"),
            (segment.poll.is_some(), "POLL", "poll"),
            (segment.stat.is_some(), "STAT", "stat"),
            (segment.ustat.is_some(), "USTAT", "ustat"),
            (segment.bgn.is_some(), "BGN", "bgn"),
            (segment.bgnak.is_some(), "BGNAK", "bgnak"),
            (segment.end.is_some(), "END", "end"),
            (segment.endak, "ENDAK", "endak"),
        ];
        let alone = [
            (segment.rst.is_some(), "RST"),
            (segment.block.is_some(), "BLOCK"),
            (segment.repair.is_some(), "REPAIR"),
            (segment.piece.is_some(), "PIECE"),
        ];
        if let Some((_, name)) = alone.into_iter().find(|(is, _)| *is) {
            return self.add("skystp.types", name);
        }
        for (is, _, field) in &named {
            self.flag(&format!("skystp.type.{field}"), *is);
        }
        let names: Vec<&str> = named.iter().filter(|(is, ..)| *is).map(|(_, name, _)| *name).collect();
        self.add("skystp.types", names.join("+"));
    }

    fn opening(&mut self, opening: &Opening) {
        self.add("skystp.opening.version", 1);
        self.hex("skystp.opening.flags", 0u8, 2);
        self.add("skystp.opening.max_payload", opening.max_payload_bytes);
        self.add("skystp.opening.initial", opening.initial);
        self.add("skystp.opening.option_octets", opening.options.bytes());
        self.add("skystp.opening.window", opening.window_bytes);
        self.hex("skystp.opening.nonce", opening.nonce, 16);
        let options = opening.options;
        let kinds = [
            (options.timing, 1),
            (options.repairs, 2),
            (options.increments, 3),
            (options.pieces, 5),
            (options.feedback, 6),
        ];
        for (is, kind) in kinds {
            if is {
                self.add("skystp.option.kind", kind);
                self.add("skystp.option.length", 0);
            }
        }
    }

    fn poll(&mut self, poll: &Poll) {
        self.hex("skystp.poll.timestamp", poll.timestamp, 8);
        self.add("skystp.poll.next", poll.next);
        self.flag("skystp.poll.padding", poll.pads);
        self.flag("skystp.poll.no_ustat", poll.spares_ustats);
        self.flag("skystp.poll.has_settled", poll.settled.is_some());
        poll.settled.iter().for_each(|settled| self.add("skystp.poll.settled", settled));
    }

    fn stat(&mut self, stat: &Stat) {
        self.hex("skystp.stat.echo", stat.echo, 8);
        self.report(&stat.report, stat);
    }

    fn report(&mut self, report: &Report, &Stat { timing, feedback, wanting, .. }: &Stat) {
        self.add("skystp.report.next", report.next);
        self.flag("skystp.report.has_feedback", feedback.is_some());
        self.flag("skystp.report.increment", report.silent.is_some());
        self.flag("skystp.report.repairs", wanting.is_some());
        self.flag("skystp.report.timing", timing.is_some());
        self.flag("skystp.report.more", report.more);
        self.add("skystp.report.window", report.window_bytes);
        if let Some(Timing { clock, octets }) = timing {
            self.add("skystp.report.clock", clock);
            self.add("skystp.report.octets", octets);
        }
        if let Some(Feedback { sum_bytes_per_s, routers }) = feedback {
            self.add("skystp.report.feedback", sum_bytes_per_s as i32);
            self.add("skystp.report.routers", routers);
        }
        if let Some((block, wanting)) = wanting {
            self.add("skystp.report.block", block);
            self.add("skystp.report.wanting", wanting);
        }
        if let Some((start, count)) = report.silent {
            self.add("skystp.report.silent_start", start);
            self.add("skystp.report.silent_count", count);
        }
        if !report.runs.is_empty() {
            self.add("skystp.report.start", report.start);
            self.add("skystp.report.count", report.runs.len());
            report.runs.iter().for_each(|run| self.add("skystp.report.run", run));
            let missing = missing(report);
            self.add("skystp.report.missing_packets", missing.len());
            for number in &missing {
                self.add("missing", number);
            }
        }
    }

    fn block(&mut self, block: &Block) {
        self.add("skystp.block.block", block.id);
        self.add("skystp.block.count", block.runs.len());
        block.runs.iter().for_each(|run| self.add("skystp.block.run", run));
        for (packets, bytes) in &block.sizes {
            self.add("skystp.block.packets", packets);
            self.add("skystp.block.bytes", bytes);
        }
    }
}

/// Numbers that a list calls missing, one by one, as section 3.5 of the page says it.
fn missing(report: &Report) -> Vec<u32> {
    let (silent_start, silent_count) = report.silent.unwrap_or((u32::MAX, 0));
    let mut told =
        (0..).filter(|distance| *distance < silent_start || *distance - silent_start >= silent_count);
    let mut told = told.by_ref().skip(report.start as usize);
    let mut numbers = Vec::new();
    for (place, &run) in report.runs.iter().enumerate() {
        let distances: Vec<u32> = told.by_ref().take(run as usize).collect();
        if place % 2 == 0 {
            numbers.extend(distances.iter().map(|distance| (report.next + distance) & 0xFF_FFFF));
        }
    }
    numbers
}

/// The dissector's fields with `skystp.report.missing` one by one, and without what the decoder does not
/// keep: padding, unknown options, codings.
fn comparable(mut fields: Fields) -> Fields {
    for text in fields.remove("skystp.report.missing").unwrap_or_default() {
        for row in text.split(',') {
            let (first, last) = row.split_once('-').unwrap_or((row, row));
            let numbers = first.parse::<u32>().unwrap()..=last.parse().unwrap();
            fields.entry("missing".into()).or_default().extend(numbers.map(|n| n.to_string()));
        }
    }
    for name in ["skystp.padding", "skystp.report.coding", "skystp.block.coding"] {
        fields.remove(name);
    }
    fields
}

/// Captures segments, and holds the dissector's fields to the decoder's. Gives the fields.
fn hold(segments: &[(String, Vec<u8>)]) -> Vec<Fields> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("segments.pcapng");
    let datagram = |segment: &Vec<u8>| (Direction::Outbound, [&[ENVELOPE], &segment[..]].concat());
    capture_of(&path, segments.iter().map(|(_, segment)| datagram(segment)));
    let seen = all_fields(&path);
    assert_eq!(seen.len(), segments.len());
    for ((name, octets), fields) in segments.iter().zip(&seen) {
        match decode(octets) {
            Ok(segment) if name != "bgn-option" => {
                assert_eq!(comparable(fields.clone()), Expected::of(octets, &segment), "{name}");
            }
            Ok(_) => assert_eq!(fields["skystp.option.kind"], ["200"], "an option that nobody knows"),
            Err(error) => {
                let is_found =
                    ["skystp.malformed", "skystp.damaged"].iter().any(|name| fields.contains_key(*name));
                assert!(is_found, "{name}: {error:?}, and the dissector finds nothing wrong: {fields:?}");
            }
        }
    }
    seen
}

#[test]
fn golden_vectors_have_the_fields_that_the_page_says() {
    if is_missing() {
        return;
    }
    let all = vectors(PAGE);
    assert!(all.len() > 20, "the page was read");
    let named: Vec<_> = all.into_iter().map(|(name, octets)| (name.to_string(), octets)).collect();
    let seen = hold(&named);
    let coding = |name: &str| {
        let place = named.iter().position(|(own, _)| own == name).unwrap();
        seen[place]["skystp.report.coding"].concat()
    };
    assert_eq!(["stat-empty", "stat-varint", "stat-rice"].map(coding), ["0", "1", "2"]);
    let shown: BTreeSet<&str> = seen.iter().flat_map(Fields::keys).map(String::as_str).collect();
    let of_stp = |name: &&&str| name.starts_with("skystp.");
    let unseen: Vec<_> =
        field_names().iter().filter(of_stp).filter(|name| !shown.contains(**name)).copied().collect();
    assert!(unseen.is_empty(), "fields that no vector has: {unseen:?}");
}

/// The vector after `change`, with its checksum corrected.
fn changed(name: &str, change: impl Fn(&mut Vec<u8>)) -> (String, Vec<u8>) {
    let (_, mut octets) = vectors(PAGE).into_iter().find(|(own, _)| *own == name).unwrap();
    change(&mut octets);
    octets[8..10].fill(0);
    let crc = octets.iter().fold(0xFFFF, |crc: u16, &octet| {
        (0..8).fold(crc ^ u16::from(octet) << 8, |crc, _| crc << 1 ^ if crc >> 15 == 1 { 0x1021 } else { 0 })
    });
    octets[8..10].copy_from_slice(&crc.to_be_bytes());
    (format!("{name}, changed"), octets)
}

#[test]
fn what_the_page_says_is_refused_is_marked() {
    if is_missing() {
        return;
    }
    let refused = [
        changed("sd", |octets| octets.push(0)), // fine: one more octet of data, so that what follows is known
        changed("poll", |octets| octets[4] = 0x00),
        changed("poll", |octets| octets[4] = 0x16),
        changed("poll", |octets| octets.truncate(octets.len() - 1)),
        changed("poll", |octets| octets.push(0)),
        changed("bgn-sd-poll", |octets| octets[12] = 2),
        changed("ustat", |octets| octets[15] |= 3),
        changed("ustat", |octets| octets[21] = 0),
        changed("stat-silent", |octets| octets[25] = 0),
        changed("poll-settled", |octets| octets.truncate(20)),
        changed("piece", |octets| octets[15] -= 1),
        changed("piece", |octets| octets[15] += 1),
        changed("piece", |octets| octets.truncate(16)),
        changed("piece", |octets| octets[4] |= 0x02),
        changed("ustat-sd", |octets| octets[23] = 1),
        changed("ustat-sd", |octets| octets.truncate(24)),
    ];
    let mut damaged = changed("sd", |_| {});
    damaged.1[13] ^= 1;
    let seen = hold(&[&refused[..], &[damaged]].concat());
    assert!(seen.last().unwrap().contains_key("skystp.damaged"));
}

/// A piece of any packet: many of them contradict themselves.
fn random_piece(next: &mut dyn FnMut(u32) -> u32) -> Vec<u8> {
    let (offset, total) = (next(600) as u16, next(800) as u16);
    let data = noise(1 + next(300) as usize);
    let piece = Some(Piece { offset, total, data: (&data, &[]) });
    let (number, instance) = (next(1 << 24), next(65_536) as u16);
    let mut octets = Vec::new();
    encode(&Segment { destination_port: 7, number, instance, piece, ..Segment::default() }, &mut octets);
    octets
}

#[test]
fn a_path_header_is_read_and_what_only_looks_like_one_is_not() {
    if is_missing() {
        return;
    }
    let segment = vectors(PAGE).into_iter().find(|(name, _)| *name == "stat-empty").unwrap().1;
    let header = [0xFD, 20, 0x31, 0x02, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 0, 0xFF, 0xFF, 0xFB, 0x1E];
    let datagram = |header: &[u8]| [&[0x22], header, &segment[..]].concat();
    let mut others = vec![header.to_vec(); 3];
    (others[0][1], others[1][2], others[2][2]) = (19, 0x21, 0x33);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("header.pcapng");
    let datagrams = [&header[..]].into_iter().chain(others.iter().map(Vec::as_slice)).map(datagram);
    capture_of(&path, datagrams.map(|datagram| (Direction::Outbound, datagram)));
    let seen = all_fields(&path);
    for (name, value) in [
        ("skyhaul.path_header", "1"),
        ("skyhaul.path.routers", "2"),
        ("skyhaul.path.x", "1"),
        ("skyhaul.path.rtt", "2"),
        ("skyhaul.path.reverse", "0"),
        ("skyhaul.path.delta", "-1250"),
        ("skystp.report.next", "32"),
    ] {
        assert_eq!(seen[0][name], [value], "{name}");
    }
    assert!(seen[1..].iter().all(|fields| !fields.contains_key("skystp.report.next")), "{seen:?}");
}

#[test]
fn segments_at_random_are_read_as_the_decoder_reads_them() {
    if is_missing() {
        return;
    }
    let octets = noise(40_000);
    let mut source = octets.iter().copied();
    let mut next = |below: u32| {
        let value = source.by_ref().take(4).fold(0, |value, octet| value << 8 | u32::from(octet));
        value % below
    };
    let report = |next: &mut dyn FnMut(u32) -> u32| {
        let scale = [2, 30, 3000][next(3) as usize];
        Report {
            next: next(1 << 24),
            window_bytes: next(u32::MAX),
            more: false,
            silent: (next(2) == 0).then(|| (next(300), 1 + next(200))),
            start: next(200),
            runs: (0..next(40)).map(|_| 1 + next(scale)).collect(),
        }
    };
    let mut segments = Vec::new();
    for place in 0..100 {
        let report = report(&mut next);
        let timing = (next(2) == 0).then(|| Timing { clock: next(u32::MAX), octets: next(u32::MAX) });
        let feedback =
            (next(2) == 0).then(|| Feedback { sum_bytes_per_s: next(u32::MAX), routers: next(256) as u8 });
        let wanting = (next(2) == 0).then(|| (next(256) as u8, next(65_535)));
        let data = noise(1 + next(300) as usize);
        let segment = Segment {
            source_port: next(65_536) as u16,
            destination_port: 7,
            number: next(1 << 24),
            instance: next(65_536) as u16,
            stat: Some(Stat { echo: next(u32::MAX), report, timing, feedback, wanting }),
            data: (next(2) == 0).then_some((&data[..], &[][..])),
            endak: next(2) == 0,
            ..Segment::default()
        };
        let mut octets = Vec::new();
        encode(&segment, &mut octets);
        segments.push((format!("segment {place}"), octets));
        segments.push((format!("piece {place}"), random_piece(&mut next)));
    }
    hold(&segments);
}
