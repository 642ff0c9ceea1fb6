//! One live session: the only owner of its screen, its journal and its link to the holder.
//!
//! A session is one task fed by a closed [`Msg`] enum and by its link, so every cause of change is
//! listed in one place and all changes happen in one order. There is no lock to hold wrongly.
//!
//! Flow: `link` → `output` (journal, screen) → `viewers`, `waits`; `typing` and `keyboard` are the way back,
//! `sizing` decides the size, `save` gives the holder checkpoints, `end` is the end.
//! Not here: wire formats (doors), escape codes (`screen`), the list of sessions (`engine`).
//!
//! Invariant: a byte is in the holder's log, or in the pipe out of which only the holder takes it, before anybody can see it.

mod absent;
mod ahead;
mod audience;
mod end;
mod flood;
mod keyboard;
mod output;
mod save;
mod sizing;
mod tallies;
mod tap;
mod typing;
mod viewers;
mod waits;

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use greenroom_model::{Eager, KeyEvent, Offset, Size};
use greenroom_proto::{Description, Hello, ToHolder};
use greenroom_screen::{Filter, Screen, Wrap};
use tokio::sync::{Notify, OwnedSemaphorePermit, Semaphore, mpsc, oneshot, watch};
use tokio::time::Instant;

use crate::Texts;
use crate::engine::House;
use crate::event::HouseEvent;
use crate::info::Face;
use crate::journal::Journal;
use crate::link::{Link, LinkError};
use crate::mark::Marks;
use crate::options::Options;
use crate::points::{Point, reach};
use crate::relink::relink;
use crate::scene::GivenOut;
use crate::{Attach, ClientId, Error, Event, Scene, Subscription, SubscriptionId, Transcript};

use self::absent::Absent;
use self::ahead::Ahead;
pub(crate) use self::keyboard::Keyboard;
use self::save::Saves;
use self::tap::Taps;
use self::viewers::Viewers;
use self::waits::Waits;

pub(crate) use self::absent::expecting;
pub(crate) use self::save::{Kept, pack, unpack};
pub use self::tap::Offer;
pub(crate) use self::tap::TapWanted;
pub use self::waits::Waited;
pub(crate) use self::waits::{Guest, Looker, Wait, Waiter};

/// How many messages one turn takes. More would make output wait behind a busy client.
const TURN_MAX: usize = 64;

/// How long to stay awake for an echo: it takes the way to the program and back through the holder.
const MOMENT: Duration = Duration::from_micros(150);

/// How many bytes of output make a turn so long that others come first.
const LONG_TURN: usize = 16 << 10;

/// How many messages may wait for a session: as many as clients ask at once.
pub(crate) const INBOX: usize = 256;

/// How long a synchronized update may hold up whoever looks. A program that dies in the middle of
/// one must not blind anybody.
const SYNC_BOUND: Duration = Duration::from_millis(150);

/// The note in the description that says how many characters of what is printed are kept as text.
pub(crate) const TRANSCRIPT: &str = "transcript";

/// The note that says how often the size changed: the sequence never goes back.
pub(crate) const RESIZES: &str = "resizes";

/// What somebody types.
#[derive(Debug, Clone)]
pub enum Typed {
    /// Bytes as they are.
    Bytes(Bytes),
    /// Text; line ends are Enter.
    Text(String),
    /// Text that is pasted.
    Paste(String),
    /// Keys, encoded as the program asked for.
    Keys(Vec<KeyEvent>),
}

