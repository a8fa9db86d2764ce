//! Two endpoints and a wire that does what the test says. Each test reads like a trace.

mod bench;
mod closing;
mod coded;
mod cookies;
mod explicit;
mod following;
mod greedy;
mod guesses;
mod hostile;
mod increments;
mod limits;
mod opening;
mod own_controllers;
mod path_mtu;
mod pieces;
mod places;
mod polling;
mod probing;
mod recovery;
mod sharing;
mod states;
mod strangers;
mod strays;
mod transitions;
mod unsent;
mod withheld;
