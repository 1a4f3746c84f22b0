"""The secrets that a session knows, and keeping them out of everything that is shown or stored.

Known are the values of all stored secrets that the job grants, from the session's beginning; values that were filled
in; and what the caller wrote out in the job's details. A stored secret's reference stands for it, `HIDDEN` for the
rest.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from urllib.parse import quote

from shoal.agent.browser import Context
from shoal.agent.error_info import ErrorInfo
from shoal.agent.errors import SecretRefused
from shoal.agent.observe.rebuild import rebuilt
from shoal.agent.redaction.hidden_values import HiddenValues, hidden_values
from shoal.agent.redaction.masking import HIDDEN, redacted_address, redacted_sentence, secret_texts
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import (
    Action,
    ActionResult,
    Basis,
    Checkpoint,
    Download,
    Element,
    FanOut,
    LoopItem,
    Observation,
    Outcome,
    PageErrors,
    Record,
    Step,
    Task,
)

_PREFIX = re.compile(r"[a-zA-Z]+(?=\d)")

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
    """Replaces secret values in all that is shown or stored. Lives as long as its session.

    What the caller wrote out in the job's details is hidden in what is stored and shown of a session, but not in pages
    and records: there "admin" may be the name of a person as well as a password.
    """

    values: dict[str, str] = field(default_factory=dict, repr=False)  # of stored secrets, to the reference of each
    given: dict[str, str] = field(default_factory=dict, repr=False)  # what the caller wrote out, to `HIDDEN`
    _known: tuple[int, int, HiddenValues, HiddenValues] | None = None  # how many of both, and those made ready

    def learn(self, reference: Json, value: Json) -> None:
        """Notes that `value` was put in place of `reference`; nothing where both are the same."""
        if isinstance(reference, list | tuple) and isinstance(value, list | tuple):
            for part, other in zip(reference, value, strict=True):
                self.learn(part, other)
        elif isinstance(reference, str) and isinstance(value, str) and value and value != reference:
            self.values.setdefault(value, reference)

    def hide(self, values: Iterable[str]) -> None:
        """Notes what the caller wrote out."""
        self.given.update((value, HIDDEN) for value in values if value)

    def _ready(self) -> tuple[HiddenValues, HiddenValues]:
        """Those of stored secrets, and those that were written out. The values only ever become more."""
        known = self._known
        if known is None or known[:2] != (len(self.values), len(self.given)):
            references = tuple(self.values.values())
            written = tuple((value, text) for value, text in self.given.items() if value not in self.values)
            both = hidden_values(tuple(self.values.items())), hidden_values(written, keeping=references)
            self._known = known = (len(self.values), len(self.given), *both)
        return known[2:]

    # --- pages, and what is read from them ------------------------------------------------------------

    def text(self, text: str) -> str:
        """`text` with references for the values of stored secrets."""
        return self._ready()[0].text(text) if self.values else text

    def prompt(self, text: str) -> str:
        """A whole message to a model, with references for values; weak ones are hidden in its parts already.

        Here they could be the id of an element.
        """
        return self._ready()[0].text(text, weak=False) if self.values else text

    def json(self, value: Json, *, numbers: bool = True) -> Json:
        """`value` with references in all its texts; with `numbers`, also for numbers that are a secret."""
        return _redacted_json(value, self.text, numbers=numbers) if self.values else value

    def record(self, record: Record) -> Record:
        """`record` with references in its values, in the texts that they were found in, and in its candidates."""
        if not self.values:
            return record
        return replace(
            record,
            value=self.json(record.value),
            url=self.text(record.url),
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
        if not self.values or not self._ready()[0].occur_in(tuple(_texts(seen))):
            return seen
        return replace(
            seen,
            url=self.text(seen.url),
            title=self.text(seen.title),
            elements=rebuilt(seen.elements, self._element),
            tabs=tuple(replace(tab, url=self.text(tab.url), title=self.text(tab.title)) for tab in seen.tabs),
            last_action=self.text(seen.last_action),
            last_error=self.text(seen.last_error),
            dialogs=tuple(replace(d, message=self.text(d.message), answer=self.text(d.answer)) for d in seen.dialogs),
            downloads=tuple(map(self._download, seen.downloads)),
            console_errors=tuple(self.text(line) for line in seen.console_errors),
        )

    def _download(self, file: Download) -> Download:
        return replace(file, filename=self.text(file.filename), url=self.text(file.url), text=self.text(file.text))

    def _element(self, element: Element, children: tuple[Element, ...]) -> Element:
        return replace(
            element,
            name=self.text(element.name),
            text=self.text(element.text),
            attributes={name: self.text(value) for name, value in element.attributes.items()},
            options=tuple((self.text(label), self.text(value), chosen) for label, value, chosen in element.options),
            children=children,
        )

    # --- what is stored and shown of a session --------------------------------------------------------

    def redacted_text(self, text: str) -> str:
        """`text` without secrets and without what the caller gave as one."""
        if not self.values and not self.given:
            return text
        stored, written = self._ready()
        return written.text(stored.text(text))

    def address(self, address: str) -> str:
        """An address as it may be stored and shown."""
        return redacted_address(address, self.redacted_text)

    def sentence(self, text: str) -> str:
        """A sentence, such as an error's message, with the addresses in it."""
        return redacted_sentence(text, self.redacted_text)

    def tasks(self, tasks: tuple[Task, ...]) -> tuple[Task, ...]:
        """Return what was done so far, as it may be shown."""
        return tuple(
            replace(
                task,
                plan=self.sentence(task.plan),
                result=self.json(task.result, numbers=False),
                reason=self.sentence(task.reason),
                steps=tuple(map(self.step, task.steps)),
                rests_on=self._basis(task.rests_on),
            )
            for task in tasks
        )

    def step(self, step: Step) -> Step:
        """A step as it may be shown."""
        before = step.before
        return replace(
            step,
            url=self.address(step.url),
            thought=self.sentence(step.thought),
            expected=self.sentence(step.expected),
            before=before and replace(before, said=tuple(map(self.redacted_text, before.said))),
            results=tuple(map(self._redacted_result, step.results)),
            page_errors=self.page_errors(step.page_errors),
        )

    def _redacted_result(self, result: ActionResult) -> ActionResult:
        redacted = self.result(result)
        return replace(
            redacted, effect=replace(redacted.effect, url=redacted.effect.url and self.address(redacted.effect.url))
        )

    def page_errors(self, errors: PageErrors) -> PageErrors:
        """Errors of pages as they may be shown."""
        redacted = (replace(e, text=self.sentence(e.text), where=self.address(e.where)) for e in errors.told)
        return replace(errors, told=tuple(redacted))

    def result(self, result: ActionResult) -> ActionResult:
        """Return what an action did, and what it was given, without secrets:
        its address is one that the session goes by.
        """
        action, effect = result.action, result.effect
        return replace(
            result,
            action=replace(action, args=self._args(action.args), target=self.redacted_text(action.target)),
            error=self.error(result.error),
            effect=replace(
                effect,
                url=effect.url and self.redacted_text(effect.url),
                value=self.redacted_text(effect.value) if effect.value else effect.value,
                appeared=tuple(map(self.redacted_text, effect.appeared)),
                went=tuple(map(self.redacted_text, effect.went)),
                fields=tuple((self.redacted_text(name), self.redacted_text(value)) for name, value in effect.fields),
                invalid=tuple(map(self.redacted_text, effect.invalid)),
            ),
            value=_redacted_json(result.value, self.redacted_text, numbers=False),
        )

    def _args(self, args: Mapping[str, Json]) -> Mapping[str, Json]:
        return {
            name: value if name.endswith("bid") else _redacted_json(value, self.redacted_text, numbers=True)
            for name, value in args.items()
        }

    def error(self, error: ErrorInfo | None) -> ErrorInfo | None:
        """An error as it may be shown."""
        return error and replace(error, message=self.sentence(error.message))

    def hide_in(self, error: BaseException) -> None:
        """Takes secrets out of the texts of an exception, and of those that led to it, before it is logged."""
        cause: BaseException | None = error
        while cause is not None:
            cause.args = tuple(self.sentence(part) if isinstance(part, str) else part for part in cause.args)
            cause = cause.__cause__ or cause.__context__

    def checkpoint(self, known: Checkpoint) -> Checkpoint:
        """Return what is known of a session, as it may be shown; no session goes on from this."""
        return replace(
            known,
            url=self.address(known.url),
            pending_action=self.sentence(known.pending_action),
            confirmed=tuple(map(self.sentence, known.confirmed)),
            history=self.tasks(known.history),
        )

    def outcome(self, outcome: Outcome) -> Outcome:
        """Return how a session ended, as it may be stored. What was read from pages stays: it is the job's result."""
        lacks, basis = outcome.incomplete, self._basis(outcome.rests_on)
        return replace(
            outcome,
            url=self.address(outcome.url),
            reason=self.sentence(outcome.reason),
            answer=self.text(outcome.answer),
            rests_on=basis,
            error=self.error(outcome.error),
            rejected=tuple(replace(error, message=self.sentence(error.message)) for error in outcome.rejected),
            incomplete=lacks and replace(lacks, why=self.sentence(lacks.why)),
            tasks=self.tasks(outcome.tasks),
            page_errors=self.page_errors(outcome.page_errors),
            records=tuple(replace(record, url=self.address(record.url)) for record in outcome.records),
            fan_out=outcome.fan_out and self._fan_out(outcome.fan_out),
            checkpoint=outcome.checkpoint and self.stored_checkpoint(outcome.checkpoint),
        )

    def _basis(self, basis: Basis | None) -> Basis | None:
        if basis is None:
            return None
        quoted = (
            replace(words, text=self.text(words.text), url=self.address(words.url), where=self.text(words.where))
            for words in basis.quotations
        )
        return replace(basis, quotations=tuple(quoted))

    # --- what a session goes on from ------------------------------------------------------------------

    def stored_checkpoint(self, checkpoint: Checkpoint) -> Checkpoint:
        """A checkpoint as it may be stored: with references, for which `restored` puts the values again."""
        if not self.values:
            return checkpoint
        return replace(
            checkpoint,
            url=self.text(checkpoint.url),
            history=tuple(map(self._stored_task, checkpoint.history)),
            pending_action=self.text(checkpoint.pending_action),
            confirmed=tuple(map(self.text, checkpoint.confirmed)),
            steps=tuple(map(self._stored_step, checkpoint.steps)),
        )

    def _stored_task(self, task: Task) -> Task:
        result, steps = self.json(task.result, numbers=False), tuple(map(self._stored_step, task.steps))
        return replace(task, result=result, reason=self.text(task.reason), steps=steps)

    def _stored_step(self, step: Step) -> Step:
        return replace(step, url=self.text(step.url), thought=self.text(step.thought))

    def item(self, item: LoopItem) -> LoopItem:
        """An item of a loop as it may be stored: with references, for which `restored` puts the values again."""
        if not self.values:
            return item
        value, label, page = self.text(item.value), self.text(item.label), self.text(item.page)
        same = (value, label, page) == (item.value, item.label, item.page)
        return item if same else replace(item, value=value, label=label, page=page)

    def _fan_out(self, fan_out: FanOut) -> FanOut:
        items = tuple(map(self.item, fan_out.items))
        return replace(fan_out, items=items, checkpoint=self.stored_checkpoint(fan_out.checkpoint))

    def restored(self, address: str, resolve: Resolve) -> str:
        """An address that was stored, with the values for references of this job that its site may be given."""
        for reference in sorted(set(self.values.values()), key=len, reverse=True):
            if reference in address:
                try:
                    value = resolve(reference, address)
                except SecretRefused:
                    continue  # the site is asked for the reference, and no other site learns the value
                address = address.replace(reference, quote(str(value), safe=""))
        return address


