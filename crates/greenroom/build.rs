//! Says what the program is made anew for besides its sources: the page that is embedded in it.

fn main() {
    println!("cargo:rerun-if-changed=../../web/dist");
}
