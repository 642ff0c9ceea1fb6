-- Prints the wait matchers of a plugin as JSON, for `waits.py`: lua5.4 matchers.lua PLUGIN

package.path = (arg[0]:match("^(.*)/") or ".") .. "/?.lua;" .. package.path
local host, json = require("host"), require("json")

local exports, trees = host.load(arg[1]), {}
-- Before anything was sent the composer alone ends a wait.
local send = exports.send_prompt or exports.run
send({ prompt = "go", command = "go" })
for _, entry in ipairs(exports.describe().wait_matchers) do
  trees[entry.name] = exports[entry.name]({ completed_turn_stable_ms = 300 })
end
print(json.encode(trees))
