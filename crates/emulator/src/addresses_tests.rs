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
fn hosts_have_addresses_and_routers_none() {
    let addresses = addresses(THREE);
    let names: Vec<&str> = addresses.hosts().iter().map(|host| host.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c"]);
    let b = addresses.named("b").unwrap();
    assert_eq!((b.node, b.v4.to_string(), b.v6.to_string()), (2, "10.77.0.2".into(), "fd77::2".into()));
    assert!(addresses.named("middle").is_none());
}

#[test]
fn an_address_has_one_owner() {
    let addresses = addresses(THREE);
    for host in addresses.hosts() {
        assert_eq!(addresses.owner(host.v4.into()), Some(host));
        assert_eq!(addresses.owner(host.v6.into()), Some(host));
    }
    for nobodys in
        ["10.77.0.0", "10.77.0.4", "10.76.255.255", "255.255.255.255", "::", "fd77::", "fd77::4", "ffff::1"]
    {
        assert_eq!(addresses.owner(nobodys.parse().unwrap()), None, "{nobodys}");
    }
}

#[test]
fn the_gateway_is_the_other_end_of_the_flow_or_the_first_other_host() {
    let addresses = addresses(THREE);
    let gateway = |name: &str| addresses.gateway(addresses.named(name).unwrap()).name.clone();
    assert_eq!(["a", "b", "c"].map(gateway), ["b", "c", "b"]);
}
