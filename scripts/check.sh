#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Everything that can be said about the code without running it. Runs all steps, ends with one line that counts them.
set -u
cd "$(dirname "$0")/.." || exit 70

passed=0 failed=0 not_checked=0

# step NAME COMMAND...
step() {
    local name=$1
    shift
    if "$@"; then
        passed=$((passed + 1))
        printf 'check: ok       %s\n' "$name"
    else
        failed=$((failed + 1))
        printf 'check: FAILED   %s\n' "$name"
    fi
}

# step_with TOOL NAME COMMAND...: counts the step as not checked when the command TOOL does not run.
step_with() {
    local tool=$1 name=$2
    shift 2
    if $tool --version >/dev/null 2>&1; then
        step "$name" "$@"
    else
        not_checked=$((not_checked + 1))
        printf 'check: not checked: %s (%s is missing, see scripts/setup.sh)\n' "$name" "$tool"
    fi
}

clang_format=.venv/bin/clang-format

format_c() {
    local files
    mapfile -t files < <(git ls-files --cached --others --exclude-standard -- '*.c' '*.h')
    [ "${#files[@]}" -gt 0 ] || { echo "no C files found"; return 1; }
    "$clang_format" --dry-run --Werror "${files[@]}"
}

step_with "cargo fmt" "Rust format" cargo fmt --all --check
step_with "$clang_format" "C format" format_c
step_with "cargo clippy" "Rust lints" cargo clippy --quiet --workspace --all-targets -- -D warnings
step "house rules" cargo xtask tidy
step "generated files" cargo xtask generate --check
step "known-answer tables" cargo xtask vectors --check
step "documentation" env RUSTDOCFLAGS="-D warnings" cargo doc --quiet --workspace --no-deps
step_with "cargo deny" "licences of dependencies" cargo deny --log-level error check licenses bans sources

printf 'check: %d passed, %d failed, %d not checked\n' "$passed" "$failed" "$not_checked"
[ "$failed" = 0 ]
