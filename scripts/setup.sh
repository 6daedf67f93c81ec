#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Finds or installs what a job needs: scripts/setup.sh GROUP..., groups: base test live oracle check bench ceilings fast
# python docs web play package.
# Says what is missing and why it is wanted. Debian packages and the library of another machine are installed as root only,
# after a yes to the question, or without one where CI=true or PELTON_INSTALL=yes (no: never). Without a terminal no question
# can be answered: nothing is installed, and the command that would is said. Python packages go to .venv, by the checksums
# of scripts/requirements*.txt, those of npm to web/node_modules, by web/package-lock.json.
#
# Exit code: 0; 4 when cargo or a C compiler is missing, without which nothing can be built. All else is optional: the
# checks that need it say "not measured" or "not checked".
set -u
cd "$(dirname "$0")/.." || exit 70

rust_minor_min=88
# What is missing, a place each in four lists: name, what it is for, the command that installs it, how to see that it is there.
missing=() reasons=() commands=() tests=()
python=no tables=no package=no docs=no web=no

say() { printf 'setup: %s\n' "$*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# want PACKAGE WHY TEST...: notes PACKAGE as missing unless the command TEST succeeds.
want() {
    local package=$1 why=$2
    shift 2
    "$@" >/dev/null 2>&1 && return 0
    [[ " ${missing[*]-} " == *" $package "* ]] && return 0
    missing+=("$package") reasons+=("$why") commands+=("apt-get install $package") tests+=("$*")
}

# The library of another machine, beside those of the toolchain.
want_target() { # TARGET WHY
    has_target "$1" && return 0
    missing+=("Rust target $1") reasons+=("$2") commands+=("rustup target add $1") tests+=("has_target $1")
}

# A command of cargo's, built from its source.
want_command() { # NAME WHY
    local test="cargo ${1#cargo-} --version"
    $test >/dev/null 2>&1 && return 0
    missing+=("$1") reasons+=("$2") commands+=("cargo install --locked $1") tests+=("$test")
}

# Whether what is missing may be installed here.
may_install() {
    [ "$(id -u)" = 0 ] || return 1
    [ "${CI:-}" = true ] || [ "${PELTON_INSTALL:-}" = yes ] && return 0
    [ "${PELTON_INSTALL:-}" != no ] && [ -t 0 ] && [ -t 1 ] || return 1
    local answer
    read -r -p "setup: install this now, as root? [y/N] " answer
    [[ $answer == [yY]* ]]
}

install_one() { # PLACE
    case ${commands[$1]} in
        apt-get*) DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[$1]}" ;;
        *) ${commands[$1]} ;;
    esac </dev/null >/dev/null 2>&1
}

install_all() {
    local i
    if [[ " ${commands[*]} " == *" apt-get "* ]]; then
        apt-get update -qq </dev/null >/dev/null 2>&1 || say "apt-get update failed; trying with the lists at hand"
    fi
    for i in "${!missing[@]}"; do
        say "installing ${missing[i]}"
        install_one "$i" && eval "${tests[i]}" >/dev/null 2>&1 || say "could not install ${missing[i]} (${commands[i]})"
    done
}

# Says what is missing, and installs it where that is wished.
settle() {
    local i packages='' targets=''
    [ "${#missing[@]}" = 0 ] && return
    for i in "${!missing[@]}"; do
        say "missing: ${missing[i]} (${reasons[i]})"
        case ${commands[i]} in
            apt-get*) packages+=" ${missing[i]}" ;;
            *) targets+="; ${commands[i]}" ;;
        esac
    done
    if may_install; then
        install_all
        return
    fi
    local all="${packages:+; apt-get install$packages}$targets"
    say "nothing installed; as root: ${all#; }"
    [ "$(id -u)" != 0 ] || say "PELTON_INSTALL=yes installs it without a question"
}

can_build_32_bit() { printf '#include <stdint.h>\nint main(void){return 0;}\n' | cc -m32 -x c - -o /dev/null; }
can_build_bpf() { printf 'int f(void){return 0;}\n' | clang -target bpf -O2 -x c -c - -o /dev/null; }
can_build_wasm() { # a clang of any release
    local clang
    for clang in clang-19 clang; do
        printf 'int f(void){return 0;}\n' | "$clang" --target=wasm32 -x c -c - -o /dev/null && return 0
    done
    return 1
}
has_llvm_ar() { have llvm-ar-19 || have llvm-ar || compgen -G '/usr/lib/llvm-*/bin/llvm-ar'; }
can_link_arm64() { printf 'int main(void){return 0;}\n' | aarch64-linux-gnu-gcc -x c - -o /dev/null; }
has_libc() { has_header stdio.h; }
has_header() { printf '#include <%s>\n' "$1" | cc -E -x c - -o /dev/null; }
can_venv() { python3 -c 'import ensurepip, venv'; }
has_target() { [ -d "$(rustc --print target-libdir --target "$1" 2>/dev/null)" ]; }
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

has_keyring() { test -r /usr/share/keyrings/debian-archive-keyring.gpg; }
has_venv() { .venv/bin/python -m pip --version; }

want_python() {
    python=yes
    want python3 "runs the Python check of traces, and clang-format" has_python
    has_venv >/dev/null 2>&1 || want python3-venv "makes .venv, where Python packages stay out of your system" can_venv
}

# Nothing but files whose checksums stand in the list; none is built here.
pip_install() { # LIST
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: -r "$1"
}

names_in() { sed -n 's/^\([a-z0-9-]*==[^ ]*\).*/\1/p' "$1" | paste -sd' '; }

