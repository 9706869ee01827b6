#!/bin/sh
# Copies the data of DATA_DIR to a folder of BACKUPS again and again, and keeps the last BACKUPS_KEPT of them. A copy has its
# name only when it is whole; a try that fails is told, and made again at the next time.
set -u
every=${BACKUP_EVERY_SECONDS:-86400}
kept=${BACKUPS_KEPT:-14}
app=$(cd "$(dirname "$0")/../.." && pwd)
# The first process of a container ignores signals that it has no trap for.
trap 'exit 0' TERM INT

while :; do
  name=$(date -u +%Y-%m-%dT%H-%M-%SZ)
  rm -rf "$BACKUPS/unfinished"
  if "$app/bin/linkledger" backup "$BACKUPS/unfinished" && mv "$BACKUPS/unfinished" "$BACKUPS/$name"; then
    rm -f "$BACKUPS/failed"
    ls "$BACKUPS" | grep -E '^[0-9]{4}-[0-9T-]+Z$' | sort -r | tail -n "+$((kept + 1))" | while read -r old; do
      rm -rf "${BACKUPS:?}/$old"
    done
  else
    date -u > "$BACKUPS/failed"
  fi
  sleep "$every" &
  wait $!
done
