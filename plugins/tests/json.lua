-- Enough JSON for the expectations of the fixtures. The host has its own; this is for tests only.

local json = {}

json.null = setmetatable({}, { __tostring = function() return "null" end })

local ESCAPES = { b = "\b", f = "\f", n = "\n", r = "\r", t = "\t" }

local value

local function skip(source, at)
  return source:find("%S", at) or #source + 1
end

local function string_at(source, at)
  local out, i = {}, at + 1
  while true do
    local from, _, run, stop = source:find('^([^"\\]*)(["\\])', i)
    assert(from, "unterminated string")
    out[#out + 1] = run
    i = from + #run + 1
    if stop == '"' then
      return table.concat(out), i
    end
    local letter = source:sub(i, i)
    if letter == "u" then
      out[#out + 1] = utf8.char(tonumber(source:sub(i + 1, i + 4), 16))
      i = i + 5
    else
      out[#out + 1] = ESCAPES[letter] or letter
      i = i + 1
    end
  end
end

local function list_at(source, at, close, read)
  local i = skip(source, at + 1)
  if source:sub(i, i) == close then
    return i + 1
  end
  while true do
    i = skip(source, read(i))
    local letter = source:sub(i, i)
    if letter == close then
      return i + 1
    end
    assert(letter == ",", "expected `,` at " .. i)
    i = skip(source, i + 1)
  end
end

function value(source, at)
  local i = skip(source, at)
  local letter = source:sub(i, i)
  if letter == '"' then
    return string_at(source, i)
  elseif letter == "{" then
    local out = {}
    local after = list_at(source, i, "}", function(j)
      local key, colon = string_at(source, j)
      colon = skip(source, colon)
      assert(source:sub(colon, colon) == ":", "expected `:` at " .. colon)
      local item, ends = value(source, colon + 1)
      out[key] = item
      return ends
    end)
    return out, after
  elseif letter == "[" then
    local out = {}
    local after = list_at(source, i, "]", function(j)
      local item, ends = value(source, j)
      out[#out + 1] = item
      return ends
    end)
    return out, after
  end
  for word, meaning in pairs({ ["true"] = true, ["false"] = false, null = json.null }) do
    if source:sub(i, i + #word - 1) == word then
      return meaning, i + #word
    end
  end
  local number = source:match("^-?[%d%.eE+-]+", i)
  return assert(tonumber(number), "bad JSON at " .. i), i + #number
end

function json.decode(source)
  return (value(source, 1))
end

local function quote(words)
  return '"' .. words:gsub('[%c"\\]', function(letter)
    return letter == "\n" and "\\n" or letter == '"' and '\\"' or letter == "\\" and "\\\\"
      or string.format("\\u%04x", letter:byte())
  end) .. '"'
end

-- With sorted keys, so that two encodings of the same thing are the same.
function json.encode(item, indent)
  local pad = indent or ""
  if item == json.null or item == nil then
    return "null"
  elseif type(item) == "string" then
    return quote(item)
  elseif type(item) ~= "table" then
    return tostring(item)
  end
  local more, out = pad .. "  ", {}
  if #item > 0 then
    for _, inner in ipairs(item) do
      out[#out + 1] = more .. json.encode(inner, more)
    end
    return "[\n" .. table.concat(out, ",\n") .. "\n" .. pad .. "]"
  end
  local keys = {}
  for key in pairs(item) do
    keys[#keys + 1] = key
  end
  table.sort(keys)
  for _, key in ipairs(keys) do
    out[#out + 1] = more .. quote(key) .. ": " .. json.encode(item[key], more)
  end
  return #out == 0 and "{}" or "{\n" .. table.concat(out, ",\n") .. "\n" .. pad .. "}"
end

return json
