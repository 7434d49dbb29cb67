#!/bin/bash
# test_in_debian.sh [--bare] [--tests FOLDER]... VERSION [COMMAND...]: runs the command (else `make test`) in this checkout,
# with CPython VERSION of a newer Debian. That lies in a folder, which is made by debootstrap once, outside of the checkout:
# CUJIT_DEBIAN says where. --tests: the command finds this folder, too, under the same path, and cannot write to it. --bare:
# nothing is installed there but Python. CUJIT_DEBIAN_ARCHITECTURE=arm64: a Debian of that processor, emulated by qemu.
# Needs root. What is mounted in the folder is seen by this script's processes alone, and gone when it ends.
set -euo pipefail
suite=${CUJIT_DEBIAN_SUITE:-forky}
native=$(dpkg --print-architecture)
architecture=${CUJIT_DEBIAN_ARCHITECTURE:-$native}
folder=${CUJIT_DEBIAN:-/var/cache/cujit/$suite${CUJIT_DEBIAN_ARCHITECTURE:+-$architecture}}
checkout=$(cd "$(dirname "$0")/.." && pwd)

fail() {
    echo "test_in_debian.sh: $*" >&2
    exit 1
}

emulate() {   # the kernel gives programs of the architecture to qemu, inside of the folder, too
    local formats=/proc/sys/fs/binfmt_misc arm64='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
    local mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
    [ "$architecture" = arm64 ] || fail "only arm64 is emulated here"
    command -v qemu-aarch64-static >/dev/null ||
        { apt-get update -q && apt-get install -q -y --no-install-recommends qemu-user-static; } </dev/null
    [ -e "$formats/register" ] || mount -t binfmt_misc none "$formats"
    [ -e "$formats/qemu-aarch64" ] ||
        printf '%s' ":qemu-aarch64:M::$arm64:$mask:$(command -v qemu-aarch64-static):FP" >"$formats/register"
}

make_folder() {
    command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -q -y debootstrap; } </dev/null
    local from
    from=$("$checkout/scripts/debian_archive.sh")
    rm -rf "$folder.new"
    # suites that this debootstrap has not heard of are made as sid is
    debootstrap --variant=minbase --arch="$architecture" "$suite" "$folder.new" "$from" /usr/share/debootstrap/scripts/sid ||
        fail "debootstrap could not make $folder.new"
    apt-config dump Acquire >"$folder.new/etc/apt/apt.conf.d/90host"
    chroot "$folder.new" apt-get update -q || fail "apt-get does not work in $folder.new"
    mv "$folder.new" "$folder"
}

mount_all() {
    mount -t proc proc "$folder/proc"
    mount --rbind /dev "$folder/dev"
    mount --bind /tmp "$folder/tmp"
    mkdir -p "$folder$checkout"
    mount --bind "$checkout" "$folder$checkout"
    local each
    for each in "${tests[@]}"; do
        mkdir -p "$folder$each"
        mount --bind "$each" "$folder$each"
        mount -o remount,bind,ro "$folder$each"
    done
    cp -L /etc/resolv.conf "$folder/etc/resolv.conf"
}

install_packages() {   # install_packages VERSION
    local list
    list="ca-certificates python$1-dev python$1-venv"
    [ -n "$bare" ] || list="$list $(grep -v '^#' "$checkout/scripts/apt-packages.txt")"
    # shellcheck disable=SC2086
    inside dpkg-query -W $list >/dev/null 2>&1 ||
        inside apt-get install -q -y --no-install-recommends $list </dev/null || fail "$suite lacks a package"
    if [ -e /etc/ssl/certs/ca-certificates.crt ]; then   # this machine's may know more
        cp -L /etc/ssl/certs/ca-certificates.crt "$folder/etc/ssl/certs/"
    fi
}

inside() {
    env -u PIP_FIND_LINKS -u VIRTUAL_ENV HOME=/root DEBIAN_FRONTEND=noninteractive \
        PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
        chroot "$folder" bash -c 'cd "$0" && exec "$@"' "$checkout" "$@"
}

given=("$@") tests=() bare=
if [ "${1:-}" = --bare ]; then
    bare=yes
    shift
fi
while [ "${1:-}" = --tests ]; do
    [ -d "${2:-}" ] || fail "--tests wants a folder"
    tests+=("$(cd "$2" && pwd)")
    shift 2
done
[ $# -ge 1 ] || fail "which CPython?"
[ "$(id -u)" = 0 ] || fail "only root can make and enter the folder"
if [ -z "${CUJIT_UNSHARED:-}" ]; then
    unshare --mount true || fail "no mount namespace can be made here"
    CUJIT_UNSHARED=1 exec unshare --mount "$0" "${given[@]}"
fi
version=$1
shift
[ "$architecture" = "$native" ] || emulate
mkdir -p "$(dirname "$folder")"
exec 8>"$folder.lock"
flock 8   # others may be making the same one
[ -d "$folder" ] || make_folder
exec 8>&-
mount_all || fail "$folder cannot be entered here"
install_packages "$version"
[ $# -gt 0 ] || set -- make test PYTHON="python$version" VENV=".venv-$version"
inside "$@"
