#!/usr/bin/env bash
# Builds the MongoDB-compatible test server into .cache/servers/, once per version; prints the path of the program.
# Needs Go 1.24 or later (https://go.dev) and the Go module proxy; the versions and sums are those of go.mod, go.sum.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../../.." && pwd)
key=$(cat "$here/go.mod" "$here/go.sum" "$here/main.go" "$here/install.sh" | sha256sum | cut -c1-12)
program="$root/.cache/servers/ferretdb-v1.24.2-$key"
if [ ! -x "$program" ]; then
  command -v go >/dev/null || { echo "go is needed to build the MongoDB-compatible test server" >&2; exit 1; }
  mkdir -p "$root/.cache/servers"
  patched=$(mktemp -d)
  trap 'rm -rf "$patched"' EXIT
  (
    cd "$here"
    export GOFLAGS=-mod=readonly
    go mod download github.com/FerretDB/FerretDB
    cp -r --no-preserve=mode "$(go list -m -f '{{.Dir}}' github.com/FerretDB/FerretDB)" "$patched/ferretdb"
    # It has a hundred connections a database, and keeps one for each document that a bulk write replaces until that ends:
    # with more than a hundred it would answer nobody ever again. Here each is given back at once.
    update="$patched/ferretdb/internal/handler/msg_update.go"
    sed -i -e '/^\t\tdefer closer.Close()$/d' -e '/^\t\tresult, err := common.UpdateDocument/a closer.Close()' "$update"
    grep -q '^closer.Close()$' "$update"
    # It looks for a document and then changes it, and another client's change may come between: in MongoDB each is atomic.
    handler="$patched/ferretdb/internal/handler"
    printf 'package handler\n\nimport "sync"\n\nvar changes sync.Mutex\n' >"$handler/changes.go"
    for change in update:updateDocument delete:execDelete findandmodify:findAndModifyDocument; do
      file="$handler/msg_${change%%:*}.go"
      sed -i "/^func (h \*Handler) ${change##*:}(.*{\$/a changes.Lock(); defer changes.Unlock()" "$file"
      grep -q '^changes.Lock(); defer changes.Unlock()$' "$file"
    done
    cp go.mod go.sum "$patched/"
    echo "replace github.com/FerretDB/FerretDB => $patched/ferretdb" >>"$patched/go.mod"
    # Built beside its place and renamed, so that a build cut short leaves no half program.
    go build -trimpath -modfile "$patched/go.mod" -tags ferretdb_no_postgresql -o "$program.$$" . >&2
  )
  mv "$program.$$" "$program"
fi
# Where the tests look: one name, whatever the key.
ln -sfn "$(basename "$program")" "$root/.cache/servers/mongodb"
echo "$program"
