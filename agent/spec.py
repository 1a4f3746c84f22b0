"""The job spec: what a caller asks for. Unknown fields are refused by name."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cached_property
from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, field_validator, model_validator
from pydantic_core import PydanticSerializationError, to_json

from shoal.agent.schemas.bounds import LONG_SCHEMA
from shoal.agent.schemas.engine import meta_fault
from shoal.agent.support.bounded_cache import bounded_cache
from shoal.agent.support.json_paths import path_fault
from shoal.agent.support.json_value import Json


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, populate_by_name=True)


def _http_url(text: str) -> str:
    """`text` when it is an absolute http(s) URL with a host.

    Raises:
        ValueError: saying what is wrong with it.
    """
    try:
        parts = urlsplit(text.strip())
        _ = parts.port
    except ValueError as err:
        raise ValueError(f"not a URL: {err}") from err
    if parts.scheme.lower() not in ("http", "https"):
        instead = f", not with {parts.scheme}:" if parts.scheme else ""
        raise ValueError(f"must start with http:// or https://{instead}")
    if not parts.hostname:
        raise ValueError("has no host name")
    if parts.username or parts.password:
        raise ValueError("must not carry a user name or password; use `secrets`")
    return text.strip()


HttpUrl = Annotated[str, AfterValidator(_http_url)]


def schema_text(schema: Mapping[str, Json]) -> str:
    """A JSON Schema as text, by which what was found out about it is remembered."""
    try:
        return to_json(schema).decode()
    except PydanticSerializationError:  # nested deeper than it goes, or with half of a surrogate pair
        return json.dumps(schema)


@bounded_cache(512, longest=LONG_SCHEMA)
def _schema_fault(text: str) -> str | None:
    """What is wrong with a JSON Schema; None when nothing is.

    Remembered, because a check takes a millisecond and the jobs of a batch mostly share their schema.
    """
    return meta_fault(json.loads(text))


Reader = Literal[
    "text", "number", "integer", "price", "currency", "boolean", "date", "datetime", "url", "email"
]  # fmt: skip


class FieldPlace(_Part):
    """Where a page states one field: exactly one of `select`, `label`, `column` and `json`."""

    select: str | None = Field(None, min_length=1, description="CSS selector of the element, within its record")
    attribute: str | None = Field(
        None, min_length=1, description="with `select`: the element's attribute is the value, rather than its text"
    )
    all: bool = Field(False, description="with `select`: the values of all elements that it finds, as a list")
    label: str | None = Field(None, min_length=1, description="what the page calls the value, such as `UPC`")
    column: str | None = Field(None, min_length=1, description="header of the table's column")
    json_path: str | None = Field(
        None,
        alias="json",
        min_length=1,
        description="JSONPath in the page's JSON-LD and other JSON, in JSON that its scripts fetched, or in a JSON "
        "document, such as `$.offers.price`",
    )
    reader: Reader | None = Field(None, description="how the value is read; default: by the field's type in `schema`")

    @model_validator(mode="after")
    def _one_place(self) -> FieldPlace:
        given = [name for name in _PLACES if getattr(self, name) is not None]
        if len(given) != 1:
            said = f"has {' and '.join(map(_spelled, given))}" if given else "says no place"
            raise ValueError(f"{said}: give exactly one of `select`, `label`, `column` and `json`")
        if self.select is None and (self.attribute is not None or self.all):
            name = "attribute" if self.attribute is not None else "all"
            raise ValueError(f"`{name}` goes with `select` only: leave it out, or say the place by `select`")
        fault = path_fault(self.json_path) if self.json_path is not None else None
        if fault is not None:
            raise ValueError(f"`json` {fault}")
        return self

    @property
    def kind(self) -> str:
        """Which of the four it is, as a job spells it."""
        return next(_spelled(name) for name in _PLACES if getattr(self, name) is not None)

    @property
    def query(self) -> str:
        """The selector, label, column or path itself."""
        return next(str(value) for name in _PLACES if (value := getattr(self, name)) is not None)


_PLACES = ("select", "label", "column", "json_path")


def _spelled(name: str) -> str:
    return name.removesuffix("_path")


_READER_TYPES: dict[str | None, dict[str, Json]] = {
    "number": {"type": "number"},
    "price": {"type": "number"},
    "integer": {"type": "integer"},
    "boolean": {"type": "boolean"},
    "date": {"type": "string", "format": "date"},
    "datetime": {"type": "string", "format": "date-time"},
    "url": {"type": "string", "format": "uri"},
    "email": {"type": "string", "format": "email"},
}


def _schema_of(fields: Json, *, many: bool) -> dict[str, Json] | None:
    """The schema of a job that gives `fields` and none: each is required, and a text unless its reader says otherwise.

    None for what are no fields: the checks of their own say so.
    """
    properties: dict[str, Json] = {}
    for name, place in fields.items() if isinstance(fields, Mapping) else ():
        given = place.model_dump() if isinstance(place, FieldPlace) else place
        if not isinstance(given, Mapping):
            return None
        item_schema = _READER_TYPES.get(str(given.get("reader")), {"type": "string"})
        properties[str(name)] = {"type": "array", "items": item_schema} if given.get("all") is True else item_schema
    if not properties:
        return None
    record: dict[str, Json] = {"type": "object", "properties": properties, "required": list(properties)}
    return {"type": "array", "items": record} if many else record


class ExtractSpec(_Part):
    """What to read from a page."""

    goal: str | None = Field(None, description="what to read, in words")
    json_schema: dict[str, Json] | None = Field(
        None,
        alias="schema",
        description="JSON Schema (2020-12) of one record, or of an array of records; with `fields` it may be left out",
    )
    fields: dict[str, FieldPlace] = Field(
        default_factory=dict, description="where fields are, by name; the others are found"
    )
    records: str | None = Field(
        None,
        min_length=1,
        description="what one record of an array is: a CSS selector, or the JSONPath of a JSON document's entries",
    )
    next: str | None = Field(
        None, min_length=1, description="CSS selector or words of the link or button to the next page of records"
    )
    max_pages: int = Field(100, ge=1, le=10_000, description="with `next`: so many pages are read at most")
    wait_for: str | None = Field(
        None, min_length=1, description="CSS selector of what must be on the page before it is read"
    )
    accept: Literal["certain", "likely", "weak"] = Field(
        "likely",
        description="how sure a value must at least be to be given; what is less sure is listed as a candidate",
    )

    @model_validator(mode="before")
    @classmethod
    def _made_of_fields(cls, given: Json) -> Json:
        if not isinstance(given, Mapping) or given.get("schema") is not None or given.get("json_schema") is not None:
            return given
        schema = _schema_of(given.get("fields"), many=given.get("records") is not None)
        return given if schema is None else {**given, "schema": schema}

    @field_validator("json_schema")
    @classmethod
    def _is_schema(cls, schema: dict[str, Json] | None) -> dict[str, Json] | None:
        if schema is None:
            return None
        fault = _schema_fault(schema_text(schema))
        if fault is not None:
            raise ValueError(fault)
        if schema.get("type", "object") not in ("object", "array"):
            raise ValueError("must describe an object (one record) or an array of objects")
        return schema

    @field_validator("records")
    @classmethod
    def _is_path(cls, records: str | None) -> str | None:
        fault = path_fault(records) if records is not None and records.startswith("$") else None
        if fault is not None:
            raise ValueError(fault)
        return records

    @model_validator(mode="after")
    def _says_something(self) -> ExtractSpec:
        if self.goal is None and self.json_schema is None:
            raise ValueError("needs `goal`, `schema`, `fields` or several of these")
        return self

    @model_validator(mode="after")
    def _fits_together(self) -> ExtractSpec:
        for fault in (self._unknown_field(), self._list_fault()):
            if fault is not None:
                raise ValueError(fault)
        return self

    @property
    def asks_json(self) -> bool:
        """Whether the job names a place in the page's JSON."""
        in_json = any(place.kind == "json" for place in self.fields.values())
        return in_json or (self.records is not None and self.records.startswith("$"))

    def _unknown_field(self) -> str | None:
        """A field that the schema does not have; where the schema refers to others, that cannot be told here."""
        schema = self.record_schema or {}
        known = schema.get("properties")
        if not isinstance(known, Mapping) or schema.keys() & {"$ref", "allOf", "anyOf", "oneOf", "patternProperties"}:
            return None
        name = next((name for name in self.fields if name not in known), None)
        return name and f"`fields.{name}` is no property of `schema`; it has: {', '.join(map(str, known))}"

    def _list_fault(self) -> str | None:
        """Why what is said of a list does not go with the rest."""
        if not self.many:
            name = "records" if self.records is not None else "next" if self.next is not None else None
            hint = 'give {"type": "array", "items": …} as `schema`'
            return name and f"`{name}` is for a list, and `schema` describes one record: {hint}"
        in_json = self.records is not None and self.records.startswith("$")
        for name, place in self.fields.items():
            if self.records is None and place.kind != "column":
                return (
                    f"`fields.{name}` is the place in one record: give `records`, the CSS selector of what a record is"
                )
            if in_json and place.kind != "json":
                return f"`fields.{name}` must be a `json` path within one record, since `records` is a JSONPath"
            if self.records is not None and not in_json and place.kind == "json":
                return f"`fields.{name}` is a `json` path, and `records` elements: give `records` as a JSONPath"
        return None

    @property
    def many(self) -> bool:
        """True when the schema asks for an array of records from one page."""
        return (self.json_schema or {}).get("type") == "array"

    @property
    def record_schema(self) -> dict[str, Json] | None:
        """The schema of one record, also when `schema` asks for an array of them."""
        if self.json_schema is None or not self.many:
            return self.json_schema
        items = self.json_schema.get("items")
        return items if isinstance(items, dict) else {"type": "object"}


