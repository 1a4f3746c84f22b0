"""Values of secrets that were filled into pages, and how they are kept out of everything that is shown or stored."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from shoal.agent.browser import Context
from shoal.agent.errors import SecretRefused
from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.support.json_value import Json
from shoal.agent.support.masking import Masker
from shoal.agent.types import Action, ActionResult, Element, Observation, Outcome, Record, Task

_PREFIX = re.compile(r"[a-zA-Z]+(?=\d)")
_WITHIN_CHARS = 6
"""Shorter values are hidden only where they stand alone: a page full of other numbers must not turn into references."""


_FRAMES = """() => [...document.querySelectorAll('iframe, frame')].map(frame => frame.src)
  .filter(address => /^https?:/.test(address))"""

Resolve = Callable[[object, str], object]
"""Value and page address to the value with secrets for references; raises `SecretRefused`."""


async def revealed(action: Action, page: Context, resolve: Resolve) -> dict[str, Json]:
    """The arguments of `action` with secrets for references, for use on `page`.

    A secret belongs to a site, and a page of that site may hold frames of others. So in a frame it is filled in only
    where every frame of the page belongs to the secret's domains too.

    Raises:
        SecretRefused: unknown, not granted, or not for this page or for one of its frames.
    """
    args = {name: resolve(value, page.url) for name, value in action.args.items()}
    prefix = _PREFIX.match(str(action.args.get("bid", "")))
    if not prefix or all(args[name] == value for name, value in action.args.items()):
        return args
    if len(prefix.group()) > 1:
        raise SecretRefused("secrets are not filled into frames inside of frames")
    for address in await page.read(_FRAMES) or ():
        for value in action.args.values():
            resolve(value, address)
    return args


@dataclass(slots=True)
class Redactor:
    """What must not be shown: secret value to the reference that stands for it. Lives as long as its session.

    What the caller wrote out in the job's details is known too (`given`). It is hidden in what is stored and shown of a
    session, but not in pages and records: there "admin" may be the name of a person as well as a password.
    """

    values: dict[str, str] = field(default_factory=dict)
    given: Masker = field(default_factory=Masker)

    def learn(self, reference: Json, value: Json) -> None:
        """Notes that `value` was put in place of `reference`; nothing where both are the same."""
        if isinstance(reference, list | tuple) and isinstance(value, list | tuple):
            for part, other in zip(reference, value, strict=True):
                self.learn(part, other)
        elif isinstance(reference, str) and isinstance(value, str) and value and value != reference:
            self.values[value] = reference

    def text(self, text: str) -> str:
        """`text` with references for values."""
        for value, reference in self.values.items():
            if text.strip() == value:
                return reference
            if len(value) >= _WITHIN_CHARS and value in text:
                text = text.replace(value, reference)
        return text

    def json(self, value: Json) -> Json:
        """`value` with references in all its texts."""
        if not self.values:
            return value
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list | tuple):
            return [self.json(part) for part in value]
        if isinstance(value, Mapping):
            return {name: self.json(part) for name, part in value.items()}
        return value

    def record(self, record: Record) -> Record:
        """`record` with references in its values, in the texts that they were found in, and in its candidates."""
        if not self.values:
            return record
        return replace(
            record,
            value=self.json(record.value),
            sources={name: replace(source, where=self.text(source.where)) for name, source in record.sources.items()},
            candidates={
                name: tuple(
                    replace(candidate, value=self.json(candidate.value), where=self.text(candidate.where))
                    for candidate in several
                )
                for name, several in record.candidates.items()
            },
        )

    def observation(self, seen: Observation) -> Observation:
        """A page as it may be shown: a field holds the reference where it really holds the value.

        Pictures stay as they are; password fields hide what they hold by themselves.
        """
        if not self.values:
            return seen
        return replace(
            seen,
            url=self.text(seen.url),
            title=self.text(seen.title),
            elements=rebuilt(seen.elements, self._element),
            last_action=self.text(seen.last_action),
            last_error=self.text(seen.last_error),
            dialogs=tuple(replace(dialog, message=self.text(dialog.message)) for dialog in seen.dialogs),
            console_errors=tuple(self.text(line) for line in seen.console_errors),
        )

    def _element(self, element: Element, children: tuple[Element, ...]) -> Element:
        return replace(
            element,
            name=self.text(element.name),
            text=self.text(element.text),
            attributes={name: self.text(value) for name, value in element.attributes.items()},
            options=tuple((self.text(label), self.text(value), chosen) for label, value, chosen in element.options),
            children=children,
        )

    def told(self, text: str) -> str:
        """`text` without secrets and without what the caller gave as one."""
        return self.given.text(self.text(text)) if self.given else self.text(text)

    def tasks(self, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        """What was done so far, as it may be shown."""
        return self.given.tasks(tasks) if self.given else tasks

    def outcome(self, outcome: Outcome) -> Outcome:
        """How a session ended, as it may be stored."""
        return self.given.outcome(outcome) if self.given else outcome

    def result(self, result: ActionResult) -> ActionResult:
        """What an action did, as it may be stored."""
        return self.given.result(self._result(result)) if self.given else self._result(result)

    def _result(self, result: ActionResult) -> ActionResult:
        if not self.values:
            return result
        error, effect = result.error, result.effect
        return replace(
            result,
            error=replace(error, message=self.text(error.message)) if error else None,
            effect=replace(
                effect,
                url=self.text(effect.url) if effect.url else effect.url,
                value=self.text(effect.value) if effect.value else effect.value,
                appeared=tuple(map(self.text, effect.appeared)),
                went=tuple(map(self.text, effect.went)),
                fields=tuple((self.text(name), self.text(value)) for name, value in effect.fields),
                invalid=tuple(map(self.text, effect.invalid)),
            ),
            value=self.json(result.value),
        )
