//! How large a session is, and who decides.

use greenroom_model::Size;
use greenroom_proto::ToHolder;
use greenroom_screen::Pos;

use super::{RESIZES, Session};
use crate::event::HouseEvent;
use crate::mark::Mark;
use crate::points::{Point, reach};
use crate::{Event, SizePolicy};

impl Session {
    /// Gives the session a size: the screen, the terminal, and everybody who looks.
    pub(super) fn resize(&mut self, size: Size) {
        if size == self.screen.size() {
            return;
        }
        let renumbered = size.cols() != self.screen.size().cols();
        // A terminal says its size only if it was asked to (mode 2048).
        let replies = self.resize_screen(size);
        reach(Point::ResizeDrawn);
        // Said first: whoever dies in between, the terminal gets the size that the holder remembers.
        self.link.say(&ToHolder::Resize { size, set: true });
        reach(Point::ResizeSaid);
        self.keyboard.resize(size);
        reach(Point::ResizeSet);
        if !replies.is_empty() {
            self.keyboard.answer(&replies);
        }
        if renumbered {
            self.taps.renumber();
            self.renumber_floods();
        }
        self.changed = true;
        self.resizes += 1;
        self.note(RESIZES, self.resizes.to_string());
        self.describe();
        reach(Point::ResizeDescribed);
        self.saves.resized();
        {
            let mut face = self.face.lock();
            (face.size, face.resizes) = (size, self.resizes);
        }
        self.redraw_all();
        self.publish(&Event::Resized(size));
        self.house.tell(HouseEvent::Resized(self.description.id, size));
        reach(Point::ResizeTold);
    }

    /// Gives the screen a size, and moves along with its text what waits begin at; gives what the terminal answers.
    fn resize_screen(&mut self, size: Size) -> Vec<u8> {
        let mut marks: Vec<&mut Mark> = self.marks.iter_mut().chain(self.waits.marks()).collect();
        let mut places: Vec<Pos> = marks.iter().map(|mark| mark.pos()).collect();
        let replies = self.screen.resize_following(size, &mut places).replies().to_vec();
        for (mark, place) in marks.iter_mut().zip(places) {
            mark.moved(place, &self.screen);
        }
        replies
    }

    /// Gives a restored screen the terminal's size, which changed after the last checkpoint. Not
    /// before what was printed since then has been taken: most of it was made for the old size.
    pub(super) fn fit_terminal(&mut self) {
        if self.is_caught_up()
            && let Some(size) = self.misfit.take()
        {
            self.resize(size);
        }
    }

    /// Sizes the session as the policy has it. Who only looks never counts.
    pub(super) fn size_by_viewers(&mut self) {
        let sizing = self.viewers.all.iter().filter(|viewer| !viewer.read_only && !viewer.follows);
        let sizes = sizing.filter_map(|viewer| Some((viewer.active, viewer.terminal?)));
        let wanted = match self.options.size_policy {
            SizePolicy::Fixed => None,
            SizePolicy::Latest => sizes.filter(|it| it.0 > 0).max_by_key(|it| it.0).map(|it| it.1),
            SizePolicy::Smallest => sizes
                .map(|it| (it.1.cols(), it.1.rows()))
                .reduce(|one, two| (one.0.min(two.0), one.1.min(two.1)))
                .map(|(cols, rows)| Size::clamped(cols, rows)),
        };
        if let Some(size) = wanted {
            self.resize(size);
        }
    }
}
