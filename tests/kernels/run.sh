#!/usr/bin/env bash
# The kernels of another machine, aarch64: compiled by a cross compiler, checked under qemu.
# Skipped, and said so, where either is not installed. The last line is "N passed, N failed[, N
# skipped]".
#
#   tests/kernels/run.sh [DPMF]     (DPMF is not used: the kernels are compiled anew)
set -euo pipefail
cd "$(dirname "$0")/../.."

compiler=$(command -v aarch64-linux-gnu-gcc || true)
emulator=$(command -v qemu-aarch64 || command -v qemu-aarch64-static || true)
if [[ -z $compiler || -z $emulator ]]; then
    echo "skipped: the NEON kernels need gcc-aarch64-linux-gnu, libc6-dev-arm64-cross and qemu-user"
    echo "0 passed, 0 failed, 1 skipped"
    exit 0
fi

scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT
if ! "$compiler" -std=gnu11 -O2 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror \
    -ffp-contract=off \
    -static -DDPMF_KERNELS_NEON -Iinclude -Ilib -Itests \
    tests/kernels/check_kernels.c lib/kernels/*.c lib/kernels/ref/*.c lib/kernels/neon/*.c \
    lib/numerics/cholesky.c \
    -o "$scratch/check_kernels" -lm; then
    echo "failed: the kernels do not compile for aarch64"
    echo "0 passed, 1 failed"
    exit 1
fi
"$emulator" "$scratch/check_kernels"
