"""Origins of values, element locators that agree, and the outcome of runs that did the same."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from shoal.agent.support.json_value import Json
from shoal.agent.types import LoopItem
from shoal.agent.workflows.divergences import Divergence, DivergenceReason
from shoal.agent.workflows.elements.finding import vote
from shoal.agent.workflows.format.param import value_hash
from shoal.agent.workflows.format.target import Locator, Target
from shoal.agent.workflows.learning.compile_fields import url_template
from shoal.agent.workflows.learning.compile_version import compile_version
from shoal.agent.workflows.learning.evidence import ActionEvidence, EvidenceBook, SessionEvidence, unpacked
from shoal.agent.workflows.learning.origin import Origin, Sources, origin_of
from shoal.agent.workflows.replay.values import values_of

SOURCES = Sources(
    data={"company": "Hallam", "ids": [4, 4]},
    item='{"name": "Ada Lovelace", "phone": "+44 20 123", "size": 3}',
    earlier=({"reference": "Q-17"},),
    goal="Ask for a quote in blue",
    page="We deliver to Leeds",
)


@pytest.mark.parametrize(
    ("value", "kind", "path", "transform"),
    [
        ("Ada Lovelace", "loop", "$.name", None),
        ("ada lovelace", "loop", "$.name", "lower"),
        ("Lovelace", "loop", "$.name", "last_word"),
        ("4420123", "loop", "$.phone", "digits"),
        ("3", "loop", "$.size", None),
        ("Hallam", "data", "$.company", None),
        ("secret:portal", "secret", "portal", None),
        ("Q-17", "earlier", "reference", None),
        ("blue", "goal", "", None),
        ("Leeds", "page", "", None),
        ("purple", "model", "", None),
        ("4", "model", "", None),
    ],
)
def test_a_value_is_traced_to_its_source(value: Json, kind: str, path: str, transform: str | None) -> None:
    found = origin_of(value, SOURCES)
    assert (found.kind, found.path, found.transform) == (kind, path, transform)


def test_what_the_model_said_that_it_took_is_noted() -> None:
    assert origin_of("Hallam", SOURCES, answer="Hallam").answer
    assert not origin_of("Hallam", SOURCES, answer="other").answer


# --- locators -----------------------------------------------------------------------------------------

NAME = Locator(family="role_name", value="E-mail", role="textbox", unique_on=2)
CSS = Locator(family="css", value="#mail", unique_on=2)
PATH = Locator(family="structure", value="html > body:nth-of-type(1)", unique_on=2)
XPATH = Locator(family="xpath", value="/html/body", unique_on=2)
LABEL = Locator(family="label", value="E-mail", unique_on=2)
TEST_ID = Locator(family="test_id", value="mail", unique_on=2)


@pytest.mark.parametrize(
    ("locators", "found", "once", "posted", "chosen"),
    [
        ((NAME, CSS), [["a"], ["a"]], False, False, "a"),
        ((NAME, CSS), [["a"], []], False, False, DivergenceReason.ONE_WITNESS),
        ((NAME, CSS), [["a"], ["a", "b"]], False, False, DivergenceReason.ONE_WITNESS),
        ((NAME, LABEL), [["a"], ["a"]], False, False, DivergenceReason.ONE_WITNESS),  # one text names both
        ((PATH, XPATH), [["a"], ["a"]], False, False, DivergenceReason.ONE_WITNESS),  # one position
        ((NAME,), [["a"]], False, True, "a"),
        ((NAME,), [["a"]], False, False, DivergenceReason.ONE_WITNESS),
        ((TEST_ID,), [["a"]], False, False, "a"),
        (
            (NAME, CSS, PATH),
            [["b"], ["a"], ["a"]],
            False,
            False,
            DivergenceReason.CONTRADICTION,
        ),  # a stronger one elsewhere
        ((NAME, CSS, PATH), [["a"], ["a"], ["b"]], False, False, "a"),
        (
            (NAME, CSS, PATH),
            [["a"], ["a"], ["b"]],
            True,
            False,
            DivergenceReason.CONTRADICTION,
        ),  # never for what runs once
        ((CSS, PATH), [[], []], False, False, DivergenceReason.ONE_WITNESS),
    ],
)
def test_an_element_is_acted_on_when_independent_ways_agree(
    locators: Sequence[Locator], found: Json, once: bool, posted: bool, chosen: str | DivergenceReason
) -> None:
    got = vote(Target(locators=tuple(locators)), found, where="n1", once=once, posted=posted)
    assert (got.reason if isinstance(got, Divergence) else got[0]) == chosen


# --- compiling ----------------------------------------------------------------------------------------


def form_run(
    row: str, *, name: str, colour: str = "blue", origin: str = "loop", led: str = "Q-1", said: str = "Thank you"
) -> SessionEvidence:
    target = Target(
        role="textbox",
        name="Name",
        locators=(LABEL.model_copy(update={"unique_on": 1}), CSS.model_copy(update={"unique_on": 1})),
    )
    button = Target(
        role="button",
        name="Send",
        locators=(
            Locator(family="role_name", value="Send", role="button", unique_on=1),
            Locator(family="css", value="#send", unique_on=1),
        ),
    )
    path = "$.name" if origin == "loop" else ""
    return SessionEvidence(
        item=row,
        actions=(
            ActionEvidence(
                action="fill",
                args={"value": name},
                origins={"value": Origin.model_validate({"kind": origin, "path": path})},
                target=target,
                value=name,
                url="https://f.example/quote",
            ),
            ActionEvidence(
                action="select_option",
                args={"options": colour},
                origins={"options": Origin(kind="goal" if colour == "blue" else "model")},
                target=target,
                url="https://f.example/quote",
            ),
            ActionEvidence(
                action="click",
                target=button,
                submits=True,
                url="https://f.example/quote",
                led_to=f"https://f.example/received/{led}" if led else "",
            ),
        ),
        said=(said, f"Reference {led}") if led else (said,),
        ended="https://f.example/received",
    )


def test_what_differs_is_a_parameter_and_what_is_the_same_a_constant() -> None:
    runs = [form_run('{"name": "Ada"}', name="Ada", led="Q-1"), form_run('{"name": "Bob"}', name="Bob", led="Q-2")]
    made = compile_version(runs, None)
    assert made.version is not None, made.open
    fill, choose, send = made.version.nodes
    assert fill.args["value"].param == "name" and choose.args["options"].const == "blue"  # type: ignore[union-attr]
    assert [(param.name, param.source, param.path) for param in made.version.params] == [("name", "loop", "$.name")]
    assert send.once and send.submits and not fill.once  # type: ignore[union-attr]
    assert [(one.kind, one.value) for one in send.post] == [
        ("url", "https://f.example/received/{}"),
        ("text", "Thank you"),
    ]
    assert [(one.kind, one.value) for one in fill.post] == [("value", "{name}")]
    values = values_of(made.version, None, LoopItem(7, '{"name": "Eve"}', False), ())
    assert values == {"name": "Eve"}
    missing = values_of(made.version, None, LoopItem(7, '{"other": "Eve"}', False), ())
    assert isinstance(missing, Divergence) and missing.reason is DivergenceReason.PARAMETER


def test_a_value_that_differs_and_has_no_source_stays_the_models() -> None:
    runs = [form_run("{}", name="Ada", colour="red"), form_run("{}", name="Bob", colour="green")]
    made = compile_version(runs, None)
    assert made.version is None
    assert any(one.what == "step 2 (select_option), options" and "differ" in one.why for one in made.open)


def test_a_value_that_no_step_used_has_to_stay_as_it_was() -> None:
    runs = [form_run('{"name": "Ada"}', name="Ada", led="Q-1"), form_run('{"name": "Bob"}', name="Bob", led="Q-2")]
    ids = ("1", "2")
    runs = [
        run.model_copy(update={"leaves": {"loop $.colour": value_hash("red"), "loop $.id": value_hash(n)}})
        for run, n in zip(runs, ids, strict=True)
    ]
    made = compile_version(runs, None)
    assert made.version is not None
    row = '{"name": "Eve", "id": "3", "colour": "red"}'
    assert isinstance(values_of(made.version, None, LoopItem(7, row, False), ()), dict)
    other = values_of(made.version, None, LoopItem(7, row.replace("red", "blue"), False), ())
    assert isinstance(other, Divergence) and "no step used it" in other.detail


def test_a_value_is_no_constant_because_two_runs_happened_to_have_the_same() -> None:
    runs = [form_run('{"name": "Ada"}', name="Ada", led="1"), form_run('{"name": "Ada"}', name="Ada", led="2")]
    made = compile_version(runs, None)
    assert made.version is not None
    assert made.version.nodes[0].args["value"].param == "name"  # type: ignore[union-attr]


def test_a_form_of_which_nothing_says_that_it_was_taken_is_not_learned() -> None:
    runs = [form_run("{}", name="Ada", led="", said="a"), form_run("{}", name="Ada", led="", said="b")]
    made = compile_version(runs, None)
    assert any("nothing on the pages after it" in one.why for one in made.open)


def test_one_run_and_runs_that_did_different_things_teach_nothing() -> None:
    one = form_run("{}", name="Ada")
    assert compile_version([one], None).version is None
    other = one.model_copy(update={"actions": one.actions[:2]})
    made = compile_version([one, other], None)
    assert made.version is None and "different things" in made.open[0].why


def alone(**given: str) -> SessionEvidence:
    """The one run of a job with these data, that filed a form with the name of it."""
    leaves = {f"data $.{name}": value_hash(value) for name, value in given.items()}
    run = form_run("", name="Ada Lovelace", origin="data", led="17", said="Thank you, Ada Lovelace")
    fill, *rest = run.actions
    fill = fill.model_copy(update={"origins": {"value": Origin(kind="data", path="$.name")}})
    return run.model_copy(update={"actions": (fill, *rest), "leaves": leaves, "said": (*run.said, "Number 17", "Sent")})


def test_one_run_of_a_job_teaches_by_where_its_values_came_from() -> None:
    made = compile_version([alone(name="Ada Lovelace")], None, by_origin=True)
    assert made.version is not None, made.open
    fill, choose, send = made.version.nodes
    assert fill.args["value"].param == "name" and choose.args["options"].const == "blue"  # type: ignore[union-attr]
    assert [(param.source, param.path) for param in made.version.params] == [("data", "$.name")]
    assert [(one.kind, one.value) for one in send.post] == [
        ("url", "https://f.example/received/{}"),
        ("text", "Sent"),
    ], "what a page says of one run alone is no condition for others"
    values = values_of(made.version, {"name": "Eve"}, None, ())
    row = LoopItem(0, '{"name": "Zoe", "size": 4}', False)
    assert values_of(made.version, {"name": "Eve"}, row, ()) == {"name": "Zoe"}, "a loop's row goes over the job's data"
    assert values_of(made.version, {"name": "Eve"}, LoopItem(0, "https://x.example/", True), ()) == values
    assert values == {"name": "Eve"}


def test_what_one_run_does_not_say_stays_a_decision_of_the_model() -> None:
    run = alone(name="Ada Lovelace")
    fill, choose, send = run.actions
    thought = choose.model_copy(update={"origins": {"options": Origin(kind="model")}})
    made = compile_version([run.model_copy(update={"actions": (fill, thought, send)})], None, by_origin=True)
    assert made.version is None
    assert [(one.what, "from the model alone" in one.why) for one in made.open] == [("step 2 (select_option)", True)]

    assert send.target is not None
    order = send.model_copy(update={"target": send.target.model_copy(update={"name": "Send order 4711 now"})})
    for number in ("4711", 4711):
        leaves = {**run.leaves, "data $.order": value_hash(number)}
        called = run.model_copy(update={"actions": (fill, choose, order), "leaves": leaves})
        made = compile_version([called], None, by_origin=True)
        assert made.version is None and "$.order" in made.open[0].why, made.open


def test_evidence_is_read_as_it_was_packed() -> None:
    one = form_run('{"name": "Ada"}', name="Ada")
    assert unpacked(one.packed()) == one
    with pytest.raises(ValueError, match="no evidence"):
        unpacked(b"x")


def test_of_what_the_job_holds_to_be_secret_not_even_a_hash_is_kept() -> None:
    book = EvidenceBook(LoopItem(0, '{"name": "Ada", "pin": "4711-x"}', False))
    kept = book.book(
        "https://f.example", (), {"key": "k-99", "city": "Leeds"}, lambda text: text.replace("4711-x", "***")
    )
    assert sorted(kept.leaves) == ["data $.city", "data $.key", "loop $.name"]
    assert "4711-x" not in kept.model_dump_json()


@pytest.mark.parametrize(
    ("urls", "template"),
    [
        (["https://a/p/1", "https://a/p/2"], "https://a/p/{}"),
        (["https://a/p?id=1&v=2", "https://a/p?id=3&v=2"], "https://a/p?id={}&v=2"),
        (["https://a/p/1", "https://a/q/x/2"], ""),
        (["https://a/p/1", "https://b/p/2"], ""),
        (["https://a/p", "https://a/p"], "https://a/p"),
    ],
)
def test_addresses_become_a_template(urls: Sequence[str], template: str) -> None:
    assert url_template(urls) == template
