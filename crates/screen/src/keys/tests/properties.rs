//! What holds for every event and every byte.

use greenroom_model::{Key, KeyAction, KeyEvent, Mods, MouseAction, MouseButton, MouseEvent};
use proptest::prelude::*;

use super::super::{
    Decoded, Input, KeyDecoder, KeyModes, KittyFlags, MouseEncoding, MouseModes, MouseTracking,
    encode_key, encode_mouse,
};
use super::{every_key, kitty};

fn key() -> impl Strategy<Value = Key> {
    let visible = any::<char>().prop_filter("controls are no keys", |c| {
        // The protocol takes a part of the private use area for keys that are no characters.
        !c.is_control() && !('\u{e000}'..='\u{f8ff}').contains(c)
    });
    prop_oneof![proptest::sample::select(every_key()), visible.prop_map(Key::Char)]
}

fn event() -> impl Strategy<Value = KeyEvent> {
    let action =
        prop_oneof![Just(KeyAction::Press), Just(KeyAction::Repeat), Just(KeyAction::Release)];
    let character = any::<Option<char>>();
    (key(), any::<u8>(), action, proptest::option::of(".{0,16}"), character, any::<Option<char>>())
        .prop_map(|(key, bits, action, text, shifted, base)| KeyEvent {
            key,
            mods: Mods::from_bits(bits),
            action,
            text,
            shifted,
            base,
        })
}

fn modes() -> impl Strategy<Value = KeyModes> {
    (any::<[bool; 5]>(), 0..4_u8, any::<u8>()).prop_map(|(set, modify_other_keys, bits)| KeyModes {
        app_cursor: set[0],
        app_keypad: set[1],
        newline: set[2],
        backarrow: set[3],
        alt_sends_esc: set[4],
        modify_other_keys,
        kitty: KittyFlags::from_bits(bits),
    })
}

/// Bytes in which sequences are likely.
fn bytes() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        any::<Vec<u8>>(),
        "\x1b[\\[\\]OP_M<?]?[0-9;:<>?$!]{0,9}[a-zA-Z~\x07\x1b\\\\]?".prop_map(String::into_bytes),
        Just(b"\x1b[200~".to_vec()),
        Just(b"\x1b[201~".to_vec()),
        Just(b"\x1b]11;".to_vec()),
        Just(vec![b'x'; 1020]),
        (event(), modes()).prop_map(|(event, modes)| encode_key(&event, modes)),
    ];
    prop::collection::vec(piece, 0..8).prop_map(|pieces| pieces.concat())
}

fn feed(bytes: &[u8], cuts: &[usize]) -> (Vec<Decoded>, KeyDecoder) {
    let mut decoder = KeyDecoder::default();
    let mut events = Vec::new();
    let mut rest = bytes;
    for cut in cuts {
        let (head, tail) = rest.split_at(cut % (rest.len() + 1));
        events.extend(decoder.feed(head));
        rest = tail;
    }
    events.extend(decoder.feed(rest));
    events.extend(decoder.flush());
    (events, decoder)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_event_is_encoded_without_harm(event in event(), modes in modes()) {
        let _bytes = encode_key(&event, modes);
    }

    #[test]
    fn any_split_gives_the_same_events(bytes in bytes(), cuts in any::<Vec<usize>>()) {
        let (whole, _) = feed(&bytes, &[]);
        let (pieces, _) = feed(&bytes, &cuts);
        prop_assert_eq!(&whole, &pieces);
        let raw: Vec<u8> = whole.into_iter().flat_map(|it| it.raw).collect();
        prop_assert!(bytes.starts_with(&raw));
        prop_assert!(bytes.len() - raw.len() < 1024 + 16, "what is held is bounded");
    }

    #[test]
    fn kitty_says_everything(event in event()) {
        let bytes = encode_key(&event, kitty(31));
        let mut decoder = KeyDecoder::default();
        let got = decoder.feed(&bytes);
        prop_assert_eq!(got.len(), 1, "{}", bytes.escape_ascii());
        let Input::Key(got) = &got[0].input else { panic!("{}", bytes.escape_ascii()) };
        prop_assert_eq!(got.action, event.action);
        let press_of_modifier = matches!(event.key, Key::Modifier(_));
        prop_assert!(press_of_modifier || got.mods.contains(event.mods));
        match (got.key, event.key) {
            // Capitals are shift and the small letter.
            (Key::Char(_), Key::Char(_)) => {}
            (got, sent) => prop_assert_eq!(got, sent),
        }
        // What was decoded is encoded as it was, so nothing was lost or added.
        prop_assert_eq!(encode_key(got, kitty(31)), bytes);
    }

    #[test]
    fn disambiguated_chords_read_back(key in key(), bits in 0..8_u8) {
        let sent = KeyEvent::new(key, Mods::from_bits(bits));
        let bytes = encode_key(&sent, kitty(1));
        let text = !bytes.starts_with(b"\x1b[");
        let mut decoder = KeyDecoder::default();
        for got in decoder.feed(&bytes) {
            let Input::Key(got) = got.input else { panic!("{}", bytes.escape_ascii()) };
            prop_assert!(text || got.same_chord(&sent), "{got} is not {sent}");
        }
    }

    #[test]
    fn legacy_function_keys_read_back(key in key(), bits in 0..16_u8) {
        let sent = KeyEvent::new(key, Mods::from_bits(bits));
        let bytes = encode_key(&sent, KeyModes::default());
        let unambiguous = matches!(
            key,
            Key::Up | Key::Down | Key::Left | Key::Right | Key::Home | Key::End | Key::PageUp
                | Key::PageDown | Key::Insert | Key::Delete | Key::F(_)
        );
        if unambiguous {
            let got = KeyDecoder::default().feed(&bytes);
            prop_assert_eq!(&got[0].input, &Input::Key(sent));
        }
    }

    #[test]
    fn pointer_events_read_back(
        button in proptest::sample::select(MouseButton::ALL.to_vec()),
        action in 0..3_u8,
        bits in 0..8_u8,
        at in any::<(u16, u16)>(),
    ) {
        let action = match action {
            0 => MouseAction::Press,
            1 => MouseAction::Release,
            _ => MouseAction::Move,
        };
        let mut sent = MouseEvent::new(action, Some(button), at.0, at.1);
        sent.mods = Mods::from_bits(bits);
        let modes = MouseModes { tracking: MouseTracking::Any, encoding: MouseEncoding::Sgr };
        if let Some(bytes) = encode_mouse(&sent, modes) {
            let got = KeyDecoder::default().feed(&bytes);
            let fits = at.0 < u16::MAX && at.1 < u16::MAX;
            prop_assert!(!fits || got[0].input == Input::Mouse(sent));
        }
    }
}
