"""Compiling what pages request themselves: one request whose every varying part is traced to the item, or none."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from itertools import islice, product

from shoal.agent.read.schema import Property
from shoal.agent.workflows.format.branch import Channel, FieldNode, OwnRequest, Signature
from shoal.agent.workflows.format.page_parts import filled, page_parts, parts_in
from shoal.agent.workflows.learning.called import is_called
from shoal.agent.workflows.learning.page_sample import PageSample, SampleChannel, SampleRequest
from shoal.agent.workflows.reading.own_answer import parent_of

_SPLIT = re.compile(r"([/?&=])")
_MOST_TEMPLATES = 64
"""Of one address: each part that is like a part of the page's address may be it, or a constant that is like it."""
_MOST_CHANNELS = 4
_LEAST_DISTINGUISHING = 2
"""Fields that differ between items, in one object with the value that says whose it is."""
_CALLED_ID = re.compile(r"(?:^|_)(?:id|sku|slug|number|code|handle|isbn|ean|gtin)$", re.IGNORECASE)


def request_of(
    samples: Sequence[PageSample],
    fields: Sequence[FieldNode],
    signature: Signature,
    properties: Mapping[str, Property],
) -> OwnRequest | None:
    """The one request of the pages whose answer has the whole record, and says whose it is; None for none or several.

    Args:
        fields: of the branch.
        properties: of the record's schema, by name.
    """
    own_page = "link" in signature.item and bool(signature.url)
    if not own_page or len(samples) < 2 or any(field.may_be_null for field in fields):
        return None
    varying = _varying(samples)
    if len(varying) != signature.url.count("{}"):
        return None  # a part that differs between items is none that could be traced
    requests: dict[str, OwnRequest] = {}
    for template in _templates(samples[0], varying):
        answers = [_answer(template, sample) for sample in samples]
        complete = [answer for answer in answers if answer is not None]
        if len(complete) < len(samples) or any(answer.headers != complete[0].headers for answer in complete):
            continue
        request = _compiled(template, varying, samples, complete, fields, signature, properties)
        if request is not None:
            requests[template] = request
    return next(iter(requests.values())) if len(requests) == 1 else None


def _answer(template: str, sample: PageSample) -> SampleRequest | None:
    address = filled(template, sample.url)
    return next((request for request in sample.requests if request.url == address), None)


def _varying(samples: Sequence[PageSample]) -> dict[str, str]:
    """The parts of the pages' addresses that differ between items, as the first page has them."""
    first, *others = (page_parts(sample.url) for sample in samples)
    return {
        name: part
        for name, part in first.items()
        if all(name in other for other in others) and any(other[name] != part for other in others)
    }


def _templates(sample: PageSample, varying: Mapping[str, str]) -> Iterator[str]:
    """Addresses of a page's requests, with parts of the page's address in the place of what is like them."""
    for request in sample.requests:
        head, slash, rest = request.url.partition("://")
        host, _, path = rest.partition("/")
        pieces = _SPLIT.split(f"/{path}")
        ways = [(piece, *(f"{{{name}}}" for name, part in varying.items() if part == piece)) for piece in pieces]
        made = ("".join(way) for way in islice(product(*ways), _MOST_TEMPLATES))
        yield from (f"{head}{slash}{host}{template}" for template in made if parts_in(template))


def _compiled(
    template: str,
    varying: Collection[str],
    samples: Sequence[PageSample],
    answers: Sequence[SampleRequest],
    fields: Sequence[FieldNode],
    signature: Signature,
    properties: Mapping[str, Property],
) -> OwnRequest | None:
    says_label = all(answer.says_label for answer in answers)
    if "label" in signature.item and not says_label:
        return None
    for owner in _owners(varying, samples, answers):
        identity = {_identity(name, owner, samples, answers): name for name in varying}
        nodes = _fields(owner, fields, samples, answers, properties)
        if len(nodes) == len(fields) and _distinguishing(nodes, owner, identity, samples) >= _LEAST_DISTINGUISHING:
            return OwnRequest(
                url=template,
                headers=answers[0].headers,
                identity=identity,
                says_label=says_label,
                fields=tuple(nodes),
            )
    return None


