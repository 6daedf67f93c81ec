#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Builds all that Pelton is handed on as, into out/packages/, and tries each where nothing else is installed
# (docs/guide/install.md): the program without shared libraries, a Debian package, the Python source package and a wheel
# made from it, `cargo install`, the bill of materials. A line each: file, size, time to start, what it was tried with.
# PELTON_PACKAGE_PLAIN=1: programs are release builds, without profiles of runs (scripts/build-fast.sh): half the time.
# Exit code: 0, also where a tool is missing and something is `not measured`; 1 where a package is not as it should be.
set -euo pipefail
cd "$(dirname "$0")/.."

scripts/setup.sh package fast web
root=$PWD
out=$root/out/packages
stage=$root/out/stage
mkdir -p "${CARGO_TARGET_DIR:-target}/package"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
work=$target/package
host=$(rustc -vV | sed -n 's/^host: //p')
version=$(cargo pkgid -p pelton-cli)
version=${version##*[#@]}
name=pelton-$version
commit=$(git rev-parse HEAD 2>/dev/null) || commit=''
# Times in packages are the commit's: made twice they are the same, byte for byte.
SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2>/dev/null || stat -c %Y Cargo.lock)
export SOURCE_DATE_EPOCH
empty=$(mktemp -d)
trap 'rm -rf "$empty" "$stage"' EXIT
failed=0

say() { printf 'package: %s\n' "$*"; }
fail() { say "FAILED: $*"; failed=1; }
not_measured() { say "not measured: $*"; }
have() { command -v "$1" >/dev/null 2>&1; }

# bare COMMAND...: no variable, no command and no file of a home.
bare() { env -i PATH=/nowhere HOME="$empty/home" LC_ALL=C "$@"; }

# expect WHAT COMMAND...: a command that must succeed; its output is shown where it does not.
expect() {
    local what=$1
    shift
    "$@" >"$empty/said" 2>&1 || { fail "$what"; tail -n 5 "$empty/said"; return 1; }
}

# The mean of twenty starts, on the clock and of user time.
startup() { # COMMAND...
    local TIMEFORMAT='%3R %3U' i
    { time for ((i = 0; i < 20; i++)); do "$@" >/dev/null 2>&1; done; } 2>&1 |
        awk '{ printf "%.1f ms, %.1f ms user", $1 * 50, $2 * 50 }'
}

mb() { awk -v bytes="$1" 'BEGIN { printf "%.1f MB", bytes / 1e6 }'; }
size_of() { du -sb --apparent-size "$1" | cut -f1; }

# line FILE UNPACKED START TRIED
line() { say "$(basename "$1"), $(mb "$(size_of "$1")"), unpacked $(mb "$2"); starts in $3; tried: $4"; }

# The program twice: with the libraries of this machine, and with none.
programs() {
    local code=4
    how='with profiles of typical runs'
    [ -n "${PELTON_PACKAGE_PLAIN:-}" ] || { code=0; scripts/build-fast.sh static || code=$?; }
    case $code in
        0) program=$target/fast/pelton static=$target/fast/pelton-static; return ;;
        4) ;;
        *) exit "$code" ;;
    esac
    how='plain release, without profiles'
    say "the programs are built as plain release"
    # shellcheck disable=SC2046 # flags are words
    cargo build --quiet --release -p pelton-cli $(scripts/build-flags.sh)
    program=$target/release/pelton static=$work/static/$host/release/pelton
    code=0
    scripts/build-static.sh "$work/static" || code=$?
    [ $code = 0 ] || [ $code = 4 ] || exit $code
}

# Everything that goes beside a program.
lay_out() {
    local shell
    rm -rf "$stage"
    mkdir -p "$stage" "$out" "$empty/home"
    strip -o "$stage/pelton" "$program"
    "$stage/pelton" shell man --all "$stage/man1"
    for shell in bash zsh fish; do "$stage/pelton" shell completions $shell >"$stage/pelton.$shell"; done
    mv "$stage/pelton.zsh" "$stage/_pelton"
    cargo xtask notices pelton-cli >"$stage/NOTICES"
    gzip -9nk "$stage/NOTICES"
    cp scripts/package/{copyright,lintian} "$stage"
    change >"$stage/changelog"
}

