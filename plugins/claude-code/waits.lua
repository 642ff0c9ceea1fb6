-- What to wait for, as trees of matchers the host can run without asking Lua.
--
-- A regex sees the whole screen, so these hold to its *end*: what counts is the composer or the
-- dialog at the bottom, not the same words in an answer above. The state that comes with the wait's
-- answer says which of them it was. Each tree needs a quiet screen, because Claude Code draws in steps.

local matcher = ptywright.matcher

local waits = {}

-- While it works Claude Code turns its star about every 100 ms, so a screen quiet this long is at
-- rest. The host gives its own number.
local STABLE_MS = 300

local RULE = [[─{8,}[^\n]*]]

-- Rows under the composer, cut at their dots, none of which begins with an `e`: `esc to interrupt`
-- is there exactly while something works. (The regexes have no way to say "not these words".) None is blank, as one is
-- below a rule in a dialog.
local FOOTER_ROW = [[\n[^\S\n]*[^e\s·][^·\n]*(?:·[^\S\n]*(?:[^e\s·][^·\n]*)?)*]]
local FOOTER = [[(?:]] .. FOOTER_ROW .. [[)*\s*\z]]

local EMPTY = [[❯[^\S\n]*(?:Try "[^\n]*|Press up to edit queued messages)?[^\S\n]*\n]]

-- The composer with nothing in it, or with anything.
local EMPTY_COMPOSER = RULE .. [[\n]] .. EMPTY .. RULE .. FOOTER
local COMPOSER = RULE .. [[\n[❯!][^\n]*\n(?:(?:[^─\n][^\n]*)?\n)*]] .. RULE .. FOOTER

-- One that is taller than the screen, as much of it as there is to be seen.
local TALL_COMPOSER = [[\A(?:[❯!][^\n]*\n(?:(?:  [^\n]*)?\n)*|(?:(?:  [^\n]*)?\n)+)]] .. RULE .. FOOTER

-- An empty one, and above it nothing, or only the end of something that is taller than the screen.
local LONE_COMPOSER = [[\A(?:(?:(?:[ ][^\n]*)?\n)*]] .. RULE .. [[\n)?]] .. EMPTY .. RULE .. FOOTER

-- A turn ended: how long it took, or what stopped it. Behind that only notices and indented rows.
local ENDED = [[(?:✻ [^\n]* for \d[^\n]*|[^\n]*⎿\s+(?:Interr[a-z]* ?· |User rejected|Credit balance|Not logged in)[^\n]*|[●⏺]\s+User declined[^\n]*|❯ /\w[^\n]*(?:\n\s+⎿[^\n]*)?)\n(?:(?:[●⏺ ][^\n]*)?\n)*]]

local TURN_ENDED = "(?m)^" .. ENDED .. EMPTY_COMPOSER
-- The same without a frame, as older ones drew it.
local BARE_TURN_ENDED = "(?m)^" .. ENDED .. [[\s*[❯>]\s*\z]]

-- A selector on a numbered row, and below it rows that do not begin in the first column, but for the rule inside a
-- question and its foot: what begins there was printed behind a dialog that is over.
local ROWS = [[(?:(?:[ ][^\n]*)?\n)*]]
local CHAT = [[(?:─{8,}[^\n]*\n[ ]*(?:❯ )?\d+\. Chat about this[^\n]*\n)?]]
local FOOT = [[(?:Enter to select [^─]*esc\s+to\s+cancel\s*|[ ][^\n]*)?]]
local DIALOG = [[(?mi)^[ ]{0,4}❯ +(?:\d+\.\s?|Next|Submit)[^\n]*(?:\n]] .. ROWS .. CHAT .. ROWS .. FOOT .. [[)?\z]]

-- What a very small screen shows of one.
local DIALOG_FOOT = [[(?m)^[ ]*(?:Esc to cancel ·\s+Tab to amend|Enter to select ·|Enter to set as default|Enter to\s+confirm ·\s+Esc)[^─]*\z]]

-- The screens of login, settings, help and usage say at their foot how to leave them, if need be in several rows.
local LOCAL_UI = [[(?mi)(?:^[ ]*|· |/)(?:esc\s+to\s+(?:cancel|close|clear|exit|go\s+back)|enter to close|showing detailed transcript)[^\n]*\s*\z]]

-- One without a foot has a title under its rule and a blank row below it, as no footer has. On a small screen nothing
-- of either is to be seen, and nothing in the first column.
local TITLED = [[(?m)^]] .. RULE .. [[\n[ ]+[^\s❯!][^\n]*\n[^\S\n]*\n(?:(?:[^─\n][^\n]*)?\n)*[^─\n]*\z]]
local INDENTED = [[\A(?:[ ]*\n)*[ ]+\S[^\n]*(?:\n(?:[ ][^\n]*)?)*\z]]

-- Such a screen on top of the composer, as it is while a turn goes on.
local OVERLAY = [[(?mi)^[ ]+(?:[^\n]* · )?esc to [a-z][^\n]*\n\s*]] .. RULE .. [[\n[❯!][^\n]*\n(?:(?:[^─\n][^\n]*)?\n)*]] .. RULE .. [[(?:\n[^\n]*){0,3}\s*\z]]

-- The last rows of vi and nano, in which Claude Code may have opened a file.
local EDITOR = [[(?m)^(?:-- ?[A-Z ]+--[^\n]*|"[^"\n]+"[^\n]* \d+L, \d+[BC][^\n]*|"[^"\n]+" \[New[^\n]*|[^\n]*\s\d+,\d+\S*\s+(?:All|Top|Bot|\d+%)|~[^\S\n]*\n~[^\S\n]*(?:\n:[^\n]*)?|\^G [^\n]* \^O [^\n]*(?:\n[^\n]*)?)\s*\z]]

local function stable(params)
  local ms = params and params.completed_turn_stable_ms
  return matcher.screen_stable(type(ms) == "number" and ms or STABLE_MS)
end

-- The composer is there and nothing works, whatever came before.
function waits.wait_ready_matcher(params)
  local composer = { matcher.screen_regex("(?m)^" .. COMPOSER), matcher.screen_regex(TALL_COMPOSER) }
  return matcher.all({ matcher.any(composer), stable(params) })
end

-- Something is to be decided.
function waits.wait_dialog_matcher(params)
  return matcher.all({ matcher.any({ matcher.screen_regex(DIALOG), matcher.screen_regex(DIALOG_FOOT) }), stable(params) })
end

-- The end of a turn, or something to decide, or a screen of Claude Code's own.
function waits.wait_turn_matcher(params)
  return matcher.all({
    matcher.any({
      matcher.screen_regex(TURN_ENDED),
      matcher.screen_regex(DIALOG),
      matcher.screen_regex(DIALOG_FOOT),
      matcher.screen_regex(LOCAL_UI),
      matcher.screen_regex(TITLED),
      matcher.screen_regex(INDENTED),
      matcher.screen_regex(OVERLAY),
      matcher.screen_regex(EDITOR),
      matcher.screen_regex(BARE_TURN_ENDED),
      matcher.screen_regex(LONE_COMPOSER),
      matcher.screen_regex([[(?m)^ *Unable to connect to Anthropic services]]),
    }),
    stable(params),
  })
end

-- After a cancel: the composer at rest, with or without the prompt that came back into it.
function waits.wait_cancel_settled_matcher(params)
  return matcher.all({
    matcher.any({
      matcher.screen_regex("(?m)^" .. COMPOSER),
      matcher.screen_regex(TALL_COMPOSER),
      matcher.screen_regex(DIALOG),
      matcher.screen_regex(DIALOG_FOOT),
      matcher.screen_regex([[(?m)^\s*[❯>]\s*\z]]),
    }),
    stable(params),
  })
end

return waits
