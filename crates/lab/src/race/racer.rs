//! Racers: transports that can be raced, as the families of a register have them, and their names.

use serde::{Serialize, Serializer};
use skyhaul_link::ExplicitConfig;
use skyhaul_scenario::{Grounds, Protocol, RacerEntry, Register, Transport};

use crate::UnknownName;

/// Transport as it races.
#[derive(Clone, Copy, Debug)]
pub struct Racer {
    protocol: &'static dyn Protocol,
    entry: &'static RacerEntry,
}

/// Racers that one name means, at least one.
#[derive(Clone, Debug)]
pub struct RacerName(pub Vec<Racer>);

impl RacerName {
    /// Racer of this name, or the racers of this group.
    ///
    /// # Errors
    /// Nobody in `register` is called that.
    pub fn find(register: &Register, name: &str) -> Result<Self, UnknownName> {
        let meant: Vec<Racer> = Racer::all(register).filter(|racer| racer.is_meant_by(name)).collect();
        if meant.is_empty() {
            let names = names(register);
            return Err(UnknownName::new("nobody", name, names.iter().copied(), names.iter().copied()));
        }
        Ok(Self(meant))
    }
}

/// All names that mean somebody, each group in front of its first racer.
fn names(register: &Register) -> Vec<&'static str> {
    let mut names = Vec::new();
    for Racer { entry, .. } in Racer::all(register) {
        for name in entry.groups.iter().copied().chain([entry.name]) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
    }
    names
}

impl Racer {
    /// Racers of all families, in the order of tables.
    pub fn all(register: &Register) -> impl Iterator<Item = Self> {
        let of_family = |protocol: &'static dyn Protocol| {
            protocol.racers().iter().map(move |entry| Self { protocol, entry })
        };
        register.iter().flat_map(of_family)
    }

    fn is_meant_by(self, name: &str) -> bool {
        self.entry.name == name || self.entry.groups.contains(&name)
    }

    /// Name in tables and files.
    pub fn name(self) -> &'static str {
        self.entry.name
    }

    /// Name on the scoreboard, if it is measured there.
    pub(crate) fn board_name(self) -> Option<&'static str> {
        self.entry.board_name
    }

    /// Protocol that carries it, and whose headers the limit of a link counts.
    pub fn protocol(self) -> &'static dyn Protocol {
        self.protocol
    }

    /// Name of its protocol in results.
    pub(super) fn transport_name(self) -> &'static str {
        self.protocol.name()
    }

    /// True if it is told the rate of the path.
    pub fn is_declared(self) -> bool {
        self.entry.is_declared
    }

    /// True if nothing plays it in real time.
    pub fn is_simulated_alone(self) -> bool {
        self.entry.is_simulated_alone
    }

    /// True if verdicts are about it.
    pub(super) fn is_subject(self) -> bool {
        self.entry.is_subject
    }

    /// True if what it carries in real time is sealed, as what `send` sends. Protocols of papers are not.
    pub(super) fn is_sealed(self) -> bool {
        self.entry.is_sealed
    }

    /// Router that it follows.
    pub(super) fn router(self) -> Option<ExplicitConfig> {
        self.entry.router
    }

    /// Controller of the kernel that plays it in real time, if one does.
    pub(crate) fn kernel_controller(self) -> Option<&'static str> {
        self.entry.kernel_controller
    }

    /// Switches of the kernel that plays it.
    pub(super) fn kernel_switches(self) -> impl Iterator<Item = (String, String)> {
        self.entry.kernel_switches.iter().map(|&(name, value)| (name.to_string(), value.to_string()))
    }

    /// True if the receive window of the kernel that plays it is that of the accepting end's parameters.
    pub(super) fn keeps_window(self) -> bool {
        self.entry.keeps_window
    }

    /// Parameters of both ends. The rate of the grounds is for racers that are told one.
    pub(super) fn transport(self, grounds: Grounds<'_>) -> Transport {
        let rate_bps = grounds.rate_bps.filter(|_| self.is_declared());
        let [opener, acceptor] = (self.entry.ends)(&Grounds { rate_bps, ..grounds });
        Transport { name: self.name().into(), opener, acceptor }
    }
}

/// By name, which nobody else in a register has.
impl PartialEq for Racer {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}

impl Eq for Racer {}

/// By name.
impl Serialize for Racer {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(self.name())
    }
}

/// Racer of this name that ships.
#[cfg(test)]
pub(crate) fn shipped(name: &str) -> Racer {
    Racer::all(&crate::standard()).find(|racer| racer.name() == name).unwrap()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::standard;

    #[test]
    fn every_racer_has_a_name_that_means_it_alone() {
        for racer in Racer::all(&standard()) {
            let RacerName(named) = RacerName::find(&standard(), racer.name()).unwrap();
            assert_eq!(named, [racer]);
        }
        let names: BTreeSet<&str> = Racer::all(&standard()).map(Racer::name).collect();
        assert_eq!(names.len(), Racer::all(&standard()).count());
    }

    #[test]
    fn verdicts_are_about_one_racer() {
        let subjects: Vec<&str> =
            Racer::all(&standard()).filter(|racer| racer.is_subject()).map(Racer::name).collect();
        assert_eq!(subjects, ["skyhaul"]);
    }

    #[test]
    fn a_slip_of_the_finger_is_told_what_was_meant() {
        let error = |name: &str| RacerName::find(&standard(), name).unwrap_err().to_string();
        let slip = error("tcp-cubci");
        assert!(slip.contains("did you mean `tcp-cubic`?"), "{slip}");
        let all = "there are skyhaul, xstp, xstp-declared, xstp-undeclared, stp, stp-declared, stp-undeclared, \
                   skyhaul-xcp, skyhaul-p-xcp, tcp-cubic, tcp-bbr, tcp-reno, tcp-regular, tcp-xcp, tcp-p-xcp, tcp-peach-plus, scps-tp, scps-tp-declared, \
                   scps-tp-of-file";
        assert!(slip.ends_with(all), "{slip}");
        assert!(!error("quic").contains("did you mean"));
    }
}
