# SPDX-License-Identifier: GPL-2.0-or-later
"""Exceptions of the package: a message, and where they are known the place in the input and what would be right."""

from __future__ import annotations


class Error(Exception):
    """Any error of this package.

    `file`, `line` and `column` (from 1) are the place in an input, `allowed` the values that would be accepted, `hint`
    what to do; each is None where it is not known. The message has all of it, with a caret.
    """

    def __init__(
        self,
        message: str,
        *,
        file: str | None = None,
        line: int | None = None,
        column: int | None = None,
        allowed: str | None = None,
        hint: str | None = None,
    ) -> None:
        # A message with a caret has its help already.
        has_help = "help:" in message
        more = [f"allowed: {allowed}"] if allowed and not has_help else []
        more += [hint] if hint and not has_help else []
        super().__init__("\n".join([message, *more]))
        self.file = file
        self.line = line
        self.column = column
        self.allowed = allowed
        self.hint = hint


class InputError(Error, ValueError):
    """An input, or the request itself, is wrong."""


class Misfit(Error):
    """Inputs are right each by itself and do not go together."""


class Unavailable(Error):
    """This machine or build cannot do it."""


class Interrupted(Error):
    """The work was stopped before its end."""


class Bug(Error):
    """A mistake of ours."""


class InputWarning(UserWarning):
    """An input can be used, and probably does not mean what its author thinks."""
