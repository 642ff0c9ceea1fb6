-- Runs first in every VM: takes out what a plugin may not have, puts back what it may.
--
-- What stays is either pure Lua, whose instructions are counted, or native code that is known to
-- end. `native` has what only the host can do. Upvalues are out of a plugin's reach, so it cannot
-- get at the originals kept here.

local native, granted = ...

local raw_pcall, raw_setmetatable = pcall, setmetatable
local raw_concat, raw_sort = table.concat, table.sort
local error, type, select, rawget, floor = error, type, select, rawget, math.floor

-- `load` could be given bytecode, and these two read files.
load, loadfile, dofile = nil, nil, nil
-- The daemon's output is not a plugin's; its garbage is nobody's business.
warn, collectgarbage = nil, nil
string.dump = nil

-- An error that ends a call cannot be caught: the meter raises it again.
local function settled(ok, ...)
  native.check()
  if ok then
    return true, ...
  end
  local problem = ...
  if type(problem) == "userdata" then
    problem = native.message(problem)
  end
  return false, problem
end

local function guarded(f, ...)
  return settled(raw_pcall(f, ...))
end
pcall = guarded

-- The handler runs after the stack is unwound: before that, in an error that the meter raised, no
-- instruction would be counted.
function xpcall(f, handler, ...)
  local function handled(ok, ...)
    if ok then
      return true, ...
    end
    return false, handler(...)
  end
  return handled(guarded(f, ...))
end

-- Nor are instructions counted in finalizers. What closes variables could go on after the meter's
-- error: if a plugin adds it to a metatable later, the host takes it away then.
local metatables = native.metatables
function setmetatable(t, metatable)
  if type(metatable) == "table" then
    metatables[metatable] = true
    for _, name in next, { "__gc", "__close" } do
      if rawget(metatable, name) ~= nil then
        error("`" .. name .. "` is not available to plugins", 2)
      end
    end
  end
  return raw_setmetatable(t, metatable)
end

