"""The effect of an action in words: for prompts, the command line and people."""

from __future__ import annotations

from collections.abc import Iterator

from shoal.agent.types import Effect

_VALUE_CHARS = 100
_NAME_CHARS = 60
_BOXES = frozenset({"checked", "unchecked"})


def effect_words(effect: Effect) -> tuple[str, ...]:
    """One clause for each thing that changed; "nothing changed" where that is known; none where nothing is known."""
    return tuple(_clauses(effect))


def _clauses(effect: Effect) -> Iterator[str]:
    if effect.url:
        yield f"the page is now {effect.url}"
    if effect.new_tab:
        yield "a new tab opened"
    if effect.dialog:
        yield "a dialog came"
    if effect.download:
        yield "a file was downloaded"
    yield from _named(effect.appeared_count, effect.appeared, "appeared")
    yield from _named(effect.went_count, effect.went, "went")
    if effect.invalid:
        yield f"marked as wrong: {', '.join(map(_name, effect.invalid))}"
    for name, value in effect.fields:
        yield f"{_name(name)} is now {value}" if value in _BOXES else f"{_name(name)} now holds {_short(value)!r}"
    if effect.fields_count > len(effect.fields):
        yield f"{effect.fields_count - len(effect.fields)} more fields changed"
    if effect.value is not None:
        yield f"the field now holds {_short(effect.value)!r}"
    if effect.unchanged:
        yield "nothing changed"


def _named(count: int, names: tuple[str, ...], verb: str) -> Iterator[str]:
    if count:
        more = ", …" if count > len(names) else ""
        yield f"{count} {'element' if count == 1 else 'elements'} {verb}: {', '.join(map(_name, names))}{more}"


def _name(text: str) -> str:
    """A role with a quoted name, or a quoted text."""
    return text if len(text) <= _NAME_CHARS else f'{text[: _NAME_CHARS - 2].rstrip(chr(92))}…"'


def _short(text: str) -> str:
    return text if len(text) <= _VALUE_CHARS else f"{text[: _VALUE_CHARS - 1]}…"
