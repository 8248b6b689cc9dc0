//! A room panel behind the engine protocol, over stdin and stdout. `json` and `wire` are bytes,
//! packets and error objects, `server` is the protocol, `panel` and `screen` are the engine itself:
//! for one of your own, replace these two.
mod json;
mod panel;
mod screen;
mod server;
mod wire;

use std::io::{stdin, stdout, BufReader};

fn main() {
    // stdout carries packets only: whatever else is said goes through `eprintln!`.
    let code = server::serve(panel::Panel::default(), BufReader::new(stdin()), stdout());
    std::process::exit(code);
}
