"""The history in prompts: its newest part, within bounds, whatever a session went through."""

from __future__ import annotations

from shoal.agent.policies.model.requests.history import step_lines, task_lines
from shoal.agent.status import Status
from shoal.agent.types import Action, ActionResult, Effect, Step, Task
from tests.unit.agent.model import test_plan as plans
from tests.unit.agent.model.pages import URL
from tests.unit.agent.model.test_step import act, decide, step_reply


def steps(n: int, thought: str) -> tuple[Step, ...]:
    clicked = ActionResult(Action("click", {"bid": "4"}), effect=Effect())
    return tuple(Step(index, f"{URL}?{index}", f"{index} {thought}", (clicked,)) for index in range(n))


async def test_a_long_history_leaves_room_for_the_page() -> None:
    _, model = await decide(step_reply(act("CLICK", id="4")), steps=steps(400, "because of this and that. " * 200))
    asked = model.asked[0].messages[-1].text
    assert len(asked) < 26_000
    assert f"400. on {URL}?399: 399 because" in asked
    (told,) = [line for line in asked.split("\n") if "earlier steps are not shown" in line]
    left_out = int(told.split()[0].strip("("))
    assert f"{left_out + 1}. on {URL}?{left_out}: " in asked
    assert f"\n{left_out}. on" not in asked


async def test_a_history_that_fits_is_told_whole() -> None:
    _, model = await decide(step_reply(act("CLICK", id="4")), steps=steps(40, "so it is"))
    asked = model.asked[0].messages[-1].text
    assert "not shown" not in asked
    assert all(f"{n}. on {URL}?{n - 1}: {n - 1} so it is" in asked for n in range(1, 41))


async def test_finished_tasks_and_their_results_are_bounded_too() -> None:
    read = {"expected": 9, "completed": 9, "failed": 0, "first_records": [{"text": "long " * 2_000}] * 5}
    loop = Task("loop", "Read them all", Status.COMPLETED, result=read)
    done = tuple(Task("navigate", f"Mini goal {n} " + "word " * 150, Status.COMPLETED) for n in range(39))
    _, model = await plans.planned(plans.plan_reply(), history=(*done, loop))
    asked = model.asked[0].messages[-1].text
    assert len(asked) < 26_000
    assert "40. loop, completed: Read them all" in asked
    assert '"expected": 9' in asked
    assert "earlier tasks are not shown" in asked


async def test_a_page_is_told_where_it_changes_and_not_on_each_line() -> None:
    clicked = ActionResult(Action("click", {"bid": "4"}, target='button "Next"'), effect=Effect())
    pages = ("a", "a", "b", "b", "a")
    taken = tuple(Step(index, f"{URL}?{page}", "", (clicked,)) for index, page in enumerate(pages))
    done = Task("navigate", "Go on", Status.COMPLETED, steps=taken)
    _, model = await plans.planned(plans.plan_reply(), history=(done,))
    lines = [line.strip() for line in model.asked[0].messages[-1].text.split("\n") if 'button "Next"' in line]
    assert [line.partition("click")[0] for line in lines] == [f"on {URL}?a: ", "", f"on {URL}?b: ", "", f"on {URL}?a: "]


def test_what_a_field_holds_is_told_once() -> None:
    """An editor tells all that it holds after each key; a filled field holds what the call says."""
    note = "A long note. " * 6
    typed = ActionResult(Action("fill", {"bid": "1", "value": "Ada"}), effect=Effect(value="Ada"))
    noted = [
        ActionResult(
            Action("keyboard_press", {"key_comb": "Enter"}), effect=Effect(fields=(("Note", note),), fields_count=1)
        )
        for _ in range(20)
    ]
    changed = ActionResult(Action("fill", {"bid": "1", "value": "Eve"}), effect=Effect(value="EVE"))
    steps = [Step(n, URL, "", (one,)) for n, one in enumerate([typed, *noted, changed])]
    told = [result["outcome"] for line in step_lines(steps, chars=100_000) for result in line["results"]]
    assert told[0] == "done"
    assert sum(note[:20] in outcome for outcome in told) == 1
    assert told[-1] == "done, the field now holds 'EVE'"
    finished = Task("navigate", "Note it", Status.COMPLETED, steps=tuple(steps))
    lines = "\n".join(task_lines([finished], 100_000)[0]["steps"])
    assert (lines.count("Note now holds"), lines.count("EVE")) == (1, 1)
