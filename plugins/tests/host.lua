-- A stand-in for the plugin host: the `ptywright` global and a `require` that sees one folder.
--
-- A plugin gets the libraries it has in the real host and no others.

local host = {}

local function tagged(kind)
  return function(value)
    return { type = kind, value = value }
  end
end

local function globals()
  local action, matcher = {}, {}
  for _, kind in ipairs({ "text", "paste", "bracketed_paste", "key", "interrupt", "eof", "stream_text", "kill", "signal" }) do
    action[kind] = tagged(kind)
  end
  action.mark_transcript = function(label)
    return { type = "mark_transcript", value = { label = label } }
  end
  for _, kind in ipairs({ "contains_text", "screen_regex", "transcript_contains", "transcript_regex", "process_exited", "any", "all" }) do
    matcher[kind] = tagged(kind)
  end
  matcher.screen_stable = function(ms)
    return { type = "screen_stable", value = { min_ms = ms } }
  end
  return { action = action, matcher = matcher }
end

-- The exports of the plugin in `folder`, as one adapter would have them.
function host.load(folder)
  local env = { ptywright = globals(), table = table, string = string, math = math, utf8 = utf8 }
  for _, name in ipairs({ "assert", "error", "ipairs", "next", "pairs", "pcall", "rawequal", "rawget", "rawlen", "rawset", "select", "setmetatable", "getmetatable", "tonumber", "tostring", "type", "xpcall" }) do
    env[name] = _G[name]
  end
  env._G = env
  local loaded = {}
  function env.require(name)
    assert(name:find("^[%w_]+$"), "not a name of this folder: " .. name)
    if loaded[name] == nil then
      loaded[name] = assert(loadfile(folder .. "/" .. name .. ".lua", "t", env))()
    end
    return loaded[name]
  end
  return env.require("main")
end

function host.read(path)
  local file = assert(io.open(path))
  local all = file:read("a")
  file:close()
  return all
end

function host.input(screen, more)
  local input = {
    screen = screen, body_text = screen, status_text = "", transcript = "", sequence = 1,
    stable_ms = 300, completed_turn_stable_ms = 300, markers = {}, cursor = 0,
  }
  for key, item in pairs(more or {}) do
    input[key] = item
  end
  return input
end

return host
