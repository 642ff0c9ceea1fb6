//! A program in a session, with its standard streams here: what `run` does.
//!
//! Every byte the program prints comes out, in order and once, whatever happens to the daemon: the
//! stream begins at the first byte and the program waits for who reads. Signals are passed on.

use std::io;
use std::time::Instant;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use bytes::Bytes;
use greenroom_client::{
    AttachOptions, Connection, Ended, ErrorKind, Event, Lag, RedrawReason, Session,
};
use greenroom_model::{Offset, Size};
use rustix::stdio::{stdin, stdout};
use rustix::termios::isatty;
use serde_json::{Value, json};
use signal_hook::consts::SIGPIPE;

use super::poll::{self, Ready, TYPED};
use crate::context::Context;
use crate::failure::{Exit, Failure, FailureKind, Result};
use crate::input::{Scanner, SevenBit};
use crate::link::Link;
use crate::terminal::{self, Caught, Raw, Signals, Writer, sequences};

/// What ends input in a terminal.
const END_OF_INPUT: u8 = 0x04;

/// How many signals a program may ignore before it is killed: whoever sends a third one means it.
const PATIENT_WITH: usize = 3;

/// How to run a program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bridge {
    /// Keeps the session when its program ended.
    pub(crate) keep: bool,
    /// The size of its terminal.
    pub(crate) size: Size,
    /// What is done with the terminal it is typed into.
    pub(crate) typing: Typing,
}

/// What is done with the terminal a program is typed into.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Typing {
    /// Keys go to the program as they are pressed, whoever reads the output; it hears of the focus.
    Keys,
    /// Keys do so only if the output is a terminal, too; else lines. News of the focus stay here.
    KeysIfShown,
}

/// Why it is over.
enum Over {
    /// The program ended.
    Ended(Ended),
    /// This signal ends it, for us.
    Signal(i32),
}

/// Bridges a session that was just made to the standard streams, and gives its exit code.
pub(crate) fn bridge(
    context: &Context<'_>,
    mut connection: Connection,
    session: &Session,
    how: Bridge,
) -> Result<Exit> {
    let target = session.exact();
    // What no person looks at comes out as it is, whatever it would do to a terminal.
    let raw = !is_shown(context);
    let options = AttachOptions {
        size: Some(how.size).filter(|_| !raw),
        raw,
        lag: Lag::Block,
        from: Some(Offset::START),
        counts: true,
        ..AttachOptions::default()
    };
    let over = match super::attach(context, &mut connection, &target, &options) {
        Ok(stream) => {
            let link = Link::new(context, connection, stream)?;
            let mut bridged = Bridged::new(context, link, how.typing)?;
            let over = bridged.run();
            bridged.close();
            over?
        }
        // It was over before we were there: what it printed is kept.
        Err(error) if error.kind() == ErrorKind::Ended => missed(context, connection, &target)?,
        Err(error) => return Err(error.into()),
    };
    if let Over::Signal(_) = over {
        tidy_up(context, "session.kill", &target);
    }
    if !how.keep {
        tidy_up(context, "session.forget", &target);
    }
    finish(context, &over)
}

/// Removes what is left of the session: twice comes to the same as once, so the next daemon is asked if this one is gone
/// before it answers. Its exit code is what was asked for: that this did not work is said, and changes nothing.
fn tidy_up(context: &Context<'_>, method: &str, target: &str) {
    let params = json!({"sessionId": target});
    match context.ask(|connection| Ok(connection.call(method, &params)?)) {
        Ok(_) => {}
        Err(failure) if failure.kind() == FailureKind::Daemon(ErrorKind::NotFound) => {}
        Err(failure) => context.output.remark(&format!("warning: {}", failure.message())),
    }
}

/// Tells a program how it ended, and gives the code to exit with.
fn finish(context: &Context<'_>, over: &Over) -> Result<Exit> {
    let status = match over {
        Over::Signal(signal) => return Ok(exit(128 + signal)),
        Over::Ended(Ended::Unknown(reason)) => {
            let message = format!("the session ended without a status: {reason}");
            return Err(Failure::new(FailureKind::Daemon(ErrorKind::Lost), message)
                .hint("`greenroom logs` may say why"));
        }
        Over::Ended(Ended::Program(status)) => status,
    };
    if context.output.is_json() {
        let (key, number) = match status {
            greenroom_model::ExitStatus::Code(code) => ("code", code),
            greenroom_model::ExitStatus::Signal(signal) => ("signal", signal),
        };
        context.output.value(&json!({"type": "ended", key: number}))?;
    }
    Ok(exit(status.shell_code()))
}

