-- Waits for what was sent last, and cannot say what to wait for before.
local M = {}
local sent

function M.classify(input)
  return { state = input.process_exited and "over" or "up", metadata = { stable_ms = input.stable_ms } }
end

function M.go(params)
  sent = params.text
  return { actions = { ptywright.action.text(sent), ptywright.action.key("enter") } }
end

function M.stop()
  return { actions = { ptywright.action.eof() } }
end

function M.wait_turn_matcher()
  local text = sent or error("nothing was sent", 0)
  sent = nil
  return ptywright.matcher.contains_text(text)
end

function M.wait_never_matcher()
  return ptywright.matcher.contains_text("never")
end

return M
