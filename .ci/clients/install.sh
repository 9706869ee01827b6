#!/usr/bin/env bash
# Installs the generators of clients that test/clients compiles, into .cache/clients/: openapi-typescript from npm,
# openapi-python-client from PyPI, oapi-codegen through the Go module proxy. What is there already is left as it is.
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

typescript() {
  mkdir -p "$cache/typescript"
  cp "$tests/typescript/package.json" "$tests/typescript/package-lock.json" "$cache/typescript/"
  npm ci --prefix "$cache/typescript" --silent --no-audit --no-fund
}

python() {
  python3 -m venv --clear "$cache/python"
  "$cache/python/bin/pip" install -q --disable-pip-version-check "openapi-python-client==$python_client"
}

go_generator() {
  GOBIN="$cache/go" go install "github.com/oapi-codegen/oapi-codegen/v2/cmd/oapi-codegen@$go_client"
  (cd "$tests/go" && go mod download)
}

once typescript "$(sha256sum "$tests/typescript/package-lock.json" | cut -c1-12)" typescript
once python "$python_client" python
once go "$go_client" go_generator
