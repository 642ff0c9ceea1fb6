//! What must outlive the daemon: ended sessions, numbers, the audit trail; in SQLite.
