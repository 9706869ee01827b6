#!/usr/bin/env bash
# Builds the MongoDB-compatible test server into .cache/servers/, once per version; prints the path of the program.
# Needs Go 1.24 or later (https://go.dev) and the Go module proxy; the versions and sums are those of go.mod, go.sum.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
key=$(cat "$here/go.mod" "$here/go.sum" "$here/main.go" | sha256sum | cut -c1-12)
program="$root/.cache/servers/ferretdb-v1.24.2-$key"
if [ ! -x "$program" ]; then
  command -v go >/dev/null || { echo "go is needed to build the MongoDB-compatible test server" >&2; exit 1; }
  mkdir -p "$root/.cache/servers"
  # Built beside its place and renamed, so that a build cut short leaves no half program.
  (cd "$here" && GOFLAGS=-mod=readonly go build -trimpath -tags ferretdb_no_postgresql -o "$program.$$" . >&2)
  mv "$program.$$" "$program"
fi
# Where the tests look: one name, whatever the key.
ln -sfn "$(basename "$program")" "$root/.cache/servers/ferretdb"
echo "$program"
