//! Two machines on one: a home here, a home there, and a real `sshd` between them on loopback.

use std::fs;
use std::net::{Ipv4Addr, TcpListener, TcpStream};
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Output, Stdio};
use std::time::Instant;

use greenroom_testkit::{BOUND, Home, Signal, eventually, process};
use serde_json::Value;

use crate::support::home;

/// The server's program; it starts itself again and wants its whole path for that.
const SSHD: &str = "/usr/sbin/sshd";

/// The folder a server that runs as root wants, which its service makes when the system starts.
const SERVERS_FOLDER: &str = "/run/sshd";

/// How often a port is tried: another program may take it before the server does.
const PORTS: usize = 10;

/// A machine here, and another that it can reach as `box`.
pub(crate) struct Machines {
    // The server first: its processes are to be gone before the folders are.
    server: Server,
    /// Where commands are typed.
    pub(crate) here: Home,
    /// The home on the other machine.
    pub(crate) there: Home,
}

impl Machines {
    /// Both machines, with the other one saved as `box`.
    pub(crate) fn start() -> Machines {
        let (here, there) = (home(), home());
        let keys = here.path().join("ssh");
        fs::create_dir(&keys).unwrap();
        for name in ["host", "user", "other"] {
            make_key(&keys.join(name));
        }
        fs::copy(keys.join("user.pub"), keys.join("authorized")).unwrap();
        let server = Server::start(&keys, there.path());
        let machines = Machines { server, here, there };
        machines.trust();
        machines.save("box", "user", &machines.here.binary().display().to_string());
        machines
    }

    /// Saves the other machine under a name, to be reached with that key and that program.
    pub(crate) fn save(&self, name: &str, key: &str, program: &str) {
        let keys = self.here.path().join("ssh");
        let (port, key) = (self.port().to_string(), keys.join(key).display().to_string());
        let known = format!("UserKnownHostsFile={}", keys.join("known").display());
        let mut words = vec!["host", "add", name, "127.0.0.1", "--program", program];
        words.extend(["--port", &port, "--identity", &key, "--option", &known]);
        for option in ["GlobalKnownHostsFile=/dev/null", "IdentitiesOnly=yes", "IdentityAgent=none"]
        {
            words.extend(["--option", option]);
        }
        let saved = self.here.command(words).output().unwrap();
        assert!(saved.status.success(), "{saved:?}");
    }

    /// The port the server listens on.
    pub(crate) fn port(&self) -> u16 {
        self.server.port
    }

    /// Has the server's key be unknown, and asked about if there is somebody.
    pub(crate) fn forget_key(&self) {
        fs::remove_file(self.here.path().join("ssh/known")).unwrap();
    }

    /// Makes the server's key known.
    fn trust(&self) {
        let keys = self.here.path().join("ssh");
        let key = fs::read_to_string(keys.join("host.pub")).unwrap();
        fs::write(keys.join("known"), format!("[127.0.0.1]:{} {key}", self.port())).unwrap();
    }

    /// A command on this machine.
    pub(crate) fn run(&self, line: &str) -> Output {
        self.here.command(line.split(' ')).output().unwrap()
    }

    /// A command that must end with this code; gives what it printed.
    #[track_caller]
    pub(crate) fn check(&self, line: &str, code: i32) -> String {
        let output = self.run(line);
        assert_eq!(output.status.code(), Some(code), "{line}: {output:?}");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!said.contains("panicked"), "{line}: {said}");
        match code {
            0 => String::from_utf8(output.stdout).unwrap(),
            _ => said,
        }
    }

    /// The processes that have the shared lines.
    pub(crate) fn lines(&self) -> Vec<u32> {
        process::listeners(&self.here.path().join("run/hosts"))
    }

    /// Cuts all lines at their far end.
    pub(crate) fn cut(&self) {
        for pid in self.server.connections() {
            process::kill(pid, Signal::KILL);
        }
    }

    /// The other machine takes connections and says nothing.
    pub(crate) fn freeze(&self) {
        assert!(process::kill(self.server.process.id(), Signal::STOP));
        self.cut();
    }

    /// Has the server follow one more rule.
    pub(crate) fn configure(&mut self, rule: &str) {
        self.unplug();
        let before = fs::read_to_string(&self.server.configuration).unwrap();
        fs::write(&self.server.configuration, format!("{before}{rule}\n")).unwrap();
        self.plug_in();
    }

    /// Takes the other machine off the net.
    pub(crate) fn unplug(&mut self) {
        self.server.end();
    }

    /// Brings it back, at the same port.
    pub(crate) fn plug_in(&mut self) {
        self.server.again();
    }
}

