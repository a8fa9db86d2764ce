//! Devices that cannot be had: what is said about it.

use std::io::ErrorKind;

use skyhaul_net::tun::TunDevice;

#[test]
fn a_device_that_is_not_there_is_named_with_the_way_to_make_it() {
    let error = TunDevice::attach("sky-none").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound);
    let text = error.to_string();
    assert!(
        text.starts_with("there is no network device 'sky-none' here; make it by: sudo ip tuntap add"),
        "{text}"
    );
}

#[test]
fn names_that_no_device_can_have_are_refused() {
    for name in ["", "a/b", "seventeen-letters", "tap%d", "two words", ".."] {
        let error = TunDevice::attach(name).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::InvalidInput, "{name}");
    }
}

#[test]
fn a_device_of_another_kind_is_refused() {
    let error = TunDevice::attach("lo").unwrap_err();
    let text = error.to_string();
    // Without the right to use devices that is all there is to say.
    let is_told = text.contains("'lo' is no TUN device")
        || text.contains("may not use")
        || text.contains("/dev/net/tun");
    assert!(is_told, "{text}");
    assert!(TunDevice::create("lo").unwrap_err().to_string().contains("'lo' already"));
}