python_packages() {
    has_python >/dev/null 2>&1 || return 1
    if ! has_venv >/dev/null 2>&1; then
        can_venv >/dev/null 2>&1 || return 1
        rm -rf .venv
        python3 -m venv .venv || { say "python3 -m venv failed"; return 1; }
    fi
    cmp -s scripts/requirements.txt .venv/installed.txt && return 0
    say "installing Python packages into .venv: $(names_in scripts/requirements.txt)"
    if pip_install scripts/requirements.txt </dev/null; then
        cp scripts/requirements.txt .venv/installed.txt
    else
        say "pip failed; the Python checks will not be measured"
    fi
}

# paragraphs LIST WHY: each paragraph of a list by itself, for a package that cannot be had must not keep others away.
paragraphs() {
    [ -x .venv/bin/python ] || return 1
    local list=scripts/requirements-$1.txt part=.venv/part.txt number=1 failed=
    cmp -s "$list" ".venv/installed-$1.txt" && return 0
    while awk -v RS= -v n=$number 'NR == n' "$list" >$part && [ -s $part ]; do
        number=$((number + 1))
        [ -n "$(names_in $part)" ] || continue
        say "installing into .venv, $2: $(names_in $part)"
        pip_install $part </dev/null || { say "pip failed; what needs it will not be measured"; failed=yes; }
    done
    rm -f $part
    [ -n "$failed" ] || cp "$list" ".venv/installed-$1.txt"
}

# What report pages are built with and opened with, by the checksums of web/package-lock.json. A build looks for it.
web_packages() {
    have npm || return 1
    cmp -s web/package-lock.json web/node_modules/installed.json && return 0
    say "installing packages into web/node_modules: $(grep -o '"[a-z-]*": "[0-9][0-9.]*"' web/package.json | tr -d '":' | paste -sd' ')"
    if npm ci --prefix web --silent </dev/null; then
        cp web/package-lock.json web/node_modules/installed.json
    else
        say "npm failed; report pages are built without time lines, and not opened in a browser"
    fi
}

# What no build goes without.
required() {
    have cc || { say "without a C compiler nothing can be built"; exit 4; }
    has_libc || { say "without the headers of the C library nothing can be built"; exit 4; }
}

base() {
    rust
    want gcc "compiles the policy core" have cc
    want clang "compiles the recorder's BPF program" can_build_bpf
    want pkg-config "finds libelf and zlib" have pkg-config
    want libelf-dev "the recorder reads the program it loads with it" has_header libelf.h
    want zlib1g-dev "the recorder's loader needs it" has_header zlib.h
    want libc6-dev "headers to link a C program with" has_libc
}

group() {
    case $1 in
        base) ;;
        test)
            want clang "compiles the policy core to BPF and with UBSan in the conformance tests" can_build_bpf
            want gcc-multilib "compiles the policy core for 32 bits in the conformance tests" can_build_32_bit
            want_python
            tables=yes
            group python
            group web
            ;;
        python)
            want_python
            package=yes
            ;;
        docs)
            group python
            tables=yes docs=yes
            ;;
        web)
            want nodejs "opens report pages in a browser" have node
            want npm "brings the library that draws time lines in report pages" have npm
            want chromium "opens report pages" have chromium
            web=yes
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
            want_target aarch64-unknown-linux-gnu "the recorder for arm64 boards"
            want debian-archive-keyring "checks what is fetched from the Debian archive" has_keyring
            ;;
        oracle)
            want python3 "writes stubs for what the compiled kernel code leaves undefined" has_python
            want binutils "links kernel code into a program" have objcopy
            want make "runs the kernel's own build" have make
            want flex "the kernel's configuration needs it" have flex
            want bison "the kernel's configuration needs it" have bison
            want m4 "bison needs it" have m4
            want xz-utils "unpacks kernel sources" have xz
            want debian-archive-keyring "checks what is fetched from the Debian archive" has_keyring
            ;;
        check)
            component fmt rustfmt "checks the format of Rust code"
            component clippy clippy "lints Rust code"
            cargo deny --version >/dev/null 2>&1 ||
                say "missing: cargo-deny (looks for known vulnerabilities in dependencies); cargo install --locked cargo-deny"
            want_python
            ;;
        bench)
            group ceilings
            want rt-tests "hackbench, the load of which the recorder's cost is measured" have hackbench
            # Placements are counted in the kernel's compiled code, too.
            group oracle
            ;;
        play)
            want_target wasm32-unknown-unknown "the simulator as a module of a page"
            want clang-19 "compiles the core for it" can_build_wasm
            want llvm-19 "packs the core for it" has_llvm_ar
            want binaryen "makes the module smaller" have wasm-opt
            ;;
        fast)
            want clang-19 "compiles the core for the linker" have clang-19
            want llvm-19 "reads profiles" have llvm-profdata-19
            ;;
        package)
            want dpkg-dev "finds what the .deb depends on" have dpkg-shlibdeps
            want_command cargo-deb "makes the .deb"
            want_python
            package=yes
            ;;
        ceilings) want valgrind "counts instructions" have valgrind ;;
        *)
            echo "usage: scripts/setup.sh [base|test|live|oracle|check|bench|ceilings|fast|python|docs|web|play|package]..." >&2
            exit 2
            ;;
    esac
}

base
for name in "$@"; do group "$name"; done
settle
required
[ $python = no ] || python_packages
[ $tables = no ] || paragraphs tables "for tests that read tables"
[ $package = no ] || paragraphs python "for the Python package"
[ $docs = no ] || paragraphs docs "for the site"
[ $web = no ] || web_packages
exit 0
