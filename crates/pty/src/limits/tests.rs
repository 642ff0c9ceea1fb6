//! Where groups would be made, told from made-up files; what is made is tried with real ones elsewhere.

use std::fs;
use std::path::Path;

use super::*;

const BOTH: Limits = Limits { processes: Some(20), memory: Some(1 << 20) };

/// Nobody.
const OUR: u32 = u32::MAX;

fn found(groups: &str, mounts: &str) -> Found {
    Found::parse(groups, mounts)
}

/// A tree of the second version in a folder, with a group for this process.
fn second(folder: &Path, group: &str, controllers: &str) -> Found {
    let own = folder.join(group);
    fs::create_dir_all(&own).unwrap();
    for file in ["cgroup.procs", "cgroup.subtree_control", "cgroup.type"] {
        fs::write(own.join(file), "").unwrap();
    }
    fs::write(own.join("cgroup.controllers"), controllers).unwrap();
    let mounts = format!("41 31 0:38 / {} rw - cgroup2 cgroup2 rw", folder.display());
    found(&format!("0::/{group}"), &mounts)
}

#[test]
fn trees_of_the_first_version_have_a_group_each_and_the_second_one_without_a_limit() {
    let folder = tempfile::tempdir().unwrap();
    let root = folder.path().display();
    for tree in ["pids", "mem/ours", "both"] {
        fs::create_dir_all(folder.path().join(tree)).unwrap();
        fs::write(folder.path().join(tree).join(MEMBERS), "").unwrap();
    }
    let mounts = format!(
        "39 31 0:36 / {root}/pids rw,relatime shared:1 - cgroup cgroup rw,pids\n\
         35 31 0:32 /docker/x {root}/mem rw - cgroup cgroup rw,memory\n\
         41 31 0:38 / {root}/both rw - cgroup2 cgroup2 rw\nno mount"
    );
    let groups = "8:pids:/\n4:memory:/docker/x/ours\n1:name=systemd:/\n0::/\n";
    let plan = Plan::of(&found(groups, &mounts), BOTH, "mine", OUR).unwrap();
    let paths = ["pids/mine", "mem/ours/mine", "both/mine"].map(|it| folder.path().join(it));
    assert_eq!(plan.groups(), Groups::new(paths));
    assert!(plan.divided.is_none());
}

#[test]
fn one_group_of_the_second_version_has_every_limit() {
    let folder = tempfile::tempdir().unwrap();
    let found = second(folder.path(), "user/greenroom.service", "cpu memory pids\n");
    let plan = Plan::of(&found, BOTH, "mine", OUR).unwrap();
    let base = folder.path().join("user/greenroom.service");
    assert_eq!(plan.groups(), Groups::new([base.join("mine")]));
    let settings: Vec<_> = plan.groups[0].1.iter().map(|it| (it.0, it.1.as_str())).collect();
    let expected = [("pids.max", "20"), ("memory.max", "1048576"), ("memory.swap.max", "0")];
    assert_eq!(settings, expected);
    assert_eq!(plan.divided, Some((base.clone(), vec![PROCESSES, MEMORY])));
    // These files are no kernel's: what is written stays.
    divide(&base, &[PROCESSES, MEMORY]).unwrap();
    assert_eq!(fs::read_to_string(base.join(GIVEN)).unwrap(), "+pids +memory");
}

#[test]
fn who_was_moved_aside_makes_groups_beside_itself() {
    let folder = tempfile::tempdir().unwrap();
    second(folder.path(), "service", "memory pids");
    let found = second(folder.path(), "service/greenroom-daemon", "memory pids");
    let plan = Plan::of(&found, BOTH, "mine", OUR).unwrap();
    assert_eq!(plan.groups(), Groups::new([folder.path().join("service/mine")]));
}

#[test]
fn what_is_missing_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let nothing = Plan::of(&found("0::/", ""), BOTH, "mine", OUR).unwrap_err();
    assert_eq!(nothing.to_string(), "this system has no control groups with `pids`");
    let held = second(folder.path(), "scope", "pids");
    let error = Plan::of(&held, BOTH, "mine", OUR).unwrap_err();
    assert!(matches!(error, GroupError::Withheld { controller: MEMORY, .. }), "{error}");
    assert!(error.hint().contains("Delegate=yes"));
    Plan::of(&held, Limits { memory: None, ..BOTH }, "mine", OUR).unwrap();
    fs::remove_file(folder.path().join("scope").join(MEMBERS)).unwrap();
    let error = Plan::of(&held, Limits { memory: None, ..BOTH }, "mine", OUR).unwrap_err();
    assert!(matches!(error, GroupError::Denied { .. }), "{error}");
}

#[test]
fn a_service_is_not_divided_so_that_it_could_not_start_again() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { memory: None, ..BOTH };
    let found = second(folder.path(), "greenroom.service", "pids");
    let base = folder.path().join("greenroom.service");
    fs::write(base.join(MEMBERS), format!("{}\n", std::process::id())).unwrap();
    let error = Plan::of(&found, limits, "mine", std::process::id()).unwrap_err();
    assert!(matches!(error, GroupError::Service { .. }), "{error}");
    assert!(error.hint().contains("DelegateSubgroup=greenroom-daemon"));
    // With its daemon in a subgroup it may be.
    let found = second(folder.path(), "greenroom.service/greenroom-daemon", "");
    fs::write(base.join(MEMBERS), "").unwrap();
    let plan = Plan::of(&found, limits, "mine", OUR).unwrap();
    assert_eq!(plan.groups(), Groups::new([base.join("mine")]));
}

#[test]
fn nobody_else_is_moved_out_of_a_group() {
    let folder = tempfile::tempdir().unwrap();
    let found = second(folder.path(), "shared", "pids");
    let base = found.second().unwrap();
    fs::write(base.join(MEMBERS), "1\n").unwrap();
    let error = move_aside(&base).unwrap_err();
    assert!(matches!(error, GroupError::Shared { pid: 1, .. }), "{error}");
    assert!(!base.join(OURS).exists());
    let plan = Plan::of(&found, Limits { memory: None, ..BOTH }, "mine", OUR);
    assert!(matches!(plan, Err(GroupError::Shared { pid: 1, .. })), "it is known before");
    fs::write(base.join(MEMBERS), format!("{}\n", std::process::id())).unwrap();
    move_aside(&base).unwrap();
    let moved = fs::read_to_string(base.join(OURS).join(MEMBERS)).unwrap();
    assert_eq!(moved, std::process::id().to_string());
}
