-- What the conversation above the composer shows of the last turn: its text, its tools, whether
-- work goes on, how it ended.
--
-- A turn begins at the last row that echoes a prompt (`❯ words` in the first column; `❯` alone if it begins with an
-- empty line). What was said into a turn that worked is echoed like that, too, and begins none. Only rows in the first column are Claude Code's own: `●` begins a block, `✻ … for 3s` ends a turn, a
-- glyph with an ellipsis is work in progress. An answer that quotes them is indented and does not count.
--
-- Where the prompt has scrolled off, what is left of the answer is given, and said to be cut.

local text = require("text")

local turn = {}

local PROMPTS = { "❯ ", "! " }
local BULLETS = { "● ", "⏺ " }
local RESULT = "  ⎿"
-- Most rows begin with one, and none of those is looked at for a glyph in the first column.
local BLANK = (" "):byte()
-- What an unknown command leaves instead of an echo.
local UNKNOWN = { "Unknown command: /", "Args from unknown skill: " }
-- What the composer says while prompts wait above it.
local QUEUED = "Press up to edit queued messages"
-- What is echoed instead of a prompt that is a slash and no command. Nothing is sent.
local NO_COMMAND = "❯ Commands are in the form"
-- The star of Claude Code turns through these; older ones used braille.
local SPINNERS = { "·", "✢", "✳", "✶", "✻", "✽", "*", "✺", "✦", "•", "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏" }

-- Ends of a turn that leave no `✻ … for 3s` behind.
-- On a narrow screen the first word is cut.
local INTERRUPTED = "^Interr%a* ?· "
local STOPS = { INTERRUPTED, "^User rejected", "^User declined", "^No response requested" }

-- What follows an error of the service. The first that fits names the kind.
local KINDS = {
  { "credit balance", "quota" },
  { "usage limit", "quota" },
  { "quota", "quota" },
  { "429", "rate_limit" },
  { "rate limit", "rate_limit" },
  { "overloaded", "rate_limit" },
  { "401", "auth" },
  { "403", "auth" },
  { "not logged in", "auth" },
  { "/login", "auth" },
  { "api key", "auth" },
  { "connect", "connection" },
  { "timed out", "connection" },
  { "enotfound", "connection" },
  { "econn", "connection" },
  { "api error", "api" },
  { "context limit", "api" },
}

-- The banners of an error that stand behind a corner, as no answer does.
local BANNERS = {
  "^Credit balance too low",
  "^Credit balance is too low",
  "^Not logged in",
  "^Invalid API key",
  "^Please run /login",
  "^Unable to connect to Anthropic",
  "^Claude usage limit reached",
  "^You've hit your",
  "^Context limit reached",
  "^Prompt is too long",
  "^API Error",
}

-- Words behind `API Error: 500` that a sentence goes on with, and no error of the service.
local PROSE = {}
for word in ("is was were are means meant occurs occurred happens happened comes came appears appeared and or in from on at by "
  .. "can could should will would when if because again has had gets got as with without for to"):gmatch("%S+") do
  PROSE[word] = true
end

function turn.error_of(message)
  local lower, kind = message:lower(), "unknown"
  for _, entry in ipairs(KINDS) do
    if text.has(lower, entry[1]) then
      kind = entry[2]
      break
    end
  end
  local retry = lower:match("retry%a* in (%d+)") or lower:match("retry after (%d+)")
  return { kind = kind, message = message, retry_after_s = tonumber(retry) }
end

local function is_banner(words)
  for _, banner in ipairs(BANNERS) do
    if words:find(banner) then
      return true
    end
  end
  return false
end

