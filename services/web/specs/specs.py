"""From the bytes of a submission to a checked job, or to a list of every fault with its field and reason."""

from __future__ import annotations

import asyncio
import difflib
import math
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import get_args
from urllib.parse import SplitResult, urlsplit

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails, from_json, to_json

from shoal.agent.spec import JobSpec, NotifySpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.sites import plain_host
from shoal.services.addresses import Reach
from shoal.services.errors import BadInput
from shoal.services.names import HostNames
from shoal.services.schedules.firing import RUN_KEY
from shoal.services.schedules.spec import ScheduleSpec
from shoal.services.store.records import NewJob
from shoal.services.store.workflows.workflow_store import WorkflowStore
from shoal.services.web.aside import aside
from shoal.services.web.specs.browser_checks import unbrowsable
from shoal.services.web.specs.sink_checks import sink_faults
from shoal.services.web.specs.spec_checks import address_fault, login_addresses, undoable
from shoal.services.web.specs.workflows import WORKFLOW, begun, check_learn, with_workflow, workflow_faults
from shoal.services.webhooks.checked_http import unsendable

Fault = dict[str, str]
Place = tuple[str, SplitResult]  # a field and the address in it

_INT64 = 2**63
_SUSPICIOUS = re.compile(rb"\\u0000|[0-9]{19}|[eE][+-]?[0-9]{3}|NaN|Infinity")
"""Without any of these in its text, JSON holds nothing that `_unstorable` looks for: no U+0000, no number that long."""
_TEXT = re.compile(rb'"(?:[^"\\]++|\\.)*+"?', re.DOTALL)
"""A string of JSON, or what begins as one and does not end: each byte is looked at once."""
_BYTES_OF_PLACE = 16
"""For how much text to be read one address counts that is to be looked at."""
_MOST_FAULTS = 100
"""Faults of one submission that are told; the message counts the rest."""
_MOST_MADE = 1_000
"""Faults beyond which they are found anew in the first parts of what was given: pydantic makes all that it tells, which
takes seconds for half a million."""
_FIRST_PARTS = 20
MOST_MEMBERS = 20_000
"""Members of all objects of one body together. Pydantic looks at all of them, and no other thread runs meanwhile."""
_LONG_NAME = 64
"""Characters of an unknown field beyond which no field is looked for that may have been meant: comparing takes the
product of both lengths."""
_NO_PLACE = "https://8.8.8.8/"
"""The address of a job that is none: one that browsers may reach, and that needs no look-up."""
_DEFAULT_PORTS = {"http": 80, "https": 443}
_LOOKED_UP = 5
"""Hosts of one job whose addresses are asked for before it is answered: its own, its receivers', and the first of its
items. A job of 100,000 items may name as many."""


@dataclass(frozen=True, slots=True)
class SpecRules:
    """The operator's rules on job specs."""

    reach: Reach = Reach()
    max_attempts: int = 10  # largest `max_attempts` of a job
    people: bool = False  # sessions may ask the people who watch this installation
    mail: bool = False  # letters can be sent
    mail_domains: tuple[str, ...] = ()  # of their receivers; none: any
    sink_dirs: tuple[Path, ...] = ()  # where jobs may write to on this machine, with `{tenant}` for the tenant


