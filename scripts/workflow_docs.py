"""Writes docs/workflows/format.md and workflow.schema.json there (--check: only says whether both are current)."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, Union, get_args, get_origin

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from scripts.generated import deliver
from shoal.agent.workflows.format.workflow import Workflow, workflow_schema

HEAD = """# The format of a workflow

A workflow is one JSON object. It says what was learned: the steps, the elements, the parameters, and the places of the
fields. It holds no code, and secrets stand in it by name only. It belongs to one tenant.

The smallest workflow that reads two fields from each page of a loop:

```json
{
  "format": "shoal-workflow/1",
  "name": "books",
  "scope": {"site": "shop.example"},
  "versions": [
    {
      "nodes": [{"id": "read", "kind": "extract"}],
      "branches": [
        {
          "id": "product",
          "signature": {"url": "https://shop.example/p/{}"},
          "fields": [
            {
              "name": "price",
              "channels": [
                {"family": "json_ld", "place": {"json": "$.offers.price", "reader": "price"}, "shown": false},
                {"family": "css", "place": {"select": "p.price", "reader": "price"}, "shapes": ["€9.9"]}
              ]
            },
            {
              "name": "upc",
              "channels": [
                {"family": "label", "place": {"label": "UPC"}},
                {"family": "structure", "place": {"select": "#facts > tr:nth-of-type(1) > td"}}
              ]
            }
          ]
        }
      ]
    }
  ]
}
```

