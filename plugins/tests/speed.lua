-- A classifier runs on every change of a screen: how long that takes. Told, not checked; `cargo xtask bench spine` compares it.

local ROUNDS = 200

return function(_, host, here)
  local exports = host.load(here .. "/../claude-code")
  local slowest, name = 0, nil
  for _, screen in ipairs({ "permission_write_long", "completed", "config", "quoted_permission_dialog" }) do
    local input = host.input(host.read(here .. "/../claude-code/fixtures/" .. screen .. ".txt"), { last_intent = "prompt_submitted" })
    local begun = os.clock()
    for _ = 1, ROUNDS do
      exports.classify(input)
    end
    local each = (os.clock() - begun) / ROUNDS
    if each > slowest then
      slowest, name = each, screen
    end
  end
  print(string.format("classify: %.3f ms at most (%s)", slowest * 1000, name))
end
