//! tshark with the dissector.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;
use std::process::Command;

use skyhaul_capture::{Direction, Heads, Record, Recorder};
use skyhaul_core::NetworkFields;
use skyhaul_core::packet::ip_protocol;

use crate::common::skipped;

pub const DISSECTOR: &str = include_str!("../../../../contrib/wireshark/skyhaul.lua");
const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../contrib/wireshark/skyhaul.lua");

/// Names of the golden vectors of a page, and their octets.
pub fn vectors(page: &'static str) -> Vec<(&'static str, Vec<u8>)> {
    let vector = |text: &'static str| {
        let (name, rest) = text.split_once(':').unwrap();
        let hex: String = rest.split("```").next().unwrap().chars().filter(char::is_ascii_hexdigit).collect();
        let octet = |i: usize| u8::from_str_radix(&hex[i..i + 2], 16).unwrap();
        (name, (0..hex.len()).step_by(2).map(octet).collect())
    };
    page.split("\nvector ").skip(1).map(vector).collect()
}

/// Fields of a packet by their names; repeated ones in their order.
pub type Fields = BTreeMap<String, Vec<String>>;

/// True if there is no tshark; then that is said.
pub fn is_missing() -> bool {
    let is_missing = Command::new("tshark").arg("--version").output().is_err();
    if is_missing {
        skipped("tshark is not installed");
    }
    is_missing
}

/// What tshark says with these further arguments.
pub fn tshark(path: &Path, extra: &[&str]) -> String {
    tshark_by(SCRIPT, path, extra)
}

/// What tshark says with another dissector.
pub fn tshark_by(script: &str, path: &Path, extra: &[&str]) -> String {
    let mut command = Command::new("tshark");
    command.arg("-n").args(["-X", &format!("lua_script:{script}")]).arg("-r").arg(path).args(extra);
    let output = command.output().unwrap();
    let err = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && !err.contains("Lua"), "{err}");
    String::from_utf8(output.stdout).unwrap()
}

/// Packets that match a display filter: these fields of each.
pub fn columns(path: &Path, filter: &str, fields: &[&str]) -> Vec<Vec<String>> {
    let mut extra = vec!["-Y", filter, "-T", "fields"];
    for field in fields {
        extra.extend(["-e", field]);
    }
    let text = tshark(path, &extra);
    text.lines().map(|line| line.split('\t').map(str::to_string).collect()).collect()
}

/// Fields that the dissector makes in a loop.
const TYPES: [&str; 8] = [
    "skystp.type.sd",
    "skystp.type.poll",
    "skystp.type.stat",
    "skystp.type.ustat",
    "skystp.type.bgn",
    "skystp.type.bgnak",
    "skystp.type.end",
    "skystp.type.endak",
];

/// Names of the fields that the dissector defines one by one.
pub fn field_names() -> Vec<&'static str> {
    names_in(DISSECTOR)
}

/// Names of the fields that this text of a dissector defines one by one.
pub fn names_in(dissector: &'static str) -> Vec<&'static str> {
    let defined = dissector.split("ProtoField.").skip(1);
    let named = defined.filter_map(|rest| rest.split('"').nth(1));
    named.filter(|name| !name.ends_with('.')).collect()
}

/// All fields of the dissector in every packet; empty ones left out.
pub fn all_fields(path: &Path) -> Vec<Fields> {
    let mut names = field_names();
    names.extend(["skystp.malformed", "skystp.damaged", "skyfiles.broken"]);
    names.extend(TYPES);
    fields_by(SCRIPT, &names, path)
}

/// These fields of a dissector in every packet; empty ones left out.
pub fn fields_by(script: &str, names: &[&str], path: &Path) -> Vec<Fields> {
    let mut extra = vec!["-T", "fields", "-E", "aggregator=;"];
    for name in names {
        extra.extend(["-e", name]);
    }
    let text = tshark_by(script, path, &extra);
    let fields = |line: &str| {
        let values = line.split('\t').zip(names).filter(|(value, _)| !value.is_empty());
        values.map(|(value, name)| (name.to_string(), value.split(';').map(plain).collect())).collect()
    };
    text.lines().map(fields).collect()
}

/// Later versions write truth as a word.
fn plain(value: &str) -> String {
    match value {
        "True" => "1".into(),
        "False" => "0".into(),
        other => other.into(),
    }
}

/// A capture of datagrams from port 1000 to port 2000.
pub fn capture_of(path: &Path, datagrams: impl IntoIterator<Item = (Direction, Vec<u8>)>) {
    capture_between(path, ["10.0.0.1:1000", "10.0.0.2:2000"], ip_protocol::UDP, datagrams);
}

/// A capture of packets of this protocol between these two.
pub fn capture_between(
    path: &Path,
    ends: [&str; 2],
    protocol: u8,
    datagrams: impl IntoIterator<Item = (Direction, Vec<u8>)>,
) {
    let file = File::create(path).unwrap();
    let recorder = Recorder::start(file, "", &["a".to_string()], |error, _| panic!("{error}")).unwrap();
    let fields = NetworkFields { protocol, ..NetworkFields::default() };
    let [one, other] = ends.map(|address| address.parse().unwrap());
    for (at_ns, (direction, bytes)) in (0..).zip(datagrams) {
        let (source, destination) = match direction {
            Direction::Outbound => (one, other),
            Direction::Inbound => (other, one),
        };
        let heads = Some(Heads { source, destination, fields });
        let (bytes, events) = (bytes.into(), Vec::new());
        recorder.inlet().put(Record { at_ns, interface: 0, direction, heads, bytes, events });
    }
    recorder.finish();
}
