//! Pseudo-terminals and the processes on them: open, spawn, resize, signal, reap.
