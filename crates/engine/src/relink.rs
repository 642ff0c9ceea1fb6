//! A holder whose connection failed though it lives: it is met anew, or told to end.
//!
//! The system may be out of memory for one message, and a session must not be lost for that. The
//! holder has every byte, so a new connection goes on where the last one was.

use std::path::{Path, PathBuf};
use std::time::Duration;

use greenroom_proto::{FromHolder, ToHolder};

use crate::link::{Link, LinkError};
use crate::recover::knock;

/// How often a holder that is there is knocked at before its session is taken for lost.
const TRIES: u32 = 5;

/// The pause after an error of the system's, which is out of something and needs a moment.
const PAUSE: Duration = Duration::from_millis(50);

/// How long who asked for a session waits for the end of one that was made by half. It takes
/// milliseconds, unless the holder is stopped.
const UNDONE: Duration = Duration::from_secs(2);

/// Connects to the holder at a path again, if the error was the connection's and the holder lives.
pub(crate) async fn relink(
    link: &mut Link,
    path: &Path,
    error: LinkError,
) -> Result<(), LinkError> {
    let mut error = error;
    for _ in 0..TRIES {
        // What a holder says that makes no sense makes no more sense the second time.
        if !matches!(error, LinkError::Io(_) | LinkError::Gone | LinkError::Silent) {
            return Err(error);
        }
        if matches!(error, LinkError::Io(_)) {
            tokio::time::sleep(PAUSE).await;
        }
        match knock(path).await {
            Ok(Some(met)) => {
                tracing::warn!(holder = %path.display(), %error, "a holder was met anew");
                link.go_on_with(met.into_link());
                return Ok(());
            }
            Ok(None) => return Err(LinkError::Gone),
            Err((again, _)) => error = again,
        }
    }
    Err(error)
}

/// Ends what a holder may have started although nobody could be told of it.
pub(crate) async fn undo(link: Link, path: PathBuf) {
    // In a task of its own: one that is stopped is told when it goes on.
    let undone = tokio::spawn(end(link, path));
    let _late = tokio::time::timeout(UNDONE, undone).await;
}

async fn end(mut link: Link, path: PathBuf) {
    loop {
        link.say(&ToHolder::Kill { grace_ms: 0 });
        let error = loop {
            match link.wait().await {
                Ok(FromHolder::Ended(_)) => {
                    link.say(&ToHolder::Release);
                    return flush(&mut link, &path).await;
                }
                Ok(_) => {}
                Err(error) => break error,
            }
        };
        if relink(&mut link, &path, error).await.is_err() {
            return;
        }
    }
}

/// Sends what waits, over another connection if need be.
pub(crate) async fn flush(link: &mut Link, path: &Path) {
    while !link.is_flushed() {
        let flushed = match link.ready(false).await {
            Ok(_) => link.flush(),
            Err(error) => Err(error),
        };
        if let Err(error) = flushed
            && relink(link, path, error.into()).await.is_err()
        {
            return;
        }
    }
}
