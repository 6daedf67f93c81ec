# SPDX-License-Identifier: GPL-2.0-or-later
"""Examples of the guides: what they print is what comes."""

import doctest
from pathlib import Path

import pytest

GUIDES = Path(__file__).parents[2] / "docs/guide"


@pytest.mark.parametrize("name", ["python.md", "sweeps.md"])
def test_guides_are_true(name: str) -> None:
    for library in ("polars", "pandas", "duckdb", "altair", "optuna"):
        pytest.importorskip(library)
    text = (GUIDES / name).read_text(encoding="utf-8")
    blocks = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    test = doctest.DocTestParser().get_doctest("\n".join(blocks), {}, name, name, 0)
    assert len(test.examples) > 10
    assert doctest.DocTestRunner().run(test).failed == 0
