//! carryOn's terminal: bytes of one session over a WebSocket at any path.

use std::sync::Arc;

use axum::extract::Request;
use axum::http::StatusCode;
use axum::response::Response;

use crate::listen::Site;
use crate::routes;

pub(crate) async fn raw(_site: Arc<Site>, _request: Request) -> Response {
    routes::refusal(StatusCode::BAD_REQUEST, "missing session")
}
