"""The vocabulary of a session: frozen records, a comment per field. Imports only what is as plain."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum
from typing import Literal

from shoal.agent.artifact_kind import ArtifactKind
from shoal.agent.error_info import ErrorInfo
from shoal.agent.replay_detail import ReplayDetail
from shoal.agent.status import Status
from shoal.agent.support.json_value import Json, row_of
from shoal.agent.sureness import Audited, Sureness

TaskType = Literal["navigate", "extract", "loop", "answer"]
Button = Literal["left", "middle", "right"]  # of a mouse
Modifier = Literal["Alt", "Control", "ControlOrMeta", "Meta", "Shift"]  # held during a click


# --- what a page gives -------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Box:
    """A rectangle in CSS pixels, relative to the viewport's top left corner."""

    x: float
    y: float
    width: float
    height: float


@dataclass(frozen=True, slots=True)
class Element:
    """One node of the element tree that an observation shows."""

    bid: str  # id for actions: digits, with one letter per nested frame before them ("12", "a46"); "" for plain text
    tag: str  # lower-case tag name; "#text" for text between elements
    role: str = ""  # ARIA role, explicit or implied
    name: str = ""  # accessible name
    text: str = ""  # visible text that belongs to this element itself
    # type, placeholder, value, href, title, alt, aria-*, name
    attributes: Mapping[str, str] = field(default_factory=dict)
    options: tuple[tuple[str, str, bool], ...] = ()  # of a select: (label, value, selected)
    disabled_options: frozenset[int] = frozenset()  # positions in `options` that cannot be chosen
    states: frozenset[str] = frozenset()  # checked, disabled, expanded, selected, required, invalid, focused, readonly
    box: Box | None = None  # where it is; None when it has no box
    visible: bool = True  # rendered, not hidden by style
    in_viewport: bool = True  # some of it can be seen without scrolling
    clickable: bool = False  # takes clicks, by its kind, role, listener or cursor
    chooses: bool = False  # a field: what it sends is chosen from a list that it opens
    marked: bool = False  # carries a number in the set-of-marks image
    children: tuple[Element, ...] = ()  # in document order, frames and shadow roots included


@dataclass(frozen=True, slots=True)
class TabInfo:
    """One open tab."""

    url: str
    title: str


@dataclass(frozen=True, slots=True)
class DialogSeen:
    """A JavaScript dialog since the last step, and how it was answered."""

    kind: str  # alert, confirm, prompt, beforeunload
    message: str
    answer: str  # accepted, dismissed, or the text that was entered


@dataclass(frozen=True, slots=True)
class Download:
    """A file that the page gave since the last step."""

    filename: str  # as the site suggests it
    url: str
    bytes: int
    artifact: str | None = None  # artifact id once stored
    text: str = ""  # parsed text of a PDF or of a text file, clipped
    path: str = ""  # where it lies on the worker while its context is open


@dataclass(frozen=True, slots=True)
class Observation:
    """A page at one moment; the source of everything a policy decides."""

    url: str
    title: str
    elements: Element  # the root of the tree
    goal: str = ""
    messages: tuple[tuple[str, str], ...] = ()  # chat: (role, text)
    tabs: tuple[TabInfo, ...] = ()
    active_tab: int = 0
    screenshot: bytes | None = None  # encoded image of the viewport
    marked_screenshot: bytes | None = None  # the same with set-of-marks
    focused: str = ""  # bid of the focused element, "" when none
    scroll: tuple[float, float] = (0.0, 0.0)  # CSS pixels
    viewport: tuple[int, int] = (0, 0)  # CSS pixels
    page_size: tuple[float, float] = (0.0, 0.0)  # CSS pixels
    last_action: str = ""  # as a call in BrowserGym notation
    last_error: str = ""  # message of the last action's error, "" when it worked
    elapsed_s: float = 0.0  # since the session began
    dialogs: tuple[DialogSeen, ...] = ()
    downloads: tuple[Download, ...] = ()
    console_errors: tuple[str, ...] = ()
    omitted: int = 0  # elements that the budget cut; ask for the next part to see them
    cut: bool = False  # the budget cut something, were it only text
    beyond: bool = False  # the page holds more than one look gives, whatever the budget
    drawn: bool = False  # the window shows a canvas, a chart or a picture without words
    in_progress: str = ""  # what the page was still busy with after all waiting, in words


