//! The process that owns one session's terminal and outlives the daemon.
