-- What the conversation above the composer shows of the last turn: its text, its tools, whether
-- work goes on, how it ended.
--
-- A turn begins at the last row that echoes a prompt (`❯ words` in the first column). Only rows in
-- the first column are Claude Code's own: `●` begins a block, `✻ … for 3s` ends a turn, a glyph with
-- an ellipsis is work in progress. An answer that quotes them is indented and does not count.

local text = require("text")

local turn = {}

local PROMPTS = { "❯ ", "! " }
local BULLETS = { "● ", "⏺ " }
local RESULT = "  ⎿"
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
}

-- The banners of an error. They stand where an answer would begin, or under the prompt itself.
local BANNERS = {
  "^API Error:? ",
  "^API Error$",
  "^Credit balance too low",
  "^Credit balance is too low",
  "^Not logged in",
  "^Invalid API key",
  "^Please run /login",
  "^Unable to connect to Anthropic",
  "^Claude usage limit reached",
  "^You've hit your",
}

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

function turn.is_banner(row)
  for _, banner in ipairs(BANNERS) do
    if row:find(banner) then
      return true
    end
  end
  return false
end

local function spinner_of(row)
  local _, rest = text.glyph(row, SPINNERS)
  if not rest or not rest:find("^%s%S") then
    return nil
  end
  rest = text.trim(rest)
  -- `Whisking…`, `Boogieing… (2s · ↓ 12 tokens)`, `API error · Retrying in 4s · attempt 4/10`.
  if rest:find("^.-…$") or rest:find("^.-…%s*%(") or rest:find(" · Retrying in %d") then
    return rest
  end
end

local function completion_of(row)
  return text.starts(row, "✻ ") and row:find(" for %d") ~= nil
end

local function start_of(rows, last)
  for i = last, 1, -1 do
    if text.glyph(rows[i], PROMPTS) then
      return i
    end
  end
  return 0
end

-- `Bash(ls)`, `Web Search("x")`, and `Bash(cat <<EOF` whose end is in a later row.
local function tool_of(head)
  local name, rest = head:match("^(%u[%w_%-%.]*)%((.*)$")
  if not name then
    -- One of a server: `server - tool (MCP)(…)`.
    name, rest = head:match("^([%w_%-%.]+ %- [%w_%-%. ]- ?%(MCP%))%((.*)$")
  end
  if name then
    return { name = name, summary = (rest:gsub("%)$", "")) }
  end
end

local function result_of(row)
  return text.trim(row:sub(#RESULT + 1))
end

-- A row that looks like prose and is a tool: its bullet blinks, or many calls are folded into it.
local function unmarked_tool(rows, i, last)
  local head = rows[i]:match("^  (%S.*)$")
  if not head or i > 1 and rows[i - 1] ~= "" then
    return nil
  end
  local folded = head:match("^(.-)%s*%(ctrl%+o to expand%)$")
  if folded then
    local name, rest = folded:match("^(%a+)%s*(.*)$")
    return name and { name = name, summary = rest }
  end
  if i < last and text.starts(rows[i + 1], RESULT) then
    return tool_of(head)
  end
end

local Reader = {}
Reader.__index = Reader

function Reader:open(block)
  self.block = block
  self.blocks[#self.blocks + 1] = block
end

function Reader:bullet(head)
  self:open({ head = head, lines = { head }, tool = nil, result = nil })
end

function Reader:result(row)
  local words = result_of(row)
  if self.block then
    self.block.result = self.block.result or words
  else
    self.notice = self.notice or words
  end
  self.stop = words
end

function Reader:row(rows, i, last)
  local row = rows[i]
  if row == "" then
    if self.block and not self.block.result then
      self.block.lines[#self.block.lines + 1] = ""
    end
    return
  end
  local _, head = text.glyph(row, BULLETS)
  if completion_of(row) then
    self.done, self.progress = true, nil
    return
  end
  local progress = spinner_of(row)
  if progress then
    self.progress, self.done = progress, false
  elseif head then
    self.done, self.stop, self.progress = false, nil, nil
    self:bullet(head)
  elseif text.starts(row, RESULT) then
    if not self.progress then
      self:result(row)
    end
  else
    local tool = unmarked_tool(rows, i, last)
    if tool then
      self:open({ head = row, lines = {}, tool = tool })
    elseif self.block and not self.block.result and not self.progress then
      self.block.lines[#self.block.lines + 1] = (row:gsub("^  ", ""))
    end
  end
end

-- Whether a block is a tool call: `Name(…)` with a result under it, or nothing behind it yet.
local function settle(block, is_last)
  local stopped = block.result and block.result:find(INTERRUPTED) ~= nil
  local tool = block.tool or tool_of(block.head)
  if not block.tool and tool then
    local whole = block.head:sub(-1) == ")"
    if not (block.result and (not stopped or whole)) and not (is_last and whole) then
      tool = nil
    end
  end
  if tool then
    tool.result = block.result
    tool.running = block.result == "Running…" or block.result == "Waiting…" or (is_last and not block.result) or nil
  end
  return tool, not tool and (not block.result or stopped)
end

-- Reads the turn in the rows up to `last`.
function turn.read(rows, last)
  local first = start_of(rows, last)
  local reader = setmetatable({ blocks = {}, done = false }, Reader)
  for i = first + 1, last do
    reader:row(rows, i, last)
  end

  local found = { begun = first > 0, done = reader.done, progress = reader.progress, tools = {} }
  local words, said = {}, nil
  for i, block in ipairs(reader.blocks) do
    local tool, is_text = settle(block, i == #reader.blocks)
    if tool then
      found.tools[#found.tools + 1] = tool
    elseif is_text then
      said = text.trim_right(table.concat(block.lines, "\n"))
      words[#words + 1] = said
    end
  end
  found.text = #words > 0 and table.concat(words, "\n\n") or nil
  found.answered = #reader.blocks > 0
  -- A command of Claude Code's own is over once something stands under it.
  local command = first > 0 and rows[first]:find("^❯ /%w") ~= nil
  found.command = command
  found.done = found.done or command and reader.notice ~= nil and not found.answered and not found.progress

  for _, pattern in ipairs(STOPS) do
    if reader.stop and reader.stop:find(pattern) then
      found.stopped = reader.stop
    end
  end
  local ending = reader.blocks[#reader.blocks]
  if ending and text.starts(ending.head, "User declined") then
    found.stopped = ending.head
  end
  local banner = not ending and reader.notice or said and ending.lines[1] == said:match("^[^\n]*") and said
  if banner and turn.is_banner(banner) then
    found.error = turn.error_of((banner:gsub("\n", " ")))
  end
  if reader.progress and text.has(reader.progress, " · Retrying in ") then
    found.retrying = turn.error_of(reader.progress)
  end
  return found
end

return turn
