#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""Circles of imports among the files of each crate, of a commit: `scripts/import-circles.py [COMMIT]`.

A file imports another one when a `use` names something of it by its path. `pub use` hands on and does not count, nor
do tests. What a parent hands on is the parent's.
"""

import re
import subprocess
import sys


def git(*words):
    return subprocess.run(["git", *words], capture_output=True, text=True, check=True).stdout


def paths(tree, before=()):
    """Paths that the tree of a `use` names."""
    depth, start, parts = 0, 0, []
    for at, letter in enumerate(tree + ","):
        depth += (letter == "{") - (letter == "}")
        if letter == "," and depth == 0:
            parts.append(tree[start:at])
            start = at + 1
    for part in filter(None, (part.split(" as ")[0].strip() for part in parts)):
        head, brace, rest = part.partition("{")
        names = (*before, *(name for name in head.strip().split("::") if name))
        yield from paths(rest.rstrip().removesuffix("}"), names) if brace else [names]


def modules(files):
    """Path of each file as a module of its crate."""
    for file in files:
        names = file.removesuffix(".rs").split("/")
        yield file, tuple(names[:-1] if names[-1] in ("mod", "lib", "main") else names)


def imports(own, text, known):
    text = re.sub(r"//[^\n]*", "", text.split("#[cfg(test)]\nmod tests")[0])
    for tree in re.findall(r"^\s*use ([^;]+);", text, re.M):
        for names in paths(" ".join(tree.split())):
            base = list(own)
            if names[0] == "crate":
                base = []
            elif names[0] == "super":
                base = base[:-1]
            elif names[0] != "self" and (*own, names[0]) not in known:
                continue
            for name in names if names[0] not in ("crate", "self", "super") else names[1:]:
                if name == "super":
                    base = base[:-1]
                elif (*base, name) in known:
                    base.append(name)
                else:
                    break
            if tuple(base) in known and tuple(base) != own:
                yield known[tuple(base)]


def circles(edges):
    """Sizes of what reaches each other."""

    def reached(file):
        seen, left = set(), [file]
        while left:
            for other in edges.get(left.pop(), ()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen

    all_reached = {file: reached(file) for file in edges}
    return {frozenset(o for o in seen if file in all_reached.get(o, ())) for file, seen in all_reached.items()}


def main():
    commit = sys.argv[1] if len(sys.argv) > 1 else "HEAD"
    listed = git("ls-tree", "-r", "--name-only", commit, "--", "crates").split()
    count = 0
    for crate in sorted({file.split("/")[1] for file in listed}):
        root = f"crates/{crate}/src/"
        files = [file.removeprefix(root) for file in listed if file.startswith(root) and file.endswith(".rs")]
        known = {module: file for file, module in modules(files)}
        text = {file: git("show", f"{commit}:{root}{file}") for file in files}
        edges = {file: set(imports(module, text[file], known)) for module, file in known.items()}
        found = sorted((sorted(circle) for circle in circles(edges) if len(circle) > 2), key=len, reverse=True)
        count += len(found)
        for circle in found:
            print(f"{crate}: {len(circle)} files: {' '.join(circle[:6])}{' ...' if len(circle) > 6 else ''}")
    print(f"{count} circles of more than two files")


main()
