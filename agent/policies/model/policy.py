"""The policy that asks a model: plan, step, extract, collect. One prompt, one schema and one reading each."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from shoal.agent.errors import ActionInvalid, ReplyInvalid
from shoal.agent.models.decisions.answer import basis_of, basis_of_words
from shoal.agent.models.decisions.expectation import expected
from shoal.agent.models.decisions.plan import Plan, PlanShape, criterion_schema, plan_from, plan_schema
from shoal.agent.models.decisions.step import CallOffer, StepDecision, StepShape, step_schema
from shoal.agent.models.model import Ask, Message, Model
from shoal.agent.models.reply import ModelAnswer, ReplyDoubt, ReplyProblem
from shoal.agent.observe.renderings import compact
from shoal.agent.policies.model.checks.addresses import allowed_targets
from shoal.agent.policies.model.checks.calls import action_types, call_offers
from shoal.agent.policies.model.checks.data_used import check_data_used
from shoal.agent.policies.model.checks.evidence import allowed_values, input_text
from shoal.agent.policies.model.checks.step_checks import actions_of, check_progress, check_values
from shoal.agent.policies.model.field_glossary import RepliedGlossary, ask_glossary
from shoal.agent.policies.model.planning import check_loop_values, loop_words, sound, spelled_out, task_types
from shoal.agent.policies.model.reading.collecting import CollectedPage, collect_schema, collected, is_css
from shoal.agent.policies.model.reading.reader import ModelExtractor
from shoal.agent.policies.model.reading.whole_lists import in_whole
from shoal.agent.policies.model.requests.asker import Asker, ModelPolicyOptions
from shoal.agent.policies.model.requests.canvas import canvas_of
from shoal.agent.policies.model.requests.elements import Offered, in_parts, offered, only_in
from shoal.agent.policies.model.requests.history import step_lines
from shoal.agent.policies.model.requests.job_words import Jobs
from shoal.agent.policies.model.requests.messages import session_messages
from shoal.agent.policies.model.requests.pictures import PromptImages, pictures_of
from shoal.agent.policies.model.requests.recent_pages import earlier, remember
from shoal.agent.policies.policy import Extraction, Policy, SessionState
from shoal.agent.policies.rules.lists.list_end import read_list_end
from shoal.agent.read.grounding.claims import stated_count
from shoal.agent.read.grounding.page_history import ShownPage
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Basis, Element, LoopItem, Observation, Step
from shoal.prompts import render as render_prompt


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
        self._reader = ModelExtractor(self._asker)
        self._fallback = fallback
        self._options = options

    @property
    def instant(self) -> bool:
        """False: planning asks a server, so what was done before is saved first."""
        return False

    # --- plan ----------------------------------------------------------------------------------------

    async def plan(self, state: SessionState) -> Plan:
        """The next mini goal; without a request where the job itself says what comes next.

        Raises:
            ModelError: the model could not be asked, or gave no usable reply.
        """
        self._reader.recall(state)
        plan = await self._planned(state)
        if plan.task_type == "loop" and (state.spec.extract is not None or plan.require_extraction):
            await self._reader.agree(state, plan.plan or "")
        return plan

    async def _planned(self, state: SessionState) -> Plan:
        prescribed = spelled_out(state)
        if prescribed is not None and not _wants_proof(prescribed, state):
            return prescribed
        types, codes = task_types(state), tuple(state.spec.error_codes)

        async def ask(chars: int) -> Plan:
            seen = await self._asker.look(state, chars)
            shown = await self._pictures(state, seen)
            choices = offered(seen, state.spec.grounding)
            shape = PlanShape(types, state.spec.allow_terminate, codes, self._first_shape(state, choices))
            variables = {
                **self._asker.prompt_variables(state, seen, self._asker.text(state, seen, chars), chars),
                "pictures": shown.words,
                "task_types": types,
                "may_act": shape.first is not None,
                "loop_words": loop_words(state) if state.loop else None,
                "records": len(state.records),
            }
            request = Ask(
                messages=session_messages("plan", variables, shown.images),
                schema_name="plan",
                json_schema=plan_schema(shape),
                disabled=choices.disabled,
                max_tokens=self._options.plan_tokens,
            )
            read = _PlanOn(state, seen, choices)

            planned = prescribed
            if planned is None:
                answer = await self._asker.ask(state, request, read)
                planned = replace(answer.value, prompt=answer.transcript)
            if not planned.user_goal_achieved or state.spec.complete_criterion is None:
                return planned
            check = session_messages("criterion", variables, shown.images)
            return await self._confirmed(state, request, read, planned, check)

        return await self._asker.fitting(state, ask)

    async def _confirmed(
        self,
        state: SessionState,
        planned_by: Ask,
        read: Callable[[Json], Plan],
        planned: Plan,
        check: Sequence[Message],
    ) -> Plan:
        """`planned`, which says that the job's goal is reached, where the page bears it out; else another plan.

        What was done before can talk a model into believing it. So the job's criterion is asked for once more, of the
        page alone.
        """
        request = Ask(
            messages=check,
            schema_name="criterion",
            json_schema=criterion_schema(),
            max_tokens=self._options.check_tokens,
        )
        answer = await self._asker.ask(state, request, lambda reply: reply)
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
                raise ReplyProblem("the job's goal is not reached, as was said: plan on, or give up with evidence")
            return plan

        retold = replace(planned_by, messages=(*planned_by.messages[:-1], again))
        instead = await self._asker.ask(state, retold, read_on)
        return replace(instead.value, prompt=f"[{asked},\n{instead.transcript}]")

    # --- step ----------------------------------------------------------------------------------------

    async def step(self, state: SessionState, goal: str, steps: Sequence[Step]) -> StepDecision:
        """The actions for the page as it is now.

        Raises:
            ModelError: the model could not be asked, or gave no usable reply.
            ActionInvalid: the job names an action set that does not exist, or a model without eyes is to point.
        """
        self._reader.recall(state)
        if state.spec.grounding == "coordinates" and not self._options.images:
            raise ActionInvalid("`grounding` by coordinates needs a model that reads pictures (SHOAL_MODEL_IMAGES)")

        async def ask(chars: int) -> StepDecision:
            seen = await self._asker.look(state, chars)
            shown = await self._pictures(state, seen, steps)
            text = self._asker.text(state, seen, chars)
            choices = offered(seen, state.spec.grounding)
            if self._jobs.points_at(self._jobs.offers(state.spec)):
                images, canvas = await asyncio.to_thread(
                    canvas_of, shown.images, seen.viewport, self._options.grid, self._options.points
                )
                shown, choices = replace(shown, images=images), replace(choices, canvas=canvas)
            shape = self._step_shape(state, choices)
            variables = {
                **self._asker.prompt_variables(state, seen, text, chars),
                "pictures": shown.words,
                "mini_goal": goal,
                "steps": step_lines(steps, choices.canvas, chars=chars),
                "candidates": choices.candidates,
            }
            request = Ask(
                messages=session_messages("step", variables, shown.images, earlier(state, len(steps), chars)),
                schema_name="step",
                json_schema=step_schema(shape),
                disabled=choices.disabled,
                max_tokens=self._options.step_tokens,
            )
            read = _Decide(state, seen, choices, steps)
            answer = await self._asker.ask(state, request, read)
            if state.spec.sight.observations > 1:
                pictures = tuple(image.data for image in shown.images)
                remember(state, ShownPage(len(steps), seen.url, text, pictures))
            return replace(answer.value, prompt=answer.transcript)

        return await self._asker.fitting(state, ask)

    def _first_shape(self, state: SessionState, choices: Offered) -> StepShape | None:
        """Return what the actions of a plan may be; None where a step is told more than a plan is."""
        spec = state.spec
        points = self._jobs.points_at(self._jobs.offers(spec))
        if spec.grounding not in ("bid", "mark") or spec.wants_codes or points:
            return None
        shape = self._step_shape(state, choices)
        return replace(shape, action_types=tuple(kind for kind in shape.action_types if kind not in _NOT_FIRST))

    def _step_shape(self, state: SessionState, choices: Offered) -> StepShape:
        spec = state.spec
        calls = self._jobs.offers(spec)
        return StepShape(
            ids=(*choices.elements, *choices.waiting),
            action_types=action_types(spec, calls=bool(calls)),
            error_codes=tuple(spec.error_codes),
            verification_check=spec.wants_codes,
            calls=calls,
        )

    # --- extract -------------------------------------------------------------------------------------

    async def extract(self, state: SessionState) -> Extraction:
        """Return what the page shows of the job's `extract`, read in parts where it is long,
        each value looked up in its text.

        Raises:
            FieldsMissing: one record is wanted, and the page shows nothing of it.
            ModelError: the model could not be asked, or gave no usable reply.
        """
        return await self._reader.read(state)

    # --- field glossary ------------------------------------------------------------------------------

    async def glossary(self, state: SessionState, schema: dict[str, Json]) -> ModelAnswer[RepliedGlossary]:
        """Return what pages may call the fields of a record's schema,
        asked of the schema alone.

        Raises:
            ModelError: the model could not be asked, or gave no usable reply.
            BudgetSpent: the job's tokens are spent.
        """
        return await ask_glossary(self._asker, state, schema)

    # --- collect -------------------------------------------------------------------------------------

    async def collect(self, state: SessionState, plan: Plan) -> AsyncIterator[LoopItem]:
        """The values of the session's loop: given, selected by CSS, or pointed at by the model, in this order."""
        if plan.loop_values is not None:
            for index, value in enumerate(plan.loop_values):
                yield LoopItem(index, value, plan.is_loop_value_link)
            return
        loop = state.loop
        source = loop.source if loop else None
        if loop is not None and (source is None or is_css(source.select)):
            async for item in self._fallback.collect(state, plan):
                yield item
            return
        asked = source.select if source else plan.plan or state.spec.goal or ""
        following = source.next if source else None

        beyond: list[str] = []  # pages that hold more than one look gives

        async def look() -> CollectedPage:
            seen = await state.observe()
            if seen.beyond:
                beyond.append(seen.url)
            state.listed = max(state.listed or 0, stated_count(PageText([seen]).whole) or 0) or None
            return await self._asker.fitting(state, lambda chars: self._point_out(state, asked, following, seen, chars))

        items = collected(
            state,
            look,
            is_link=loop.is_link if loop else plan.is_loop_value_link or None,
            max_pages=source.max_pages if source else 100,
            max_items=loop.max_items if loop else None,
        )
        texts: set[str] = set()
        count = 0
        async for item in items:
            texts.add(item.label)
            count += 1
            yield item
        limited = loop is not None and loop.max_items is not None and count >= loop.max_items
        if beyond and not limited:
            state.cut = state.cut or f"{beyond[0]} holds more than one look gives; the rest was not read"
        if not (state.cut or limited or (state.listed or count + 1) <= count):
            state.cut = (await read_list_end(state.page)).cut_by(texts)

    async def _point_out(
        self, state: SessionState, asked: str, following: str | None, seen: Observation, chars: int
    ) -> CollectedPage:
        """The items and the way on, on all parts of one page.

        Raises:
            ReplyInvalid: even for a small part the list did not end: an item that is left out would never be missed.
        """
        choices = offered(seen, "bid")
        wish = {"wanted": asked, "next_words": following}

        async def ask(part: int, text: str) -> ModelAnswer[Json]:
            elements = only_in(text, choices).elements
            request = Ask(
                messages=session_messages(
                    "collect", {**self._asker.prompt_variables(state, seen, text, chars, part), **wish}
                ),
                schema_name="collect",
                json_schema=collect_schema(tuple(elements)),
                max_tokens=self._options.collect_tokens,
            )
            return await self._asker.ask(state, request, lambda reply: reply, doubt_cut=False)

        parts = in_parts(self._asker.text(state, seen, chars), chars)[: self._options.parts]
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
        return CollectedPage(seen.url, items, choices.elements[onward] if onward else None)

    async def _pictures(
        self, state: SessionState, seen: Observation, steps: Sequence[Step] | None = None
    ) -> PromptImages:
        if not self._options.images:
            return PromptImages()
        points = self._jobs.points_at(self._jobs.offers(state.spec))
        return await pictures_of(state, seen, steps, points=points)


