//! The requests of a connection: read, put in their order, run side by side, and seen to their end.
//!
//! Not here: how they are answered (the parent), and which runs behind which (`order`).

use std::sync::Arc;

use serde_json::Value;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio::time::Instant;

use super::{Client, Connection, LAST_DEEDS, LAST_WORDS, LOOK_AROUND, SCRIPT, lock};
use crate::answer::Answer;
use crate::aside::TURNS;
use crate::cancels::Target;
use crate::deeds::Deed;
use crate::envelope::Request;
use crate::error::RpcError;
use crate::framing::{Came, Decoder, Framing};
use crate::methods::{self, Order};
use crate::order::Unanswered;

/// How many requests of one connection may be under way. Past that it is not read until one is done.
const MAX_REQUESTS: usize = 1024;

/// How much is read at once.
const READ_BYTES: usize = 32 << 10;

/// Reads messages until the client has no more, and sees its requests to their end. Gives why it was
/// not read any further.
pub(super) async fn read(
    connection: &Arc<Connection>,
    mut reader: impl AsyncRead + Unpin,
    client: &Client,
) -> Option<String> {
    let mut decoder = Decoder::new(client.framing);
    let mut requests = JoinSet::new();
    let mut together = Vec::new();
    loop {
        loop {
            let message = match decoder.next() {
                Came::Nothing => break,
                Came::Message(message) => message,
                Came::Refused(error) => {
                    connection.respond(&Value::Null, Err(RpcError::parse(error)));
                    continue;
                }
                Came::Broken(error) => {
                    tracing::info!(client = %connection.caller.name, %error, "a connection was closed");
                    return Some(error.to_string());
                }
            };
            *lock(&connection.headers) = decoder.has_headers();
            while requests.len() >= MAX_REQUESTS {
                requests.join_next().await;
            }
            take(connection, &message, &mut requests, &mut together);
        }
        let now = Instant::now();
        together.retain(|wait: &Waiting| now - wait.at < SCRIPT && wait.is_pending());
        let buffer = decoder.buffer();
        buffer.reserve(READ_BYTES);
        tokio::select! {
            read = reader.read_buf(buffer) => match read {
                Ok(0) | Err(_) => break,
                Ok(_) => {}
            },
            Some(_) = requests.join_next() => {}
        }
        // A client that does not read its answers is not read from.
        connection.out.room().await;
    }
    if let Some(message) = decoder.rest() {
        take(connection, &message, &mut requests, &mut together);
    }
    let broken = decoder.is_inside().then(|| "the input ended inside a message".to_owned());
    connection.finished.send_replace(true);
    let rest = see_to_their_end(connection, &mut requests);
    if client.finishes {
        rest.await;
        connection.notes.settle(&connection.door).await;
    } else {
        // Who only said its last word still wants its answers; who is gone may have waits without end. What is wanted
        // done is done in any case.
        let done = async {
            let _gone = tokio::time::timeout(LAST_WORDS, client.gone()).await;
            connection.left.send_replace(true);
            let _late = tokio::time::timeout(LAST_DEEDS, connection.doing.over()).await;
        };
        tokio::select! {
            () = rest => {}
            () = done => {}
        }
    }
    broken
}

/// Waits until all requests are answered. Those that wait for nothing but a terminal that takes no more are
/// told that it is over: nobody is left who could make the program read.
async fn see_to_their_end(connection: &Connection, requests: &mut JoinSet<()>) {
    let mut moved = Instant::now();
    while !requests.is_empty() {
        if lock(&connection.queue).stuck() < requests.len() {
            moved = Instant::now();
        }
        connection.given_up.send_replace(moved.elapsed() >= LAST_WORDS);
        tokio::select! {
            _ = requests.join_next() => moved = Instant::now(),
            () = tokio::time::sleep(LOOK_AROUND) => {}
        }
    }
}

/// A wait that was sent a moment ago.
struct Waiting {
    on: String,
    at: Instant,
    /// Closed when it is answered.
    answered: watch::Receiver<()>,
}

impl Waiting {
    fn is_pending(&self) -> bool {
        self.answered.has_changed().is_ok()
    }
}

