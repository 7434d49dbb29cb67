#!/bin/bash
# test_in_debian.sh [--tests FOLDER]... VERSION [COMMAND...]: runs the command (else `make test`) in this checkout, with
# CPython VERSION of a newer Debian. That lies in a folder, which is made by debootstrap once, outside of the checkout:
# CUJIT_DEBIAN says where. --tests: the command finds this folder, too, under the same path, and cannot write to it.
# Needs root. What is mounted in the folder is seen by this script's processes alone, and gone when it ends.
set -euo pipefail
suite=${CUJIT_DEBIAN_SUITE:-forky}
folder=${CUJIT_DEBIAN:-/var/cache/cujit/$suite}
checkout=$(cd "$(dirname "$0")/.." && pwd)

fail() {
    echo "test_in_debian.sh: $*" >&2
    exit 1
}

mirror() {   # where apt of this machine has Debian from
    apt-get indextargets --format '$(REPO_URI) $(LABEL) $(CREATED_BY)' | sed -n 's/ Debian Packages$//p' | head -n 1
}

make_folder() {
    command -v debootstrap >/dev/null || { apt-get update -q && apt-get install -q -y debootstrap; } </dev/null
    local from
    from=$(mirror)
    [ -n "$from" ] || fail "apt of this machine knows no archive of Debian"
    rm -rf "$folder.new"
    mkdir -p "$(dirname "$folder")"
    # suites that this debootstrap has not heard of are made as sid is
    debootstrap --variant=minbase "$suite" "$folder.new" "$from" /usr/share/debootstrap/scripts/sid ||
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
    list="$(grep -v '^#' "$checkout/scripts/apt-packages.txt") python$1-dev python$1-venv"
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

given=("$@") tests=()
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
[ -d "$folder" ] || make_folder
mount_all || fail "$folder cannot be entered here"
install_packages "$version"
[ $# -gt 0 ] || set -- make test PYTHON="python$version" VENV=".venv-$version"
inside "$@"
