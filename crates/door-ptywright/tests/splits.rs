//! Any way of cutting what a client sends gives the same answers, in both framings.
//!
//! The engine has no sessions and no holder: what is asked here needs none.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on should say where")]

#[path = "support/idle.rs"]
mod idle;

use std::sync::Arc;

use greenroom_door::Shutdown;
use greenroom_door_ptywright::{Client, Door, Framing, Options, serve};
use greenroom_plugin::Registry;
use proptest::prelude::*;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};

fn door() -> Arc<Door> {
    let plugins = Registry::new(Vec::new()).unwrap();
    let options = Options { allow_plugin_load: false, private: true, version: "0" };
    Arc::new(Door::new(idle::engine(), plugins, options))
}

/// What the door answers to these pieces, up to the end of its side.
fn answers(framing: Framing, pieces: &[&[u8]]) -> Vec<u8> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let client = Client { framing, name: "split".to_owned(), finishes: true, socket: None };
        let serving = serve(tokio::io::split(theirs), client, door(), Shutdown::default());
        let (mut reader, mut writer) = tokio::io::split(ours);
        let speaking = async move {
            for piece in pieces {
                writer.write_all(piece).await.unwrap();
                // The other side sees this piece before the next.
                tokio::task::yield_now().await;
            }
            writer.shutdown().await.unwrap();
            let mut all = Vec::new();
            reader.read_to_end(&mut all).await.unwrap();
            all
        };
        tokio::join!(serving, speaking).1
    })
}

/// Messages of every kind, right and wrong. All but the notifications are answered, in order.
fn message() -> impl Strategy<Value = Vec<u8>> {
    let whole = prop::sample::select(&[
        r#"{"jsonrpc":"2.0","id":1,"method":"server.capabilities"}"#,
        r#"{"jsonrpc":"2.0","id":"é漢","method":"session.list","params":{}}"#,
        r#"{"jsonrpc":"2.0","id":3,"method":"session.snapshot","params":{"session":"s1"}}"#,
        r#"{"jsonrpc":"2.0","id":4,"method":"no.such"}"#,
        r#"{"jsonrpc":"2.0","method":"session.list"}"#,
        r#"{"jsonrpc":"2.0","id":null,"method":"no.such"}"#,
        r#"{"jsonrpc":"1.0","id":5,"method":"session.list"}"#,
        r#"{"jsonrpc":"2.0","id":6}"#,
        r#"[{"jsonrpc":"2.0","id":7,"method":"session.list"}]"#,
        r#"{"jsonrpc":"2.0","id":8,"method":"plugin.load","params":{"manifest_path":"x"}}"#,
        r#"{"jsonrpc":"2.0","id":9,"method":"server.set_notifications","params":{"enabled":true}}"#,
        r#"{"jsonrpc":"2.0","id":10,"method":"#,
        "   ",
        "\u{feff}{}",
    ]);
    prop_oneof![
        4 => whole.prop_map(|text| text.as_bytes().to_vec()),
        1 => prop::collection::vec(any::<u8>().prop_filter("an end of a line", |it| *it != b'\n'), 0..40),
    ]
}

fn framed(framing: Framing, messages: &[Vec<u8>]) -> Vec<u8> {
    let frame = |message: &Vec<u8>| match framing {
        Framing::Headers => greenroom_frame::headers::encode(message),
        Framing::Lines | Framing::Guess => [message.as_slice(), b"\n"].concat(),
    };
    messages.iter().flat_map(frame).collect()
}

/// Answers have no order among messages that do not depend on each other: they are compared sorted.
fn sorted(framing: Framing, bytes: &[u8]) -> Vec<Vec<u8>> {
    let mut all: Vec<Vec<u8>> = match framing {
        Framing::Headers => {
            let mut decoder = greenroom_frame::headers::HeaderDecoder::new(1 << 20);
            decoder.feed(bytes);
            std::iter::from_fn(|| decoder.next().unwrap()).map(|it| it.to_vec()).collect()
        }
        Framing::Lines | Framing::Guess => {
            bytes.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect()
        }
    };
    all.sort();
    all
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn cuts_do_not_matter(
        messages in prop::collection::vec(message(), 1..8),
        cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..12),
        framing in prop::sample::select(&[Framing::Lines, Framing::Headers]),
    ) {
        let stream = framed(framing, &messages);
        let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        cuts.extend([0, stream.len()]);
        cuts.sort_unstable();
        let pieces: Vec<&[u8]> = cuts.windows(2).map(|cut| &stream[cut[0]..cut[1]]).collect();
        let whole = answers(framing, &[&stream]);
        let cut = answers(framing, &pieces);
        prop_assert_eq!(sorted(framing, &whole), sorted(framing, &cut));
    }
}

#[test]
fn a_guess_is_the_same_however_the_beginning_is_cut() {
    let request = br#"{"jsonrpc":"2.0","id":1,"method":"session.list"}"#.to_vec();
    for framing in [Framing::Lines, Framing::Headers] {
        let stream = framed(framing, &[request.clone(), request.clone()]);
        let whole = answers(framing, &[&stream]);
        assert!(!whole.is_empty());
        for cut in 0..=stream.len() {
            let pieces = stream.split_at(cut);
            assert_eq!(answers(Framing::Guess, &[pieces.0, pieces.1]), whole, "cut at {cut}");
        }
    }
}
