"""Make docs/intrinsics.md from the tables of intrinsics: compare it with the page, or write it with --write.

The PTX column is what a kernel that uses the intrinsic has beside the same kernel without it, for the newest of a few
architectures; the signature is the table's, or that of the function of cujit._kernel_functions behind it.
"""
import importlib
import inspect
import re
import sys
import warnings
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "intrinsics.md"
TABLES = {"core/intrinsic/intrinsic_cuda.def": None,
          "core/intrinsic/intrinsic_tensor.def": "Tensor cores and asynchronous copies",
          "core/intrinsic/intrinsic_bulk.def": None}
# The sections of functions in the kernel language, by what their paths begin with; None: not on this page.
LIBRARY = {"cuda.reduce_": "Reductions of a warp", "cuda.cg.": "Cooperative groups", "cuda.shared.": "Memory",
           **dict.fromkeys(("cuda.block.", "cuda.warp."), "Blocks and warps, with several items of a thread"),
           "cuda.mbarrier.": "Barriers in shared memory", "cuda.bf16.": None, "cuda.fp16.": None,
           "cuda.": "Written in the kernel language"}
SM = 90
TYPES = {"n": "none", "b": "bool", "i": "int32", "u": "uint32", "l": "int64", "q": "uint64", "f": "float32",
         "d": "float64", "v": "int32 or uint32", "w": "int32 or uint32", "x": "number",
         "p": "uint64 array, index", "c": "constant"}
# What a sample kernel passes for a parameter of that name; others: by the letter of the shape.
SAMPLES = {"array": "x", "ndarray": "x", "index": "0", "i": "0", "mask": "0xffffffff", "barrier": "1", "count": "32",
           "width": "32", "ndim": "1", "limit": "x[0]", "value": "x[0]", "old": "x[1]", "op": "cuda.cg.plus",
           "shape": "n", "n": "n", "dtype": "types.float32", "alignment": "16", "group": "cuda.cg.coalesced_threads()",
           "label": "n", "predicate": "n > 3", "size": "8", "a": "x[0]", "b": "x[1]", "c": "x[2]", "ns": "n",
           "offset": "0", "items": "(x[0], x[1])", "keys": "x[0]", "values": "x[1]", "first": "0", "bins": "16",
           "default": "0", "init": "0", "barriers": "cuda.shared.array(1, types.uint64)", "registers": "64"}
CALLS = {"cuda.wide.load": "(x, 0, 4)", "cuda.wide.store": "(x, 0, (x[0], x[1]))", "cuda.tma.wait": "(0)",
         "cuda.tma.wait_read": "(0)", "cuda.wgmma.wait": "(0)", "cuda.wgmma.fence": "()",
         "cuda.wgmma.mma": "(cuda.local.array(4, types.float32), "
                           "cuda.shared.array((64, 64), types.float16, swizzle=128), "
                           "(0, 0), cuda.shared.array((8, 64), types.float16, swizzle=128), (0, 0))"}
# What takes an argument that the sample kernels have not.
KNOWN = {"cuda.tma.load": "`cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes`",
         "cuda.tma.store": "`cp.async.bulk.tensor.2d.global.shared::cta.bulk_group`",
         "cuda.tma.prefetch": "`prefetch.tensormap`"}
COMMON = {"mov", "cvt", "ld.param", "ret", "bra", "setp", "selp", "add", "cvta", "ld.global", "st.global", "sub", "and",
          "or", "shl", "shr", "mul", "mad", "xor", "not", "min", "max", "ld.shared", "st.shared", "neg"}
HEAD = """# Intrinsics

Everything of `cuda` that has a meaning in kernels only, made by `scripts/intrinsics_page.py` from the tables. Every one
works on the CPU device, too. Parameters can be given by name. Groups and their methods: [groups.md](groups.md); random
numbers: [random.md](random.md).

"Types" are those of the parameters and of the result; integers and floats are converted to them, and what says nothing
takes more than one type. "sm" is the oldest architecture that has it, where that is not every one that cujit compiles
for. "PTX" is what a kernel for sm_90 contains because of it; there may be more to it than that.
"""


def sections(rows):
    """(title, ids) in the order of the tables, functions in the kernel language behind the rows of their section."""
    found = dict(table_sections())
    for row in rows:
        path = public_path(row)
        title = next((LIBRARY[prefix] for prefix in LIBRARY if path and path.startswith(prefix)), None)
        if title and row["kind"] == "python_function":
            found.setdefault(title, []).append(row["id"])
    return found.items()


def table_sections():
    found = []
    for table, heading in TABLES.items():
        found += [(heading, [])] if heading else []
        for line in (ROOT / table).read_text(encoding="utf-8").splitlines():
            title, row = re.match(r"/\* --- (.*?) -+ \*/", line), re.match(r"([A-Z_]+)\((\w+),", line)
            if title:
                found.append((title[1][0].upper() + title[1][1:], []))
            elif row and found:
                found[-1][1].extend([row[2], *(f"{row[2]}_{axis}" for axis in "XYZ" if row[1] == "AXES")])
    return found


def is_private(path):
    """Whether a name of the path has one underscore in front; two are CUDA's, as in cuda.fp16.__hadd."""
    return re.search(r"\._(?!_)", path) is not None


def public_path(row):
    paths = [path for path in row["paths"] if path.startswith("cuda.") and not is_private(path)]
    return paths[0] if paths else None