# --- what is done ------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Action:
    """One call of a primitive from `shoal.agent.actions`."""

    name: str  # the primitive, e.g. "click"
    args: Mapping[str, Json] = field(default_factory=dict)  # by parameter name
    reasoning: str = ""  # why, in the policy's words; no user data in it
    submits: bool = False  # may send, pay or book: must not be repeated when the job says so
    target: str = ""  # what the page calls the element that it is for, where the policy knows it
    detail: str = field(default="", compare=False)  # what a model says that it took from the job; never stored


@dataclass(frozen=True, slots=True)
class Effect:
    """The effect of an action."""

    url: str | None = None  # the new URL, None when it stayed
    new_tab: bool = False
    dialog: bool = False
    download: bool = False
    dom_changed: bool = False
    focus: str | None = None  # bid that has the focus now, None when unchanged
    value: str | None = None  # value now in the field that was acted on
    appeared: tuple[str, ...] = ()  # the first elements and texts that came into sight: link "Edit"
    appeared_count: int = 0  # of all of them
    went: tuple[str, ...] = ()  # the first of those that can no longer be seen
    went_count: int = 0
    fields: tuple[tuple[str, str], ...] = ()  # the first other fields that hold something else now: name, what it holds
    fields_count: int = 0
    invalid: tuple[str, ...] = ()  # fields that are marked as wrong now and were not before
    unchanged: bool = False  # nothing of all this was seen to change, nor anything else on the page


@dataclass(frozen=True, slots=True)
class ActionResult:
    """One performed action."""

    action: Action
    error: ErrorInfo | None = None  # None when it worked
    effect: Effect = Effect()
    value: Json = None  # what the primitive returns, if anything
    seconds: float = 0.0
    box: Box | None = None  # of its element on the page, where the step's picture shows it; None: unknown


@dataclass(frozen=True, slots=True)
class BeforeSending:
    """The page just before a form was sent, which the site's answer is compared with. No values of fields."""

    loaded: float = 0.0  # when the document began to load, in ms
    said: tuple[str, ...] = ()  # its messages and the texts beside its forms, folded and clipped
    thanks: tuple[str, ...] = ()  # words of thanks that it held already
    fields: tuple[str, ...] = ()  # of the form, by name
    shown: tuple[str, ...] = ()  # the details whose value it showed already, by key
    placed: tuple[str, ...] = ()  # the details that stood in the form's fields, by key
    purpose: str = ""  # what the form is for, where it says so
    method: str = ""  # of the form


@dataclass(frozen=True, slots=True)
class PageError:
    """An error that a page's console or the network told."""

    kind: Literal["console", "network"]
    text: str
    where: str = ""  # network: the address that was asked for; console: the script and its line; "" unknown
    times: int = 1  # it came so often


@dataclass(frozen=True)
class PageErrors:
    """Errors that pages told in some time."""

    told: tuple[PageError, ...] = ()  # each once, in the order in which they came first
    left_out: int = 0  # how many more came


@dataclass(frozen=True, slots=True)
class Step:
    """One observe, decide, act."""

    index: int  # within its task, from 0
    url: str  # where it was decided
    thought: str  # the policy's reason
    results: tuple[ActionResult, ...]  # in the order they ran
    screenshot: str | None = None  # artifact id
    prompt: str | None = None  # artifact id of prompt and reply, when a model was asked
    seconds: float = 0.0
    before: BeforeSending | None = None  # the page before it, when it sends a form
    expected: str = ""  # what its actions were to bring about and the page did not show then; "" when nothing is open
    at: str = ""  # when its actions began, as ISO 8601 in UTC; "" unknown
    page_errors: PageErrors = PageErrors()  # that came since the step before it ended
    shows: Box | None = None  # the part of the page that its picture shows; None: unknown


Tier = Literal["", "http", "page", "session"]
"""`http`: read without a browser; `page`: a page that was only read; `session`: one that was acted on; "": unknown."""


class Reason(StrEnum):
    """Why a value is as sure as it is."""

    GIVEN = "the job says where the value stands"
    AGREED = "two places of different kinds say the same"
    BORNE_OUT = "structured data, and the visible page says the same"
    ONE_PLACE = "one place names the field and states the value"
    BY_FORM = "the value was told by its form, without a label"
    UNSEEN = "the visible page does not state the value"
    CONTRADICTED = "structured data and the visible page differ"
    LOOSE_NAME = "the place is named only similarly to the field"
    AMBIGUOUS = "several places state different values"
    QUOTED = "a model read the value, and the page states it"
    CONCLUDED = "a model concluded the value, and the page does not state it word for word"


@dataclass(frozen=True)
class FieldSource:
    """The source of a field's value."""

    how: str  # json-ld, microdata, rdfa, meta, table, label, selector, request (fetched JSON), model, ...
    where: str  # selector of the element, or the text that was found
    confirmed: bool  # the page visibly shows the value, it is not weak, and no structured data says otherwise
    sureness: Sureness = "likely"
    why: str = ""  # the reason for `sureness`, one of `Reason`
    box: Box | None = None  # of its element on the record's picture, from the page's top left corner; None: unknown
    called: str = ""  # the word of the field glossary by which the place is known; "": the field's own words


@dataclass(frozen=True, slots=True)
class RecordPicture:
    """A picture of the page that a record was read from, taken while the page stood as it was read."""

    artifact: str  # id
    shows: Box  # the part of the page, from its top left corner


@dataclass(frozen=True, slots=True)
class PageVersion:
    """Which version of its page's document a record was read from."""

    page: str  # names the page among those of its job: `page_key` of the item's value
    url: str  # of the document, without fragment
    etag: str = ""  # "": the site told none
    modified: str = ""  # Last-Modified as the site told it; "": none by which two versions can be told apart
    digest: str = ""  # SHA-256 of the document
    asked_at: str = ""  # when it was asked for, ISO 8601 in UTC; "": an earlier version of Shoal has not kept that


@dataclass(frozen=True, slots=True)
class CarriedOver:
    """The source of a record that was not read anew, since its page had not changed."""

    session: str  # id of the session that read it
    by: str  # not_modified: the site said so; same_content: the document was the same; sitemap: its sitemap says so


@dataclass(frozen=True, slots=True)
class FieldCandidate:
    """A value that a page may state for a field, and that was not given: it is weak, or others are as good."""

    value: Json
    how: str  # as in FieldSource
    where: str  # as in FieldSource
    sureness: Sureness
    why: str  # one of `Reason`


@dataclass(frozen=True)
class Record:
    """One extracted record, valid against the job's schema."""

    value: Json
    sources: Mapping[str, FieldSource] = field(default_factory=dict)  # by field name
    url: str = ""  # the page it was read from
    at: str = ""  # ISO 8601, UTC
    candidates: Mapping[str, tuple[FieldCandidate, ...]] = field(default_factory=dict)  # of fields not given, by name
    tier: Tier = ""  # what it was read by
    workflow: str = ""  # workflow and version that read it, as `NAME@2`; "" for none
    audit: Audited = ""  # of a record that a workflow read
    picture: RecordPicture | None = None  # None: the job keeps none, or the page was another by then
    version: PageVersion | None = None  # kept where the next run is to know; None: it was not read from the document
    carried_over: CarriedOver | None = None  # None: this run read it


@dataclass(frozen=True)
class EarlierReading:
    """The records that an earlier run read from an item's page, without any doubt."""

    session: str  # id of the session that has the records
    records: tuple[Record, ...]  # each with the version of its page


# --- answers -----------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Quotation:
    """Words of a page that an answer rests on."""

    text: str  # as the answer quotes them
    url: str  # the page that shows them
    where: str  # the page's text around them


