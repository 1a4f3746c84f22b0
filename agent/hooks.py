"""Callbacks of a session for pages that need more than the browser: a person, a secret, a store."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Upload:
    """A file that was fetched to be given to a page."""

    name: str
    data: bytes


@dataclass(frozen=True, slots=True)
class DialogAsked:
    """A JavaScript dialog that a page shows; the page stands still until it is answered."""

    kind: str  # alert, confirm, prompt, beforeunload
    message: str
    default: str = ""  # of a prompt


@dataclass(frozen=True, slots=True)
class DialogAnswer:
    """A person's answer to a dialog."""

    accept: bool
    text: str = ""  # for a prompt


@dataclass(frozen=True, slots=True)
class Hooks:
    """Services outside the browser that an action may ask for. An action whose hook is missing is refused by name."""

    solve_captcha: Callable[[str], Awaitable[bool]] | None = None  # page URL to whether somebody solved it
    ask_user: Callable[[str, str], Awaitable[str]] | None = None  # question and page URL to the answer
    verification_code: Callable[[str], Awaitable[str]] | None = None  # page URL to the code
    say: Callable[[str], Awaitable[None]] | None = None  # a message for the user
    fetch: Callable[[str], Awaitable[Upload]] | None = None  # artifact key to the file
    navigation_guard: Callable[[str], Awaitable[None]] | None = None  # asked before an action opens a URL; may raise
    answer_dialog: Callable[[DialogAsked], Awaitable[DialogAnswer | None]] | None = None
    """Asked about every dialog. None: no person can answer, and the context's own rule answers."""