_NOT_FIRST = frozenset({"COMPLETE", "TERMINATE", "WAIT", "SOLVE_CAPTCHA"})
"""Action types that a plan does not begin with."""
_ENDING = frozenset({"answer", "report_infeasible"})


def _wants_proof(plan: Plan, state: SessionState) -> bool:
    """Return whether a model has to look if the job's criterion holds, though the job itself says that all is done."""
    # A parent sums up what its items gave: it has no page of its own to look at.
    return plan.user_goal_achieved and state.spec.complete_criterion is not None and state.loop is None


class _PlanOn:
    """Reads a plan's reply: what code knows of plans, on the page that was shown."""

    def __init__(self, state: SessionState, seen: Observation, choices: Offered) -> None:
        self._state = state
        self._seen = seen
        self._page = PageText([seen])
        self._given = allowed_targets(state, seen)
        self._decide = _Decide(state, seen, choices, ())

    def __call__(self, reply: Json) -> Plan:
        state = self._state
        state.wants_answer = state.wants_answer or reply.get("wants_answer", False)
        proposed = plan_from(reply)
        if proposed.task_type == "answer" and reply.get("answer"):
            basis = basis_of(reply["answer"], state.pages, state.records, input_text(state))
            proposed = replace(proposed, answer=reply["answer"]["text"], rests_on=basis)
        plan = sound(proposed, self._seen.url, state, page=self._page, given=self._given)
        check_loop_values(plan, lambda: allowed_values(state, self._page))
        if plan.user_goal_achieved and state.children is None:
            check_data_used(state, self._page, (), plan)
        return replace(plan, first=self._first(reply, plan))

    def _first(self, reply: Json, plan: Plan) -> StepDecision | None:
        """The actions that the plan begins with; None where a step has to be asked for them."""
        if plan.task_type != "navigate" or not reply.get("actions"):
            return None
        step_reply = {**reply, "thoughts": f"{plan.thoughts} {plan.plan}".strip(), "user_goal_achieved": False}
        try:
            first = self._decide(step_reply)
        except ReplyProblem:
            return None  # the plan stands; its first step is asked for by itself
        return None if any(action.name in _ENDING for action in first.actions) else first


