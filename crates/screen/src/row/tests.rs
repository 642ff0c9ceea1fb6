//! Rows against the plainest model of them: a list of cells.

use proptest::prelude::*;

use super::Row;

const COLS: usize = 12;

/// A cell of the model: its glyph, or `None` for the right half of a wide one; and its style.
type Cell = (Option<String>, u16);

fn blank(style: u16) -> Cell {
    (Some(" ".to_owned()), style)
}

/// A row that is always full.
#[derive(Debug, Clone, PartialEq)]
struct Model(Vec<Cell>);

impl Model {
    /// Blanks a wide glyph that lies across the edge before `x`.
    fn part(&mut self, x: usize) {
        if x > 0 && x < COLS && self.0[x].0.is_none() {
            self.0[x - 1].0 = Some(" ".to_owned());
            self.0[x].0 = Some(" ".to_owned());
        }
    }

    fn put(&mut self, x: usize, glyph: &str, width: usize, style: u16) {
        self.part(x);
        self.part(x + width);
        self.0[x] = (Some(glyph.to_owned()), style);
        if width == 2 {
            self.0[x + 1] = (None, style);
        }
    }

    fn erase(&mut self, from: usize, to: usize, style: u16) {
        self.part(from);
        self.part(to);
        self.0[from..to].fill(blank(style));
    }

    fn insert(&mut self, x: usize, count: usize, style: u16) {
        let count = count.min(COLS - x);
        self.part(x);
        self.part(COLS - count);
        self.0.truncate(COLS - count);
        self.0.splice(x..x, std::iter::repeat_n(blank(style), count));
    }

    fn delete(&mut self, x: usize, count: usize, style: u16) {
        let count = count.min(COLS - x);
        self.part(x);
        self.part(x + count);
        self.0.drain(x..x + count);
        self.0.resize(COLS, blank(style));
    }
}

fn cells(row: &Row) -> Vec<Cell> {
    (0..COLS).map(|x| ((!row.is_tail(x)).then(|| row.glyph_text(x)), row.style(x))).collect()
}

#[derive(Debug, Clone)]
enum Step {
    Put(usize, &'static str, u16),
    Erase(usize, usize, u16),
    Insert(usize, usize, u16),
    Delete(usize, usize, u16),
    Encode,
}

fn step() -> impl Strategy<Value = Step> {
    let at = 0..COLS;
    let style = prop_oneof![Just(0_u16), 0_u16..4];
    prop_oneof![
        6 => (at.clone(), prop::sample::select(vec!["a", "xyz", "é", "漢", "e\u{301}", "🇫🇷"]), style.clone())
            .prop_map(|(x, text, style)| Step::Put(x, text, style)),
        1 => (at.clone(), at.clone(), style.clone()).prop_map(|(a, b, s)| Step::Erase(a.min(b), a.max(b), s)),
        1 => (at.clone(), 1..COLS, style.clone()).prop_map(|(x, n, s)| Step::Insert(x, n, s)),
        1 => (at, 1..COLS, style).prop_map(|(x, n, s)| Step::Delete(x, n, s)),
        1 => Just(Step::Encode),
    ]
}

proptest! {
    #[test]
    fn a_row_is_what_a_list_of_cells_would_be(steps in prop::collection::vec(step(), 0..40)) {
        let mut row = Row::default();
        let mut model = Model(vec![blank(0); COLS]);
        for step in steps {
            match step {
                Step::Put(x, text, style) if text.is_ascii() => {
                    let text = &text[..text.len().min(COLS - x)];
                    row.put_ascii(x, text.as_bytes(), style);
                    for (index, c) in text.chars().enumerate() {
                        // Overwriting cell by cell parts the same wide glyphs as all at once.
                        model.put(x + index, &c.to_string(), 1, style);
                    }
                }
                Step::Put(x, text, style) => {
                    let width = crate::unicode::cluster_width(text);
                    if x + width <= COLS {
                        row.put_text(x, text, width, style);
                        model.put(x, text, width, style);
                    }
                }
                Step::Erase(from, to, style) => {
                    row.erase(from, to, style);
                    if from < to {
                        model.erase(from, to, style);
                    }
                }
                Step::Insert(x, count, style) => {
                    row.insert(x, count, COLS, style);
                    model.insert(x, count, style);
                }
                Step::Delete(x, count, style) => {
                    row.delete(x, count, COLS, style);
                    model.delete(x, count, style);
                }
                Step::Encode => {
                    let styles: Vec<_> = (0..4).map(packed).collect();
                    let mut history = crate::history::History::new(10);
                    history.push(&row, &styles);
                    let mut back = Row::default();
                    let palette = history.pop(&mut back).unwrap();
                    back.map_styles(|id| styles.iter().position(|it| *it == palette[id as usize]).unwrap() as u16);
                    row = back;
                }
            }
            prop_assert_eq!(&cells(&row), &model.0);
        }
    }
}

fn packed(number: u8) -> crate::style::Packed {
    let fg = if number == 0 { crate::Color::Default } else { crate::Color::Indexed(number) };
    crate::Style { fg, ..crate::Style::default() }.pack()
}
