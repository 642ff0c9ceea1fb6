-- What a command line means to the shell that it was typed to: whether it leads into another shell, or out of this one.
--
-- It goes by words alone, as they were typed: what an alias or a function of the user's does is not known.
--
-- Not here: where a command was found (`marks.lua`), and what a shell in the shell looks like (`prompts.lua`).

local commands = {}

local function set(words)
  local found = {}
  for word in words:gmatch("%S+") do
    found[word] = true
  end
  return found
end

local SHELLS = set("bash sh zsh dash fish ksh mksh ash csh tcsh rbash elvish nu pwsh xonsh")
-- What gives its user a shell if it is told nothing else.
local OPENERS = set("su login newgrp chroot nsenter unshare nix-shell script ssh mosh telnet")
-- What runs the command behind it; its options may come between.
local WRAPPERS = set("exec env command builtin nohup nice time sudo doas")
local CONTAINERS = set("docker podman nerdctl kubectl oc lxc incus distrobox toolbox machinectl vagrant poetry pipenv nix guix")
-- Options with a word of their own behind them.
local WITH_VALUE = set("-u -g -p -i -l -o -O -F -J -L -R -D -n --rcfile --init-file --user --group")

local function base(word)
  return (word:gsub("^.*/", ""))
end

-- The words from `first` on that are neither options nor what belongs to them, and the options.
local function operands(words, first)
  local found, options, i = {}, {}, first
  while words[i] do
    if words[i]:find("^%-.") then
      options[#options + 1] = words[i]
      i = i + (WITH_VALUE[words[i]] and 1 or 0)
    else
      found[#found + 1] = words[i]
    end
    i = i + 1
  end
  return found, options
end

local function has_flag(options, letter)
  for _, option in ipairs(options) do
    if option:find("^%-%a*" .. letter) then
      return true
    end
  end
  return false
end

-- Whether a command, as it was typed, leads into another shell: `bash`, `sudo -i`, `ssh host`, but neither
-- `bash script` nor `ssh host command`.
function commands.opens_shell(command)
  local words = {}
  -- What is in quotes is one word, whatever it says.
  command = command:gsub("'[^']*'", "Q"):gsub('"[^"]*"', "Q")
  for word in command:match("[^;&|]*$"):gmatch("%S+") do
    words[#words + 1] = word
  end
  local i = 1
  while words[i] do
    local name = base(words[i])
    if (name == "sudo" or name == "doas") and words[i + 1] and words[i + 1]:find("^%-%-?%a*[is]") and not words[i + 2] then
      return true
    elseif not WRAPPERS[name] and not name:find("^[%w_]+=") and not (i > 1 and name:find("^%-")) then
      break
    end
    i = i + (i > 1 and WITH_VALUE[name] and 2 or 1)
  end
  local name = base(words[i] or "")
  local rest, options = operands(words, i + 1)
  if SHELLS[name] then
    return #rest == 0 and not has_flag(options, "c")
  end
  if name == "ssh" or name == "mosh" or name == "telnet" then
    return #rest == 1 or has_flag(options, "t") and SHELLS[base(rest[#rest] or "")] or false
  end
  if CONTAINERS[name] then
    return rest[1] == "shell" or rest[1] == "develop" or rest[1] == "enter" or rest[1] == "ssh"
      or #rest > 1 and SHELLS[base(rest[#rest])] == true and not has_flag(options, "c")
  end
  return OPENERS[name] == true and not has_flag(options, "c")
end

-- Whether a command ends the shell.
function commands.is_exit(command)
  local word = (command or ""):match("^%l+")
  return word == "exit" or word == "logout"
end

return commands
