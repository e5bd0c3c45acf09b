# The front door: `make help` lists what there is. CMake does the building; see CMakePresets.json.

DESTDIR ?=
PREFIX ?= /usr/local
JOBS ?= $(shell nproc 2>/dev/null || echo 2)

SCALE ?= small
PAPER_OUT ?= build/paper/$(SCALE)
MUTANTS ?= 50

export JOBS
MAKEFLAGS += --no-print-directory
BUILD = cmake --build $(1) -j $(JOBS)
INSTALL_PACKAGES = scripts/install_packages.sh

.DEFAULT_GOAL := build
.PHONY: build demo test test-long test-browser test-db test-mpi mpi coverage mutate fuzz bench paper deb test-deb wheel test-wheel test-wheel-aarch64 windows-client macos-check docs lint format asan tsan install clean help

build:      ## (the default) build/dpmf and the library
	@$(INSTALL_PACKAGES) --check build
	@mkdir -p build
	@[ -f build/Makefile ] || cmake --preset release >build/configure.log 2>&1 || \
	    { cat build/configure.log; exit 1; }
	@$(call BUILD,build)

demo:       ## a first look: from made-up ratings to a private release and its page, in build/demo
	@$(INSTALL_PACKAGES) build
	@$(MAKE) build
	@rm -rf build/demo
	@build/dpmf demo --web build/demo

test:       ## everything that must hold, in a few minutes; ends with "N passed, N failed"
	@$(INSTALL_PACKAGES) build test
	@scripts/run_tests.sh

test-long:  ## the same and more: sanitizers on all of it, FUZZ_SECONDS=60 a fuzzer, valgrind
	@$(INSTALL_PACKAGES) build test long mpi
	@scripts/run_tests.sh --long

test-browser:  ## the page in a real browser: Debian's Chromium, driven by Selenium
	@$(INSTALL_PACKAGES) build browser
	@$(MAKE) build
	@/usr/bin/python3 tests/browser/run.py build/dpmf

test-db:    ## databases: Debian's PostgreSQL, started on loopback as an unprivileged user
	@$(INSTALL_PACKAGES) build db
	@$(MAKE) build
	@tests/database/run.sh build/dpmf
	@tests/database/exports.sh build/dpmf
	@tests/database/files.sh build/dpmf
	@tests/database/cookbook.sh build/dpmf

mpi:        ## build/libdpmf-mpi.so: dpmf train by several processes, with mpirun
	@$(INSTALL_PACKAGES) build mpi
	@$(MAKE) build
	@cmake -DDPMF_MPI=ON build >build/configure.log 2>&1 || { cat build/configure.log; exit 1; }
	@$(call BUILD,build)

test-mpi: mpi  ## several processes: the same releases, processes that die or hang, a real network
	@$(INSTALL_PACKAGES) build test mpi
	@DPMF_TEST_MPI=1 tests/mpi/run.sh build/dpmf

coverage:   ## which lines and branches the tests reach: build/coverage/html, a table in docs/testing.md
	@$(INSTALL_PACKAGES) build test coverage
	@scripts/run_coverage.sh

mutate:     ## MUTANTS=50 small faults a folder put into the code one by one: do the tests notice? docs/testing.md
	@$(INSTALL_PACKAGES) build test coverage
	@/usr/bin/python3 scripts/mutate.py --each $(MUTANTS)

fuzz:       ## every fuzzer for FUZZ_SECONDS=600, counted in docs/testing/fuzzing.csv
	@$(INSTALL_PACKAGES) build test
	@scripts/run_fuzzers.sh

bench:      ## the benchmarks of docs/performance.md
	@$(INSTALL_PACKAGES) build bench
	@scripts/run_bench.sh

paper:      ## the paper's evaluation, run again: SCALE=small, medium or full; docs/paper.md
	@$(INSTALL_PACKAGES) build paper
	@cmake --preset release -DDPMF_BENCH=ON >/dev/null
	@$(call BUILD,build) --target all benches >/dev/null
	@/usr/bin/python3 bench/paper/paper.py --scale $(SCALE) --out $(PAPER_OUT) $(PAPER_OPTIONS) build/dpmf

lint:       ## the include law, static analysis and the layout of the code
	@$(INSTALL_PACKAGES) build lint
	@scripts/run_lint.sh

format:     ## put every C file into the layout of .clang-format
	@$(INSTALL_PACKAGES) lint
	@find include lib programs web reference tests bench -name '*.[ch]' -print0 | xargs -0 clang-format -i

asan:       ## build/asan: everything with the address and undefined-behaviour sanitizers
	@$(INSTALL_PACKAGES) --check build test
	@cmake --preset asan && $(call BUILD,build/asan) --target all tests

tsan:       ## build/tsan: everything with the thread sanitizer
	@$(INSTALL_PACKAGES) --check build test
	@cmake --preset tsan && $(call BUILD,build/tsan) --target all tests

deb:        ## Debian packages, in build/deb
	@$(INSTALL_PACKAGES) build deb
	@scripts/build_deb.sh

test-deb:   ## the same, twice: lintian, equal hashes, installed and removed in a clean Debian (needs root)
	@$(INSTALL_PACKAGES) build deb test-deb
	@tests/deb/test_packages.sh

wheel:      ## a self-contained wheel and a source distribution, in build/wheel/dist; tools from PyPI
	@$(INSTALL_PACKAGES) build
	@packaging/wheel/build.sh || [ $$? -eq 77 ]

test-wheel: wheel  ## tries them in clean virtual environments, with every Python that is here
	@[ ! -d build/wheel/dist ] || packaging/wheel/test.sh

test-wheel-aarch64: wheel  ## a wheel for aarch64 by a cross compiler, tried under qemu
	@$(INSTALL_PACKAGES) wheel-aarch64
	@[ ! -d build/wheel/dist ] || packaging/wheel/aarch64.sh || [ $$? -eq 77 ]

windows-client: build  ## the client library for Windows, in build/windows/install, tried under wine
	@$(INSTALL_PACKAGES) windows
	@packaging/windows/client.sh build/dpmf || [ $$? -eq 77 ]

macos-check:  ## compiles everything for macOS, with the compiler of Zig from PyPI; runs nothing
	@$(INSTALL_PACKAGES) build
	@packaging/macos/check.sh || [ $$? -eq 77 ]

docs:       ## the manual of the libraries and of the Python package: build/docs/index.html
	@/usr/bin/python3 scripts/api_docs.py --html build/docs
	@echo build/docs/index.html

install: build  ## install to $(DESTDIR)$(PREFIX)
	@cmake -DCMAKE_INSTALL_PREFIX=$(PREFIX) build >/dev/null
	@$(call BUILD,build)
	@DESTDIR=$(DESTDIR) cmake --install build

clean:      ## remove build/
	@rm -rf build

help:       ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile
