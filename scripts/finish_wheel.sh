#!/bin/bash
# finish_wheel.sh TOOLS WHEEL FOLDER PLATFORM [PYTHON]: gives a wheel that was built against an older glibc its SBOM and its
# tags, checks it, moves it to the folder and prints where it is. TOOLS: a Python with wheel and auditwheel; PLATFORM:
# manylinux_...; PYTHON: "cp313", where another one has built it.
set -euo pipefail
tools=$1 wheel=$2 folder=$3 platform=$4 tags=()
[ -z "${5:-}" ] || tags=(--python-tag "${5%t}" --abi-tag "$5")
scripts=$(dirname "$0")
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

"$tools" -m wheel unpack -d "$scratch/open" "$wheel" >/dev/null
information=$(echo "$scratch"/open/*/*.dist-info)
mkdir -p "$information/sboms"
"$tools" "$scripts/sbom.py" "$(basename "$information" .dist-info | cut -d- -f2)" "$information/sboms/cujit.cdx.json"
"$tools" -m wheel pack -d "$scratch" "$(dirname "$information")" >/dev/null
name=$("$tools" -m wheel tags --remove --platform-tag "$platform" "${tags[@]}" "$scratch"/*.whl)
audit=$("$tools" -m auditwheel show "$scratch/$name" | tr '\n' ' ')
grep -q "\"$platform\"\|manylinux_2_2[0-7]" <<<"$audit" || { echo "$audit" >&2; exit 1; }
"$tools" "$scripts/check_wheel.py" "$scratch/$name" >&2
mv "$scratch/$name" "$folder/"
echo "$folder/$name"
