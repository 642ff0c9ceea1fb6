//! What is said, and what of it can be read back.

use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tempfile::TempDir;
use tracing::level_filters::LevelFilter;
use tracing::subscriber::with_default;
use tracing::{Level, debug, error, info, warn};

use super::file::RotatingFile;
use super::ring::Ring;
use super::writer::Sink as _;
use super::{Entry, Keep, Logs};

/// Room enough for everything said here.
const ALL: Keep = Keep { files: 3, bytes: 1024 * 1024 };

/// Longer than a flush takes; reaching it fails the test.
const PATIENCE: Duration = Duration::from_secs(20);

/// Says something into a new log and returns the log.
fn said(folder: &Path, level: LevelFilter, say: impl FnOnce(&Logs)) -> Logs {
    let (logs, subscriber) = Logs::start(folder, ALL, level).unwrap();
    with_default(subscriber, || say(&logs));
    assert!(logs.flush(PATIENCE), "the lines are written");
    logs
}

/// The lines of the file, without their times.
fn lines(folder: &TempDir) -> Vec<String> {
    let text = fs::read_to_string(folder.path().join("daemon.log")).unwrap();
    text.lines()
        .map(|line| {
            let (time, rest) = line.split_once(',').unwrap();
            assert!(time.strip_prefix("{\"timestamp\":").unwrap().parse::<u64>().unwrap() > 0);
            rest.to_owned()
        })
        .collect()
}

fn messages(entries: &[Entry]) -> Vec<&str> {
    entries.iter().map(|it| it.message.as_str()).collect()
}

#[test]
fn what_looks_like_a_secret_is_hidden() {
    let folder = tempfile::tempdir().unwrap();
    said(folder.path(), LevelFilter::INFO, |_| {
        info!(target: "greenroom::plugin", text = "saw GITHUB_TOKEN=abcdefgh1234", "and token: 'zyxwvuts9876'");
    });
    let lines = lines(&folder).join("\n");
    assert!(lines.contains("GITHUB_TOKEN=[REDACTED]"), "{lines}");
    assert!(!lines.contains("abcdefgh") && !lines.contains("zyxwvuts"), "{lines}");
}

/// What is logged when a plugin says this.
fn logged(say: impl FnOnce()) -> String {
    let folder = tempfile::tempdir().unwrap();
    let logs = said(folder.path(), LevelFilter::INFO, |_| say());
    logs.tail(1, LevelFilter::INFO).remove(0).message
}

#[test]
fn a_secret_is_hidden_whatever_is_around_it() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for (before, shown) in [("\n", "\\n"), ("\t", "\\t"), ("\r\n", "\\r\\n")] {
        let text = format!("screen:{before}{token}{before}$ ");
        let wanted = format!("text=screen:{shown}[REDACTED]{shown}$ ");
        assert_eq!(logged(|| info!(target: "greenroom::plugin", text)), wanted);
        let wanted = wanted.strip_prefix("text=").unwrap();
        assert_eq!(logged(|| info!(target: "greenroom::plugin", "{text}")), wanted);
        let text = format!("{before}{token}");
        let wanted = format!("text={shown}[REDACTED]");
        assert_eq!(logged(|| info!(target: "greenroom::plugin", text)), wanted);
    }
    let (begin, end) = token.split_at(20);
    for text in [format!("\x1b[31m{token}\x1b[m"), format!("\x1b[31m{begin}\x1b[1m{end}")] {
        let got = logged(|| info!(target: "greenroom::plugin", text));
        assert!(got.starts_with("text=\\u{1b}[31m[REDACTED]\\u{1b}["), "{got}");
        assert!(!got.contains("a1B2"), "{got}");
    }
}

