-- What people type in the console, made of the one function `host` that the program gives us:
-- `host(name, tab, ...)` gives `true` and results, or `false` and what went wrong. `go_on()` fails once
-- all that runs is to stop.
local host, print_text, go_on = ...

-- An error that was caught is raised again when all is to stop.
local function unless_stopped(...)
  go_on()
  return ...
end

local pcall_alone, xpcall_alone, resume_alone = pcall, xpcall, coroutine.resume

function pcall(...)
  return unless_stopped(pcall_alone(...))
end

function xpcall(...)
  return unless_stopped(xpcall_alone(...))
end

function coroutine.resume(...)
  return unless_stopped(resume_alone(...))
end

local Fault = {}
Fault.__index = Fault
Fault.__name = "fault"
function Fault:__tostring()
  if self.code then
    return string.format("%s (%d)", self.message, self.code)
  end
  return self.message
end

local Tab = {}
Tab.__index = Tab
Tab.__name = "tab"
function Tab:__tostring()
  return self.id .. " " .. (self.plugin or self.program or "session")
end
function Tab.__eq(one, other)
  return one.id == other.id
end

local function finish(ok, ...)
  if not ok then
    error(setmetatable((...), Fault), 0)
  end
  return ...
end

local function is_tab(value)
  return type(value) == "table" and getmetatable(value) == Tab
end

-- Each is a function on the focused tab, and a method of every tab.
for _, name in ipairs { "send", "wait", "turn", "state", "transcript", "screen", "view", "inspect",
  "close", "kill", "resize", "focus" } do
  Tab[name] = function(tab, ...)
    if not is_tab(tab) then
      error("write tab:" .. name .. "(…), with a colon", 2)
    end
    return finish(host(name, tab.id, ...))
  end
  _G[name] = function(first, ...)
    if is_tab(first) then
      return finish(host(name, first.id, ...))
    end
    return finish(host(name, nil, first, ...))
  end
end

for _, name in ipairs { "plugins", "cancel_wait" } do
  _G[name] = function(...)
    return finish(host(name, nil, ...))
  end
end

function session(...)
  return setmetatable(finish(host("session", nil, ...)), Tab)
end

function tab(id)
  return setmetatable(finish(host("tab", nil, id)), Tab)
end

function rpc(method, params)
  return finish(host("rpc", nil, method, params))
end

-- What is waited for.
function re(pattern)
  return { type = "screen_regex", value = pattern }
end

local function matcher(value)
  if type(value) == "table" then
    return value
  end
  return { type = "contains_text", value = tostring(value) }
end

local function all_of(kind, ...)
  local list = {}
  for index, value in ipairs { ... } do
    list[index] = matcher(value)
  end
  return { type = kind, value = list }
end

function any(...)
  return all_of("any", ...)
end

function all(...)
  return all_of("all", ...)
end

function matches(first, ...)
  if select("#", ...) > 0 then
    return any(first, ...)
  end
  return matcher(first)
end

function screen_stable(min_ms)
  return { type = "screen_stable", value = { min_ms = min_ms or 300 } }
end

function exited()
  return { type = "process_exited" }
end

-- Times are in milliseconds.
local function time(name, count, unit)
  local number = tonumber(count)
  if not number then
    local given = count == nil and "nothing" or "a " .. type(count)
    error(name .. "(n) takes a number, not " .. given, 3)
  end
  return math.floor(number * unit)
end

function ms(count)
  local milliseconds = time("ms", count, 1)
  return milliseconds
end

function s(count)
  local milliseconds = time("s", count, 1000)
  return milliseconds
end

function print(...)
  local texts = table.pack(...)
  for index = 1, texts.n do
    texts[index] = tostring(texts[index])
  end
  print_text(table.concat(texts, "\t"))
end

-- Other writers of the same stream do not wait for a buffer.
io.stdout:setvbuf("no")

-- Runs a chunk: `true` and its results, or `false` and what it failed with.
return pcall_alone
