"""One node, and the parameters of a version, as inputs of a form: written from JSON, and read back into it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from shoal.agent.support.json_value import Json
from shoal.services.web.pages.submit.compose import Inputs
from shoal.services.web.pages.workflows.editor.changes import Object

_ARGS = ("const", "param", "template")
_TEXTS: Mapping[str, tuple[str, ...]] = {
    "action": ("action",),
}
"""Texts that nodes of a kind have besides what all have."""
CONDITIONS: Mapping[str, tuple[str, ...]] = {
    "action": ("pre", "post"),
    "wait": ("pre", "until"),
    "guard": ("pre", "holds"),
}


def conditions_of(kind: str) -> tuple[str, ...]:
    """The lists of conditions that a node of this kind has."""
    return CONDITIONS.get(kind, ("pre",))


def write_constant(value: Json) -> str:
    """A constant as people write it: a text plainly, unless it would be read as something else."""
    if isinstance(value, str):
        try:
            json.loads(value)
        except ValueError:
            return value
    return json.dumps(value, ensure_ascii=False)


def read_constant(text: str) -> Json:
    """Return what `write_constant` wrote, or a person."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return text


@dataclass(slots=True)
class NodeReader:
    """Reads the inputs of one node; what is no JSON where JSON is asked for is a fault, and stays as it was."""

    inputs: Inputs
    faults: list[tuple[str, str]] = field(default_factory=list)  # input and reason

    def node(self, old: Object) -> Object:
        """`old` as the inputs change it."""
        node, kind = dict(old), str(old.get("kind"))
        for name in ("next", "says", "otherwise"):
            _put(node, name, self._text(f"n.{name}"))
        _put(node, "on_miss", self._text("n.on_miss"), "model")
        for name in _TEXTS.get(kind, ()):
            node[name] = self._text(f"n.{name}")
        for name in conditions_of(kind):
            _put(node, name, self._conditions(f"n.{name}", old.get(name)), [])
        if kind == "action":
            _put(node, "args", self._args(), {})
            for name in ("submits", "once"):
                _put(node, name, self.inputs.has(f"n.{name}"), False)
            _put(node, "target", self._target(old.get("target")))
        if kind == "wait":
            _put(node, "timeout_s", read_constant(self._text("n.timeout_s") or "10"), 10)
        if kind == "extract":
            _put(node, "branches", [name for name in self.inputs.every("n.branches") if name], [])
        if kind == "branch":
            node["cases"] = self._cases(old.get("cases"))
        return node

    def params(self, old: Json) -> list[Object]:
        """The parameters of the version. One without a name is none."""
        return [
            param
            for index, known in _rows(old, self.inputs.entries("p"))
            if (param := self._param(f"p[{index}]", known)).get("name")
        ]

    def json(self, name: str, old: Json) -> Json:
        """The JSON of an input; `old` where it is empty of text or no JSON."""
        text = self._text(name)
        if not text:
            return None
        try:
            return json.loads(text)
        except (ValueError, RecursionError) as error:
            self.faults.append((name, f"this is no JSON: {error}"))
            return old

    def _text(self, name: str) -> str:
        return self.inputs.one(name).strip()

    def _param(self, path: str, known: Object) -> Object:
        param = {**known, "name": self._text(f"{path}.name"), "source": self._text(f"{path}.source")}
        _put(param, "path", self._text(f"{path}.path"))
        _put(param, "type", self._text(f"{path}.type"), "string")
        _put(param, "description", self._text(f"{path}.description"), "")
        _put(param, "transform", self._text(f"{path}.transform"))
        _put(param, "sensitive", self.inputs.has(f"{path}.sensitive"), False)
        value = self.inputs.one(f"{path}.value")
        _put(param, "value", read_constant(value) if value else None)
        return param

    def _args(self) -> Object:
        args: Object = {}
        for index in self.inputs.entries("n.args"):
            path = f"n.args[{index}]"
            name, how = self._text(f"{path}.name"), self._text(f"{path}.how")
            if name and how in _ARGS:
                value = self.inputs.one(f"{path}.value")
                args[name] = {how: read_constant(value) if how == "const" else value.strip()}
        return args

    def _target(self, old: Json) -> Json:
        known: Object = dict(old) if isinstance(old, dict) else {}
        for name in ("role", "name", "purpose", "origin"):
            _put(known, name, self._text(f"n.target.{name}"))
        for name in ("frame", "shadow"):
            parts = self._text(f"n.target.{name}").split(">>")
            selectors = [selector.strip() for selector in parts if selector.strip()]
            if selectors != known.get(name, []):  # an explicit empty list stays
                _put(known, name, selectors, [])
        known["locators"] = [
            locator
            for index, row in _rows(known.get("locators"), self.inputs.entries("n.locators"))
            if (locator := self._locator(f"n.locators[{index}]", row)).get("value")
        ]
        return known if known["locators"] or known.keys() - {"locators"} else None

    def _locator(self, path: str, known: Object) -> Object:
        locator = {**known, "family": self._text(f"{path}.family"), "value": self.inputs.one(f"{path}.value").strip()}
        _put(locator, "role", self._text(f"{path}.role"))
        if any(locator.get(name) != known.get(name) for name in ("family", "value", "role")):
            locator.pop("unique_on", None)  # it was counted of another locator
        return locator

    def _conditions(self, path: str, old: Json) -> list[Object]:
        conditions = []
        for index, known in _rows(old, self.inputs.entries(path)):
            kind = self._text(f"{path}[{index}].kind")
            if not kind:
                continue
            condition = {**known, "kind": kind}
            _put(condition, "value", self.inputs.one(f"{path}[{index}].value").strip())
            _put(condition, "target", self.json(f"{path}[{index}].target", known.get("target")))
            conditions.append(condition)
        return conditions

    def _cases(self, old: Json) -> list[Object]:
        cases = []
        for index, known in _rows(old, self.inputs.entries("n.cases")):
            to = self._text(f"n.cases[{index}].to")
            if to:
                when = self._conditions(f"n.cases[{index}].when", known.get("when"))
                cases.append({**known, "to": to, "when": when})
        return cases


def _rows(old: Json, indices: list[int]) -> list[tuple[int, Object]]:
    """The entries of a list that the form sent, each with what it was."""
    known = [part if isinstance(part, dict) else {} for part in old] if isinstance(old, list) else []
    return [(index, known[index] if index < len(known) else {}) for index in indices]


def _put(holder: Object, name: str, value: Json, default: Json = "") -> None:
    """Sets a key, or takes it away where the value is as by default."""
    if value is None or value == default:
        if holder.get(name) is not None:  # an explicit null stays
            del holder[name]
    else:
        holder[name] = value
