//! Which control groups a process is in, as `/proc` tells it.

use std::fs;
use std::path::{Path, PathBuf};

/// The trees of groups there are, and where a process is in each.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Of the first version: the controllers, and the group's folder.
    first: Vec<(Vec<String>, PathBuf)>,
    /// Of the second.
    second: Option<PathBuf>,
}

/// Where a tree is mounted.
struct Mount {
    /// The group that is seen as its root.
    root: String,
    folder: PathBuf,
    kind: String,
    options: Vec<String>,
}

impl Found {
    /// Those of a process.
    pub(super) fn read(process: u32) -> Found {
        let of = |path: String| fs::read_to_string(path).unwrap_or_default();
        Found::parse(&of(format!("/proc/{process}/cgroup")), &of("/proc/self/mountinfo".to_owned()))
    }

    /// From the two files.
    pub(super) fn parse(groups: &str, mounts: &str) -> Found {
        let mounts: Vec<Mount> = mounts.lines().filter_map(Mount::parse).collect();
        let mut found = Found::default();
        for line in groups.lines() {
            // `number:controllers:path`, the controllers empty for the second version.
            let mut fields = line.splitn(3, ':').skip(1);
            let (Some(controllers), Some(path)) = (fields.next(), fields.next()) else { continue };
            if controllers.is_empty() {
                let mount = mounts.iter().find(|it| it.kind == "cgroup2");
                found.second = mount.and_then(|mount| mount.folder_of(path));
                continue;
            }
            let names: Vec<String> = controllers.split(',').map(str::to_owned).collect();
            let has = |mount: &&Mount| mount.kind == "cgroup" && mount.options.contains(&names[0]);
            let folder = mounts.iter().find(has).and_then(|mount| mount.folder_of(path));
            found.first.extend(folder.map(|folder| (names, folder)));
        }
        found
    }

    /// The group in the tree of a controller, if it has one of the first version.
    pub(super) fn first(&self, controller: &str) -> Option<PathBuf> {
        let has = |it: &&(Vec<String>, PathBuf)| it.0.iter().any(|name| name == controller);
        self.first.iter().find(has).map(|it| it.1.clone())
    }

    /// The group in the tree of the second version.
    pub(super) fn second(&self) -> Option<PathBuf> {
        self.second.clone()
    }
}

impl Mount {
    /// A line of `mountinfo`: `id parent device root folder options … - kind source options`.
    fn parse(line: &str) -> Option<Mount> {
        let (head, tail) = line.split_once(" - ")?;
        let mut head = head.split(' ').skip(3);
        let (root, folder) = (head.next()?.to_owned(), unescaped(head.next()?));
        let mut tail = tail.split(' ');
        let kind = tail.next()?.to_owned();
        let options = tail.nth(1)?.split(',').map(str::to_owned).collect();
        Some(Mount { root, folder, kind, options })
    }

    /// The folder of a group; none if it cannot be seen from here.
    fn folder_of(&self, group: &str) -> Option<PathBuf> {
        let below = Path::new(group).strip_prefix(&self.root).ok()?;
        // The root of a container's own view, seen from within, has `..` in the names of others.
        (!group.contains("..")).then(|| self.folder.join(below))
    }
}

/// Blanks in a path are written as `\040`.
fn unescaped(path: &str) -> PathBuf {
    path.replace("\\040", " ").into()
}
