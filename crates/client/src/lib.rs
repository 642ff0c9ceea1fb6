//! Connects to the daemon, calls its methods, attaches and reconnects.
