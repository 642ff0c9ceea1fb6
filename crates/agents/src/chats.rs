//! Which conversations there are, who gets into which, and who has to make room.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::{mpsc, oneshot, watch};
use uuid::Uuid;

use crate::client::Client;
use crate::log::{ClientId, Log};
use crate::memory::{Known, Memory};
use crate::request::Request;
use crate::session::{Join, Message, Session};

/// How many messages of clients wait for a conversation before their senders do.
const INBOX_MAX: usize = 16;

/// By how much the bound of conversations may be passed while none of them is idle. The contract does
/// not refuse anybody; but a process has some hundred megabytes.
const OVERFULL: usize = 4;

/// How often a client that came just when a conversation ended is given another.
const TRIES: usize = 3;

/// How long the end of all conversations is waited for: a little more than one may take.
const CLOSE_TIME: Duration = Duration::from_secs(8);

/// How agents are run.
#[derive(Debug, Clone)]
pub struct Config {
    /// The program, and arguments before ours.
    pub command: Vec<OsString>,
    /// The project they work in.
    pub folder: PathBuf,
    /// All variables they get, besides a few of our own.
    pub environment: Vec<(OsString, OsString)>,
    /// How long a conversation with no client and nothing to say goes on. Zero: it ends with its last
    /// client.
    pub idle_ttl: Duration,
    /// How many there may be before idle ones are ended.
    pub sessions_max: usize,
    /// How many messages of each are kept for clients that come back.
    pub history_max: usize,
    /// The file in which it is remembered which conversations there were.
    pub state_file: Option<PathBuf>,
}

/// A conversation as a list shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Listed {
    /// What clients call it.
    pub id: Uuid,
    /// How many of them are there.
    pub clients: usize,
    /// How many messages are kept.
    pub history: usize,
}

/// All conversations. Cheap to clone; they end when the last is dropped or closed.
#[derive(Debug, Clone)]
pub struct Chats(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    memory: Memory,
    house: Mutex<House>,
}

#[derive(Debug)]
struct House {
    config: Arc<Config>,
    sessions: HashMap<Uuid, Handle>,
    /// Counts clients and conversations.
    number: u64,
    is_closed: bool,
}

/// A conversation as seen from outside.
#[derive(Debug, Clone)]
struct Handle {
    number: u64,
    inbox: mpsc::Sender<Message>,
    log: Arc<Log>,
    /// Closed when it has ended.
    ended: watch::Receiver<()>,
    /// When it was last asked for, as a number: who is the longest idle.
    used: u64,
    is_leaving: bool,
}

impl Chats {
    /// Makes room for conversations. Reads the file of those there were.
    #[must_use]
    pub fn new(config: Config) -> Chats {
        let memory = Memory::open(config.state_file.clone());
        let config = Arc::new(config);
        let house = House { config, sessions: HashMap::new(), number: 0, is_closed: false };
        Chats(Arc::new(Inner { memory, house: Mutex::new(house) }))
    }

    /// How conversations are run that begin from now on. Where they are remembered stays.
    pub fn set_config(&self, config: Config) {
        self.0.house().config = Arc::new(config);
    }

    /// Lets a client into the conversation it asks for, which is begun or gone on with if it does not
    /// run. A client that cannot be let in is told why by its first message, which is its last.
    pub async fn join(&self, mut request: Request) -> Client {
        let asked = request.session.unwrap_or_else(Uuid::new_v4);
        let id = self.0.memory.find(asked).map_or(asked, |it| it.session);
        for _ in 0..TRIES {
            let Some((mut handle, client)) = self.0.find(id, &request) else {
                return Client::refused(id, "Failed to start session: too many sessions");
            };
            let (entered, wait) = oneshot::channel();
            let join = Message::Join(Join { client, request: request.clone(), entered });
            if handle.inbox.send(join).await.is_ok() && wait.await.is_ok() {
                return Client::new(client, id, request.test_events, handle.log, handle.inbox);
            }
            // It was just ending. The next one is another, and is not to be ended again.
            request.force_new = false;
            handle.ended.changed().await.unwrap_or_default();
        }
        Client::refused(id, "Failed to start session: it ended again and again")
    }

    /// All that run.
    #[must_use]
    pub fn list(&self) -> Vec<Listed> {
        let house = self.0.house();
        let one = |(id, it): (&Uuid, &Handle)| Listed {
            id: *id,
            clients: it.log.readers(),
            history: it.log.len(),
        };
        let mut all: Vec<Listed> = house.sessions.iter().map(one).collect();
        all.sort_by_key(|it| it.id);
        all
    }

