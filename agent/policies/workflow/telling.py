"""The outcome of a replay in full, as a try of a version tells it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace

from shoal.agent.policies.workflow.policy import ReplayReport
from shoal.agent.replay_detail import ChannelReading, FieldReading, ReplayDetail, ReplayDivergence
from shoal.agent.support.json_value import Json
from shoal.agent.types import Tier
from shoal.agent.workflows.reading.shapes import raw_text
from shoal.agent.workflows.verdict import ChannelRead, FieldRead

_LONGEST = 500
"""Characters of one text. A page may hold 100,000 in each of its channels; the record has its values whole."""

Hide = Callable[[str], str]
"""Gives a text without what is secret in it."""


def detail_of(report: ReplayReport, tier: Tier, hide: Hide) -> ReplayDetail:
    """Return what the replay did and read on the page where it ended."""
    intended = report.intended
    return ReplayDetail(
        tier=tier,
        branch=report.branch,
        done=report.done,
        fields={name: _field(read, hide) for name, read in report.fields.items()},
        misses=tuple(
            ReplayDivergence(str(miss.reason), miss.where, _clipped(hide(miss.detail))) for miss in report.misses
        ),
        intended=None
        if intended is None
        else type(intended)(
            intended.node,
            intended.action,
            {name: _redacted_value(value, hide) for name, value in intended.args.items()},
            hide(intended.element),
            intended.found_by,
        ),
        counts=tuple(replace(counted, url=hide(counted.url)) for counted in report.counts),
    )


def _field(read: FieldRead, hide: Hide) -> FieldReading:
    return FieldReading(
        _redacted_value(read.value, hide), read.hits, tuple(_channel(channel, hide) for channel in read.channels)
    )


def _channel(read: ChannelRead, hide: Hide) -> ChannelReading:
    place, statement = read.channel.place, read.statement
    fault = statement.fault or (str(statement.ambiguous) if statement.ambiguous is not None else "")
    if not fault and read.misshapen:
        known = " or ".join(read.channel.shapes)
        fault = f"it has the shape {read.misshapen!r}, and {known} was learned"
    return ChannelReading(
        family=read.channel.family,
        place=f"{place.kind} {place.query}",
        value=_redacted_value(statement.value, hide),
        raw="" if statement.place is None else _clipped(hide(raw_text(statement.place))),
        where="" if statement.place is None else statement.place.where,
        fault=_clipped(hide(fault)),
    )


def _redacted_value(value: Json, hide: Hide) -> Json:
    """A value without secrets; one that is long becomes a text that is cut."""
    if isinstance(value, str):
        return _clipped(hide(value))
    if isinstance(value, (list, tuple, Mapping)):
        text = json.dumps(value, ensure_ascii=False, default=str)
        hidden = hide(text)
        return value if hidden == text and len(text) <= _LONGEST else _clipped(hidden)
    return value


def _clipped(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"