class SpecChecker:
    """Checks submissions: syntax, fields, what this version does, and the addresses that a job names."""

    def __init__(
        self,
        rules: SpecRules,
        names: HostNames,
        workflows: WorkflowStore | None = None,
        *,
        has_model: Callable[[], Awaitable[bool | None]] | None = None,
    ) -> None:
        """`has_model`: whether workers ask a model; None, or one that gives None: it is not known."""
        self._rules = rules
        self._has_model = has_model
        self._names = names
        self._workflows = workflows  # None: jobs bring their own

    async def check(self, body: bytes, tenant: str, *, idempotency_key: str | None = None) -> NewJob:
        """The job that `body` asks for.

        Raises:
            BadInput: listing each fault as {field, reason}.
        """
        return await self.admit(await self.read(body, idempotency_key=idempotency_key), tenant)

    async def read(self, body: bytes, *, idempotency_key: str | None = None) -> JobSpec:
        """The spec in `body`, by all rules but those for the addresses it names.

        Raises:
            BadInput: listing the faults.
        """
        return await aside(len(body), self._read, body, idempotency_key)

    def _read(self, body: bytes, idempotency_key: str | None) -> JobSpec:
        spec = parse_spec(body, idempotency_key=idempotency_key)
        faults = unbrowsable(spec) + undoable(spec) + self._limits(spec)
        faults += workflow_faults(spec)
        faults += [_fault(field, reason) for field, url in _urls(spec) if (reason := address_fault(url)) is not None]
        for field, url in _called(spec):
            if (reason := unsendable(url)) is not None and field not in (fault["field"] for fault in faults):
                faults.append(_fault(field, reason))
        if faults:
            raise refused(faults)
        return spec

    async def admit(self, spec: JobSpec, tenant: str) -> NewJob:
        """The job of a spec that `read` gave.

        Raises:
            BadInput: it names addresses where browsers may not go, or a workflow that the tenant does not have.
        """
        if spec.policy.startswith(WORKFLOW) and spec.workflow is None:
            spec = await with_workflow(spec, tenant, self._workflows)
        spec = begun(spec)
        await check_learn(spec, tenant, self._workflows)
        if spec.sinks and (faults := await asyncio.to_thread(sink_faults, spec, tenant, self._rules.sink_dirs)):
            raise refused(faults)
        if faults := await self._addresses(spec, tenant):
            raise refused(faults)
        await self._check_model(spec)
        return NewJob(tenant=tenant, spec=spec, domain=plain_host(urlsplit(spec.url).hostname or ""))

    async def _check_model(self, spec: JobSpec) -> None:
        """Lets a job pass that workers can do with the model that they have, or without one.

        Raises:
            BadInput: it needs a model, and no worker asks one.
        """
        if spec.policy == "model":
            fault: tuple[str, str] | None = ("policy", "is model")
        else:
            fault = spec.beyond_rules if spec.policy in ("auto", "rules") else None
        if fault is None:
            return
        if spec.policy != "rules" and (self._has_model is None or await self._has_model() is not False):
            return
        why = "rules ask none" if spec.policy == "rules" else "this cluster has none (SHOAL_MODEL_URL)"
        raise refused([_fault(fault[0], f"{fault[1]}; {why}")])

    def _limits(self, spec: JobSpec) -> list[Fault]:
        faults = []
        if (spec.idempotency_key or "").startswith(RUN_KEY):
            faults.append(
                _fault("idempotency_key", f"must not begin with {RUN_KEY}, as the keys of schedules' runs do")
            )
        if spec.max_attempts > self._rules.max_attempts:
            faults.append(_fault("max_attempts", f"this cluster allows at most {self._rules.max_attempts}"))
        if spec.help.person and not self._rules.people:
            faults.append(_fault("help.person", "workers of this cluster reach no person (SHOAL_HELP_URL)"))
        return faults + [
            _fault(f"notify[{place}].to", reason)
            for place, people in enumerate(spec.notify or ())
            if people.by == "email" and (reason := self._letter_fault(people)) is not None
        ]

    async def check_notify(self, notify: tuple[NotifySpec, ...], tenant: str) -> None:
        """Returns when these people can be told of jobs that do not say whom.

        Raises:
            BadInput: with the fault of each who cannot be.
        """
        spec = JobSpec(url=_NO_PLACE, goal="-", notify=notify)
        if faults := undoable(spec) + self._limits(spec) + await self._addresses(spec, tenant):
            raise refused(faults, what="notify")

    def _letter_fault(self, people: NotifySpec) -> str | None:
        if not self._rules.mail:
            return "this cluster sends no letters (SHOAL_SMTP_URL)"
        domains = {domain.lower().removeprefix("@") for domain in self._rules.mail_domains}
        for address in people.addresses:
            if domains and address.rpartition("@")[2].lower() not in domains:
                return f"letters go to {', '.join(sorted(domains))} alone (SHOAL_MAIL_DOMAINS), not to {address}"
        return None

    async def _addresses(self, spec: JobSpec, tenant: str) -> list[Fault]:
        """Faults of URLs that lead where browsers may not go.

        The first few names are looked up too. That is a courtesy to the caller: what holds is the check of the worker,
        at each request. A name that does not resolve here may do so there, so it passes, as names beyond these few do.
        """
        if self._rules.reach.allow_private:
            return []
        count = len(spec.loop.values or ()) if spec.loop else 0
        places, hosts = await aside(count * _BYTES_OF_PLACE, _places, spec)
        if len(hosts) == 1:  # as most jobs have it: not worth a task
            addresses = {hosts[0]: await self._names.addresses(hosts[0], tenant)}
        else:
            answers = await asyncio.gather(*(self._names.addresses(host, tenant) for host in hosts))
            addresses = dict(zip(hosts, answers, strict=True))
        return await aside(len(places) * _BYTES_OF_PLACE, self._forbidden, places, addresses)

    def _forbidden(self, places: Sequence[Place], addresses: Mapping[str, Sequence[str]]) -> list[Fault]:
        faults = []
        for field, parts in places:
            host = parts.hostname or ""
            port = parts.port or _DEFAULT_PORTS.get(parts.scheme.lower())
            reason = self._rules.reach.refusal(host, port, addresses.get(host, ()))
            if reason:
                how = "the operator can allow it (SHOAL_ALLOW_HOSTS, SHOAL_ALLOW_PRIVATE)"
                faults.append(_fault(field, f"{host} is not allowed: the address is {reason}; {how}"))
        return faults


