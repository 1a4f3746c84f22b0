"""The words for causes of waiting: the only place where a cause becomes text, or old text a cause."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from shoal.agent.support.json_value import Json
from shoal.services.store.waiting_causes import WaitingCause


@dataclass(frozen=True, slots=True)
class CauseText:
    """The texts for one cause."""

    words: str  # follow "waiting for"
    meaning: str  # one sentence
    do: str  # what an owner or operator may do
    queue: str = ""  # label of the metric `shoal_queues_waiting`; "": queues do not wait for this


TEXTS: Mapping[WaitingCause, CauseText] = {
    WaitingCause.PAUSED: CauseText(
        "its job to be resumed",
        "The owner paused the job.",
        "`shoal resume JOB`.",
    ),
    WaitingCause.CANCELED: CauseText(
        "the end of its job, which was canceled",
        "The job is being canceled. The session is canceled next.",
        "Nothing.",
    ),
    WaitingCause.CHILDREN: CauseText(
        "its children",
        "The session became a loop. It goes on when the last item has ended.",
        "Look at what the items wait for.",
    ),
    WaitingCause.RETRY_TIME: CauseText(
        "its next try",
        "The last attempt failed. The next one begins after a pause.",
        "Read the session's `error`.",
    ),
    WaitingCause.CONCURRENCY: CauseText(
        "the loop's concurrency",
        "The loop runs as many items at once as its `concurrency` allows.",
        "Raise `concurrency` of the running job (`shoal change JOB --concurrency N`).",
    ),
    WaitingCause.LEARNING: CauseText(
        "what the loop learns from its first items",
        "A model works out the first items of the loop. The others wait: they may be replayed.",
        "Nothing. `learn: off` in the job lets the model do all items at once.",
    ),
    WaitingCause.DISPATCHER: CauseText(
        "a dispatcher: none is running",
        "No dispatcher has written its snapshot in the last ten seconds.",
        "Start a dispatcher, or read the log of the one that stopped.",
    ),
    WaitingCause.WORKER: CauseText(
        "a browser worker: none is running",
        "Dispatchers run, but no browser worker does.",
        "Read the dispatcher's log for the reason. Look for free memory and nodes.",
    ),
    WaitingCause.DOMAIN_PAUSE: CauseText(
        "the site asked for a pause",
        "The site answered 429 or 503. No session starts on it before the pause is over.",
        "Wait. Ask for fewer sessions at once (`politeness.per_domain`) if it happens often.",
        queue="the site asked for a pause",
    ),
    WaitingCause.SITE_PAUSED: CauseText(
        "an operator paused the site",
        "An operator paused the site. No session starts on it before the pause ends or is lifted.",
        "Ask the operator, who lifts it on the page *Sites* or by `shoal sites resume HOST`.",
        queue="an operator paused the site",
    ),
    WaitingCause.DOMAIN_DELAY: CauseText(
        "the delay between sessions",
        "The job (`politeness.delay_s`), robots.txt or an operator asks for a delay between sessions or pages.",
        "Lower `politeness.delay_s` where the job asks for the delay.",
        queue="the delay between sessions",
    ),
    WaitingCause.DOMAIN_LIMIT: CauseText(
        "domain limit",
        "As many sessions as are allowed run on the site.",
        "Raise `politeness.per_domain`, the site's own limit, or the operator's `SHOAL_PER_DOMAIN`.",
        queue="domain limit",
    ),
    WaitingCause.MODEL: CauseText(
        "the model server",
        "The model server takes no more sessions.",
        "Add a model server, or raise `SHOAL_MODEL_SESSIONS`.",
        queue="the model server",
    ),
    WaitingCause.SHARE: CauseText(
        "the tenant's share of the slots",
        "The tenant's sessions hold as many browser slots as one tenant may.",
        "Add workers, or raise the operator's `SHOAL_TENANT_SHARE`.",
        queue="the tenant's share of the slots",
    ),
    WaitingCause.SLOT: CauseText(
        "a free slot",
        "Every browser slot is busy.",
        "Add workers, or give the job a higher `priority`.",
        queue="a free slot",
    ),
    WaitingCause.TURN: CauseText(
        "the next claim: slots are free",
        "Slots are free. The next claim takes the session.",
        "Nothing.",
    ),
}

QUEUE_CAUSES: tuple[WaitingCause, ...] = tuple(cause for cause, text in TEXTS.items() if text.queue)
"""Causes for which a queue (one job on one site) can wait."""

_BY_CODE: Mapping[str, WaitingCause] = {str(cause): cause for cause in WaitingCause}
_OLD_WORDS: Mapping[str, WaitingCause] = {TEXTS[cause].queue: cause for cause in QUEUE_CAUSES}
"""Causes by the words that dispatchers of earlier versions wrote into their snapshots."""


def queue_label(cause: WaitingCause) -> str:
    """The cause as the metric `shoal_queues_waiting` and /v1/status label it; the label never changes."""
    return TEXTS[cause].queue or str(cause)


def cause_of(text: str, unknown: WaitingCause) -> WaitingCause:
    """The cause that a dispatcher wrote into its snapshot, in this version's codes or an earlier one's words.

    Args:
        text: what the snapshot has.
        unknown: what a cause of a later version counts as.
    """
    return _BY_CODE.get(text) or _OLD_WORDS.get(text, unknown)


def labelled(snapshot: Mapping[str, Json]) -> dict[str, Json]:
    """A dispatcher's snapshot as /v1/status shows it: causes by their labels."""
    shown = dict(snapshot)
    for key in ("lanes_waiting", "lanes_held"):
        if key in shown:
            shown[key] = {_label(cause): value for cause, value in shown[key].items()}
    if "held" in shown:
        shown["held"] = {
            job: {host: [_label(cause), *rest] for host, (cause, *rest) in hosts.items()}
            for job, hosts in shown["held"].items()
        }
    return shown


def _label(text: str) -> str:
    return queue_label(_BY_CODE[text]) if text in _BY_CODE else text
