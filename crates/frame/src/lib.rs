//! Framing without I/O: lines, Content-Length, typed binary frames and the JSON-RPC envelope.
