//! Reading parameters: lenient where carryOn is, clear where something is wrong.

use greenroom_engine::{Engine, Info};
use greenroom_model::{Offset, SessionId, Size};
use serde_json::Value;

use crate::connection::Asked;
use crate::error::RpcError;
use crate::tmux;

/// The parameters of a request: an object, or nothing; and which request it is.
#[derive(Debug)]
pub(crate) struct Params(pub(crate) Value, pub(crate) Asked);

impl Params {
    /// A text; absent and empty are the same.
    pub(crate) fn text(&self, name: &str) -> Option<&str> {
        self.0.get(name)?.as_str().filter(|text| !text.is_empty())
    }

    /// A text that must be there.
    pub(crate) fn required(&self, name: &str) -> Result<&str, RpcError> {
        self.text(name).ok_or_else(|| RpcError::missing(name))
    }

    /// A yes or no, no by default.
    pub(crate) fn flag(&self, name: &str) -> bool {
        self.0.get(name).and_then(Value::as_bool).unwrap_or(false)
    }

    /// A number.
    pub(crate) fn number(&self, name: &str) -> Option<u64> {
        self.0.get(name)?.as_u64()
    }

    /// A bound that was asked for: what is no number is an error, not no bound.
    pub(crate) fn bound(&self, name: &str) -> Result<Option<u64>, RpcError> {
        let wrong = || RpcError::invalid(format!("`{name}` must be a number, 0 for no bound"));
        let asked = self.0.get(name).filter(|value| !value.is_null());
        asked.map(|value| value.as_u64().ok_or_else(wrong)).transpose()
    }

    /// An offset.
    pub(crate) fn offset(&self, name: &str) -> Option<Offset> {
        self.number(name).map(Offset)
    }

    /// A list of texts; something else in it is an error.
    pub(crate) fn texts(&self, name: &str) -> Result<Option<Vec<String>>, RpcError> {
        let Some(value) = self.0.get(name).filter(|value| !value.is_null()) else {
            return Ok(None);
        };
        let texts = value.as_array().and_then(|list| {
            list.iter().map(|it| Some(it.as_str()?.to_owned())).collect::<Option<Vec<_>>>()
        });
        let wrong = || RpcError::invalid(format!("`{name}` must be a list of texts"));
        texts.map(Some).ok_or_else(wrong)
    }

    /// The session that is meant: `sessionId`, as a text or a number.
    pub(crate) fn session(&self, engine: &Engine) -> Result<Info, RpcError> {
        Ok(engine.info(&self.selector()?)?)
    }

    /// The same for what cannot be undone: of several that ended under a name, none is meant.
    pub(crate) fn only_session(&self, engine: &Engine) -> Result<SessionId, RpcError> {
        Ok(engine.find_only(&self.selector()?)?)
    }

    fn selector(&self) -> Result<String, RpcError> {
        match self.0.get("sessionId") {
            Some(Value::Number(number)) => Ok(number.to_string()),
            _ => Ok(self.required("sessionId")?.to_owned()),
        }
    }

    /// The name of the session of tmux that is meant, if one is: no other session is called like that.
    pub(crate) fn of_tmux(&self, engine: &Engine) -> Option<&str> {
        let id = self.text("sessionId")?;
        let name = tmux::name_of(id)?;
        engine.find(id).is_err().then_some(name)
    }

    /// A side of a size, as carryOn reads it: out of range is as good as missing.
    pub(crate) fn side(&self, name: &str) -> Result<(), RpcError> {
        let number = self.number(name).filter(|&it| it > 0 && it <= u64::from(u16::MAX));
        number.map(drop).ok_or_else(|| RpcError::missing(name))
    }

    /// A size, if both sides are there and make sense.
    pub(crate) fn size(&self) -> Result<Option<Size>, RpcError> {
        let (cols, rows) = (self.0.get("cols"), self.0.get("rows"));
        if cols.is_none_or(Value::is_null) && rows.is_none_or(Value::is_null) {
            return Ok(None);
        }
        size_of(&self.0).map(Some).ok_or_else(|| {
            let (most_cols, most_rows) = (Size::MAX_COLS, Size::MAX_ROWS);
            RpcError::invalid(format!(
                "`cols` must be 1 to {most_cols} and `rows` 1 to {most_rows}"
            ))
        })
    }
}

/// A size from an object with `cols` and `rows`. A terminal larger than ours can be is clamped.
pub(crate) fn size_of(value: &Value) -> Option<Size> {
    let side = |name: &str| {
        let number = value.get(name)?.as_u64()?;
        u16::try_from(number).ok().filter(|&side| side > 0)
    };
    Some(Size::clamped(side("cols")?, side("rows")?))
}
