//! Cancelling waits, by the names their clients gave them: one set of names for sessions and adapters.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::json;

use crate::answer::Answer;
use crate::connection::Connection;
use crate::envelope::Params;
use crate::error::RpcError;
use crate::waits::Target;

#[derive(Deserialize)]
struct Cancel {
    wait_id: String,
}

/// `adapter.cancel_wait`, and `session.cancel_wait` beyond the contract: the same, by either name.
pub(super) async fn cancel(it: &Arc<Connection>, params: &Params) -> Result<Answer, RpcError> {
    let Cancel { wait_id } = params.read()?;
    Ok(match it.door.cancels.cancel(&wait_id) {
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
