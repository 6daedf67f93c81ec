#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Prints the cargo flags that leave the recorder out, and says so, where something it is built with is missing:
#   cargo build -p pelton-cli $(scripts/build-flags.sh)
#   cargo test --workspace $(scripts/build-flags.sh workspace)
set -u

missing=()
printf 'int f(void){return 0;}\n' | "${CLANG:-clang}" -target bpf -O2 -x c -c - -o /dev/null 2>/dev/null || missing+=(clang)
command -v pkg-config >/dev/null 2>&1 || missing+=(pkg-config)
printf '#include <libelf.h>\n' | cc -E -x c - -o /dev/null 2>/dev/null || missing+=(libelf-dev)
printf '#include <zlib.h>\n' | cc -E -x c - -o /dev/null 2>/dev/null || missing+=(zlib1g-dev)
[ "${#missing[@]}" -gt 0 ] || exit 0

echo "not built: the recorder (pelton record); missing: ${missing[*]}; as root: apt-get install ${missing[*]}" >&2
[ "${1:-}" != workspace ] || printf '%s ' --exclude pelton-live
echo --no-default-features
