"""kernel.explain(): lines of the source and what was made of them; the page in a browser. What objects print as."""
import re
import shutil
import subprocess

import numpy as np
import pytest

from cujit import cuda

BROWSER = shutil.which("chromium") or shutil.which("google-chrome")


@cuda.jit(device=True)
def half(value):
    return value / 2


@cuda.jit
def scale(x, by):
    i = cuda.grid(1)
    if i < x.size:
        x[i] = half(x[i]) / by   # "<&>"


SIGNATURE = "void(float32[::1], float64)"
FIRST = half.py_func.__code__.co_firstlineno
STORE = scale.py_func.__code__.co_firstlineno + 4


def lines_of(page, text, number):
    return [line.text for line in page.texts[text] if line.number == number and line.file == __file__]


def test_lines_belong_together():
    page = scale.explain(SIGNATURE, cc=(9, 0))
    assert list(page.texts)[:4] == ["source", "typed IR", "LLVM IR", "PTX"] and "sm_90" in page.title
    assert lines_of(page, "source", STORE) == ['        x[i] = half(x[i]) / by   # "<&>"']
    assert any("store x[" in line for line in lines_of(page, "typed IR", STORE))
    assert any("fdiv double" in line for line in lines_of(page, "LLVM IR", STORE))
    assert any("st.global" in line for line in lines_of(page, "PTX", STORE))
    of_half = FIRST + 2
    assert lines_of(page, "source", of_half) == ["    return value / 2"]
    assert any("fmul double" in line for line in lines_of(page, "LLVM IR", of_half))   # inlined
    assert not any("!dbg" in line.text for line in page.texts["LLVM IR"])
    assert not any(".loc" in line.text for line in page.texts["PTX"])
    types = {scale_source()[value.first:value.last]: value.type for value in page.values[__file__, STORE]}
    assert types["half(x[i]) / by"] == "float64" and types["x[i]"] == "float32"
    assert any("computed in float64" in warning for warning in page.warnings)


def scale_source():
    return '        x[i] = half(x[i]) / by   # "<&>"'


def test_the_current_device():
    page = scale.explain(SIGNATURE)
    assert page.facts["threads of a block, at most"] >= 1 and "device" in page.facts
    is_gpu = cuda.get_current_device().kind == "cuda"
    assert ("PTX" if is_gpu else "assembly") in page.texts
    assert any("double" in line for line in lines_of(page, "LLVM IR", STORE))
    fresh = cuda.jit(scale.py_func)
    with pytest.raises(ValueError, match="compiled for 0 lists of types; name one"):
        fresh.explain()
    fresh[1, 4](cuda.to_device(np.ones(4, np.float32)), 2.0)
    assert fresh.explain().title.startswith("scale(array(float32, 1d, ")


@cuda.jit
def far_apart(x, y, n):
    i, j = cuda.grid(2)
    if i < x.shape[0] and j < x.shape[1]:
        x[i, j] = y[3 * i]           # rows apart; every third
    total = x[0, 0]
    for k in range(n):
        total += x[k, i] + y[i - k]  # side by side
        total += x[k, n * i]         # as the launch says
        total += x[j, k]             # the same for all in x
    y[i] = total


@cuda.jit
def in_some_threads(x):
    i = cuda.grid(1)
    for k in range(3):
        cuda.syncthreads()           # all come here
    if x[0] > 0:
        cuda.syncthreads()           # all or none
    if i < x.size:
        x[i] = 1
        cuda.syncthreads()
    if cuda.threadIdx.x > 5:
        x[i] = 2
    cuda.syncthreads()


@cuda.jit
def trees(x, n):
    t = cuda.threadIdx.x
    x[t] = 1 if t < n else 0
    while n:                         # the same number of trips for all, maybe none
        if t < n:
            x[t] += x[t + n]
        cuda.syncthreads()
        n //= 2
    while t < 40:                    # more trips for some
        t += 7
        cuda.syncthreads()
    if x[0] > 1:
        if t < 50:
            return
    cuda.syncthreads()               # some are gone


def warnings_of(kernel, signature):
    """(line behind the def, text) of each that names a line of this file."""
    first = kernel.py_func.__code__.co_firstlineno + 1
    found = [re.match(r"line (\d+): (.*)", warning) for warning in kernel.explain(signature, cc=(9, 0)).warnings]
    return [(int(each[1]) - first, each[2]) for each in found if each]


def test_accesses_that_are_far_apart():
    found = warnings_of(far_apart, "void(float64[:,::1], float64[::1], int64)")
    who = "neighbouring threads (threadIdx.x) access "
    rows = "rows apart: let threadIdx.x run along the last axis, which is the one without gaps"
    assert found == [(3, f"{who}'y' 3 elements apart"), (3, f"{who}'x' {rows}"),
                     (7, f"{who}'x' as far apart as a factor of the launch says")]
    columns = warnings_of(far_apart, "void(float64[::1,:], float64[:], int64)")
    assert [(line, text) for line, text in columns if "columns" in text] == [
        (6, f"{who}'x' columns apart: let threadIdx.x run along the first axis, which is the one without gaps"),
        (7, f"{who}'x' columns apart: let threadIdx.x run along the first axis, which is the one without gaps")]


