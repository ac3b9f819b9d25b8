#!/bin/bash
# What shell scripts do that keep a conversation going: the state is a file with front matter, the last answer is
# searched in the transcript, a promise in it ends the loop. Written for the figure in bench/stop.ts.
set -euo pipefail

state=.claude/shell-loop.md
[ -f "$state" ] || exit 0
input=$(cat)

front=$(sed -n '/^---$/,/^---$/{/^---$/d;p;}' "$state")
field() { printf '%s\n' "$front" | grep "^$1:" | sed "s/^$1: *//; s/^\"\(.*\)\"\$/\1/"; }
iteration=$(field iteration)
most=$(field max_iterations)
promise=$(field completion_promise)
if ! [[ $iteration =~ ^[0-9]+$ && $most =~ ^[0-9]+$ ]]; then
  echo "shell-loop: the state is broken" >&2
  rm "$state"
  exit 0
fi
if [ "$most" -gt 0 ] && [ "$iteration" -ge "$most" ]; then
  rm "$state"
  exit 0
fi

transcript=$(printf '%s' "$input" | jq -r .transcript_path)
line=$(grep '"role":"assistant"' "$transcript" | tail -n 1)
answer=$(printf '%s' "$line" | jq -r '[.message.content[] | select(.type == "text") | .text] | join("\n")')
if [[ $answer =~ \<promise\>(.*)\</promise\> ]] && [ "${BASH_REMATCH[1]}" = "$promise" ]; then
  rm "$state"
  exit 0
fi

next=$((iteration + 1))
sed "s/^iteration: .*/iteration: $next/" "$state" >"$state.$$"
mv "$state.$$" "$state"
prompt=$(sed '1,/^---$/d' "$state")
jq -n --arg reason "$prompt" --arg message "iteration $next" \
  '{decision: "block", reason: $reason, systemMessage: $message}'
