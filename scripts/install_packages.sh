#!/bin/sh
# Installs the Debian packages of apt-packages.txt that are missing.
set -eu
list=$(grep -v '^#' "$(dirname "$0")/apt-packages.txt")
if ! command -v dpkg-query >/dev/null; then
    echo "not a Debian system: make sure that these packages' likes are installed:" $list >&2
    exit 0
fi
missing=
for package in $list; do
    dpkg-query -W -f '${Status}' "$package" 2>/dev/null | grep -q 'install ok installed' || missing="$missing $package"
done
[ -n "$missing" ] || exit 0
echo "installing:$missing"
as_root=
[ "$(id -u)" = 0 ] || as_root=sudo
$as_root apt-get update -q
DEBIAN_FRONTEND=noninteractive $as_root apt-get install -q -y --no-install-recommends $missing </dev/null