def test_a_barrier_that_some_threads_do_not_reach():
    assert warnings_of(in_some_threads, "void(float64[::1])") == [
        (8, "not all threads of a block may reach this barrier: what line "
            f"{in_some_threads.py_func.__code__.co_firstlineno + 7} decides differs between them")]
    first = trees.py_func.__code__.co_firstlineno + 1
    found = [(line, int(re.search(r"what line (\d+)", text)[1]) - first)
             for line, text in warnings_of(trees, "void(float64[::1], int64)") if "barrier" in text]
    assert found == [(10, 8), (14, 12)]


def test_registers_that_do_not_suffice():
    from cujit.cuda._link.machine_code import has_tools

    if not has_tools("ptxas"):
        pytest.skip("needs ptxas")

    def many(x):
        i = cuda.grid(1)
        a, b, c, d, e, f, g, h = x[i], x[i + 1], x[i + 2], x[i + 3], x[i + 4], x[i + 5], x[i + 6], x[i + 7]
        for k in range(x.size):
            a, b, c, d, e, f, g, h = b * h, c * a, d * b, e * c, f * d, g * e, h * f, a * g
        x[i] = a + b + c + d + e + f + g + h

    page = cuda.jit(max_registers=16)(many).explain("void(float64[::1])", cc=(9, 0))
    assert page.facts["registers of a thread"] <= 24 and page.facts["spilled, bytes read"] > 0
    assert any("registers do not suffice" in warning for warning in page.warnings)
    assert scale.explain(SIGNATURE, cc=(9, 0)).facts["spilled, bytes read"] == 0

    def memory(x):
        i, own, all_threads = cuda.grid(1), cuda.local.array(50, np.float64), cuda.shared.array(40, np.float64)
        for k in range(50):
            own[k] = x[k]
        all_threads[cuda.threadIdx.x] = own[int(x[i]) % 50]
        cuda.syncthreads()
        x[i] = all_threads[39 - cuda.threadIdx.x]

    facts = cuda.jit(memory).explain("void(float64[::1])", cc=(9, 0)).facts
    assert facts["shared memory of a block, bytes"] == 320 and facts["local memory of a thread, bytes"] >= 400


def test_one_file(tmp_path):
    page = scale.explain(SIGNATURE, cc=(7, 5))
    page.save(tmp_path / "page.html")
    text = (tmp_path / "page.html").read_text()
    assert text == str(page) and page._repr_html_() in text and "&lt;&amp;&gt;" in text
    assert not re.search(r'(?:src|href)="', text)


@pytest.mark.skipif(BROWSER is None, reason="needs Chromium")
def test_hovering_marks_what_was_made_of_a_line(tmp_path):
    page = tmp_path / "page.html"
    hover = f"""<script>document.querySelector('[data-text="source"] .line[data-place$=":{STORE}"]')
        .dispatchEvent(new MouseEvent("mouseenter"));</script>"""
    page.write_text(str(scale.explain(SIGNATURE, cc=(9, 0))).replace("</body>", hover + "</body>"))
    done = subprocess.run([BROWSER, "--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}/user",
                           "--dump-dom", page.as_uri()], capture_output=True, text=True, timeout=120)
    lit = re.findall(r'<div class="line lit"[^>]*>(.*?)</div>', done.stdout)
    assert any("st.global" in line for line in lit) and any("store x[" in line for line in lit), done.stdout[-2000:]
    assert not any("half(value)" in line or "setp" in line for line in lit)


def test_what_objects_print_as():
    stream = cuda.stream()
    assert repr(scale[(2, 3), 32]) == "<launch of scale: grid (2, 3, 1), block (32, 1, 1)>"
    shown = repr(scale[1, 32, stream, 64])
    assert shown.startswith("<launch of scale: grid (1, 1, 1), block (32, 1, 1), 64 bytes of shared memory, <CUDA st")
    event = cuda.event()
    assert re.fullmatch(r"<event of (the CPU device|CPU device 0|GPU 0 .*)>", repr(event))
    event.close()
    assert repr(event).startswith("<closed event of ")
    shown = cuda.to_device(np.zeros((2, 3), np.float32))._repr_html_()
    assert "(2, 3)" in shown and "float32" in shown and "24 bytes" in shown
    kernel = cuda.jit(scale.py_func)
    assert kernel._repr_html_() == "<code>&lt;kernel " + __name__ + ".scale&gt;</code>"
    kernel.compile("void(float32[:], float64)")
    assert "(array(float32, 1d, A), float64)" in kernel._repr_html_()
