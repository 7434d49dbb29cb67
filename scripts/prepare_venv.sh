#!/bin/sh
# prepare_venv.sh FOLDER PYTHON: a virtual environment with what requirements-dev.txt names, and, where no CUDA toolkit
# is installed, ptxas and libdevice from PyPI.
set -eu
folder=$1
python=$2
here=$(dirname "$0")
stamp=$folder/.prepared
if [ -e "$stamp" ] && [ "$stamp" -nt "$here/requirements-dev.txt" ] && [ "$stamp" -nt "$0" ]; then
    exit 0
fi
[ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
pip="$folder/bin/python -m pip --disable-pip-version-check"
$pip install -q -r "$here/requirements-dev.txt"

toolkit=${CUDA_HOME:-/usr/local/cuda}
if [ ! -e "$toolkit/nvvm/libdevice/libdevice.10.bc" ]; then
    $pip install -q 'nvidia-nvvm>=13,<14'
fi
if ! command -v ptxas >/dev/null && [ ! -x "$toolkit/bin/ptxas" ]; then
    $pip install -q --no-deps 'nvidia-cuda-nvcc>=13,<14'
    for found in "$folder"/lib/python*/site-packages/nvidia/*/bin/ptxas; do
        ln -sf "$(cd "$(dirname "$found")" && pwd)/ptxas" "$folder/bin/ptxas"
    done
fi
touch "$stamp"
