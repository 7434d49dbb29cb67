#!/bin/bash
# unpack_debian.sh ARCHITECTURE SUITE FOLDER PACKAGE...: unpacks packages of another architecture or suite of Debian below a
# folder, for compilers and linkers to read. Nothing is installed, and apt of this machine does not hear of it.
set -euo pipefail
architecture=$1 suite=$2
mkdir -p "$3"
folder=$(cd "$3" && pwd)
shift 3
archive=$("$(dirname "$0")/debian_archive.sh")
keys=/usr/share/keyrings/debian-archive-keyring.gpg
state=$folder/.apt-$suite
mkdir -p "$state/lists/partial" "$state/archives/partial"
echo "deb [arch=$architecture signed-by=$keys] $archive $suite main" >"$state/sources.list"
if [ "$suite" != sid ]; then
    echo "deb [arch=$architecture signed-by=$keys] $archive-security $suite-security main" >>"$state/sources.list"
fi
: >"$state/status"

apt() {
    apt-get -q -o APT::Architecture="$architecture" -o APT::Architectures::="$architecture" -o Dir::State="$state" \
        -o Dir::State::status="$state/status" -o Dir::Cache="$state" -o Dir::Etc::sourcelist="$state/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null "$@" >&2
}

rm -f "$state"/archives/*.deb
apt update
(cd "$state/archives" && apt -o APT::Sandbox::User=root download "$@")
for package in "$state"/archives/*.deb; do
    dpkg-deb -x "$package" "$folder"
done
rm -rf "$state"
