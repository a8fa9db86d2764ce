use super::*;
use skyhaul_scenario::{File, Register};
use skyhaul_sim::{STP, TCP};

fn addresses(text: &str) -> Addresses {
    let file = File::parse(&Register::new(&[&STP, &TCP]), "test", text).unwrap();
    let point = file.points().next().unwrap();
    Addresses::new(&file.scenario_at(&point).unwrap())
}

/// Three hosts at a router; the flow joins the last two.
const THREE: &str = r#"
[run]
duration = "1s"
[nodes]
a = { kind = "host" }
middle = { kind = "router" }
b = { kind = "host" }
c = { kind = "host" }
[links]
la = { between = ["a", "middle"], forward = {}, reverse = {} }
lb = { between = ["b", "middle"], forward = {}, reverse = {} }
lc = { between = ["c", "middle"], forward = {}, reverse = {} }
[transports.t]
protocol = "tcp"
[flows.f]
from = "c"
to = "b"
transport = "t"
workload = { kind = "bulk" }
"#;

#[test]
fn hosts_and_routers_have_addresses_and_only_hosts_are_known_by_name() {
    let addresses = addresses(THREE);
    let names: Vec<&str> = addresses.hosts().iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let b = addresses.named("b").unwrap();
    assert_eq!((b.node, b.v4.to_string(), b.v6.to_string()), (2, "10.77.0.2".into(), "fd77::2".into()));
    assert!(addresses.named("middle").is_none());
    let [middle] = addresses.routers() else { panic!("{addresses:?}") };
    assert_eq!((middle.node, middle.name.as_str()), (1, "middle"));
    assert_eq!((middle.v4.to_string(), middle.v6.to_string()), ("10.77.128.1".into(), "fd77::8001".into()));
}

#[test]
fn an_address_has_one_owner() {
    let addresses = addresses(THREE);
    for host in addresses.hosts() {
        assert_eq!(addresses.owner(host.v4.into()), Some(host));
        assert_eq!(addresses.owner(host.v6.into()), Some(host));
    }
    for nobodys in [
        "10.77.0.0",
        "10.77.0.4",
        "10.76.255.255",
        "255.255.255.255",
        "::",
        "fd77::",
        "fd77::4",
        "ffff::1",
        "10.77.128.0",
        "10.77.128.2",
        "fd77::8002",
    ] {
        let nobodys = nobodys.parse().unwrap();
        assert!(addresses.owner(nobodys).is_none() && !addresses.is_router(nobodys), "{nobodys}");
    }
    for routers in ["10.77.128.1", "fd77::8001"] {
        let routers = routers.parse().unwrap();
        assert!(addresses.owner(routers).is_none() && addresses.is_router(routers), "{routers}");
    }
}

#[test]
fn the_gateway_is_the_other_end_of_the_flow_or_the_first_other_host() {
    let addresses = addresses(THREE);
    let gateway = |name: &str| addresses.gateway(addresses.named(name).unwrap()).name.clone();
    assert_eq!(["a", "b", "c"].map(gateway), ["b", "c", "b"]);
}
