//! What a machine may be called, and what the far shell is told.

use super::*;

#[test]
fn what_ssh_takes_is_taken() {
    for name in ["box", "me@box.example.org", "me@10.0.0.7", "ssh://me@box:2222", "fe80::1%eth0"] {
        assert!(Machine::new(name).is_ok(), "{name}");
    }
}

#[test]
fn what_could_be_something_else_is_refused() {
    let long = "a".repeat(MAX_TEXT + 1);
    let names = ["", "-oProxyCommand=x", "me@-oProxyCommand=x", "a b", "a\nb", "a\u{7f}", "a;b"];
    for name in names.into_iter().chain(["$(x)", "a`x`", "'", "a|b", "\u{1b}[2J", &long]) {
        assert!(Machine::new(name).is_err(), "{name:?}");
    }
    let with = |change: fn(&mut Machine)| {
        let mut machine = Machine::new("box").unwrap();
        change(&mut machine);
        machine.check()
    };
    assert!(with(|it| it.options = vec!["Compression=yes".into()]).is_ok());
    for option in ["Compression", "=x", "A b=c", "-A=b", "A=", "A=b\nC=d"] {
        let mut machine = Machine::new("box").unwrap();
        machine.options = vec![option.to_owned()];
        assert!(machine.check().is_err(), "{option:?}");
    }
    assert!(with(|it| it.options = vec!["A=b".into(); MAX_OPTIONS + 1]).is_err());
    assert!(with(|it| it.program = Some("-c".into())).is_err());
    assert!(with(|it| it.program = Some("a\nb".into())).is_err());
    assert!(with(|it| it.identity = Some("-F".into())).is_err());
    assert!(with(|it| it.port = Some(0)).is_err());
}

#[test]
fn the_far_shell_is_told_words_and_nothing_else() {
    let mut machine = Machine::new("box").unwrap();
    assert_eq!(machine.far_line(&["ls"]), "'greenroom' '--host' 'local' 'ls'");
    machine.program = Some("/opt/my tools/it's; rm -rf".to_owned());
    assert_eq!(
        machine.far_line(&["a$b"]),
        r"'/opt/my tools/it'\''s; rm -rf' '--host' 'local' 'a$b'"
    );
    machine.program = Some("~/bin/g r".to_owned());
    assert_eq!(machine.far_line(&[]), "~/'bin/g r' '--host' 'local'");
}

#[test]
fn only_the_same_machine_shares_its_sockets() {
    let box_ = Machine::new("box").unwrap();
    let named = Machine { name: "other".to_owned(), ..box_.clone() };
    let port = Machine { port: Some(2222), ..box_.clone() };
    assert_eq!(box_.short_name(), named.short_name());
    assert_ne!(box_.short_name(), port.short_name());
    assert_eq!(box_.short_name().len(), 16);
}