@dataclass(frozen=True, slots=True)
class Computation:
    """A value that an answer computes; code has made the arithmetic again."""

    operation: str  # sum, average, count, minimum, maximum, difference, product, quotient, percentage, comparison
    values: tuple[Json, ...]  # what it is computed from; each stands on a page or in a record
    result: Json  # a number, rounded to the digits that it has; of a comparison: less, equal or greater


@dataclass(frozen=True, slots=True)
class Basis:
    """The evidence that an answer rests on."""

    quotations: tuple[Quotation, ...] = ()
    records: tuple[int, ...] = ()  # positions among the session's records, from 0
    computed: Computation | None = None  # None: nothing was computed


@dataclass(frozen=True)
class Task:
    """One finished navigate, extract, loop or answer of a session."""

    type: TaskType
    plan: str  # the mini goal
    status: Status  # completed, terminated or failed; waiting for a loop that has fanned out
    result: Json = None  # what it gave: text, counts; records live in the outcome
    reason: str = ""  # why it ended so
    steps: tuple[Step, ...] = ()
    seconds: float = 0.0
    ends_goal: bool = False  # it was all that was left of the session's goal: no further plan is asked for
    rests_on: Basis | None = None  # of an answer


@dataclass(frozen=True)
class Usage:
    """The model calls, tokens and pages of a session."""

    model_calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0  # prompt tokens that the server took from its prefix cache
    pages: int = 0  # navigations
    carried_over: int = 0  # items that were not read anew, since their page had not changed

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.model_calls + other.model_calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
            self.pages + other.pages,
            self.carried_over + other.carried_over,
        )

    def share(self, number: int, of: int) -> Usage:
        """Return the share of record `number` (from 0) of `of` records, in whole numbers; the shares add up to this."""
        return Usage(*(spent // of + (number < spent % of) for spent in astuple(self)))


# --- what a session is given, and what it gives back --------------------------------------------------


@dataclass(frozen=True)
class LoopItem:
    """One value of a loop."""

    index: int  # position in the loop, from 0
    value: str  # a URL when is_link, else words or JSON text
    is_link: bool
    label: str = ""  # what the page calls it (the link's text), "" when unknown
    page: str = ""  # of a row: the address of the page where it stood; "" for the job's own address
    turns: int = 0  # of a row: how often scripts turned that page, or made it grow, before the row stood there
    modified: str = ""  # of a sitemap's page: when it changed last, as the sitemap says; "": it does not

    @property
    def row(self) -> Json:
        """The object or list that the item is as JSON text; None for any other item."""
        return None if self.is_link else row_of(self.value)


@dataclass(frozen=True, slots=True)
class ChildrenSummary:
    """The results of a finished loop, which its parent is told when it goes on."""

    expected: int
    completed: int
    failed: int  # failed, terminated, unsure or canceled
    samples: tuple[Json, ...] = ()  # the first few records, for the task history
    failures: tuple[str, ...] = ()  # the first few items that gave nothing: which, and why, in words


@dataclass(frozen=True, slots=True)
class FieldGlossary:
    """Names that pages may use for the fields of a job's schema, by a model that was asked once."""

    entries: Json  # as a schema holds them under `x-glossary`; {}: there are none
    told: str = ""  # why there are none, or what of the answer was left out
    silent_s: float = 0.0  # the model did not answer: for so long no session asks again; twice as long each time


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """The state that a session needs to go on elsewhere after its last finished task. JSON-able."""

    history: tuple[Task, ...] = ()
    url: str = ""  # where the page was
    storage_state: Json = None  # cookies and origins' storage, in Playwright's format
    records: tuple[Record, ...] = ()  # extracted so far
    usage: Usage = Usage()
    pending_action: str = ""  # an unrepeatable action that began and is not confirmed
    confirmed: tuple[str, ...] = ()  # unrepeatable actions that took place, each once, as `pending_action` names them
    steps: tuple[Step, ...] = ()  # of the task that goes on, once it has done such an action
    proposed: Json = None  # the JSON Schema that a model proposed for a job without one; a loop's items get it too
    items_only_read: bool = False  # of a loop's items nothing is wanted but that their own page is read
    glossary: FieldGlossary | None = None  # None: no model was asked for one; a loop's items read by it too


@dataclass(frozen=True, slots=True)
class ArtifactRef:
    """An artifact that was stored already; its row is written with the outcome."""

    id: str  # 32 hex digits, made by the worker
    kind: ArtifactKind
    key: str  # where it lies in the artifact store
    content_type: str
    bytes: int
    name: str = ""  # of a download: how the site calls the file, safe to show and to save under


@dataclass(frozen=True, slots=True)
class LearningLoop:
    """The learning of a loop: its first items are worked out by its own policy, the others are replayed."""

    site: str  # host of the items' pages, in lower case, with the port where it is not the scheme's
    goal: str  # hash of the goal; where the rules teach, of all that their readings depend on
    record_schema: str  # hash of the record's schema
    workflow: str = ""  # that it begins with, `NAME` or `NAME@2`; "": the one of this site, goal and schema, if any


@dataclass(frozen=True, slots=True)
class FanOut:
    """A loop: the session's children, durable in one transaction with its checkpoint."""

    items: tuple[LoopItem, ...]  # the first of them: they become sessions at once
    checkpoint: Checkpoint
    on_error: Literal["continue", "stop"] = "continue"
    later: int = 0  # how many follow, which the journal has been given already
    learning: LearningLoop | None = None  # None: all its items go the same way

    @property
    def n(self) -> int:
        """Return how many items it has."""
        return len(self.items) + self.later


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A list of which less was given than there is."""

    found: int  # records or items that were given
    shown: int | None = None  # how many the page says that there are; None: it does not say, or not all of them
    why: str = ""  # what kept the rest from being given, in words


@dataclass(frozen=True)
class Replay:
    """The outcome of one replay of a workflow."""

    workflow: str  # its name
    version: int
    whole: bool  # False: the policy behind went on, or nothing did
    misses: tuple[str, ...] = ()  # the reasons, one for each
    confirmed: int = 0  # audits of records of the same branches that were right before it ended; the store counts
    branches: str = ""  # keys of the branches that read the records (`Branch.key`), split by "+"; "": none did
    shadow: bool = False  # it ran beside the model, whose record is the session's
    audit: Audited = ""  # what the model's own reading of the page said of the record
    differing: tuple[str, ...] = ()  # fields that the model read otherwise
    missed_at: tuple[str, ...] = ()  # the node of each of `misses`, in a replay
    detail: ReplayDetail | None = None  # of a sample; it is counted in no figures


@dataclass(frozen=True)
class Outcome:
    """The end of one attempt of a session."""

    status: Status  # a final one; WAITING with `fan_out`; QUEUED for "try again" (set by the retry decision)
    records: tuple[Record, ...] = ()
    error: ErrorInfo | None = None
    reason: str = ""  # why it was terminated, in words
    error_codes: tuple[str, ...] = ()  # the caller's own, on terminated
    url: str = ""  # where it ended
    at: str = ""  # ISO 8601, UTC
    seconds: float = 0.0
    tasks: tuple[Task, ...] = ()
    steps_before: int = 0  # so many of the tasks' steps are of earlier attempts, the first ones
    usage: Usage = Usage()  # of this attempt
    usage_before: Usage = Usage()  # of the session's earlier attempts, as far as it is known
    artifacts: tuple[ArtifactRef, ...] = ()
    screenshot: str | None = None  # artifact id of the page that the result came from
    answer: str = ""  # free-text answer, where the goal asked for one
    rests_on: Basis | None = None  # what the answer rests on; None without one
    rejected: tuple[ErrorInfo, ...] = ()  # of each entry of a list that is no record: what is wrong, what was read
    incomplete: Incomplete | None = None  # what is known to be missing from its lists
    fan_out: FanOut | None = None
    checkpoint: Checkpoint | None = None  # where a retry goes on
    retry_after_s: float | None = None  # the site's own wish
    replay: Replay | None = None  # what became of its workflow, where it replayed one
    crawl_delay_s: float | None = None  # what the robots.txt of the first site asks for between pages
    page_errors: PageErrors = PageErrors()  # that came after its last step; where it failed, those of a page only read
