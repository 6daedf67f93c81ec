#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-only
# Finds or installs what a job needs: scripts/setup.sh GROUP..., groups: base test live oracle check bench.
# Says what is missing and why it is wanted. Installs Debian packages only as root; Python packages go to .venv.
# Without cargo or a C compiler nothing can be built: exit 4. Everything else is optional: the checks that need it say
# "not measured" or "not checked".
set -u
cd "$(dirname "$0")/.." || exit 70

rust_minor_min=88
apt_is_fresh=no

say() { printf 'setup: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

can_apt() { [ "$(id -u)" = 0 ] && have apt-get; }

apt_install() { # PACKAGE
    if [ "$apt_is_fresh" = no ]; then
        apt-get update -qq </dev/null >/dev/null 2>&1 || say "apt-get update failed; trying with the lists at hand"
        apt_is_fresh=yes
    fi
    DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "$1" </dev/null >/dev/null 2>&1
}

# want PACKAGE WHY TEST...: installs PACKAGE unless the command TEST succeeds.
want() {
    local package=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return 0
    if can_apt; then
        say "installing $package: $why"
        apt_install "$package" && "$@" >/dev/null 2>&1 && return 0
        say "could not install $package"
    else
        say "missing: $package ($why); as root: apt-get install $package"
    fi
    return 1
}

can_build_32_bit() { printf '#include <stdint.h>\nint main(void){return 0;}\n' | cc -m32 -x c - -o /dev/null; }
can_build_bpf() { printf 'int f(void){return 0;}\n' | clang -target bpf -O2 -x c -c - -o /dev/null; }
can_link_arm64() { printf 'int main(void){return 0;}\n' | aarch64-linux-gnu-gcc -x c - -o /dev/null; }
has_header() { printf '#include <%s>\n' "$1" | cc -E -x c - -o /dev/null; }
can_venv() { python3 -c 'import ensurepip, venv'; }
has_python() { python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))'; }

rust() {
    if ! have cargo; then
        say "missing: cargo (builds everything); install Rust 1.$rust_minor_min or newer from https://rustup.rs"
        exit 4
    fi
    local minor
    minor=$(rustc --version | sed -n 's/^rustc 1\.\([0-9]*\).*/\1/p')
    if [ "${minor:-0}" -lt "$rust_minor_min" ]; then
        say "rustc 1.${minor:-?} is too old; 1.$rust_minor_min or newer is needed"
        exit 4
    fi
}

# component COMMAND NAME WHY: a part of the Rust toolchain. Never installed from here: the toolchain is yours.
component() {
    cargo "$1" --version >/dev/null 2>&1 || say "missing: $2 ($3); rustup component add $2"
}

# The library of another machine, beside those of the toolchain.
rust_target() { # TARGET WHY
    [ -d "$(rustc --print target-libdir --target "$1" 2>/dev/null)" ] && return 0
    say "adding the Rust target $1: $2"
    have rustup && rustup --quiet target add "$1" </dev/null >/dev/null 2>&1 && return 0
    say "could not add it; rustup target add $1"
}

python_packages() {
    if ! want python3 "runs the Python check of traces, and clang-format" has_python; then return 1; fi
    if [ ! -x .venv/bin/python ] || ! .venv/bin/python -m pip --version >/dev/null 2>&1; then
        if ! want python3-venv "makes .venv, where Python packages stay out of your system" can_venv; then return 1; fi
        rm -rf .venv
        python3 -m venv .venv || { say "python3 -m venv failed"; return 1; }
    fi
    cmp -s scripts/requirements.txt .venv/installed.txt && return 0
    say "installing Python packages into .venv: $(sed -n 's/^\([a-z-]*==.*\)/\1/p' scripts/requirements.txt | paste -sd' ')"
    if .venv/bin/python -m pip install --quiet --disable-pip-version-check -r scripts/requirements.txt </dev/null; then
        cp scripts/requirements.txt .venv/installed.txt
    else
        say "pip failed; the Python checks will not be measured"
    fi
}

# Each by itself: one that cannot be had must not keep the others away.
table_packages() {
    [ -x .venv/bin/python ] || return 1
    cmp -s scripts/requirements-tables.txt .venv/installed-tables.txt && return 0
    local package missing=
    for package in $(sed -n 's/^\([a-z]*==.*\)/\1/p' scripts/requirements-tables.txt); do
        say "installing $package into .venv: reads exported tables in a test"
        .venv/bin/python -m pip install --quiet --disable-pip-version-check "$package" </dev/null ||
            { say "pip failed for $package; reading tables with it will not be measured"; missing=$package; }
    done
    [ -n "$missing" ] || cp scripts/requirements-tables.txt .venv/installed-tables.txt
}

base() {
    rust
    want gcc "compiles the policy core" have cc || exit 4
    want clang "compiles the recorder's BPF program" can_build_bpf
    want pkg-config "finds libelf and zlib" have pkg-config
    want libelf-dev "the recorder reads the program it loads with it" has_header libelf.h
    want zlib1g-dev "the recorder's loader needs it" has_header zlib.h
    want libc6-dev "headers to link a C program with" sh -c 'printf "#include <stdio.h>\n" | cc -E -x c - -o /dev/null' || exit 4
}

group() {
    case $1 in
        base) ;;
        test)
            want clang "compiles the policy core to BPF and with UBSan in the conformance tests" can_build_bpf
            want gcc-multilib "compiles the policy core for 32 bits in the conformance tests" can_build_32_bit
            python_packages
            table_packages
            ;;
        live)
            want qemu-system-x86 "boots the kernels that are recorded" have qemu-system-x86_64
            want cpio "packs the files of the guest" have cpio
            want acpica-tools "tells the guest's kernel its frequencies" have iasl
            want xz-utils "unpacks kernel modules" have xz
            want qemu-system-arm "boots arm64 kernels on boards of small and large CPUs" have qemu-system-aarch64
            want gcc-aarch64-linux-gnu "builds the recorder for them" have aarch64-linux-gnu-gcc
            want libc6-dev-arm64-cross "builds the recorder for them" can_link_arm64
            want device-tree-compiler "describes the boards" have fdtput
            rust_target aarch64-unknown-linux-gnu "the recorder for arm64 boards"
            want debian-archive-keyring "checks what is fetched from the Debian archive" test -r /usr/share/keyrings/debian-archive-keyring.gpg
            ;;
        oracle)
            want python3 "writes stubs for what the compiled kernel code leaves undefined" has_python
            want binutils "links kernel code into a program" have objcopy
            want make "runs the kernel's own build" have make
            want flex "the kernel's configuration needs it" have flex
            want bison "the kernel's configuration needs it" have bison
            want m4 "bison needs it" have m4
            want xz-utils "unpacks kernel sources" have xz
            want debian-archive-keyring "checks what is fetched from the Debian archive" test -r /usr/share/keyrings/debian-archive-keyring.gpg
            ;;
        check)
            component fmt rustfmt "checks the format of Rust code"
            component clippy clippy "lints Rust code"
            cargo deny --version >/dev/null 2>&1 ||
                say "missing: cargo-deny (looks for known vulnerabilities in dependencies); cargo install --locked cargo-deny"
            python_packages
            ;;
        bench)
            want valgrind "counts instructions" have valgrind
            want rt-tests "hackbench, the load of which the recorder's cost is measured" have hackbench
            # Placements are counted in the kernel's compiled code, too.
            group oracle
            ;;
        *)
            echo "usage: scripts/setup.sh [base|test|live|oracle|check|bench]..." >&2
            exit 2
            ;;
    esac
}

base
for name in "$@"; do group "$name"; done
exit 0
