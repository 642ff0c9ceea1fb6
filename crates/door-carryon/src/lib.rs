//! The carryOn protocol, which is also our native one: frames, methods, notifications.
