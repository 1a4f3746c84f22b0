"""Settings of Python itself in processes that move records by the thousand between an event loop and other threads."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType

_YOUNG = 50_000
"""Objects made since the last pass before the collector looks for cycles. Python's 700 are reached a dozen times in one
claim; each pass then also ages what only waits for its commit, until whole passes over all of it come every second. In
a gateway such a pass stopped every hundredth request for 200 ms (`load-tests/bench/submit.py`); a worker that read 160
pages spent 0.49 s of its 8.5 s of CPU in 200 passes (`pages.py --quick`), and makes less than 50 so."""

_SWITCH_S = 0.001
"""Seconds that a thread that is ready waits for one that computes. Database drivers let the others run at each
statement and each row: with Python's 5 ms a short transaction waits several times that for the event loop.
"""

_COMMAND_LINE = "httpx._main"
"""A part that no process here uses: httpx's own command line, which imports Rich, Click and Pygments. 60 ms."""

_ARROW, _REGISTER = "ray._private.arrow_serialization", "_register_custom_datasets_serializers"
"""Ray's module and function that import Arrow and NumPy, for tables that are sent to actors: none is. They take 0.2 to
0.4 s of CPU and 30 MiB in each process. A Ray without them does as it always did."""


def collect_rarely() -> None:
    """Fewer passes of the collector of cycles. What imports make stays: passes find nothing."""
    gc.set_threshold(_YOUNG, 20, 100)


def leave_out() -> None:
    """Keeps what nothing uses from being imported. For the beginning of a process, before it imports anything else."""
    sys.modules.setdefault(_COMMAND_LINE, None)  # type: ignore[arg-type]  # as Python has it for what is not there


def import_less() -> None:
    """The same in a process that logs."""
    leave_out()
    if "structlog" not in sys.modules and "rich" not in sys.modules:
        sys.modules["rich"] = None  # type: ignore[assignment]
        try:
            import_module("structlog")  # it draws tracebacks by Rich where that is there: 80 ms, and ours are plain
        finally:
            del sys.modules["rich"]


def begin_worker() -> None:
    """Ray calls this in each of its worker processes, before any actor."""
    collect_rarely()
    import_less()
    if (module := _arrow_module()) is not None:
        setattr(module, _REGISTER, _register_nothing)


@contextmanager
def without_arrow() -> Iterator[None]:
    """Ray in this process registers nothing for Arrow."""
    module = _arrow_module()
    kept = getattr(module, _REGISTER, None)
    if module is not None:
        setattr(module, _REGISTER, _register_nothing)
    try:
        yield
    finally:
        if module is not None:
            setattr(module, _REGISTER, kept)


def _arrow_module() -> ModuleType | None:
    """The module where this Ray has it, with its function."""
    module = import_module(_ARROW) if find_spec(_ARROW) else None
    return module if hasattr(module, _REGISTER) else None


def _register_nothing(_: object) -> None:
    """Takes the place of Ray's function."""


def tune() -> None:
    """Fewer passes of the collector of cycles, shorter turns of threads. For a process whose own work this is."""
    gc.collect()
    gc.freeze()  # modules and settings stay to the end: no pass needs to look at them
    collect_rarely()
    sys.setswitchinterval(_SWITCH_S)
