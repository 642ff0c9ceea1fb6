-- Runs the fixtures of a plugin and the tests beside this file: lua5.4 run.lua [--accept]; `cargo xtask test` does so, too.
--
-- A fixture is NAME.txt, the screen, and NAME.expected.json: state, evidence, last_intent or null,
-- min_confidence (0.6 without it), metadata (compared whole, where given). NAME.transcript, where it
-- is there, is what the program printed. Every fixture is fed as the host feeds it, 300 ms quiet.
-- `--accept` writes the metadata that came out into expectations that hold any.

local here = arg[0]:match("^(.*)/") or "."
package.path = here .. "/?.lua;" .. package.path
local host, json = require("host"), require("json")

local passed, failed = 0, 0

local function check(name, holds, why)
  if holds then
    passed = passed + 1
  else
    failed = failed + 1
    print("FAILED " .. name .. ": " .. tostring(why))
  end
end

local function files(folder, ending)
  local names = {}
  local list = assert(io.popen("ls '" .. folder .. "'"))
  for name in list:lines() do
    names[#names + 1] = name:match("^(.*)" .. ending:gsub("%.", "%%.") .. "$")
  end
  list:close()
  return names
end

local function optional(path)
  local file = io.open(path)
  if file then
    file:close()
    return host.read(path)
  end
end

local function null(value)
  if value ~= json.null then
    return value
  end
end

local function fixture(exports, folder, name)
  local expected = optional(folder .. name .. ".expected.json")
  check(name, expected, "has no expectation")
  if not expected then
    return
  end
  expected = json.decode(expected)
  local out = exports.classify(host.input(host.read(folder .. name .. ".txt"), {
    last_intent = null(expected.last_intent),
    transcript = optional(folder .. name .. ".transcript"),
  }))
  check(name .. " state", out.state == expected.state, out.state .. " instead of " .. expected.state .. " (" .. out.evidence .. ")")
  check(name .. " evidence", out.evidence == expected.evidence, out.evidence)
  check(name .. " confidence", out.confidence >= (expected.min_confidence or 0.6), out.confidence)
  if expected.metadata then
    local want, got = json.encode(expected.metadata), json.encode(out.metadata)
    if want ~= got and arg[1] == "--accept" then
      expected.metadata = out.metadata
      local file = assert(io.open(folder .. name .. ".expected.json", "w"))
      file:write(json.encode(expected), "\n")
      file:close()
    else
      check(name .. " metadata", want == got, "\n" .. got)
    end
  end
end

for _, plugin in ipairs({ "claude-code", "shell" }) do
  local folder = here .. "/../" .. plugin
  local exports = host.load(folder)
  local count = 0
  for _, name in ipairs(files(folder .. "/fixtures", ".txt")) do
    fixture(exports, folder .. "/fixtures/", name)
    count = count + 1
  end
  print(plugin .. ": " .. count .. " fixtures")
  for _, entry in ipairs(exports.describe().intents) do
    check(plugin .. " " .. entry.name, type(exports[entry.name]) == "function", "is described and not there")
  end
  for _, entry in ipairs(exports.describe().wait_matchers) do
    check(plugin .. " " .. entry.name, type(exports[entry.name]) == "function", "is described and not there")
  end
end

for _, name in ipairs({ "claude_dialogs", "claude_guards", "claude_intents", "claude_states", "shell_states", "speed" }) do
  require(name)(check, host, here)
end

print(passed .. " passed, " .. failed .. " failed")
os.exit(failed == 0)
