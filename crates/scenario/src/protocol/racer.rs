//! Racers: parameters with which a family is set beside others, under names of its own.

use skyhaul_link::ExplicitConfig;

use super::EndConfig;

/// Racer, as its family registers it. Within a register all names and groups are different words.
#[derive(Debug)]
pub struct RacerEntry {
    /// Name in tables and files.
    pub name: &'static str,
    /// Names that mean this one and others of the family.
    pub groups: &'static [&'static str],
    /// Name on the scoreboard; `None`: not measured there.
    pub board_name: Option<&'static str>,
    /// True if verdicts are about it: others are before it, or nobody is.
    pub is_subject: bool,
    /// True if it is told the rate of the path.
    pub is_declared: bool,
    /// Router that it follows: links on its way that are none get one by this rule. `None`: it follows none.
    pub router: Option<ExplicitConfig>,
    /// True if what it carries in real time is sealed.
    pub is_sealed: bool,
    /// True if nothing plays it in real time.
    pub is_simulated_alone: bool,
    /// Congestion controller of the kernel's TCP that plays it in real time.
    pub kernel_controller: Option<&'static str>,
    /// Switches of that kernel and their values, below `/proc/sys/net`.
    pub kernel_switches: &'static [(&'static str, &'static str)],
    /// True if that kernel's receive window is the buffer of the accepting end, and not of its own choice.
    pub keeps_window: bool,
    /// Parameters of the end that opens and of the one that accepts.
    pub ends: fn(&Grounds<'_>) -> [EndConfig; 2],
}

impl RacerEntry {
    /// Racer of its own: in no group, not on the scoreboard, told nothing, without
    /// routers or a seal, by no kernel.
    pub const fn new(name: &'static str, ends: fn(&Grounds<'_>) -> [EndConfig; 2]) -> Self {
        Self {
            name,
            groups: &[],
            board_name: None,
            is_subject: false,
            is_declared: false,
            router: None,
            is_sealed: false,
            is_simulated_alone: false,
            kernel_controller: None,
            kernel_switches: &[],
            keeps_window: false,
            ends,
        }
    }
}

/// Grounds on which a racer's parameters are laid.
#[derive(Clone, Copy, Debug)]
pub struct Grounds<'a> {
    /// Parameters that the file has for the flow: of the end that opens, and of the one that accepts.
    pub of_file: [&'a EndConfig; 2],
    /// Rate that is declared; `None` for a racer that is told none.
    pub rate_bps: Option<u64>,
    /// Least size of all buffers.
    pub buffer_bytes: u64,
}

impl Grounds<'_> {
    /// Payload of a packet at most, for whoever races; what the MTU leaves may be less.
    pub fn max_payload_bytes(&self) -> u16 {
        let [opener, _] = self.of_file;
        u16::try_from(opener.protocol().max_payload_bytes(opener)).unwrap_or(u16::MAX)
    }
}
