//! Records of the file protocol in the dissector: the octets of `docs/spec/files.md`, section 9, as streams
//! of STP, cut anywhere, and late.

use skyhaul_capture::Direction;
use skyhaul_stp::segment::{Opening, Piece, Segment, decode, encode};

use crate::tshark::{Fields, all_fields, capture_of, field_names, is_missing};

const PAGE: &str = include_str!("../../../../docs/spec/files.md");

/// Octets of lines of section 9 that begin with one of these names.
fn octets(names: &[&str]) -> Vec<u8> {
    let section = PAGE.split("## 9. Octets").nth(1).unwrap();
    let mut is_wanted = false;
    let mut hex = String::new();
    for line in section.split("```").skip(1).step_by(2).flat_map(str::lines).filter(|line| *line != "text") {
        if !line.starts_with(' ') {
            let (name, _) = line.split_once(' ').unwrap_or_default();
            is_wanted = names.contains(&name);
        }
        if is_wanted {
            let rest = if line.starts_with(' ') { line } else { line.split_once(' ').unwrap().1 };
            hex.extend(rest.chars().filter(char::is_ascii_hexdigit));
        }
    }
    (0..hex.len()).step_by(2).map(|i| u8::from_str_radix(&hex[i..i + 2], 16).unwrap()).collect()
}

/// Datagrams of a stream, `piece` octets each: from port 50000 to port 2 (that of files), or back.
fn datagrams(direction: Direction, stream: &[u8], piece: usize) -> Vec<(Direction, Vec<u8>)> {
    let ports = if direction == Direction::Outbound { (50_000, 2) } else { (2, 50_000) };
    let initial = 0xFF_FFFE; // it wraps
    let opening = Some(Opening { initial, max_payload_bytes: 1459, nonce: 7, ..Opening::default() });
    let datagram = |(place, data): (usize, &[u8])| {
        let is_first = place == 0;
        let segment = Segment {
            source_port: ports.0,
            destination_port: ports.1,
            number: (initial + place as u32) & 0xFF_FFFF,
            bgn: opening.filter(|_| is_first && direction == Direction::Outbound),
            bgnak: opening.filter(|_| is_first && direction == Direction::Inbound),
            data: Some((data, &[])),
            ..Segment::default()
        };
        let mut bytes = vec![0x20];
        encode(&segment, &mut bytes);
        (direction, bytes)
    };
    stream.chunks(piece).enumerate().map(datagram).collect()
}

fn shown(datagrams: Vec<(Direction, Vec<u8>)>) -> Vec<Fields> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("files.pcapng");
    capture_of(&path, datagrams);
    all_fields(&path)
}

/// Values of a field in the order in which they were seen.
fn of(seen: &[Fields], name: &str) -> Vec<String> {
    seen.iter().filter_map(|fields| fields.get(name)).flatten().cloned().collect()
}

const DIGEST: &str = "ea8f163db38682925e4491c5e58d4bb3506ef8c14eb78a86e908c5624a67200f";

fn hold_to_the_page(seen: &[Fields]) {
    assert_eq!(of(seen, "skyfiles.version"), ["1"]);
    assert_eq!(of(seen, "skyfiles.files"), ["1"]);
    assert_eq!(of(seen, "skyfiles.payload"), ["5"]);
    assert_eq!(of(seen, "skyfiles.kind"), ["0x01", "0x02", "0x03", "0x04"]);
    assert_eq!(of(seen, "skyfiles.flags"), ["0x00"; 4]);
    assert_eq!(of(seen, "skyfiles.length"), ["14", "40", "32", "5"]);
    assert_eq!(of(seen, "skyfiles.file"), ["0", "0", "0", "1"]);
    assert_eq!(of(seen, "skyfiles.name"), ["hi.txt"]);
    assert_eq!(of(seen, "skyfiles.size"), ["5"]);
    assert_eq!(
        (of(seen, "skyfiles.chunk"), of(seen, "skyfiles.chunk_length")),
        (vec!["0".into()], vec!["5".into()])
    );
    assert_eq!(of(seen, "skyfiles.digest"), [DIGEST, DIGEST]);
    assert_eq!(
        (of(seen, "skyfiles.reason"), of(seen, "skyfiles.text")),
        (vec!["8".into()], vec!["gone".into()])
    );
    assert_eq!(of(seen, "skyfiles.check").len(), 1 + 2 * 4);
    assert!(of(seen, "skyfiles.broken").is_empty(), "{seen:?}");
}

#[test]
fn the_octets_of_the_page_are_read_however_they_are_cut() {
    if is_missing() {
        return;
    }
    let stream = octets(&["opening", "FILE", "CHUNK", "END", "ABORT"]);
    for piece in [1, 7, 28, 50, 1000] {
        hold_to_the_page(&shown(datagrams(Direction::Outbound, &stream, piece)));
    }
}