def signature(row):
    """The parameters in parentheses; None: not known; "": it is no function."""
    if row["python_function"]:
        module, _, name = row["python_function"].rpartition(".")
        function = getattr(importlib.import_module(f"cujit._kernel_functions.{module}"), name)
        full = inspect.signature(function)
        plain = [each.replace(annotation=each.empty) for each in full.parameters.values()]
        text = str(full.replace(parameters=plain, return_annotation=full.empty))
        return re.sub(r"<function (\w+) at 0x\w+>", lambda m: {"sum_of": "plus"}.get(m[1], m[1]), text)
    if row["parameters"] is not None:
        return f"({row['parameters']})"
    parentheses = re.match(r"\(([^()]|\([^()]*\))*\)", row["doc"])
    if parentheses:
        return parentheses[0]
    if row["kind"] == "device" and row["arity"] == 0:
        return "()"
    if row["kind"] == "math":
        return "(x, y, z)"[:3 * row["arity"] - 1] + ")"
    return ""


def description(row):
    text = re.sub(r"^\(([^()]|\([^()]*\))*\) ", "", row["doc"])
    return text.replace("|", "\\|")


def types(row):
    if not row["shape"]:
        return ""
    names = [TYPES[letter] for letter in row["shape"]]
    return f"{', '.join(names[1:])}{' → ' if len(names) > 1 else ''}{names[0]}"


def call(row, path):
    """A call as it stands in a sample kernel."""
    parameters = signature(row)
    if not parameters or path in CALLS:
        return path + CALLS.get(path, "")
    text = parameters[1:-1].split("*")[0].strip(" ,")
    names = [name.split("=")[0].strip() for name in text.split(",") if name.strip()]
    return f"{path}({', '.join(SAMPLES.get(name, 'n') for name in names)})"


def instructions(text):
    found = []
    for line in text.splitlines():
        match = re.match(r"\s+(?:@!?%\w+ )?([a-z][\w.:]*)[\s;]", line + " ")
        if match and match[1] not in found:
            found.append(match[1])
    registers = re.findall(r"%(?:clock64|clock|globaltimer|laneid|lanemask_\w\w|warpid|nwarpid|smid|nsmid|"
                           r"n?tid\.\w|n?ctaid\.\w|cluster\w+\.?\w?|is_explicit_cluster)\b", text)
    return found + [register for k, register in enumerate(registers) if register not in registers[:k]]


def compiled(statement, element):
    """PTX of a kernel with that statement over x and out, arrays of the element type, and n, an int64."""
    from cujit import cuda, types as scalar_types

    scope = {"cuda": cuda, "types": scalar_types}
    exec(f"def kernel(x, n, out):\n    {statement}\n", scope)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return cuda.compile_ptx(scope["kernel"], f"void({element}[::1], int64, {element}[::1])",
                                cc=divmod(SM, 10))[0]


def ptx(row, path):
    """Up to two instructions or registers that the call brings."""
    from cujit import errors

    if path in KNOWN:
        return KNOWN[path]
    expression = call(row, path).replace("this_grid.sync", "this_grid().sync")
    if path.count(".") == 1 and row["kind"] == "builtin" and not signature(row):
        expression += ".x" if path != "cuda.warpsize" else ""
    for element in ("int32", "uint32", "float32"):
        try:
            text = used(expression, element)
        except (errors.CujitError, AttributeError, TypeError):
            continue
        plain = set(instructions(compiled("out[0] = 1", element)))
        new = [name for name in instructions(text) if name not in plain and not is_common(name)]
        return ", ".join(f"`{name}`" for name in new[:2])
    return f"`{row['nvptx'].removeprefix('llvm.nvvm.')}`" if row["nvptx"] else ""


def used(expression, element):
    """The PTX of a kernel that keeps what the expression gives, as far as it is a number."""
    from cujit import errors

    try:
        return compiled(f"out[0] = {expression}", element)
    except errors.CujitError:
        return compiled(f"value = {expression}; out[0] = 1", element)


def is_common(name):
    return any(name == word or name.startswith(word + ".") for word in COMMON) and not re.search(
        r"\.(cg|cs|ca|lu|cv|nc|wb|wt|hi|wide|v2|v4)\b", name)


def page():
    from cujit import _core

    rows = {row["id"]: row for row in _core.intrinsic_table}
    lines = [HEAD]
    for title, ids in sections(_core.intrinsic_table):
        shown = [(public_path(rows[id]), rows[id]) for id in ids if public_path(rows[id])]
        if not shown:
            continue
        lines += [f"## {title}", "", "| name | types | does | sm | PTX |", "|---|---|---|---|---|"]
        for path, row in shown:
            least = f"{row['sm']}" if row["sm"] else ""
            name = path.replace("this_grid.sync", "this_grid().sync")
            cells = [f"`{name}{signature(row) or ''}`", types(row), description(row), least,
                     ptx(row, path)]
            lines.append(f"| {' | '.join(cells)} |".replace("|  |", "| |").replace("|  |", "| |"))
        lines.append("")
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    new = page()
    if "--write" in sys.argv:
        PAGE.write_text(new, encoding="utf-8")
    elif not PAGE.exists() or PAGE.read_text(encoding="utf-8") != new:
        sys.exit(f"{PAGE.name} is not what the tables say; run scripts/intrinsics_page.py --write")
