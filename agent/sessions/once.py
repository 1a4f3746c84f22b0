"""Actions that must not be done twice, from one attempt of a session to the next."""

from __future__ import annotations

from dataclasses import replace

from shoal.agent.support.web_addresses import canonical_address
from shoal.agent.types import Action, Checkpoint

_ON = " on "


def action_name(action: Action, url: str) -> str:
    """Return how checkpoints name the action, done on the page at `url`."""
    return f"{action.name}{_ON}{url}"


def page_of(name: str) -> str:
    """By which the page is known on which an action of this name was done."""
    return canonical_address(name.partition(_ON)[2])


def begun_anew(checkpoint: Checkpoint) -> Checkpoint:
    """For a next attempt that is to do again what this one did: it begins where the session began."""
    return Checkpoint(
        storage_state=checkpoint.storage_state,
        usage=checkpoint.usage,
        proposed=checkpoint.proposed,
        items_only_read=checkpoint.items_only_read,
        glossary=checkpoint.glossary,
    )


def in_doubt(checkpoint: Checkpoint) -> Checkpoint:
    """For a session that did what must not be done twice, and of which nothing is known since: a person settles it.

    `checkpoint` has confirmed actions; the last of them is named.
    """
    return replace(checkpoint, pending_action=checkpoint.confirmed[-1])


def to_do_again(checkpoint: Checkpoint) -> Checkpoint:
    """For a next attempt of a session whose owner says that what is pending was not done.

    Where that had been confirmed, the page behind it is of no use: all is done again.
    """
    if checkpoint.pending_action in checkpoint.confirmed:
        return begun_anew(checkpoint)
    return replace(checkpoint, pending_action="", confirmed=())