def _places(spec: JobSpec) -> tuple[list[Place], list[str]]:
    """The addresses that a job names, and the hosts of them that are looked up."""
    places = [(field, urlsplit(url)) for field, url in _urls(spec)]
    hosts = dict.fromkeys(parts.hostname or "" for _, parts in places)
    return places, list(hosts)[:_LOOKED_UP]


def parse_spec(body: bytes, *, idempotency_key: str | None = None) -> JobSpec:
    """The spec that `body` spells out; `idempotency_key` is the header's.

    Raises:
        BadInput: listing each fault as {field, reason}.
    """
    _check_members(body)
    try:
        # Strict: "5" is no number. From the bytes, since only JSON input may give tuples in strict mode.
        spec = JobSpec.model_validate_json(body, strict=True)
    except ValidationError as err:
        # Says line and column where it is no JSON at all.
        lacking = _lacks_url(parse_json(body))
        raise refused([*lacking, *validation_faults(err, JobSpec, body)], of=len(lacking) + err.error_count()) from None
    faults = list(islice(_unstorable(parse_json(body), ()), _MOST_FAULTS)) if _SUSPICIOUS.search(body) else []
    if idempotency_key is not None:
        if spec.idempotency_key not in (None, idempotency_key):
            faults.append(_fault("idempotency_key", "differs from the Idempotency-Key header"))
        if not 1 <= len(idempotency_key) <= 200:
            faults.append(_fault("Idempotency-Key", "must have 1 to 200 characters"))
        spec = spec.model_copy(update={"idempotency_key": idempotency_key})
    if faults:
        raise refused(faults)
    return spec


def _lacks_url(given: Json) -> list[Fault]:
    """The fault of a job that has no address; of a replay the workflow may say it."""
    if not isinstance(given, dict) or "url" in given or str(given.get("policy")).startswith(WORKFLOW):
        return []
    return [_fault("url", "is required")]


def parse_json(body: bytes) -> Json:
    """The JSON value in `body`.

    Raises:
        BadInput: with line and column of the fault; or it has more than `MOST_MEMBERS` members.
    """
    _check_members(body)
    try:
        value: Json = from_json(body, allow_inf_nan=False)
    except ValueError as err:
        raise BadInput(f"The body is not valid JSON: {err}.", errors=[_fault("body", str(err))]) from None
    return value


def _check_members(body: bytes) -> None:
    """Refuses more members than `MOST_MEMBERS` before they are read: those of one name count each."""
    if body.count(b":") > MOST_MEMBERS and (count := _TEXT.sub(b"", body).count(b":")) > MOST_MEMBERS:
        reason = f"its objects have {count:,} members; at most {MOST_MEMBERS:,} are read"
        raise BadInput(f"The body is too large: {reason}.", errors=[_fault("body", reason)])


def refused(faults: Sequence[Fault], *, of: int = 0, what: str = "job") -> BadInput:
    """One error for the first faults of a job spec; its message names the first and counts all, of which there are `of`
    where that is more than are given."""
    first = f"{faults[0]['field']}: {faults[0]['reason']}"
    count = max(of, len(faults))
    more = f" (and {count - 1} more)" if count > 1 else ""
    return BadInput(f"The {what} is not valid: {first}{more}.", errors=list(faults[:_MOST_FAULTS]))


def _urls(spec: JobSpec) -> Iterator[tuple[str, str]]:
    if spec.url:  # else the workflow says it, and its addresses were checked when it was stored
        yield "url", spec.url
    yield from login_addresses(spec)
    yield from _called(spec)
    if spec.loop is not None and spec.loop.sitemap is not None:
        yield "loop.sitemap.url", spec.loop.sitemap.url
    for index, value in enumerate(spec.loop.values or () if spec.loop and spec.loop.is_link is not False else ()):
        if value.lower().startswith(("http://", "https://")):
            yield f"loop.values[{index}]", value


def _called(spec: JobSpec) -> Iterator[tuple[str, str]]:
    """The addresses that we call ourselves, rather than a browser."""
    if spec.webhook is not None:
        yield "webhook.url", spec.webhook.url
    if spec.help.webhook is not None:
        yield "help.webhook", spec.help.webhook
    for place, people in enumerate(spec.notify or ()):
        if people.by != "email" and people.to.startswith(("http://", "https://")):
            yield f"notify[{place}].to", people.to
    for index, sink in enumerate(spec.sinks):
        if sink.address is not None:
            yield f"sinks[{index}].{sink.kind}", sink.address