fn exit(code: i32) -> Exit {
    u8::try_from(code & 0xff).map_or(Exit::FAILED, Exit)
}

/// What a program printed that ended before it could be attached to.
fn missed(context: &Context<'_>, mut connection: Connection, target: &str) -> Result<Over> {
    let params = json!({"sessionId": target});
    let text = connection.call("session.scrollback", &params)?;
    let session = Session::from_wire(&connection.call("session.info", &params)?);
    let text = text.as_str().unwrap_or_default();
    match context.output.is_json() {
        true => context.output.value(&output_to_wire(text.as_bytes(), session.offset))?,
        false => context.output.bytes(text.as_bytes())?,
    }
    Ok(Over::Ended(session.ended.unwrap_or_else(|| Ended::Unknown("lost".into()))))
}

fn output_to_wire(bytes: &[u8], end: Offset) -> Value {
    json!({"type": "output", "base64": STANDARD.encode(bytes), "offset": end.0})
}

struct Bridged<'a> {
    context: &'a Context<'a>,
    link: Link<'a>,
    signals: Signals,
    writer: Writer,
    /// Raw mode, if a person types.
    raw: Option<Raw>,
    /// Takes out what the person's terminal says of its own accord.
    scanner: Option<(SevenBit, Scanner)>,
    /// Whether a person looks.
    is_shown: bool,
    /// Whether more may come from standard input.
    reads: bool,
    /// Whether what was typed so far is whole lines.
    at_line_start: bool,
    /// How far what was passed on goes.
    passed: Offset,
    signalled: usize,
}

