#!/bin/bash
# test_libraries.sh PYTHON [LIBRARY...]: public libraries' own tests, as they are on PyPI, with cujit in numba.cuda's
# place (python -m cujit), on the CPU device unless CUJIT_DEVICE says otherwise. PYTHON has cujit; the libraries go into
# an environment of their own beside it: FOLDER/library-tests, or $CUJIT_LIBRARY_TESTS. Without names: stumpy, sarracen,
# and the project's own tests that want an installed numba, Dask, Ray or MPI.
set -euo pipefail

# For each: what to install, and what to hand to pytest in the folder of its source. NAME_repository: where the tests
# are, and the tag, if its sdist has none. NAME_variables: what its tests look for in the environment.
stumpy=("stumpy==1.14.1" pandas scipy polars)
stumpy_tests=(tests/test_gpu_stump.py tests/test_gpu_aamp.py tests/test_gpu_mpdist.py tests/test_gpu_stimp.py)
sarracen=("sarracen==1.4.1" scikit-learn)
sarracen_tests=(sarracen/tests/interpolate/test_interpolate.py -k gpu)   # without what numba compiles for CPUs
mpi4py=("mpi4py==4.1.2" openmpi numba)
mpi4py_tests=(test/test_msgspec.py test/test_p2p_buf.py test/test_cco_buf.py)   # with numba's among other arrays
aquagrid=("aquagrid==0.3.2" aquacrop pytest-cov)
aquagrid_tests=(tests/test_gpu.py)
gamdpy=("gamdpy==0.8.3" ipywidgets k3d)   # on a GPU; five tests want files that the sdist has not
gamdpy_tests=(-o addopts= -m "not gamdpy_cpu" tests --ignore=tests/test_z_examples.py)
sgkit=("sgkit==0.10.0" hypothesis networkx)
sgkit_repository=(https://github.com/sgkit-dev/sgkit 0.10.0)
sgkit_tests=(-o addopts= sgkit/tests/test_distance.py -k gpu)
cubie=("cubie==0.2.0" numba-cuda pandas matplotlib scipy)   # it looks for a numba-cuda, which is not used
cubie_repository=(https://github.com/ccam80/cubie v0.2.0)
cubie_variables=(NUMBA_ENABLE_CUDASIM=1)                     # what its tests take for "there is no GPU"
cubie_tests=(-o addopts= --import-mode=importlib -m "not nocudasim and not cupy" tests/memory)
cubie_tests+=(tests/test_{CUDAFactory,array_interpolator,buffer_registry,cache_config,cache_root,cubie_cache}.py)
cubie_tests+=(tests/test_{cuda_simsafe,env,package_source_hash,result_codes,time_logger,utils}.py)
clifford=("clifford==1.5.1" numba scipy)  # two tests fail in its own use of NumPy
clifford_tests=(clifford/test/test_g3c_CUDA.py)

python=${1:?usage: test_libraries.sh PYTHON [LIBRARY...]}
shift
has_own_tests=
[ $# -gt 0 ] || { set -- stumpy sarracen; has_own_tests=1; }   # both bring a numba
folder=${CUJIT_LIBRARY_TESTS:-$(dirname "$(dirname "$python")")/library-tests}
export CUJIT_DEVICE=${CUJIT_DEVICE:-cpu}

make_environment() {
    [ -x "$folder/bin/python" ] || "$python" -m venv "$folder"
    local own packages
    own=$("$python" -c 'import cujit, os; print(os.path.dirname(os.path.abspath(cujit.__file__)))')
    packages=$("$folder/bin/python" -c 'import sysconfig; print(sysconfig.get_path("platlib"))')
    ln -sfn "$own" "$own"-*.dist-info "$packages/"
    install pytest pytest-timeout pytest-xdist
}

install() { "$folder/bin/python" -m pip install -q --disable-pip-version-check "$@"; }

fetch_source() {   # fetch_source PACKAGE==VERSION [REPOSITORY TAG]: the folder of its sdist, or of the repository
    local sources=$folder/sources name=${1%%==*}
    mkdir -p "$sources"
    if [ $# -gt 1 ]; then
        [ -d "$sources/$name" ] ||
            git -c advice.detachedHead=false clone -q --depth 1 --branch "$3" "$2" "$sources/$name" >&2
        echo "$sources/$name"
        return
    fi
    if ! compgen -G "$sources/${name//-/_}-*/" >/dev/null; then
        "$folder/bin/python" -m pip download -q --disable-pip-version-check --no-deps --no-binary "$name" \
            -d "$sources" "$1" >&2
        tar -xzf "$sources/${name//-/_}"-*.tar.gz -C "$sources"
    fi
    echo "$sources/${name//-/_}"-*/
}

make_environment
for library; do
    declare -n packages=$library tests=${library}_tests repository=${library}_repository variables=${library}_variables
    install "${packages[@]}"
    source=$(fetch_source "${packages[0]}" ${repository[@]+"${repository[@]}"})
    echo "== ${packages[0]}: its own tests with cujit as numba.cuda, CUJIT_DEVICE=$CUJIT_DEVICE"
    (cd "$source" && env ${variables[@]+"${variables[@]}"} "$folder/bin/python" -m cujit -m pytest -q -n auto \
        --timeout=300 -p no:cacheprovider -W ignore "${tests[@]}")
done

if [ "$has_own_tests" ]; then
    echo "== own tests that want an installed numba, Dask, Ray or MPI"
    install "dask[array]" distributed cloudpickle ray mpi4py openmpi
    own=$(dirname "$0")/../tests
    "$folder/bin/python" -m pytest -q -n auto -p no:cacheprovider "$own/python/_numba" \
        "$own/python/extending/test_numbas_names.py" "$own/python/cuda/test_dask.py" "$own/python/cuda/test_distributed.py" \
        "$own/python/comm/test_engines.py" "$own/docs/test_snippets.py::test_snippets_run[docs/guide/"{dask,mpi,ray}".md]"
fi
