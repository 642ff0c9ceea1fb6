-- What to wait for, as trees of matchers the host can run without asking Lua.
--
-- A regex sees the whole screen, so these hold to its *end*: what counts is the composer or the
-- dialog at the bottom, not the same words in an answer above. The state that comes with the wait's
-- answer says which of them it was. Each tree needs a quiet screen, because Claude Code draws in steps.

local seen = require("seen")
local matcher = ptywright.matcher

local waits = {}

-- While it works Claude Code turns its star about every 100 ms, so a screen quiet this long is at
-- rest. The host gives its own number.
local STABLE_MS = 300

local RULE = [[─{8,}[^\n]*]]

-- The upper rule of a composer may hold the name of the session, which leaves little of it if it is long, and takes
-- several rows if need be; so does the lower one then. A screen of Claude Code's own may have that name below it.
local TOP = [[(?:]] .. RULE .. [[|(?:[^\s❯●⏺─][^\n]*\n){0,4}[^\n]*──)\n]]
local BOTTOM = RULE .. [[(?:\n─+)*]]
-- Between a dialog and that name stands the list of tasks, if there is one.
local TASKS = [[(?:\s*\n  \d+ tasks? \([^)]*\)(?:\n(?:  [^\n]*)?)*)?]]
local NAME = TASKS .. [[(?:\s*\n(?:─+ | )\S[^\n]*(?:\n[^\s❯●⏺][^\n]*){0,4}\n?──)?\s*\z]]

-- Rows under the composer, cut at their dots, none of which begins with an `e`: `esc to interrupt`
-- is there exactly while something works. (The regexes have no way to say "not these words".) None is blank, as one is
-- below a rule in a dialog.
local FOOTER_ROW = [[\n[^\S\n]*[^e\s·][^·\n]*(?:·[^\S\n]*(?:[^e\s·][^·\n]*)?)*]]
local FOOTER = [[(?:]] .. FOOTER_ROW .. [[)*\s*\z]]

-- The composer, whatever is in it.
local COMPOSER = TOP .. [[[❯!][^\n]*\n(?:(?:[ ]{2}[^\n]*)?\n)*]] .. BOTTOM .. FOOTER

-- One that is taller than the screen, as much of it as there is to be seen.
local TALL_COMPOSER = [[\A(?:[❯!][^\n]*\n(?:(?:  [^\n]*)?\n)*|(?:(?:  [^\n]*)?\n)+)]] .. [[─{8,}]] .. FOOTER

