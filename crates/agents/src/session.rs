//! One conversation: the only owner of its process, its options and what is still to be answered.
//!
//! A conversation is one task fed by a closed [`Message`] enum and by its process. `heard` is what
//! becomes of the process's lines, `said` of the clients' messages, `join` how a client comes in.
//!
//! Not here: which conversations there are (`chats`), the shapes of messages (`turn`, `answer`,
//! `control`, `suggestion`).

mod heard;
mod join;
mod said;

use std::collections::HashMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;
use tokio::sync::{mpsc, watch};
use tokio::time::{Instant, sleep, sleep_until};
use uuid::Uuid;

use crate::chats::Config;
use crate::control::Control;
use crate::frames;
use crate::log::{ClientId, Log};
use crate::memory::{Known, Memory};
use crate::options::{Conversation, Options};
use crate::process::{Process, Start};

pub(crate) use join::Join;

/// How long a process is watched before its first client is told that it is connected: those that
/// cannot run at all end within that.
const GRACE: Duration = Duration::from_millis(200);

/// How much of what was said is kept for clients that come back, in bytes: more than a long turn with
/// pictures.
const HISTORY_BYTES: usize = 32 << 20;

/// How long the client for which a conversation was begun may take to come in. It does at once, unless
/// it is gone.
const FIRST_TIME: Duration = Duration::from_secs(10);

/// Everything that can happen to a conversation from outside.
#[derive(Debug)]
pub(crate) enum Message {
    /// A client comes.
    Join(Join),
    /// A client said something.
    Said { client: ClientId, test_events: bool, text: String },
    /// Its place is wanted, if nobody is there.
    Evict,
    /// It is to end.
    End,
}

/// Whether there is more to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Flow {
    Go,
    Over,
}

/// A request of Claude Code that waits for an answer of a client.
#[derive(Debug)]
struct Waiting {
    /// What the tool is to be called with.
    input: Value,
    number: u64,
    text: Arc<str>,
}

/// A request to Claude Code that waits for its answer.
#[derive(Debug)]
struct Asked {
    control: Control,
    client: ClientId,
    /// The client's own number for it, if it wants the answer as it is.
    request_id: Option<String>,
    until: Instant,
}

/// What is known of a process that has not said anything yet.
#[derive(Debug, Default)]
struct Opening {
    is_proved: bool,
    /// What was written to it, and has to be written again if it was started the wrong way.
    written: Vec<String>,
    /// What it said about having been started the wrong way.
    held: Vec<Value>,
    trouble: Option<Trouble>,
}

/// How a process can have been started the wrong way.
#[derive(Debug, PartialEq, Eq)]
enum Trouble {
    /// It was to go on with a conversation that is not stored.
    Missing(String),
    /// It was to begin a conversation that is stored already.
    Stored,
}

/// A conversation.
#[derive(Debug)]
pub(crate) struct Session {
    config: Arc<Config>,
    memory: Memory,
    log: Arc<Log>,
    known: Known,
    options: Options,
    process: Option<Process>,
    opening: Opening,
    /// Whether it was tried the other way already.
    is_second_try: bool,
    /// When a signal was sent that may end the process.
    signalled: Option<Instant>,
    waiting: HashMap<String, Waiting>,
    asked: HashMap<String, Asked>,
    requests: u64,
    init: Option<(u64, Arc<str>)>,
    /// Whether nobody has come in yet.
    is_fresh: bool,
    is_resumed: bool,
    /// When somebody left, or the process said something, whichever was later.
    idle_since: Instant,
}

impl Session {
    pub(crate) fn new(
        config: Arc<Config>,
        memory: Memory,
        known: Known,
        options: Options,
    ) -> Session {
        let log = Arc::new(Log::new(config.history_max, HISTORY_BYTES));
        Session {
            config,
            memory,
            log,
            is_resumed: known.begun,
            known,
            options,
            process: None,
            opening: Opening::default(),
            is_second_try: false,
            signalled: None,
            waiting: HashMap::new(),
            asked: HashMap::new(),
            requests: 0,
            init: None,
            is_fresh: true,
            idle_since: Instant::now(),
        }
    }

    /// What clients call it.
    pub(crate) fn id(&self) -> Uuid {
        self.known.session
    }

    /// What is said in it.
    pub(crate) fn log(&self) -> Arc<Log> {
        Arc::clone(&self.log)
    }

    /// Runs to the end. `before` is the one whose place this takes.
    pub(crate) async fn run(
        mut self,
        mut inbox: mpsc::Receiver<Message>,
        before: Option<watch::Receiver<()>>,
    ) {
        if let Some(mut before) = before {
            // Two processes must not write one conversation.
            before.changed().await.unwrap_or_default();
        }
        let is_open = self.open().await == Flow::Go;
        if is_open {
            self.serve(&mut inbox).await;
        }
        inbox.close();
        while let Ok(message) = inbox.try_recv() {
            // Those who come too late to one that was open get another; see `chats`.
            if let (Message::Join(join), false) = (message, is_open) {
                self.show(join);
            }
        }
        self.log.close();
        if let Some(process) = self.process.take() {
            process.end().await;
        }
    }

