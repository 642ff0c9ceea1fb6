//! Device control strings and application commands.

use super::Terminal;
use crate::parser::{StringKind, StringSequence};

/// How many capabilities one XTGETTCAP may ask for.
const MAX_CAPABILITIES: usize = 64;

/// What XTGETTCAP is told: name and value. Only these, in our own spelling, are ever sent back.
const CAPABILITIES: &[(&str, &str)] = &[
    ("TN", "xterm-256color"),
    ("Co", "256"),
    ("colors", "256"),
    ("RGB", "8/8/8"),
    ("Tc", ""),
    ("Su", ""),
    ("Smulx", "\x1b[4:%p1%dm"),
    ("Setulc", "\x1b[58:2::%p1%{65536}%/%d:%p1%{256}%/%{255}%&%d:%p1%{255}%&%d%;m"),
    ("Sync", "\x1b[?2026%?%p1%{1}%-%tl%eh%;"),
    ("Ss", "\x1b[%p1%d q"),
    ("Se", "\x1b[2 q"),
];

impl Terminal {
    pub(super) fn dispatch_string(&mut self, string: &StringSequence<'_>) {
        match string.kind {
            StringKind::Osc => self.operating_system(string),
            StringKind::Dcs => self.device_control(string),
            StringKind::Apc => self.kitty_graphics(string),
            StringKind::Other => {}
        }
    }

    fn device_control(&mut self, string: &StringSequence<'_>) {
        match (string.csi.prefix, string.csi.intermediate, string.csi.last) {
            (0, b'$', b'q') => self.report_setting(string.payload),
            (0, b'+', b'q') => self.report_capabilities(string.payload),
            (0, 0, b'q') => self.sixel(string),
            _ => {}
        }
    }

    /// XTGETTCAP: names in hexadecimal, answered one by one.
    fn report_capabilities(&mut self, asked: &[u8]) {
        for name in asked.split(|&byte| byte == b';').take(MAX_CAPABILITIES) {
            let known = CAPABILITIES
                .iter()
                .find(|(known, _)| hex(known).as_bytes().eq_ignore_ascii_case(name));
            match known {
                Some((name, "")) => self.reply(format_args!("\x1bP1+r{}\x1b\\", hex(name))),
                Some((name, value)) => {
                    self.reply(format_args!("\x1bP1+r{}={}\x1b\\", hex(name), hex(value)));
                }
                None => self.reply(format_args!("\x1bP0+r\x1b\\")),
            }
        }
    }
}

fn hex(text: &str) -> String {
    text.bytes().map(|byte| format!("{byte:02X}")).collect()
}
