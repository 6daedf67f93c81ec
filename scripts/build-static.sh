#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the release program so that it needs no library of a machine: scripts/build-static.sh FOLDER makes
# FOLDER/HOST/release/pelton, stripped, with flags of RUSTFLAGS beside its own. The C library, libelf and zlib come from
# archives, which Debian has in libc6-dev, libelf-dev and zlib1g-dev. Exit code: 0; 4 where one of them is missing.
set -euo pipefail
cd "$(dirname "$0")/.."
folder=$1

flags=$(scripts/build-flags.sh)
needed=(libc.a)
[ -n "$flags" ] || needed+=(libelf.a libz.a)
for archive in "${needed[@]}"; do
    [ -e "$(cc -print-file-name=$archive)" ] || { echo "static: not built: no $archive" >&2; exit 4; }
done
LIBBPF_SYS_LIBRARY_PATH=$(dirname "$(cc -print-file-name=libelf.a)")
export LIBBPF_SYS_LIBRARY_PATH
paths="--remap-path-prefix=$PWD=pelton --remap-path-prefix=${CARGO_HOME:-$HOME/.cargo}/registry/src=crates"
export RUSTFLAGS="${RUSTFLAGS:-} -Ctarget-feature=+crt-static -Cstrip=symbols $paths" CARGO_PROFILE_RELEASE_DEBUG=0
host=$(rustc -vV | sed -n 's/^host: //p')
# shellcheck disable=SC2086 # flags are words
cargo build --quiet --release -p pelton-cli --features static $flags --target "$host" --target-dir "$folder"
