//! `rio-vt`: its `Crosswords` driven by its own processor, as its quick start shows.

use greenroom_model::Size;
use rio_vt::ansi::CursorShape;
use rio_vt::crosswords::pos::{Column, Line, Pos};
use rio_vt::crosswords::{Crosswords, CrosswordsSize};
use rio_vt::event::{VoidListener, WindowId};
use rio_vt::performer::handler::Processor;

use super::Engine;

pub(super) struct Rio {
    term: Crosswords<VoidListener>,
    processor: Processor,
}

impl Rio {
    pub(super) fn new(size: Size, history: usize) -> Rio {
        let dimensions = CrosswordsSize::new(size.cols().into(), size.rows().into());
        let window = WindowId::from(0);
        let route = 0;
        Rio {
            term: Crosswords::new(
                dimensions,
                CursorShape::Block,
                VoidListener,
                window,
                route,
                history,
            ),
            processor: Processor::default(),
        }
    }

    fn row(&self, line: usize) -> String {
        let grid = &self.term.grid;
        let mut text = String::new();
        for column in 0..self.term.columns() {
            let pos = Pos::new(Line(line as i32), Column(column));
            if grid[pos].is_spacer() || grid[pos].is_leading_spacer() {
                continue;
            }
            // A cell never written to holds NUL.
            text.extend(grid.cell_text(pos).map(|it| if it == '\0' { ' ' } else { it }));
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl Engine for Rio {
    fn feed(&mut self, bytes: &[u8]) {
        self.processor.advance(&mut self.term, bytes);
    }

    fn rows(&self) -> Vec<String> {
        (0..self.term.screen_lines()).map(|line| self.row(line)).collect()
    }
}
