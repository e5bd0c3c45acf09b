#!/usr/bin/env bash
# Builds and runs the tests: `make test` and, with --long, `make test-long`. It is written in
# Python, Debian's own; scripts/run_tests.py says what it does.
exec /usr/bin/python3 -B "$(dirname "$0")/run_tests.py" "$@"
