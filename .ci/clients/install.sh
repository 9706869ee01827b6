#!/usr/bin/env bash
# Installs what test/clients compiles with: TypeScript 5 from npm into sdk/, for our own client; into .cache/clients/ the
# generators of others, openapi-python-client from PyPI and oapi-codegen through the Go module proxy. What is there already
# is left as it is.
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
root=$(cd "$here/../.." && pwd)
tests="$root/test/clients"
cache="$root/.cache/clients"
python_client=0.29.1
go_client=v2.8.2
# An older Go gets the newer one that the generator wants through the module proxy, too.
export GOTOOLCHAIN=auto PATH="$PATH:/usr/local/go/bin"
mkdir -p "$cache"

# Marked when it is complete, so that an install cut short is done again.
once() {
  local name=$1 version=$2
  shift 2
  [ "$(cat "$cache/$name.version" 2>/dev/null || true)" = "$version" ] && return
  "$@" >&2
  echo "$version" >"$cache/$name.version"
}

python() {
  python3 -m venv --clear "$cache/python"
  "$cache/python/bin/pip" install -q --disable-pip-version-check "openapi-python-client==$python_client"
}

go_generator() {
  GOBIN="$cache/go" go install "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$go_client"
  (cd "$tests/go" && go mod download)
}

[ "$root/sdk/node_modules/.package-lock.json" -nt "$root/sdk/package-lock.json" ] ||
  npm ci --prefix "$root/sdk" --silent --no-audit --no-fund >&2
once python "$python_client" python
once go "$go_client" go_generator
