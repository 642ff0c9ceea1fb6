//! The tests themselves: one that fails leaves nothing either.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

use greenroom_testkit::{create, eventually, leftovers, process};

use crate::support::{home, wait_for_text};

#[test]
fn a_test_that_panics_leaves_no_process_socket_or_folder() {
    let mut folder = PathBuf::new();
    let failed = catch_unwind(AssertUnwindSafe(|| {
        let home = home();
        home.path().clone_into(&mut folder);
        let daemon = home.start();
        let mut connection = home.connect();
        let script = "trap '' HUP TERM; (setsid sleep 1000 &); echo up; while :; do sleep 1; done";
        create(&mut connection, "stubborn", script);
        wait_for_text(&mut connection, "stubborn", "up");
        eventually("all of it runs", || home.processes().len() >= 5);
        let ours = folder.to_string_lossy().into_owned();
        assert!(leftovers().iter().any(|it| it.contains(&ours)), "it would be noticed");
        // A daemon that is dead does not help with the cleaning.
        daemon.kill();
        panic!("on purpose");
    }));
    assert!(failed.is_err());
    assert_eq!(process::of_home(&folder), [0_u32; 0]);
    assert!(!folder.exists());
    let ours = folder.to_string_lossy().into_owned();
    let left: Vec<String> = leftovers().into_iter().filter(|it| it.contains(&ours)).collect();
    assert_eq!(left, [""; 0]);
}
