"""Why a replay gave an item back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from shoal.agent.workflows.format.branch import ChannelFamily


class DivergenceReason(StrEnum):
    """Why a workflow gave an item back."""

    ADDRESS = "address"
    """The page's address fits no template, or is not the item's."""
    STATUS = "status"
    """The site answered with another HTTP status."""
    SIGNATURE = "signature"
    """The page lacks a required part, or has a forbidden one."""
    NOT_THE_ITEM = "not_the_item"
    """Nothing on the page says that it is the item's."""
    LOADING = "loading"
    """The page did not come to rest."""
    ONE_WITNESS = "one_witness"
    """Fewer independent channels or locators found something than have to agree."""
    CONTRADICTION = "contradiction"
    """Two channels or locators found different things."""
    AMBIGUOUS = "ambiguous"
    """A place is several elements that differ."""
    UNREADABLE = "unreadable"
    """The text at the place is no such value."""
    SHAPE = "shape"
    """The raw text has another shape than on the pages that were learned from: other signs, another unit."""
    NOT_SHOWN = "not_shown"
    """The visible page does not state the value."""
    SCHEMA = "schema"
    """The record is not valid against the job's schema."""
    DRIFT = "drift"
    """The batch is not as what the baseline read: too many nulls, a run of constants, another magnitude.

    Or a field says something else that was the same on all pages that were learned from.
    """
    SAME_RECORD = "same_record"
    """Another item of the loop has the same record."""
    CONDITION = "condition"
    """A condition before or after a node does not hold."""
    PARAMETER = "parameter"
    """The run has no value for a parameter."""
    ACTION = "action"
    """The browser could not do the action."""
    UNSUPPORTED = "unsupported"
    """The node is one that replay leaves to the policy behind."""
    AUDIT = "audit"
    """A model reads something else from the page."""


@dataclass(frozen=True, slots=True)
class Divergence:
    """One reason for which an item goes back."""

    reason: DivergenceReason
    where: str  # field, node or part of the signature
    detail: str  # in words
    fields: Mapping[str, tuple[ChannelFamily, ...]] = field(default_factory=dict)  # channels that failed, by field
