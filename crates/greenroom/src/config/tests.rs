//! Files as people write them, with every problem they get to read.

use std::fs;
use std::time::Duration;

use greenroom_engine::SizePolicy;
use greenroom_model::{Key, KeyEvent, Mods, Size};
use greenroom_store::Retention;
use tracing::level_filters::LevelFilter;

use super::{Config, KEYS, Ptywright, WebAuth};

/// Wants exactly these problems of `text`.
#[track_caller]
fn check(text: &str, problems: &[&str]) {
    let found = match Config::parse(text) {
        Ok(_) => Vec::new(),
        Err(found) => found.iter().map(ToString::to_string).collect(),
    };
    assert_eq!(found, problems, "{text}");
}

#[test]
fn the_defaults_are_those_of_the_table() {
    let config = Config::default();
    assert_eq!(config, Config::parse("").unwrap());
    assert_eq!((config.shell.as_str(), config.default_session.as_str()), ("", "main"));
    assert_eq!((config.size, config.size_policy), (Size::DEFAULT, SizePolicy::Latest));
    assert_eq!(config.scrollback_lines, 10_000);
    assert_eq!(config.attach.detach_key, KeyEvent::new(Key::Char('\\'), Mods::CTRL));
    assert_eq!((config.attach.history, config.attach.literal_key), (500, None));
    assert_eq!((config.lag_bytes, config.limits.input_bytes), (1 << 20, 1 << 20));
    assert_eq!((config.limits.sessions, config.limits.connections), (2_000, 1_024));
    assert_eq!(config.kill_grace, Duration::from_secs(3));
    let week = 7 * 24 * 60 * 60 * 1000;
    let kept = Retention { max_age_ms: week, max_count: 500, max_bytes: 512_000_000 };
    assert_eq!((config.retention, config.holder_keep_bytes), (kept, 16 << 20));
    assert_eq!((config.logs.level, config.logs.max_files), (LevelFilter::INFO, 5));
    assert_eq!(config.logs.max_bytes, 10 << 20);
    assert!(!config.clipboard_write && config.environment_pass.is_empty());
}

#[test]
fn every_key_can_be_set() {
    let config = Config::parse(
        r#"
        shell = "/bin/zsh"
        default_session = "work"
        size = "132x43"
        size_policy = "smallest"
        scrollback.lines = 0
        attach = { detach_key = "ctrl+a", history = 0x10, literal_key = "ctrl+^" }
        kill.grace_ms = 250
        clients.lag_bytes = 65_536

        [limits]
        sessions = 10
        connections = 20
        input_bytes = 4096
        [sessions]
        max_processes = 200
        max_memory_mebibytes = 3
        [retention]
        days = 1
        sessions = 2
        megabytes = 3
        [holder]
        keep_mebibytes = 4
        [logs]
        level = "trace"
        max_files = 1
        max_mebibytes = 2
        [ptywright]
        enabled = false
        allow_plugin_load = true
        [compat]
        ptywright = true
        carryon = true
        [doors.web]
        enabled = true
        port = 0
        expose = true
        auth = "password"
        password = "$2b$10$"
        tls = "on"
        certificate = "/c"
        key = "/k"
        hosts = ["room.example"]
        metrics = true
        [websocket]
        history_bytes = 1
        idle_ttl_secs = 2
        max_sessions = 3
        chat_idle_ttl_secs = 4
        claude_command = "claude --debug"
        providers.shell.command = "zsh"
        providers.claude.command = ["claude"]
        [clipboard]
        write = true
        [environment]
        pass = ["EDITOR", "_X1"]
        "#,
    )
    .unwrap();
    assert_eq!(config.ptywright, Ptywright { enabled: false, allow_load: true, compat: true });
    assert_eq!((config.shell.as_str(), config.default_session.as_str()), ("/bin/zsh", "work"));
    assert_eq!(
        (config.size.to_string(), config.size_policy),
        ("132x43".to_owned(), SizePolicy::Smallest)
    );
    assert_eq!((config.scrollback_lines, config.attach.history), (0, 16));
    assert_eq!(config.attach.detach_key.to_string(), "ctrl+a");
    assert_eq!(config.kill_grace, Duration::from_millis(250));
    assert_eq!((config.limits.sessions, config.limits.connections), (10, 20));
    let limits = greenroom_engine::Limits { processes: Some(200), memory: Some(3 << 20) };
    assert_eq!(config.session_limits, limits);
    assert!(config.web.enabled && config.web.expose && config.web.metrics && config.carryon_compat);
    assert_eq!((config.web.auth, config.web.tls), (WebAuth::Password, Some(true)));
    assert_eq!(
        (config.web.certificate.to_str(), config.web.key.to_str()),
        (Some("/c"), Some("/k"))
    );
    assert_eq!(config.websocket.chat_idle_ttl, Duration::from_secs(4));
    assert_eq!(config.websocket.claude_command, ["claude", "--debug"]);
    assert_eq!(config.retention.max_bytes, 3_000_000);
    assert_eq!(config.holder_keep_bytes, 4 << 20);
    assert_eq!((config.logs.level, config.logs.max_bytes), (LevelFilter::TRACE, 2 << 20));
    assert_eq!(config.environment_pass, ["EDITOR", "_X1"]);
    assert!(config.clipboard_write && config.attach.literal_key.is_some());
    assert_eq!(config.given.len(), KEYS.len(), "this test sets every key");
}