/// Starts a request. `together` are the waits that came a moment before it.
fn take(
    connection: &Arc<Connection>,
    message: &[u8],
    requests: &mut JoinSet<()>,
    together: &mut Vec<Waiting>,
) {
    // A blank line is none; a message whose header says that it is empty is one, and no JSON.
    if connection.framing() == Framing::Lines && message.iter().all(u8::is_ascii_whitespace) {
        return;
    }
    let mut request = match Request::from_wire(message) {
        Ok(request) => request,
        Err((Some(id), error)) => return connection.respond(&id, Err(error)),
        Err((None, _)) => return,
    };
    if let Some(wait_id) = methods::cancels(&request) {
        request.params.cancelled = connection.door.cancels.cancel(&wait_id);
    }
    let order = methods::order(&request);
    if let Order::On { on, types: true, .. } = &order {
        match connection.door.desks.place(&connection.key(on), message.len()) {
            Ok(place) => request.params.typing.take(place),
            Err(error) => return connection.refuse(&request, error),
        }
    }
    let before = connection.line_up(&order, &request.params.typing);
    if methods::does_something(&request) {
        request.params.doing = Deed::of(connection.doing.one());
    }
    let (answered, waiting) = watch::channel(());
    let (mut script, mut unnamed) = (Vec::new(), None);
    if let Order::On { on, waits, .. } = &order {
        let key = connection.key(on);
        let same = together.iter().filter(|wait| wait.on == key && wait.is_pending());
        script.extend(same.map(|wait| (wait.at, wait.answered.clone())));
        if let Some(wait_id) = waits {
            let target = match request.method.starts_with("adapter.") {
                true => Target::Adapter(on.clone()),
                false => Target::Session(key.clone()),
            };
            // Now, so that a cancel that comes right behind it finds it.
            match connection.door.cancels.name(wait_id.clone(), target.clone()) {
                Ok(named) => request.params.named = named,
                // In a script, who has the name may be done when it is this one's turn.
                Err(_) if !script.is_empty() => unnamed = Some((wait_id.clone(), target)),
                Err(error) => return connection.refuse(&request, error),
            }
            together.push(Waiting { on: key, at: Instant::now(), answered: waiting });
        }
    }
    let connection = Arc::clone(connection);
    let turns = connection.turns.clone();
    requests.spawn(TURNS.scope(turns, async move {
        let queued = async {
            let overtaken = before.over(&request.params.typing).await;
            for (at, answered) in script {
                connection.let_before(at, answered).await;
            }
            overtaken
        };
        let overtaken = tokio::select! {
            biased;
            () = request.params.named.cancelled() => {
                return connection.refuse(&request, RpcError::cancelled());
            }
            overtaken = queued => overtaken,
        };
        if let Some((wait_id, target)) = unnamed {
            match connection.door.cancels.name(wait_id, target) {
                Ok(named) => request.params.named = named,
                Err(error) => return connection.refuse(&request, error),
            }
        }
        if order.is_wait() {
            // A wait lets the next go on at once; everything else when it is answered.
            request.params.typing.let_go();
        }
        let busy = connection.is_busy(&order);
        let called = async {
            match overtaken && connection.is_gone(&order) {
                true => Err(RpcError::closed()),
                false => call(&connection, &request, (&order, &busy)).await,
            }
        };
        let mut left = connection.left.subscribe();
        let result = tokio::select! {
            biased;
            result = request.params.named.unless_cancelled(called) => result,
            // What was sent behind it is done now.
            _ = left.wait_for(|left| *left), if !methods::does_something(&request) => return,
        };
        if !connection.takes_answer() {
            // Who is cancelled does not wait for who does not read.
            drop(request.params.cancelled.take());
        }
        connection.out.room().await;
        if let Some(id) = request.params.asked.answer() {
            connection.respond(id, result);
        }
        drop((request, answered, busy));
    }));
}

/// Calls a method. Notifications do not wait for one that waits for the terminal, or types slowly.
async fn call(
    connection: &Arc<Connection>,
    request: &Request,
    (order, busy): (&Order, &Unanswered),
) -> Result<Answer, RpcError> {
    let calling = methods::call(connection, request);
    tokio::pin!(calling);
    if !order.types() {
        return calling.await;
    }
    tokio::select! {
        result = &mut calling => return result,
        () = request.params.typing.is_late() => busy.let_notes_go(),
    }
    let mut given_up = connection.given_up.subscribe();
    tokio::select! {
        result = calling => result,
        _ = given_up.wait_for(|given_up| *given_up) => Err(RpcError::closed()),
    }
}
