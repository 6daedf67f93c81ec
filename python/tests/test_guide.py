# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples of the guide: what it prints is what comes."""

import doctest
from pathlib import Path

import pytest

GUIDE = Path(__file__).parents[2] / "docs/guide/python.md"


def test_the_guide_is_true() -> None:
    for library in ("polars", "pandas", "duckdb", "altair"):
        pytest.importorskip(library)
    blocks = [block.split("```")[0] for block in GUIDE.read_text(encoding="utf-8").split("```python\n")[1:]]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, "python.md", str(GUIDE), 0)
    assert len(test.examples) > 20
    assert doctest.DocTestRunner().run(test).failed == 0
