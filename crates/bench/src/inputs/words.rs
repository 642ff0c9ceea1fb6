//! What the inputs are made of: words, names, scripts and colours.

use super::Random;

pub(super) const PLAIN: &[&str] = &[
    "a",
    "the",
    "of",
    "to",
    "in",
    "for",
    "with",
    "request",
    "session",
    "closed",
    "opened",
    "connection",
    "timeout",
    "after",
    "retry",
    "worker",
    "started",
    "finished",
    "bytes",
    "from",
    "client",
    "cache",
    "miss",
    "hit",
    "queue",
    "length",
    "is",
    "now",
    "reading",
    "config",
    "file",
    "flushed",
    "journal",
    "offset",
    "peer",
    "refused",
    "accepted",
    "health",
    "check",
    "passed",
];

pub(super) const MODULES: &[&str] =
    &["http::server", "db::pool", "auth", "scheduler", "net::tls", "holder::link", "journal", "gc"];

pub(super) const FILES: &[&str] = &[
    "src",
    "target",
    "Cargo.toml",
    "README.md",
    "main.rs",
    "lib.rs",
    "build.sh",
    "logo.png",
    "notes.txt",
    "archive.tar.gz",
    "docs",
    "tests",
    "node_modules",
    "index.html",
    "run.log",
];

pub(super) const CODE: &[&str] = &[
    "fn",
    "let",
    "mut",
    "self",
    "match",
    "impl",
    "for",
    "return",
    "Some(value)",
    "Ok(())",
    "=>",
    "{",
    "}",
    "();",
    "vec![1, 2]",
    "\"text\"",
    "0x1f",
    "// why",
    "usize",
    "=",
    "&str",
    "if",
];

pub(super) const CJK: &[&str] = &[
    "終端機",
    "の画面",
    "文字列を",
    "処理する",
    "日本語",
    "漢字と",
    "かな",
    "カタカナ",
    "中文输出",
    "编译完成",
    "错误",
    "警告",
    "测试通过",
    "会话",
    "연결",
    "되었습니다",
    "한국어",
    "화면",
    "、",
    "。",
];

pub(super) const LATIN: &[&str] = &[
    "größer",
    "Straße",
    "naïve",
    "façade",
    "élève",
    "señor",
    "mañana",
    "ångström",
    "žluťoučký",
    "kůň",
    "część",
    "łódź",
    "çok",
    "güzel",
    "cafe\u{301}",
    "o\u{308}ffnen",
    "und",
    "de",
    "que",
];

pub(super) const CYRILLIC: &[&str] = &[
    "ошибка",
    "соединение",
    "закрыто",
    "файл",
    "строка",
    "и",
    "в",
    "сессия",
    "терминал",
    "готово",
];

/// One code point, two, and the long ones: variation selectors, skin tones, flags, joiners.
pub(super) const EMOJI: &[&str] = &[
    "🎉",
    "🚀",
    "✅",
    "🔥",
    "😀",
    "📦",
    "❤\u{fe0f}",
    "⚠\u{fe0f}",
    "👍🏽",
    "🤷🏿",
    "🇩🇪",
    "🇯🇵",
    "👩\u{200d}💻",
    "👨\u{200d}👩\u{200d}👧\u{200d}👦",
    "🏳\u{fe0f}\u{200d}🌈",
];

/// What an editor's theme has: a few direct colours used over and over.
pub(super) const THEME: &[&str] = &[
    "249;38;114",
    "166;226;46",
    "253;151;31",
    "102;217;239",
    "174;129;255",
    "230;219;116",
    "117;113;94",
    "248;248;242",
    "203;75;22",
    "38;139;210",
    "133;153;0",
    "181;137;0",
];

/// Adds words, with spaces between them, until `columns` ASCII columns are reached or passed.
pub(super) fn push_words(out: &mut String, random: &mut Random, from: &[&str], columns: usize) {
    let end = out.len() + columns;
    while out.len() < end {
        out.push_str(random.pick(from));
        out.push(' ');
    }
}

/// Adds words that take `columns` columns to the byte. The words must be ASCII.
pub(super) fn push_exactly(out: &mut String, random: &mut Random, from: &[&str], columns: usize) {
    let end = out.len() + columns;
    push_words(out, random, from, columns);
    out.truncate(end);
}
