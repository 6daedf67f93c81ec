# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# How files of a kernel are compiled with drivers around them (tests/oracle/kernel). To be sourced, with
#   root   a checkout, or a folder with the same files
#   obj    a folder that configure.sh made of the tree
#   tree   the kernel's source
#   out    where results go
# The kernel's own files are compiled by the kernel's own command line, each included by a driver.
# shellcheck disable=SC2154 # the four above

drivers=$root/tests/oracle/kernel

# Objects of the kernel that need no driver, and whether its scheduler has its classes in files of their own (to 5.17).
split=0
plain_objects=
for one in rbtree find_bit bitmap sort plist list_sort; do
    [ ! -e "$tree/lib/$one.c" ] || plain_objects="$plain_objects lib/$one.o"
done
if [ ! -e "$tree/kernel/sched/build_policy.c" ]; then
    split=1
    for one in rt idle topology cpupri clock cpufreq stop_task loadavg wait swait completion cputime; do
        plain_objects="$plain_objects kernel/sched/$one.o"
    done
fi

# Compiles them, and so writes down the command line. What make says goes into FILE.
compile_plain() { # FILE
    # shellcheck disable=SC2086 # words
    make -s -C "$obj" ARCH=x86_64 "-j${jobs:-$(nproc)}" kernel/sched/fair.o $plain_objects </dev/null >"$1" 2>&1 || true
    [ -e "$obj/kernel/sched/.fair.o.cmd" ]
}

kernel_flags() { sed -n 's/^\(saved\)\?cmd_[^ ]* := gcc \(.*\) -c -o .*/\2/p' "$obj/kernel/sched/.fair.o.cmd"; }

# 6.12.118 = 612
kernel_version() {
    awk '/LINUX_VERSION_CODE/{v = $3; print int(v / 65536) * 100 + int(v / 256) % 256}' \
        "$obj/include/generated/uapi/linux/version.h"
}

# What gcc says goes into OUT/DRIVER.log. The kernel's flags contain quotes for a shell. Names of files in the result
# begin below the tree's folder, or ours.
compile_driver() { # DRIVER FLAG...
    local name=$1
    shift
    (cd "$obj" && eval "gcc -I'$drivers/shadow' -include '$drivers/pre.h' $(kernel_flags) -Wall -Wextra" \
        "-Wno-unused-parameter -Wno-missing-prototypes -Wno-missing-declarations" \
        "-Werror=implicit-function-declaration -I'$root/core/include' -I'$root/tests/oracle'" \
        "-ffile-prefix-map='$root/=' -ffile-prefix-map='$tree/='" \
        "-ffile-prefix-map='$tree/include/uapi/../../='" \
        "-DORACLE_VERSION=$(kernel_version) -DORACLE_SPLIT=$split $*" \
        "-c -o '$out/$name.o' '$drivers/$name.c'" 2>"$out/$name.log")
}

# OUT/kernel.o: the drivers' objects, the plain ones, and a stub for all else that they name.
link_drivers() { # DRIVER...
    local objects=() one
    for one in "$@"; do objects+=("$out/$one.o"); done
    # shellcheck disable=SC2086 # words
    (cd "$obj" && ld -r -o "$out/k.o" "${objects[@]}" $plain_objects)
    python3 "$root/scripts/oracle/stubs.py" "$out/k.o" "$out/stubs.txt" >"$out/stubs.S"
    gcc -c -o "$out/stubs.o" "$out/stubs.S"
    ld -r -o "$out/kernel.o" "$out/k.o" "$out/stubs.o"
    objcopy -w --keep-global-symbol='k_*' --keep-global-symbol='oracle_*' -R '.discard*' -R .comment "$out/kernel.o"
}
