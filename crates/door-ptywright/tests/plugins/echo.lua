-- Drives a program that prompts with `> ` and answers `said ...`.
local M = {}

function M.classify(input)
  if input.screen:find("> $") then
    local metadata = { said = input.screen:match("said ([^\n]*)\n> $") }
    return { state = "ready", confidence = 0.9, evidence = "a prompt", metadata = metadata }
  end
  return { state = "busy", confidence = 0.5, evidence = "no prompt" }
end

function M.say(params)
  return {
    actions = { ptywright.action.text(params.text), ptywright.action.key("enter") },
    last_intent = "said",
  }
end

function M.wait_turn_matcher()
  return ptywright.matcher.contains_text("said")
end

function M.wait_never_matcher()
  return ptywright.matcher.contains_text("never")
end

-- A predicate: whether the screen shows a text.
function M.shows(input)
  local at = input.screen:find(input.params.text, 1, true)
  return { matched = at ~= nil, evidence = "on the screen", capture = at }
end

-- A predicate that tells all it sees.
function M.tells(input)
  return { matched = true, evidence = { screen = input.screen } }
end

return M
