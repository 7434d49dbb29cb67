"""Who may include whom: the table of CONTRIBUTING.md, read off the sources."""

import re

import pytest
from source_tree import ROOMS, code_of, read, sources, without_strings

# Room: what its files may include of other rooms. "room/" stands for every header of that room.
MAY_INCLUDE = {
    "core": [],
    "frontend": ["core/"],
    "codegen": ["core/"],
    "runtime": ["core/"],
    "jit": ["core/", "frontend/frontend.h", "codegen/codegen.h", "runtime/runtime.h"],
    "python/ext": ["core/", "jit/jit.h", "runtime/runtime.h"],
}
# What the build makes of other sources: name, and the only file that may include it.
GENERATED = {"stands_for_index.inc": "python/ext/snapshot/library_function.c"}

# How a room names its own headers.
OWN_PREFIX = {"python/ext": "ext/"}

# Inside of a room, from the floor up: a file includes headers of its own floor and of those below. A floor is folders,
# or files at the room's top by their names, with an ending where .c and .h differ.
FLOORS = {
    "core": [
        # A request for memory that fails is a diagnostic, and diagnostics are texts in memory.
        ["base/", "diagnostic/"],
        ["thread/"],
        # The type of a compile-time object leads to the constant that stands for it.
        ["type/", "intrinsic/", "snapshot", "constant", "foreign", "link_kind"],
        ["float_flag", "check", "watch_kind", "option", "observed", "host_abi", "host_tensor", "tensor_map",
         "host_tile_call", "target", "kernel/"],
        ["ir/"],
    ],
    "frontend": [
        ["frontend.h"],
        ["bytecode/"],
        ["ssa/"],
        # engine.h declares what handlers may call upward.
        ["value/", "engine"],
        ["compound/"],
        ["array/"],
        ["call/cuda/"],
        ["call/handlers.h", "call/handlers.def"],
        ["call/builtin/"],
        ["call/"],
        ["report/"],
        ["infer/"],
        ["frontend.c"],
    ],
    "codegen": [
        ["codegen.h", "llvm", "machine", "emit", "optimize/pass_builder", "passes.h", "libdevice_data",
         "libdevice_angles"],
        # ir_to_llvm.h: a target that emits kernels in a way of its own asks for their values.
        ["emit_tools", "debug_lines", "libdevice", "ir_to_llvm.h", "unroll"],
        ["op/value/"],
        ["op/memory/"],
        ["op/", "check/"],
        ["nvptx/", "host/"],
        ["optimize/", "ir_to_llvm.c", "module_emit", "passes.c", "codegen.c"],
    ],
    "runtime": [
        ["runtime.h", "backend", "launch_check", "exception_store", "launch_graph", "memory_pool", "tensor_map",
         "worker_thread"],
        ["cuda/driver/"],
        ["cuda/context/"],
        ["cuda/memory/"],
        ["cuda/"],
        ["host/machine/"],
        ["host/check/"],
        ["host/threads/", "host/observe/"],
        ["host/"],
        ["runtime.c"],
    ],
    "python/ext": [
        ["py", "state", "module_parts", "raise", "guard", "interrupt", "kernel", "kernel_exception", "observation",
         "allocation_place"],
        ["array/"],
        ["snapshot/"],
        ["argument/"],
        ["object/"],
        ["kernel/"],
        ["module", "settings"],
    ],
}

# Foreign headers: pattern, and the only files that may include them.
FOREIGN = [
    (r"llvm-c/", ["codegen/llvm.h"]),
    (r"llvm/", ["codegen/optimize/pass_builder.cpp", "codegen/host/object/host_jit.cpp"]),
    (r"Python\.h$|numpy/|structmember\.h$|internal/pycore", ["python/ext/py.h"]),
    (r"cuda\.h$|cuda_runtime|nvrtc|nvJitLink", ["runtime/cuda/driver/driver.h"]),
]
DOORS = {door for _, doors in FOREIGN for door in doors}

