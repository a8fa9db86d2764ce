//! One engine against a peer that lies. Each test states the bound that must hold.

mod floods;
mod lists;
mod peer;
mod polls;
mod probing;
mod reports;
mod strangers;
mod windows;
