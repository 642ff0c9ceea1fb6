-- Prints what a plugin says about a screen: lua5.4 show.lua PLUGIN SCREEN.txt [LAST_INTENT]

package.path = (arg[0]:match("^(.*)/") or ".") .. "/?.lua;" .. package.path
local host, json = require("host"), require("json")

local exports = host.load(arg[1])
local out = exports.classify(host.input(host.read(arg[2]), { last_intent = arg[3] }))
print(json.encode(out))