class _Decide:
    """Reads a step's reply: the rules that code keeps, on the page that was shown."""

    def __init__(self, state: SessionState, seen: Observation, choices: Offered, steps: Sequence[Step]) -> None:
        self._state = state
        self._steps = steps
        self._seen = seen
        self._choices = choices
        self._page = PageText([seen])
        self._given = allowed_targets(state, seen)

    def __call__(self, reply: Json) -> StepDecision:
        thought = reply["thoughts"].strip()
        actions = actions_of(reply, self._choices, given=self._given, page=self._page)
        bids = {name: element.bid for name, element in self._choices.elements.items()}
        then_done = expected(reply.get("then_done"), self._seen, bids, actions)
        if reply.get("then_done") and then_done is None:
            thought += " (`then_done` was left out: it tells nothing that the page did not show before.)"
        decision = StepDecision(
            thought,
            actions,
            then_done=then_done,
            rests_on=self._basis(actions),
        )
        check_values(decision, reply, lambda: allowed_values(self._state, self._page, self._steps))
        earlier = [step for task in self._state.history for step in task.steps]
        check_progress(decision, self._seen.elements, (*earlier, *self._steps))
        if any(action.name == "complete" for action in actions):
            check_data_used(self._state, self._page, self._steps, decision)
        if decision.rests_on == Basis():
            raise ReplyDoubt(
                "no page that was seen says this answer: answer in words that a page says, or COMPLETE, and the next "
                "plan gives the answer with what it rests on",
                decision,
            )
        return decision

    def _basis(self, actions: Sequence[Action]) -> Basis | None:
        """Return what an answer among the actions rests on."""
        answer = next((str(action.args["text"]) for action in actions if action.name == "answer"), None)
        state = self._state
        if answer is None:
            return None
        return basis_of_words(answer, state.pages, state.records, input_text(state, self._steps))
