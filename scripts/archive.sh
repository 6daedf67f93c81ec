# SPDX-License-Identifier: GPL-2.0-or-later
# shellcheck shell=bash
# An apt of its own, for packages of other releases of the distribution. To be sourced.
#
# The archive is the one that this machine's own apt is set up for; no host is named here. PELTON_DEBIAN_MIRROR (the
# address before /debian) overrides it. Signatures are checked, and the system's package lists are not touched. No root.

archive_keyring=/usr/share/keyrings/debian-archive-keyring.gpg

# Addresses of the repositories in apt's configuration that carry the section main of a release, one a line.
archive_repositories() { # RELEASE
    apt-get indextargets --format '$(RELEASE) $(COMPONENT) $(REPO_URI)' 'Created-By: Packages' 2>/dev/null |
        awk -v release="$1" '$1 == release && $2 == "main" { print $3 }' | sort -u
}

# The archive's two roots: sets archive_main and archive_security. Fails where apt knows no Debian.
archive_find() {
    local codename release
    if [ -n "${PELTON_DEBIAN_MIRROR:-}" ]; then
        archive_main=$PELTON_DEBIAN_MIRROR/debian archive_security=$PELTON_DEBIAN_MIRROR/debian-security
        return 0
    fi
    codename=$(sed -n 's/^VERSION_CODENAME=//p' /etc/os-release 2>/dev/null)
    for release in "$codename" stable testing unstable sid; do
        archive_main=$(archive_repositories "$release" | grep '/debian/*$' | head -n 1)
        [ -z "$archive_main" ] || break
    done
    [ -n "$archive_main" ] || return 1
    archive_main=${archive_main%/}
    archive_security=$(archive_repositories "$codename-security" | head -n 1)
    archive_security=${archive_security:-${archive_main}-security}
    archive_security=${archive_security%/}
}

# Writes a configuration below FOLDER and exports it, then reads the lists. Releases that end in -security come from there.
# The lists of a release that is no longer kept may fail: ask apt-cache for what is wanted. archive_architecture, when set, is
# that of the packages.
archive_open() { # FOLDER RELEASE...
    local apt=$1 release root
    shift
    archive_find || return 1
    mkdir -p "$apt"/{etc/preferences.d,state/lists/partial,cache/archives/partial}
    for release in "$@"; do
        case $release in
            *-security) root=$archive_security ;;
            *) root=$archive_main ;;
        esac
        echo "deb [signed-by=$archive_keyring] $root $release main"
    done >"$apt/etc/sources.list"
    cat >"$apt/apt.conf" <<CONF
Dir::Etc "$apt/etc";
Dir::Etc::sourcelist "sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::main "/etc/apt/apt.conf";
Dir::Etc::parts "/etc/apt/apt.conf.d";
Dir::State "$apt/state";
Dir::State::status "/dev/null";
Dir::Cache "$apt/cache";
APT::Architecture "${archive_architecture:-amd64}";
APT::Architectures "${archive_architecture:-amd64}";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
Acquire::Check-Valid-Until "false";
Acquire::IndexTargets::deb::DEP-11::DefaultEnabled "false";
CONF
    export APT_CONFIG=$apt/apt.conf
    apt-get -q update </dev/null >"$apt/update.log" 2>&1
}

# First complaint of the last update.
archive_complaint() { # FOLDER
    grep -m1 '^[EW]:' "$1/update.log" || true
}
