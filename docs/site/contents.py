# SPDX-License-Identifier: GPL-2.0-or-later
"""Order of the pages beside each page of the site. A page that is in no part is a warning, which fails the build."""

from sphinx.application import Sphinx

ROOT = "docs/README"
PARTS = {
    "Start": ["self", "notebooks/first-ten-minutes", "What it is </README>", "peers"],
    "Notebooks": ["notebooks/a-patch", "notebooks/tune-a-device", "notebooks/which-clamp", "notebooks/energy-model",
                  "notebooks/your-trace", "notebooks/placements", "notebooks/from-lisa"],
    "Published tables": ["notebooks/schedtune", "notebooks/update-hooks", "notebooks/rt-utilization", "notebooks/blocked-load",
                         "notebooks/uclamp-sum"],
    "What Pelton does not know": ["Gaps <gaps>", "fidelity/*"],
    "Guides": ["guide/*"],
    "Rules": ["rules/README", "rules/*"],
    "Reference": ["glossary", "reference/*", "/scenarios/*/README", "/scenarios/workloads/rt-app/README"],
    "The Python package": ["reference/python/*"],
    "The project": ["/ARCHITECTURE", "/CONTRIBUTING", "/STYLE", "/CHANGELOG", "benchmarks", "robustness", "ci", "decisions/README",
                    "decisions/*", "rules/proofs/README", "/fuzz/README", "/tests/trace/*/README"],
}


def contents(_app: Sphinx, name: str, source: list[str]) -> None:
    """Puts the lists of all pages behind the first page, which has none as a plain file."""
    if name != ROOT:
        return
    for part, pages in PARTS.items():
        source[0] += f"\n```{{toctree}}\n:hidden:\n:glob:\n:caption: {part}\n\n" + "\n".join(pages) + "\n```\n"


def setup(app: Sphinx) -> dict[str, bool]:
    """Called by Sphinx."""
    app.connect("source-read", contents)
    return {"parallel_read_safe": True}
