-- What goes into the composer: prompts, commands and files, as plans of actions.
--
-- A composer is not always empty, nor always there, and not all that is typed into it stays text. README.md has the
-- findings that these plans rest on.

local seen = require("seen")
local submission = require("submission")
local text = require("text")
local wanted = require("params").wanted
local action = ptywright.action

local prompts = {}

-- How long it may take behind the dialog of a folder until the composer is there.
local TRUSTED_MS = 3000

-- A folder that was just trusted has its composer soon: the host waits for it, while the dialog is taken away.
local function is_trusted()
  local since = seen.trusted_ms and seen.clock_ms and seen.clock_ms - seen.trusted_ms
  local is_other = seen.dialog and seen.dialog.id
  return since ~= nil and since < TRUSTED_MS and not is_other
end

-- A dialog takes the Enter behind a prompt for its answer, most often a yes; another screen searches for it, or opens
-- an editor. One that is only for reading is left: the host sees to it that the composer is back before it types on. One
-- that was answered just now goes by itself, and the host waits for that, too (`may_type`).
local function to_composer(actions)
  local goes = seen.answered or is_trusted()
  if seen.asks and seen.for_reading and not goes then
    actions[#actions + 1] = action.key("escape")
  elseif seen.asks and not goes then
    error("dialog_open: the state is `" .. seen.asks .. "`, nothing was typed; answer or leave it first", 0)
  elseif seen.shell then
    error(submission.SHELL_MODE, 0)
  end
  return actions
end

-- Looked for one by one: that is a hundred times faster than a pattern, and a prompt may be a whole file.
local CONTROLS = { "\127" }
for code = 0, 31 do
  local control = string.char(code)
  CONTROLS[#CONTROLS + 1] = control ~= "\t" and control ~= "\n" and control or nil
end

-- U+0080 to U+009F, and what they begin with in UTF-8.
local C1, C1_HEAD = "\xc2[\x80-\x9f]", "\xc2"

-- A longer text takes too much time to be searched for those. If none is in so many bytes of its beginning and of its end,
-- what those are is known, and the rest is left to the host.
local SEARCHED, FIRST, LAST = 65536, 4096, 32768

-- How much of the end of a prompt is searched for its last line.
local LAST_LINE = 4096

local function has_c1(words)
  if #words > SEARCHED then
    return has_c1(words:sub(1, FIRST)) or has_c1(words:sub(-LAST))
  end
  return text.has(words, C1_HEAD) and words:find(C1) ~= nil
end

-- What arrives of a text. A control character would end the paste or press a key, so the host takes all of them away but
-- tabs and newlines; whoever looks at a text has to look at what is left of it.
local function arriving(words)
  if text.has(words, "\r") then
    words = words:gsub("\r\n?", "\n")
  end
  if has_c1(words) then
    words = words:gsub(C1, "")
  end
  for _, control in ipairs(CONTROLS) do
    if text.has(words, control) then
      return (words:gsub("[^%C\n\t]", ""))
    end
  end
  return words
end

local function checked_prompt(params)
  local prompt = wanted(params, "prompt")
  if not prompt then
    error("invalid_params: `prompt` is required", 0)
  end
  return arriving(prompt)
end

-- What ends Claude Code as a prompt of its own, whatever blanks are around it.
local EXITS = { ["exit"] = true, ["quit"] = true, [":q"] = true, [":q!"] = true, [":wq"] = true, [":wq!"] = true }

-- Blanks that Claude Code trims and Lua does not know: U+A0, U+1680, U+2000 to 200A, 2028, 2029, 202F, 205F, 3000, FEFF.
local BLANKS = { "\u{a0}", "\u{1680}", "\u{2028}", "\u{2029}", "\u{202f}", "\u{205f}", "\u{3000}", "\u{feff}" }
for code = 0x2000, 0x200a do
  BLANKS[#BLANKS + 1] = utf8.char(code)
end

local function check_exit(prompt)
  -- None of them is longer: nothing else has to be looked at.
  if #text.squeeze(prompt) >= 64 then
    return
  end
  local words = prompt
  for _, blank in ipairs(BLANKS) do
    words = words:gsub(blank, " ")
  end
  -- In the middle of a long text, which is blank otherwise, there may be some left.
  words = text.trim(words:gsub(C1, ""))
  if EXITS[words] then
    error("invalid_params: Claude Code would end at the prompt `" .. words .. "`, nothing was typed; say more, or run it with `slash_command`", 0)
  end
end

-- As typed text a prompt can be more than text: `!` in front runs a shell command at once, a backslash at the end
-- makes Enter a newline, and behind an `@` Enter takes the file that a menu offers. A blank at that side keeps it a
-- prompt. A slash stays: commands may come through here. But their menu offers the next best, `/logout` for `/logoutx`;
-- a newline closes it, and Claude Code trims it.
local function safe_prompt(prompt)
  if text.starts(prompt, "!") then
    prompt = " " .. prompt
  end
  local last_line = prompt:sub(-LAST_LINE):match("^.*\n(.*)$") or prompt
  if prompt:sub(-1) == "\\" or text.has(last_line, "@") and not last_line:find("%s$") then
    prompt = prompt .. " "
  end
  if text.starts(prompt, "/") and not text.has(prompt, "\n") then
    prompt = prompt .. "\n"
  end
  return prompt
end

-- Empties the composer, where a cancelled prompt may have come back. Each Ctrl+U takes a line or a
-- line break, and none of them does harm to an empty composer, as Escape or Ctrl+C would.
local function clear_composer(actions)
  if seen.composer ~= "text" and seen.composer ~= "pasted" then
    return
  end
  actions[#actions + 1] = action.key("ctrl_e")
  for _ = 1, 2 * math.max(1, seen.composer_rows or 1) do
    actions[#actions + 1] = action.key("ctrl_u")
  end
end

-- Whether the composer holds what `attach_file` put there, and whether nothing else. An image is shown by its number.
local function holds_files()
  local attached = seen.attached
  if not attached then
    return false, false
  end
  -- What was pasted just now is not all to be seen yet.
  if submission.is_due(seen.clock_ms) then
    return true, attached.alone
  end
  local rest = text.squeeze(seen.composer_text)
  for _, path in ipairs(attached) do
    local first, last = rest:find(text.squeeze(path), 1, true)
    if not first then
      first, last = rest:find("%[Image#%d+%]")
    end
    if not first then
      return false, false
    end
    rest = rest:sub(1, first - 1) .. rest:sub(last + 1)
  end
  return true, rest == ""
end

-- A path in front of a prompt can be more than a path: `!` runs a command of the shell, `/init` one of Claude Code's, and
-- `/` alone makes all behind it no prompt. The same file has another path that is none of these. No command has a second
-- slash in its name.
local function as_path(path)
  if text.starts(path, "!") then
    return "./" .. path
  end
  return (text.starts(path, "/") and not path:find("^/[%w%._%-]+/")) and "/." .. path or path
end

-- An image is taken for one only if its path is all of a paste; others have a blank before them.
local IMAGES = { png = true, jpg = true, jpeg = true, gif = true, webp = true }

local function file_pasted(path, is_first)
  local is_image = IMAGES[(path:match("%.(%w+)$") or ""):lower()]
  return action.bracketed_paste((is_first or is_image) and path or " " .. path)
end

-- Empties the composer but for files that wait there for this prompt, and gives those.
local function keep_files(actions)
  local holds, alone = holds_files()
  local files = holds and seen.attached or {}
  seen.attached = nil
  if holds and alone then
    return files
  end
  clear_composer(actions)
  for i, path in ipairs(files) do
    actions[#actions + 1] = file_pasted(path, i == 1)
  end
  return files
end

local function behind_files(files, prompt)
  return safe_prompt(#files > 0 and " " .. prompt or prompt)
end

function prompts.send_prompt(params)
  local prompt = checked_prompt(params)
  if not prompt:find("%S") then
    return { actions = {}, last_intent = "" }
  end
  local actions = to_composer({})
  if not holds_files() then
    check_exit(prompt)
  end
  local files = keep_files(actions)
  seen.coming = nil
  submission.begins(table.concat(files) .. prompt)
  submission.pastes(prompt)
  actions[#actions + 1] = action.mark_transcript("turn_start")
  actions[#actions + 1] = action.bracketed_paste(behind_files(files, prompt))
  actions[#actions + 1] = action.key("enter")
  return { actions = actions, last_intent = "prompt_submitted" }
end

function prompts.steer(params)
  local prompt = checked_prompt(params)
  if not prompt:find("%S") then
    error("invalid_params: `prompt` is empty", 0)
  end
  local actions = to_composer({})
  local holds = holds_files()
  if not holds then
    check_exit(prompt)
  end
  local files = holds and seen.attached or {}
  seen.attached, seen.typed, seen.ended = nil, false, nil
  -- Where nothing works it begins a turn, and the end that can be seen is that of the one before.
  seen.submitted = seen.conversation
  seen.aside = text.squeeze(table.concat(files) .. prompt)
  submission.adds(table.concat(files) .. prompt, seen.state ~= "thinking" or submission.is_ending())
  submission.pastes(prompt)
  actions[#actions + 1] = action.bracketed_paste(behind_files(files, prompt))
  actions[#actions + 1] = action.key("enter")
  return { actions = actions }
end

function prompts.slash_command(params)
  local command = wanted(params, "command") or wanted(params, "name")
  command = command and text.trim(arriving(command))
  if not command or command == "" or command == "/" then
    error("invalid_params: `command` is required, such as `usage`", 0)
  end
  if text.has(command, "\n") then
    error("invalid_params: `command` must be one line", 0)
  end
  if not text.starts(command, "/") then
    command = "/" .. command
  end
  local actions = to_composer({})
  if params.dismiss_welcome == true then
    actions[#actions + 1] = action.key("enter")
  end
  seen.of_its_own, seen.attached, seen.typed = false, nil, false
  clear_composer(actions)
  if seen.state == "thinking" and not submission.is_ending() then
    -- Its screen opens over the turn, and is echoed in the middle of it.
    submission.adds(command, false)
  end
  submission.pastes(command)
  actions[#actions + 1] = action.bracketed_paste(safe_prompt(command))
  actions[#actions + 1] = action.key("enter")
  return { actions = actions }
end

function prompts.attach_file(params)
  local path = wanted(params, "path")
  if not path or text.trim(path) == "" then
    error("invalid_params: `path` is required", 0)
  end
  if path:find("%c") or path:find(C1) then
    error("invalid_params: `path` must be one line without control characters", 0)
  end
  path = as_path(path)
  local actions = to_composer({})
  local holds, alone = holds_files()
  local attached = holds and seen.attached or {}
  if not holds then
    -- What somebody typed with `key` stays; what a cancelled turn left does not.
    alone = seen.composer_text == "" or not seen.typed
    if alone then
      clear_composer(actions)
    end
  end
  attached[#attached + 1] = path
  attached.alone = alone
  submission.expects(path)
  seen.attached, seen.aside = attached, text.squeeze(table.concat(attached))
  actions[#actions + 1] = file_pasted(path, not holds)
  return { actions = actions }
end

return prompts