#[test]
fn an_unknown_key_is_named_with_its_line_and_the_nearest() {
    check("\nshel = 'x'", &["line 2: unknown key `shel`; did you mean `shell`?"]);
    check(
        "[scrolback]\nlines = 5",
        &["line 1: unknown section `scrolback`; did you mean `scrollback`?"],
    );
    check(
        "[attach]\ndetach-key = 'x'",
        &["line 2: unknown key `attach.detach-key`; did you mean `attach.detach_key`?"],
    );
    check("sclollback = 1", &["line 1: unknown key `sclollback`; did you mean `scrollback`?"]);
    check("grace_ms = 1", &["line 1: unknown key `grace_ms`; did you mean `kill.grace_ms`?"]);
    check(
        "[limits]\nhistory = 1",
        &["line 2: unknown key `limits.history`; did you mean `attach.history`?"],
    );
    check("Shell = ''", &["line 1: unknown key `Shell`; did you mean `shell`?"]);
    check(
        "\"a\\u001bb\" = 1",
        &[
            "line 1: unknown key `a\\u{1b}b`; `greenroom config check --print-default` shows what there is",
        ],
    );
}

#[test]
fn a_wrong_value_is_named_with_what_is_allowed() {
    check("shell = 5", &["line 1: `shell`: an integer is not a text in quotes"]);
    check("shell = \"a\\nb\"", &["line 1: `shell`: control characters are not allowed"]);
    check("default_session = ''", &["line 1: `default_session`: a name has 1 to 128 bytes"]);
    for number in ["5", "s12"] {
        let wrong = format!(
            "line 1: `default_session`: `{number}` is how a session is called by its number"
        );
        check(&format!("default_session = '{number}'"), &[&wrong]);
    }
    check(
        "default_session = 'a\u{202e}b'",
        &[
            "line 1: `default_session`: `a\\u{202e}b` cannot be a name: `\\u{202e}` in it cannot be seen",
        ],
    );
    check(
        "size = '80'",
        &["line 1: `size`: `80` is not a size: columns x rows, such as `80x24`, at most 4096x1024"],
    );
    check(
        "size_policy = 'big'",
        &["line 1: `size_policy`: `big` is not one of `latest`, `smallest`, `fixed`"],
    );
    check(
        "scrollback.lines = 1000001",
        &["line 1: `scrollback.lines`: `1000001` is not a number from 0 to 100000"],
    );
    check(
        "scrollback.lines = -1",
        &["line 1: `scrollback.lines`: `-1` is not a number from 0 to 100000"],
    );
    check(
        "kill.grace_ms = 1.5",
        &["line 1: `kill.grace_ms`: a float is not a number from 0 to 60000"],
    );
    check("clipboard.write = 'yes'", &["line 1: `clipboard.write`: a string is not true or false"]);
    check(
        "attach = 1",
        &[
            "line 1: `attach` is a section, not a key; its keys are `attach.detach_key`, `attach.literal_key`, `attach.history`",
        ],
    );
    check(
        "environment.pass = ['A', 'B=1']",
        &["line 1: `environment.pass`: `B=1` is not the name of a variable"],
    );
    check(
        "environment.pass = 'A'",
        &["line 1: `environment.pass`: a string is not a list of names of variables"],
    );
    check(
        "environment.pass = [1]",
        &["line 1: `environment.pass`: an integer is not the name of a variable"],
    );
}

#[test]
fn the_key_that_types_the_detach_key_is_another_one() {
    let wrong = |line: usize, key: &str| {
        format!("line {line}: `attach.literal_key`: `{key}` is the key that detaches")
    };
    // Whichever comes first, and also if the detach key is the usual one.
    check("[attach]\nliteral_key = 'ctrl+a'\ndetach_key = 'ctrl+a'", &[&wrong(2, "ctrl+a")]);
    check("attach.literal_key = 'ctrl+\\'", &[&wrong(1, "ctrl+\\")]);
    check("attach.detach_key = 'ctrl+a'\nattach.literal_key = 'ctrl+\\'", &[]);
}

#[test]
fn browsers_and_their_providers_are_configured() {
    let config = Config::default();
    assert!(!config.web.enabled && !config.web.expose && config.web.port == 8384);
    assert_eq!((config.web.auth, config.web.tls), (WebAuth::Token, None));
    assert_eq!(config.websocket.history_bytes, 200_000);
    assert_eq!(config.websocket.idle_ttl, Duration::from_secs(30));
    let names: Vec<&str> = config.websocket.providers.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, ["shell", "claude"]);
    let config = Config::parse(
        r#"
        [doors.web]
        enabled = true
        auth = "none"
        hosts = ["room.example"]
        [websocket]
        max_sessions = 3
        [websocket.providers.shell]
        command = "zsh -l"
        [websocket.providers.python]
        command = ["python3", "-c", "print(1 + 1)"]
        "#,
    );
    let config = config.unwrap();
    assert_eq!(
        (config.web.auth, config.web.hosts),
        (WebAuth::None, vec!["room.example".to_owned()])
    );
    let of = |name: &str, words: &[&str]| {
        (name.to_owned(), words.iter().map(|it| (*it).to_owned()).collect::<Vec<_>>())
    };
    let providers = &config.websocket.providers;
    assert_eq!(providers[0], of("shell", &["zsh", "-l"]));
    assert_eq!(providers[2], of("python", &["python3", "-c", "print(1 + 1)"]));
}