class LoopFrom(_Part):
    """Where a loop's values are collected."""

    select: str = Field(min_length=1, description="CSS selector of the items, or words that name them")
    next: str | None = Field(None, description="CSS selector or words of the link to the next page")
    max_pages: int = Field(100, ge=1, le=100_000, description="stop collecting after so many pages")


class LoopSpec(_Part):
    """The same work for each of many values, each in a session of its own."""

    values: tuple[str, ...] | None = Field(None, description="the values, in order")
    source: LoopFrom | None = Field(None, alias="from", description="where to collect the values")
    is_link: bool | None = Field(
        None, description="the values are URLs to open; default: true for collected links and http(s) values"
    )
    max_items: int | None = Field(None, ge=1, description="stop collecting after so many items")
    concurrency: int | None = Field(None, ge=1, description="at most so many items at once")
    on_error: Literal["continue", "stop"] = Field(
        "continue", description="what a failed item does to the items that have not begun"
    )
    loop: LoopSpec | None = Field(None, description="each item is itself a loop: how its items are found")

    @cached_property  # asked before each action, of perhaps 100,000 values
    def has_rows(self) -> bool:
        """Whether some of its values are details for forms: JSON objects, each of them one item's data."""
        own = any(value.lstrip().startswith("{") for value in self.sample or ())
        return own or (self.loop is not None and self.loop.has_rows)

    @cached_property
    def sample(self) -> tuple[str, ...] | None:
        """One of its values for all of them: the first that is a row, where there is one."""
        values = self.values
        return values and (next((value for value in values if value.lstrip().startswith("{")), values[0]),)

    def below(self, depth: int) -> LoopSpec:
        """Itself, with a sample for the values of its first `depth` levels."""
        if depth <= 0:
            return self
        return self.model_copy(update={"values": self.sample, "loop": self.loop and self.loop.below(depth - 1)})

    @model_validator(mode="after")
    def _one_source(self) -> LoopSpec:
        if (self.values is None) == (self.source is None):
            raise ValueError("needs exactly one of `values` and `from`")
        if self.values is not None and not self.values:
            raise ValueError("`values` is empty: the loop has nothing to do")
        return self


