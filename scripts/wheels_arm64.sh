#!/bin/bash
# wheels_arm64.sh FOLDER VERSION:SUITE...: wheels for 64-bit Arm and those CPython versions, whose headers that suite of
# Debian has, cross-compiled: for every Linux with the glibc below or a newer one, each checked by auditwheel. They run in
# `CUJIT_DEBIAN_ARCHITECTURE=arm64 scripts/test_in_debian.sh --bare`.
set -euo pipefail
glibc=2.28
folder=$(mkdir -p "$1" && cd "$1" && pwd)
shift
cd "$(dirname "$0")/.."
tools=$PWD/build/wheel-tools packages=$PWD/build/arm64-packages
tag=manylinux_${glibc/./_}_aarch64

python=$(scripts/find_python.sh)
"$tools/bin/python" -c "" 2>/dev/null || "$python" -m venv --clear "$tools"
"$tools/bin/python" -m pip install -q --disable-pip-version-check ziglang wheel auditwheel 'nvidia-nvvm>=13,<14' \
    'numpy>=2' 'scikit-build-core>=0.11'
"$tools/bin/python" scripts/old_glibc.py "$glibc" "$PWD/build/glibc-arm64" aarch64
libdevice=$(find "$tools" -name libdevice.10.bc -print -quit)
for package in qemu-user-static gcc-aarch64-linux-gnu g++-aarch64-linux-gnu libc6-dev-arm64-cross; do
    dpkg-query -W "$package" >/dev/null 2>&1 || apt-get install -q -y --no-install-recommends "$package" </dev/null
done
[ -d "$packages/usr/lib/llvm-22" ] ||
    scripts/unpack_debian.sh arm64 bookworm "$packages" llvm-22-dev libzstd-dev zlib1g-dev

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
for each; do
    version=${each%:*}
    [ -d "$packages/usr/include/python$version" ] ||
        scripts/unpack_debian.sh arm64 "${each#*:}" "$packages" "libpython$version-dev"
    rm -rf "${scratch:?}"/*
    "$tools/bin/python" -m pip wheel -q --disable-pip-version-check --no-deps --no-build-isolation -w "$scratch/made" \
        --config-settings=build-dir=build/wheel-arm64 \
        --config-settings=cmake.define.CMAKE_TOOLCHAIN_FILE="$PWD/cmake/Arm64Linux.cmake" \
        --config-settings=cmake.define.CUJIT_PACKAGES="$packages" \
        --config-settings=cmake.define.CUJIT_PYTHON="$version" \
        --config-settings=cmake.define.CUJIT_OLD_GLIBC="$PWD/build/glibc-arm64" \
        --config-settings=cmake.define.CUJIT_LIBDEVICE="$libdevice" .
    scripts/finish_wheel.sh "$tools/bin/python" "$scratch"/made/*.whl "$folder" "$tag" "cp${version/./}"
done