local EMPTY = [[❯[^\S\n]*(?:Try "[^\n]*|Press up to edit queued messages)?[^\S\n]*\n]]

-- An empty one, and above it nothing, or only the end of something that is taller than the screen.
local LONE_COMPOSER = [[\A(?:(?:(?:[ ][^\n]*)?\n)*]] .. TOP .. [[)?]] .. EMPTY .. BOTTOM .. FOOTER

-- A turn ended: how long it took, or what stopped it. Behind that only notices and indented rows.
local ENDED = [[(?:✻ [^\n]* for \d[^\n]*|[^\n]*⎿\s+(?:Interr[a-z]* ?· |User rejected|Credit balance|Not logged in)[^\n]*|[●⏺]\s+(?:User declined|Unknown command: /)[^\n]*|❯ (?:/\w|Commands are in the form)[^\n]*(?:\n[^\s─❯●⏺✻][^\n]*)*(?:\n\s+⎿[^\n]*)?)\n(?:(?:[●⏺ ][^\n]*)?\n)*]]

-- Text in the composer does not matter: a file may wait there for the next prompt, and a prompt that came back is over.
local TURN_ENDED = "(?m)^" .. ENDED .. COMPOSER
-- The same without a frame, as older ones drew it.
local BARE_TURN_ENDED = "(?m)^" .. ENDED .. [[\s*[❯>]\s*\z]]

-- A selector on a numbered row, and below it rows that do not begin in the first column, but for the rule inside a
-- question and its foot: what begins there was printed behind a dialog that is over.
local ROWS = [[(?:(?:[ ][^\n]*)?\n)*]]
local CHAT = [[(?:─{8,}[^\n]*\n[ ]*(?:❯ )?\d+\. Chat about this[^\n]*\n)?]]
local FOOT = [[(?:Enter to select [^─]*esc\s+to\s+cancel\s*|[ ][^\n]*)?]]
local DIALOG = [[(?mi)^[ ]{0,4}❯ +(?:\d+\.\s?|Next|Submit)[^\n]*(?:\n]] .. ROWS .. CHAT .. ROWS .. FOOT .. ")?" .. NAME

-- What a very small screen shows of one.
local DIALOG_FOOT = [[(?m)^[ ]*(?:Esc to cancel ·\s+Tab to amend|Enter to select ·|Enter to set as default|Enter to\s+confirm ·\s+Esc)[^─]*?]] .. NAME

-- The screens of login, settings, help and usage say at their foot how to leave them, if need be in several rows.
local LOCAL_UI = [[(?mi)(?:^[ ]*|· |/)(?:esc\s+to\s+(?:cancel|close|clear|exit|go\s+back)|enter to close|showing detailed transcript)[^\n]*]] .. NAME

-- One without a foot has a title under its rule and a blank row below it, as no footer has. On a small screen nothing
-- of either is to be seen, and nothing in the first column.
local TITLED = [[(?m)^]] .. RULE .. [[\n[ ]+[^\s❯!][^\n]*\n[^\S\n]*\n(?:(?:[^─\n][^\n]*)?\n)*[^─\n]*]] .. NAME
local INDENTED = [[\A(?:[ ]*\n)*[ ]+\S[^\n]*(?:\n(?:[ ][^\n]*)?)*]] .. NAME

-- Such a screen on top of the composer, as it is while a turn goes on. Prompts that wait for the turn stand between them.
local QUEUE = [[(?:[ ]{2}❯ [^\n]*\n(?:[ ]{2}[^\n]*\n)*)?]]
local OVERLAY = [[(?mi)^[ ]{1,3}(?:[^\s◻◼✔][^\n]* · )?esc to [a-z][^\n]*\n(?:[ ]*\n)*]] .. QUEUE .. TOP .. [[[❯!][^\n]*\n(?:(?:[ ]{2}[^\n]*)?\n)*]] .. BOTTOM .. [[(?:\n[^\n]*){0,3}\s*\z]]

-- The last rows of vi and nano, in which Claude Code may have opened a file.
local EDITOR = [[(?m)^(?:-- ?[A-Z ]+--[^\n]*|"[^"\n]+"[^\n]* \d+L, \d+[BC][^\n]*|"[^"\n]+" \[New[^\n]*|[^\n]*\s\d+,\d+\S*\s+(?:All|Top|Bot|\d+%)|~[^\S\n]*\n~[^\S\n]*(?:\n:[^\n]*)?|\^G [^\n]* \^O [^\n]*(?:\n[^\n]*)?)\s*\z]]

local function stable(params)
  local ms = params and params.completed_turn_stable_ms
  return matcher.screen_stable(type(ms) == "number" and ms or STABLE_MS)
end

-- One of these on a screen that is still; a program that has ended says so in its state, whatever it shows.
local function at_rest(params, ...)
  local shown = {}
  for i, pattern in ipairs({ ... }) do
    shown[i] = matcher.screen_regex(pattern)
  end
  local still = matcher.all({ #shown == 1 and shown[1] or matcher.any(shown), stable(params) })
  return matcher.any({ still, matcher.process_exited() })
end

-- The composer is there and nothing works, whatever came before.
function waits.wait_ready_matcher(params)
  return at_rest(params, "(?m)^" .. COMPOSER, TALL_COMPOSER)
end

-- Something is to be decided.
function waits.wait_dialog_matcher(params)
  return at_rest(params, DIALOG, DIALOG_FOOT)
end

-- The end of a turn, or something to decide, or a screen of Claude Code's own.
function waits.wait_turn_matcher(params)
  local shown = { TURN_ENDED, DIALOG, DIALOG_FOOT, LOCAL_UI, TITLED, INDENTED, OVERLAY, EDITOR, BARE_TURN_ENDED,
    LONE_COMPOSER, [[(?m)^ *Unable to connect to Anthropic services]] }
  if seen.opening then
    -- Before anything was sent there is no turn, and the composer is all that comes.
    shown[#shown + 1], shown[#shown + 2] = "(?m)^" .. COMPOSER, TALL_COMPOSER
  end
  return at_rest(params, table.unpack(shown))
end

-- After a cancel: the composer at rest, with or without the prompt that came back into it. An Escape that came behind the
-- end of the turn may have opened Rewind.
function waits.wait_cancel_settled_matcher(params)
  return at_rest(params, "(?m)^" .. COMPOSER, TALL_COMPOSER, DIALOG, DIALOG_FOOT, LOCAL_UI, OVERLAY, [[(?m)^\s*[❯>]\s*\z]])
end

return waits
