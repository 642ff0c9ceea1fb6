//! How large a terminal is, in cells.

use std::fmt;
use std::str::FromStr;

/// The size of a terminal in cells, always within its bounds.
///
/// ```
/// use greenroom_model::Size;
///
/// let size: Size = "80x24".parse()?;
/// assert_eq!((size.cols(), size.rows()), (80, 24));
/// assert_eq!(Size::new(0, 24), None);
/// # Ok::<(), greenroom_model::SizeError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Size {
    cols: u16,
    rows: u16,
}

impl Size {
    /// The widest terminal: a row is one allocation, and some tools ask for thousands of columns
    /// so that nothing wraps.
    ///
    /// ```
    /// use greenroom_model::Size;
    ///
    /// assert!(Size::new(Size::MAX_COLS, 24).is_some());
    /// assert!(Size::new(Size::MAX_COLS + 1, 24).is_none());
    /// ```
    pub const MAX_COLS: u16 = 4096;
    /// The tallest terminal: every row costs a little even while it is empty.
    ///
    /// ```
    /// use greenroom_model::Size;
    ///
    /// assert!(Size::new(80, Size::MAX_ROWS).is_some());
    /// assert!(Size::new(80, Size::MAX_ROWS + 1).is_none());
    /// ```
    pub const MAX_ROWS: u16 = 1024;
    /// What a terminal is when nobody said anything: the size every program copes with.
    ///
    /// ```
    /// use greenroom_model::Size;
    ///
    /// assert_eq!(Size::DEFAULT.to_string(), "80x24");
    /// assert_eq!(Size::default(), Size::DEFAULT);
    /// ```
    pub const DEFAULT: Size = Size { cols: 80, rows: 24 };

    /// Makes a size, or nothing if a side is zero or past its bound.
    ///
    /// ```
    /// use greenroom_model::Size;
    ///
    /// assert_eq!(Size::new(132, 43).map(Size::rows), Some(43));
    /// assert_eq!(Size::new(132, 0), None);
    /// ```
    #[must_use]
    pub const fn new(cols: u16, rows: u16) -> Option<Size> {
        if cols == 0 || rows == 0 || cols > Self::MAX_COLS || rows > Self::MAX_ROWS {
            return None;
        }
        Some(Size { cols, rows })
    }

    /// Makes the nearest size that is within the bounds.
    ///
    /// ```
    /// use greenroom_model::Size;
    ///
    /// assert_eq!(Size::clamped(0, u16::MAX).to_string(), "1x1024");
    /// ```
    #[must_use]
    pub fn clamped(cols: u16, rows: u16) -> Size {
        Size { cols: cols.clamp(1, Self::MAX_COLS), rows: rows.clamp(1, Self::MAX_ROWS) }
    }

    /// How many cells a row has.
    ///
    /// ```
    /// assert_eq!(greenroom_model::Size::DEFAULT.cols(), 80);
    /// ```
    #[must_use]
    pub const fn cols(self) -> u16 {
        self.cols
    }

    /// How many rows there are.
    ///
    /// ```
    /// assert_eq!(greenroom_model::Size::DEFAULT.rows(), 24);
    /// ```
    #[must_use]
    pub const fn rows(self) -> u16 {
        self.rows
    }
}

impl Default for Size {
    fn default() -> Size {
        Size::DEFAULT
    }
}

impl fmt::Display for Size {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.cols, self.rows)
    }
}

/// Why a text is not a size.
///
/// ```
/// use greenroom_model::Size;
///
/// let error = "80 by 24".parse::<Size>().unwrap_err();
/// assert!(error.to_string().starts_with("`80 by 24` is not a size: columns x rows"));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SizeError(String);

impl fmt::Display for SizeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "`{}` is not a size: columns x rows, such as `80x24`, at most {}x{}",
            self.0.escape_debug(),
            Size::MAX_COLS,
            Size::MAX_ROWS,
        )
    }
}

impl std::error::Error for SizeError {}

impl FromStr for Size {
    type Err = SizeError;

    fn from_str(text: &str) -> Result<Size, SizeError> {
        let parse = || {
            let (cols, rows) = text.split_once(['x', 'X'])?;
            Size::new(cols.trim().parse().ok()?, rows.trim().parse().ok()?)
        };
        parse().ok_or_else(|| SizeError(text.chars().take(40).collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::Size;

    #[test]
    fn sizes_out_of_bounds_are_refused_with_the_bounds_named() {
        for text in ["0x24", "80x0", "80", "x", "4097x24", "80x1025", "-1x5", "80x24x2", ""] {
            let error = text.parse::<Size>().unwrap_err().to_string();
            assert!(error.contains("4096x1024"), "{text}: {error}");
        }
    }

    #[test]
    fn a_size_reads_back_as_written() {
        let size = Size::new(200, 50).unwrap();
        assert_eq!(size.to_string().parse(), Ok(size));
        assert_eq!(Size::clamped(0, 9999), Size::new(1, Size::MAX_ROWS).unwrap());
    }
}
