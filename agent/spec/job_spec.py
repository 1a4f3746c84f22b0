"""The job spec: what a caller asks for."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from shoal.agent.spec.browser_spec import BrowserSpec
from shoal.agent.spec.extract_spec import ExtractSpec
from shoal.agent.spec.login_spec import LoginSpec
from shoal.agent.spec.loop_spec import LoopSpec
from shoal.agent.spec.notify_spec import NotifySpec
from shoal.agent.spec.part import HttpUrl, SpecPart
from shoal.agent.spec.sink_spec import SinkSpec
from shoal.agent.support.json_value import Json
from shoal.agent.support.sites.sites import Sites, named_site, sites_of, texts_of
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.types import LoopItem


class PolitenessSpec(SpecPart):
    """Limits on this job's requests to sites. The operator's limits hold too; the stricter one wins."""

    robots: bool = Field(True, description="obey robots.txt")
    per_domain: int | None = Field(None, ge=1, description="sessions on one domain at once")
    delay_s: float = Field(
        0.0, ge=0, le=3600, description="seconds between session starts, and between pages, on one domain"
    )


class SecretUse(SpecPart):
    """Sites on which this job may fill in a stored secret: of those that it is bound to, those of these domains."""

    domains: tuple[str, ...] = Field(min_length=1, description="host names; sub-domains are included", fail_fast=True)


class ChangesSpec(SpecPart):
    """Comparison of this job with an earlier run of the same work."""

    skip_unchanged: bool = Field(
        False,
        description="items whose page has not changed since the run before keep that run's records, without a browser: "
        "the site says so (ETag, Last-Modified, `lastmod` of the sitemap that is the loop's), or the document is the "
        "same, of which the record was read; "
        "never records with any doubt",
    )


class BudgetSpec(SpecPart):
    """Model tokens, prompt and reply together as the server counts them, that may be spent; none: no limit."""

    step_tokens: int | None = Field(None, ge=1, description="of one decision, with what it has to ask again")
    session_tokens: int | None = Field(None, ge=1, description="of one session, over all its attempts")
    job_tokens: int | None = Field(
        None, ge=1, description="of all sessions; those that run when it is used up stop at their own next request"
    )


class SightSpec(SpecPart):
    """The part of a page that a model is shown."""

    pictures: Literal["auto", "always"] = Field(
        "auto",
        description="a picture beside a page's text: where it shows more than the text, or always",
    )
    observations: int = Field(
        1, ge=1, le=10, description="the last so many pages with text and picture; older ones keep action and result"
    )
    page_parts: int = Field(
        1, ge=1, le=10, description="pictures of the page, one screen each from its top; 1: what the window shows"
    )
    marks: bool = Field(False, description="a second picture with the elements' numbers painted in, beside the plain")


class HelpSpec(SpecPart):
    """Answers that only people know: verification codes, questions, captchas. A TOTP key goes first for codes."""

    webhook: HttpUrl | None = Field(
        None, description="gets each question by POST; answers 200 with `answer`, or 202 to be asked again"
    )
    person: bool = Field(False, description="ask the people who watch this installation")
    timeout_s: float = Field(300.0, gt=0, le=3600, description="seconds until a question counts as unanswered")


class ArtifactsSpec(SpecPart):
    """Kinds of evidence that are kept."""

    screenshots: Literal["all", "errors", "none"] = Field("all", description="which sessions keep pictures of pages")
    evidence: Literal["screenshot", "document", "mhtml"] = Field(
        "screenshot",
        description="what shows later where a record is from: a picture of the page, with `document` its HTML beside "
        "it, or with `mhtml` the page with its styles and pictures in one file, which Chromium opens; with "
        "`document`, pages of a loop may be read without a browser, which takes no picture, where that was seen to "
        "give the same",
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
        """Return whether what a session's browser does is recorded."""
        return self.trace or self.har


class WebhookSpec(SpecPart):
    """The address that is told of the job's events."""

    url: HttpUrl = Field(description="gets each message by POST, signed")
    events: tuple[
        Literal[
            "job.finished",
            "job.paused",
            "job.degraded",
            "records.changed",
            "session.finished",
            "session.unsure",
            "session.waiting",
            "sink.failed",
        ],
        ...,
    ] = Field(("job.finished",), description="which events are sent", fail_fast=True)


