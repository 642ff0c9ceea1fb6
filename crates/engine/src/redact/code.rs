//! What stands where a secret could stand, but is none: source code, placeholders, prose.
//!
//! These are guesses. They lean towards "a secret": a word too much is replaced rather than a
//! password shown.

use super::assigned::is_format;

/// Types, in the languages people print most.
const TYPES: &[&str] = &[
    "*const", "*mut", "any", "bool", "boolean", "bytes", "char", "float", "int", "integer",
    "number", "object", "str", "string", "text", "unknown", "usize", "varchar", "void",
];

/// What Python has instead of a type. In small letters it is a word like others.
const FINAL: &str = "Final";

/// Words that follow `token:` or `secret =` in messages and in code.
const WORDS: &[&str] = &[
    "a",
    "an",
    "and",
    "await",
    "bad",
    "cannot",
    "compat",
    "could",
    "disabled",
    "does",
    "empty",
    "enabled",
    "expected",
    "expired",
    "failed",
    "files",
    "for",
    "found",
    "function",
    "has",
    "hidden",
    "identifier",
    "if",
    "in",
    "incorrect",
    "invalid",
    "is",
    "it",
    "lambda",
    "loop",
    "malformed",
    "match",
    "missing",
    "must",
    "new",
    "no",
    "not",
    "of",
    "ok",
    "optional",
    "or",
    "please",
    "redacted",
    "required",
    "self",
    "set",
    "should",
    "the",
    "this",
    "to",
    "try",
    "unauthorized",
    "unexpected",
    "unsafe",
    "unset",
    "use",
    "was",
    "wrong",
    "yes",
    "you",
    "your",
];

/// Words that follow the name of an option in prose and in manuals, besides those of messages. Words that
/// people take for passwords are not among them.
#[rustfmt::skip]
const SAID_OF_OPTIONS: &[&str] = &[
    "above", "accepts", "added", "after", "again", "allows", "alone", "already", "also", "are",
    "arg", "argument", "arguments", "as", "asks", "at", "be", "because", "been", "before", "below",
    "but", "by", "called", "can", "causes", "changed", "changes", "command", "defaults",
    "description", "did", "do", "enables", "ends", "expects", "flag", "flags", "from", "gets",
    "given", "gives", "goes", "had", "have", "here", "how", "ignored", "implies", "instead", "into",
    "itself", "lets", "like", "makes", "may", "maybe", "means", "might", "moved", "needs", "never",
    "nor", "now", "on", "once", "only", "option", "options", "otherwise", "overrides", "parameter",
    "parameters", "passed", "passes", "plus", "prints", "prompts", "provided", "reads", "receives",
    "rejects", "removed", "replaces", "requires", "respectively", "same", "sends", "sets", "shall",
    "shows", "since", "so", "specifies", "still", "supplied", "switch", "takes", "tells", "than",
    "that", "them", "then", "there", "they", "together", "too", "unless", "until", "used", "uses",
    "value", "values", "via", "we", "what", "when", "where", "which", "while", "will", "wins",
    "with", "within", "without", "works", "would",
];

/// What manuals call a value, in capitals.
const CALLED: &[&str] = &[
    "ARG", "FILE", "KEY", "NAME", "PASS", "PASSWD", "PASSWORD", "PATH", "PW", "PWD", "SECRET",
    "STR", "TEXT", "TOKEN", "VAL", "VALUE", "WORD",
];

/// Values that say that there is none.
const NOTHING: &[&str] = &["null", "none", "nil", "true", "false", "undefined"];

/// Where files are.
const ROOTS: &[&str] = &[
    "~/", "./", "../", "/dev/", "/etc/", "/home/", "/mnt/", "/opt/", "/proc/", "/root/", "/run/",
    "/srv/", "/tmp/", "/usr/", "/var/", "/Users/",
];

/// Whether something else will be put here, or a secret is already hidden.
pub(super) fn is_placeholder(value: &str) -> bool {
    let word = value.trim_end_matches([';', ')', '.', '>', ':']);
    is_one_of(NOTHING, word) || is_variable(value) || is_mask(value) || is_format(value)
}

fn is_variable(value: &str) -> bool {
    let bytes = value.as_bytes();
    let is_name = |name: &str| {
        let mut bytes = name.bytes();
        bytes.next().is_some_and(|it| it.is_ascii_alphabetic() || it == b'_')
            && bytes.all(|it| it.is_ascii_alphanumeric() || it == b'_')
    };
    match bytes {
        [b'<', next, ..] => next.is_ascii_alphabetic(),
        [b'$', b'{' | b'(', ..] | [b'{', b'{', ..] => true,
        [b'$', ..] => is_name(value[1..].trim_end_matches([';', ')'])),
        [b'%', b's'] | [b'{', b'}'] | [b'{'] | [b'['] => true,
        [b'%', .., b'%'] => is_name(&value[1..value.len() - 1]),
        // A value is cut before a closing brace, so there may be none.
        [b'{', ..] => is_name(value[1..].trim_end_matches('}')),
        _ => false,
    }
}

