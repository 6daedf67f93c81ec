#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""The table of a run. usage: table.py RESULTS.jsonl"""

import json
import sys


def cell(row):
    if row is None:
        return "-"
    return f"{row['cases']:,} / {row['different']:,}"


def main():
    with open(sys.argv[1], encoding="ascii") as file:
        rows = [json.loads(line) for line in file]
    operations = [row for row in rows if row["kind"] == "operation"]
    releases = sorted({row["release"] for row in operations}, key=lambda r: [int(part) for part in r.split(".")])
    names = list(dict.fromkeys(row["name"] for row in operations))
    found = {(row["name"], row["release"]): row for row in operations}
    print("| operation (states / differences) | " + " | ".join(releases) + " |")
    print("|---|" + "---|" * len(releases))
    for name in names:
        print(f"| {name} | " + " | ".join(cell(found.get((name, release))) for release in releases) + " |")
    total = [[row for row in operations if row["release"] == release] for release in releases]
    sums = [f"{sum(r['cases'] for r in rows):,} / {sum(r['different'] for r in rows):,}" for rows in total]
    print("| all | " + " | ".join(sums) + " |")


main()
