"""Fields of the job spec that this version does not do yet: refused by name, instead of being ignored."""

from __future__ import annotations

from collections.abc import Callable

from shoal.agent.spec import JobSpec

_NOT_YET: tuple[tuple[str, Callable[[JobSpec], bool]], ...] = (
    ("browser.attach", lambda spec: spec.browser.attach is not None),
    # A proxy of the job's own would lead past the filter that keeps browsers away from private addresses.
    ("browser.proxy", lambda spec: spec.browser.proxy is not None),
    ("browser.storage_state", lambda spec: spec.browser.storage_state is not None),
    ("browser.headless", lambda spec: not spec.browser.headless),
)


NOT_YET_FIELDS = frozenset(field for field, _ in _NOT_YET)
"""The fields, by their path in the spec."""


def unsupported(spec: JobSpec) -> list[dict[str, str]]:
    """The fields of `spec` that ask for something that is not there, as {field, reason}."""
    return [{"field": field, "reason": "not available in this version"} for field, asked in _NOT_YET if asked(spec)]
