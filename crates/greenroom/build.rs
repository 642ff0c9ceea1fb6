//! Says what the program is made anew for besides its sources: the page that is embedded in it; and
//! where the program lies in memory.

use std::env;

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
    // A program that may lie anywhere has 33,000 addresses to set before it begins, which is a third
    // of the time it takes to attach: docs/decisions has what is given up for that.
    if env::var("CARGO_CFG_TARGET_OS").is_ok_and(|it| it == "linux") {
        println!("cargo:rustc-link-arg-bin=greenroom=-no-pie");
    }
}
