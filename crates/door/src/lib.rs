//! What all doors share: listening, peer identity, limits, shutdown.