# The change log of a Debian package: one entry, which names the commit.
change() {
    local maintainer
    maintainer=$(sed -n 's/^maintainer = "\(.*\)"/\1/p' crates/cli/Cargo.toml)
    printf 'pelton (%s-1) unstable; urgency=medium\n\n' "$version"
    printf '  * As of commit %s.\n  * The source has a change log of its own.\n\n' "${commit:-unknown}"
    printf ' -- %s  %s\n' "$maintainer" "$(LC_ALL=C date -Ru -d "@$SOURCE_DATE_EPOCH")"
}

# What the program is made of; of the one without shared libraries also Debian's part in it.
bill() {
    local library at linked=()
    for library in libc6-dev libelf-dev zlib1g-dev; do
        linked+=(--linked "$library@$(dpkg-query -W -f '${Version}' $library 2>/dev/null || echo unknown)")
    done
    at=$(date -u -d "@$SOURCE_DATE_EPOCH" +%FT%TZ)
    cargo xtask sbom pelton-cli --at "$at" "${linked[@]}" >"$out/$name.cdx.json"
    say "$name.cdx.json, CycloneDX 1.6, $(grep -c '"bom-ref"' "$out/$name.cdx.json") parts; tried: tests of xtask"
}

# runs FOLDER COMMAND...: simulates, compares, writes and reads traces in a folder; COMMAND ends with the program.
runs() {
    local folder=$1 load=(--platform hikey-6220 --workload 'periodic:run_us=700,period_us=4900,threads=3' --duration 1s)
    shift
    expect "$* run" "$@" run "${load[@]}" --log "$folder/run.plog"
    expect "$* compare" "$@" compare "${load[@]}" --policy 5.10 --policy 7.2 --seeds 2 --quiet
    expect "$* trace export" "$@" trace export "$folder/run.plog" --to perfetto -o "$folder/run.pftrace"
    expect "$* trace info" "$@" trace info "$folder/run.pftrace"
}

# What it does with the kernel of this machine.
records() { # PROGRAM
    local said
    [ "$(id -u)" = 0 ] && [ -r /sys/kernel/btf/vmlinux ] ||
        { not_measured "record and live of $(basename "$1") (needs root and the kernel's type information)"; return; }
    expect "record" bare "$1" record -o "$empty/now.plog" --duration 500ms
    expect "reading a recording" bare "$1" trace info "$empty/now.plog"
    said=$(bare "$1" live --observe --for 1s 2>&1) || not_measured "live --observe (${said##*$'\n'})"
}

# The program without shared libraries, with what goes beside it.
static_archive() {
    local file=$out/$name-${host%%-*}-linux-static.tar.gz folder=$empty/static/$name jail=(chroot "$empty/jail")
    [ -x "$static" ] || { not_measured "a static program (libc.a, libelf.a or libz.a is missing)"; return; }
    mkdir -p "$folder" "$empty/jail/tmp"
    cp -r "$stage"/{man1,pelton.bash,_pelton,pelton.fish,NOTICES} LICENSE CITATION.cff "$out/$name.cdx.json" "$folder"
    cat /usr/share/doc/{libc6-dev,libelf-dev,zlib1g-dev}/copyright >>"$folder/NOTICES" 2>/dev/null || true
    cp "$static" "$folder/pelton"
    tar -C "$empty/static" --sort=name --owner=0 --group=0 --numeric-owner --mtime="@$SOURCE_DATE_EPOCH" -c "$name" |
        gzip -9n >"$file"

    rm -rf "$folder"
    tar -C "$empty/static" -xzf "$file"
    ! readelf -d "$folder/pelton" | grep NEEDED || fail "the static program needs shared libraries"
    ! readelf -l "$folder/pelton" | grep INTERP || fail "the static program needs a loader"
    cp "$folder/pelton" "$empty/jail/pelton"
    [ "$(id -u)" = 0 ] || jail=(unshare -r "${jail[@]}")
    if "${jail[@]}" /pelton -V >/dev/null 2>&1; then
        runs /tmp "${jail[@]}" /pelton
    else
        not_measured "the static program in an empty root (neither root nor unshare)"
    fi
    records "$folder/pelton"
    line "$file" "$(size_of "$folder")" "$(startup bare "$folder/pelton" -V)" \
        "in an empty root: run, compare, traces; record; $how"
}

