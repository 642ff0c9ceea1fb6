#!/usr/bin/env python3
"""Records what a real program writes to its terminal, and what xterm.js makes of it.

    record.py NAME [--size 80x24] [--cwd FOLDER] -- COMMAND...   records, then expects
    record.py --expect [NAME...]                                 writes expected.txt anew (default: all)

A recording is a folder beside this file: `keys` (written by hand, read here), `bytes` (all the program
wrote), `size`, and `expected.txt` (what the terminal shows at each shot, by xterm.js). See README.md.

`keys` has one entry a line, each done once the program has been quiet for a while:
    TEXT              typed as it stands; \\e \\r \\n \\t \\\\ \\xHH as in ../references/inputs.txt
    @shot LABEL       what the terminal shows here goes into expected.txt
    @await TEXT       waits until the program has written TEXT since the last entry
    @screens UNTIL    shoots and presses return, again and again, until the program has written UNTIL
    @quiet SECONDS    how long quiet means from here on (0.4 at first)
    # ...             a comment
There is a last shot, `end`, if the last entry made the program write something. Then the program is killed, so that what a
program writes on leaving is recorded only if the keys make it leave.
"""
import argparse
import fcntl
import json
import os
import pathlib
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import time

HERE = pathlib.Path(__file__).resolve().parent
XTERM = HERE.parent / "references" / "xterm"
# No program recorded here takes longer to say anything.
AWAIT_TIMEOUT_S = 30
# What a terminal answers, as little as programs need to go on. A cursor report is always the same: none of
# these programs trusts it for more than the width of a character (vim).
ANSWERS = [
    (rb"\x1b\[0?c", b"\x1b[?62;22c"),
    (rb"\x1b\[>0?c", b"\x1b[>0;276;0c"),
    (rb"\x1b\[5n", b"\x1b[0n"),
    (rb"\x1b\[6n", b"\x1b[2;2R"),
    (rb"\x1b\]10;\?(\x07|\x1b\\)", b"\x1b]10;rgb:cccc/cccc/cccc\x1b\\"),
    (rb"\x1b\]11;\?(\x07|\x1b\\)", b"\x1b]11;rgb:0000/0000/0000\x1b\\"),
    (rb"\x1b\[\?(\d+)\$p", b"\x1b[?\\1;0$y"),
]


class Recorder:
    """A program on a terminal of its own, and every byte it wrote."""

    def __init__(self, command, cols, rows, cwd):
        self.written = bytearray()
        self.answered = 0
        self.quiet = 0.4
        environment = {
            "HOME": str(cwd), "USER": "demo", "LOGNAME": "demo", "HOSTNAME": "demo", "SHELL": "/bin/bash",
            "PATH": os.environ["PATH"], "TERM": "xterm-256color", "COLORTERM": "truecolor",
            "LANG": "C.UTF-8", "LC_ALL": "C.UTF-8", "PS1": "$ ",
        }
        for name in ("CLAUDE_OFFLINE_DIR", "CARGO_HOME", "RUSTUP_HOME"):
            if name in os.environ:
                environment[name] = os.environ[name]
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(cwd)
            os.execvpe(command[0], command, environment)
        fcntl.ioctl(self.fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, cols, 0, 0))

    def read(self, timeout):
        """Reads what is there within `timeout` seconds; False if nothing came."""
        ready, _, _ = select.select([self.fd], [], [], timeout)
        if not ready:
            return False
        try:
            piece = os.read(self.fd, 65536)
        except OSError:
            piece = b""
        self.written += piece
        self.answer()
        return bool(piece)

    def answer(self):
        found = []
        for question, answer in ANSWERS:
            for match in re.finditer(question, bytes(self.written[self.answered:])):
                found.append((match.start(), match.end(), match.expand(answer) if b"\\1" in answer else answer))
        for _, end, answer in sorted(found):
            os.write(self.fd, answer)
        if found:
            self.answered += max(end for _, end, _ in found)

    def settle(self):
        while self.read(self.quiet):
            pass

    def wait_for(self, text, since):
        deadline = time.monotonic() + AWAIT_TIMEOUT_S
        while plain(text.encode()) not in plain(self.written[since:]):
            if time.monotonic() > deadline:
                tail = plain(self.written[since:])[-700:].decode(errors="replace")
                sys.exit(f"timed out waiting for `{text}` in `{tail}`")
            self.read(0.1)
        self.settle()

    def kill(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)


def plain(written):
    """The text without blanks, as programs jump over them, and without the sequences they jump with."""
    return re.sub(rb"\x1b\[[0-9;?]*[A-Za-z]| ", b"", bytes(written))


def unescape(text):
    names = {"e": "\x1b", "r": "\r", "n": "\n", "t": "\t", "\\": "\\", "s": " "}
    return re.sub(r"\\(x[0-9a-fA-F]{2}|.)",
                  lambda it: chr(int(it[1][1:], 16)) if len(it[1]) > 1 else names[it[1]], text)