#[test]
fn packets_that_are_late_lost_and_repeated_or_twice_are_put_in_order() {
    if is_missing() {
        return;
    }
    let stream = octets(&["opening", "FILE", "CHUNK", "END", "ABORT"]);
    let mut all = datagrams(Direction::Outbound, &stream, 11);
    let late = all.remove(3);
    all.insert(9, late.clone());
    all.insert(5, all[4].clone());
    all.push(late);
    hold_to_the_page(&shown(all));
}

#[test]
fn a_packet_in_pieces_is_put_together() {
    if is_missing() {
        return;
    }
    let stream = octets(&["opening", "FILE", "CHUNK", "END", "ABORT"]);
    let (opening, packet) = stream.split_at(28);
    let mut all = datagrams(Direction::Outbound, opening, 28);
    let (_, first) = &all[0];
    let first = decode(&first[1..]).unwrap();
    let piece = |from: usize, to: usize| {
        let piece = Piece { offset: from as u16, total: packet.len() as u16, data: (&packet[from..to], &[]) };
        let number = first.number + 1;
        let segment = Segment { number, piece: Some(piece), bgn: None, data: None, ..first.clone() };
        let mut bytes = vec![0x20];
        encode(&segment, &mut bytes);
        (Direction::Outbound, bytes)
    };
    let late = [piece(130, packet.len()), piece(130, packet.len()), piece(0, 130), piece(0, 130)];
    all.extend(late);
    hold_to_the_page(&shown(all));
}

/// Stream of version 3 with these octets behind CHUNK3.
fn in_portions(data: &[u8], last: &[u8]) -> Vec<u8> {
    [&octets(&["opening3", "FILE3", "CHUNK3"]), data, last].concat()
}

#[test]
fn a_chunk_in_portions_is_read_to_its_end_be_that_early_or_not() {
    if is_missing() {
        return;
    }
    let portion = [b'a'; 4096];
    let (end, abort) = (octets(&["END"]), octets(&["ABORT3"]));
    let whole = [&portion[..], &[0], &portion, &[0], b"a"].concat();
    let early = [&portion[..], &[0xff]].concat();
    let later = [&portion[..], &[0], &portion, &[0xff]].concat();
    for piece in [99, 1000, 4096, 8192] {
        for (data, last, kind, cut) in [
            (&whole, &end, "0x03", vec![]),
            (&early, &abort, "0x04", vec!["0xff".to_string()]),
            (&later, &abort, "0x04", vec!["0xff".to_string()]),
        ] {
            let seen = shown(datagrams(Direction::Outbound, &in_portions(data, last), piece));
            assert_eq!(of(&seen, "skyfiles.version"), ["3"]);
            assert_eq!(of(&seen, "skyfiles.kind"), ["0x01", "0x02", kind], "{piece} octets each");
            assert_eq!(of(&seen, "skyfiles.cut"), cut, "{piece} octets each");
            assert!(of(&seen, "skyfiles.broken").is_empty(), "{seen:?}");
        }
    }
}

#[test]
fn replies_are_read_and_every_field_has_an_example() {
    if is_missing() {
        return;
    }
    let with_time = [
        &[0x01, 0x02, 0, 21, 0, 0, 0, 0, 0, 0, 0, 0][..], // its checks are not checked
        &[0, 0, 0, 0, 0, 0, 0, 5, 0, 0, 0, 0, 0, 0, 0, 9, 0, 0, 0, 3, b'a', 0, 0, 0, 0],
    ];
    let sent = [octets(&["opening"]), with_time.concat(), octets(&["CHUNK", "END"])].concat();
    let replies = octets(&["DELIVERED", "AGAIN", "FAILED", "STOP"]);
    let mut all = datagrams(Direction::Outbound, &sent, 400);
    all.extend(datagrams(Direction::Inbound, &replies, 30));
    let mut seen = shown(all);
    assert_eq!(
        (of(&seen, "skyfiles.modified"), of(&seen, "skyfiles.modified_ns")),
        (vec!["9".into()], vec!["3".into()])
    );
    assert_eq!(of(&seen, "skyfiles.kind")[3..], ["0x81", "0x83", "0x82", "0x84"]);
    assert_eq!(of(&seen, "skyfiles.count"), ["1"]);
    assert_eq!(of(&seen, "skyfiles.receipt"), ["0f79bf7f41e10b873e0f24b701159b49"]);
    assert_eq!(
        (of(&seen, "skyfiles.first"), of(&seen, "skyfiles.chunks")),
        (vec!["3".into(), "7".into()], vec!["1".into(), "2".into()])
    );
    assert_eq!(of(&seen, "skyfiles.reason"), ["1", "12"]);
    assert_eq!(of(&seen, "skyfiles.text"), ["taken", "old"]);
    let early = in_portions(&[b'a'; 4096], &[0xff]);
    seen.extend(shown(datagrams(Direction::Outbound, &early, 1000)));
    let names = field_names();
    let unseen: Vec<_> =
        names.iter().filter(|name| name.starts_with("skyfiles.") && of(&seen, name).is_empty()).collect();
    assert!(unseen.is_empty(), "fields without an example: {unseen:?}");
}
