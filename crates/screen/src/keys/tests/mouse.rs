//! What programs get to see of a pointer.

use greenroom_model::{Mods, MouseAction, MouseButton, MouseEvent};

use super::super::{MouseEncoding, MouseModes, MouseTracking, encode_mouse};

const TRACKINGS: [MouseTracking; 5] = [
    MouseTracking::Off,
    MouseTracking::X10,
    MouseTracking::Normal,
    MouseTracking::Button,
    MouseTracking::Any,
];

/// Wants an event to be reported by exactly the trackings marked: off, x10, normal, button, any.
#[track_caller]
fn check_tracking(event: MouseEvent, expected: &str) {
    let got: String = TRACKINGS
        .map(|tracking| MouseModes { tracking, encoding: MouseEncoding::Sgr })
        .map(|modes| if encode_mouse(&event, modes).is_some() { 'x' } else { '-' })
        .iter()
        .collect();
    assert_eq!(got, expected, "{event:?}");
}

#[test]
fn each_tracking_reports_what_was_asked_for() {
    let left = Some(MouseButton::Left);
    let wheel = Some(MouseButton::WheelUp);
    let event = |action, button| MouseEvent::new(action, button, 0, 0);
    check_tracking(event(MouseAction::Press, left), "-xxxx");
    check_tracking(event(MouseAction::Press, Some(MouseButton::Right)), "-xxxx");
    check_tracking(event(MouseAction::Press, wheel), "--xxx");
    check_tracking(event(MouseAction::Press, Some(MouseButton::Back)), "--xxx");
    check_tracking(event(MouseAction::Press, None), "-----");
    check_tracking(event(MouseAction::Release, left), "--xxx");
    check_tracking(event(MouseAction::Release, None), "--xxx");
    check_tracking(event(MouseAction::Release, wheel), "-----");
    check_tracking(event(MouseAction::Move, left), "---xx");
    check_tracking(event(MouseAction::Move, None), "----x");
    check_tracking(event(MouseAction::Move, wheel), "-----");
}

#[track_caller]
fn check(event: MouseEvent, encoding: MouseEncoding, expected: &[u8]) {
    let modes = MouseModes { tracking: MouseTracking::Any, encoding };
    let got = encode_mouse(&event, modes).unwrap_or_default();
    assert_eq!(got.escape_ascii().to_string(), expected.escape_ascii().to_string(), "{event:?}");
}

#[test]
fn buttons_motions_and_modifiers_add_up() {
    let codes = [0, 1, 2, 64, 65, 66, 67, 128, 129, 130, 131];
    for (button, code) in MouseButton::ALL.into_iter().zip(codes) {
        let press = MouseEvent::press(button, 4, 9);
        check(press, MouseEncoding::Sgr, format!("\x1b[<{code};5;10M").as_bytes());
        check(press, MouseEncoding::Urxvt, format!("\x1b[{};5;10M", code + 32).as_bytes());
        check(press, MouseEncoding::Default, &[0x1b, b'[', b'M', code + 32, 37, 42]);
        if !button.is_wheel() {
            let release = MouseEvent::release(button, 4, 9);
            check(release, MouseEncoding::Sgr, format!("\x1b[<{code};5;10m").as_bytes());
            check(release, MouseEncoding::Urxvt, b"\x1b[35;5;10M");
            check(release, MouseEncoding::Default, b"\x1b[M#%*");
            let drag = MouseEvent::new(MouseAction::Move, Some(button), 4, 9);
            check(drag, MouseEncoding::Sgr, format!("\x1b[<{};5;10M", code + 32).as_bytes());
        }
    }
    let hover = MouseEvent::new(MouseAction::Move, None, 0, 0);
    check(hover, MouseEncoding::Sgr, b"\x1b[<35;1;1M");
    check(hover, MouseEncoding::Default, b"\x1b[MC!!");
    for (mods, code) in [(Mods::SHIFT, 4), (Mods::ALT, 8), (Mods::CTRL, 16), (Mods::SUPER, 0)] {
        let event = MouseEvent { mods, ..MouseEvent::press(MouseButton::Left, 0, 0) };
        check(event, MouseEncoding::Sgr, format!("\x1b[<{code};1;1M").as_bytes());
        let x10 = MouseModes { tracking: MouseTracking::X10, encoding: MouseEncoding::Default };
        assert_eq!(encode_mouse(&event, x10).as_deref(), Some(&b"\x1b[M !!"[..]), "no modifiers");
    }
}

#[test]
fn far_cells_are_sent_or_not_by_encoding() {
    let at = |col, row| MouseEvent::press(MouseButton::Left, col, row);
    check(at(222, 222), MouseEncoding::Default, b"\x1b[M \xff\xff");
    check(at(223, 0), MouseEncoding::Default, b"");
    check(at(0, 223), MouseEncoding::Default, b"");
    check(at(94, 95), MouseEncoding::Utf8, "\x1b[M \x7f\u{80}".as_bytes());
    check(at(2014, 0), MouseEncoding::Utf8, "\x1b[M \u{7ff}!".as_bytes());
    check(at(2015, 0), MouseEncoding::Utf8, b"");
    check(MouseEvent::press(MouseButton::Back, 0, 0), MouseEncoding::Utf8, b"\x1b[M\xc2\xa0!!");
    check(at(u16::MAX, 9), MouseEncoding::Sgr, b"\x1b[<0;65536;10M");
    check(at(u16::MAX, 9), MouseEncoding::Urxvt, b"\x1b[32;65536;10M");
}

#[test]
fn pixels_need_a_pixel() {
    let mut event = MouseEvent::press(MouseButton::Left, 3, 3);
    check(event, MouseEncoding::SgrPixels, b"");
    event.pixel = Some((30, 61));
    check(event, MouseEncoding::SgrPixels, b"\x1b[<0;31;62M");
}
