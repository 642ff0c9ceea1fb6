-- The params of an intent.

local params = {}

-- The text by a name, if there is one.
function params.wanted(given, name)
  local value = given[name]
  if value ~= nil and type(value) ~= "string" then
    error("invalid_params: `" .. name .. "` must be a string", 0)
  end
  return value
end

return params