fn is_mask(value: &str) -> bool {
    let Some(first) = value.chars().next() else { return false };
    let least = if matches!(first, 'x' | 'X') { 3 } else { 1 };
    "*•●·.…#_-xX".contains(first)
        && value.chars().all(|it| it == first)
        && value.chars().count() >= least
}

/// Whether it names a file.
pub(super) fn is_path(value: &str) -> bool {
    ROOTS.iter().any(|root| value.starts_with(root))
}

/// Whether it begins as a path of names or a type with parameters, or as a call, where those are likely.
///
/// It says yes as soon as it can, and then stays with it however the value goes on.
pub(super) fn is_expression(value: &str, is_tight: bool) -> bool {
    let is_part = |it: char| it.is_ascii_alphanumeric() || matches!(it, '_' | '.' | ':');
    let name = value.len() - value.trim_start_matches(is_part).len();
    let (name, rest) = value.split_at(name);
    if !name.starts_with(|it: char| it.is_ascii_alphabetic() || matches!(it, '_' | ':')) {
        return !is_tight && value.starts_with(['&', '(', '|', '{', '[']);
    }
    let is_call = !is_tight && is_called(name, rest);
    let is_generic = rest.starts_with(['<', '[']) && !is_tight;
    is_call || is_generic || name.contains("::")
}

/// Whether it is a call, all of it or up to its first argument, behind which `next` comes.
///
/// For where everything is a value: passwords may have brackets, too, but seldom such.
pub(super) fn is_call(value: &str, next: Option<&u8>) -> bool {
    let name = value.find(['(', '!']).unwrap_or(value.len());
    let (name, rest) = value.split_at(name);
    let goes_on = next.is_some_and(|next| b",'\"]}".contains(next));
    let is_closed = rest.rsplit_once(')').is_some_and(|(_, behind)| {
        behind.is_empty()
            || behind.starts_with(['.', ';', ':', '?', '!', '[', '/', '|', '-', '+', '*', '%', '`'])
    });
    is_called(name, rest) && (is_closed || rest.ends_with('(') || goes_on)
}

/// Whether `name` and what follows it are how a function or a macro is called.
fn is_called(name: &str, rest: &str) -> bool {
    (rest.starts_with('(') || rest.starts_with("!("))
        && name.starts_with(|it: char| it.is_ascii_alphabetic() || it == '_')
        && name.split(['.', ':', '_']).all(is_part_of_name)
}

/// Whether it may be a part of a function's name: a word, or one with a number such as `sha256` and `b64decode`.
fn is_part_of_name(part: &str) -> bool {
    let digits = part.bytes().filter(u8::is_ascii_digit).count();
    let letters = part.bytes().filter(u8::is_ascii_alphabetic).count();
    let word = part.trim_end_matches(|it: char| it.is_ascii_digit());
    let is_numbered = word.bytes().all(|it| it.is_ascii_lowercase());
    letters + digits == part.len()
        && (digits == 0 || is_numbered || (letters >= 5 && letters >= 2 * digits))
}

/// Whether it is a word of a message, a type or a name, such as the one it is the value of.
///
/// For where those are likely.
pub(super) fn is_word(value: &str, name: &str) -> bool {
    let word = value.split(['|', ';', ')', '<', '>', '=', '?', '!']).next().unwrap_or(value);
    let word = word.trim_end_matches(['.', ':']);
    let digits = word.len() - word.trim_start_matches(|it: char| it.is_ascii_digit()).len();
    let is_typed = digits > 0 && is_number_type(&word[digits..]);
    let is_count = is_typed || (word.len() <= 3 && digits == word.len());
    let is_sign = !value.chars().any(char::is_alphanumeric);
    is_count
        || is_sign
        || word.eq_ignore_ascii_case(name)
        || is_one_of(TYPES, word)
        || word == FINAL
        || is_one_of(WORDS, word)
        || is_number_type(word)
        || is_type(word)
        || is_constant(word)
        || is_field(word, name)
        || is_named_alike(word, name)
        || (!is_password(name) && (is_capitalized(word) || is_sized_type(word) || is_kind(word)))
}