class JobSpec(SpecPart):
    """One job. Only `url` and one of `goal`, `extract` and `loop` are required; a workflow may say both."""

    url: HttpUrl = Field(
        "", description="where to start; default, with `policy: workflow:NAME`: where the workflow says that runs begin"
    )
    goal: str | None = Field(None, min_length=1, description="what is wanted, in plain language")
    data: Json = Field(None, description="the caller's details for forms and goals (any JSON)")
    sites: tuple[str, ...] = Field(
        (),
        max_length=200,
        description="where this job may act, as `HOST` or `HOST:PORT`, sub-domains included: nothing is typed, sent or "
        "uploaded elsewhere, and no composed address opened; default: the sites of `url`, of `login` and of the "
        "loop's items",
        fail_fast=True,
    )
    login: LoginSpec | None = Field(
        None, description="logs in once, before the start URL is opened; all items of a loop are logged in by it"
    )
    extract: ExtractSpec | None = None
    loop: LoopSpec | None = None
    policy: str = Field(
        "auto",
        pattern=r"^(auto|model|rules|person|workflow:[a-z0-9][a-z0-9._-]{0,99}(@[0-9]{1,6})?)$",
        description="who decides: `auto` (the model where one is configured, else rules), `model`, `rules` "
        "(which ask a configured model once what pages may call the schema's fields, and show it no page), "
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
        "(a model goes on, where one is configured and the job has a `goal` or `extract`), or `fail` (the item ends "
        "with `workflow_miss`)",
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
    action_sets: tuple[str, ...] = Field(
        (), description="names from `shoal actions`; empty: the default sets", fail_fast=True
    )
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
    changes: ChangesSpec = ChangesSpec()
    webhook: WebhookSpec | None = None
    notify: tuple[NotifySpec, ...] | None = Field(
        None,
        max_length=20,
        fail_fast=True,
        description="people who are told, each in their own way; default: those of the tenant (`PUT /v1/notify`)",
    )
    sinks: tuple[SinkSpec, ...] = Field(
        (),
        max_length=10,
        fail_fast=True,
        description="where the records are written once the job is completed, beside its results",
    )
    priority: int = Field(0, ge=-100, le=100, description="10 more is twice the share within a tenant")
    name: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="what people call the job, in lists and on its page; it may be that of other jobs, too",
    )
    labels: dict[str, str] = Field(default_factory=dict, description="the caller's own names and values, to filter by")
    idempotency_key: str | None = Field(
        None,
        min_length=1,
        max_length=200,
        description="a job that is handed in again with the same key is the same job",
    )

    @model_validator(mode="after")
    def _wants_something(self) -> JobSpec:
        shown = self.policy == "person" or self.policy.startswith("workflow:")
        if not shown and self.goal is None and self.extract is None and self.loop is None:
            raise ValueError("needs at least one of `goal`, `extract` and `loop`")
        return self

    @property
    def title(self) -> str:
        """Its name, or what it is to do, in the words that say it best."""
        return (
            self.name
            or self.goal
            or (self.extract.goal if self.extract is not None else None)
            or self.url
            or self.policy
        )

    @property
    def for_a_model(self) -> bool:
        """Return whether it says in words or by a schema what is wanted: without either a model could only guess."""
        return self.goal is not None or self.extract is not None

    @property
    def has_helper(self) -> bool:
        """Return whether the job names a person or a webhook that answers questions."""
        return self.help.webhook is not None or self.help.person

    @property
    def wants_codes(self) -> bool:
        """Return whether something here can answer when a page asks for a verification code."""
        return self.totp is not None or self.has_helper

    @property
    def may_repeat(self) -> bool:
        """Return whether a submitting action may run again after a crash: not where details are given to be sent."""
        if self.repeatable is not None:
            return self.repeatable
        return self.data is None and not (self.loop is not None and self.loop.has_rows)

    @property
    def allows_documents(self) -> bool:
        """Return whether documents may stand for pages,
        as far as the job says.

        One record is read of each page, no page has to be waited for, photographed, traced or recorded, and nothing but
        cookies tells visitors apart.
        """
        extract = self.extract
        if extract is None or extract.many or extract.wait_for is not None:
            return False
        if self.browser.proxy is not None or self.browser.attach is not None:
            return False
        if self.artifacts.traced or self.artifacts.recording:
            return False
        if self.artifacts.evidence == "mhtml":
            return False
        return self.artifacts.evidence == "document" or self.artifacts.screenshots != "all"

    @property
    def beyond_rules(self) -> tuple[str, str] | None:
        """The field that rules can do nothing with, and why; None where they can do the job without a model."""
        if self.extract is None and self.loop is None and self.data is None:
            return "goal", "a goal in words needs a model: configure one, or say it as `extract`, `loop` or `data`"
        if self.extract is not None and self.extract.record_schema is None:
            return "extract.schema", "`extract` without a `schema` needs a model: give the JSON Schema of a record"
        if self.data is not None and not isinstance(self.data, dict):
            return "data", "`data` has to be an object of named details to be filled in without a model"
        return None

    def below(self, depth: int) -> JobSpec:
        """Return what a session at `depth` needs of it:
        each of those above has its own values, of which one stands for all.

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

    def acting_sites(self, item: LoopItem | None, depth: int) -> Sites:
        """Return where a session may act:
        what `sites` name, else the sites of the job's own addresses.

        Args:
            item: the session's own. It counts where the job itself asks for the loop; a loop that a model planned may
                lead anywhere.
            depth: of the session.
        """
        if self.sites:
            return Sites(tuple(map(named_site, self.sites)))
        addresses = [self.url]
        if self.login is not None:
            steps = self.login.steps or ()
            addresses += [self.login.url, *(step.open for step in steps if step.open is not None)]
        if item is not None and self.loop_at(depth - 1) is not None:
            addresses += [item.value] if item.is_link else []
            addresses += [item.page] if item.page else []
        return sites_of(addresses)

    def words(self, item: LoopItem | None) -> tuple[str, ...]:
        """Return what the caller wrote that a session works for."""
        extract = self.extract.goal if self.extract is not None else None
        own = (item.value, item.label) if item is not None else ()
        return tuple(filter(None, (self.goal, extract, self.complete_criterion, *own, *texts_of(self.data))))

    def is_login_page(self, url: str) -> bool:
        """Return whether `url` is the page of the job's login: sites lead there whom they do not know."""
        if self.login is None:
            return False
        page, login, start = map(_place_of, (url, self.login.url, self.url))
        return page == login and login != start  # where both are one page, its address tells nothing


def _place_of(url: str) -> tuple[str, str]:
    parts = address_parts(url)
    return parts.netloc, parts.path.rstrip("/")
