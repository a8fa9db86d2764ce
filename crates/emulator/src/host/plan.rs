//! Messages to a host, and its answers.

use std::net::{Ipv4Addr, Ipv6Addr};

use serde::{Deserialize, Serialize};

/// Where a host lives.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Home {
    /// A namespace of its own, with a default route into the emulated path.
    New,
    /// A namespace that exists, which gets a device and a route to the other hosts.
    Existing {
        /// Its name, as `ip netns` has it; `None`: the one that this program runs in.
        namespace: Option<String>,
        /// Name of the device, which must not exist yet.
        device: String,
    },
    /// A TUN device that exists in this program's namespace, with addresses and routes of its owner's choice.
    Device {
        /// Its name.
        device: String,
    },
}

/// Everything that a host must know.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct HostSetup {
    /// Name of the host.
    pub(crate) name: String,
    pub(crate) home: Home,
    pub(crate) own: Addressing,
    pub(crate) gateway: Addressing,
    pub(crate) mtu_bytes: u32,
    /// Switches of the namespace and their values, below `/proc/sys/net`.
    pub(crate) sysctls: Vec<(String, String)>,
    /// Text of the file of host names.
    pub(crate) hosts_file: String,
    /// The command with its arguments.
    pub(crate) command: Option<Vec<String>>,
    /// The terminal is to be the command's.
    pub(crate) takes_terminal: bool,
    /// Added to the command's environment.
    pub(crate) environment: Vec<(String, String)>,
}

/// Addresses of a host.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub(crate) struct Addressing {
    pub(crate) v4: Ipv4Addr,
    pub(crate) v6: Ipv6Addr,
}

/// Why a host cannot be.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
pub enum TestbedError {
    /// Neither root nor user namespaces.
    #[error("{0}")]
    NotPermitted(String),
    /// Something that is needed is not installed.
    #[error("{0}")]
    Missing(String),
    /// Something that was to be made is there already.
    #[error("{0}")]
    Exists(String),
    /// Something else.
    #[error("{0}")]
    Other(String),
}

impl TestbedError {
    pub(crate) fn other(what: impl std::fmt::Display) -> Self {
        Self::Other(what.to_string())
    }
}