/// Whether it is what a manual or a sentence has behind the name of an option, rather than a value.
///
/// Nobody prints source code there, and so any other word is a value.
pub(super) fn is_said_of_options(value: &str, name: &str) -> bool {
    let word = value.split(['|', ';', ')', '=', '?', '!']).next().unwrap_or(value);
    let word = word.trim_matches(['.', ':', '`', '*']);
    let is_number = !is_password(name) && word.bytes().all(|it| it.is_ascii_digit());
    // No shell takes these for the beginning of a value.
    let is_aside = value.starts_with(['(', '[', '|', '`']);
    let is_sign = !value.chars().any(char::is_alphanumeric);
    is_number
        || is_aside
        || is_sign
        || CALLED.contains(&word)
        || is_constant(word)
        || word.eq_ignore_ascii_case(name)
        || is_one_of(TYPES, word)
        || is_one_of(WORDS, word)
        || is_one_of(SAID_OF_OPTIONS, word)
        || is_named_alike(word, name)
}

/// Whether it is the name of a thing of the same kind, as in `"output_token": "NextToken"`.
///
/// Not so for passwords: some are called `my_password`.
pub(super) fn is_named_alike(value: &str, name: &str) -> bool {
    let Some(cut) = value.len().checked_sub(name.len()).filter(|it| value.is_char_boundary(*it))
    else {
        return false;
    };
    !is_password(name)
        && value[cut..].eq_ignore_ascii_case(name)
        && value.bytes().all(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'-'))
}

/// Whether people think of the value themselves, so that it may look like any word.
pub(super) fn is_password(name: &str) -> bool {
    let name = name.trim_start_matches('_');
    name.get(..4).is_some_and(|it| it.eq_ignore_ascii_case("pass"))
}

/// Whether it is a type of numbers: `u32`, `__u64`, `c_int`.
fn is_number_type(word: &str) -> bool {
    let word = word.trim_start_matches('_');
    let is_sized = word
        .strip_prefix(['u', 'i', 'f'])
        .is_some_and(|bits| ["8", "16", "32", "64", "128", "size"].contains(&bits));
    is_sized
        || word.strip_prefix("c_").is_some_and(|it| it.bytes().all(|it| it.is_ascii_lowercase()))
}

/// Whether it is written as constants are: `WIN32_ERROR`.
fn is_constant(word: &str) -> bool {
    let letters = word.bytes().filter(u8::is_ascii_uppercase).count();
    let others = word.bytes().filter(|it| it.is_ascii_digit() || *it == b'_').count();
    word.contains('_') && letters > others && letters + others == word.len()
}

/// Whether it is one word with a capital in front, as sentences and variants begin.
fn is_capitalized(word: &str) -> bool {
    word.starts_with(|it: char| it.is_ascii_uppercase())
        && word.bytes().skip(1).all(|it| it.is_ascii_lowercase() || it == b'.')
}

/// Whether it is written as types are: `SecretString`.
fn is_type(word: &str) -> bool {
    let humps = word.bytes().filter(u8::is_ascii_uppercase).count();
    let small = word.bytes().filter(u8::is_ascii_lowercase).count();
    word.starts_with(|it: char| it.is_ascii_uppercase())
        && humps >= 2
        && small > humps
        && humps + small == word.len()
}

/// Whether it is a type that ends in how many bits it has: `NonZeroU64`.
fn is_sized_type(word: &str) -> bool {
    let name = word.trim_end_matches(|it: char| it.is_ascii_digit());
    ["8", "16", "32", "64", "128", "256"].contains(&&word[name.len()..])
        && name.strip_suffix(['U', 'I', 'F']).is_some_and(|it| is_type(it) || is_capitalized(it))
}

/// Whether it names a kind of thing, by who defined it: `kubernetes.io/tls`.
fn is_kind(word: &str) -> bool {
    let is_plain = |it: &str| {
        !it.is_empty() && it.bytes().all(|it| it.is_ascii_lowercase() || b".-".contains(&it))
    };
    word.split_once('/')
        .is_some_and(|(domain, kind)| domain.contains('.') && is_plain(domain) && is_plain(kind))
}

/// Whether it is a colour, as what colours source code has for its tokens.
pub(super) fn is_color(value: &str) -> bool {
    let hex = value.strip_prefix('#').unwrap_or_default();
    matches!(hex.len(), 3 | 6 | 8) && hex.bytes().all(|it| it.is_ascii_hexdigit())
}

/// Whether it is how many tokens there may be, as in `max_token=4096`.
pub(super) fn is_amount(value: &str, whole_name: &str) -> bool {
    const AMOUNTS: &[&str] = &["max", "min", "num", "total", "n", "count"];
    let is_amount = whole_name.split(['_', '-']).any(|part| is_one_of(AMOUNTS, part));
    is_amount && value.bytes().all(|it| it.is_ascii_digit())
}

/// Whether it is written as fields are: `self.token`, and for tokens also `Name.Builtin`.
fn is_field(word: &str, name: &str) -> bool {
    word.contains('.')
        && word.starts_with(|it: char| it.is_ascii_lowercase() || !is_password(name))
        && word.bytes().all(|it| it.is_ascii_alphabetic() || matches!(it, b'_' | b'.'))
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.iter().any(|it| it.eq_ignore_ascii_case(word))
}