#[test]
fn a_value_whose_name_makes_it_a_secret_is_hidden() {
    for secret in ["abc", "\nabc", " abc", "\x1b[1mabc", "abc\ndef", "abc def"] {
        let got = logged(|| info!(target: "greenroom::plugin", token = secret, session = 7, "a"));
        assert!(got.starts_with("a token=") && got.ends_with("[REDACTED] session=7"), "{got}");
    }
    let got = logged(|| info!(target: "greenroom::plugin", text = "token=abc def", "a"));
    assert_eq!(got, "a text=token=[REDACTED] def");
    let got = logged(|| info!(target: "greenroom::plugin", token = ?"abc", "a"));
    assert!(!got.contains("abc"), "{got}");
}

#[test]
fn what_is_cut_shows_no_beginning_of_a_secret_and_no_more_than_it_may() {
    let token = format!("ghp_{}", "a1B2".repeat(9));
    for room in 1..60 {
        let text = format!("{} {token} and more", "x".repeat(8 * 1024 - room));
        for got in [
            logged(|| info!(target: "greenroom::plugin", text)),
            logged(|| info!(target: "greenroom::plugin", "{text}")),
        ] {
            assert!(!got.contains("ghp"), "{room}: {}", &got[8_000..]);
        }
    }
    for text in ["token=ab ", "\n", "\u{9b}"] {
        let text = text.repeat(20_000);
        let got = logged(|| info!(target: "greenroom::plugin", text, more = 1, "{text}"));
        assert!(got.len() <= 8 * 1024 + '…'.len_utf8(), "{}", got.len());
        assert!(got.ends_with('…') && !got.contains("=ab"));
    }
}

#[test]
fn an_event_is_a_line_of_json_and_an_entry_in_memory() {
    let folder = tempfile::tempdir().unwrap();
    let logs = said(folder.path(), LevelFilter::INFO, |_| {
        info!(target: "greenroom_engine::link", session = 7, path = "a b", "met a \"holder\"");
        error!(target: "greenroom", error = ?Some(1));
    });
    assert_eq!(
        lines(&folder),
        [
            r#""level":"info","component":"link","message":"met a \"holder\" session=7 path=a b"}"#,
            r#""level":"error","component":"greenroom","message":"error=Some(1)"}"#,
        ]
    );
    let entries = logs.tail(10, LevelFilter::TRACE);
    assert_eq!(messages(&entries), ["met a \"holder\" session=7 path=a b", "error=Some(1)"]);
    assert_eq!((entries[0].level, entries[0].component.as_str()), (Level::INFO, "link"));
    let mode = fs::metadata(folder.path().join("daemon.log")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn nothing_that_is_said_can_steer_a_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let logs = said(folder.path(), LevelFilter::INFO, |_| {
        warn!(target: "greenroom", title = "\x1b]0;x\x07\u{9b}\u{202e}\n\\é", "a\tb");
    });
    let wanted = "a\\tb title=\\u{1b}]0;x\\u{7}\\u{9b}\\u{202e}\\n\\é";
    assert_eq!(messages(&logs.tail(1, LevelFilter::INFO)), [wanted]);
    let json = wanted.replace('\\', "\\\\");
    let line = format!("\"level\":\"warn\",\"component\":\"greenroom\",\"message\":\"{json}\"}}");
    assert_eq!(lines(&folder), [line]);
}

#[test]
fn the_level_can_be_changed_and_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let logs = said(folder.path(), LevelFilter::INFO, |logs| {
        // One place in the code: what it is allowed must not be remembered from the first time.
        for level in [LevelFilter::INFO, LevelFilter::DEBUG, LevelFilter::OFF] {
            logs.set_level(level);
            debug!(target: "greenroom_door", "{level}");
            warn!(target: "greenroom_door", "{level}");
            debug!(target: "mio::poll", "a library");
        }
    });
    assert_eq!(messages(&logs.tail(10, LevelFilter::TRACE)), ["info", "debug", "debug"]);
    assert_eq!(messages(&logs.tail(10, LevelFilter::WARN)), ["info", "debug"]);
    assert_eq!(messages(&logs.tail(1, LevelFilter::TRACE)), ["debug"]);
    assert_eq!(logs.tail(10, LevelFilter::ERROR), []);
}

