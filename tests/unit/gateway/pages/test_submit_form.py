"""The form of a job: it has every field of the spec, and gives back the job that it was filled with."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence

import pytest
from hypothesis import given as for_all
from hypothesis import strategies as st

from shoal.agent.spec import JobSpec
from shoal.agent.support.json_value import Json
from shoal.services.errors import BadInput
from shoal.services.web.pages.submit.compose import Draft, Inputs, composed, read_draft
from shoal.services.web.pages.submit.fields import SpecField, blank_form, filled_form, spec_schema, strangers
from shoal.services.web.pages.submit.loop_values import loop_values, read_table
from shoal.services.web.pages.submit.presets import PRESETS
from shoal.services.web.pages.submit.sections import sections

SCHEMA = {"type": "object", "properties": {"price": {"type": "number"}}, "required": ["price"]}
SPECS: tuple[dict[str, Json], ...] = (
    {"url": "https://a.example/", "goal": "look\naround"},
    {"url": "https://a.example/", "extract": {}},
    {"url": "https://a.example/", "extract": {"schema": SCHEMA, "fields": {"price": {"select": ".p", "all": True}}}},
    {"url": "https://a.example/", "loop": {"values": ["a", '{"x": 1}', "two\nlines", '"quoted"', " spaced "]}},
    {"url": "https://a.example/", "loop": {"from": {"select": "li a", "max_pages": 3}, "loop": {"values": ["b"]}}},
    {"url": "https://a.example/", "goal": "x", "data": {"name": "Ada", "tags": [1, None]}, "repeatable": False},
    {"url": "https://a.example/", "goal": "x", "labels": {"team": "a", "é": ""}, "error_codes": {"E1": "closed"}},
    {"url": "https://a.example/", "goal": "x", "secrets": {"shop": {"domains": ["a.example", "b.example"]}}},
    {
        "url": "https://a.example/",
        "goal": "x",
        "browser": {"viewport": {"width": 800}, "block": ["image", "font"], "headers": {"X-A": "1"}, "headless": True},
        "politeness": {"robots": False, "delay_s": 1.5},
        "login": {"url": "https://a.example/in", "data": {"user": "a"}},
        "webhook": {"url": "https://hook.example/", "events": ["session.finished", "job.finished"]},
        "action_sets": ["basic"],
        "priority": -3,
        "deadline_s": 3600,
    },
)


def inputs_of(form: Sequence[SpecField]) -> Iterator[tuple[str, str]]:
    """Yield what a browser sends of a form."""
    for field in form:
        if field.kind == "group":
            if field.present and field.optional:
                yield f"{field.path}.#present", "1"
            yield from inputs_of(field.fields)
        elif field.kind == "map":
            for entry in field.entries:
                yield from inputs_of(entry.fields)
        elif field.kind == "choices":
            yield from ((field.path, one) for one in field.choices if one in field.chosen)
        else:
            yield field.path, field.value.replace("\n", "\r\n")


def draft_of(**texts: str) -> Draft:
    return composed(Inputs([(name.replace("__", "."), text) for name, text in texts.items()]))


@pytest.mark.parametrize("spec", [*SPECS, *(preset.spec for preset in PRESETS.values())])
def test_a_form_that_is_filled_with_a_job_gives_that_job(spec: Mapping[str, Json]) -> None:
    draft = composed(Inputs(list(inputs_of(filled_form(spec)))))
    assert draft.faults == ()
    assert canonical(draft.spec) == canonical(without_blanks(spec))
    assert strangers(spec) == []


STEPS = ({"fill": "#user", "value": "ada"}, {"click": "#next"}, {"wait_for": "#in"})


def test_the_steps_of_a_login_stay_objects() -> None:
    spec = {"url": "https://a.example/", "login": {"url": "https://a.example/in", "steps": list(STEPS)}}
    draft = composed(Inputs(list(inputs_of(filled_form(spec)))))
    assert draft.faults == () and draft.spec == spec
    assert JobSpec.model_validate({**draft.spec, "goal": "x"}).login is not None
    typed = draft_of(login__url="https://a.example/in", login__steps=json.dumps(STEPS))
    assert typed.spec["login"]["steps"] == list(STEPS)


TEXTS = st.text(st.characters(codec="utf-8", exclude_characters="\0\r"), min_size=1, max_size=20)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | TEXTS, lambda one: st.lists(one) | st.dictionaries(TEXTS, one)
)


def resolved(part: Mapping[str, Json]) -> Mapping[str, Json]:
    found = next(one for one in part.get("anyOf", [part]) if one.get("type") != "null")
    reference = found.get("$ref", "").rpartition("/")[2]
    return spec_schema()["$defs"][reference] if reference else found


def instances(part: Mapping[str, Json], at: str) -> st.SearchStrategy[Json]:
    """Return what the published schema allows at a place, without what a form takes for nothing: no text is blank."""
    schema = resolved(part)
    if "enum" in schema:
        return st.sampled_from(schema["enum"])
    match schema.get("type"):
        case "string":
            texts = TEXTS if at.endswith("values[]") else TEXTS.map(str.strip).map("{}x".format)
            return texts.filter(str.strip)
        case "array":
            unique = "enum" in resolved(schema["items"])
            return st.lists(instances(schema["items"], f"{at}[]"), min_size=1, max_size=3, unique=unique)
        case "object" if "properties" in schema:
            deep = {name: one for name, one in schema["properties"].items() if f".{name}.{name}.{name}." not in at}
            inner = {name: instances(one, f"{at}{name}.") for name, one in deep.items() if name != "loop"}
            return st.fixed_dictionaries({}, optional=inner).filter(bool)
        case "object" if isinstance(schema.get("additionalProperties"), Mapping):
            names = TEXTS.map(str.strip).filter(bool)
            return st.dictionaries(names, instances(schema["additionalProperties"], f"{at}[]"), min_size=1, max_size=3)
        case "object":
            return st.dictionaries(TEXTS, VALUES, max_size=3)
        case "boolean":
            return st.booleans()
        case "integer":
            return st.integers(1, 9)
        case "number":
            return st.integers(1, 9).map(float)
        case _:
            return VALUES.filter(lambda value: value is not None)


SCALARS = ("string", "boolean", "integer", "number")
PARTS = [name for name, part in spec_schema()["properties"].items() if resolved(part).get("type") not in SCALARS]


@pytest.mark.parametrize("name", [name for name in PARTS if name != "loop"])
@for_all(data=st.data())
def test_what_the_schema_allows_in_a_field_comes_back_as_it_was(name: str, data: st.DataObject) -> None:
    spec = {name: data.draw(instances(spec_schema()["properties"][name], f"{name}."))}
    draft = composed(Inputs(list(inputs_of(filled_form(spec)))))
    assert draft.faults == () and strangers(spec) == []
    assert sorted_choices(draft.spec) == sorted_choices(spec)


@for_all(loop=instances(spec_schema()["properties"]["loop"], "loop."), deeper=st.integers(0, 3))
def test_loops_within_loops_come_back_as_they_were(loop: Json, deeper: int) -> None:
    spec: Json = loop
    for _ in range(deeper):
        spec = {**loop, "loop": spec}
    draft = composed(Inputs(list(inputs_of(filled_form({"loop": spec})))))
    assert draft.faults == ()
    assert draft.spec == {"loop": spec}


def sorted_choices(value: Json) -> Json:
    """A spec whose lists of choices are in the order of the alphabet: a form sends them in the order of the schema."""
    if isinstance(value, Mapping):
        return {
            name: sorted(part) if name in ("block", "events") and isinstance(part, list) else sorted_choices(part)
            for name, part in value.items()
        }
    return value


def canonical(spec: Mapping[str, Json]) -> Json:
    """A spec with its choices in the order of the schema, in which a form sends them."""
    found = json.loads(json.dumps(spec))
    if "webhook" in found:
        found["webhook"]["events"].sort()
    return found


def without_blanks(spec: Mapping[str, Json]) -> Mapping[str, Json]:
    """Return what is left of a preset: an empty text and an empty list give nothing."""
    found = {name: part for name, part in spec.items() if part not in ("", [])}
    if isinstance(found.get("loop"), dict) and found["loop"].get("values") == []:
        found["loop"] = {}
    return found


def every_field(form: Sequence[SpecField]) -> Iterator[SpecField]:
    for field in form:
        yield field
        yield from every_field(field.fields)


def test_every_property_of_the_published_schema_has_a_field_and_a_place_on_the_page() -> None:
    def paths(schema: Mapping[str, Json], prefix: str, depth: int) -> Iterator[str]:
        for name, part in schema["properties"].items():
            yield prefix + name
            one = next(p for p in part.get("anyOf", [part]) if p.get("type") != "null")
            reference = one.get("$ref", "").rpartition("/")[2]
            if reference and depth + (name == "loop") <= 2:
                yield from paths(defs[reference], f"{prefix}{name}.", depth + (name == "loop"))

    schema = JobSpec.model_json_schema(by_alias=True)
    defs = schema["$defs"]
    shown = {field.path: field for field in every_field(blank_form())}
    assert set(paths(schema, "", 0)) <= shown.keys()
    assert shown["extract.fields"].fields and shown["secrets"].fields
    placed = [field.name for section in sections(blank_form()) for field in section.fields]
    assert sorted(placed) == sorted(schema["properties"])


def test_what_is_not_available_is_shown_as_such() -> None:
    fields = {field.path: field for field in every_field(blank_form())}
    assert not fields["browser.attach"].available
    assert fields["browser.locale"].available


def test_empty_inputs_give_nothing_and_wrong_ones_are_named() -> None:
    draft = draft_of(url=" https://a.example/ ", goal="  ", max_steps="many", deadline_s="inf", repeatable="maybe")
    assert draft.spec == {"url": "https://a.example/"}
    reasons = {fault["field"]: fault["reason"] for fault in draft.faults}
    assert reasons == {
        "max_steps": "must be a whole number",
        "deadline_s": "must be a number",
        "repeatable": "must be true or false",
    }
    assert draft_of(deadline_s="1e2", priority="+4").spec == {"deadline_s": 100.0, "priority": 4}


def test_json_in_a_field_is_read_or_its_place_is_named() -> None:
    assert draft_of(data='{"a": [1, null]}').spec == {"data": {"a": [1, None]}}
    (fault,) = draft_of(data='{"a": ').faults
    assert fault["field"] == "data" and "line 1" in fault["reason"]


def test_entries_of_a_map_may_have_gaps_between_them_and_need_a_name_of_their_own() -> None:
    pairs = [("labels[4].#key", "team"), ("labels[4]", "red"), ("labels[7].#key", ""), ("labels[7]", "")]
    assert composed(Inputs(pairs)).spec == {"labels": {"team": "red"}}
    faults = composed(Inputs([*pairs[:2], ("labels[8].#key", "team"), ("labels[9]", "x")])).faults
    assert [fault["reason"] for fault in faults] == ["'team' is there twice", "needs a name"]


def test_what_the_form_cannot_show_of_a_job_is_said() -> None:
    spec = read_draft('{"url": "x", "gaol": 1, "loop": {"form": {}}, "secrets": {"s": {"domain": 1}}}').spec
    assert strangers(spec) == ["gaol", "loop.form", "secrets.s.domain"]
    for text in ("[1]", '"x"', "{", "nul"):
        with pytest.raises(BadInput):
            read_draft(text)


CSV = 'name;city;plz\r\nAda;Wien;1010\r\n"O\'Hara; Mary";"Two\nlines";07\r\n\r\n'


def test_a_csv_file_gives_values_or_rows() -> None:
    table = read_table(CSV.encode("utf-8-sig"))
    assert table.columns == ("name", "city", "plz")
    assert loop_values(table, {"name": ""}) == ["Ada", "O'Hara; Mary"]
    rows = [json.loads(value) for value in loop_values(table, {"name": "full name", "plz": "zip"})]
    assert rows == [{"full name": "Ada", "zip": "1010"}, {"full name": "O'Hara; Mary", "zip": "07"}]


def test_a_file_of_json_lines_gives_the_same() -> None:
    table = read_table(b'{"url": "https://a.example/1", "n": 1}\n\n{"url": "https://a.example/2", "m": {"x": 2}}\n')
    assert table.columns == ("url", "n", "m")
    assert loop_values(table, {"url": ""}) == ["https://a.example/1", "https://a.example/2"]
    assert json.loads(loop_values(table, {"m": "m", "n": "n"})[1]) == {"m": {"x": 2}}
    assert loop_values(read_table(b'"one"\n"two"\n'), {"value": ""}) == ["one", "two"]


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "no rows"),
        (b"a,b\n1\n", "line 2 has 1 cells, and the first line 2"),
        (b"a,a\n1,2\n", "must name each column"),
        (b'{"a": 1}\n{"a"\n', "line 2 is no JSON"),
        (b"[1]\n", "line 1 is a list"),
        (b"a\n\xff\n", "not UTF-8"),
        (b"a\nx\0y\n", "U+0000"),
        (b'a,b\n"1,2\n', "no CSV"),
    ],
)
def test_a_file_that_is_not_whole_is_refused_by_its_line(content: bytes, reason: str) -> None:
    with pytest.raises(BadInput, match=re.escape(reason[1:])):
        read_table(content)


@pytest.mark.parametrize(
    ("mapping", "reason"),
    [
        ({}, "no column was chosen"),
        ({"x": ""}, "there is no column 'x'"),
        ({"a": "", "b": "b"}, "either one column is the value"),
        ({"a": "n", "b": "n"}, "two columns have the same name"),
        ({"b": ""}, "row 2 has nothing in the column 'b'"),
    ],
)
def test_a_mapping_that_says_nothing_clear_is_refused(mapping: dict[str, str], reason: str) -> None:
    table = read_table(b"a,b\n1,2\n3,\n")
    with pytest.raises(BadInput, match=re.escape(reason[1:])):
        loop_values(table, mapping)
