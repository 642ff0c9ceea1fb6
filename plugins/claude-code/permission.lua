-- What a permission dialog asks: which tool, for what, and what of it is sure.
--
-- Under its rule a dialog says itself what it is. Of one that is taller than the screen only the end is to be seen, and
-- all that stands above its question there was written by the model: a command may well end like the dialog of
-- another, harmless tool. Then nothing of it is told but what Claude Code wrote itself.

local text = require("text")
local rows = require("rows")

-- The titles of permission dialogs and the tool that asks. Others name themselves.
local TOOLS = {
  ["Bash command"] = "Bash",
  ["Create file"] = "Write",
  ["Overwrite file"] = "Write",
  ["Edit file"] = "Edit",
  ["Edit notebook"] = "NotebookEdit",
  ["Read file"] = "Read",
  ["Fetch"] = "WebFetch",
  ["Web Search"] = "WebSearch",
}

-- The question alone, for a dialog whose title scrolled off. It stands under the dashes that end what is to be written.
local QUESTIONS = {
  { "^Do you want to create (.+)%?$", "Write" },
  { "^Do you want to overwrite (.+)%?$", "Write" },
  { "^Do you want to make this edit to (.+)%?$", "Edit" },
}

-- Claude Code writes the command and, in a row of its own, what it is for, then a blank row. If the purpose is blank as
-- well, or nothing that can be seen, the row above is still the command's. What Claude Code has to say itself is further
-- to the left.
local function bash_parts(lines, first, last)
  local notice = first
  while notice <= last and (lines[notice] == "" or text.starts(lines[notice], "   ")) do
    notice = notice + 1
  end
  local body = rows.body(lines, first, notice - 1)
  local told = notice - 2 > first and lines[notice - 1] == "" and lines[notice - 2] ~= ""
  local purpose = told and #body > 1 and table.remove(body) or nil
  local said = rows.body(lines, notice, last)
  return table.concat(body, "\n"), purpose, said[1] and table.concat(said, " ")
end

-- The path under the title, which may be longer than a row, or have newlines in it.
local function path_of(lines, first, last, width)
  local path, filled = nil, false
  for i = first, last do
    if rows.is_dashes(lines[i]) then
      break
    elseif lines[i] ~= "" then
      path = path and (path .. (filled and "" or "\n") .. text.trim(lines[i])) or text.trim(lines[i])
      filled = width and utf8.len(lines[i]) and utf8.len(lines[i]) >= width - 2
    end
  end
  return path
end

-- All that stands between the last dashes and the options: a name in the question may have blank rows in it.
local function under_dashes(lines, first)
  local dashes = rows.dashes_above(lines, first)
  if not dashes then
    return nil
  end
  local width, question, filled = utf8.len(lines[dashes]), nil, false
  for i = dashes + 1, first - 1 do
    local row = text.trim(lines[i])
    if row ~= "" then
      question = question and (question .. (filled and "" or " ") .. row) or row
      -- A word that is longer than a row goes on in the next one.
      filled = not row:find(" ", 1, true) and (utf8.len(lines[i]) or 0) >= width - 1
    end
  end
  return question
end

-- What a permission dialog without its head still tells: nothing that stands further up than its question, since that
-- is what the model wrote.
local function headless(lines, list)
  local tool, summary
  local question = under_dashes(lines, list.first)
  for _, known in ipairs(question and QUESTIONS or {}) do
    local found = question:match(known[1])
    if found then
      tool, summary = known[2], found
    end
  end
  if not tool then
    -- Any other question may be the end of a name with newlines in it.
    question = rows.question_above(lines, list.first)
    question = question == "Do you want to proceed?" and question or nil
  end
  -- Enough rows to tell one dialog from the next.
  local seed = tool and tool .. ":" .. summary or "::" .. table.concat(lines, "\n", math.max(1, list.first - 20), list.first - 1)
  return tool and "permission" or "headless", "perm:" .. seed, { tool = tool, summary = summary, question = question }
end

-- How many rows a narrow screen may break a title into.
local TITLE_ROWS = 4

-- The title without the agent that asks, if it is not Claude itself: `Bash command · from the general-purpose agent`. A
-- narrow screen breaks both, in columns of their own. Also the last of their rows.
local function title_of(lines)
  local title, row = rows.first(lines)
  local column = lines[row]:find("· from", 1, true)
  local name, agent = "", ""
  for i = row, column and math.min(#lines, row + TITLE_ROWS - 1) or 0 do
    name = name .. " " .. text.trim(lines[i]:sub(1, column - 1))
    agent = agent .. " " .. text.trim(lines[i]:sub(column))
    local whose = agent:match("^ · from the (.+) agent$")
    if whose then
      return text.trim(name), i, whose
    end
  end
  return title, row
end

local function headed(lines, list, width)
  local title, title_row, agent = title_of(lines)
  local question, question_row = rows.question_above(lines, list.first)
  local tool, summary, description, notice = TOOLS[title] or title, nil, nil, nil
  if tool == "Bash" then
    summary, description, notice = bash_parts(lines, title_row + 1, question_row)
  elseif tool == "Write" or tool == "Edit" or tool == "NotebookEdit" then
    summary = path_of(lines, title_row + 1, question_row, width)
    question = under_dashes(lines, list.first) or question
  else
    local body = rows.body(lines, title_row + 1, question_row)
    summary = tool == "Read" and body[1] or body[1] and table.concat(body, "\n")
  end
  summary = summary or question
  return "permission", "perm:" .. tool .. ":" .. summary,
    { tool = tool, agent = agent, summary = summary, description = description, notice = notice, question = question }
end

return function(view, lines, list)
  local kind, seed, asked
  if view.framed then
    kind, seed, asked = headed(lines, list, view.width)
  else
    kind, seed, asked = headless(lines, list)
  end
  -- Nothing stands under these options but the rest of their labels.
  for _, option in ipairs(list.options) do
    if option.description then
      option.label, option.description = option.label .. " " .. option.description, nil
    end
  end
  asked.options = list.options
  return { kind = kind, id = text.fnv1a(seed), options = list.options, metadata = { permission = asked } }
end

