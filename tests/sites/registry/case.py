"""One job on a site that was not written here, and what its result has to say."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shoal.agent.support.json_value import Json

Kind = Literal["list", "paged list", "single", "table", "edit", "login", "loop", "login loop", "form", "fields given"]
"""The class of a job; the benchmark's table has a row per site and class."""


@dataclass(frozen=True)
class Either:
    """A truth that can be said in several ways, each of them right."""

    ways: tuple[Json, ...]


def either(*ways: Json) -> Either:
    """One of several right values; doubles and None are left out."""
    return Either(tuple(dict.fromkeys(way for way in ways if way is not None)))


@dataclass(frozen=True)
class Case:
    """One job with its truth. A form's truth is its outcome; every other job's truth is its records."""

    name: str
    kind: Kind
    spec: Mapping[str, Json]  # the job, as a user would first write it
    truth: Sequence[Mapping[str, Json]] = ()  # every record that the job asks for; None: the page does not state it
    key: str = ""  # the field that tells one record of a list from another; "": there is one record
    at: str = ""  # the field of `truth` that holds the address of a loop's item; no record has it as a field
    succeeds: bool = True  # of a form or login: whether the site takes what is sent
    check: Callable[[], str] | None = None  # of a form: what is wrong with what the site stored; "": nothing

    def with_places(self, fields: Mapping[str, Json], **where: str) -> Case:
        """The same job by a user who says where each field is; `where` may hold `records` and `next`."""
        extract = {"schema": self.spec["extract"]["schema"], "fields": dict(fields), **where}
        return replace(
            self, name=f"{self.name}, fields given", kind="fields given", spec={**self.spec, "extract": extract}
        )

    @property
    def is_form(self) -> bool:
        """Return whether the job's outcome is what is judged."""
        return self.kind in ("form", "login")

    @property
    def is_list(self) -> bool:
        """Return whether the job can give a part of what it asks for."""
        return len(self.truth) > 1


def records(schema_fields: Mapping[str, str], *, required: Sequence[str] = ()) -> dict[str, Json]:
    """The schema of an array of records, from field name to JSON type."""
    return {"type": "array", "items": record(schema_fields, required=required)}


def record(schema_fields: Mapping[str, str], *, required: Sequence[str] = ()) -> dict[str, Json]:
    """The schema of one record, from field name to JSON type."""
    properties = {name: {"type": kind} for name, kind in schema_fields.items()}
    return {"type": "object", "properties": properties, **({"required": list(required)} if required else {})}
