#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# An emulator whose CPUs take short turns: scripts/live/qemu.sh FOLDER. Where the clock goes by with instructions (-icount),
# QEMU 7.2 gives one CPU all the time up to the next timer, and interrupts to other CPUs wait for that; 10.0 divides it
# among the CPUs (icount_percpu_budget). Where the system's is older and its release has a newer one in backports, that
# one is unpacked to FOLDER, and FOLDER/bin has programs that start it; nothing is installed. Otherwise the system's
# serves, which is said.
set -euo pipefail
# shellcheck source=scripts/archive.sh
. "$(dirname "$0")/../archive.sh"
folder=$1
packages='qemu-system-x86 qemu-system-arm qemu-system-common qemu-system-data'

say() { printf 'live: %s\n' "$*"; }

takes_short_turns() { # PROGRAM
    local version
    version=$("$1" --version 2>/dev/null | sed -n 's/^QEMU emulator version \([0-9.]*\).*/\1/p')
    [ -n "$version" ] && [ "$(printf '%s\n' 10.0 "$version" | sort -V | head -n 1)" = 10.0 ]
}

unpack() { # SUITE
    local package
    rm -rf "$folder/root" "$folder/downloads" && mkdir -p "$folder/root" "$folder/downloads"
    # shellcheck disable=SC2086 # words
    (cd "$folder/downloads" && apt-get -q download $(printf "%s/$1 " $packages) </dev/null >/dev/null 2>&1) || return 1
    for package in "$folder/downloads"/*.deb; do dpkg-deb -x "$package" "$folder/root"; done
    rm -rf "$folder/downloads"
}

# The firmware is the system's.
programs() {
    local name program data
    data=$(find "$folder/root" -type d -path '*/share/qemu' | head -n 1)
    mkdir -p "$folder/bin"
    for name in qemu-system-x86_64 qemu-system-aarch64; do
        program=$(find "$folder/root" -type f -name "$name" | head -n 1)
        [ -n "$program" ] && [ -n "$data" ] || return 1
        printf '#!/bin/sh\nexec %q -L %q "$@"\n' "$program" "$data" >"$folder/bin/$name"
        chmod +x "$folder/bin/$name"
    done
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
if takes_short_turns qemu-system-x86_64; then
    rm -rf "$folder/bin"
    exit 0
fi
if ! takes_short_turns "$folder/bin/qemu-system-x86_64"; then
    rm -rf "$folder/bin"
    suite=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)-backports
    archive_open "$folder/apt" "$suite" || true
    if unpack "$suite" && programs && takes_short_turns "$folder/bin/qemu-system-x86_64"; then
        say "$("$folder/bin/qemu-system-x86_64" --version | head -n 1), from $suite"
    else
        rm -rf "$folder/bin" "$folder/root"
        say "$(qemu-system-x86_64 --version | head -n 1): older than 10.0, so that CPUs of guests may wait for each other (docs/gaps.md F-341); $suite has no newer one"
    fi
fi
