# SPDX-License-Identifier: GPL-2.0-or-later
"""Single rules of the kernel, exactly as the simulator computes them: for teaching, and for other tools."""

from ._pelton import CORE_HASH, PROFILES, energy, pelt, place, sugov

__all__ = ["CORE_HASH", "PROFILES", "energy", "pelt", "place", "sugov"]
