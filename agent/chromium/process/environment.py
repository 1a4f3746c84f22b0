"""The part of this process's environment that the browser and Playwright's driver are given.

A page may take over the browser that shows it. The environment of a worker holds keys of the artifact store, of Ray and
of the model server, so the browser gets only the variables that programs of its kind need.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

_NEEDED = frozenset(
    {
        "PATH",
        "HOME",
        "TMPDIR",  # files in the making lie there; the processes of an embedded cluster are found by it
        "TZ",
        "LANG",
        "LANGUAGE",
        "LD_LIBRARY_PATH",
        "FONTCONFIG_FILE",
        "FONTCONFIG_PATH",
        "XDG_CACHE_HOME",
        "XDG_CONFIG_HOME",
        "XDG_DATA_DIRS",
        "XDG_RUNTIME_DIR",
        "DISPLAY",  # this and the next two: windows of a browser that is not headless
        "WAYLAND_DISPLAY",
        "XAUTHORITY",
        "CHROME_DEVEL_SANDBOX",  # where the set-uid helper of the sandbox is
        "PLAYWRIGHT_BROWSERS_PATH",
    }
)
_OF_LANGUAGE = "LC_"


def browser_environment(environment: Mapping[str, str] | None = None) -> dict[str, str]:
    """The variables of `environment` that a browser may have; None: of this process."""
    given = os.environ if environment is None else environment
    return {name: value for name, value in given.items() if name in _NEEDED or name.startswith(_OF_LANGUAGE)}
