//! Messages about wrong usage say what to do.

use crate::common::run;
use crate::support::{emulate, scenario};

fn refused(args: &[&str], code: i32, words: &[&str]) {
    let said = run(&[&["emulate"], args].concat());
    assert_eq!(said.code, Some(code), "{said:?}");
    for word in words {
        assert!(said.err.contains(word), "{word}: {said:?}");
    }
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let (_folder, file) = scenario();
    let file = file.as_str();
    refused(&["nowhere.toml"], 1, &["cannot read the scenario 'nowhere.toml'", "No such file", "geo-noisy"]);
    refused(&["/dev", "--", "true"], 1, &["cannot read the scenario '/dev'", "directory"]);
    refused(&[file, "--at", "mars", "--", "true"], 2, &["no host 'mars'", "ship, ground"]);
    refused(&[file, "--run", "mars=true"], 2, &["no host 'mars'", "ship, ground"]);
    refused(&[file, "--run", "true"], 2, &["name a host of the scenario first"]);
    refused(
        &[file, "--run", "ship=true", "--at", "ship"],
        2,
        &["--at names the host of a command behind --"],
    );
    refused(&[file, "--run", "ship=true", "--run", "ship=true"], 2, &["'ship' has two commands"]);
    refused(&[file, "--udp", "ship=127.0.0.1:0"], 2, &["--udp is wanted twice"]);
    refused(&[file, "--udp", "ship=here", "--udp", "ground=there"], 2, &["ADDRESS:PORT"]);
    refused(&[file, "--udp", "ship=127.0.0.1:0=[::1]:7"], 2, &["both IPv6"]);
    refused(&[file, "--udp", "ship=127.0.0.1:0", "--udp", "ship=127.0.0.1:0"], 2, &["name two hosts"]);
    refused(&[file, "--udp", "ship=127.0.0.1:0", "--", "true"], 2, &["cannot be used with"]);
    refused(&[file, "--tun", "ship=a:sky0"], 2, &["at least two hosts"]);
    refused(&[file, "--tun", "ship=a:x", "--device", "ship=b"], 2, &["'ship' has two places"]);
    refused(&[file, "--tun", "ship=a:x", "--tun", "ground=a:y"], 2, &["have the same place"]);
    refused(&[file, "--run", "ship="], 2, &["nothing behind 'ship='"]);
    refused(&[file, "--set", "links.space.forward.rate=fast", "--", "true"], 2, &["rate", "fast"]);
    refused(&[], 2, &["<FILE>"]);
    refused(&["--", "true"], 2, &["<FILE>"]);
    refused(&["goe", "--", "true"], 2, &["no such file", "did you mean `geo`?", "starlink"]);
    refused(&[file, "--rate", "10M", "--", "true"], 2, &["--rate", "cannot be used with"]);
    let tip = "a command stands behind --";
    refused(&["geo", "ping", "-c", "1", "gateway"], 2, &["'ping'", tip]);
    refused(&["--rate", "10M", "ping"], 2, &[tip]);
    refused(&["--down", "10M", "--", "true"], 2, &["--rate"]);
    refused(&["--rate", "10M", "--mtu", "67", "--", "true"], 2, &["68 to 65535 bytes"]);
    refused(&[file, "--mtu", "600", "--", "true"], 2, &["at least 1280", "links.NAME.forward.mtu=600B"]);
    refused(&["--rate", "10M", "--loss", "1%", "--", "true"], 2, &["write 0.01 for 1 %"]);
    refused(&["--delay", "10ms", "--queue", "7", "--", "true"], 2, &["100packets or 125kB"]);
}

#[test]
fn a_namespace_or_device_that_is_not_there_is_said_to() {
    let (_folder, file) = scenario();
    let tuns = ["--tun", "ship=no-such-namespace:sky7", "--tun", "ground=no-such-either:sky8"];
    refused(
        &[&[file.as_str()], &tuns[..]].concat(),
        1,
        &["no network namespace 'no-such-namespace'", "ip netns add"],
    );
    let devices = ["--device", "ship=no-such-device", "--device", "ground=no-such-either"];
    refused(
        &[&[file.as_str()], &devices[..]].concat(),
        1,
        &["no network device 'no-such-device'", "ip tuntap add"],
    );
}

#[test]
fn people_do_not_start_hosts() {
    for args in [&["emulated-host", "0"][..], &["emulated-host", "77"]] {
        let said = run(args);
        assert_eq!(said.code, Some(125), "{said:?}");
        assert!(said.err.contains("`skyhaul emulate` starts it"), "{said:?}");
    }
}

#[test]
fn without_ip_it_says_so() {
    let (_folder, file) = scenario();
    let mut command = crate::common::skyhaul(&["emulate", &file, "--", "/bin/true"]);
    let said: crate::common::Said = command.env("PATH", "/nowhere").output().unwrap().into();
    if said.err.contains("need root, or user namespaces") || said.err.contains("/dev/net/tun") {
        return crate::common::skipped("namespaces with TUN devices cannot be made here");
    }
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(said.err.contains("`ip` is not installed"), "{said:?}");
}

#[test]
fn the_first_point_of_a_sweep_is_named() {
    let (_folder, file) = scenario();
    let axis = r#"sweep."links.space.forward.loss"=[0.5, 0]"#;
    let Some(said) = emulate(&[&file, "--set", axis, "--", "true"]) else { return };
    assert!(said.err.contains("the first point of the sweep: links.space.forward.loss = 0.5"), "{said:?}");
}

#[test]
fn without_the_right_to_namespaces_it_says_what_works() {
    use std::os::unix::process::CommandExt as _;
    if !rustix::process::geteuid().is_root() {
        return crate::common::skipped("only root can become somebody without rights");
    }
    let (_folder, file) = scenario();
    let readable = std::path::Path::new(&file).parent().unwrap();
    std::fs::set_permissions(readable, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();
    let mut command = crate::common::skyhaul(&["emulate", &file, "--", "true"]);
    let Ok(output) = command.uid(65_534).gid(65_534).env_remove("XDG_RUNTIME_DIR").output() else {
        return crate::common::skipped("others may not run this program here");
    };
    let said: crate::common::Said = output.into();
    if said.code == Some(0) {
        return crate::common::skipped("everybody may make namespaces with TUN devices here");
    }
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.err.contains("UDP relays work without either: skyhaul emulate FILE --udp ship="),
        "{said:?}"
    );
}
