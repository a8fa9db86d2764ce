//! This machine and its peers for people.

use super::object::{MachineObject, PeerObject, PeersObject};

/// Name and key of this machine.
pub(super) fn machine(machine: &MachineObject) -> String {
    let MachineObject { name, public_key, callsign } = machine;
    let callsign = callsign.as_ref().map_or(String::new(), |callsign| format!("  callsign    {callsign}\n"));
    format!("  name        {name}\n  public key  {public_key}\n{callsign}")
}

/// Machine that was paired, below each other.
pub(super) fn paired(peer: &PeerObject) -> String {
    let PeerObject { name, public_key, mode, callsign, .. } = peer;
    let callsign = callsign.as_ref().map_or(String::new(), |callsign| format!("  callsign     {callsign}\n"));
    format!("  paired with  {name}\n  public key   {public_key}\n  mode         {mode}\n{callsign}")
}

/// Heads of the columns.
const HEADS: [&str; 6] = ["name", "mode", "may send", "callsign", "address", "public key"];

/// Line for each peer below a line of heads; nothing if there is none.
pub(super) fn peers(object: &PeersObject) -> String {
    if object.peers.is_empty() {
        return String::new();
    }
    let rows: Vec<[String; 6]> = object.peers.iter().map(row).collect();
    let heads = HEADS.map(String::from);
    let all = || std::iter::once(&heads).chain(&rows);
    let width = |column: usize| all().map(|row| row[column].len()).max().unwrap_or(0);
    let widths: [usize; 6] = std::array::from_fn(width);
    all().map(|row| line(row, &widths)).collect()
}

fn row(peer: &PeerObject) -> [String; 6] {
    let or_dash = |word: &Option<String>| word.clone().unwrap_or_else(|| "-".into());
    [
        peer.name.clone(),
        peer.mode.into(),
        if peer.may_send { "yes" } else { "no" }.into(),
        or_dash(&peer.callsign),
        or_dash(&peer.address),
        peer.public_key.clone(),
    ]
}

fn line(row: &[String; 6], widths: &[usize; 6]) -> String {
    let cells = row.iter().zip(widths).map(|(cell, width)| format!("  {cell:<width$}"));
    cells.collect::<String>().trim_end().to_owned() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_as_wide_as_their_widest_word() {
        let peer = |name: &str, may_send| PeerObject {
            name: name.into(),
            public_key: "00ff".into(),
            mode: "encrypted",
            may_send,
            address: None,
            callsign: Some("DL1ABC".into()),
        };
        let text = peers(&PeersObject { peers: vec![peer("a", true), peer("ground-station", false)] });
        let expected = "
  name            mode       may send  callsign  address  public key
  a               encrypted  yes       DL1ABC    -        00ff
  ground-station  encrypted  no        DL1ABC    -        00ff
";
        assert_eq!(text, expected[1..]);
    }
}
