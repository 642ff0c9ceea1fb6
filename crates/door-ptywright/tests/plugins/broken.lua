-- Fails in every way a plugin can.
local M = {}

function M.classify()
  error("no idea")
end

function M.forever()
  while true do
  end
end

function M.nothing()
  return nil
end

function M.nonsense()
  return { actions = { { type = "dance" } } }
end

function M.half()
  return { actions = { { type = "text", value = "half" }, { type = "key", value = "hyper" } } }
end

function M.wait_turn_matcher()
  return { type = "screen_regex", value = "(" }
end

return M
