#!/bin/bash
# Makes the recordings anew: make.sh [NAME...]  (default: all)
#
# Needs Debian's vim, less, htop, git, fzf, tmux, whiptail, procps and vttest, plus cargo, node, npm and python3.
# For the claude_* recordings CLAUDE_OFFLINE names the program that runs Claude Code offline; they are skipped
# without it. What the programs show of the machine is kept out: a neutral folder, user, host and prompt.
# A new recording differs from the old one (times, versions): look at expected.txt before keeping it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
demo=/tmp/demo

record() { # NAME SIZE COMMAND...
  local name=$1 size=$2
  shift 2
  if [ ${#wanted[@]} -gt 0 ] && [[ " ${wanted[*]} " != *" $name "* ]]; then return; fi
  echo "$name"
  "$here/record.py" "$name" --size "$size" --cwd "$demo" -- "$@"
}

files() {
  rm -rf "$demo"
  mkdir -p "$demo/src"
  cat >"$demo/src/main.rs" <<'R'
//! Greets whoever is named on the command line.

use std::env;

/// How a greeting starts. Long enough to wrap in a narrow window when the line number column is on, too.
const HELLO: &str = "hello";

fn main() {
    let name = env::args().nth(1).unwrap_or_else(|| "世界".to_string());
    for (index, letter) in name.chars().enumerate() {
        println!("{index}: {letter:?}\t{}", letter as u32); // a tab	in the comment
    }
    println!("{HELLO}, {name}!");
}
R
  # Three crates that need each other, so that the progress bar has something to show.
  for name in one two three; do
    mkdir -p "$demo/$name/src"
    printf '[package]\nname = "%s"\nversion = "0.1.0"\nedition = "2021"\n' $name >"$demo/$name/Cargo.toml"
    printf '//! Nothing.\n' >"$demo/$name/src/lib.rs"
  done
  printf '[dependencies]\none = { path = "../one" }\n' >>"$demo/two/Cargo.toml"
  printf '[dependencies]\ntwo = { path = "../two" }\n' >>"$demo/three/Cargo.toml"
  printf '[package]\nname = "demo"\nversion = "0.1.0"\nedition = "2021"\n\n[[bin]]\nname = "demo"\npath = "src/main.rs"\n\n[dependencies]\nthree = { path = "three" }\n' \
    >"$demo/Cargo.toml"
  for line in $(seq 1 200); do
    echo "line $line of a text with $((line * 7919 % 1000)) words, wide 漢字 and é, and more of it until the row is full"
  done >"$demo/long.txt"
  printf 'set -o emacs\nPS1="\\[\\e[32m\\]demo\\[\\e[0m\\]:\\w\\$ "\nunset PROMPT_COMMAND HISTFILE\n' >"$demo/bashrc"
  printf 'syntax on\nset number hlsearch ruler showcmd laststatus=2 background=dark nocompatible\n' >"$demo/vimrc"
  printf 'set -g default-command "bash --rcfile bashrc -i"\n' >"$demo/tmux.conf"
  mkdir -p "$demo/.config/htop"
  # No user column, no host: only what every machine has.
  printf 'fields=0 39 2 46 47 1\nsort_key=0\nsort_direction=1\ntree_view=0\nleft_meters=CPU Memory\nleft_meter_modes=1 1\nright_meters=Tasks\nright_meter_modes=2\n' \
    >"$demo/.config/htop/htoprc"
  export CARGO_HOME=$demo/.cargo RUSTUP_HOME=${RUSTUP_HOME:-$HOME/.rustup}
}

history() { # a small repository with a merge, by nobody, at a fixed time
  local repo=$demo/repo
  rm -rf "$repo"
  git init -q -b main "$repo"
  cd "$repo"
  export GIT_AUTHOR_NAME=Ada GIT_AUTHOR_EMAIL=ada@example.org GIT_COMMITTER_NAME=Ada \
    GIT_COMMITTER_EMAIL=ada@example.org GIT_AUTHOR_DATE=2025-01-02T03:04:05Z \
    GIT_COMMITTER_DATE=2025-01-02T03:04:05Z HOME=$demo
  for number in 1 2 3; do echo "$number" >file; git add file; git commit -qm "Add $number to the file"; done
  git checkout -qb topic HEAD~1
  for number in 4 5; do echo "$number" >other; git add other; git commit -qm "Write $number — überall, 漢字"; done
  git checkout -q main
  git merge -q --no-ff -m "Merge topic" topic
  git tag v1
  cd "$here"
}

wanted=("$@")
# tmux leaves a server behind when its client is killed.
trap 'if [ -S "$demo/tmux.socket" ]; then tmux -S "$demo/tmux.socket" kill-server; fi' EXIT
cd "$here"
real_home=$HOME
files
(history)
RUSTUP_HOME=${RUSTUP_HOME:-$real_home/.rustup}

record vim 80x24 vim -u "$demo/vimrc" -i NONE src/main.rs
record vim_wide 120x40 vim -u "$demo/vimrc" -i NONE long.txt
record less 80x24 less -R -M long.txt
record htop 100x30 unshare --pid --fork --mount-proc --uts sh -c 'hostname demo; sleep 100 & exec htop -d 5'
record top 80x24 unshare --pid --fork --mount-proc --uts sh -c 'hostname demo; exec top -d 1 -u nobody'
record git_log 80x24 git -C repo -c pager.log='less -R' log --graph --color --decorate --stat
record cargo 80x24 bash --rcfile bashrc -i
record fzf 80x24 sh -c 'cat long.txt | fzf --multi --preview "echo {}"'
record tmux 80x24 unshare --uts sh -c 'hostname demo; exec tmux -S tmux.socket -f tmux.conf'
record bash 40x12 bash --rcfile bashrc -i
record whiptail 80x24 whiptail --title Choice --checklist "What do you want?" 15 50 4 \
  one "the first" on two "the second" off three "漢字" off four "the last" off

if [ -n "${CLAUDE_OFFLINE:-}" ]; then
  export CLAUDE_OFFLINE_DIR=${CLAUDE_OFFLINE_DIR:-/tmp/claude-offline}
  for size in 80x24 120x40; do
    rm -rf "$CLAUDE_OFFLINE_DIR/home" "$demo/project"
    mkdir -p "$demo/project"
    record "claude_trust_$size" "$size" sh -c 'cd project && exec "$0"' "$CLAUDE_OFFLINE"
    record "claude_long_$size" "$size" sh -c 'cd project && exec "$0"' "$CLAUDE_OFFLINE"
    record "claude_permission_$size" "$size" sh -c 'cd project && exec "$0"' "$CLAUDE_OFFLINE"
  done
fi

for menu in cursor screen charsets insert_delete movement colours other reset alternate; do
  # The second width is the one of tests in 132 columns: no headless session changes its width for DECCOLM.
  record "vttest_$menu" 80x24 vttest 24x80.80
done
