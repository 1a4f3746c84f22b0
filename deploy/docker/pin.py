"""Writes a base image's digest and a moment of Debian's packages into the Dockerfiles: `make pin-images`.

    python deploy/docker/pin.py sha256:… 20261122T000000Z [FOLDER]

From then on every build starts from the same bytes and takes the same packages, until somebody pins anew.
"""

from __future__ import annotations

import argparse
import re
from pathlib import Path

_BASE = re.compile(r"^(ARG PYTHON_IMAGE=[^@\s]+)(@sha256:[0-9a-f]{64})?$", re.M)
_MOMENT = re.compile(r"^(ARG DEBIAN_SNAPSHOT=)\S*$", re.M)


def pinned(text: str, digest: str, moment: str) -> str:
    """A Dockerfile's text with both in it.

    Raises:
        ValueError: they are no digest and no moment, or the text has no place for them.
    """
    if not re.fullmatch(r"sha256:[0-9a-f]{64}", digest):
        raise ValueError(f"{digest!r} is no digest: sha256: and 64 hexadecimal digits")
    if not re.fullmatch(r"20\d{6}T\d{6}Z", moment):
        raise ValueError(f"{moment!r} is no moment like 20261122T000000Z")
    for pattern in (_BASE, _MOMENT):
        if len(pattern.findall(text)) != 1:
            raise ValueError(f"not one line like {pattern.pattern}")
    return _MOMENT.sub(rf"\g<1>{moment}", _BASE.sub(rf"\g<1>@{digest}", text))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("digest")
    parser.add_argument("moment")
    parser.add_argument("folder", type=Path, nargs="?", default=Path(__file__).parent)
    options = parser.parse_args()
    for path in sorted(options.folder.glob("*.Dockerfile")):
        path.write_text(pinned(path.read_text(), options.digest, options.moment))
        print(path)


if __name__ == "__main__":
    main()
