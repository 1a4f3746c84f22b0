"""The policy that asks a model: plan, step, extract, collect. One prompt, one schema and one reading each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from agent.errors import ActionInvalid, ReplyInvalid
from agent.models.model import Ask, Message, Model
from agent.models.reply import Answer, ReplyProblem
from agent.observe.renderings import compact
from agent.plan import Plan, PlanShape, criterion_schema, plan_from, plan_schema
from agent.policies.model.addresses import given
from agent.policies.model.asker import Asker, ModelPolicyOptions
from agent.policies.model.asking import session_messages
from agent.policies.model.calls import action_types, call_offers
from agent.policies.model.canvas import canvas_of
from agent.policies.model.checks import actions_of, check_progress, check_values
from agent.policies.model.collecting import Found, collect_schema, collected, is_css
from agent.policies.model.elements import Offered, in_parts, offered, only_in
from agent.policies.model.evidence import known
from agent.policies.model.history import step_lines
from agent.policies.model.jobs import Jobs
from agent.policies.model.memory import earlier, remember
from agent.policies.model.pictures import Shown, pictures_of
from agent.policies.model.planning import check_loop_values, sound, spelled_out, task_types
from agent.policies.model.reading import Reader
from agent.policies.model.wholes import in_whole
from agent.policies.policy import Extraction, Policy, Scene
from agent.proof import page_count
from agent.seen import PageText
from agent.sight import Sighting
from agent.spec import JobSpec
from agent.step import CallOffer, StepDecision, StepShape, step_schema
from agent.types import Element, LoopItem, Observation, Step
from prompts import render as render_prompt

Json = Any


def _now() -> datetime:
    return datetime.now(UTC)


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
        self._jobs = Jobs(calls, images=options.images, points=options.points)
        self._asker = Asker(model, render, self._jobs, options, clock)
        self._reader = Reader(self._asker)
        self._fallback = fallback
        self._options = options

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
        self._reader.recall(scene)
        said = await self._planned(scene)
        if said.task_type == "loop" and (scene.spec.extract is not None or said.require_extraction):
            await self._reader.agree(scene)
        return said

    async def _planned(self, scene: Scene) -> Plan:
        said = spelled_out(scene)
        if said is not None and not _wants_proof(said, scene):
            return said
        shape = PlanShape(task_types(scene), scene.spec.allow_terminate, tuple(scene.spec.error_codes))

        async def ask(chars: int) -> Plan:
            seen = await self._asker.look(scene, chars)
            shown = await self._pictures(scene, seen)
            variables = {
                **self._asker.told(scene, seen, self._asker.text(scene, seen, chars), chars),
                "pictures": shown.words,
                "task_types": shape.task_types,
                "loop_words": scene.loop.source.select if scene.loop and scene.loop.source else None,
                "records": len(scene.records),
            }
            request = Ask(
                messages=session_messages("plan", variables, shown.images),
                schema_name="plan",
                json_schema=plan_schema(shape),
                max_tokens=self._options.plan_tokens,
            )
            page, may_open = PageText([seen]), given(scene, seen)

            def read(reply: Json) -> Plan:
                plan = sound(plan_from(reply), seen.url, scene, page=page, given=may_open)
                check_loop_values(plan, lambda: known(scene, page))
                return plan

            planned = said
            if planned is None:
                answer = await self._asker.ask(scene, request, read)
                planned = replace(answer.value, prompt=answer.transcript)
            if not planned.user_goal_achieved or scene.spec.complete_criterion is None:
                return planned
            check = session_messages("criterion", variables, shown.images)
            return await self._confirmed(scene, request, read, planned, check)

        return await self._asker.fitting(scene, ask)

    async def _confirmed(
        self, scene: Scene, planned_by: Ask, read: Callable[[Json], Plan], planned: Plan, check: Sequence[Message]
    ) -> Plan:
        """`planned`, which says that the goal is reached, where the page bears it out; else another plan.

        What was done before can talk a model into believing it. So the job's criterion is asked for once more, of the
        page alone.
        """
        request = Ask(
            messages=check,
            schema_name="criterion",
            json_schema=criterion_schema(),
            max_tokens=self._options.check_tokens,
        )
        answer = await self._asker.ask(scene, request, lambda reply: reply)
        verdict = answer.value
        asked = ",\n".join(filter(None, (planned.prompt, answer.transcript)))
        if verdict["holds"]:
            return replace(planned, prompt=f"[{asked}]")
        doubt = render_prompt(
            "doubt", problem="The page does not show that the job's criterion holds:", said=verdict["thought"]
        )
        asked_for = planned_by.messages[-1]
        again = replace(asked_for, text=f"{asked_for.text}\n\n{doubt}")

        def read_on(reply: Json) -> Plan:
            plan = read(reply)
            if plan.user_goal_achieved:
                raise ReplyProblem("the goal is not reached, as was said: plan on, or give up with evidence")
            return plan

        retold = replace(planned_by, messages=(*planned_by.messages[:-1], again))
        instead = await self._asker.ask(scene, retold, read_on)
        return replace(instead.value, prompt=f"[{asked},\n{instead.transcript}]")

    # --- step ----------------------------------------------------------------------------------------

    async def step(self, scene: Scene, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions for the page as it is now.

        Raises:
            ModelError: the model could not be asked, or gave no usable reply.
            ActionInvalid: the job names an action set that does not exist, or a model without eyes is to point.
        """
        self._reader.recall(scene)
        if scene.spec.grounding == "coordinates" and not self._options.images:
            raise ActionInvalid("`grounding` by coordinates needs a model that reads pictures (SHOAL_MODEL_IMAGES)")

        async def ask(chars: int) -> StepDecision:
            seen = await self._asker.look(scene, chars)
            shown = await self._pictures(scene, seen)
            text = self._asker.text(scene, seen, chars)
            choices = offered(seen, scene.spec.grounding)
            if self._jobs.points_at(self._jobs.offers(scene.spec)):
                images, canvas = await asyncio.to_thread(
                    canvas_of, shown.images, seen.viewport, self._options.grid, self._options.points
                )
                shown, choices = replace(shown, images=images), replace(choices, canvas=canvas)
            shape = self._step_shape(scene, choices)
            variables = {
                **self._asker.told(scene, seen, text, chars),
                "pictures": shown.words,
                "mini_goal": goal,
                "steps": step_lines(steps, choices.canvas, chars=chars),
                "candidates": choices.candidates,
            }
            request = Ask(
                messages=session_messages("step", variables, shown.images, earlier(scene, len(steps), chars)),
                schema_name="step",
                json_schema=step_schema(shape),
                max_tokens=self._options.step_tokens,
            )
            read = _Decide(scene, seen, choices, steps)
            answer = await self._asker.ask(scene, request, read)
            if scene.spec.sight.observations > 1:
                pictures = tuple(image.data for image in shown.images)
                remember(scene, Sighting(len(steps), seen.url, text, pictures))
            return replace(answer.value, prompt=answer.transcript)

        return await self._asker.fitting(scene, ask)

    def _step_shape(self, scene: Scene, choices: Offered) -> StepShape:
        spec = scene.spec
        calls = self._jobs.offers(spec)
        return StepShape(
            ids=tuple(choices.elements),
            action_types=action_types(spec, calls=bool(calls)),
            error_codes=tuple(spec.error_codes),
            verification_check=spec.wants_codes,
            calls=calls,
        )

    # --- extract -------------------------------------------------------------------------------------

    async def extract(self, scene: Scene) -> Extraction:
        """What the page shows of the job's `extract`, read in parts where it is long, each value looked up in its text.

        Raises:
            FieldsMissing: one record is wanted, and the page shows nothing of it.
            ModelError: the model could not be asked, or gave no usable reply.
        """
        return await self._reader.read(scene)

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
            scene.listed = max(scene.listed or 0, page_count(PageText([seen])) or 0) or None
            return await self._asker.fitting(
                scene, lambda chars: self._point_out(scene, wanted, following, seen, chars)
            )

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
        """The items and the way on, on all parts of one page.

        Raises:
            ReplyInvalid: even for a small part the list did not end: an item that is left out would never be missed.
        """
        choices = offered(seen, "bid")
        wish = {"wanted": wanted, "next_words": following}

        async def ask(part: int, text: str) -> Answer[Json]:
            elements = only_in(text, choices).elements
            request = Ask(
                messages=session_messages("collect", {**self._asker.told(scene, seen, text, chars, part), **wish}),
                schema_name="collect",
                json_schema=collect_schema(tuple(elements)),
                max_tokens=self._options.collect_tokens,
            )
            return await self._asker.ask(scene, request, lambda reply: reply, doubt_cut=False)

        parts = in_parts(self._asker.text(scene, seen, chars), chars)[: self._options.parts]
        readings = await in_whole(
            ask, parts, self._options.least_page_chars, worth=lambda text: bool(only_in(text, choices).elements)
        )
        answers = [answer for reading in readings for answer in reading.answers()]
        for answer in answers:
            if answer.cut_off:
                raise ReplyInvalid("the list of items does not end", transcript=answer.transcript)
        bids = dict.fromkeys(bid for answer in answers for bid in answer.value["items"])
        onward = next((answer.value["next"] for answer in reversed(answers) if answer.value["next"]), None)
        items = tuple(choices.elements[bid] for bid in bids)
        return Found(seen.url, items, choices.elements[onward] if onward else None)

    async def _pictures(self, scene: Scene, seen: Observation) -> Shown:
        return await pictures_of(scene, seen) if self._options.images else Shown()


def _wants_proof(said: Plan, scene: Scene) -> bool:
    """Whether a model has to look if the job's criterion holds, though the job itself says that all is done."""
    # A parent sums up what its items gave: it has no page of its own to look at.
    return said.user_goal_achieved and scene.spec.complete_criterion is not None and scene.loop is None


class _Decide:
    """Reads a step's reply: the rules that code keeps, on the page that was shown."""

    def __init__(self, scene: Scene, seen: Observation, choices: Offered, steps: Sequence[Step]) -> None:
        self._scene = scene
        self._steps = steps
        self._seen = seen
        self._choices = choices
        self._page = PageText([seen])
        self._given = given(scene, seen)

    def __call__(self, reply: Json) -> StepDecision:
        thought = f"{reply['user_goal_stage']} {reply['action_plan']}".strip()
        actions = actions_of(
            reply, self._choices, given=self._given, page=self._page, may_repeat=self._scene.spec.may_repeat
        )
        decision = StepDecision(thought, actions)
        check_progress(decision, self._seen.elements)
        check_values(decision, reply, lambda: known(self._scene, self._page, self._steps))
        return decision