#[test]
fn what_is_wrong_with_a_provider_or_a_host_is_told() {
    check(
        "[websocket.providers.x]\n",
        &["line 1: `websocket.providers.x`: it has one key, `command`"],
    );
    check(
        "[websocket.providers.x]\ncommand = 5",
        &["line 1: `websocket.providers.x`: an integer is not a command"],
    );
    check(
        "[doors.web]\nhosts = ['a b']\npassword = 'plain'",
        &[
            "line 2: `doors.web.hosts`: `a b` is not the name of a machine",
            "line 3: `doors.web.password`: this is no bcrypt hash",
        ],
    );
    check(
        "[websocket]\nclaude_command = []",
        &["line 2: `websocket.claude_command`: the command is empty"],
    );
}

#[test]
fn a_detach_key_is_no_key_of_everyday_typing() {
    check("attach.detach_key = 'F12'", &[]);
    check("attach.detach_key = 'alt+d'", &[]);
    check(
        "attach.detach_key = 'ctrl+entr'",
        &["line 1: `attach.detach_key`: no key is called `entr`; did you mean `enter`?"],
    );
    check(
        "attach.detach_key = 'q'",
        &["line 1: `attach.detach_key`: `q` is needed for typing; add ctrl or alt"],
    );
    check(
        "attach.detach_key = 'ctrl+m'",
        &["line 1: `attach.detach_key`: terminals send `ctrl+m` and enter alike"],
    );
}

#[test]
fn all_problems_are_told_in_the_order_of_the_file() {
    check(
        "colour = 1\nsize = 'x\n[logs]\nlevel = 'loud'\nmax_files = 0\n",
        &[
            "line 1: unknown key `colour`; `greenroom config check --print-default` shows what there is",
            "line 2: invalid literal string, expected `'`",
            "line 4: `logs.level`: `loud` is not one of `info`, `off`, `error`, `warn`, `debug`, `trace`",
            "line 5: `logs.max_files`: `0` is not a number from 1 to 100",
        ],
    );
    check("shell = ''\nshell = ''", &["line 2: duplicate key"]);
}

#[test]
fn the_reference_is_a_file_that_changes_nothing_with_or_without_its_comments() {
    let reference = Config::reference();
    assert_eq!(Config::parse(&reference).unwrap(), Config::default());
    let set: String = reference
        .lines()
        .map(|line| line.strip_prefix("# ").filter(|it| it.contains(" = ")).unwrap_or(line))
        .map(|line| format!("{line}\n"))
        .collect();
    let config = Config::parse(&set).unwrap();
    assert_eq!(config.given.len(), KEYS.len(), "{set}");
    assert_eq!(Config { given: Default::default(), ..config.clone() }, Config::default());
    assert_eq!(config.needs_restart(&Config::default()), [""; 0]);
    assert!(reference.contains("\n[attach]\n# The chord that detaches.\n# Allowed: a text in quotes.\n# detach_key = 'ctrl+\\'\n"), "{reference}");
}

#[test]
fn what_a_reload_cannot_take_over_is_named() {
    let old = Config::default();
    let new =
        Config::parse("logs.max_files = 6\nlogs.level = 'warn'\nlimits.sessions = 0x7d0").unwrap();
    assert_eq!(old.needs_restart(&new), ["logs.max_files"]);
}

#[test]
fn the_shell_is_the_configured_one_then_the_usual_one() {
    let zsh = || Some("/bin/zsh".to_owned());
    let config = Config::parse("shell = '/bin/fish'").unwrap();
    assert_eq!(config.shell_or(zsh()), "/bin/fish");
    assert_eq!(Config::default().shell_or(zsh()), "/bin/zsh");
    assert_eq!(Config::default().shell_or(Some(String::new())), "/bin/sh");
}

#[test]
fn files_that_cannot_be_read_are_problems_and_a_missing_one_is_none() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("config.toml");
    assert_eq!(Config::load(&path).unwrap(), Config::default());
    fs::write(&path, "shell = '/bin/fish'").unwrap();
    assert_eq!(Config::load(&path).unwrap().shell, "/bin/fish");
    fs::write(&path, b"\xff\n").unwrap();
    let problem = |path| Config::load(path).unwrap_err()[0].to_string();
    assert_eq!(problem(&path), "cannot read the configuration: not UTF-8 text");
    fs::write(&path, " ".repeat(1024 * 1024 + 1)).unwrap();
    assert_eq!(problem(&path), "cannot read the configuration: larger than 1048576 bytes");
    assert_eq!(problem(folder.path()), "cannot read the configuration: not a regular file");
}
