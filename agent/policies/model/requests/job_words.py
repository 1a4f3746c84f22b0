"""Words of prompts about a job: the same for all decisions of all its sessions, so that they are computed once."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from cachetools import LRUCache

from shoal.agent.models.decisions.extract import asks_addresses
from shoal.agent.models.decisions.step import CallOffer
from shoal.agent.models.settings import Points
from shoal.agent.policies.model.checks.calls import action_types
from shoal.agent.policies.model.requests.canvas import POINTING
from shoal.agent.policies.policy import SessionState
from shoal.agent.spec import ExtractSpec, JobSpec
from shoal.agent.support.json_value import Json

_REMEMBERED = 256


class Jobs:
    """Jobs as their prompts tell them; remembers the schemas that a model proposed for jobs that have none.

    Args:
        calls: the primitives that a job's CALL may name.
        images: whether the model sees pictures.
        points: what it counts in where it points at one.
    """

    def __init__(
        self, calls: Callable[[JobSpec], Sequence[CallOffer]], *, images: bool = True, points: Points = "pixels"
    ) -> None:
        self._calls = calls
        self._images = images
        self._points = points
        self._proposed: LRUCache[tuple[str, ...], Json] = LRUCache(_REMEMBERED)

    def words(self, spec: JobSpec) -> dict[str, Json]:
        """A job in the words of its caller."""
        extract = self.extract(spec)
        return {
            "goal": spec.goal,
            "data": spec.data,
            "extract_goal": spec.extract.goal if spec.extract else None,
            "schema": extract.record_schema if extract else None,
            "complete_criterion": spec.complete_criterion,
            "error_codes": spec.error_codes,
        }

    def variables(self, spec: JobSpec) -> dict[str, Json]:
        """Return what the prompts of a browser session say of a job.
        It depends on nothing but the job.

        Raises:
            ActionInvalid: the job names an action set that does not exist.
        """
        calls = tuple(self._calls(spec))
        extract = self.extract(spec)
        return {
            **self.words(spec),
            "many": extract is not None and extract.many,
            "allow_terminate": spec.allow_terminate,
            "verification_check": spec.wants_codes,
            "action_types": action_types(spec, calls=bool(calls)),
            "calls": calls,
            # Marks have the numbers of elements: who sees no picture reads them in the text.
            "grounding": "bid" if spec.grounding == "mark" and not self._images else spec.grounding,
            "points": self._points if self.points_at(calls) else None,
        }

    def points_at(self, calls: Sequence[CallOffer]) -> bool:
        """Return whether a step with these calls may point at places on a picture."""
        return self._images and any(call.name in POINTING for call in calls)

    def offers(self, spec: JobSpec) -> tuple[CallOffer, ...]:
        """Return what the job's CALL may name."""
        return tuple(self._calls(spec))

    def extract(self, spec: JobSpec) -> ExtractSpec | None:
        """Return what the job wants to be read, with the schema that was proposed for it where it has none."""
        own = spec.extract
        if own is not None and own.json_schema is not None:
            return own
        proposed = self._proposed.get(_key(spec))
        if proposed is None:
            return own
        return ExtractSpec(goal=(own.goal if own else None) or spec.goal, json_schema=proposed)

    def propose(self, spec: JobSpec, schema: Json) -> None:
        """Notes the schema of a job that has none: all its sessions get the same fields."""
        self._proposed[_key(spec)] = schema

    def reads_addresses(self, state: SessionState) -> bool:
        """Return whether this session's pages are shown with the addresses of links and pictures,
        since they will be read.

        All its decisions see them then: two renderings of one page would share nothing.
        """
        extract = self.extract(state.spec)
        reads_here = extract is not None and state.loop is None and state.children is None
        return reads_here and extract is not None and extract.json_schema is not None and asks_addresses(extract)


def _key(spec: JobSpec) -> tuple[str, ...]:
    return (spec.url, spec.goal or "", (spec.extract.goal if spec.extract else "") or "", spec.idempotency_key or "")
