//! What tests need: sandboxed homes and daemons, named waits, transcripts.