def _distinguishing(
    nodes: Sequence[FieldNode], owner: str, identity: Mapping[str, str], samples: Sequence[PageSample]
) -> int:
    """Return how many fields stand in the object itself, differ between items, and say more than yes or no."""
    paths = {node.name: [channel.place.query for channel in node.channels] for node in nodes if not node.known}
    return sum(
        any(parent_of(path) == owner and path not in identity for path in some)
        and not isinstance(samples[0].record[name], bool)
        for name, some in paths.items()
    )


def _fields(
    owner: str,
    fields: Sequence[FieldNode],
    samples: Sequence[PageSample],
    answers: Sequence[SampleRequest],
    properties: Mapping[str, Property],
) -> list[FieldNode]:
    """The fields that the object states, in it or below it."""
    shared = {field.name: _shared(field.name, owner, answers) for field in fields}
    claims = Counter(path for some in shared.values() for path in some)
    nodes = []
    for field in fields:
        prop, by_path = properties.get(field.name), shared[field.name]
        named = [path for path in by_path if prop is not None and is_called(by_path[path][0], prop)]
        # A value that was the same on all pages is sure by its name alone, as is one that two fields have.
        paths = named or [path for path in by_path if claims[path] == 1 and not field.known]
        if paths:
            nodes.append(_field(field, [by_path[path] for path in paths[:_MOST_CHANNELS]]))
    return nodes


def _shared(name: str, owner: str, answers: Sequence[SampleRequest]) -> dict[str, list[SampleChannel]]:
    """The paths below an object that gave the field in every answer, with what each said."""
    by_path: dict[str, list[SampleChannel]] = {}
    for answer in answers:
        for channel in answer.channels.get(name, ()):
            by_path.setdefault(channel.place.query, []).append(channel)
    return {
        path: several
        for path, several in by_path.items()
        if len(several) == len(answers) and path.startswith(f"{owner}.")
    }


def _owners(varying: Collection[str], samples: Sequence[PageSample], answers: Sequence[SampleRequest]) -> list[str]:
    """The objects that state each part of the page's address that differs, in each answer.

    A part that the request does not take may choose what a script shows of the answer, such as a colour.
    """
    owners = [{parent_of(path) for path in _stating(name, samples, answers)} for name in varying]
    return sorted(set.intersection(*owners), key=lambda owner: (-owner.count("."), owner))


def _stating(name: str, samples: Sequence[PageSample], answers: Sequence[SampleRequest]) -> list[str]:
    """The paths that state the part `name` in each answer."""
    parts = [page_parts(sample.url)[name] for sample in samples]
    return [
        path
        for path in answers[0].stated
        if all(answer.stated.get(path) == part for answer, part in zip(answers, parts, strict=True))
    ]


def _identity(name: str, owner: str, samples: Sequence[PageSample], answers: Sequence[SampleRequest]) -> str:
    paths = [path for path in _stating(name, samples, answers) if parent_of(path) == owner]
    return next((path for path in paths if _CALLED_ID.search(path.rpartition(".")[2])), paths[0])


def _field(field: FieldNode, channels_by_path: Sequence[Sequence[SampleChannel]]) -> FieldNode:
    """The field with the paths that state it in an answer: each that says anything has to say the same."""
    channels = []
    for sampled in channels_by_path:
        shapes = tuple(dict.fromkeys(channel.shape for channel in sampled if channel.shape))
        place = sampled[0].place
        channels.append(Channel(family="json", place=place, shapes=shapes, shown=False, agreed_on=len(sampled)))
    update = {"channels": tuple(channels), "proof": False, "weakest": 1}
    return field.model_copy(update=update)
