# make demo    install what is missing, build, run the examples
# make test    install what is missing, build, run all tests
# Both use the Python that scripts/find_python.sh finds; PYTHON=... and VENV=... choose another one.
SHELL := /bin/bash
PYTHON ?= $(shell scripts/find_python.sh)
VENV ?= .venv
BUILD ?= build/$(notdir $(abspath $(VENV)))
PYTEST_ARGS ?= -n auto -q
C_TESTS ?= ON
BIN := $(abspath $(VENV))/bin
export PATH := $(BIN):$(PATH):/usr/local/cuda/bin
SOURCES = git ls-files --cached --others --exclude-standard
CLANG_FORMAT ?= clang-format-22

FUZZ_ARGS ?= --programs 20000 --processes 2
.PHONY: demo test docs check check-asan check-tsan check-shuffled fuzz format lint wheel wheels wheels-arm64 bench packages prepare install ctest pytest clean

demo: install
	$(BIN)/python examples/demo.py

test: install ctest pytest

check: lint test check-shuffled

packages:
	@scripts/install_packages.sh

prepare: packages
	@test -n "$(PYTHON)" || { echo "cujit needs CPython 3.11 to 3.15" >&2; exit 1; }
	@scripts/prepare_venv.sh $(VENV) $(PYTHON)

install: prepare
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-build-isolation --no-deps --force-reinstall \
	    --config-settings=build-dir=$(BUILD) --config-settings=cmake.define.CUJIT_TESTS=$(C_TESTS) \
	    --config-settings=cmake.define.CUJIT_WERROR=ON .

ctest:
	ctest --test-dir $(BUILD) --output-on-failure

pytest:
	$(BIN)/python -m pytest $(PYTEST_ARGS) tests

lint: prepare
	$(SOURCES) '*.c' '*.cpp' '*.h' | xargs $(CLANG_FORMAT) --dry-run -Werror
	$(BIN)/ruff check .
	$(BIN)/python -m pytest -q tests/layout

format: prepare
	$(SOURCES) '*.c' '*.cpp' '*.h' | xargs $(CLANG_FORMAT) -i
	$(BIN)/ruff check -q --fix-only .

check-asan: prepare
	cmake --preset asan -DPython_EXECUTABLE=$(BIN)/python
	cmake --build --preset asan
	ctest --preset asan
	scripts/sanitized.sh build/asan $(BIN)/python -m pytest $(PYTEST_ARGS) --ignore tests/layout --ignore tests/docs tests

# What has threads: rooms of C tests, and Python tests that make some, in programs that they run, or by quick_start.
check-tsan: prepare
	cmake --preset tsan -DPython_EXECUTABLE=$(BIN)/python
	cmake --build --preset tsan
	ctest --preset tsan -R '^(core|runtime|jit)$$'
	scripts/sanitized.sh build/tsan $(BIN)/python -m pytest $(PYTEST_ARGS) \
	    $$(grep -rlwE 'threading|concurrent|ticking|quick_start' --include='test_*.py' tests)

check-shuffled: prepare
	cmake --preset shuffled -DPython_EXECUTABLE=$(BIN)/python
	cmake --build --preset shuffled
	ctest --preset shuffled -E fuzz

# The site, in build/site.
docs: install
	$(BIN)/python -m pip install -q --disable-pip-version-check -r scripts/requirements-docs.txt
	rm -rf build/site
	$(BIN)/python -m sphinx -q -W --keep-going docs build/site

fuzz: install
	$(BIN)/python tests/fuzz/run.py $(FUZZ_ARGS)

wheel: prepare
	rm -rf dist
	$(BIN)/python -m pip wheel -q --disable-pip-version-check --no-deps -w dist .
	$(BIN)/python scripts/check_wheel.py dist/*.whl

# For every Linux with glibc 2.28 or newer, and the Pythons of this machine.
wheels: packages
	scripts/wheels.sh dist 3.11 3.12 3.13 3.14 3.15

# The same for 64-bit Arm, cross-compiled, and the Pythons whose headers these suites of Debian have.
wheels-arm64: packages
	scripts/wheels_arm64.sh dist 3.11:bookworm 3.13:trixie 3.14:forky 3.15:forky

bench: install
	$(BIN)/python benchmarks/compare.py

clean:
	rm -rf build dist
