//! Commands on hosts: what they see, and what becomes of their exit codes.

use crate::common::{file, names, noise};
use crate::support::{emulate, ready, scenario};

fn sh(text: &str) -> Option<crate::common::Said> {
    let (_folder, scenario) = scenario();
    emulate(&[&scenario, "--quiet", "--", "sh", "-c", text])
}

#[test]
fn a_host_has_the_link_as_its_only_way_out() {
    let Some(said) =
        sh("ip -o link show; ip route show; cat /etc/hosts; echo host $SKYHAUL_HOST gateway $GATEWAY")
    else {
        return;
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    let devices = said.out.lines().filter(|line| line.contains("mtu")).count();
    assert_eq!(devices, 2, "loopback and the link: {}", said.out);
    assert!(said.out.contains("default via 10.77.0.2 dev sky0"), "{}", said.out);
    assert!(said.out.contains("10.77.0.2 ground gateway\n"), "{}", said.out);
    assert!(said.out.contains("host ship gateway 10.77.0.2\n"), "{}", said.out);
}

#[test]
fn the_first_process_of_a_host_is_ours_and_sees_no_others() {
    let Some(said) = sh("echo $$; ls /proc | grep -c '^[0-9]'; hostname") else { return };
    let lines: Vec<&str> = said.out.lines().collect();
    assert!(lines[0].parse::<u32>().unwrap() < 10, "{said:?}");
    assert!(lines[1].parse::<u32>().unwrap() < 10, "{said:?}");
    assert_eq!(lines.get(2), Some(&"ship"), "{said:?}");
}

#[test]
fn the_exit_code_of_the_command_is_passed_on() {
    let Some(said) = sh("exit 7") else { return };
    assert_eq!(said.code, Some(7), "{said:?}");
    let said = sh("kill -KILL $$").unwrap();
    assert_eq!(said.code, Some(128 + 9), "{said:?}");
}

#[test]
fn a_command_that_does_not_exist_is_said_to() {
    let (_folder, scenario) = scenario();
    let Some(said) = emulate(&[&scenario, "--quiet", "--", "no-such-command"]) else { return };
    assert_eq!(said.code, Some(127), "{said:?}");
    assert!(said.err.starts_with("skyhaul: 'no-such-command' cannot be run on ship:"), "{said:?}");
}

/// Over IPv4 and IPv6 of the kernel's, with its checksums.
#[test]
fn a_router_between_namespaces_tells_a_sender_its_rate() {
    for listen in ["0.0.0.0", "[::]"] {
        let folder = tempfile::tempdir().unwrap();
        let data = noise(1_000_000);
        file(folder.path(), "data", &data);
        let (program, dir) = (env!("CARGO_BIN_EXE_skyhaul"), folder.path().to_str().unwrap());
        std::fs::create_dir(folder.path().join("in")).unwrap();
        let receive =
            format!("sink={program} receive --plain --dir {dir}/in --listen {listen}:4700 --once 2>&1");
        let to = if listen == "[::]" { "[fd77::3]" } else { "10.77.0.3" };
        let send = format!(
            "hub={program} send --plain {dir}/data {to}:4700 --controller p-xcp --json --capture {dir}/told.pcapng"
        );
        let scenario = ready("explicit.toml");
        let Some(said) = emulate(&[&scenario, "--run", &receive, "--run", &send, "--json"]) else { return };
        assert_eq!(said.code, Some(0), "{said:?}");
        assert!(std::fs::read(folder.path().join("in/data")).unwrap() == data);
        let told = std::fs::read(folder.path().join("told.pcapng")).unwrap();
        let wanted = b"by the routers on the path";
        assert!(told.windows(wanted.len()).any(|bytes| bytes == wanted), "{listen}: {said:?}");
    }
}

#[test]
fn at_chooses_the_host() {
    let (_folder, scenario) = scenario();
    let Some(said) = emulate(&[&scenario, "--at", "ground", "--", "sh", "-c", "echo $SKYHAUL_HOST $GATEWAY"])
    else {
        return;
    };
    assert_eq!(said.out, "ground 10.77.0.1\n", "{said:?}");
    assert!(said.err.contains("space forward"), "what was counted: {said:?}");
}

/// A file by TCP of the kernel's, through our own programs: the test without `ping` and `iperf3`.
#[test]
fn commands_on_two_hosts_reach_each_other_by_name_at_the_links_rate() {
    let (folder, scenario) = scenario();
    let data = noise(1_000_000);
    file(folder.path(), "data", &data);
    let (program, dir) = (env!("CARGO_BIN_EXE_skyhaul"), folder.path().to_str().unwrap());
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let receive =
        format!("ground={program} receive --plain --dir {dir}/in --listen 0.0.0.0:4700 --once 2>&1");
    let send = format!("ship={program} send --plain {dir}/data ground:4700 --rate 10M --json");
    let Some(said) = emulate(&[&scenario, "--run", &receive, "--run", &send, "--json"]) else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    assert_eq!(names(&folder.path().join("in")), ["data"]);
    assert!(std::fs::read(folder.path().join("in/data")).unwrap() == data);
    let counted = said.json();
    let forward = &counted["links"]["space"]["forward"];
    assert!(forward["delivered_bytes"].as_u64().unwrap() > 1_000_000, "{counted}");
    let sent: serde_json::Value = said.out.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap();
    let seconds = sent["confirmed_s"].as_f64().unwrap();
    assert!(seconds > 0.88, "1 MB at 10 Mbit/s and a round trip of 80 ms cannot take {seconds} s");
    assert!(sent["rtt_ms"]["min"].as_f64().unwrap() >= 80.0, "{sent}");
}

#[test]
fn an_emulation_ends_when_a_command_fails() {
    let (_folder, scenario) = scenario();
    let Some(said) = emulate(&[&scenario, "--run", "ground=exit 3", "--run", "ship=sleep 600"]) else {
        return;
    };
    assert_eq!(said.code, Some(3), "{said:?}");
    assert!(said.err.contains("the command on ground ended with exit code 3"), "{said:?}");
}

#[test]
fn a_geostationary_link_takes_its_half_second() {
    if std::process::Command::new("ping").arg("-V").output().is_err() {
        return crate::common::skipped("there is no `ping` here");
    }
    let Some(said) = emulate(&[&ready("geo.toml"), "--", "ping", "-c", "2", "-i", "0.2", "GATEWAY"]) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    let summary =
        said.out.lines().find_map(|line| line.split_once("= ").filter(|_| line.contains("rtt"))).unwrap();
    let min_ms: f64 = summary.1.split('/').next().unwrap().parse().unwrap();
    assert!((550.0..700.0).contains(&min_ms), "{said:?}");
}

/// A second host at each end, and routers between.
const CROSSROADS: &str = r#"
[run]
duration = "1h"
[nodes]
ship = { kind = "host" }
boat = { kind = "host" }
west = { kind = "router" }
east = { kind = "router" }
ground = { kind = "host" }
[links.a]
between = ["ship", "west"]
forward = { delay = "1ms" }
reverse = { delay = "1ms" }
[links.b]
between = ["boat", "west"]
forward = { delay = "2ms" }
reverse = { delay = "2ms" }
[links.space]
between = ["west", "east"]
forward = { rate = "10Mbit/s", delay = "40ms" }
reverse = { rate = "10Mbit/s", delay = "40ms" }
[links.c]
between = ["east", "ground"]
forward = { delay = "3ms" }
reverse = { delay = "3ms" }
[transports.tcp]
protocol = "tcp"
[flows.file]
from = "ship"
to = "ground"
transport = "tcp"
workload = { kind = "bulk" }
"#;

#[test]
fn routers_live_inside_and_hosts_reach_each_other_by_them() {
    let folder = tempfile::tempdir().unwrap();
    let path = file(folder.path(), "crossroads.toml", CROSSROADS.as_bytes());
    let dir = folder.path().to_str().unwrap();
    let data = file(folder.path(), "data", &noise(20_000));
    std::fs::create_dir(folder.path().join("in")).unwrap();
    let program = env!("CARGO_BIN_EXE_skyhaul");
    let receive = format!("ground={program} receive --plain --dir {dir}/in --listen [::]:4700 --once 2>&1");
    let send = format!("boat={program} send --plain {} [fd77::3]:4700 --json", data.display());
    let said = emulate(&[path.to_str().unwrap(), "--run", &receive, "--run", &send, "--json"]);
    let Some(said) = said else { return };
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(std::fs::read(folder.path().join("in/data")).unwrap() == noise(20_000));
    let sent: serde_json::Value = said.out.lines().find_map(|line| serde_json::from_str(line).ok()).unwrap();
    assert!(sent["rtt_ms"]["min"].as_f64().unwrap() >= 90.0, "2 + 40 + 3 ms each way: {sent}");
    let links = &said.json()["links"];
    assert_eq!(links["a"]["forward"]["entered_packets"], 0, "{links}");
    let through =
        ["b", "space", "c"].map(|link| links[link]["forward"]["delivered_packets"].as_u64().unwrap());
    assert!(through[0] >= 15 && through.iter().all(|packets| *packets == through[0]), "{links}");
}

#[test]
fn iperf3_shows_the_rate_of_the_link() {
    if std::process::Command::new("iperf3").arg("-v").output().is_err() {
        return crate::common::skipped("there is no `iperf3` here");
    }
    let server = "receiver=iperf3 -s >/dev/null";
    let client = "sender=iperf3 -c receiver -u -b 12M -l 1372 -t 6 -J";
    let Some(said) = emulate(&[&ready("geo.toml"), "--quiet", "--run", server, "--run", client]) else {
        return;
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    let shown: serde_json::Value = serde_json::from_str(&said.out).unwrap();
    let received = &shown["end"]["sum_received"];
    let bytes = received["bytes"].as_f64().unwrap();
    let intervals = shown["end"]["sum"]["seconds"].as_f64().unwrap();
    // The queue that is left when the sender ends is sent in a time that the receiver's clock counts and ours
    // does not.
    let mbps = bytes * 8.0 / 1e6 / intervals;
    assert!((8.5..=11.0).contains(&mbps), "10 Mbit/s less headers: {mbps}");
}

/// A shell with job control wants the terminal for itself, and gives it back to whom it had it from.
#[test]
fn an_interactive_shell_has_the_terminal_and_ends_well() {
    let (_folder, scenario) = scenario();
    if emulate(&[&scenario, "--quiet", "--", "true"]).is_none() {
        return;
    }
    let program = env!("CARGO_BIN_EXE_skyhaul");
    let line =
        format!("SHELL=/bin/sh {program} emulate {scenario} --quiet; echo code $?; read x; echo got $x");
    let mut script = std::process::Command::new("script");
    script
        .args(["-qec", &line, "/dev/null"])
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped());
    let Ok(mut child) = script.spawn() else {
        return crate::common::skipped("there is no `script` here, which makes a terminal");
    };
    let mut input = child.stdin.take().unwrap();
    std::thread::spawn(move || {
        use std::io::Write as _;
        for text in ["echo on $SKYHAUL_HOST\n", "exit 0\n", "answer\n"] {
            std::thread::sleep(std::time::Duration::from_millis(1500));
            let _ = input.write_all(text.as_bytes());
        }
        std::thread::sleep(std::time::Duration::from_millis(1500));
    });
    let said: crate::common::Said = child.wait_with_output().unwrap().into();
    for word in ["on ship", "code 0", "got answer"] {
        assert!(said.out.contains(word), "{word}: {said:?}");
    }
}

#[test]
fn a_command_that_takes_too_long_is_ended_and_said_to_be() {
    let (_folder, scenario) = scenario();
    let Some(said) = emulate(&[&scenario, "--duration", "300ms", "--json", "--", "sleep", "60"]) else {
        return;
    };
    assert_eq!(said.code, Some(124), "{said:?}");
    assert!(said.err.contains("the time is over"), "{said:?}");
    assert_eq!((&said.json()["exit_code"], &said.json()["ended_by"]), (&124.into(), &"duration".into()));
}

#[test]
fn a_link_needs_no_file_and_a_ready_scenario_only_its_name() {
    let text = "echo host $SKYHAUL_HOST gateway $GATEWAY; cat /etc/hosts";
    let Some(said) = emulate(&["--rate", "10M", "--down", "2M", "--delay", "30ms", "--", "sh", "-c", text])
    else {
        return;
    };
    assert_eq!(said.code, Some(0), "{said:?}");
    assert!(
        said.out.contains("host near gateway 10.77.0.2\n") && said.out.contains("far gateway"),
        "{said:?}"
    );
    assert!(said.err.contains("link forward") && said.err.contains("link reverse"), "{said:?}");
    let said = emulate(&["geo", "--", "sh", "-c", "echo $SKYHAUL_HOST"]).unwrap();
    assert_eq!((said.code, said.out.as_str()), (Some(0), "sender\n"), "{said:?}");
}

/// What Linux makes of a path's MTU: what `ping -M do` is told, and what it says of it.
fn pings(args: &[&str], ping: &str) -> Option<crate::common::Said> {
    if std::process::Command::new("ping").arg("-V").output().is_err() {
        crate::common::skipped("there is no `ping` here");
        return None;
    }
    emulate(&[&["--delay", "1ms", "--mtu", "1300", "--json"], args, &["--", "sh", "-c", ping]].concat())
}

#[test]
fn a_kernel_learns_the_mtu_of_the_path_by_icmp() {
    let ping = "ping -4 -c 2 -i 0.2 -W 1 -M do -s 1400 gateway; ping -4 -c 1 -M do -s 1272 gateway; \
                ping -6 -c 2 -i 0.2 -W 1 -M do -s 1400 gateway; ping -6 -c 2 -i 0.4 -W 1 -s 1400 gateway; true";
    let Some(said) = pings(&[], ping) else { return };
    assert!(said.out.contains("mtu = 1300") && said.out.contains("mtu=1300"), "IPv4 and IPv6: {said:?}");
    assert_eq!(said.out.matches("1 received").count(), 2, "what fits, and IPv6 cut by its sender: {said:?}");
    let forward = &said.json()["links"]["link"]["forward"];
    assert!((2..=3).contains(&forward["dropped"]["too_large"].as_u64().unwrap()), "one each: {forward}");
    let ping = "ping -4 -c 2 -i 0.2 -W 1 -M do -s 1400 gateway; true";
    let said = pings(&["--no-icmp"], ping).unwrap();
    assert!(!said.out.contains("1300") && said.out.contains(" 0 received"), "{said:?}");
    assert_eq!(said.json()["links"]["link"]["forward"]["dropped"]["too_large"], 2, "{said:?}");
}

#[test]
fn without_df_a_packet_over_the_mtu_crosses_as_fragments() {
    let Some(said) = pings(&[], "ping -4 -c 1 -M dont -s 1400 gateway; true") else { return };
    assert!(said.out.contains("1 received"), "{said:?}");
    let links = &said.json()["links"]["link"];
    assert_eq!(links["forward"]["fragmented_packets"], 1, "{links}");
    assert_eq!(links["forward"]["dropped"]["too_large"], 0, "{links}");
}

#[test]
fn packets_that_a_link_below_the_least_of_ipv6_drops_are_no_slow_receiver_and_smaller_ones_arrive() {
    let folder = tempfile::tempdir().unwrap();
    let path = |name: &str| folder.path().join(name).to_str().unwrap().to_string();
    let (data, inbox, binary) = (path("data"), path("in"), env!("CARGO_BIN_EXE_skyhaul"));
    std::fs::write(&data, noise(100_000)).unwrap();
    std::fs::create_dir(&inbox).unwrap();
    let far = format!("far={binary} receive --plain --dir {inbox} --listen [::]:4700");
    let send = format!("{binary} send --plain {data} [fd77::2]:4700 --no-memory --json --give-up 4s");
    let near = format!("near={send}; {send} --mtu 500 && echo arrived");
    let link = ["--rate", "10M", "--delay", "10ms", "--mtu", "1000", "--quiet"];
    let Some(said) = emulate(&[&link[..], &["--run", &far, "--run", &near]].concat()) else { return };
    for words in ["nothing more of the files has got through for 4 s", "with --mtu 500"] {
        assert!(said.err.contains(words), "{words}: {said:?}");
    }
    assert!(
        said.out.contains("arrived\n") && names(folder.path().join("in").as_path()) == ["data"],
        "{said:?}"
    );
}