def _unstorable(value: Json, path: tuple[str | int, ...]) -> Iterator[Fault]:
    """Yield what JSON can say but the store or other readers of JSON cannot keep as it is."""
    if isinstance(value, str):
        if "\0" in value:
            yield _fault(field_name(path), "must not contain the character U+0000")
    elif isinstance(value, bool):
        return
    elif isinstance(value, int):
        if not -_INT64 <= value < _INT64:
            yield _fault(field_name(path), "is a number of more than 64 bits; send it as a string")
    elif isinstance(value, float):
        if not math.isfinite(value):
            yield _fault(field_name(path), "is a number too large to be kept; send it as a string")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if "\0" in key:
                yield _fault(field_name(path), "has a key with the character U+0000")
            yield from _unstorable(inner, (*path, key))
    elif isinstance(value, Sequence):
        for index, inner in enumerate(value):
            yield from _unstorable(inner, (*path, index))


def _fault(field: str, reason: str) -> Fault:
    return {"field": field, "reason": reason}


def validation_faults(error: ValidationError, model: type[BaseModel], body: bytes = b"") -> list[Fault]:
    """The first of pydantic's errors about the `model` that `body` should be, in our words."""
    if error.error_count() > _MOST_MADE:
        try:
            model.model_validate_json(to_json(_first_parts(from_json(body), 2 * _MOST_FAULTS)), strict=True)
        except ValidationError as first:
            if first.error_count() <= _MOST_MADE:
                return validation_faults(first, model, body)
        return [_fault("body", f"has {error.error_count()} faults")]
    return [
        translate_error(fault, model) for fault in error.errors(include_url=False, include_input=False)[:_MOST_FAULTS]
    ]


def _first_parts(value: Json, most: int = _FIRST_PARTS) -> Json:
    """`value` with its first entries, and the first few of each list and object in it."""
    if isinstance(value, list):
        return [_first_parts(inner) for inner in value[:most]]
    if isinstance(value, dict):
        return {key: _first_parts(inner) for key, inner in islice(value.items(), most)}
    return value


def translate_error(error: ErrorDetails, model: type[BaseModel]) -> Fault:
    """One of pydantic's errors about `model` in our words where its own are about Python."""
    kind, context = error["type"], error.get("ctx", {})
    field = field_name(error["loc"]) or "body"
    if kind == "extra_forbidden":
        of = "schedule" if model is ScheduleSpec and error["loc"][0] != "job" else "job"
        return _fault(field, f"is not a field of a {of}" + _hint(error["loc"], model))
    words = {
        "missing": "is required",
        "model_type": "must be an object",
        "dict_type": "must be an object",
        "tuple_type": "must be an array",
        "string_type": "must be a string",
        "int_type": "must be a whole number",
        "int_from_float": "must be a whole number",
        "float_type": "must be a number",
        "bool_type": "must be true or false",
        "literal_error": "must be {expected}",
        "enum": "must be {expected}",
        "greater_than": "must be more than {gt}",
        "greater_than_equal": "must be at least {ge}",
        "less_than": "must be less than {lt}",
        "less_than_equal": "must be at most {le}",
        "string_too_long": "must have at most {max_length} characters",
        "too_short": "needs at least {min_length}",
        "finite_number": "must be a number",
    }
    if kind in words:
        return _fault(field, words[kind].format(**context))
    if kind == "string_too_short" and context["min_length"] == 1:
        return _fault(field, "must not be empty")
    if field == "policy":
        return _fault(field, "must be auto, model, rules, person or workflow:NAME")
    if field == "learn":
        return _fault(field, "must be auto, off or the name of a workflow")
    return _fault(field, _lowered(error["msg"].removeprefix("Value error, ").replace("Input should", "must")))


def _hint(path: Sequence[str | int], model: type[BaseModel]) -> str:
    """Which field may have been meant by the unknown one at the end of `path`."""
    here: type[BaseModel] | None = model
    for step in path[:-1]:
        if here is None or isinstance(step, int):
            return ""
        here = _part_of(here, step)
    names = [info.alias or name for name, info in here.model_fields.items()] if here else []
    meant = difflib.get_close_matches(str(path[-1]), names, 1) if len(str(path[-1])) <= _LONG_NAME else ()
    return f"; did you mean {meant[0]!r}?" if meant else ""


def _part_of(model: type[BaseModel], field: str) -> type[BaseModel] | None:
    """The model of a part of a spec; None where it is no object of fields."""
    info = next((info for name, info in model.model_fields.items() if field in (name, info.alias)), None)
    kinds = () if info is None else (info.annotation, *get_args(info.annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), None)


def _lowered(text: str) -> str:
    return text[:1].lower() + text[1:]


def field_name(path: Sequence[str | int]) -> str:
    """`path` as callers write it: `loop.values[3]`."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else str(part)
    return text