class Viewport(_Part):
    """Size of the page in CSS pixels."""

    width: int = Field(1280, ge=200, le=7680, description="CSS pixels")
    height: int = Field(800, ge=200, le=4320, description="CSS pixels")


class ProxySpec(_Part):
    """A proxy for this job's browsers."""

    server: str = Field(description="http://host:port, https:// or socks5://")
    bypass: str | None = Field(None, description="hosts that are reached without the proxy, separated by commas")
    username: str | None = Field(None, description="for a proxy that asks for one")
    password: str | None = Field(None, description="use secret:NAME rather than the password itself")


class BrowserSpec(_Part):
    """How the browser of this job looks."""

    viewport: Viewport = Viewport()
    locale: str | None = Field(None, description="BCP 47, such as de-DE")
    timezone: str | None = Field(None, description="IANA name, such as Europe/Berlin")
    user_agent: str | None = Field(None, description="sent instead of the installation's own")
    headers: dict[str, str] = Field(default_factory=dict, description="sent with every request")
    proxy: ProxySpec | None = None
    storage_state: str | None = Field(None, description="artifact id or profile name of a saved login")
    block: tuple[Literal["image", "font", "media", "stylesheet", "script"], ...] = Field(
        (), description="resource types that are not fetched"
    )
    dialogs: Literal["accept", "dismiss"] = Field(
        "accept", description="how a page's confirms and prompts are answered; alerts are always accepted"
    )
    isolation: Literal["reset", "fresh"] = Field(
        "reset", description="items of a loop get a context that an earlier item used, emptied, or always a new one"
    )
    headless: bool = Field(True, description="false: a visible browser; not available in this version")
    attach: str | None = Field(None, description="DevTools address of a browser that runs already")


