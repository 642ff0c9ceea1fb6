"""A loopback stand-in for the Anthropic Messages API, for `record`: the real Claude Code talks to it.

It answers from a table, so that a recording says exactly what a test needs: the last text a user
typed is the key, and the value is a list of blocks.

    ("text", "words")            streamed line by line
    ("tool", "Bash", {...})      a tool call
    ("hold",)                    nothing more until the client hangs up or `release` is set
    ("fail", 429, {...headers})  that HTTP status instead of an answer

An entry may also be a function from the request to such a list.
After a tool result the answer is the entry `after <tool name>` of the table, or a short text.
Everything a client sends is kept in `requests`, so a recording can count what was submitted.
"""
import json
import re
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# Claude Code shows a spinner of its own rhythm; a pause per delta only has to keep their order.
DELTA_PAUSE_S = 0.01


def texts_of(content):
    """The texts of a message's content, without the reminders a client wraps around them."""
    if isinstance(content, str):
        parts = [content]
    else:
        parts = [block.get("text", "") for block in content if block.get("type") == "text"]
    parts = [re.sub(r"<system-reminder>.*?</system-reminder>", "", part, flags=re.S).strip() for part in parts]
    return [part for part in parts if part]


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request, client_address):
        """A client that hangs up in the middle is what a cancelled turn looks like."""


class Standin:
    """The server, what it is to answer and what it was sent."""

    def __init__(self, answers):
        self.answers = answers
        self.requests = []
        self.release = threading.Event()
        self.server = Server(("127.0.0.1", 0), self._handler())
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.server.server_port}"

    def turns(self):
        """The user texts of the requests that carry tools: those are turns, not side errands."""
        said = []
        for body in self.requests:
            if body.get("tools"):
                last = next(m for m in reversed(body["messages"]) if m["role"] == "user")
                said.append((texts_of(last["content"]) or [""])[-1])
        return said

    def blocks(self, body):
        users = [m for m in body.get("messages", []) if m.get("role") == "user"]
        if not users or not body.get("tools"):
            return [("text", "A short errand")]
        content = users[-1]["content"]
        results = [] if isinstance(content, str) else [b for b in content if b.get("type") == "tool_result"]
        said = (texts_of(content) or [""])[-1]
        if results and said not in self.answers:
            answer = self.answers.get("after " + self._tool_of(body, results[-1]), [("text", "Done.")])
        else:
            answer = self.answers.get(said, [("text", "You said: " + said[:120])])
        return answer(body) if callable(answer) else answer

    @staticmethod
    def _tool_of(body, result):
        for message in reversed(body["messages"]):
            if message["role"] == "assistant" and not isinstance(message["content"], str):
                for block in message["content"]:
                    if block.get("id") == result.get("tool_use_id"):
                        return block.get("name", "")
        return ""

    def _handler(standin):
        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *args):
                pass

            def send_json(self, code, value, headers=None):
                data = json.dumps(value).encode()
                self.send_response(code)
                for name, header in (headers or {}).items():
                    self.send_header(name, header)
                self.send_header("content-type", "application/json")
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def event(self, kind, value):
                data = f"event: {kind}\ndata: {json.dumps({'type': kind, **value})}\n\n".encode()
                self.wfile.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")
                self.wfile.flush()
                threading.Event().wait(DELTA_PAUSE_S)

            def do_HEAD(self):
                self.send_json(200, {})

            def do_GET(self):
                self.send_json(200, {"data": [], "has_more": False})

            def do_POST(self):
                body = json.loads(self.rfile.read(int(self.headers.get("content-length", 0))) or b"{}")
                if self.path.split("?")[0].endswith("/count_tokens"):
                    return self.send_json(200, {"input_tokens": 10})
                if not self.path.split("?")[0].endswith("/v1/messages"):
                    return self.send_json(200, {})
                standin.requests.append(body)
                blocks = standin.blocks(body)
                if blocks[0][0] == "fail":
                    kind = {401: "authentication_error", 429: "rate_limit_error"}.get(blocks[0][1], "api_error")
                    error = {"type": "error", "error": {"type": kind, "message": blocks[0][3]}}
                    return self.send_json(blocks[0][1], error, blocks[0][2])
                try:
                    self.stream(body, blocks)
                except (BrokenPipeError, ConnectionResetError):
                    pass

            def stream(self, body, blocks):
                count = len(standin.requests)
                message = {"id": f"msg_{count:04d}", "type": "message", "role": "assistant",
                           "model": body.get("model", "standin"), "content": [], "stop_reason": None,
                           "stop_sequence": None, "usage": {"input_tokens": 10, "output_tokens": 1}}
                stop = "tool_use" if blocks[-1][0] == "tool" else "end_turn"
                if not body.get("stream"):
                    message["content"] = [{"type": "text", "text": b[1]} for b in blocks if b[0] == "text"]
                    message["stop_reason"] = stop
                    return self.send_json(200, message)
                self.send_response(200)
                self.send_header("content-type", "text/event-stream")
                self.send_header("transfer-encoding", "chunked")
                self.end_headers()
                self.event("message_start", {"message": message})
                for index, block in enumerate(blocks):
                    if block[0] == "text":
                        self.event("content_block_start", {"index": index, "content_block": {"type": "text", "text": ""}})
                        for piece in re.findall(r"[^\n]*\n|[^\n]+$", block[1]):
                            delta = {"type": "text_delta", "text": piece}
                            self.event("content_block_delta", {"index": index, "delta": delta})
                        if block[-1] == "open":
                            self.wait_for_release()
                    elif block[0] == "tool":
                        call = {"type": "tool_use", "id": f"toolu_{count:04d}_{index}", "name": block[1], "input": {}}
                        self.event("content_block_start", {"index": index, "content_block": call})
                        delta = {"type": "input_json_delta", "partial_json": json.dumps(block[2])}
                        self.event("content_block_delta", {"index": index, "delta": delta})
                    else:
                        self.wait_for_release()
                        continue
                    self.event("content_block_stop", {"index": index})
                ending = {"stop_reason": stop, "stop_sequence": None}
                self.event("message_delta", {"delta": ending, "usage": {"output_tokens": 5}})
                self.event("message_stop", {})
                self.wfile.write(b"0\r\n\r\n")

            def wait_for_release(self):
                standin.release.wait(timeout=60)

        return Handler