    async fn open(&mut self) -> Flow {
        if self.spawn() == Flow::Over {
            return Flow::Over;
        }
        let grace = sleep(GRACE);
        tokio::pin!(grace);
        loop {
            tokio::select! {
                () = &mut grace => return Flow::Go,
                heard = next_heard(&mut self.process) => {
                    if self.hear(heard) == Flow::Over {
                        return Flow::Over;
                    }
                }
            }
        }
    }

    async fn serve(&mut self, inbox: &mut mpsc::Receiver<Message>) {
        let log = Arc::clone(&self.log);
        let mut flow = Flow::Go;
        while flow == Flow::Go {
            let due = self.due();
            flow = tokio::select! {
                heard = next_heard(&mut self.process) => {
                    self.idle_since = Instant::now();
                    self.hear(heard)
                }
                message = inbox.recv() => match message {
                    Some(message) => self.take(message).await,
                    None => Flow::Over,
                },
                () = log.left() => {
                    self.idle_since = Instant::now();
                    Flow::Go
                }
                () = at(due) => self.tick(),
            };
        }
    }

    async fn take(&mut self, message: Message) -> Flow {
        match message {
            Message::Join(join) => self.join(join).await,
            Message::Said { client, test_events, text } => {
                self.said(client, test_events, &text).await
            }
            Message::Evict if self.log.readers() > 0 => Flow::Go,
            Message::Evict | Message::End => Flow::Over,
        }
    }

    /// When something is to happen by itself, if at all.
    fn due(&self) -> Option<Instant> {
        self.asked.values().map(|it| it.until).chain(self.idle_until()).min()
    }

    /// When it ends because nobody is there.
    fn idle_until(&self) -> Option<Instant> {
        let ttl = self.config.idle_ttl;
        let ttl = if self.is_fresh { ttl.max(FIRST_TIME) } else { ttl };
        (self.log.readers() == 0).then(|| self.idle_since + ttl)
    }

    fn tick(&mut self) -> Flow {
        let now = Instant::now();
        self.give_up(now);
        let is_over = self.idle_until().is_some_and(|it| it <= now);
        if is_over { Flow::Over } else { Flow::Go }
    }

    /// Starts the process for the conversation, or says why it cannot.
    fn spawn(&mut self) -> Flow {
        let id = self.known.conversation;
        let stored = self.known.begun;
        let conversation = if stored { Conversation::Stored(id) } else { Conversation::New(id) };
        let environment = self.environment();
        let start = Start {
            command: &self.config.command,
            arguments: &self.options.arguments(conversation),
            folder: &self.config.folder,
            environment: &environment,
        };
        self.opening = Opening::default();
        self.signalled = None;
        match Process::start(&start) {
            Ok(process) => {
                self.process = Some(process);
                Flow::Go
            }
            Err(error) => {
                let program = self.config.command.first().map(|it| it.to_string_lossy());
                let program = program.unwrap_or_default();
                let why = format!("Failed to start session: cannot run `{program}`: {error}");
                self.log.push(&frames::error(&why));
                Flow::Over
            }
        }
    }

    /// The daemon's choice of variables, without those that say it runs in another Claude Code.
    fn environment(&self) -> Vec<(OsString, OsString)> {
        let nested = ["CLAUDECODE", "CLAUDE_CODE_ENTRYPOINT"];
        let given = self.config.environment.iter().filter(|it| !nested.iter().any(|n| it.0 == *n));
        let name = self.id().to_string();
        let own = [
            ("NO_COLOR", "1"),
            ("FORCE_COLOR", "0"),
            ("KURT_SESSION_PROVIDER", "claude-stream"),
            ("KURT_SESSION_NAME", &name),
        ];
        let own = own.map(|(name, value)| (OsString::from(name), OsString::from(value)));
        given.cloned().chain(own).collect()
    }

    /// Ends the process and starts another for the same conversation. Everybody stays.
    async fn restart(&mut self) -> Flow {
        if let Some(process) = self.process.take() {
            process.end().await;
        }
        self.settle_all();
        if self.spawn() == Flow::Over {
            return Flow::Over;
        }
        self.log.push(&frames::happened("restarted", self.id()));
        Flow::Go
    }

    /// Nobody will answer what was asked before the process was another.
    fn settle_all(&mut self) {
        for (request_id, _) in self.waiting.drain() {
            self.log.push(&frames::settled(&request_id));
        }
        for (_, asked) in self.asked.drain() {
            match asked.control {
                Control::Interrupt => {
                    let interrupted = frames::happened("interrupted", self.known.session);
                    self.log.push_own(asked.client, &interrupted);
                }
                control => {
                    let why = format!("`{}` was not done: Claude was restarted", control.subtype());
                    self.log.push_own(asked.client, &frames::error(&why));
                }
            }
        }
    }

    fn remember(&mut self, begun: bool) {
        self.known.begun = begun;
        self.memory.remember(self.known);
    }
}

async fn next_heard(process: &mut Option<Process>) -> Option<crate::process::Heard> {
    match process {
        Some(process) => process.heard().await,
        None => None,
    }
}

async fn at(due: Option<Instant>) {
    match due {
        Some(due) => sleep_until(due).await,
        None => std::future::pending().await,
    }
}