-- An error that stands where an answer would. An answer may begin like one, so it has to go on like one, too.
local function is_api_error(words)
  local rest = words:match("^API Error: ?(.*)$") or words:match("^Please run /login · API Error: ?(.*)$")
  if not rest then
    return words == "API Error" or words:find("^API Error %(") ~= nil
  end
  local status, message = rest:gsub("\n", " "):match("^(%d%d%d)%s+(.*)$")
  local first = (message or rest):match("^%l+")
  if first and PROSE[first] or text.has(words, "\n\n") then
    return false
  elseif status and status >= "500" then
    return text.has(message, "server-side issue") or text.has(message, "verloaded") or text.starts(message, "{")
  end
  return true
end

local function spinner_of(row)
  local _, rest = text.glyph(row, SPINNERS)
  if not rest or not rest:find("^%s%S") then
    return nil
  end
  rest = text.trim(rest)
  -- `Whisking…`, `Boogieing… (2s · ↓ 12 tokens)`, `API error · Retrying in 4s · attempt 4/10`.
  -- The words are those of a task, if one is in progress, and of several lines the ellipsis stands behind the last.
  if rest:find("^.-…$") or rest:find("^.-…%s*%(") or rest:find(" · Retrying in %d") or rest:find("%(%d+[hms][^%(]* tokens%)$") then
    return rest
  end
end

local function completion_of(row)
  return text.starts(row, "✻ ") and row:find(" for %d") ~= nil
end

local function echo_of(row)
  if row:byte() ~= BLANK then
    local _, words = text.glyph(row, PROMPTS)
    return words or row == "❯" and "" or nil
  end
end

-- Whether row `i` echoes one of `asides`, which are without blanks. What stands under the end of a turn begins another.
local function is_aside(rows, i, words, asides)
  local above = i - 1
  while above > 0 and rows[above] == "" do
    above = above - 1
  end
  if above > 0 and completion_of(rows[above]) then
    return false
  end
  words = text.squeeze(words)
  local goes_on = text.starts(rows[i + 1] or "", "  ")
  for _, aside in ipairs(asides) do
    if aside == words or goes_on and words ~= "" and text.starts(aside, words) then
      return true
    end
  end
  return false
end

local function start_of(rows, last, asides)
  for i = last, 1, -1 do
    local words = echo_of(rows[i])
    if words and not is_aside(rows, i, words, asides) then
      return i
    end
  end
  return 0
end

