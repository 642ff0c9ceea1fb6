//! Sessions are meant by their whole names, whatever is in them.

use greenroom_model::Size;
use greenroom_tmux::{Error, New};

use crate::house::{House, Viewer};

/// Names that tmux, a shell or a parser could take for something else.
const NASTY: &[&str] = &[
    "a b",
    "it's",
    "\"q\"",
    "-d",
    "--",
    "-",
    "ünï→日本",
    "a;",
    ";",
    "#(touch oops)",
    "#{pid}",
    "##",
    "#[bold]",
    "#",
    "%1",
    "@1",
    "=",
    "=x",
    "{last}",
    "!",
    "~",
    "+",
    "a*",
    "?",
    "[a]",
    "100%d",
    "%H",
    "a,b",
    "`x`",
    "x|y",
    "1",
];

#[tokio::test]
async fn nasty_names_work_everywhere() {
    let house = House::new();
    for name in NASTY {
        assert_eq!(house.run(name, "echo here; exec cat").await.name, *name);
    }
    let mut names: Vec<&str> = NASTY.to_vec();
    names.sort_unstable();
    let mut listed = house.names().await;
    listed.sort_unstable();
    assert_eq!(listed, names);
    for name in NASTY {
        house.tmux.resize(name, Size::clamped(50, 10)).await.unwrap();
        assert_eq!(house.session(name).await.unwrap().size.cols(), 50);
        house.printed(name, "here").await;
        let renamed = format!("{name} ");
        house.tmux.rename(name, &renamed).await.unwrap();
        house.tmux.rename(&renamed, name).await.unwrap();
    }
    for name in NASTY {
        house.tmux.kill(name).await.unwrap();
        assert!(house.session(name).await.is_none(), "{name}");
    }
    assert!(!house.folder().join("oops").exists());
}

#[tokio::test]
async fn nasty_names_are_attached_to() {
    let house = House::new();
    for name in ["=", "-d", "%1", "a b;", "#{pid}"] {
        house.run(name, "read line; echo \"got:$line\"; exec cat").await;
        let mut viewer = Viewer::attach(&house, name).await;
        viewer.write("hello\r").await;
        viewer.shows("got:hello").await;
    }
}

#[tokio::test]
async fn part_of_a_name_and_a_pattern_mean_nobody() {
    let house = House::new();
    let id = house.run("abc", "exec cat").await.id;
    for name in ["ab", "a*", "=abc", "abc:", "abc:0", "", &id, "ABC", "abc\n"] {
        let killed = house.tmux.kill(name).await;
        assert!(matches!(killed, Err(Error::NoSession(_))), "{name}: {killed:?}");
        let attached = house.tmux.attach(name, Size::DEFAULT, false).await;
        assert!(matches!(attached, Err(Error::NoSession(_))), "{name}");
    }
    assert_eq!(house.names().await, ["abc"]);
}

#[tokio::test]
async fn names_tmux_would_change_are_refused() {
    let house = House::new();
    house.run("abc", "exec cat").await;
    for name in ["a:b", "a.b", "", "a\tb", "a\nb", "a\\b", "$HOME", "nul\0"] {
        let renamed = house.tmux.rename("abc", name).await;
        assert!(matches!(renamed, Err(Error::Name { .. })), "{name}: {renamed:?}");
        let new = New {
            name: Some(name),
            cwd: house.folder(),
            command: None,
            shell: None,
            size: Size::DEFAULT,
        };
        let made = house.tmux.create(&new).await;
        assert!(matches!(made, Err(Error::Name { .. })), "{name}: {made:?}");
    }
    assert_eq!(house.names().await, ["abc"]);
}

#[tokio::test]
async fn names_that_others_gave_are_understood_as_tmux_tells_them() {
    let house = House::new();
    house.run("first", "exec cat").await;
    for name in ["a\\b", "$HOME", "a\tb", "a:b"] {
        house.ask(&["new-session", "-d", "-s", name, "exec cat"]);
    }
    let names = house.names().await;
    assert_eq!(names.len(), 5, "{names:?}");
    for name in names {
        house.tmux.kill(&name).await.unwrap();
    }
    assert_eq!(house.names().await, [""; 0]);
}
