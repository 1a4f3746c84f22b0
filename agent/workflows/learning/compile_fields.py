"""Compiling an extraction: pages with different values become one branch that reads such pages without a model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from pydantic import ValidationError

from shoal.agent.read.schema import Property, properties_of
from shoal.agent.support.json_value import Json
from shoal.agent.support.web_addresses import address_parts
from shoal.agent.workflows.format.absence import Absence
from shoal.agent.workflows.format.branch import Branch, Channel, ChannelFamily, FieldNode, Signature
from shoal.agent.workflows.format.version import Decision
from shoal.agent.workflows.learning.called import is_called
from shoal.agent.workflows.learning.compile_absence import absence_of
from shoal.agent.workflows.learning.compile_request import request_of
from shoal.agent.workflows.learning.page_sample import PageSample, SampleChannel
from shoal.agent.workflows.reading.channels import POSITIONAL, is_same_text, value_key
from shoal.agent.workflows.reading.page_guards import PASSWORD

T = TypeVar("T")
LEAST_SAMPLES = 2
_ORDER: tuple[ChannelFamily, ...] = (
    "json_ld",
    "microdata",
    "json",
    "label",
    "column",
    "css",
    "attribute",
    "meta",
    "structure",
)
_MOST_PARTS = 5


@dataclass(frozen=True, slots=True)
class CompiledPages:
    """The branches that were compiled from samples."""

    branches: tuple[Branch, ...]  # empty: nothing that could be replayed
    open: tuple[Decision, ...]  # what stayed a decision of the model, and why: where there are branches, other pages


def compile_pages(
    samples: Sequence[PageSample], schema: Mapping[str, Json] | None, *, name: str = "page"
) -> CompiledPages:
    """One branch for pages that are alike; where they are of several kinds, one for each kind with enough samples."""
    whole = _compile(samples, schema, name)
    if whole.branches:
        return whole
    kinds: dict[str, list[PageSample]] = {}
    for sample in samples:
        kinds.setdefault(sample.shape, []).append(sample)
    if len(kinds) == 1:
        return whole
    made = [_compile(some, schema, f"{name}-{number + 1}") for number, some in enumerate(kinds.values())]
    branches = tuple(branch for pages in made for branch in pages.branches)
    if not branches:
        return whole
    return CompiledPages(branches, tuple(decision for pages in made for decision in pages.open))


def _compile(samples: Sequence[PageSample], schema: Mapping[str, Json] | None, name: str) -> CompiledPages:
    """The branch; or why there is none."""
    if len(samples) < LEAST_SAMPLES:
        why = f"{len(samples)} of them is known, and one teaches nothing of the next"
        return CompiledPages((), (Decision(what=f"pages like {samples[0].url}" if samples else "the pages", why=why),))
    properties = {prop.name: prop for prop in properties_of(schema or {})}
    names = list(dict.fromkeys([*properties, *(key for sample in samples for key in sample.record)]))
    claims = _claims(samples, names)
    fields: list[FieldNode] = []
    open_: list[Decision] = []
    left: list[Decision] = []
    for field_name in names:
        prop = properties.get(field_name) or Property(field_name, frozenset(), False, False, (), ())
        made = _field(prop, samples, claims)
        if isinstance(made, str):
            open_.append(Decision(what=f"field {field_name}", why=made))
            continue
        if (prop.nullable or not prop.required) and any(sample.record.get(field_name) is None for sample in samples):
            absence = absence_of(field_name, samples)
            if isinstance(absence, Absence):
                made = made.model_copy(update={"may_be_null": True, "without": absence})
            else:
                left.append(Decision(what=f"pages without field {field_name}", why=absence))
        fields.append(made)
    signature = _signature(samples)
    if isinstance(signature, str):
        open_.append(Decision(what="the item's page", why=signature))
    if open_ or isinstance(signature, str):
        return CompiledPages((), tuple(open_))
    if not fields:
        return CompiledPages((), (Decision(what="the record", why="it has no fields"),))
    snapshots = tuple(sample.snapshot for sample in samples if sample.snapshot)
    request = request_of(samples, fields, signature, properties)
    branch = Branch(id=name, signature=signature, fields=tuple(fields), learned_from=snapshots)
    if request is not None:
        branch = branch.model_copy(update={"request": request})
    return CompiledPages((branch,), tuple(left))


def _claims(samples: Sequence[PageSample], names: Sequence[str]) -> Mapping[str, tuple[str, ...]]:
    """Which fields have the same place on all samples, by the key of the place."""
    names_of: dict[str, tuple[str, ...]] = {}
    for name in names:
        for key in _shared(name, samples):
            names_of[key] = (*names_of.get(key, ()), name)
    return names_of


def _shared(name: str, samples: Sequence[PageSample]) -> dict[str, list[SampleChannel]]:
    """The channels that gave the field on every sample that has it, with what each sample's said."""
    having = [sample for sample in samples if sample.record.get(name) is not None]
    channels: dict[str, list[SampleChannel]] = {}
    for sample in having:
        for channel in sample.channels.get(name, ()):
            channels.setdefault(channel.key, []).append(channel)
    return {key: sampled for key, sampled in channels.items() if len(sampled) == len(having)}