-- Whether the screen begins where Claude Code did, with its box.
local function is_top(rows)
  for i = 1, math.min(3, #rows) do
    if text.starts(rows[i], "╭") then
      return true
    end
  end
  return false
end

-- What Claude Code calls its own tools. An answer may look like a call of one that is none.
local TOOLS = {}
for name in ("Agent Bash BashOutput Edit Fetch Glob Grep KillShell List LSP MultiEdit Monitor NotebookEdit PowerShell Read Search "
  .. "Skill Task TaskOutput TaskStop Update WebFetch WebSearch Write"):gmatch("%S+") do
  TOOLS[name] = true
end

-- `Bash(ls)`, `Web Search("x")`, and `Bash(cat <<EOF` whose end is in a later row.
local function tool_of(head)
  local name, rest = head:match("^(%u[%w_%-%.]*)%((.*)$")
  if not name then
    -- One of a server: `server - tool (MCP)(…)`.
    name, rest = head:match("^([%w_%-%.]+ %- [%w_%-%. ]- ?%(MCP%))%((.*)$")
  end
  if name then
    return { name = name, summary = (rest:gsub("%)$", "")) }, TOOLS[name] or text.has(name, "(MCP)")
  end
end

-- Claude Code has two blanks behind the corner.
local function result_of(row)
  local words = text.starts(row, RESULT) and row:sub(#RESULT + 1)
  return words and (words == "" or text.starts(words, "  ")) and text.trim(words) or nil
end

local function is_stop(words)
  for _, pattern in ipairs(STOPS) do
    if words:find(pattern) then
      return true
    end
  end
  return false
end

local Reader = {}
Reader.__index = Reader

-- Whether the corner in row `i` is Claude Code's own: behind that of a tool stands a blank that does not break, and in an
-- answer hardly ever. Where there is none on the whole screen, it is another program's, or an older one.
function Reader:is_corner(i)
  return not self.corners or self.corners[i] == true
end

-- Many calls in one row, such as `Searched for 2 patterns, read 1 file (ctrl+o to expand)`: nothing but counts. How long
-- it thought is no call. Also whether they still run: `Reading 1 file… (ctrl+o to expand)`.
local function folded_tool(head)
  local calls = head:match("^(%u.-)%s*%(ctrl%+o to expand%)$")
  local kept, runs = {}, calls ~= nil and calls:sub(-#"…") == "…"
  calls = runs and calls:sub(1, -#"…" - 1) or calls
  for call in ((calls or "") .. ", "):gmatch("(.-), ") do
    if not call:find("^%a[%a ]+ %d") then
      return nil
    elseif not call:find("^[Tt]hought for %d") then
      kept[#kept + 1] = call
    end
  end
  local name, rest = table.concat(kept, ", "):match("^(%a+)%s*(.*)$")
  return calls and { name = name and name:gsub("^%l", string.upper), summary = rest }, runs
end

-- The first row from `i` that is not blank.
local function skip_blank(rows, i, last)
  while i <= last and rows[i] == "" do
    i = i + 1
  end
  return i
end

-- Whether row `i` stands above a row of what came of it, with a corner of Claude Code's own.
function Reader:has_result(rows, i, last)
  return i < last and text.starts(rows[i + 1], RESULT) and self:is_corner(i + 1)
end

-- Whether the fold in row `i` is of calls that still run: below it stands the one at work, whose corner has no blank of
-- Claude Code's, and then nothing but the star.
local function is_running_fold(rows, i, last)
  local after = skip_blank(rows, i + (text.starts(rows[i + 1] or "", RESULT) and 2 or 1), last)
  return after > last or after > i + 1 and rows[after - 1] == "" and not completion_of(rows[after]) and spinner_of(rows[after]) ~= nil
end

-- A row that looks like prose and is a tool: its bullet blinks, or many calls are folded into it. Such a fold stands alone,
-- and an answer or a call follows; in an answer more of it does, or the end.
function Reader:unmarked_tool(rows, i, last)
  local head = (i == 1 or rows[i - 1] == "") and rows[i]:match("^  (%S.*)$")
  if not head then
    return nil
  end
  local after, has_result = skip_blank(rows, i + 1, last), self:has_result(rows, i, last)
  local behind = after <= last and rows[after]
  local alone = not behind or after > i + 1 and not completion_of(behind)
    and (behind:byte() ~= BLANK or tool_of(text.trim(behind)) and self.corners and self:has_result(rows, after, last))
  local folded, runs = folded_tool(head)
  if folded and (alone or has_result or runs and is_running_fold(rows, i, last)) then
    return folded
  end
  return has_result and tool_of(head) or nil
end

function Reader:open(block)
  self.block = block
  self.blocks[#self.blocks + 1] = block
end

function Reader:bullet(head)
  if text.starts(head, UNKNOWN[1]) and (self.done or self.unknown or self.command or not self.begun) then
    -- A turn of its own, without an echo.
    self.blocks, self.notice, self.unknown = {}, nil, true
  elseif not text.starts(head, UNKNOWN[2]) then
    self.unknown = false
  end
  self.done, self.stop, self.progress = false, nil, nil
  self:open({ head = head, lines = { head }, tool = nil, result = nil })
end

function Reader:result(row, words, is_apart)
  local block = self.block
  if not block then
    self.notice = self.notice or words
  elseif is_apart and is_banner(words) then
    self.failure = words
  elseif block.result or block.tool or tool_of(block.head) or not is_stop(words) then
    block.result = block.result or words
  else
    -- What stopped the turn, or an answer that quotes it: that is known at the end.
    self.stopped_at = { block = block, line = #block.lines + 1 }
    block.lines[#block.lines + 1] = (row:gsub("^  ", ""))
  end
  self.stop = words
end

-- What stands above all blocks where the prompt has scrolled off: the rest of an answer, or of the prompt itself.
function Reader:rest(row)
  if row:find("^  %S") and not self.whole then
    self:open({ head = row, lines = { (row:gsub("^  ", "")) }, prose = true })
  end
end

function Reader:prose(rows, i, last)
  local row = rows[i]
  local tool = self:unmarked_tool(rows, i, last)
  if tool then
    self:open({ head = row, lines = {}, tool = tool, folded = tool.name == nil })
  elseif not self.block then
    self:rest(row)
  elseif not self.block.result and not self.progress then
    local lines = self.block.lines
    lines[#lines + 1] = (row:gsub("^  ", ""))
    self.stop = nil
  end
end

-- The echo of what was said into the turn: nothing of it is an answer.
function Reader:aside()
  self.block, self.whole, self.progress, self.stop = nil, true, nil, nil
end

-- A row in the first column.
function Reader:own(row)
  if echo_of(row) then
    self:aside()
    return
  end
  local _, head = text.glyph(row, BULLETS)
  local progress = not head and not completion_of(row) and spinner_of(row)
  if head then
    self:bullet(head)
  elseif progress then
    self.progress, self.done = progress, false
  elseif completion_of(row) then
    self.done, self.progress = true, nil
  elseif self.block and not self.block.result and not self.progress then
    self.block.lines[#self.block.lines + 1] = row
    self.stop = nil
  end
end

function Reader:row(rows, i, last)
  local row = rows[i]
  if row == "" then
    if self.block and not self.block.result then
      self.block.lines[#self.block.lines + 1] = ""
    end
    return
  end
  if row:byte() ~= BLANK then
    self:own(row)
    return
  end
  local words = result_of(row)
  if not words or self.block and not self:is_corner(i) then
    self:prose(rows, i, last)
  elseif not self.progress then
    self:result(row, words, rows[i - 1] == "")
  end
end

-- What stands for the result of a call that still runs.
local function is_running(result)
  return result == "Waiting…" or result == "Running…" or (result or ""):find("^Running… %(%d[^%)]*%)$") ~= nil
end

-- Calls that run and are folded into one row, where its bullet is to be seen.
local function running_fold(block, is_last)
  local tool, runs = folded_tool(block.head)
  return is_last and runs and tool.name and tool or nil
end

-- Whether a block is a tool call, or text: `Name(…)` with a result under it. Of what has none yet that may be said of the
-- names of tools only, and while the turn goes on (`pending`).
local function settle(block, is_last, over)
  local stopped = block.result and block.result:find(INTERRUPTED) ~= nil
  local tool, is_known = block.tool or not over and not block.prose and running_fold(block, is_last), true
  block.tool = tool or nil
  if not tool and not block.prose then
    tool, is_known = tool_of(block.head)
    local whole = is_known and block.head:sub(-1) == ")"
    if block.result and stopped and not whole or not block.result and not (is_last and whole) then
      tool = nil
    end
  end
  if tool then
    tool.result = block.result
    tool.running = is_running(block.result) or (is_last and not block.result) or nil
  end
  return tool, not tool and (not block.result or stopped), tool and not block.tool and not block.result
end

-- The last row of the conversation, without the prompts that wait for the turn to take them.
local function last_of(view)
  local rows, last = view.rows, view.above
  local composer = view.composer
  if not composer or not text.has(rows[composer.top + 1] or "", QUEUED) then
    return last
  end
  local first = last
  while first > 0 and rows[first] ~= "" do
    first = first - 1
  end
  return text.starts(rows[first + 1] or "", "  ❯ ") and first or last
end

-- What is left of a prompt that is taller than the screen is no answer. Its middle may be folded, so its first row and
-- its end are looked at. Where the prompt is not known any more, what stands above an answer is taken for it.
-- A turn that is over has said something: if that is all there is, it is no prompt, though it may end like it.
local function is_prompt(block, is_last, prompt, is_answer)
  if not block.prose or is_answer then
    return false
  elseif not prompt then
    return not is_last
  end
  local rest = text.trim_right(table.concat(block.lines, "\n"))
  local ending = text.squeeze(rest:match("^.*\n(.*)$") or rest)
  return text.has(prompt, text.squeeze(block.lines[1])) and prompt:sub(-#ending) == ending
end

-- What was said and which tools were called. `over`: what looks like a call that has no result yet is text.
local function texts_of(reader, prompt, over)
  local words, tools, said, cut, open = {}, {}, nil, nil, nil
  for i, block in ipairs(reader.blocks) do
    local tool, is_text, pending = settle(block, i == #reader.blocks, over)
    if tool and not (pending and over) then
      tools[#tools + 1] = not block.folded and tool or nil
      open = pending and text.trim_right(table.concat(block.lines, "\n"))
    elseif (is_text or pending) and not is_prompt(block, i == #reader.blocks, prompt, over and #reader.blocks == 1) then
      said = text.trim_right(table.concat(block.lines, "\n"))
      words[#words + 1] = said
      cut = cut or block.prose
    end
  end
  return words, tools, said, cut, open
end

-- The error that a turn ended with, and the rest of its texts.
local function failure_of(reader, words, said)
  local ending = reader.blocks[#reader.blocks]
  if not ending then
    return reader.notice and is_banner(reader.notice) and turn.error_of(reader.notice) or nil
  elseif reader.failure then
    return turn.error_of(reader.failure)
  elseif said and ending.lines[1] == said:match("^[^\n]*") and is_api_error(said) then
    words[#words] = nil
    return turn.error_of((said:gsub("\n", " ")))
  end
end

-- Reads the last turn of a screen, if it was not taken back before it was answered. `prompt` is what began it, `asides`
-- what was said into it, both without blanks, where that is known.
function turn.read(view, taken_back, prompt, asides)
  local rows, last = view.rows, last_of(view)
  local first = taken_back and last or start_of(rows, last, asides or {})
  local refused = first > 0 and text.starts(rows[first] or "", NO_COMMAND) and (not prompt or text.starts(prompt, "/"))
  local command = refused or first > 0 and (rows[first] or ""):find("^❯ /%w") ~= nil
  local begun = first > 0
  local reader = { blocks = {}, done = false, begun = begun, command = command, whole = begun or is_top(rows),
    corners = view.corners }
  setmetatable(reader, Reader)
  for i = first + 1, last do
    reader:row(rows, i, last)
  end
  local stopped = not reader.done and reader.stop and is_stop(reader.stop) and reader.stop or nil
  if stopped and reader.stopped_at then
    local lines = reader.stopped_at.block.lines
    table.move({}, 1, #lines, reader.stopped_at.line, lines)
  end

  local words, tools, said, cut, pending = texts_of(reader, prompt, reader.done)
  local failure = failure_of(reader, words, said)
  -- `pending` is the text of the last tool, if that may be an answer as well.
  local found = { pending = pending, progress = reader.progress, tools = tools, command = command, stopped = stopped }
  found.text = #words > 0 and table.concat(words, "\n\n") or nil
  found.cut = cut
  found.answered = #reader.blocks > 0
  -- A command of Claude Code's own is over once something stands under it.
  found.done = reader.done or reader.unknown or refused and not found.progress or command and reader.notice ~= nil and not found.answered and not found.progress

  local ending = reader.blocks[#reader.blocks]
  if ending and text.starts(ending.head, "User declined") then
    found.stopped = ending.head
  end
  found.error = failure
  if reader.progress and text.has(reader.progress, " · Retrying in ") then
    found.retrying = turn.error_of(reader.progress)
  end
  return found
end

return turn
