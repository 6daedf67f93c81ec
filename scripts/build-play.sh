#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds the playground: one page with the simulator in it, out/playground.html. Needs the library of Rust's target
# wasm32-unknown-unknown and clang with llvm-ar for the core; wasm-opt (Debian's binaryen) makes it smaller.
# Exit code: 0; 4 where the target or clang is missing.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh play web
target=wasm32-unknown-unknown
[ -d "$(rustc --print target-libdir --target $target)" ] || { echo "playground: not built: rustup target add $target"; exit 4; }
clang=''
for one in clang-19 clang; do
    if printf 'int f(void){return 0;}\n' | "$one" --target=wasm32 -x c -c - -o /dev/null 2>/dev/null; then
        clang=$one
        break
    fi
done
[ -n "$clang" ] || { echo "playground: not built: no clang that compiles for WebAssembly"; exit 4; }
archiver=$(command -v llvm-ar-19 || command -v llvm-ar || compgen -G '/usr/lib/llvm-*/bin/llvm-ar' | tail -1) || true
[ -n "$archiver" ] || { echo "playground: not built: no llvm-ar"; exit 4; }

export CC_wasm32_unknown_unknown=$clang AR_wasm32_unknown_unknown=$archiver
cargo build --quiet --profile play --target $target -p pelton-play
module=${CARGO_TARGET_DIR:-target}/$target/play/pelton_play.wasm

mkdir -p out
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp "$module" "$work/play.wasm"
if command -v wasm-opt >/dev/null; then
    # What Rust's target has by itself, and no more: browsers lack the rest.
    features=(--enable-bulk-memory --enable-sign-ext --enable-mutable-globals --enable-nontrapping-float-to-int
        --enable-multivalue --enable-reference-types)
    # What -Oz leaves has a twentieth less bytes, and 4 % more when it is packed.
    if ! wasm-opt -O1 "${features[@]}" "$module" -o "$work/play.wasm"; then
        echo "playground: this wasm-opt cannot make the module smaller"
        cp "$module" "$work/play.wasm"
    fi
fi
gzip -9nc "$work/play.wasm" >"$work/play.gz"

# Lines of the page in which a file takes a word's place.
while IFS= read -r line; do
    case $line in
        *@MODULE@*) printf '%s' "${line%%@MODULE@*}"; base64 -w0 "$work/play.gz"; printf '%s\n' "${line##*@MODULE@}" ;;
        *@SCRIPT@*) printf '%s\n' "${line%%@SCRIPT@*}"; cat web/play.js; printf '%s\n' "${line##*@SCRIPT@}" ;;
        *) printf '%s\n' "$line" ;;
    esac
done <web/play.html >"$work/playground.html"
mv "$work/playground.html" out/playground.html
printf 'playground: out/playground.html, %s kB; module %s kB, %s kB packed\n' "$(($(wc -c <out/playground.html) / 1000))" \
    "$(($(wc -c <"$work/play.wasm") / 1000))" "$(($(wc -c <"$work/play.gz") / 1000))"
