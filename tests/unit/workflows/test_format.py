"""The format of workflows: what is read is what was written, and a fault is told with its place."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import jsonschema
import pytest

from shoal.agent.errors import WorkflowInvalid
from shoal.agent.support.json_value import Json
from shoal.agent.workflows.format.branch import Signature
from shoal.agent.workflows.format.workflow import (
    goal_hash,
    read_workflow,
    schema_hash,
    workflow_schema,
    write_workflow,
)

ROOT = Path(__file__).resolve().parents[3]

FORM: Json = {
    "format": "shoal-workflow/1",
    "name": "quotes",
    "scope": {"site": "forms.example", "goal": goal_hash("File a quote")},
    "versions": [
        {
            "number": 2,
            "parent": 1,
            "state": "canary",
            "by": "repair",
            "params": [
                {"name": "email", "source": "loop", "path": "$.email"},
                {"name": "code", "source": "otp", "sensitive": True},
            ],
            "nodes": [
                {
                    "id": "n1",
                    "kind": "action",
                    "action": "fill",
                    "args": {"value": {"param": "email"}},
                    "target": {
                        "role": "textbox",
                        "locators": [
                            {"family": "label", "value": "E-mail", "unique_on": 2},
                            {"family": "css", "value": "input[type=email]", "unique_on": 2},
                        ],
                    },
                    "next": "n2",
                },
                {
                    "id": "n2",
                    "kind": "action",
                    "action": "click",
                    "submits": True,
                    "once": True,
                    "target": {"locators": [{"family": "role_name", "role": "button", "value": "Send"}]},
                    "post": [{"kind": "text", "value": "Thank you"}],
                    "next": "n3",
                },
                {"id": "n3", "kind": "extract"},
            ],
            "branches": [
                {
                    "id": "receipt",
                    "signature": {"url": "https://forms.example/receipt/{}"},
                    "fields": [
                        {
                            "name": "number",
                            "channels": [
                                {"family": "label", "place": {"label": "Receipt"}, "shapes": ["A-9"]},
                                {"family": "css", "place": {"select": "#receipt", "reader": "text"}},
                            ],
                        }
                    ],
                }
            ],
        }
    ],
}


def changed(path: str, value: Json) -> Json:
    """FORM with another value at `path` of its version, such as `nodes.0.args`."""
    made = copy.deepcopy(FORM)
    *way, last = path.split(".")
    at = made["versions"][0]
    for part in way:
        at = at[int(part)] if part.isdigit() else at[part]
    at[int(last) if last.isdigit() else last] = value
    return made


def test_what_is_read_is_written_the_same_way() -> None:
    workflow = read_workflow(FORM)
    assert write_workflow(workflow) == FORM
    assert read_workflow(json.dumps(write_workflow(workflow))) == workflow


def test_the_published_schema_takes_what_is_written() -> None:
    jsonschema.Draft202012Validator.check_schema(workflow_schema())
    jsonschema.validate(FORM, workflow_schema())
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate(changed("nodes.0.kind", "jump"), workflow_schema())


@pytest.mark.parametrize(
    ("path", "value", "place", "said"),
    [
        (
            "nodes.0.args",
            {"value": {"param": "mail"}},
            "versions[0].nodes[0].args.value",
            "there is no parameter 'mail'",
        ),
        ("nodes.0.args", {"text": {"const": "a"}}, "versions[0].nodes[0].args.text", "takes no such argument"),
        ("nodes.0.args", {"value": {}}, "versions[0].nodes[0].args.value", "exactly one of"),
        ("nodes.0.action", "type", "versions[0].nodes[0].action", "there is no action 'type'"),
        ("nodes.0.target", None, "versions[0].nodes[0].target", "none is named"),
        ("nodes.0.next", "n9", "versions[0].nodes[0]", "there is no node 'n9'"),
        ("nodes.0.colour", "red", "versions[0].nodes[0].colour", "Extra inputs are not permitted"),
        ("nodes.2.next", "n1", "versions[0].nodes[0]", "leads back"),
        ("nodes.2.branches", ["other"], "versions[0].nodes[2].branches[0]", "there is no branch 'other'"),
        ("nodes.1.kind", "jump", "versions[0].nodes[1]", "'jump'"),
        ("nodes.1.post", [{"kind": "text"}], "versions[0].nodes[1].post[0]", "needs `value`"),
        (
            "nodes.1.target",
            {"locators": [{"family": "structure", "value": "p"}]},
            "versions[0].nodes[1].target",
            "once",
        ),
        ("nodes.1.on_miss", "branch", "versions[0].nodes[1]", "go together"),
        ("nodes.1.on_miss", "retry", "versions[0].nodes[1].on_miss", "`retry` of 'n2' is not run"),
        (
            "nodes.2",
            {"id": "n3", "kind": "model", "goal": "go on"},
            "versions[0].nodes[2]",
            "end the workflow before it",
        ),
        ("nodes.2", {"id": "n3", "kind": "person", "question": "Is it?"}, "versions[0].nodes[2]", "job `help`"),
        ("nodes.2", {"id": "n3", "kind": "call", "workflow": "other"}, "versions[0].nodes[2]", "other workflow here"),
        (
            "nodes.2",
            {"id": "n3", "kind": "loop", "over": "email", "each": "row", "body": "n1"},
            "versions[0].nodes[2]",
            "'n3' is a loop node, and replay runs none: let the job's `loop`",
        ),
        ("nodes.2.post", [{"kind": "text", "value": "ok"}], "versions[0].nodes[2].post", "put a guard node behind"),
        (
            "nodes.2",
            {"id": "n3", "kind": "extract", "on_miss": "branch", "otherwise": "n4"},
            "versions[0].nodes[2].on_miss",
            "no other node follows its miss",
        ),
        ("params.1.sensitive", False, "versions[0].params[1]", "`sensitive`"),
        ("params.1.name", "email", "versions[0].params[1]", "there twice"),
        ("params.0.path", "$.[", "versions[0].params[0].path", "no JSONPath"),
        ("start", "n7", "versions[0].start", "there is no node"),
        (
            "branches.0.fields.0.channels.1.family",
            "label",
            "versions[0].branches[0].fields[0]",
            "needs channels of 2 families",
        ),
        (
            "branches.0.fields.0.channels.1.place",
            {"select": "a", "label": "b"},
            "versions[0].branches[0].fields[0].channels[1].place",
            "exactly one of",
        ),
        ("schema", {"properties": {"id": {}}}, "versions[0].branches[0].fields[0]", "no property of `schema`"),
    ],
)
def test_a_fault_is_told_with_its_place(path: str, value: Json, place: str, said: str) -> None:
    with pytest.raises(WorkflowInvalid) as caught:
        read_workflow(changed(path, value))
    assert place in caught.value.details["places"], caught.value.message
    assert said in caught.value.message


def test_a_file_that_is_no_json_is_told_with_its_line() -> None:
    with pytest.raises(WorkflowInvalid, match="line 1 column 2"):
        read_workflow("{no")


def test_the_value_of_a_run_cannot_be_stored() -> None:
    with pytest.raises(WorkflowInvalid, match="not stored here"):
        read_workflow(changed("params.0.value", "ada@example.org"))


def test_hashes_do_not_depend_on_writing() -> None:
    assert goal_hash("File  a\nQuote") == goal_hash("file a quote") != goal_hash("file a claim")
    assert schema_hash({"a": 1, "b": 2}) == schema_hash({"b": 2, "a": 1}) != schema_hash({"a": 1})
    assert goal_hash(None) == schema_hash(None) == ""


def test_a_branch_has_the_key_of_what_it_reads_and_on_which_pages() -> None:
    (version,) = read_workflow(FORM).versions
    branch = version.branches[0]
    assert version.branch_key(branch.id) == branch.key
    assert branch.model_copy(update={"id": "other", "learned_from": ("a",)}).key == branch.key
    assert branch.model_copy(update={"fields": (branch.fields[0], branch.fields[0])}).key != branch.key
    assert branch.model_copy(update={"signature": Signature(url="https://other.example/{}")}).key != branch.key
    assert version.branch_key("no such") == ""


def test_the_example_of_the_docs_is_a_workflow() -> None:
    text = (ROOT / "docs" / "workflows" / "format.md").read_text()
    example = text.split("```json\n")[1].split("```")[0]
    assert read_workflow(example).name == "books"
