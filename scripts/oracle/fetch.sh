#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches and prepares kernel sources: scripts/oracle/fetch.sh FOLDER SERIES...
# For each series FOLDER/SERIES/ gets tree/ (the source as the distribution ships it, without drivers, which are not
# needed), obj/ (configured, headers generated) and package (its version; a second run finds it and does nothing). Tools
# that are missing here are unpacked to FOLDER/tools; FOLDER/env exports what is needed to use them. No root.
# Exit 4 when the archive cannot be reached and nothing is at hand.
set -euo pipefail
cd "$(dirname "$0")/../.."
# shellcheck source=scripts/archive.sh
. scripts/archive.sh
folder=$(readlink -m "$1")
shift
config=$PWD/tests/oracle/kernel/config.fragment
# CPUs of the oracle's machines.
cpus=8

say() { printf 'oracle: %s\n' "$*"; }

# Newest version of a package in the private lists.
candidate() { # PACKAGE
    apt-cache policy "$1" 2>/dev/null | sed -n 's/^ *Candidate: //p' | grep -v '^(none)' || true
}

# Tools of the release that runs here, those of a newer one need its libc; so: the system's apt, not the private one.
tools() {
    local missing='' tool
    for tool in flex bison m4; do command -v "$tool" >/dev/null || missing="$missing $tool"; done
    printf '#include <gelf.h>\n' | cc -E -x c - -o /dev/null 2>/dev/null || missing="$missing libelf-dev libelf1"
    : >"$folder/env"
    [ -n "$missing" ] || return 0
    if [ "$(cat "$folder/tools/names" 2>/dev/null)" != "$missing" ]; then
        say "unpacking$missing to target/oracle/tools"
        rm -rf "$folder/tools" "$folder/packages" && mkdir -p "$folder/tools" "$folder/packages"
        # shellcheck disable=SC2086 # words
        (cd "$folder/packages" && env -u APT_CONFIG apt-get -qq -o APT::Sandbox::User=root download $missing </dev/null) || return 1
        for tool in "$folder"/packages/*.deb; do dpkg-deb -x "$tool" "$folder/tools"; done
        rm -rf "$folder/packages"
        printf '%s' "$missing" >"$folder/tools/names"
    fi
    cat >"$folder/env" <<ENV
export PATH=$folder/tools/usr/bin:\$PATH
export BISON_PKGDATADIR=$folder/tools/usr/share/bison
export CPATH=$folder/tools/usr/include
export LIBRARY_PATH=$folder/tools/usr/lib/x86_64-linux-gnu
export LD_LIBRARY_PATH=$folder/tools/usr/lib/x86_64-linux-gnu
ENV
    [ ! -x "$folder/tools/usr/bin/m4" ] || echo "export M4=$folder/tools/usr/bin/m4" >>"$folder/env"
}

# The parts of a source package that the kernel's own build of its scheduler reads.
unpack() { # DEB SERIES TO
    local name=linux-source-$2
    dpkg-deb --fsys-tarfile "$1" | tar -xO "./usr/src/$name.tar.xz" | xz -dc -T0 |
        tar -C "$3" -x --strip-components=1 --wildcards "$name/"{Makefile,Kbuild,Kconfig} '*/Kconfig*' '*/Makefile*' \
            "$name/"{arch/x86,include,kernel,lib,scripts,tools,init,drivers/cpuidle,drivers/cpufreq,security}'/*' '*/io-wq.h'
    mkdir -p "$3/Documentation"
    echo '# left out' >"$3/Documentation/Kconfig"
}

source_of() { # SERIES
    local series=$1 to=$folder/$1 version package deb begin=$SECONDS
    version=$(candidate "linux-source-$series")
    if [ -z "$version" ]; then
        say "linux-source-$series: not in the archive"
        [ -e "$to/package" ] || rm -rf "$to"
        return 0
    fi
    # The configured tree names its own folder: one that was moved is made again.
    package="$version $(cksum <"$config")"
    if [ "$(cat "$to/package" 2>/dev/null)" = "$package" ] && [ "$(cat "$to/place" 2>/dev/null)" = "$to" ]; then
        return 0
    fi
    # The same source with another configuration need not be fetched again.
    if [ "$(cut -d' ' -f1 "$to/package" 2>/dev/null)" = "$version" ]; then
        rm -rf "$to"/{package,obj*}
    else
        rm -rf "$to" && mkdir -p "$to/tree"
        (cd "$to" && apt-get -qq download "linux-source-$series=$version" </dev/null)
        deb=$(ls "$to"/*.deb)
        unpack "$deb" "$series" "$to/tree"
        rm "$deb"
    fi
    scripts/oracle/configure.sh "$folder" "$to/tree" "$to/obj" "$config" "$cpus" || { say "Linux $series: not configured, see $to/obj.log"; return 1; }
    echo "$to" >"$to/place"
    echo "$package" >"$to/package"
    say "linux-source-$series $version is here and configured in $((SECONDS - begin)) s"
}

mkdir -p "$folder"
archive_open "$folder/apt" bullseye bullseye-security bookworm bookworm-security trixie trixie-security trixie-backports ||
    say "apt-get update: $(archive_complaint "$folder/apt")"
if [ -z "$(apt-cache pkgnames linux-source- 2>/dev/null)" ]; then
    say "the archive cannot be reached${archive_main:+ ($archive_main)}"
    exit 4
fi
apt-cache pkgnames linux-source- | sed -n 's/^linux-source-\([0-9.]*\)$/\1/p' | sort -V >"$folder/carried"
tools || { say "flex, bison, m4 or libelf-dev could not be had"; exit 4; }
# Two at a time: one core unpacks while the other configures.
pids=() code=0
for series in "$@"; do
    if [ "${#pids[@]}" -ge 2 ]; then
        wait "${pids[0]}" || code=1
        pids=("${pids[@]:1}")
    fi
    source_of "$series" &
    pids+=($!)
done
for pid in "${pids[@]}"; do wait "$pid" || code=1; done
exit "$code"