CUDA_TYPE = re.compile(r"\bCU(?:result|context|module|function|stream|event|device|deviceptr|library|kernel)\b")
VERSION_SWITCH = re.compile(
    r"^\s*#\s*(?:el)?if.*(?:PY_VERSION_HEX|PY_M\w+_VERSION|LLVM_VERSION|CUDA_VERSION|NPY_\w*VERSION).*$", re.MULTILINE
)


def room_sources():
    return [(room, path) for room in ROOMS for path in sources(room)]


def includes(path):
    """(name, is_quoted) of each include of a file."""
    found = re.findall(r'^\s*#\s*include\s+(["<])([^">]+)[">]', code_of(path), re.MULTILINE)
    return [(name, quote == '"') for quote, name in found]


def is_allowed(name, room):
    entries = [*MAY_INCLUDE[room], OWN_PREFIX.get(room, room + "/")]
    return any(name == entry or (entry.endswith("/") and name.startswith(entry)) for entry in entries)


def test_quoted_includes_follow_the_table():
    wrong = [
        f"{path} includes {name}"
        for room, path in room_sources()
        for name, is_quoted in includes(path)
        if is_quoted and not is_allowed(name, room) and GENERATED.get(name) != str(path)
    ]
    assert not wrong


def floor_of(name, room):
    """The number of a file's floor, by its path inside of the room."""
    stem = name.split(".")[0]
    found = [
        (len(place), number)
        for number, floor in enumerate(FLOORS[room])
        for place in floor
        if place in (stem, name) or (place.endswith("/") and name.startswith(place))
    ]
    assert found, f"{room}/{name} is on no floor of the table"
    return max(found)[1]


@pytest.mark.parametrize("room", FLOORS)
def test_inner_folders_follow_the_table(room):
    prefix = OWN_PREFIX.get(room, room + "/")
    wrong = []
    for path in sources(room):
        floor = floor_of(path.removeprefix(room + "/"), room)
        above = [
            name
            for name, is_quoted in includes(path)
            if is_quoted and name.startswith(prefix) and floor_of(name.removeprefix(prefix), room) > floor
        ]
        wrong += [f"{path} includes {name}" for name in above]
    assert not wrong


def test_foreign_headers_have_one_door():
    wrong = [
        f"{path} includes <{name}>: only {' and '.join(doors)} may"
        for _, path in room_sources()
        for name, is_quoted in includes(path)
        for pattern, doors in FOREIGN
        if not is_quoted and re.match(pattern, name) and path not in doors
    ]
    assert not wrong


def test_own_headers_are_quoted():
    names = [(path, name) for _, path in room_sources() for name, is_quoted in includes(path) if not is_quoted]
    assert not [f"{path} includes <{name}>" for path, name in names if name.split("/")[0] in (*ROOMS, "ext")]


def test_cuda_types_stay_in_the_runtime():
    paths = [path for room, path in room_sources() if room != "runtime"] + ["runtime/runtime.h"]
    found = [(path, CUDA_TYPE.search(without_strings(code_of(path)))) for path in paths]
    assert not [f"{path} names {match[0]}" for path, match in found if match]


def test_no_version_switches():
    """Python's versions live in bytecode tables, LLVM's in codegen/llvm.h, CUDA's in driver.def."""
    paths = [path for _, path in room_sources() if path not in DOORS]
    assert not [f"{path}: {line.strip()}" for path in paths for line in VERSION_SWITCH.findall(read(path))]


ALLOCATION = re.compile(r"(?<![\w.>])(?:malloc|calloc|realloc|strn?dup|v?asprintf|posix_memalign|aligned_alloc)\(")


def test_memory_comes_from_one_place():
    """Where tests can let it fail."""
    paths = [path for _, path in room_sources() if path != "core/base/memory.c"]
    found = [(path, ALLOCATION.search(without_strings(code_of(path)))) for path in paths]
    assert not [f"{path} calls {match[0]}" for path, match in found if match]
