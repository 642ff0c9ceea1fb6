//! Attached sessions on one connection: output to the client, input and sizes from it.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use greenroom_engine::{Event, Info, State, Subscription, SubscriptionId, Why};
use greenroom_frame::binary::stream::{RedrawReason, output_head, redraw_head, taken_to_payload};
use greenroom_frame::binary::{encode, header, kind};
use greenroom_model::SessionId;
use serde_json::{Map, Value};
use tokio::task::AbortHandle;

use crate::connection::Connection;
use crate::wire::ended;

/// One attached session.
#[derive(Debug, Clone)]
pub(crate) struct Stream {
    pub(crate) session: SessionId,
    pub(crate) subscription: SubscriptionId,
    /// The session's id, as TerminalData frames carry it.
    pub(crate) native: String,
    /// Frames with offsets; else TerminalData.
    offsets: bool,
    task: Option<AbortHandle>,
}

/// The attached sessions of a connection, by stream id.
#[derive(Debug, Default)]
pub(crate) struct Streams(Mutex<BTreeMap<String, Stream>>);

/// A stream's id.
pub(crate) fn stream_id(subscription: SubscriptionId) -> String {
    format!("{STREAM}{}", subscription.0)
}

/// The subscription behind a stream's id.
pub(crate) fn subscription_of(stream: &str) -> Option<SubscriptionId> {
    stream.strip_prefix(STREAM)?.parse().ok().map(SubscriptionId)
}

/// What a stream's id begins with.
const STREAM: &str = "stream-";

impl Streams {
    fn all(&self) -> MutexGuard<'_, BTreeMap<String, Stream>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count(&self) -> usize {
        self.all().len()
    }

    pub(crate) fn by_stream(&self, id: &str) -> Option<Stream> {
        self.all().get(id).cloned()
    }

    /// The stream of a session that was attached last.
    pub(crate) fn by_session(&self, native: &str) -> Option<Stream> {
        self.all()
            .values()
            .filter(|it| it.native == native)
            .max_by_key(|it| it.subscription)
            .cloned()
    }

    /// The stream of a session whose frames carry no offsets.
    pub(crate) fn plain(&self, native: &str) -> Option<Stream> {
        self.all().values().find(|it| it.native == native && !it.offsets).cloned()
    }

    /// Ends a stream.
    pub(crate) fn remove(&self, id: &str) -> Option<Stream> {
        let stream = self.all().remove(id)?;
        if let Some(task) = &stream.task {
            task.abort();
        }
        Some(stream)
    }

    /// Ends all.
    pub(crate) fn clear(&self) {
        let all = std::mem::take(&mut *self.all());
        all.into_values().filter_map(|stream| stream.task).for_each(|task| task.abort());
    }
}

/// Starts to carry a subscription's events to the client.
pub(crate) fn start(
    connection: &Arc<Connection>,
    subscription: Subscription,
    native: String,
    offsets: bool,
) {
    let id = stream_id(subscription.id);
    let mut stream = Stream {
        session: subscription.info.id,
        subscription: subscription.id,
        native,
        offsets,
        task: None,
    };
    let task = carry(Arc::clone(connection), subscription, id.clone(), stream.clone());
    let mut all = connection.streams.all();
    stream.task = Some(tokio::spawn(task).abort_handle());
    all.insert(id, stream);
}

async fn carry(
    connection: Arc<Connection>,
    mut subscription: Subscription,
    id: String,
    stream: Stream,
) {
    while let Some(event) = subscription.next().await {
        let last = matches!(event, Event::Ended(_));
        connection.out.room().await;
        if let Some(frames) = to_wire(event, &id, &stream) {
            connection.out.push(frames);
        }
        if last {
            // The session stays until nothing of it can get lost with the daemon any more.
            connection.out.flushed().await;
            break;
        }
    }
    connection.streams.all().remove(&id);
}

/// An event as the bytes of a frame, head and body apart. Most events are told by notifications.
fn to_wire(event: Event, id: &str, stream: &Stream) -> Option<[Bytes; 2]> {
    let (head, body) = match event {
        Event::Output { end, bytes } if stream.offsets => {
            (output_head(id, end.0, bytes.len()), bytes)
        }
        Event::Redraw { at, why, bytes } if stream.offsets => {
            (redraw_head(id, at.0, reason(why), bytes.len()), bytes)
        }
        Event::Output { bytes, .. } | Event::Redraw { bytes, .. } => {
            (header(kind::TERMINAL_DATA, &stream.native, bytes.len()), bytes)
        }
        Event::Taken(taken) if stream.offsets => {
            (encode(kind::TAKEN, id, &taken_to_payload(taken)), Bytes::new())
        }
        Event::Ended(end) if stream.offsets => {
            let payload = Value::from(ended(end)).to_string();
            (encode(kind::ENDED, id, payload.as_bytes()), Bytes::new())
        }
        Event::Ended(_) => (encode(kind::STREAM_CLOSE, &stream.native, b""), Bytes::new()),
        Event::Title(_)
        | Event::Cwd(_)
        | Event::Bell
        | Event::Mark(_)
        | Event::Notification { .. }
        | Event::Progress(_)
        | Event::Taken(_)
        | Event::Resized(_) => return None,
    };
    // No id and no event comes near the bounds of a frame.
    Some([Bytes::from(head.ok()?), body])
}

/// A session's last screen and its end, without offsets.
pub(crate) fn last_screen(native: &str, screen: Vec<u8>) -> Vec<Bytes> {
    // No screen comes near the bounds of a frame.
    let shown = header(kind::TERMINAL_DATA, native, screen.len());
    let close = encode(kind::STREAM_CLOSE, native, b"");
    let shown = shown.map(|head| [Bytes::from(head), Bytes::from(screen)]);
    shown.into_iter().flatten().chain(close.ok().map(Bytes::from)).collect()
}

/// The same with offsets, on the stream that is none.
pub(crate) fn last_redraw(info: &Info, screen: Vec<u8>) -> Vec<Bytes> {
    let id = stream_id(SubscriptionId::default());
    // The same here.
    let head = redraw_head(&id, info.offset.0, RedrawReason::Attached, screen.len());
    let shown = head.map(|head| [Bytes::from(head), Bytes::from(screen)]);
    let how = match info.state {
        State::Ended(end, _) => ended(end),
        State::Running => Map::new(),
    };
    let end = encode(kind::ENDED, &id, Value::from(how).to_string().as_bytes());
    shown.into_iter().flatten().chain(end.ok().map(Bytes::from)).collect()
}

fn reason(why: Why) -> RedrawReason {
    match why {
        Why::Attached => RedrawReason::Attached,
        Why::Lagged => RedrawReason::Lagged,
        Why::Resized => RedrawReason::Resized,
        Why::Fitted => RedrawReason::Fitted,
    }
}
