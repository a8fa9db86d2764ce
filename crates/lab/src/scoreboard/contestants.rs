//! Contestants: who is measured.

use skyhaul_scenario::Register;

use crate::UnknownName;
use crate::race::Racer;

/// Transport with its name in the tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Contestant {
    /// Name in the tables.
    pub name: &'static str,
    /// Transport as it races.
    pub racer: Racer,
}

/// Contestants of these names, each once, in the order of the tables; all in `register` if there is no name.
pub fn contestants(register: &Register, names: &[ContestantName]) -> Vec<Contestant> {
    let is_chosen = |one: &Contestant| names.is_empty() || names.iter().any(|name| name.0 == *one);
    all(register).filter(is_chosen).collect()
}

/// Racers of the register that have a name on the board.
fn all(register: &Register) -> impl Iterator<Item = Contestant> {
    Racer::all(register).filter_map(|racer| Some(Contestant { name: racer.board_name()?, racer }))
}

/// Name of a contestant.
#[derive(Clone, Copy, Debug)]
pub struct ContestantName(Contestant);

impl ContestantName {
    /// Contestant of this name.
    ///
    /// # Errors
    /// Nobody in `register` is called that on the board.
    pub fn find(register: &Register, name: &str) -> Result<Self, UnknownName> {
        let names = || all(register).map(|one| one.name);
        let found = all(register).find(|one| one.name == name);
        found.map(Self).ok_or_else(|| UnknownName::new("nobody", name, names(), names()))
    }
}
