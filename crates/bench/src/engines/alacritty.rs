//! `alacritty_terminal`: its `Term` driven by the `vte` processor it re-exports.

use alacritty_terminal::event::VoidListener;
use alacritty_terminal::grid::Dimensions;
use alacritty_terminal::index::{Column, Line};
use alacritty_terminal::term::cell::Flags;
use alacritty_terminal::term::{Config, Term};
use alacritty_terminal::vte::ansi::Processor;
use greenroom_model::Size;

use super::Engine;

pub(super) struct Alacritty {
    term: Term<VoidListener>,
    processor: Processor,
}

struct Cells(Size);

impl Dimensions for Cells {
    fn total_lines(&self) -> usize {
        self.screen_lines()
    }

    fn screen_lines(&self) -> usize {
        self.0.rows().into()
    }

    fn columns(&self) -> usize {
        self.0.cols().into()
    }
}

impl Alacritty {
    pub(super) fn new(size: Size, history: usize) -> Alacritty {
        let config = Config { scrolling_history: history, ..Config::default() };
        Alacritty {
            term: Term::new(config, &Cells(size), VoidListener),
            processor: Processor::new(),
        }
    }

    fn row(&self, line: usize) -> String {
        let mut text = String::new();
        let row = &self.term.grid()[Line(line as i32)];
        for column in 0..self.term.columns() {
            let cell = &row[Column(column)];
            if cell.flags.intersects(Flags::WIDE_CHAR_SPACER | Flags::LEADING_WIDE_CHAR_SPACER) {
                continue;
            }
            text.push(cell.c);
            text.extend(cell.zerowidth().into_iter().flatten());
        }
        text.truncate(text.trim_end().len());
        text
    }
}

impl Engine for Alacritty {
    fn feed(&mut self, bytes: &[u8]) {
        self.processor.advance(&mut self.term, bytes);
    }

    fn rows(&self) -> Vec<String> {
        (0..self.term.screen_lines()).map(|line| self.row(line)).collect()
    }
}
