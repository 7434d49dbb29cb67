#!/bin/sh
# Prints the path of a CPython: of the version given ("3.12", "3.14t"), else of any supported one, `python3` first.
# Looks on PATH, then among pyenv's versions. Fails when there is none.
works() {   # works COMMAND [VERSION]
    "$1" -c "
import sys
version = '%d.%d' % sys.version_info[:2] + 't' * ('t' in sys.abiflags)
sys.exit(sys.implementation.name != 'cpython' or version not in ('${2:-}' or '3.11 3.12 3.13 3.14 3.15').split())
" >/dev/null 2>&1
}
if [ $# = 0 ] && works python3; then
    command -v python3
    exit 0
fi
for version in ${1:-3.12 3.13 3.14 3.15 3.11}; do
    if works "python$version" "$version"; then
        command -v "python$version"
        exit 0
    fi
    command -v pyenv >/dev/null || continue
    for candidate in "$(pyenv root)/versions/${version%t}".*/bin/python; do
        if works "$candidate" "$version"; then
            echo "$candidate"
            exit 0
        fi
    done
done
exit 1
