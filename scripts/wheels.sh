#!/bin/bash
# wheels.sh FOLDER VERSION...: wheels for those CPython versions that are here, for every Linux with the glibc below or a
# newer one, each checked. Fails where none is.
set -euo pipefail
glibc=2.28
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
tools=$PWD/build/wheel-tools
tag=manylinux_${glibc/./_}_$(uname -m)

find_any() { for version; do scripts/find_python.sh "$version" 2>/dev/null && return; done; return 1; }

python=$(find_any "$@") || { echo "wheels.sh: none of CPython $* is here" >&2; exit 1; }
"$tools/bin/python" -c "" 2>/dev/null || "$python" -m venv --clear "$tools"   # anew in another system
"$tools/bin/python" -m pip install -q --disable-pip-version-check ziglang wheel auditwheel 'nvidia-nvvm>=13,<14'
"$tools/bin/python" scripts/old_glibc.py "$glibc" "$PWD/build/glibc" "$(uname -m)"
libdevice=$(find "$tools" -name libdevice.10.bc -print -quit)

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for version; do
    if ! python=$(scripts/find_python.sh "$version" 2>/dev/null); then
        echo "CPython $version is not here: no wheel for it"
        continue
    fi
    rm -rf "${scratch:?}"/*
    "$python" -m venv "$scratch/venv"   # Debian's Pythons have no pip of their own
    python=$scratch/venv/bin/python
    "$python" -m pip wheel -q --disable-pip-version-check --no-deps -w "$scratch/made" \
        --config-settings=build-dir="build/wheel-{wheel_tag}" \
        --config-settings=cmake.define.CUJIT_OLD_GLIBC="$PWD/build/glibc" \
        --config-settings=cmake.define.CUJIT_LIBDEVICE="$libdevice" .
    wheel=$(scripts/finish_wheel.sh "$tools/bin/python" "$scratch"/made/*.whl "$scratch" "$tag")
    "$python" -m pip install -q --disable-pip-version-check "$wheel"
    env -u PYTHONPATH CUJIT_DEVICE=cpu CUJIT_CACHE=0 "$python" examples/demo.py >/dev/null
    mv "$wheel" "$folder/"
done
