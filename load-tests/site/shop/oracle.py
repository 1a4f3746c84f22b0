"""An oracle that answers as a model would, and knows the truth of its pages: `POST /v1/chat/completions`.

It reads the prompt as a model does: which page is shown, which ids its elements have, what the job's row says. With an
error rate it reads a number wrongly, for some pages, the same ones in every run.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from shop.drift import Drift, truth

_ADDRESS = re.compile(r"^url: (\S+)$", re.M)
_ITEM = re.compile(r"/drift/(\d+)/([a-z_0-9]+)/i/(\d+)")
_ELEMENT = re.compile(r'\[(\w+) (\w+) "([^"]*)"')
_REPEATED = re.compile(r"^([0-9]+): (.*)$", re.M)
_SPAN = re.compile(r"⟦lines ([0-9]+)-([0-9]+)⟧")
_ROW = re.compile(r'\{[^{}]*"email"[^{}]*\}')


class Oracle:
    """Answers requests of OpenAI's protocol.

    Args:
        error_rate: share of readings, from 0 to 1, in which a number is wrong.
        truths: what each page states, by its address; None: it knows the drift site.
    """

    def __init__(self, error_rate: float = 0.0, truths: Mapping[str, dict[str, Any]] | None = None) -> None:
        self.error_rate = error_rate
        self.truths = truths
        self.calls = 0

    def reply(self, body: dict[str, Any]) -> dict[str, Any]:
        """The answer to one request, held to the schema that it asks for."""
        self.calls += 1
        shape = body["response_format"]["json_schema"]
        text = "\n".join(_text_of(message) for message in body["messages"])
        if shape["name"] == "plan" and '"loop"' in json.dumps(shape["schema"]):
            return {**_blank(shape["schema"]), "plan": "do it for each of them", "task_type": "loop"}
        known = {"extract": self._extract, "plan": _plan, "step": _step}.get(shape["name"])
        said = known(text) if known is not None else {}
        return {**_blank(shape["schema"]), **said}

    def _extract(self, text: str) -> dict[str, Any]:
        if self.truths is not None:
            stated = self.truths.get(_ADDRESS.findall(text)[-1])
            return {"records": [stated] if stated is not None else []}
        found = _ITEM.findall(text)
        if not found:
            return {"records": []}
        seed, kind, n = found[-1]
        record = truth(int(seed), Drift(kind), int(n))
        if record is None:
            return {"records": []}
        stated = {name: value for name, value in record.items() if value is not None}
        drawn = hashlib.sha256(f"{seed}/{kind}/{n}/{self.calls}".encode()).digest()[0] / 256
        if drawn < self.error_rate:
            stated["weight_g"] = int(str(stated["weight_g"])) + 1
        return {"records": [stated]}


def _text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


def _page(text: str) -> str:
    """The page that is open, with the lines that it shares with other pages of the loop in their places."""
    head, _, page = text.rpartition("# The page")
    lines = dict(_REPEATED.findall(head[head.rfind("# Lines that pages of this loop repeat") :]))

    def spelled_out(span: re.Match[str]) -> str:
        return "\n".join(lines.get(str(n), "") for n in range(int(span[1]), int(span[2]) + 1))

    return _SPAN.sub(spelled_out, page)


def _plan(text: str) -> dict[str, Any]:
    if "Thank you for your request" in _page(text):
        return {"user_goal_achieved": True, "thoughts": "the site thanks", "plan": None, "task_type": None}
    if not _ROW.search(text):
        return {"user_goal_achieved": True, "thoughts": "every row was sent", "plan": None, "task_type": None}
    return {"user_goal_achieved": False, "plan": "fill in the form and send it", "task_type": "navigate"}


def _step(text: str) -> dict[str, Any]:
    page = _page(text)
    if "Thank you for your request" in page:
        done = {"action_type": "COMPLETE"}
        return {"user_goal_achieved": True, "thoughts": "sent", "actions": [done]}
    ids = {name: bid for bid, _, name in _ELEMENT.findall(page)}
    row = json.loads(_ROW.findall(text)[-1])
    fields = (("Full name", "name"), ("Contact", "name"), ("E-mail", "email"))
    actions: list[dict[str, Any]] = [
        {"action_type": "INPUT_TEXT", "id": ids[label], "text": row[key], "user_detail_answer": row[key]}
        for label, key in fields
        if label in ids
    ]
    if "Colour" in ids:
        actions.append({"action_type": "SELECT_OPTION", "id": ids["Colour"], "option": {"label": row["colour"]}})
    button = next((ids[label] for label in ("Send request", "Submit request") if label in ids), None)
    if button is not None:
        actions.append({"action_type": "CLICK", "id": button})
    return {"thoughts": "the form is open: fill and send", "actions": actions}


def _blank(schema: dict[str, Any]) -> dict[str, Any]:
    """The least that a schema of an object takes."""
    return {name: _least(schema["properties"][name]) for name in schema.get("required", ())}


def _least(part: dict[str, Any]) -> Any:
    if "anyOf" in part:
        return None if {"type": "null"} in part["anyOf"] else _least(part["anyOf"][0])
    if part.get("enum"):
        return part["enum"][0]
    kind = part.get("type", "string")
    if kind == "object":
        return _blank(part)
    return {"string": "", "boolean": False, "array": [], "integer": 0, "number": 0}.get(kind)


def oracle_app(oracle: Oracle) -> Starlette:
    """The oracle as a server of OpenAI's protocol."""

    async def chat(request: Request) -> Response:
        body = await request.json()
        said = json.dumps(oracle.reply(body), ensure_ascii=False)
        prompt, answer = len(json.dumps(body["messages"])) // 4, len(said) // 4
        message = {"role": "assistant", "content": said}
        return JSONResponse(
            {
                "id": f"chatcmpl-{oracle.calls}",
                "object": "chat.completion",
                "created": 1,
                "model": body["model"],
                "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
                "usage": {"prompt_tokens": prompt, "completion_tokens": answer, "total_tokens": prompt + answer},
            }
        )

    async def models(request: Request) -> Response:
        return JSONResponse({"object": "list", "data": [{"id": "oracle", "object": "model", "created": 1}]})

    return Starlette(routes=[Route("/v1/chat/completions", chat, methods=["POST"]), Route("/v1/models", models)])