/// Looks at a session, in its own turn.
pub(crate) type Look = Box<dyn FnOnce(Scene<'_>) + Send>;

/// The answer to a request.
pub(crate) type Reply<T> = oneshot::Sender<Result<T, Error>>;

/// Everything that can be asked of a session.
pub(crate) enum Msg {
    /// Somebody types, in the room they took.
    Type { typed: Typed, enter: bool, room: OwnedSemaphorePermit, reply: Reply<Offset> },
    /// An attached client types, in the room it took.
    Input { from: SubscriptionId, bytes: Bytes, room: OwnedSemaphorePermit },
    /// An attached client wants to type by itself.
    Tap(TapWanted),
    /// It typed by itself when the session stood at an offset.
    Typed { from: SubscriptionId, at: Offset, bytes: Bytes },
    /// A new size, whoever is attached.
    Resize(Size, Reply<()>),
    /// A client's terminal has a new size.
    Sized(SubscriptionId, Size),
    /// A signal for the foreground.
    Signal(i32, Reply<()>),
    /// The end.
    Kill(Duration, Reply<()>),
    /// Another name.
    Rename(String, Reply<String>),
    /// A client wants to see.
    Attach { client: ClientId, attach: Attach, reply: Reply<Subscription> },
    /// It has seen enough.
    Detach(SubscriptionId),
    /// Somebody reads the screen.
    Look(Look),
    /// Somebody waits for something, after an offset.
    Wait(Wait, Option<Offset>),
    /// Something to be remembered with the session, by name.
    Note(String, String),
    /// Somebody wants what is printed to be kept as text, so many characters of it.
    Transcribe(usize, Reply<()>),
}

/// How others reach a session.
#[derive(Debug, Clone)]
pub(crate) struct Handle {
    pub(crate) face: Arc<Face>,
    pub(crate) inbox: mpsc::Sender<Msg>,
    /// Held by whoever types a text, until the last of it is in the queue.
    pub(crate) texts: Arc<tokio::sync::Mutex<()>>,
    /// Room for input, in bytes.
    pub(crate) room: Arc<Semaphore>,
    /// How much there is in all.
    pub(crate) room_bytes: usize,
    /// The sequence now; closed when the session has ended.
    pub(crate) changes: watch::Receiver<u64>,
}

/// One live session.
pub(crate) struct Session {
    house: Arc<House>,
    options: Arc<Options>,
    face: Arc<Face>,
    description: Description,
    link: Link,
    keyboard: Keyboard,
    screen: Screen,
    /// The last of what was printed, if somebody wants it.
    transcript: Option<Transcript>,
    /// How often the size changed.
    resizes: u64,
    changes: watch::Sender<u64>,
    journal: Journal,
    /// What terminals are to get, while there are any.
    filter: Option<Filter>,
    /// Bytes before this are past: they were printed before this daemon came.
    past: Offset,
    /// What the holder has sent, which the screen may have seen before.
    received: Offset,
    /// Queries before this were answered.
    answered: Offset,
    viewers: Viewers,
    taps: Taps,
    ahead: Ahead,
    marks: Marks,
    /// When to have the holder remember where something was typed last.
    mark_due: Option<Instant>,
    waits: Waits,
    given_out: GivenOut,
    saves: Saves,
    /// Who looks while the program is in the middle of an update.
    held: Vec<Look>,
    /// Since when it is.
    updating: Option<Instant>,
    /// When something was printed or typed last.
    active: Instant,
    /// When the last turn ended.
    turned: Instant,
    /// Something changed in this turn that waits and viewers want to know.
    changed: bool,
    killers: Vec<Reply<()>>,
    /// Bytes of output in this turn.
    heard: usize,
    /// Who was cut off and may come back.
    absent: Option<Absent>,
    eager: Eager,
    /// The terminal's size, if the screen was restored with another.
    misfit: Option<Size>,
}

/// What a session begins with.
pub(crate) struct Beginning {
    pub(crate) hello: Hello,
    pub(crate) description: Description,
    pub(crate) kept: Kept,
    pub(crate) link: Link,
    pub(crate) keyboard: Keyboard,
    pub(crate) face: Arc<Face>,
    pub(crate) changes: watch::Sender<u64>,
}

/// What ended the wait for something to do.
enum Wake {
    Asked,
    Link,
    Ahead,
    Keyboard,
    Time,
    Stop,
}

impl Session {
    pub(crate) fn new(house: Arc<House>, beginning: Beginning) -> Session {
        let Beginning { hello, description, kept, link, keyboard, face, changes } = beginning;
        let Kept { screen, transcript } = kept;
        let resizes = face.lock().resizes;
        let drained = Arc::new(Notify::new());
        let mut session = Session {
            absent: None,
            eager: Eager::new(MOMENT),
            misfit: Some(hello.size).filter(|&size| size != screen.size()),
            options: house.options(),
            saves: Saves::new(screen.offset(), hello.kept),
            journal: Journal::at(hello.kept),
            past: hello.end,
            received: hello.kept,
            answered: hello.answered,
            viewers: Viewers::new(drained),
            taps: Taps::default(),
            ahead: Ahead::default(),
            waits: Waits::default(),
            given_out: GivenOut::default(),
            marks: Marks::default(),
            mark_due: None,
            held: Vec::new(),
            updating: None,
            active: Instant::now(),
            turned: Instant::now(),
            changed: false,
            killers: Vec::new(),
            heard: 0,
            house,
            face,
            description,
            link,
            keyboard,
            screen,
            transcript,
            resizes,
            changes,
            filter: None,
        };
        session.expect_clients();
        session.recall_mark();
        session
    }

    /// Lives until the child's end, and tells the house of it.
    pub(crate) async fn run(mut self, mut inbox: mpsc::Receiver<Msg>) {
        let mut turn = Vec::with_capacity(TURN_MAX);
        let end = loop {
            let wake = self.wake(&mut inbox, &mut turn).await;
            let heard = match wake {
                Wake::Ahead => self.look_ahead().map(|()| None),
                Wake::Link => self.hear(),
                Wake::Asked | Wake::Keyboard | Wake::Time | Wake::Stop => Ok(None),
            };
            match wake {
                Wake::Asked => turn.drain(..).for_each(|msg| self.apply(msg)),
                Wake::Link | Wake::Ahead => match heard {
                    Ok(None) => {}
                    Ok(Some(status)) => break crate::End::Exited(status),
                    Err(error) => {
                        let socket = self.socket();
                        if let Err(error) = relink(&mut self.link, &socket, error).await {
                            self.complain(&error);
                            break crate::End::Lost;
                        }
                        self.ask_tap_again();
                        self.ask_tally_again();
                    }
                },
                Wake::Keyboard => self.keyboard.write(),
                Wake::Time => {}
                // The daemon ends; the holder and its session go on.
                Wake::Stop => return self.remember_mark(),
            }
            self.end_turn();
            self.mind_ahead();
            if self.heard >= LONG_TURN {
                // There may always be more to hear; others have a turn first.
                tokio::task::yield_now().await;
            }
            self.heard = 0;
        };
        self.finish(end, inbox).await;
    }

    /// Waits until there is something to do.
    async fn wake(&mut self, inbox: &mut mpsc::Receiver<Msg>, turn: &mut Vec<Msg>) -> Wake {
        let deadline = self.deadline();
        // Who wants an end of it must not wait for somebody who does not read: all that can still
        // come is what the holder has.
        let reading = !self.is_waited_for() || !self.killers.is_empty() || self.awaits_tally();
        // Nobody is answered before everything printed so far has been taken.
        let caught_up = self.is_caught_up();
        let time = async {
            match deadline {
                Some(deadline) => tokio::time::sleep_until(deadline).await,
                None => std::future::pending().await,
            }
        };
        let Session { link, ahead, keyboard, viewers, eager, .. } = self;
        let all = async {
            tokio::select! {
                count = inbox.recv_many(turn, TURN_MAX), if caught_up => {
                    if count == 0 { Wake::Stop } else { Wake::Asked }
                }
                _ = link.ready(reading) => Wake::Link,
                () = keyboard.writable() => Wake::Keyboard,
                () = viewers.drained() => Wake::Time,
                () = moment(eager) => Wake::Time,
                () = time => Wake::Time,
            }
        };
        tokio::select! {
            // Somebody waits for this. It is never always ready: a flood, and a terminal that has nothing, are
            // left to the holder.
            biased;
            () = ahead.readable(), if reading => Wake::Ahead,
            wake = all => wake,
        }
    }

    /// Whether the program waits for a client.
    fn is_waited_for(&self) -> bool {
        self.viewers.is_blocked(self.options.lag_bytes) || self.waits_for_absent()
    }

    /// Whether everything was taken that had been printed when this daemon came.
    fn is_caught_up(&self) -> bool {
        self.received >= self.past
    }

    /// When to look again if nothing happens.
    fn deadline(&self) -> Option<Instant> {
        let wanted = !self.held.is_empty() || self.viewers.is_due() || !self.waits.is_empty();
        let updating = self.updating.filter(|_| wanted);
        [
            self.viewers.due(),
            self.waits.due(self.active, self.turned),
            self.saves.due(),
            self.absent_due(),
            self.ahead.due(),
            self.mark_due,
            updating.map(|since| since + SYNC_BOUND),
        ]
        .into_iter()
        .flatten()
        // What was due then has been seen to, or waits for something that will wake us.
        .filter(|&due| due > self.turned)
        .min()
    }

    fn apply(&mut self, msg: Msg) {
        match msg {
            Msg::Type { typed, enter, room, reply } => {
                let reserved = room.num_permits();
                room.forget();
                self.type_in(typed, enter, reserved, reply);
            }
            Msg::Input { from, bytes, room } => {
                // From here on the keyboard gives it back.
                room.forget();
                self.input(from, bytes);
            }
            Msg::Tap(wanted) => self.lend_tap(wanted),
            Msg::Typed { from, at, bytes } => self.typed_by(from, at, &bytes),
            Msg::Resize(size, reply) => {
                self.resize(size);
                let _gone = reply.send(Ok(()));
            }
            Msg::Sized(subscription, size) => self.viewer_sized(subscription, size),
            Msg::Signal(signal, reply) => {
                self.link.say(&ToHolder::Signal(signal));
                let _gone = reply.send(Ok(()));
            }
            Msg::Kill(grace, reply) => {
                let grace_ms = u32::try_from(grace.as_millis()).unwrap_or(u32::MAX);
                reach(Point::KillWanted);
                self.link.say(&ToHolder::Kill { grace_ms });
                reach(Point::KillSaid);
                self.killers.push(reply);
            }
            Msg::Rename(name, reply) => {
                let _gone = reply.send(Ok(self.rename(name)));
            }
            Msg::Attach { client, attach, reply } => self.attach(client, attach, reply),
            Msg::Detach(subscription) => self.detach(subscription),
            Msg::Look(look) => self.held.push(look),
            Msg::Wait(wait, after) => {
                let mark = self.marks.find(after);
                self.waits.add(wait, mark);
                self.changed = true;
            }
            Msg::Note(name, value) => {
                self.note(&name, value);
                self.describe();
            }
            Msg::Transcribe(chars, reply) => {
                self.transcribe(chars);
                let _gone = reply.send(Ok(()));
            }
        }
    }

    /// After what happened: whoever looks, waits or watches gets to know.
    fn end_turn(&mut self) {
        let now = Instant::now();
        self.fit_terminal();
        self.updating = match (self.screen.is_synchronized(), self.updating) {
            (false, _) => None,
            (true, since) => Some(since.unwrap_or(now)),
        };
        let settled = self.updating.is_none_or(|since| now >= since + SYNC_BOUND);
        if settled {
            let texts = self.given_out.texts(self.sequence());
            self.show_looks(now, &texts);
            self.look_for_waits(now, &texts);
            self.given_out = texts.given_out(self.sequence());
            if self.changed {
                let sequence = self.sequence();
                self.changes.send_if_modified(|last| std::mem::replace(last, sequence) != sequence);
            }
            // What changed in the middle of an update is looked at when it is over.
            self.changed = false;
        }
        self.tell_tally();
        self.serve_viewers(now, settled);
        self.save_if_due(now);
        if self.mark_due.is_some_and(|due| now >= due) {
            self.remember_mark();
        }
        self.trim_journal();
        self.turned = now;
    }

    /// Shows the session to whoever asked to look.
    fn show_looks(&mut self, now: Instant, texts: &Texts) {
        let looks = std::mem::take(&mut self.held);
        let scene = self.scene(now, texts);
        looks.into_iter().for_each(|look| look(scene));
    }

    /// Grows whenever something is printed or the size changes.
    fn sequence(&self) -> u64 {
        self.screen.offset().0 + self.resizes
    }

    /// Keeps what is printed as text from now on. What was printed before is there as the screen and the
    /// history show it.
    fn transcribe(&mut self, chars: usize) {
        if self.transcript.is_some() {
            return;
        }
        let mut transcript = Transcript::new(chars);
        let rows = self.screen.first_row()..u64::MAX;
        let printed = self.screen.text_of(rows, Wrap::Joined);
        transcript.feed(printed.trim_end().replace('\n', "\r\n").as_bytes());
        self.transcript = Some(transcript);
        self.note(TRANSCRIPT, chars.to_string());
        self.describe();
    }

    /// Has something remembered with the session, by name.
    fn note(&mut self, name: &str, value: String) {
        self.description.notes.retain(|note| note.0 != name);
        self.description.notes.push((name.to_owned(), value));
    }

    fn rename(&mut self, name: String) -> String {
        let old = std::mem::replace(&mut self.description.name, name.clone());
        self.face.lock().name.clone_from(&name);
        reach(Point::RenameListed);
        self.describe();
        reach(Point::RenameDescribed);
        self.house.archive.renamed(self.description.id, name.clone());
        reach(Point::RenameStored);
        self.house.tell(HouseEvent::Renamed {
            id: self.description.id,
            old: old.clone(),
            new: name,
        });
        old
    }

    /// Gives the holder the description it will introduce the session with.
    fn describe(&mut self) {
        let blob = Bytes::from(self.description.encode());
        self.link.say(&ToHolder::Describe(blob));
    }

    /// Where the holder listens.
    fn socket(&self) -> PathBuf {
        self.options.holder_socket(self.description.id)
    }

    fn complain(&self, error: &LinkError) {
        tracing::error!(session = %self.description.id, %error, "the session is lost");
    }

    /// Tells every subscriber.
    fn publish(&mut self, event: &Event) {
        self.viewers.tell(event, self.options.lag_bytes);
    }
}

/// Ends once no echo is waited for any more; never, if none is.
async fn moment(eager: &mut Eager) {
    if !eager.is_awake() {
        return std::future::pending().await;
    }
    while eager.stays_awake(std::time::Instant::now()) {
        // Other processes first, on whose answer this waits; then our own tasks.
        std::thread::yield_now();
        tokio::task::yield_now().await;
    }
}