class PolitenessSpec(_Part):
    """How gently this job treats sites. The operator's limits hold too; the stricter one wins."""

    robots: bool = Field(True, description="obey robots.txt")
    per_domain: int | None = Field(None, ge=1, description="sessions on one domain at once")
    delay_s: float = Field(
        0.0, ge=0, le=3600, description="seconds between session starts, and between pages, on one domain"
    )


class SecretUse(_Part):
    """Where this job may fill in a stored secret: of the sites that it is bound to, those of these domains."""

    domains: tuple[str, ...] = Field(min_length=1, description="host names; sub-domains are included")


class BudgetSpec(_Part):
    """How many model tokens, prompt and reply together as the server counts them, may be spent; none: no limit."""

    step_tokens: int | None = Field(None, ge=1, description="of one decision, with what it has to ask again")
    session_tokens: int | None = Field(None, ge=1, description="of one session, over all its attempts")
    job_tokens: int | None = Field(
        None, ge=1, description="of all sessions; those that run when it is used up stop at their own next request"
    )


class SightSpec(_Part):
    """What a model is shown of pages."""

    observations: int = Field(
        1, ge=1, le=10, description="the last so many pages with text and picture; older ones keep action and result"
    )
    page_parts: int = Field(
        1, ge=1, le=10, description="pictures of the page, one screen each from its top; 1: what the window shows"
    )
    marks: bool = Field(False, description="a second picture with the elements' numbers painted in, beside the plain")


class HelpSpec(_Part):
    """Answers that only people know: verification codes, questions, captchas. A TOTP key goes first for codes."""

    webhook: HttpUrl | None = Field(
        None, description="gets each question by POST; answers 200 with `answer`, or 202 to be asked again"
    )
    person: bool = Field(False, description="ask the people who watch this installation")
    timeout_s: float = Field(300.0, gt=0, le=3600, description="seconds until a question counts as unanswered")


class ArtifactsSpec(_Part):
    """What evidence is kept."""

    screenshots: Literal["all", "errors", "none"] = Field("all", description="which sessions keep pictures of pages")
    evidence: Literal["screenshot", "document"] = Field(
        "screenshot",
        description="what shows later where a record is from: a picture of the page, or its HTML; with `document`, "
        "pages of a loop may be read without a browser, where that was seen to give the same",
    )
    recording: bool = Field(
        False,
        description="each session's pages as they changed, to be played again; values of fields and what was chosen "
        "are left out, and pictures that pages load",
    )
    trace: bool = Field(
        False,
        description="Playwright's trace of each session: its calls, what pages looked like, and their requests; values "
        "of fields, what was typed, bodies and cookies are left out",
    )
    har: bool = Field(
        False,
        description="each session's requests as a HAR file; bodies and cookies are left out, and values of headers "
        "that are not common",
    )
    retention_days: int | None = Field(
        None, ge=1, description="days until the finished job is dropped; default: the installation's setting"
    )

    @property
    def traced(self) -> bool:
        """Whether what a session's browser does is recorded."""
        return self.trace or self.har


