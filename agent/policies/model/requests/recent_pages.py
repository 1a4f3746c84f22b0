"""The last pages that a model was shown, kept in its context where the job wants more than one."""

from __future__ import annotations

from shoal.agent.models.model import Image, Message
from shoal.agent.policies.model.requests.messages import content_type
from shoal.agent.policies.policy import SessionState
from shoal.agent.read.grounding.page_history import ShownPage
from shoal.prompts import render


def remember(state: SessionState, sighting: ShownPage) -> None:
    """Keeps what this step sees for the next ones; a step that is decided anew replaces what it saw before."""
    kept = [page for page in state.sightings if page.step < sighting.step]
    state.sightings[:] = [*kept, sighting][-state.spec.sight.observations :]


def earlier(state: SessionState, step: int, chars: int) -> tuple[Message, ...]:
    """The pages before this one as messages, oldest first, as many as the job wants and as fit.

    A page is shown whole or not at all: where `chars` for each is not enough for all, the oldest go first.
    """
    count = state.spec.sight.observations - 1
    before = [sighting for sighting in state.sightings if sighting.step < step][-count:] if count else []
    left = chars * count
    shown: list[Message] = []
    for page in reversed(before):
        left -= len(page.text)
        if left < 0:
            break
        images = tuple(Image(data, content_type(data)) for data in page.images)
        shown.insert(0, Message("user", render("earlier", step=page.step, url=page.url, text=page.text), images))
    return tuple(shown)
