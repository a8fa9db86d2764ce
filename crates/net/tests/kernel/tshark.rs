//! tshark, if it is there. (The tests against smoltcp use this file, too.)

use std::process::Command;

use crate::namespace::skipped;

/// True if there is no tshark; then that is said.
pub(crate) fn is_missing() -> bool {
    let is_missing = Command::new("tshark").arg("--version").output().is_err();
    if is_missing {
        skipped("tshark is not installed");
    }
    is_missing
}

/// Ports whose payload is nothing but data. Else tshark guesses a protocol by the first bytes of a segment,
/// which noise passes for once in a while, and calls what follows malformed.
const DATA: &str = "tcp.port==1-65535,data";

/// Packets of the capture that match a display filter, with checksums checked.
pub(crate) fn matching(path: &str, filter: &str) -> Vec<String> {
    let checks = ["ip.check_checksum", "tcp.check_checksum"];
    let mut tshark = Command::new("tshark");
    tshark.args(["-n", "-r", path, "-Y", filter, "-d", DATA]);
    for check in checks {
        tshark.args(["-o", &format!("{check}:TRUE")]);
    }
    let output = tshark.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(str::to_string).collect()
}
