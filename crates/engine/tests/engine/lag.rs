//! Clients that do not keep up.

use greenroom_engine::{Attach, Event, Lag, Why};

use greenroom_model::Offset;
use greenroom_screen::{Screen, Wrap};

use crate::fake::{Begin, ID, Viewer, World, next, size};

/// Numbered lines, more than the way to a client may hold.
fn flood() -> String {
    (0..20_000).map(|number| format!("line {number}\r\n")).collect()
}

#[tokio::test]
async fn a_slow_client_misses_bytes_and_gets_the_screen() {
    let mut world = World::new().await;
    let attach = Attach { terminal: Some(size()), ..Attach::default() };
    let mut slow = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let text = flood();
    // The socket to the fake holder is small: what is printed is taken in meanwhile.
    for piece in text.as_bytes().chunks(32 << 10) {
        world.prints(piece);
        world.shown().await;
    }
    world.prints("the end");
    world.shown().await;
    let mut viewer = Viewer::new(size());
    let mut lagged = 0;
    while !viewer.screen.text().contains("the end") {
        let event = next(&mut slow).await;
        lagged += usize::from(matches!(event, Event::Redraw { why: Why::Lagged, .. }));
        viewer.take(&event);
    }
    assert!(lagged >= 1);
    assert!(viewer.bytes.len() < text.len());
    assert_eq!(viewer.screen.text(), world.shown().await);
}

#[tokio::test]
async fn who_sees_pictures_of_a_flood_gets_the_lines_above_them_when_it_is_over() {
    const ABOVE: usize = 300;
    let mut world = World::new().await;
    let (history, terminal) = (ABOVE, Some(size()));
    let attach = Attach { terminal, history, pictures: true, ..Attach::default() };
    let mut seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let mut viewer = Viewer::new(size());
    for piece in flood().as_bytes().chunks(32 << 10) {
        world.prints(piece);
        world.shown().await;
    }
    world.prints("the end");
    viewer.until(&mut seen, "the end").await;
    // A picture first, perhaps; then, when nothing more comes, the lines.
    let last = |screen: &Screen| {
        let top = screen.top_row();
        let from = top.saturating_sub(ABOVE as u64).max(screen.first_row());
        screen.text_of(from..top, Wrap::Rows)
    };
    let above = world.engine.look(ID, move |screen| last(screen)).await.unwrap();
    while last(&viewer.screen) != above {
        viewer.take(&next(&mut seen).await);
    }
    assert!(viewer.bytes.len() < flood().len());
    // From here on it gets what is printed as it is.
    let redraws = viewer.redraws;
    world.prints(" of it");
    viewer.until(&mut seen, "the end of it").await;
    assert_eq!(viewer.redraws, redraws);
}

#[tokio::test]
async fn who_missed_little_of_a_flood_misses_nothing() {
    let mut world = World::new().await;
    let attach =
        Attach { terminal: Some(size()), history: 100_000, pictures: true, ..Attach::default() };
    let mut seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let mut viewer = Viewer::new(size());
    // Few enough for the history, and more than the way to a client may hold.
    let red = "\x1b[31m".repeat(30);
    let lines: String = (0..900).map(|number| format!("{red}line {number}\r\n")).collect();
    world.prints(&lines);
    world.shown().await;
    world.prints("the end");
    viewer.until(&mut seen, "the end").await;
    let all = |screen: &Screen| screen.text_of(screen.first_row()..u64::MAX, Wrap::Rows);
    let expected = world.engine.look(ID, move |screen| all(screen)).await.unwrap();
    while all(&viewer.screen) != expected {
        viewer.take(&next(&mut seen).await);
    }
}

#[tokio::test]
async fn a_client_that_blocks_gets_every_byte() {
    let mut world = World::new().await;
    let attach = Attach { terminal: Some(size()), lag: Lag::Block, ..Attach::default() };
    let mut slow = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    let text = flood();
    let mut viewer = Viewer::new(size());
    let reading = tokio::spawn(async move {
        viewer.until(&mut slow, "the end").await;
        viewer
    });
    for piece in text.as_bytes().chunks(16 << 10) {
        world.prints(piece);
        world.shown().await;
    }
    world.prints("the end");
    let viewer = reading.await.unwrap();
    assert_eq!(viewer.bytes.len(), text.len() + "the end".len());
    assert!(viewer.bytes.starts_with(text.as_bytes()));
    assert_eq!(viewer.redraws, 1);
}

#[tokio::test]
async fn what_a_client_missed_while_it_was_cut_off_is_not_lag() {
    let text = flood();
    let note = |name: &str| (name.to_owned(), "1".to_owned());
    let notes = vec![note("attached"), note("blocking")];
    let log = text.clone().into_bytes();
    let mut world = World::begin(Begin { log, notes, ..Begin::default() }).await;
    let from = Some(Offset::START);
    let attach = Attach { terminal: Some(size()), from, lag: Lag::Keep, ..Attach::default() };
    let mut seen = world.engine.attach(&world.caller, ID, attach).await.unwrap();
    // It has taken nothing yet, and is behind by all of it.
    world.prints("more, ");
    world.shown().await;
    world.prints("the end");
    world.shown().await;
    let mut viewer = Viewer::new(size());
    viewer.until(&mut seen, "the end").await;
    assert_eq!(viewer.bytes.len(), text.len() + "more, the end".len());
    assert_eq!(viewer.redraws, 0);
}
