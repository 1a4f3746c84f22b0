"""Names of files that sites give, made safe."""

from __future__ import annotations

import re
import unicodedata

MOST_CHARS = 120
_LONGEST_ENDING = 12
_FOLDERS = re.compile(r"[/\\]")
_NOT_IN_NAMES = re.compile(r"""[<>:"|?*']""")
"""Characters that some systems take for something else than a part of a name."""


def safe_file_name(given: str) -> str:
    """The name without folders, and without characters that steer what is shown or where it is saved.

    Marks of writing direction, control characters and unassigned ones are left out. A name that is too long keeps its
    ending. "" where nothing is left.
    """
    name = _FOLDERS.split(unicodedata.normalize("NFC", given))[-1]
    name = "".join(char for char in name if unicodedata.category(char)[0] != "C")
    name = " ".join(_NOT_IN_NAMES.sub("_", name).split()).strip(" .")
    if len(name) <= MOST_CHARS:
        return name
    stem, dot, ending = name.rpartition(".")
    if not dot or len(ending) > _LONGEST_ENDING:
        return name[:MOST_CHARS].strip(" .")
    return f"{stem[: MOST_CHARS - len(ending) - 1].strip(' .')}.{ending}"