A field is accepted when channels of two families agree. A channel's `place` is spelled as in `extract.fields` of a job
([the job's fields](../job.md)), so a learned field can be copied from a workflow into a job and back.

A file that does not parse, or whose parts do not fit together, is refused. The message names the place of each fault,
such as `versions[0].nodes[3].args.value: there is no parameter 'email'`.

## What is learned, and what is a miss

* While a model works, each action and each page that gives a record is kept as evidence (artifacts `evidence` and
  `snapshot`): every way to find the element, where each value came from, every place that states a field.
* A field is learned from at least two pages with different values, by at least two kinds of places that gave the right
  value on all of them. Where all pages say the same, another value is a miss, and only places that are called like the
  field count.
* A value is accepted when two kinds of places agree, none says anything else, and the raw text has a shape that was
  learned: `$12.00` is no `€12.00`, and `1.299,00` is no `1,299.00`. A field that was learned by a name is never
  accepted by its position alone.
* An element is acted on when two independent ways to find it agree. For an action that sends something nothing may
  point elsewhere.
* Where runs differ by one click that only some of them did, the click becomes a node that is done where its element can
  be seen, such as a cookie banner that is closed. It takes two runs with the click and two without. The click must send
  nothing and lead nowhere. Its element must be gone after it, and in no run that did not click it: a box that some runs
  ticked stays a decision of the model.
* The JSON that a page itself requests is learned beside the page's own places, as the branch's `request`. It has to be
  a GET to the page's own origin, without a header or a name in its query that may say who asks. Each part of its
  address that differs is a whole part of the page's address. Each part of the page's address that differs stands as a
  value in the object with the record. At least two fields stand in the same object and differ between items. Lists are
  not looked into. Such pages are read from their answers alone once three pages said the same
  ([reading without a browser](../extracting.md#reading-without-a-browser)).
* Everything else is a miss. It has a reason, and the item goes to the policy behind. After an action that may have
  sent something, a miss ends the session as `unsure`, and nothing is sent again.

* A field that some pages lack is learned as null from at least two pages with it and two without it, where the schema
  lets it be null or absent. Its label, or a place that only it has, must tell the pages apart. Or its label must stand
  before a text such as `n/a` on the pages without it. Null is given where no place states the value, where each text
  that all pages have is there, and where every other text is one that pages without the value have: a label of another
  name, or a text at another place, is a miss. On a page with scripts a null is given after 5 seconds, as a script may
  draw the value. A page whose document alone was read gives no null.

* An element in a frame, or in an open shadow root, is learned with the way to it: a CSS selector of each `frame` or
  shadow host around it, which finds that one alone and does not go by its position. A frame must show a document of the
  same origin as when it was learned; another one is a miss, and nothing is typed into it.

The limits: lists (several records of one page), and fields that are objects or lists, are not learned. Of a page with
several records the page itself is kept (artifact `snapshot`). Fields of records are learned from the page's own
document alone: a value that stands only in a frame or a shadow root is read by the model. An action on an element is
left to the model where the element is in a closed shadow root or in a frame inside a shadow root, and where a frame or
a host is told apart by its position alone. So is a form in a frame whose answer appears in that frame: what says that a
form was taken is looked for on the page itself.

A version gives whole records: one field that cannot be learned prevents it, and the loop's `why` names the field.
`open` lists the pages that a version leaves to the model: those of another kind, and those without a field whose
absence was not learned. A loop in which one of the first pages lacks a field does two more items, up to nine, for
another such page. A repair learns from the missed items alone: a field that none of the first pages lacked stays a miss
where later ones lack it.

Nodes of the kinds `loop`, `call`, `model` and `person`, and `on_miss: retry`, can be written down, and are not run. A
workflow with one is refused when it is imported, edited, brought along by a job or activated: the message names the
node and says what to do instead. So are `post` of a node that is no action, and `on_miss: branch` of an extraction.

## Files of other programs

| format | read | written |
| --- | --- | --- |
| this one | yes | yes |
| Chrome DevTools Recorder (JSON) | yes | yes |
| Automa (JSON), a straight line of blocks | yes | yes |
| Playwright script (Python) | no | yes |

What a format cannot say is listed with each import and export, by its place. A file of Automa with a block that no node
does is refused: without the block the workflow would do something else.

## The schema

[The JSON Schema of the format](workflow.schema.json) is published with it.

This page is written by `scripts/workflow-docs` from `agent/workflows/format`.
"""


def page() -> str:
    """The whole page: one table for each record."""
    out = [HEAD]
    for model in dict.fromkeys(_records(Workflow)):
        about = " ".join((model.__doc__ or "").split())
        out.append(f"## {model.__name__}\n\n{about}\n\n| field | kind | default | meaning |\n| --- | --- | --- | --- |")
        out += [_row(name, field) for name, field in model.model_fields.items()]
        out.append("")
    return "\n".join(out)


def _records(model: type[BaseModel]) -> Iterator[type[BaseModel]]:
    """The records of a workflow, in the order of their fields."""
    yield model
    for field in model.model_fields.values():
        for inner in _models_of(field.annotation):
            if inner is not model and inner.__module__.startswith("shoal.agent.workflows"):
                yield from _records(inner)


def _models_of(annotation: Any) -> Iterator[type[BaseModel]]:
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield annotation
    for inner in get_args(annotation):
        yield from _models_of(inner)


def _row(name: str, field: FieldInfo) -> str:
    default = "required" if field.is_required() else _default(field.get_default(call_default_factory=True))
    kind = _kind(field.annotation)
    return f"| `{field.alias or name}` | {kind} | {default} | {field.description or ''} |"


def _default(value: Any) -> str:
    return "" if value in (None, "", (), {}) else f"`{json.dumps(value)}`"


def _kind(annotation: Any) -> str:
    """The kind of a field's value, in words."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return _kind(inner[0])
    if origin is Literal:
        return " \\| ".join(f"`{kind}`" for kind in inner)
    if origin in (Union, UnionType):
        return " or ".join(dict.fromkeys(_kind(part) for part in inner if part is not NoneType))
    if origin is tuple:
        return f"list of {_kind(inner[0])}"
    if origin is dict:
        return f"object of {_kind(inner[1])}"
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation.__name__
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", Any: "any JSON"}
    return names.get(annotation, getattr(annotation, "__name__", "any JSON"))


if __name__ == "__main__":
    schema = json.dumps(workflow_schema(), indent=1, ensure_ascii=False) + "\n"
    sys.exit(deliver("docs/workflows/format.md", page()) or deliver("docs/workflows/workflow.schema.json", schema))
