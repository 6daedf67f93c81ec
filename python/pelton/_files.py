# SPDX-License-Identifier: GPL-2.0-or-later
"""Files that are written: beside their place, and moved there when they are complete."""

import os
import shutil
import threading
from pathlib import Path

#: Ending of a file's name while it is being written.
PART = ".pelton-part"


def write(path: str | bytes | os.PathLike[str] | os.PathLike[bytes], text: str) -> None:
    """Writes a text as UTF-8. Until it is complete, an old file stays; devices and pipes are written directly."""
    given = os.fsdecode(path)
    content = text.encode("utf-8")
    if not _can_be_replaced(given):
        Path(given).write_bytes(content)
        return
    # What a link leads to is meant, not the link.
    place = Path(os.path.realpath(given))
    beside = place.with_name(f"{place.name}.{os.getpid()}-{threading.get_ident()}{PART}")
    try:
        beside.write_bytes(content)
        if place.exists():
            # A file that others may not read stays one.
            shutil.copymode(place, beside)
        os.replace(beside, place)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


def _can_be_replaced(path: str) -> bool:
    # Names of open files: `/dev/stdout` may lead to a regular one, whose writer would go on with the old one.
    if path.startswith(("/dev/", "/proc/")):
        return False
    return os.path.isfile(path) or not os.path.lexists(path)
