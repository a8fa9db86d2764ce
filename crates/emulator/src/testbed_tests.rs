use super::*;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP};

fn file_on(host: &str, hosts: [&str; 2]) -> String {
    file_over("", host, hosts)
}

/// The names on `host`, with this in the direction of a link.
fn file_over(forward: &str, host: &str, hosts: [&str; 2]) -> String {
    let [a, b] = hosts;
    let text = format!(
        "[run]\nduration = \"1s\"\n[nodes]\n{a} = {{ kind = \"host\" }}\n{b} = {{ kind = \"host\" }}\n\
         [links.l]\nbetween = [\"{a}\", \"{b}\"]\nforward = {{ {forward} }}\nreverse = {{}}\n[transports.t]\nprotocol = \"tcp\"\n\
         [flows.f]\nfrom = \"{a}\"\nto = \"{b}\"\ntransport = \"t\"\nworkload = {{ kind = \"bulk\" }}\n"
    );
    let file = File::parse(&Register::new(&[&STP, &TCP]), "test", &text).unwrap();
    let point = file.points().next().unwrap();
    let addresses = Addresses::new(&file.scenario_at(&point).unwrap());
    let host = addresses.named(host).unwrap().clone();
    let plan = HostPlan { host, home: Home::New, command: None, output: Output::Capture };
    hosts_file(&plan, &addresses)
}

#[test]
fn every_host_knows_the_others_and_its_gateway() {
    let file = file_on("ship", ["ship", "ground"]);
    let lines: Vec<&str> = file.lines().skip(2).collect();
    assert_eq!(
        lines,
        ["10.77.0.1 ship", "fd77::1 ship", "10.77.0.2 ground gateway", "fd77::2 ground gateway"]
    );
}

#[test]
fn names_do_not_lead_over_ipv6_where_a_link_is_too_narrow_for_it() {
    let names = |mtu: &str| file_over(mtu, "ship", ["ship", "ground"]);
    assert!(names("mtu = \"1280B\"").contains("fd77::2 ground"));
    let narrow = names("mtu = \"1279B\"");
    assert!(narrow.contains("10.77.0.2 ground") && !narrow.contains("fd77"), "{narrow}");
}

#[test]
fn gateway_is_the_other_end_even_on_a_host_of_that_name() {
    let lines =
        |host| file_on(host, ["gateway", "dish"]).lines().skip(2).map(String::from).collect::<Vec<_>>();
    assert_eq!(lines("gateway"), ["10.77.0.2 dish gateway", "fd77::2 dish gateway"]);
    let on_dish = lines("dish");
    assert!(on_dish.contains(&"10.77.0.1 gateway".to_string()), "{on_dish:?}");
    assert_eq!(
        on_dish.iter().filter(|line| line.contains("gateway")).count(),
        2,
        "each address once: {on_dish:?}"
    );
}
