//! How a private server of the ptywright protocol logs: `[logging]` of `config.toml` in its home, and
//! the variable `PTYWRIGHT_LOG` before it.

use std::fs;
use std::path::{Path, PathBuf};

use toml::{Table, Value};
use tracing_subscriber::filter::Targets;

use super::{Entry, Format};

/// For how many days files are kept, unless the configuration says otherwise.
const DAYS: u16 = 14;

/// What is logged unless somebody says otherwise.
const LEVEL: &str = "info";

/// How a private server logs.
#[derive(Debug)]
pub(crate) struct Private {
    /// The folder of the files; none if nothing is to be written.
    pub(crate) folder: Option<PathBuf>,
    pub(crate) days: u16,
    pub(crate) format: Format,
    pub(crate) targets: Targets,
    /// What makes no sense in it; the defaults are taken instead.
    pub(crate) complaints: Vec<String>,
}

impl Private {
    /// Reads the configuration of a home; `filter` goes before it.
    pub(crate) fn read(home: &Path, filter: Option<&str>) -> Private {
        let path = home.join("config.toml");
        let mut complaints = Vec::new();
        let text = fs::read_to_string(&path).unwrap_or_default();
        let table: Table = text.parse().unwrap_or_else(|error: toml::de::Error| {
            complaints.push(format!("`{}`: {}", path.display(), error.message()));
            Table::new()
        });
        let logging = |key: &str| table.get("logging").and_then(|it| it.get(key));
        let mut wrong = |key: &str| {
            complaints.push(format!("`{}`: `logging.{key}` makes no sense", path.display()));
        };
        let folder = match logging("file") {
            Some(Value::Boolean(false)) => None,
            None | Some(Value::Boolean(true)) => Some(home.join("logs")),
            Some(_) => {
                wrong("file");
                Some(home.join("logs"))
            }
        };
        let days = match logging("max_days").map(|it| it.as_integer().map(u16::try_from)) {
            None => DAYS,
            Some(Some(Ok(days))) => days,
            Some(_) => {
                wrong("max_days");
                DAYS
            }
        };
        let format: Format = match logging("format").map(Value::as_str) {
            None | Some(Some("text")) => Entry::to_text,
            Some(Some("json")) => Entry::to_json,
            Some(_) => {
                wrong("format");
                Entry::to_text
            }
        };
        let level = logging("level").and_then(Value::as_str);
        let wanted = filter.filter(|it| !it.is_empty()).or(level).unwrap_or(LEVEL);
        let targets = targets(wanted).unwrap_or_else(|| {
            complaints.push(format!("`{wanted}` is no filter of logs"));
            Targets::new().with_default(tracing::Level::INFO)
        });
        Private { folder, days, format, targets, complaints }
    }
}

/// A filter such as `debug` or `warn,ptywright=trace`; our crates are that program's.
fn targets(filter: &str) -> Option<Targets> {
    filter.replace("ptywright", super::OURS).parse().ok()
}

#[cfg(test)]
mod tests {
    use tracing::Level;

    use super::*;

    #[track_caller]
    fn read(config: &str, filter: Option<&str>) -> Private {
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("config.toml"), config).unwrap();
        Private::read(home.path(), filter)
    }

    #[test]
    fn what_is_not_said_has_a_default() {
        let found = Private::read(Path::new("/no/such/home"), None);
        assert_eq!((found.days, found.complaints.len()), (DAYS, 0));
        assert_eq!(found.folder, Some(PathBuf::from("/no/such/home/logs")));
        assert!(found.targets.would_enable("greenroom_engine", &Level::INFO));
        assert!(!found.targets.would_enable("greenroom_engine", &Level::DEBUG));
    }

    #[test]
    fn the_variable_goes_before_the_file() {
        let config = "[logging]\nlevel = \"warn\"\nmax_days = 3\nfile = false\n";
        let found = read(config, None);
        assert_eq!((found.days, &found.folder), (3, &None));
        assert!(!found.targets.would_enable("greenroom", &Level::INFO));
        let found = read(config, Some("error,ptywright=trace"));
        assert!(found.targets.would_enable("greenroom_engine", &Level::TRACE));
    }

    #[test]
    fn mistakes_are_named_and_stop_nobody() {
        let wrong = "[logging]\nlevel = \"a=b=c\"\nmax_days = -1\nformat = \"x\"\nfile = 1\n";
        assert_eq!(read(wrong, None).complaints.len(), 4);
        assert_eq!(read("nonsense", None).complaints.len(), 1);
    }
}
