//! Packet traces of STPP: two endpoints, a script of what is lost, and the rules of `docs/spec/petra.md`.

mod bad_input;
mod life;
mod repeats;
mod stopping;
mod window;
mod world;