# Fields, files and the program of a package that is unpacked into an empty root.
try_deb() { # FILE
    local path folder=$empty/deb
    dpkg-deb -x "$1" "$folder"
    for path in bin/pelton share/man/man1/pelton.1.gz share/man/man1/pelton-trace-export.1.gz \
        share/doc/pelton/copyright share/doc/pelton/changelog.Debian.gz share/doc/pelton/NOTICES.gz \
        share/bash-completion/completions/pelton \
        share/zsh/vendor-completions/_pelton share/fish/vendor_completions.d/pelton.fish; do
        [ -s "$folder/usr/$path" ] || fail "the .deb has no /usr/$path"
    done
    [ "$(dpkg-deb -f "$1" Package) $(dpkg-deb -f "$1" Version)" = "pelton $version-1" ] || fail "fields of the .deb"
    [[ $(dpkg-deb -f "$1" Depends) == *libc6* ]] || fail "the .deb does not depend on the C library"
    path=$folder/usr/share/bash-completion/completions/pelton
    expect "completions of bash" bash -c "source '$path' && complete -p pelton"
    gzip -dc "$folder/usr/share/man/man1/pelton.1.gz" | grep -q '^\.TH pelton 1' || fail "the man page of the .deb"
    runs "$empty" bare "$folder/usr/bin/pelton"
    if have lintian; then
        expect "lintian" lintian --allow-root --fail-on error "$1"
    else
        say "not checked: lintian is not there"
    fi
}

debian() {
    local file
    cargo deb --version >/dev/null 2>&1 || { not_measured "the .deb (cargo-deb is missing)"; return; }
    file=$out/pelton_$version-1_$(dpkg --print-architecture).deb
    cargo deb --quiet --no-build --no-strip -p pelton-cli -o "$file" >/dev/null
    cargo deb --quiet --no-build --no-strip -p pelton-cli -o "$empty/again.deb" >/dev/null
    cmp "$file" "$empty/again.deb" || fail "the .deb made twice is not the same"
    try_deb "$file"
    line "$file" "$(size_of "$empty/deb")" "$(startup bare "$empty/deb/usr/bin/pelton" -V)" \
        "unpacked into an empty root: fields, files, runs; made twice the same; $how"
}

# What git has of the commit, with what Python wants at the top and the library that draws in report pages.
source_archive() { # FILE
    local drawing=web/node_modules/uplot prefix=$name/ extra=()
    if [ -r $drawing/package.json ]; then
        extra=(--prefix="$prefix$drawing/dist/" --add-file=$drawing/dist/uPlot.iife.min.js
            --add-file=$drawing/dist/uPlot.min.css --prefix="$prefix$drawing/" --add-file=$drawing/LICENSE
            --add-file=$drawing/package.json)
    fi
    git archive --format=tar --prefix="$prefix" --add-file="$empty/PKG-INFO" --add-file="$empty/pyproject.toml" \
        "${extra[@]}" --prefix="$prefix" HEAD | gzip -9n >"$1"
}

