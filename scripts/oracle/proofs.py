#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What docs/rules/proofs says the oracle proves of a profile: switch, tab, operation. usage: proofs.py PROFILE FILE..."""

import re
import sys


def field(block, name):
    found = re.search(rf'^{name} = (.*)$', block, re.MULTILINE)
    return re.findall(r'"([^"]*)"', found.group(1)) if found else []


def main():
    profile, paths = sys.argv[1], sys.argv[2:]
    for path in paths:
        with open(path, encoding="utf-8") as file:
            blocks = file.read().split("[[proof]]")[1:]
        for block in blocks:
            if field(block, "how") == ["oracle"] and profile in field(block, "profiles"):
                print(f"{field(block, 'switch')[0]}\t{field(block, 'test')[0]}")


main()