-- What native code does with a long text takes as long as many instructions.
local LONG, BYTES_PER_INSTRUCTION = 4096, 8
local function charge(text)
  if type(text) == "string" and #text > LONG then
    native.spend(#text // BYTES_PER_INSTRUCTION)
  end
end

local function charged(library, name)
  local raw = library[name]
  library[name] = function(...)
    local first, second = ...
    charge(first)
    charge(second)
    return raw(...)
  end
end

for _, name in next, { "upper", "lower", "reverse", "byte", "unpack" } do
  charged(string, name)
end
for _, name in next, { "len", "codepoint", "offset" } do
  charged(utf8, name)
end
charged(_G, "tonumber")
-- A text that is calculated with is read as a number first.
for _, name in next, { "add", "sub", "mul", "mod", "pow", "div", "idiv", "unm" } do
  charged(getmetatable(""), "__" .. name)
end

getmetatable("").__metatable = false

local raw_format, raw_unpack = string.format, table.unpack

function string.format(...)
  for i = 1, select("#", ...) do
    charge((select(i, ...)))
  end
  return raw_format(...)
end

function table.unpack(list, first, last)
  first, last = first or 1, last or #list
  if type(first) == "number" and type(last) == "number" and last - first > LONG then
    native.spend(last - first)
  end
  return raw_unpack(list, first, last)
end

-- These would be native loops over as many places as a plugin likes to name.
function table.insert(t, ...)
  local count, length = select("#", ...), #t
  if count == 1 then
    t[length + 1] = (...)
  elseif count == 2 then
    local at, value = ...
    if type(at) ~= "number" or at < 1 or at > length + 1 or floor(at) ~= at then
      error("bad argument #2 to 'insert' (position out of bounds)", 2)
    end
    for i = length, at, -1 do
      t[i + 1] = t[i]
    end
    t[at] = value
  else
    error("wrong number of arguments to 'insert'", 2)
  end
end

function table.remove(t, at)
  local length = #t
  if at == nil then
    at = length
  elseif at ~= length and (type(at) ~= "number" or at < 1 or at > length + 1) then
    error("bad argument #2 to 'remove' (position out of bounds)", 2)
  end
  local value = t[at]
  while at < length do
    t[at] = t[at + 1]
    at = at + 1
  end
  t[at] = nil
  return value
end

function table.move(from, first, last, to, into)
  into = into or from
  if to > last or to <= first or into ~= from then
    for i = 0, last - first do
      into[to + i] = from[first + i]
    end
  else
    for i = last - first, 0, -1 do
      into[to + i] = from[first + i]
    end
  end
  return into
end

function table.concat(list, separator, first, last)
  first, last = first or 1, last or #list
  if type(first) ~= "number" or type(last) ~= "number" then
    error("bad argument to 'concat' (number expected)", 2)
  end
  native.spend(last > first and last - first or 0)
  local joined = raw_concat(list, separator, first, last)
  charge(joined)
  return joined
end

-- Comparing long texts natively is slow, and not seen by the meter.
local function less(a, b)
  return a < b
end

function table.sort(list, order)
  if order == nil then
    return raw_sort(list, less)
  end
  -- A native one would be called without an instruction being counted.
  return raw_sort(list, function(a, b)
    return order(a, b)
  end)
end

for name, replacement in next, native.string do
  string[name] = replacement
end

-- Modules of the plugin's own folder, each run once.
local loaded, loading = {}, {}

function require(name)
  local module = loaded[name]
  if module ~= nil then
    return module
  end
  if type(name) ~= "string" then
    error("bad argument #1 to 'require' (string expected)", 2)
  end
  if loading[name] then
    error("module `" .. name .. "` requires itself, or failed before", 2)
  end
  local chunk, problem = native.chunk(name)
  if not chunk then
    error(problem, 2)
  end
  loading[name] = true
  module = chunk(name)
  if module == nil then
    module = true
  end
  loaded[name], loading[name] = module, nil
  return module
end

local function expect(kind, name, value, level)
  if type(value) ~= kind then
    error("`" .. name .. "` takes a " .. kind .. ", not a " .. type(value), level or 3)
  end
  return value
end

-- Half of a number is seldom a whole one, and half a row is none.
local function whole(name, value)
  return floor(expect("number", name, value, 4))
end

local action, matcher = {}, {}

local function of_text(into, name)
  into[name] = function(value)
    return { type = name, value = expect("string", name, value) }
  end
end

local function bare(into, name)
  into[name] = function()
    return { type = name }
  end
end

if granted["input.write"] then
  of_text(action, "text")
  of_text(action, "paste")
  of_text(action, "bracketed_paste")
  of_text(action, "key")
  bare(action, "interrupt")
  bare(action, "eof")
  function action.mark_transcript(label)
    return { type = "mark_transcript", value = { label = expect("string", "mark_transcript", label) } }
  end
  function action.stream_text(text, options)
    options = options or {}
    return {
      type = "stream_text",
      value = {
        text = expect("string", "stream_text", text),
        chunk_chars = options.chunk_chars and whole("stream_text", options.chunk_chars),
        delay_ms = options.delay_ms and whole("stream_text", options.delay_ms),
      },
    }
  end
end

if granted["session.kill"] then
  bare(action, "kill")
  of_text(action, "signal")
end

if granted["session.resize"] then
  function action.resize(rows, cols)
    return {
      type = "resize",
      value = {
        rows = whole("resize", rows),
        cols = whole("resize", cols),
        pixel_width = 0,
        pixel_height = 0,
      },
    }
  end
end

if granted["matcher.wait"] then
  of_text(matcher, "contains_text")
  of_text(matcher, "screen_regex")
  of_text(matcher, "transcript_contains")
  of_text(matcher, "transcript_regex")
  bare(matcher, "process_exited")
  function matcher.screen_stable(ms)
    return {
      type = "screen_stable",
      value = { min_ms = whole("screen_stable", ms) },
    }
  end
  function matcher.cursor_at(row, col)
    return {
      type = "cursor_at",
      value = { row = whole("cursor_at", row), col = whole("cursor_at", col) },
    }
  end
  function matcher.lua(plugin, predicate, params)
    return {
      type = "lua",
      value = {
        plugin = expect("string", "lua", plugin),
        predicate = expect("string", "lua", predicate),
        params = params,
      },
    }
  end
  -- A list of matchers, or the matchers themselves.
  for _, name in next, { "any", "all" } do
    matcher[name] = function(first, ...)
      local list = first
      if first == nil then
        list = {}
      elseif expect("table", name, first).type ~= nil then
        list = { first, ... }
      end
      return { type = name, value = native.list(list) }
    end
  end
end

ptywright = {
  action = action,
  matcher = matcher,
  json = {
    encode = native.encode,
    decode = native.decode,
    null = native.null,
    list = native.list,
  },
  log = native.log,
}
print = native.log
