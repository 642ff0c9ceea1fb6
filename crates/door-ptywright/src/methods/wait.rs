//! Cancelling waits, by the names their clients gave them: one set of names for sessions and adapters.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::cancels::Target;
use crate::connection::Connection;
use crate::envelope::{Params, Request};
use crate::error::RpcError;

#[derive(Deserialize)]
#[serde(expecting = "an object")]
struct Cancel {
    wait_id: String,
}

/// The wait that a request cancels, if it does: one that came before it, so it is looked for at once.
pub(crate) fn cancels(request: &Request) -> Option<String> {
    let cancels = matches!(request.method.as_str(), "adapter.cancel_wait" | "session.cancel_wait");
    cancels.then(|| request.params.read::<Cancel>().ok()).flatten().map(|it| it.wait_id)
}

/// `adapter.cancel_wait`, and `session.cancel_wait` beyond the contract: the same, by either name.
pub(super) async fn cancel(_: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let Cancel { wait_id } = params.read()?;
    Ok(match params.cancelled.as_ref().map(|it| &it.on) {
        Some(Target::Adapter(adapter)) => {
            json!({ "cancelled": true, "adapter": adapter, "wait_id": wait_id })
        }
        Some(Target::Session(session)) => {
            json!({ "cancelled": true, "session": session, "wait_id": wait_id })
        }
        None => json!({ "cancelled": false }),
    }
    .into())
}