def record(name, size, cwd, command):
    folder = HERE / name
    cols, rows = map(int, size.split("x"))
    entries = (folder / "keys").read_text().splitlines()
    recorder = Recorder(command, cols, rows, cwd)
    shots = []
    last = 0
    typed = ""
    recorder.read(AWAIT_TIMEOUT_S)
    for entry in entries:
        if entry == "" or entry.startswith("#"):
            continue
        if entry.startswith("@await "):
            recorder.wait_for(entry.removeprefix("@await "), last)
            continue
        recorder.settle()
        if entry.startswith("@quiet "):
            recorder.quiet = float(entry.removeprefix("@quiet "))
        elif entry.startswith("@screens "):
            last = walk(recorder, entry.removeprefix("@screens "), last, shots, typed)
        elif entry.startswith("@shot "):
            shots.append((entry.removeprefix("@shot "), len(recorder.written)))
        else:
            last = len(recorder.written)
            typed = entry.removesuffix("\\r")
            os.write(recorder.fd, unescape(entry).encode())
    recorder.settle()
    recorder.kill()
    if not shots or shots[-1][1] < len(recorder.written):
        shots.append(("end", len(recorder.written)))
    refuse_private(bytes(recorder.written))
    (folder / "bytes").write_bytes(recorder.written)
    (folder / "size").write_text(size + "\n")
    (folder / "shots").write_text("".join(f"{at} {label}\n" for label, at in shots))


def walk(recorder, until, since, shots, typed):
    """Shoots every screen of a test that goes on with return; more than forty means it does not end."""
    for number in range(1, 41):
        if until.encode() in recorder.written[since:]:
            return since
        shots.append((f"{typed} screen {number}", len(recorder.written)))
        since = len(recorder.written)
        os.write(recorder.fd, b"\r")
        recorder.read(AWAIT_TIMEOUT_S)
        recorder.settle()
    sys.exit(f"never wrote `{until}`")


def refuse_private(written):
    """A recording is published: it may not tell whose machine made it."""
    here = "/" + HERE.parts[1]
    for private in {os.uname().nodename, os.path.expanduser("~"), here, "root@"} - {"demo", "/", "/tmp"}:
        at = written.find(private.encode())
        if at >= 0:
            sys.exit(f"the program wrote `{private}`: {written[max(0, at - 80):at + 80]!r}")


def expect(names, packages):
    questions = []
    for name in names:
        written = (HERE / name / "bytes").read_bytes()
        cols, rows = map(int, (HERE / name / "size").read_text().split("x"))
        for line in (HERE / name / "shots").read_text().splitlines():
            at, _, label = line.partition(" ")
            step = {"cols": cols, "rows": rows, "hex": written[:int(at)].hex()}
            questions.append({"name": f"{name} {at} {label}", "steps": [step], "graphemes": True})
    said = subprocess.run(["node", XTERM / "run.mjs", packages], check=True, text=True, stdout=subprocess.PIPE,
                          input="".join(json.dumps(it) + "\n" for it in questions)).stdout
    grids = {}
    for shown in map(json.loads, said.splitlines()):
        name, at, label = shown["name"].split(" ", 2)
        grids.setdefault(name, []).append(describe(label, at, shown))
    for name, shots in grids.items():
        (HERE / name / "expected.txt").write_text("\n".join(shots))


def describe(label, at, shown):
    """The form that `recordings.rs` gives our own screen, to the letter."""
    row, col = shown["cursor"]
    lines = [f"== {label}, after {at} bytes", f"cursor {row},{col}" + ("" if shown["visible"] else " hidden")]
    lines += [f"{index:02}|{text.rstrip(' ')}" for index, text in enumerate(shown["rows"])]
    lines += [f"{index:02}: " + ", ".join(map(run, runs)) for index, runs in enumerate(shown["styles"]) if runs]
    return "\n".join(lines) + "\n"


def run(it):
    col, length, fg, bg, attrs = it
    words = [f"{col}+{length}"]
    words += [f"{ground}={colour}" for ground, colour in (("fg", fg), ("bg", bg)) if colour != "default"]
    return " ".join(words + attrs)


def install(folder):
    for name in ("package.json", "package-lock.json", ".npmrc"):
        (pathlib.Path(folder) / name).write_bytes((XTERM / name).read_bytes())
    subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"],
                   cwd=folder, check=True, stdout=subprocess.DEVNULL)
    return folder


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME")
    parser.add_argument("--size", default="80x24")
    parser.add_argument("--cwd", default="/tmp/demo", help="where the program runs; also its home")
    parser.add_argument("--expect", action="store_true", help="record nothing, only write expected.txt")
    split = sys.argv.index("--") if "--" in sys.argv else len(sys.argv)
    args, command = parser.parse_args(sys.argv[1:split]), sys.argv[split + 1:]
    if not args.expect:
        (name,) = args.names
        pathlib.Path(args.cwd).mkdir(parents=True, exist_ok=True)
        record(name, args.size, args.cwd, command)
    names = args.names or sorted(it.parent.name for it in HERE.glob("*/bytes"))
    with tempfile.TemporaryDirectory() as folder:
        expect(names, install(folder))


if __name__ == "__main__":
    main()
