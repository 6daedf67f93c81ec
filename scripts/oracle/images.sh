#!/usr/bin/env bash
# SPDX-License-Identifier: GPL-2.0-or-later
# Makes images of kernels' own code for tests/tests/kernel_images.rs: scripts/oracle/images.sh FOLDER SERIES...
# FOLDER/SERIES is what fetch.sh prepared. FOLDER/SERIES/image/image is the release as it is; FOLDER/6.12/boost-off/image has one
# word of sugov_get_util() changed, which is what the switch runnable_boost=off is. Nothing is done when nothing changed.
set -euo pipefail
cd "$(dirname "$0")/../.."
root=$PWD
folder=$(readlink -m "$1")
shift

# What an image depends on.
stamp() { # SERIES
    cat "$folder/$1/package"
    find tests/oracle/kernel tests/oracle/state.h core/include crates/core/src/kernel_ops.h crates/kernel/image scripts/oracle -type f |
        LC_ALL=C sort | xargs cksum
}

# image SERIES VARIANT TREE
image() {
    local to=$folder/$1/$2 now
    now=$(stamp "$1")
    if [ -e "$to/image" ] && [ "$(cat "$to/stamp" 2>/dev/null)" = "$now" ]; then return 0; fi
    rm -rf "$to" && mkdir -p "$to"
    scripts/oracle/configure.sh "$folder" "$3" "$to/obj" tests/oracle/kernel/config.fragment ||
        { echo "oracle: Linux $1: not configured for an image, see $to/obj.log" >&2; return 1; }
    # shellcheck disable=SC1091 # written by fetch.sh
    (. "$folder/env" && JOBS=2 crates/kernel/image/build.sh "$root" "$3" "$to/obj" "$to") || return 1
    rm -rf "$to/obj"
    ! grep -P '\tmissing\t' "$to/operations" || { echo "oracle: Linux $1: an image lacks operations" >&2; return 1; }
    printf '%s\n' "$now" >"$to/stamp"
}

# The tree of 6.12 with that word changed; files that are not are shared.
boost_off() {
    local tree=$folder/6.12/tree changed=$folder/6.12/tree-boost-off file=kernel/sched/cpufreq_schedutil.c
    rm -rf "$changed" && cp -al "$tree" "$changed"
    sed 's/cpu_util_cfs_boost(/cpu_util_cfs(/' "$tree/$file" >"$changed/$file.new"
    mv -f "$changed/$file.new" "$changed/$file"
    ! cmp -s "$tree/$file" "$changed/$file" || { echo "oracle: Linux 6.12: nothing to change in $file" >&2; return 1; }
    image 6.12 boost-off "$changed"
}

for series in "$@"; do
    image "$series" image "$folder/$series/tree"
    [ "$series" != 6.12 ] || boost_off
done
