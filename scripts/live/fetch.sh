#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Fetches Debian kernels and a static busybox: scripts/live/fetch.sh [--arm64|--full] FOLDER SERIES...
# FOLDER/SERIES/ gets vmlinuz, modules/ and release; FOLDER/busybox the program; --arm64: those of that architecture, and
# FOLDER/libraries what the recorder is linked with. --full: the kernel for any machine, without modules: the type
# information of the small one lacks functions of sched_ext in 7.2. A series the archive no longer has gets
# nothing. apt checks the archive's signatures; its lists and packages stay in FOLDER, the system's own are not touched.
# Exit 4 when the archive cannot be reached.
set -euo pipefail
# shellcheck source=scripts/archive.sh
. "$(dirname "$0")/../archive.sh"
# What the guest needs to hand over its files, and for schedutil; the order does not matter.
modules='virtio virtio_ring virtio_pci_legacy_dev virtio_pci_modern_dev virtio_pci virtio_console acpi-cpufreq cpufreq-dt
         cpufreq_ondemand cpufreq_conservative'
# The small kernel for virtual machines; that of arm64 has no cpufreq.
flavour='[0-9][^_]*-cloud-amd64' libraries=no
if [ "$1" = --arm64 ]; then
    archive_architecture=arm64 flavour='[0-9][^_-]*-arm64' libraries=yes
    shift
elif [ "$1" = --full ]; then
    flavour='[0-9][^_-]*-amd64' modules=''
    shift
fi
folder=$1
shift

say() { printf 'live: %s\n' "$*"; }

# Lists of the releases that carry the kernels; without trixie's there is nothing to do.
private_apt() {
    archive_open "$folder/apt" trixie trixie-backports trixie-security bookworm bookworm-security bullseye-security ||
        say "apt-get update: $(archive_complaint "$folder/apt")"
    apt-cache show busybox-static >/dev/null 2>&1
}

# Name of the newest package of a kernel series with this stem.
newest() { # STEM SERIES
    apt-cache pkgnames "$1-$2." | grep -E -- "^$1-${2//./\\.}\.$flavour\$" | sort -V | tail -n 1 || true
}

# Unpacks packages into a folder.
unpack() { # TO PACKAGE...
    local to=$1 downloads=$folder/apt/downloads package
    shift
    rm -rf "$downloads" && mkdir -p "$downloads"
    (cd "$downloads" && apt-get -q download "$@" </dev/null >/dev/null)
    for package in "$downloads"/*.deb; do dpkg-deb -x "$package" "$to"; done
    rm -rf "$downloads"
}

busybox() {
    [ ! -x "$folder/busybox" ] || return 0
    unpack "$folder/unpacked" busybox-static
    cp "$(find "$folder/unpacked" -type f -name busybox -perm -u+x | head -n 1)" "$folder/busybox"
    rm -rf "$folder/unpacked"
}

# Archives of libraries, so that nothing of them is needed where the program runs. Those of later releases do not stand alone.
libraries() {
    [ ! -e "$folder/libraries/lib/libelf.a" ] || return 0
    unpack "$folder/unpacked" libelf-dev/bookworm zlib1g-dev/bookworm
    mkdir -p "$folder/libraries/lib"
    cp -r "$folder/unpacked/usr/include" "$folder/libraries/"
    find "$folder/unpacked" -name 'lib*.a' -exec cp {} "$folder/libraries/lib/" \;
    rm -rf "$folder/unpacked"
}

# The files of a kernel out of an unpacked tree.
keep() { # TREE TO PACKAGES
    local module file
    mkdir -p "$2/modules"
    cp "$(find "$1" -name 'vmlinuz*' -type f | head -n 1)" "$2/vmlinuz"
    for module in $modules; do
        file=$(find "$1" -name "$module.ko*" -type f | head -n 1)
        case $file in
            '') ;;
            *.xz) xz -dc "$file" >"$2/modules/$module.ko" ;;
            *) cp "$file" "$2/modules/$module.ko" ;;
        esac
    done
    printf '%s\n' "$3" >"$2/packages"
}

kernel() { # SERIES
    local series=$1 to=$folder/$1 packages image
    # Since 6.19 the program and its modules are packages of their own.
    packages=$(newest linux-binary "$series")
    if [ -n "$packages" ]; then
        [ -z "$modules" ] || packages="$packages linux-modules-${packages#linux-binary-}"
    else
        packages=$(newest linux-image "$series")
    fi
    if [ -z "$packages" ]; then
        say "Linux $series: no longer in the archive"
        rm -rf "$to"
        return 0
    fi
    if [ "$(cat "$to/packages" 2>/dev/null)" = "$packages" ]; then return 0; fi
    say "fetching $packages"
    image=$folder/unpacked
    rm -rf "$to" "$image"
    # shellcheck disable=SC2086 # words
    unpack "$image" $packages
    keep "$image" "$to" "$packages"
    rm -rf "$image"
}

mkdir -p "$folder"
folder=$(cd "$folder" && pwd)
private_apt || { say "the Debian archive cannot be reached${archive_main:+ ($archive_main)}"; exit 4; }
busybox
[ "$libraries" = no ] || libraries
for series in "$@"; do kernel "$series"; done