impl<'a> Bridged<'a> {
    fn new(context: &'a Context<'a>, link: Link<'a>, typing: Typing) -> Result<Bridged<'a>> {
        let failed = |doing| move |error: io::Error| Failure::system(doing, &error);
        let is_shown = is_shown(context);
        let mut bridged = Bridged {
            context,
            link,
            signals: Signals::catch().map_err(failed("catching signals"))?,
            writer: Writer::stdout().map_err(failed("opening standard output"))?,
            raw: None,
            scanner: None,
            is_shown,
            reads: true,
            at_line_start: true,
            passed: Offset::START,
            signalled: 0,
        };
        if isatty(stdin()) && (is_shown || typing == Typing::Keys) {
            bridged.raw = match Raw::enter(is_shown, &bridged.signals) {
                Ok(raw) => Some(raw),
                // The program is told of it next.
                Err(error) if error.kind() == io::ErrorKind::Interrupted => None,
                Err(error) => return Err(failed("setting the terminal")(error)),
            };
        }
        if bridged.raw.is_some() && is_shown {
            let scanner = Scanner::answers(typing == Typing::Keys);
            bridged.scanner = Some((SevenBit::default(), scanner));
        }
        if is_shown {
            bridged.writer.push(sequences::KEEP_TITLE);
        }
        Ok(bridged)
    }

    fn run(&mut self) -> Result<Over> {
        let mut buffer = vec![0; TYPED];
        let mut now = Instant::now();
        loop {
            // Before waiting: the answer to attaching may have brought the first frames along.
            self.pass_on(now)?;
            match self.writer.flush() {
                Ok(()) => {}
                // Nobody reads any more: as for any program in a pipe.
                Err(error) if error.kind() == io::ErrorKind::BrokenPipe => {
                    return Ok(Over::Signal(SIGPIPE));
                }
                Err(error) => return Err(error.into()),
            }
            if let Some(how) = self.link.stream().ended().filter(|_| !self.writer.has_waiting()) {
                return Ok(Over::Ended(how.clone()));
            }
            let ready = self.wait()?;
            now = Instant::now();
            if ready.signals
                && let Some(over) = self.caught(now)?
            {
                return Ok(over);
            }
            if ready.stdin
                && let Some(count) = poll::read_stdin(&mut buffer)
            {
                self.type_in(&buffer[..count], now)?;
            }
            self.give_up(now)?;
            if ready.link {
                self.link.exchange(now)?;
            }
            if ready.cut {
                self.link.cut(now)?;
            }
            self.link.retry(now)?;
        }
    }

    fn wait(&self) -> Result<Ready> {
        let held = self.scanner.as_ref().and_then(|it| it.1.deadline());
        let deadline = poll::earliest(&[self.link.deadline(), held]);
        poll::wait(self.reads, (&self.link, None), &self.signals, &self.writer, deadline)
            .map_err(|error| Failure::system("waiting for input", &error))
    }

    fn caught(&mut self, now: Instant) -> Result<Option<Over>> {
        for signal in self.signals.take() {
            match signal {
                Caught::Resized => {
                    if let Some(size) = terminal::size().filter(|_| self.is_shown) {
                        self.link.resize(size, now)?;
                    }
                }
                Caught::Continued => {
                    if let Some(raw) = &self.raw {
                        raw.again(&self.signals).unwrap_or_default();
                    }
                }
                Caught::End(signal) => {
                    self.signalled += 1;
                    if self.signalled >= PATIENT_WITH {
                        return Ok(Some(Over::Signal(signal)));
                    }
                    let target = self.link.stream().target();
                    let params = json!({"sessionId": target, "signal": signal});
                    self.link.tell("session.signal", &params, now)?;
                }
            }
        }
        Ok(None)
    }

    /// Takes what was read; nothing at all is the end of input.
    fn type_in(&mut self, bytes: &[u8], now: Instant) -> Result<()> {
        let Some(last) = bytes.last() else {
            self.reads = false;
            return self.link.input(end_of_input(self.at_line_start), now);
        };
        self.at_line_start = matches!(last, b'\n' | b'\r');
        let Some((seven, scanner)) = &mut self.scanner else { return self.link.input(bytes, now) };
        let (mut plain, mut typed) = (Vec::new(), Vec::new());
        seven.feed(bytes, &mut plain);
        // It looks for no key that could end this.
        let _typed = scanner.feed(&plain, now, &mut typed);
        self.link.input(&typed, now)
    }

    /// Types the beginning of a sequence that nothing continued.
    fn give_up(&mut self, now: Instant) -> Result<()> {
        let Some((_, scanner)) = &mut self.scanner else { return Ok(()) };
        if scanner.deadline().is_none_or(|it| now < it) {
            return Ok(());
        }
        let mut typed = Vec::new();
        scanner.give_up(&mut typed);
        self.link.input(&typed, now)
    }

    /// Hands what came to standard output.
    fn pass_on(&mut self, now: Instant) -> Result<()> {
        while let Some(event) = self.link.next_event(now)? {
            match event {
                Event::Output { bytes, end, .. } => self.print(bytes, end),
                Event::Redraw { bytes, offset, reason, .. } => {
                    self.redraw(bytes, offset, reason);
                }
                Event::Ended { .. }
                | Event::SizeWanted { .. }
                | Event::Taken { .. }
                | Event::Notification { .. }
                | Event::Answer { .. } => {}
            }
        }
        Ok(())
    }

    fn print(&mut self, bytes: Bytes, end: Offset) {
        self.passed = end;
        match self.context.output.is_json() {
            false => self.writer.push(bytes),
            true => self.writer.push(format!("{}\n", output_to_wire(&bytes, end))),
        }
    }

    /// Draws a screen: on a terminal it repairs what is seen, in a file it has no business.
    fn redraw(&mut self, bytes: Bytes, offset: Offset, reason: RedrawReason) {
        if self.is_shown {
            return self.print(bytes, offset);
        }
        if reason != RedrawReason::Resized && offset > self.passed {
            let remark = "warning: some output was no longer kept; its last screen follows";
            self.context.output.remark(remark);
            self.print(bytes, offset);
        }
    }

    fn close(mut self) {
        if self.is_shown {
            self.writer.push(sequences::leave(self.writer.shows_alternate()));
        }
        self.writer.finish();
        drop(self.raw);
        self.link.close();
    }
}

/// Whether a person looks at what is printed.
fn is_shown(context: &Context<'_>) -> bool {
    isatty(stdout()) && !context.output.is_json()
}

/// What tells a program in a terminal that no more input comes: in the middle of a line the first
/// one only hands over the line.
fn end_of_input(at_line_start: bool) -> &'static [u8] {
    if at_line_start { &[END_OF_INPUT] } else { &[END_OF_INPUT, END_OF_INPUT] }
}