class WebhookSpec(_Part):
    """Where to tell that the job has ended."""

    url: HttpUrl = Field(description="gets each message by POST, signed")
    events: tuple[Literal["job.finished", "session.finished"], ...] = Field(
        ("job.finished",), description="which events are sent"
    )


class LoginStep(_Part):
    """One step of a login: exactly one of `open`, `fill`, `choose`, `click`, `press` and `wait_for`."""

    open: HttpUrl | None = Field(None, description="an address to open")
    fill: str | None = Field(None, min_length=1, description="CSS selector of the field that gets `value`")
    choose: str | None = Field(
        None, min_length=1, description="CSS selector of the select; `value` is the option's text"
    )
    value: str | None = Field(
        None, description="with `fill` and `choose`; use secret:NAME rather than a password itself"
    )
    click: str | None = Field(None, min_length=1, description="CSS selector of what is clicked")
    press: str | None = Field(None, min_length=1, description="a key, such as Enter, where the focus is")
    wait_for: str | None = Field(None, min_length=1, description="CSS selector of what must be on the page")

    @model_validator(mode="after")
    def _one_thing(self) -> LoginStep:
        given = [name for name in _STEPS if getattr(self, name) is not None]
        if len(given) != 1:
            said = f"has {' and '.join(given)}" if given else "says nothing to do"
            raise ValueError(f"{said}: give exactly one of {', '.join(f'`{name}`' for name in _STEPS)}")
        if (self.value is not None) != (given[0] in ("fill", "choose")):
            raise ValueError("`value` goes with `fill` and `choose`, and these need one")
        return self

    @property
    def kind(self) -> str:
        """Which of the six it is."""
        return next(name for name in _STEPS if getattr(self, name) is not None)

    @property
    def what(self) -> str:
        """The address, selector or key."""
        return str(getattr(self, self.kind))


_STEPS = ("open", "fill", "choose", "click", "press", "wait_for")


class LoginSpec(_Part):
    """How the job logs in, before anything else is done: by a form's data, or by steps."""

    url: HttpUrl = Field(description="the page with the login's form")
    data: dict[str, Json] | None = Field(
        None, min_length=1, description="what to fill into the form; use secret:NAME rather than the password itself"
    )
    steps: tuple[LoginStep, ...] | None = Field(
        None, min_length=1, max_length=50, description="what to do instead, one step after the other"
    )
    goal: str = Field("log in", min_length=1, description="what the form is for, in words, where a page has several")

    @model_validator(mode="after")
    def _one_way(self) -> LoginSpec:
        if (self.data is None) == (self.steps is None):
            raise ValueError("needs exactly one of `data` and `steps`")
        return self


