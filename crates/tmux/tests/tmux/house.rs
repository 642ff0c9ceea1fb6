//! A private tmux server in a folder of its own, gone at the end of its test however that ends.

use std::ffi::OsString;
use std::future::Future;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use greenroom_model::Size;
use greenroom_tmux::{Attachment, New, Server, Session, Tmux};

/// For anything that is waited for: far more than it takes, since two cores run many tests.
const PATIENCE: Duration = Duration::from_secs(60);

/// How often a condition is looked at that nothing tells of.
pub(crate) const LOOK: Duration = Duration::from_millis(20);

pub(crate) struct House {
    pub(crate) tmux: Tmux,
    folder: tempfile::TempDir,
}

impl House {
    pub(crate) fn new() -> House {
        House::with_variables(&[])
    }

    pub(crate) fn with_variables(extra: &[(&str, &str)]) -> House {
        let folder = tempfile::tempdir().unwrap();
        let path = std::env::var_os("PATH").unwrap();
        let socket = Server::Socket(folder.path().join("socket"));
        let tmux = Tmux::find(Some(&path), socket).expect("install Debian's `tmux`");
        let home = folder.path().as_os_str().to_owned();
        let fixed: [(OsString, OsString); 5] = [
            ("PATH".into(), path),
            ("HOME".into(), home),
            ("SHELL".into(), "/bin/sh".into()),
            ("PS1".into(), "ready> ".into()),
            ("LC_ALL".into(), "C.UTF-8".into()),
        ];
        let extra = extra.iter().map(|(name, value)| (name.into(), value.into()));
        let tmux = tmux.with_environment(fixed.into_iter().chain(extra));
        House { tmux, folder }
    }

    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Makes a session that runs a command.
    pub(crate) async fn run(&self, name: &str, command: &str) -> Session {
        let shell = Some(Path::new("/bin/sh"));
        let cwd = self.folder();
        let size = Size::DEFAULT;
        let new = New { name: Some(name), cwd, command: Some(command), shell, size };
        self.tmux.create(&new).await.unwrap()
    }

    /// Makes a session with a shell.
    pub(crate) async fn shell(&self, name: &str) -> Session {
        let shell = Some(Path::new("/bin/sh"));
        let new =
            New { name: Some(name), cwd: self.folder(), command: None, shell, size: Size::DEFAULT };
        self.tmux.create(&new).await.unwrap()
    }

    pub(crate) async fn session(&self, name: &str) -> Option<Session> {
        self.tmux.list().await.unwrap().into_iter().find(|it| it.name == name)
    }

    pub(crate) async fn names(&self) -> Vec<String> {
        self.tmux.list().await.unwrap().into_iter().map(|it| it.name).collect()
    }

    /// Asks the server directly.
    pub(crate) fn ask(&self, args: &[&str]) -> String {
        let mut command = Command::new("tmux");
        command.arg("-u").arg("-S").arg(self.folder().join("socket")).args(args);
        let output = command.env_remove("TMUX").stdin(Stdio::null()).output().unwrap();
        String::from_utf8_lossy(&output.stdout).trim_end().to_owned()
    }

    /// The processes of the attached clients.
    pub(crate) fn clients(&self) -> Vec<u32> {
        let told = self.ask(&["list-clients", "-F", "#{client_pid}"]);
        told.lines().map(|line| line.parse().unwrap()).collect()
    }

    /// Waits until what is printed in a session has this text.
    pub(crate) async fn printed(&self, name: &str, text: &str) -> String {
        let mut all = String::new();
        until(&format!("`{text}` in `{name}`"), async || {
            all = String::from_utf8_lossy(&self.tmux.scrollback(name).await.unwrap()).into_owned();
            all.contains(text)
        })
        .await;
        all
    }
}

impl Drop for House {
    fn drop(&mut self) {
        self.ask(&["kill-server"]);
    }
}

/// An attachment and what it has shown.
pub(crate) struct Viewer {
    pub(crate) attachment: Attachment,
    pub(crate) shown: Vec<u8>,
}

impl Viewer {
    pub(crate) async fn attach(house: &House, name: &str) -> Viewer {
        let attachment = house.tmux.attach(name, Size::DEFAULT, false).await.unwrap();
        Viewer { attachment, shown: Vec::new() }
    }

    pub(crate) async fn observe(house: &House, name: &str) -> Viewer {
        let attachment = house.tmux.attach(name, Size::DEFAULT, true).await.unwrap();
        Viewer { attachment, shown: Vec::new() }
    }

    pub(crate) async fn write(&self, text: &str) {
        let mut rest = text.as_bytes();
        while !rest.is_empty() {
            let taken = within("typing", self.attachment.write(rest)).await.unwrap();
            rest = &rest[taken..];
        }
    }

    /// Reads until this text was shown.
    pub(crate) async fn shows(&mut self, text: &str) {
        let shown = async {
            let mut from = 0;
            while !find(&self.shown[from..], text.as_bytes()) {
                from = self.shown.len().saturating_sub(text.len());
                let read = self.attachment.read(&mut self.shown).await.unwrap();
                assert!(read > 0, "ended before `{text}`: {}", self.text());
            }
        };
        within(text, shown).await;
    }

    /// Reads to the end.
    pub(crate) async fn ends(&mut self) {
        let ended = async { while self.attachment.read(&mut self.shown).await.unwrap() > 0 {} };
        within("the end", ended).await;
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.shown).into_owned()
    }
}

fn find(bytes: &[u8], text: &[u8]) -> bool {
    bytes.windows(text.len()).any(|it| it == text)
}

pub(crate) async fn within<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("no {what} in time"))
}

/// Waits until a condition holds that nothing tells of.
pub(crate) async fn until(what: &str, mut holds: impl AsyncFnMut() -> bool) {
    let waited = async {
        while !holds().await {
            tokio::time::sleep(LOOK).await;
        }
    };
    within(what, waited).await;
}

/// Waits until a process is gone, also as a zombie.
pub(crate) async fn gone(pid: u32) {
    let entry = Path::new("/proc").join(pid.to_string());
    until(&format!("end of process {pid}"), async || !entry.exists()).await;
}