def redactor_of(spec: JobSpec, item: LoopItem | None) -> Redactor:
    """Knows what is secret in the details of one session, and no stored secret."""
    redactor = Redactor()
    redactor.hide(secret_texts(spec, item))
    return redactor


def _redacted_json(value: Json, redact: Callable[[str], str], *, numbers: bool) -> Json:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, list | tuple):
        return [_redacted_json(part, redact, numbers=numbers) for part in value]
    if isinstance(value, Mapping):
        return {redact(str(name)): _redacted_json(part, redact, numbers=numbers) for name, part in value.items()}
    if numbers and isinstance(value, int | float) and not isinstance(value, bool):
        text = str(value)
        return value if (shown := redact(text)) == text else shown
    return value


def _texts(seen: Observation) -> Iterator[str]:
    """All texts of a page that are looked through."""
    yield from (seen.url, seen.title, seen.last_action, seen.last_error, *seen.console_errors)
    for dialog in seen.dialogs:
        yield from (dialog.message, dialog.answer)
    for tab in seen.tabs:
        yield from (tab.url, tab.title)
    for file in seen.downloads:
        yield from (file.filename, file.url, file.text)
    open_ = [seen.elements]
    while open_:
        element = open_.pop()
        yield from (element.name, element.text, *element.attributes.values())
        for label, value, _ in element.options:
            yield from (label, value)
        open_ += element.children