/// What a command printed for programs.
#[track_caller]
pub(crate) fn parsed(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

fn make_key(path: &Path) {
    let mut command = Command::new("ssh-keygen");
    command.args(["-q", "-t", "ed25519", "-N", "", "-C", "test", "-f"]).arg(path);
    assert!(command.stdin(Stdio::null()).status().unwrap().success());
}

/// A server on a loopback port.
struct Server {
    process: Child,
    configuration: PathBuf,
    port: u16,
}

impl Server {
    fn start(keys: &Path, home: &Path) -> Server {
        if !Path::new(SERVERS_FOLDER).exists() && rustix::process::geteuid().is_root() {
            fs::create_dir_all(SERVERS_FOLDER).unwrap();
            fs::set_permissions(SERVERS_FOLDER, fs::Permissions::from_mode(0o755)).unwrap();
        }
        let configuration = keys.join("sshd_config");
        for _ in 0..PORTS {
            let port = free_port();
            fs::write(&configuration, configured(keys, home, port)).unwrap();
            let process = begin(&configuration);
            let mut server = Server { process, configuration: configuration.clone(), port };
            if server.comes_up() {
                return server;
            }
        }
        panic!("no port for `sshd`");
    }

    /// Whether it listens; false if it ended instead.
    fn comes_up(&mut self) -> bool {
        let mut listens = false;
        eventually("`sshd` listens or ends", || {
            let ended = self.process.try_wait().unwrap().is_some();
            listens = !ended && TcpStream::connect((Ipv4Addr::LOCALHOST, self.port)).is_ok();
            listens || ended
        });
        listens
    }

    /// The processes of its connections.
    fn connections(&self) -> Vec<u32> {
        let mut found = Vec::new();
        let mut next = vec![self.process.id()];
        while let Some(pid) = next.pop() {
            let children = process::children(pid);
            // The daemon that was started through one belongs to nobody any more.
            let children = children.into_iter().filter(|it| is_server(*it));
            for child in children {
                found.push(child);
                next.push(child);
            }
        }
        found
    }

    fn end(&mut self) {
        // Stopped, it takes no more: somebody who was cut off may be at the door again at once.
        process::kill(self.process.id(), Signal::STOP);
        let deadline = Instant::now() + BOUND;
        while !self.connections().is_empty() && Instant::now() < deadline {
            for pid in self.connections() {
                process::kill(pid, Signal::KILL);
            }
            std::thread::yield_now();
        }
        self.process.kill().unwrap_or_default();
        self.process.wait().map(drop).unwrap_or_default();
    }

    fn again(&mut self) {
        eventually("the port is free again", || {
            self.process = begin(&self.configuration);
            self.comes_up()
        });
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.end();
    }
}

fn is_server(pid: u32) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|it| it.ends_with("sshd"))
}

fn begin(configuration: &Path) -> Child {
    let mut command = Command::new(SSHD);
    command.arg("-D").arg("-f").arg(configuration).arg("-E");
    command.arg(configuration.with_extension("log"));
    command.env_clear().stdin(Stdio::null()).spawn().expect("`sshd` of openssh-server")
}

fn free_port() -> u16 {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.local_addr().unwrap().port()
}

/// The user's own folder is that of the test, too: what their shell does when it starts is not tested.
fn configured(keys: &Path, home: &Path, port: u16) -> String {
    let (keys, home) = (keys.display(), home.display());
    format!(
        "Port {port}\nListenAddress 127.0.0.1\nHostKey {keys}/host\nPidFile none\n\
         AuthorizedKeysFile {keys}/authorized\nUsePAM no\nStrictModes no\nPermitRootLogin yes\n\
         PasswordAuthentication no\nKbdInteractiveAuthentication no\nMaxStartups 100\n\
         SetEnv GREENROOM_HOME={home} HOME={home}\n"
    )
}
