//! Under which licences our dependencies may come.
//!
//! Whole expressions are listed, not single licences: a new way of writing one is seldom, and read
//! by a person once. Unlisted platforms count, too: `cargo metadata` names their packages as well.

use anyhow::Result;

use super::checkout::Checkout;

/// Licences that let us ship a binary under MIT or Apache-2.0, spelled as packages spell them.
const ALLOWED: &[&str] = &[
    "(MIT OR Apache-2.0) AND Unicode-3.0",
    "0BSD OR MIT OR Apache-2.0",
    "Apache-2.0",
    "Apache-2.0 / MIT",
    "Apache-2.0 AND ISC",
    "Apache-2.0 OR BSL-1.0",
    "Apache-2.0 OR ISC OR MIT",
    "Apache-2.0 OR MIT",
    "Apache-2.0 WITH LLVM-exception OR Apache-2.0 OR MIT",
    "BSD-2-Clause OR Apache-2.0 OR MIT",
    "BSD-3-Clause",
    "BSL-1.0",
    "ISC",
    "MIT",
    "MIT AND BSD-3-Clause",
    "MIT OR Apache-2.0",
    "MIT OR Apache-2.0 OR LGPL-2.1-or-later",
    "MIT OR Apache-2.0 OR Zlib",
    "MIT OR BSD-3-Clause",
    "MIT OR Zlib OR Apache-2.0",
    "MIT/Apache-2.0",
    "Unlicense OR MIT",
    "Unlicense/MIT",
    "Zlib",
];

pub(super) fn are_allowed(checkout: &Checkout) -> Result<Vec<String>> {
    let mut complaints = Vec::new();
    for package in checkout.packages()? {
        let licence = package["license"].as_str().unwrap_or("none");
        if !ALLOWED.contains(&licence) {
            complaints.push(format!(
                "dependency {}: its licence, `{licence}`, is not in xtask/src/tidy/licences.rs",
                package["name"],
            ));
        }
    }
    Ok(complaints)
}
