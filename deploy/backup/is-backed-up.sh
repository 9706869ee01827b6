#!/bin/sh
# Whether BACKUPS holds a copy that is no older than two of its intervals, and the last try has not failed.
set -u
[ ! -e "$BACKUPS/failed" ] || { echo "the backup of $(cat "$BACKUPS/failed") has failed"; exit 1; }
minutes=$((${BACKUP_EVERY_SECONDS:-86400} * 2 / 60 + 1))
[ -n "$(find "$BACKUPS" -mindepth 1 -maxdepth 1 -type d -name '*Z' -mmin "-$minutes")" ] || {
  echo "there is no copy of the last $minutes minutes"
  exit 1
}
