//! Sessions: links to holders, screens, events, waits, input, recovery.
