"""The place and the consequence of an action, as the page tells them before the action is done."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Unchosen:
    """A field that holds what was typed, though what it sends is chosen from its list."""

    name: str  # role and accessible name
    text: str
    options: Sequence[str]  # that its list showed last
    holds: str | None = None  # instead of the text, since the field was left; None: it holds the text
    kept: bool = False  # the field was left, held the text, and nothing speaks against it: what is sent has to hold it
    alike: int = 1  # controls of the form, or of the part of the page, that hold the same text


@dataclass(frozen=True, slots=True)
class Prospect:
    """One action on the page as it is now."""

    documents: tuple[str, ...]  # addresses of the documents that it reaches: the page's own, then those of frames
    field: bool = False  # it reaches a field, a check box or an option
    sends: bool = False  # a click on it sends a form
    presses: bool = False  # a click on it presses a button, by which a script may send
    forms: tuple[str, ...] = ()  # the addresses to which forms send in which it acts
    links: tuple[str, ...] = ()  # where links lead that a click on it follows
    unchosen: tuple[Unchosen, ...] = ()  # in those forms, or beside the button
    guarded: tuple[str, ...] = ()  # those forms, or the fields beside the button, by their document and number
    listed: bool = False  # of an action with an address: it stands as a link on the page