#[test]
fn a_very_long_message_is_cut() {
    let folder = tempfile::tempdir().unwrap();
    let logs = said(folder.path(), LevelFilter::INFO, |_| {
        info!(target: "greenroom", after = 1, "{}", "é".repeat(100_000));
        info!(target: "greenroom", bytes = ?vec![0; 100_000], "short");
    });
    for entry in logs.tail(2, LevelFilter::INFO) {
        assert!(entry.message.len() < 8 * 1024 + 10, "{}", entry.message.len());
        assert!(entry.message.ends_with('…'));
    }
}

#[test]
fn the_ring_is_bounded_in_entries_and_in_bytes() {
    let mut ring = Ring::default();
    for number in 0..10_500 {
        ring.push(Entry::new(Level::INFO, "x", number.to_string()));
    }
    let all = ring.tail(usize::MAX, LevelFilter::INFO);
    assert_eq!((all.len(), all[0].message.as_str()), (10_000, "500"));
    for _ in 0..1_000 {
        ring.push(Entry::new(Level::INFO, "x", "y".repeat(8_000)));
    }
    assert!(ring.tail(usize::MAX, LevelFilter::INFO).len() < 530);
}

/// The files in a folder with what is in them.
fn files(folder: &TempDir) -> Vec<(String, String)> {
    let mut files: Vec<_> = fs::read_dir(folder.path())
        .unwrap()
        .map(|it| it.unwrap().path())
        .map(|it: PathBuf| {
            let name = it.file_name().unwrap().to_str().unwrap().to_owned();
            (name, fs::read_to_string(it).unwrap())
        })
        .collect();
    files.sort();
    files
}

#[test]
fn a_full_file_is_numbered_and_the_oldest_goes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("log");
    let mut file = RotatingFile::new(path.clone(), Keep { files: 3, bytes: 8 });
    for line in ["aaa\n", "bbb\n", "ccc\n", "ddd\n", "eee\n", "fff\n", "ggg\n"] {
        file.write(line).unwrap();
    }
    let wanted = |names: &[(&str, &str)]| -> Vec<(String, String)> {
        names.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
    };
    let kept = [("log", "ggg\n"), ("log.1", "eee\nfff\n"), ("log.2", "ccc\nddd\n")];
    assert_eq!(files(&folder), wanted(&kept));
    // A later start goes on in the file; with fewer files allowed, those left over go.
    let mut file = RotatingFile::new(path, Keep { files: 1, bytes: 8 });
    file.write("hhh\n").unwrap();
    file.write("a line that is longer than a file may be\n").unwrap();
    let kept = [("log", "a line that is longer than a file may be\n")];
    assert_eq!(files(&folder), wanted(&kept));
}

#[test]
fn lines_that_cannot_be_written_are_counted_and_confessed() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("daemon.log");
    let elsewhere = folder.path().join("elsewhere");
    symlink(&elsewhere, &path).unwrap();
    let logs = said(folder.path(), LevelFilter::INFO, |logs| {
        info!(target: "greenroom", "one");
        info!(target: "greenroom", "two");
        assert!(logs.flush(PATIENCE));
        assert_eq!(logs.dropped(), 2);
        fs::remove_file(&path).unwrap();
        info!(target: "greenroom", "three");
    });
    assert!(!elsewhere.exists(), "a link is not followed");
    assert_eq!(messages(&logs.tail(9, LevelFilter::INFO)), ["one", "two", "three"]);
    assert_eq!(
        lines(&folder),
        [
            r#""level":"warn","component":"logs","message":"lines that could not be written before this one: 2"}"#,
            r#""level":"info","component":"greenroom","message":"three"}"#,
        ]
    );
}