def _field(prop: Property, samples: Sequence[PageSample], claims: Mapping[str, tuple[str, ...]]) -> FieldNode | str:
    """The field, or why it is not learned."""
    having = [sample for sample in samples if sample.record.get(prop.name) is not None]
    if len(having) < LEAST_SAMPLES:
        return f"{len(having)} of {len(samples)} pages have it"
    values = {value_key(sample.record[prop.name]): sample.record[prop.name] for sample in having}
    if any(isinstance(value, (dict, list)) for value in values.values()):
        return "it is an object or a list, and those are not learned"
    shared = _shared(prop.name, samples)
    shared = {key: several for key, several in shared.items() if len(claims[key]) == 1 or is_called(several[0], prop)}
    constant = len(values) == 1
    if constant and not any(is_called(several[0], prop) for several in shared.values()):
        return "all pages say the same, and no place with its name states it"
    chosen = _chosen(shared, prop, called=constant)
    families = {channel.family for channel, _ in chosen}
    if len(families) < LEAST_SAMPLES:
        return f"only {' and '.join(sorted(families)) or 'nothing'} finds it on all pages, and one witness is too few"
    proof = all(any(several[i].proven for _, several in chosen) for i in range(len(having)))
    weak = _weakness(prop, constant, families, proof)
    known = tuple(values.values()) if constant else ()
    try:
        channels = tuple(channel for channel, _ in chosen)
        is_label = all(is_same_text(sample.record[prop.name], sample.label) for sample in having)
        return FieldNode(
            name=prop.name, channels=channels, known=known, weak=weak, proof=proof, is_label=is_label and not constant
        )
    except ValidationError as error:
        return str(error.errors()[0]["msg"])


def _weakness(prop: Property, constant: bool, families: set[ChannelFamily], proof: bool) -> str:
    weaknesses = []
    if constant:
        weaknesses.append("all pages that were learned from say the same")
    if families <= POSITIONAL:
        weaknesses.append("only its position is known")
    if not proof:
        weaknesses.append("the visible page does not state it")
    return "; ".join(weaknesses)


def _chosen(
    shared: Mapping[str, list[SampleChannel]], prop: Property, *, called: bool
) -> list[tuple[Channel, list[SampleChannel]]]:
    """The best channel of each family, in the order of families.

    Args:
        called: only positions and places that are called like the field: others could be anything that is the same
            on all pages.
    """
    best: dict[ChannelFamily, list[SampleChannel]] = {}
    for several in shared.values():
        family = several[0].family
        if called and family not in POSITIONAL and not is_called(several[0], prop):
            continue
        if family not in best or (is_called(several[0], prop) and not is_called(best[family][0], prop)):
            best[family] = several
    made = []
    for family in sorted(best, key=_ORDER.index):
        several = best[family]
        shapes = tuple(dict.fromkeys(sampled.shape for sampled in several if sampled.shape))
        shown = all(sampled.shown for sampled in several)
        channel = Channel(family=family, place=several[0].place, shapes=shapes, shown=shown, agreed_on=len(several))
        made.append((channel, several))
    return made


def _signature(samples: Sequence[PageSample]) -> Signature | str:
    """Return what all samples have in common; or why nothing tells that a page is the item's."""
    first = samples[0]
    signs = tuple(sign for sign in first.signs if all(sign in sample.signs for sample in samples))
    if not signs:
        return "nothing on the pages says whose they are: neither address, heading nor value"
    parts = [part for part in first.parts if all(part in sample.parts for sample in samples)]
    forbidden = ['[aria-busy="true"]']
    if not any(sample.password for sample in samples):
        forbidden.append(PASSWORD)
    statuses = {sample.status for sample in samples if sample.status}
    return Signature(
        url=url_template([sample.url for sample in samples]),
        status=tuple(sorted(statuses)) or (200,),
        required=tuple(parts[:_MOST_PARTS]),
        forbidden=tuple(forbidden),
        landmarks=_same([sample.landmarks for sample in samples]) or (),
        shape=_same([sample.shape for sample in samples]) or "",
        locale=_same([sample.lang for sample in samples]) or "",
        currency=tuple(dict.fromkeys(money for sample in samples for money in sample.currency)),
        item=signs,
    )


def _same(values: Sequence[T]) -> T | None:
    return values[0] if all(value == values[0] for value in values) else None


def url_template(urls: Sequence[str]) -> str:
    """The addresses as one, with `{}` for each part that differs; "" where they are built differently."""
    parts = [address_parts(url) for url in urls]
    if len({(part.scheme, part.netloc) for part in parts}) > 1:
        return ""
    paths = [part.path.split("/") for part in parts]
    queries = [[pair.partition("=") for pair in part.query.split("&")] if part.query else [] for part in parts]
    names = {tuple(name for name, _, _ in query) for query in queries}
    if len({len(path) for path in paths}) > 1 or len(names) > 1:
        return ""
    path = "/".join(_merged(some) for some in zip(*paths, strict=True))
    query = "&".join(
        f"{some[0][0]}{some[0][1]}{_merged([value for _, _, value in some])}" for some in zip(*queries, strict=True)
    )
    return f"{parts[0].scheme}://{parts[0].netloc}{path}" + (f"?{query}" if query else "")


def _merged(values: Sequence[str]) -> str:
    return values[0] if len(set(values)) == 1 else "{}"
