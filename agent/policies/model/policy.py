"""The policy that asks a model: plan, step, extract, collect. One prompt, one schema and one reading each."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any, TypeVar
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from agent.browser import ObserveOptions
from agent.errors import FieldsMissing
from agent.extract import asks_addresses, extract_schema, fields_missing, merged, records_in
from agent.models.model import Ask, Image, Model
from agent.models.reply import Answer, ask_for
from agent.observe.renderings import compact
from agent.plan import Plan, PlanShape, plan_from, plan_schema
from agent.policies.model.asking import (
    fitting,
    images_of,
    job_variables,
    messages_for,
    page_variables,
    step_lines,
)
from agent.policies.model.calls import action_types, call_offers
from agent.policies.model.checks import actions_of
from agent.policies.model.collecting import Found, collect_schema, collected, is_css
from agent.policies.model.elements import Offered, in_parts, offered, only_in, unmistakable, with_addresses
from agent.policies.model.planning import sound, spelled_out, task_types
from agent.policies.policy import Extraction, Policy, Scene
from agent.seen import PageText
from agent.spec import ExtractSpec, JobSpec
from agent.step import CallOffer, StepDecision, StepShape, step_schema
from agent.types import Element, LoopItem, Observation, Record, Step, Usage

Json = Any
T = TypeVar("T")

_WORD = re.compile(r"\w{4,}")
_MAX_WORDS = 40
_ANYTHING = ExtractSpec(goal="what the goal asks for")


def _now() -> datetime:
    return datetime.now(UTC)


@dataclass(frozen=True, slots=True)
class ModelPolicyOptions:
    """How much a model is shown, and how much it may say."""

    images: bool = True  # False for models that read text only
    page_chars: int = 24_000  # of a page's text in one prompt; halved until the prompt fits
    least_page_chars: int = 1_500
    page_elements: int | None = 600  # in one prompt
    parts: int = 20  # of a long page that an extraction reads at most
    step_tokens: int = 2_048  # of one reply
    plan_tokens: int = 1_536
    extract_tokens: int = 8_192
    collect_tokens: int = 4_096


class ModelPolicy:
    """Decides by asking a model, and only what the job does not say already.

    Args:
        model: who is asked.
        fallback: the policy for what needs no model: loops whose items are given or named by a CSS selector.
        render: a page's elements as text, with the ids that actions take.
        calls: the primitives that a job's CALL may name; by default those of its action sets.
        options: sizes.
        clock: the current time; prompts end with it.
    """

    def __init__(
        self,
        model: Model,
        fallback: Policy,
        *,
        render: Callable[[Element], str] = compact,
        calls: Callable[[JobSpec], Sequence[CallOffer]] = call_offers,
        options: ModelPolicyOptions = ModelPolicyOptions(),
        clock: Callable[[], datetime] = _now,
    ) -> None:
        self._model = model
        self._render = render
        self._fallback = fallback
        self._calls = calls
        self._options = options
        self._clock = clock

    @property
    def instant(self) -> bool:
        """False: planning asks a server, so what was done before is saved first."""
        return False

    # --- plan ----------------------------------------------------------------------------------------

    async def plan(self, scene: Scene) -> Plan:
        """The next mini goal; without a request where the job itself says what comes next.

        Raises:
            ModelError: the model could not be asked, or gave no usable reply.
        """
        said = spelled_out(scene)
        if said is not None:
            return said
        shape = PlanShape(task_types(scene), scene.spec.allow_terminate, tuple(scene.spec.error_codes))

        async def ask(chars: int) -> Plan:
            seen = await self._look(scene, chars)
            variables = {
                **job_variables(scene, schema=True),
                **self._page(scene, seen, self._text(seen)),
                "allow_terminate": shape.allow_terminate,
                "task_types": shape.task_types,
                "loop_words": scene.loop.source.select if scene.loop and scene.loop.source else None,
                "records": len(scene.records),
            }
            answer = await self._ask(
                scene,
                Ask(
                    messages=messages_for("plan", self._images(scene, seen), variables),
                    schema_name="plan",
                    json_schema=plan_schema(shape),
                    max_tokens=self._options.plan_tokens,
                ),
                lambda reply: sound(plan_from(reply), seen.url, scene),
            )
            return answer.value

        return await self._fitting(ask)

    # --- step ----------------------------------------------------------------------------------------

    async def step(self, scene: Scene, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions for the page as it is now.

        Raises:
            ModelError: the model could not be asked, or gave no usable reply.
            ActionInvalid: the job names an action set that does not exist.
        """

        async def ask(chars: int) -> StepDecision:
            seen = await self._look(scene, chars)
            choices = offered(seen, scene.spec.grounding)
            shape = self._step_shape(scene, choices)
            answer = await self._ask(
                scene,
                Ask(
                    messages=messages_for(
                        "step",
                        self._images(scene, seen),
                        self._step_variables(scene, goal, steps, seen, choices, shape),
                    ),
                    schema_name="step",
                    json_schema=step_schema(shape),
                    max_tokens=self._options.step_tokens,
                ),
                lambda reply: _decision(reply, choices, may_repeat=scene.spec.may_repeat),
            )
            return replace(answer.value, prompt=answer.transcript)

        return await self._fitting(ask)

    def _step_shape(self, scene: Scene, choices: Offered) -> StepShape:
        spec = scene.spec
        calls = tuple(self._calls(spec))
        return StepShape(
            ids=tuple(choices.elements),
            action_types=action_types(spec, calls=bool(calls)),
            error_codes=tuple(spec.error_codes),
            verification_check=spec.totp is not None,
            calls=calls,
        )

    def _step_variables(
        self,
        scene: Scene,
        goal: str,
        steps: Sequence[Step],
        seen: Observation,
        choices: Offered,
        shape: StepShape,
    ) -> Mapping[str, Json]:
        return {
            **job_variables(scene),
            **self._page(scene, seen, self._text(seen)),
            # The job's part of a prompt must not depend on the page: so these, and not `shape.offered()`.
            "action_types": shape.action_types,
            "verification_check": shape.verification_check,
            "calls": shape.calls,
            "grounding": scene.spec.grounding,
            "mini_goal": goal,
            "steps": step_lines(steps),
            "candidates": choices.candidates,
        }

    # --- extract -------------------------------------------------------------------------------------

    async def extract(self, scene: Scene) -> Extraction:
        """What the page shows of the job's `extract`, read in parts where it is long, each value looked up in its text.

        Raises:
            FieldsMissing: one record is wanted, and the page shows nothing of it.
            ModelError: the model could not be asked, or gave no usable reply.
        """
        wanted = scene.spec.extract or _ANYTHING
        seen = await scene.observe()
        # Where one part turns out too long for the model, all are read again: smaller parts begin elsewhere.
        answers, whole = await self._fitting(lambda chars: self._extract_parts(scene, wanted, seen, chars))
        many = wanted.many or wanted.json_schema is None
        values = merged([records_in(answer.value, wanted) for answer in answers], many=many)
        if not values and not many:
            raise FieldsMissing(f"{scene.page.url} shows nothing of what is wanted", transcript=_joined(answers))
        text = PageText([seen])
        return Extraction(
            records=tuple(Record(value, text.sources(value, "model"), scene.page.url) for value in values),
            complete=whole and _complete(answers, len(values)),
            missing=fields_missing(values, wanted),
            prompt=_joined(answers),
        )

    async def _extract_parts(
        self, scene: Scene, wanted: ExtractSpec, seen: Observation, chars: int
    ) -> tuple[list[Answer[Json]], bool]:
        """The replies for the page's parts, and whether these are all of them."""
        shown = replace(seen, elements=with_addresses(seen.elements, seen.url)) if asks_addresses(wanted) else seen
        parts = in_parts(self._text(shown), chars)
        told = {**job_variables(scene, schema=True), "many": wanted.many or wanted.json_schema is None}
        answers: list[Answer[Json]] = []
        for part, text in enumerate(parts[: self._options.parts]):
            ask = Ask(
                messages=messages_for("extract", (), {**told, **self._page(scene, seen, text, part)}),
                schema_name="extract",
                json_schema=extract_schema(wanted),
                max_tokens=self._options.extract_tokens,
            )
            answers.append(await self._ask(scene, ask, lambda reply: reply))
        return answers, len(parts) <= self._options.parts

    # --- collect -------------------------------------------------------------------------------------

    async def collect(self, scene: Scene, plan: Plan) -> AsyncIterator[LoopItem]:
        """The values of the session's loop: given, selected by CSS, or pointed at by the model, in this order."""
        if plan.loop_values is not None:
            for index, value in enumerate(plan.loop_values):
                yield LoopItem(index, value, plan.is_loop_value_link)
            return
        loop = scene.loop
        source = loop.source if loop else None
        if loop is not None and (source is None or is_css(source.select)):
            async for item in self._fallback.collect(scene, plan):
                yield item
            return
        wanted = source.select if source else plan.plan or scene.spec.goal or ""
        following = source.next if source else None

        async def look() -> Found:
            seen = await scene.observe()
            return await self._fitting(lambda chars: self._point_out(scene, wanted, following, seen, chars))

        items = collected(
            scene,
            look,
            is_link=loop.is_link if loop else plan.is_loop_value_link or None,
            max_pages=source.max_pages if source else 100,
            max_items=loop.max_items if loop else None,
        )
        async for item in items:
            yield item

    async def _point_out(
        self, scene: Scene, wanted: str, following: str | None, seen: Observation, chars: int
    ) -> Found:
        """The items and the way on, on all parts of one page."""
        items: dict[str, Element] = {}
        onward = None
        choices = offered(seen, "bid")
        told = {**job_variables(scene), "wanted": wanted, "next_words": following}
        for part, text in enumerate(in_parts(self._text(seen), chars)[: self._options.parts]):
            elements = only_in(text, choices).elements
            if not elements:
                continue
            ask = Ask(
                messages=messages_for("collect", (), {**told, **self._page(scene, seen, text, part)}),
                schema_name="collect",
                json_schema=collect_schema(tuple(elements)),
                max_tokens=self._options.collect_tokens,
            )
            reply = (await self._ask(scene, ask, lambda reply: reply)).value
            items |= {bid: elements[bid] for bid in reply["items"]}
            onward = elements[reply["next"]] if reply["next"] else onward
        return Found(seen.url, tuple(items.values()), onward)

    # --- common --------------------------------------------------------------------------------------

    async def _look(self, scene: Scene, chars: int) -> Observation:
        """The page as a plan or a step needs it: what is near the viewport and what the goal names, with a picture."""
        return await scene.observe(
            ObserveOptions(
                screenshot=self._options.images,
                marks=self._options.images and scene.spec.grounding == "mark",
                max_elements=self._options.page_elements,
                max_chars=chars,
                words=tuple(dict.fromkeys(_WORD.findall((scene.spec.goal or "").casefold())))[:_MAX_WORDS],
            )
        )

    def _text(self, seen: Observation) -> str:
        return self._render(unmistakable(seen.elements))

    def _page(self, scene: Scene, seen: Observation, text: str, part: int = 0) -> dict[str, Json]:
        now = self._clock().astimezone(_zone(scene.spec.browser.timezone))
        return page_variables(seen, text, now, part=part)

    def _images(self, scene: Scene, seen: Observation) -> tuple[Image, ...]:
        return images_of(seen, marked=scene.spec.grounding == "mark") if self._options.images else ()

    async def _fitting(self, ask: Callable[[int], Awaitable[T]]) -> T:
        return await fitting(ask, self._options.page_chars, self._options.least_page_chars)

    async def _ask(self, scene: Scene, ask: Ask, read: Callable[[Json], T]) -> Answer[T]:
        def spend(usage: Usage) -> None:
            scene.usage = scene.usage + usage

        return await ask_for(self._model, replace(ask, affinity=_affinity(scene)), read, spend)


def _affinity(scene: Scene) -> str:
    """One key for all sessions of a job: they share the longest prefix."""
    spec = scene.spec
    return f"{spec.url} {spec.goal} {spec.idempotency_key}"


def _zone(name: str | None) -> Any:
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError):
        return UTC


def _complete(answers: Sequence[Answer[Json]], count: int) -> bool:
    """Whether all records were read: by the page's own count, and with no reply cut off."""
    shown = max((answer.value["shown"] or 0 for answer in answers), default=0)
    return count >= shown and not any(answer.cut_off for answer in answers)


def _joined(answers: Sequence[Answer[Json]]) -> str:
    return "[" + ",\n".join(answer.transcript for answer in answers) + "]"


def _decision(reply: Json, choices: Offered, *, may_repeat: bool) -> StepDecision:
    thought = f"{reply['user_goal_stage']} {reply['action_plan']}".strip()
    return StepDecision(thought, actions_of(reply, choices, may_repeat=may_repeat))