    /// Ends a conversation and waits for it; false if there is none.
    pub async fn end(&self, id: Uuid) -> bool {
        let handle = self.0.house().sessions.get(&id).cloned();
        let Some(mut handle) = handle else { return false };
        handle.inbox.send(Message::End).await.unwrap_or_default();
        handle.ended.changed().await.unwrap_or_default();
        true
    }

    /// Ends them all, and lets nobody in any more.
    pub async fn close(&self) {
        let handles: Vec<Handle> = {
            let mut house = self.0.house();
            house.is_closed = true;
            house.sessions.values().cloned().collect()
        };
        let all = async {
            for handle in &handles {
                handle.inbox.send(Message::End).await.unwrap_or_default();
            }
            for mut handle in handles {
                handle.ended.changed().await.unwrap_or_default();
            }
        };
        if tokio::time::timeout(CLOSE_TIME, all).await.is_err() {
            tracing::warn!("some agents did not end in time");
        }
    }
}

impl Inner {
    fn house(&self) -> MutexGuard<'_, House> {
        self.house.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The conversation, running, and a number for a new client of it; nothing if there is no room.
    fn find(self: &Arc<Inner>, id: Uuid, request: &Request) -> Option<(Handle, ClientId)> {
        let mut house = self.house();
        if house.is_closed {
            return None;
        }
        house.number += 1;
        let number = house.number;
        let running = house.sessions.get_mut(&id);
        if let Some(running) = running.filter(|_| !request.force_new) {
            running.used = number;
            return Some((running.clone(), number));
        }
        let before = house.sessions.get(&id).cloned();
        if let Some(before) = &before {
            before.end();
        } else if !house.make_room() {
            return None;
        }
        let session = Session::new(
            Arc::clone(&house.config),
            self.memory.clone(),
            self.known(id, request),
            request.options_of_new(),
        );
        let handle = self.begin(session, number, before.map(|it| it.ended));
        house.sessions.insert(id, handle.clone());
        Some((handle, number))
    }

    /// What is known of a conversation. One that is begun anew is another for Claude Code, which
    /// never forgets one.
    fn known(&self, id: Uuid, request: &Request) -> Known {
        let known = self.memory.find(id);
        let unknown = Known { session: id, conversation: id, begun: request.resume };
        match known {
            Some(known) if request.force_new && known.begun => {
                let anew = Known { session: id, conversation: Uuid::new_v4(), begun: false };
                self.memory.remember(anew);
                anew
            }
            Some(known) => known,
            None if request.force_new => Known { begun: false, ..unknown },
            None => unknown,
        }
    }

    fn begin(
        self: &Arc<Inner>,
        session: Session,
        number: u64,
        before: Option<watch::Receiver<()>>,
    ) -> Handle {
        let (id, log) = (session.id(), session.log());
        let (inbox, messages) = mpsc::channel(INBOX_MAX);
        let (ending, ended) = watch::channel(());
        let house = Arc::downgrade(self);
        tokio::spawn(async move {
            session.run(messages, before).await;
            if let Some(house) = house.upgrade() {
                house.house().forget(id, number);
            }
            drop(ending);
        });
        Handle { number, inbox, log, ended, used: number, is_leaving: false }
    }
}

impl House {
    /// Asks the longest idle to leave if there are too many; false if there are far too many.
    fn make_room(&mut self) -> bool {
        let most = self.config.sessions_max;
        let staying = self.sessions.values().filter(|it| !it.is_leaving).count();
        if staying >= most {
            let idle = self.sessions.values_mut();
            let idle = idle.filter(|it| !it.is_leaving && it.log.readers() == 0);
            if let Some(idle) = idle.min_by_key(|it| it.used) {
                idle.is_leaving = idle.inbox.try_send(Message::Evict).is_ok();
            }
        }
        self.sessions.len() < most.max(1).saturating_mul(OVERFULL)
    }

    /// Forgets a conversation that has ended, unless another has its place.
    fn forget(&mut self, id: Uuid, number: u64) {
        if self.sessions.get(&id).is_some_and(|it| it.number == number) {
            self.sessions.remove(&id);
        }
    }
}

impl Handle {
    fn end(&self) {
        if self.inbox.try_send(Message::End).is_err() {
            // It has other things to do first.
            let inbox = self.inbox.clone();
            tokio::spawn(async move { inbox.send(Message::End).await.unwrap_or_default() });
        }
    }
}