python_source() {
    local file=$out/$name.tar.gz
    [ -n "$commit" ] || { not_measured "the source package (this is no checkout of git)"; return; }
    [ -x .venv/bin/maturin ] || { not_measured "Python packages (maturin is missing)"; return; }
    git diff --quiet HEAD || say "files differ from the commit: source package and wheel are the commit's"
    cd python
    expect "metadata for Python" ../.venv/bin/maturin pep517 write-dist-info --metadata-directory "$empty/info"
    cd "$root"
    cp "$empty"/info/*/METADATA "$empty/PKG-INFO"
    sed -e 's|^manifest-path = .*|manifest-path = "crates/python/Cargo.toml"|' \
        -e 's|^python-source = .*|python-source = "python"|' python/pyproject.toml >"$empty/pyproject.toml"
    source_archive "$file"
    source_archive "$empty/again.tar.gz"
    cmp "$file" "$empty/again.tar.gz" || fail "the source package made twice is not the same"
    rm -rf "$work/source"
    mkdir -p "$work/source"
    tar -C "$work/source" -xmzf "$file"
    source=$work/source/$name
    unpacked=$(size_of "$source")
}

# A fresh environment with maturin alone; the source is built in it and installed, as pip does it.
try_source() {
    local builder=$empty/builder
    sed -n '/^maturin==/,/[^\\]$/p' scripts/requirements-python.txt >"$empty/maturin.txt"
    "$python" -m venv "$builder"
    "$builder/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes --only-binary :all: \
        -r "$empty/maturin.txt" || { not_measured "the Python packages (maturin cannot be had)"; return; }
    export PATH="$builder/bin:$PATH"
    expect "the source package in a fresh environment" "$builder/bin/python" -m pip install \
        --disable-pip-version-check --no-build-isolation --no-index "$source" || return 0
    try_module "$builder"
    line "$out/$name.tar.gz" "$unpacked" "$started" \
        "built and installed in a fresh environment; made twice the same"
    cd "$source"
    expect "the wheel" maturin build --release --quiet --interpreter python3 --out "$out"
    cd "$root"
}

# try_module ENVIRONMENT: version, licence, two policies compared; sets how long Python takes with the import.
try_module() {
    (cd "$empty" && "$1/bin/python" - "$version") <<'PY' || fail "the Python package"
import sys
from importlib.metadata import metadata

import pelton

about = metadata("pelton")
assert about["Version"] == pelton.__version__ == sys.argv[1], (about["Version"], pelton.__version__)
assert about["License-Expression"] == "GPL-2.0-or-later" and about["License-File"] == "LICENSE", about.items()
assert "Programming Language :: Rust" in about.get_all("Classifier")
runs = [pelton.run("pixel6-gs101", "ui-frames", policy, duration="1s") for policy in ("7.2", "7.2,uclamp=sum")]
assert all(run.summary["energy_mj"] > 0 for run in runs)
PY
    started="$(startup "$1/bin/python" -c 'import pelton') (of which Python $(startup "$1/bin/python" -c pass))"
}

try_wheel() {
    local wheel folder
    wheel=$(compgen -G "$out/$name-*.whl") || { not_measured "the wheel"; return; }
    "$python" -m venv "$empty/user"
    expect "the wheel in a fresh environment" "$empty/user/bin/python" -m pip install --disable-pip-version-check \
        --no-index "$wheel" || return 0
    try_module "$empty/user"
    folder=$("$empty/user/bin/python" -c 'import pelton; print(pelton.__path__[0])')
    line "$wheel" "$(size_of "$folder")" "$started" "installed in a fresh environment without a network; plain release"
}

# From the unpacked source: as from a clean checkout, and without git.
cargo_install() {
    local home=$empty/cargo program
    # shellcheck disable=SC2046 # flags are words
    expect "cargo install" cargo install --locked --path "$source/crates/cli" --root "$home" \
        $(scripts/build-flags.sh) || return 0
    program=$home/bin/pelton
    [[ $(bare "$program" -V) == *"(${commit:0:12})" ]] || fail "what is built without git does not name its commit"
    runs "$empty" bare "$program"
    line "$program" "$(size_of "$program")" "$(startup bare "$program" -V)" \
        "cargo install --locked from the source package, without git"
}

python=${PELTON_PYTHON:-python3}
source=''
programs
rm -rf "$out"
lay_out
bill
static_archive
debian
python_source
if [ -n "$source" ]; then
    # Lines for debuggers would be stripped.
    export CARGO_TARGET_DIR=$work/sdist CARGO_PROFILE_RELEASE_DEBUG=0
    try_source
    try_wheel
    cargo_install
fi
[ $failed = 0 ] || exit 1
say "all of commit ${commit:-unknown} are in out/packages/"