class JobSpec(_Part):
    """One job. Only `url` and one of `goal`, `extract` and `loop` are required."""

    url: HttpUrl = Field(description="where to start")
    goal: str | None = Field(None, min_length=1, description="what is wanted, in plain language")
    data: Json = Field(None, description="the caller's details for forms and goals (any JSON)")
    login: LoginSpec | None = Field(
        None, description="logs in once, before the start URL is opened; all items of a loop are logged in by it"
    )
    extract: ExtractSpec | None = None
    loop: LoopSpec | None = None
    policy: str = Field(
        "auto",
        pattern=r"^(auto|model|rules|person|workflow:[a-z0-9][a-z0-9._-]{0,99}(@[0-9]{1,6})?)$",
        description="who decides: `auto` (the model where one is configured, else rules), `model`, `rules`, "
        "`person` (nothing is done before a person takes the page over, and a workflow is drafted of what they do), or "
        "`workflow:NAME`, which replays the workflow's active version; `workflow:NAME@2` replays version 2",
    )
    workflow: dict[str, Json] | None = Field(
        None,
        description="with `policy: workflow:NAME`: the workflow itself, with the one version to replay; default: "
        "the one of this name that is stored, as it is when the job is handed in",
    )
    on_miss: Literal["model", "fail"] = Field(
        "model",
        description="with `policy: workflow:NAME`: what follows where a page is not as the workflow knows it: `model` "
        "(a model goes on, where one is configured), or `fail` (the item ends with `workflow_miss`)",
    )
    learn: str = Field(
        "auto",
        pattern=r"^(auto|off|[a-z0-9][a-z0-9._-]{0,99}(@[0-9]{1,6})?)$",
        description="how a loop learns from its first items, which its own policy works out: `auto` (loops of more "
        "than 20 items learn where a model decides, or where rules decide and pages may be read without a browser; "
        "they begin with the workflow that an earlier job learned for the same site, goal and schema), `off`, or the "
        "name of the stored workflow to begin with; `NAME@2` is its version 2",
    )
    complete_criterion: str | None = Field(None, description="what must hold on the page when the goal is reached")
    error_codes: dict[str, str] = Field(default_factory=dict, description="the caller's codes: code to meaning")
    allow_terminate: bool = Field(True, description="whether a session may end because the goal cannot be reached")
    sample: int | None = Field(
        None,
        ge=1,
        le=10,
        description="a sample of the work: of each loop only the first so many items are opened, lists are read from "
        "few pages, no form is sent but the login's, and places for `extract.fields` are proposed",
    )
    max_steps: int = Field(50, ge=1, le=10_000, description="steps of one session")
    deadline_s: float | None = Field(None, gt=0, description="seconds from submission to the end of the job")
    max_attempts: int = Field(3, ge=1, le=100, description="attempts of one session")
    action_sets: tuple[str, ...] = Field((), description="names from `shoal actions`; empty: the default sets")
    grounding: Literal["bid", "mark", "attributes", "choice", "coordinates"] = Field(
        "bid", description="how a model names the element that it acts on"
    )
    repeatable: bool | None = Field(
        None,
        description="false: a submitting action is never repeated after a crash; default: true where neither `data` "
        "nor the values of a loop hold details for forms",
    )
    browser: BrowserSpec = Field(default_factory=BrowserSpec)  # as a default it would be deep-copied for each job
    politeness: PolitenessSpec = PolitenessSpec()
    secrets: dict[str, SecretUse] = Field(default_factory=dict, description="stored secrets by name")
    totp: str | None = Field(None, description="name of the secret that holds the TOTP key")
    help: HelpSpec = HelpSpec()
    budget: BudgetSpec = BudgetSpec()
    sight: SightSpec = SightSpec()
    artifacts: ArtifactsSpec = ArtifactsSpec()
    webhook: WebhookSpec | None = None
    priority: int = Field(0, ge=-100, le=100, description="10 more is twice the share within a tenant")
    labels: dict[str, str] = Field(default_factory=dict, description="the caller's own names and values, to filter by")
    idempotency_key: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="a job that is handed in again with the same key is the same job",
    )

    @model_validator(mode="after")
    def _wants_something(self) -> JobSpec:
        if self.goal is None and self.extract is None and self.loop is None and self.policy != "person":
            raise ValueError("needs at least one of `goal`, `extract` and `loop`")
        return self

    @property
    def wants_codes(self) -> bool:
        """Whether something here can answer when a page asks for a verification code."""
        return self.totp is not None or self.help.webhook is not None or self.help.person

    @property
    def may_repeat(self) -> bool:
        """Whether a submitting action may run again after a crash: not where details are given to be sent."""
        if self.repeatable is not None:
            return self.repeatable
        return self.data is None and not (self.loop is not None and self.loop.has_rows)

    def below(self, depth: int) -> JobSpec:
        """What a session at `depth` needs of it: each of those above has its own values, of which one stands for all.

        A loop may have 100,000 values, and each of its items is a session that is sent its spec.
        """
        if depth <= 0 or self.loop is None:
            return self
        return self.model_copy(update={"loop": self.loop.below(depth)})

    def loop_at(self, depth: int) -> LoopSpec | None:
        """The loop that a session at `depth` has to do: the outermost for the root, None for the leaves."""
        loop = self.loop
        for _ in range(depth):
            loop = loop.loop if loop else None
        return loop
