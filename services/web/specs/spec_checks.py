"""Checks of a job spec for orders that no policy could carry out: refused when a job is submitted, with the field.

Not in the spec itself: jobs that were stored before stay readable.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from difflib import get_close_matches
from urllib.parse import urlsplit

from shoal.agent.read.glossary import glossary_faults
from shoal.agent.read.schema import field_names, properties_of
from shoal.agent.read.values.quantities import unit_named
from shoal.agent.redaction.masking import is_reference
from shoal.agent.spec import X_GLOSSARY, X_KEY, ExtractSpec, JobSpec, LoopSpec, schema_text
from shoal.agent.support.json_value import Json
from shoal.agent.support.schemas.bounds import schema_fault
from shoal.agent.support.sites.sites import LONGEST_HOST, host_fault, literal_address, named_site, plain_host

Found = tuple[str, str]  # field and reason

_MOST_SECONDS = 1e9
"""Some 31 years. A moment beyond the year 9999 could be stored, and never be read again."""
_MOST_DAYS = 36_500
_INT32 = 2**31 - 1  # what the store's columns hold
_MOST_TOKENS = 2**53

_TYPE_NAMES = frozenset({"string", "number", "integer", "boolean", "array", "object", "null"})
_OF_SCHEMAS = frozenset({"type", "properties", "items", "required", "enum", "const", "anyOf", "allOf", "oneOf", "not"})
_OF_JSON_SCHEMA = """
    $anchor $comment $defs $id $ref $schema additionalProperties allOf anyOf const contains contentEncoding
    contentMediaType default definitions dependentRequired dependentSchemas deprecated description else enum
    examples exclusiveMaximum exclusiveMinimum format if items maxContains maxItems maxLength maxProperties
    maximum minContains minItems minLength minProperties minimum multipleOf not oneOf pattern patternProperties
    prefixItems properties propertyNames readOnly required then title type unevaluatedItems
    unevaluatedProperties uniqueItems writeOnly example nullable
"""
_KEYWORDS = frozenset(_OF_JSON_SCHEMA.split())
"""Of JSON Schema and OpenAPI."""
_OF_NAMES = frozenset({"properties", "patternProperties", "$defs", "definitions", "dependentSchemas"})
"""Keywords whose value maps names to schemas."""
_OF_PARTS = frozenset(
    {"items", "prefixItems", "contains", "additionalProperties", "allOf", "anyOf", "oneOf", "not", "if", "then", "else"}
)
"""Keywords whose value is a schema, or a list of them."""
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]")
_HAS_CONTROL = "must not contain line breaks or other control characters"
_NOT_IN_HOSTS = re.compile(r"[\x00-\x20\x7f#/<>?@\\^|%\"`{}]")
_NUMBER_AT_END = re.compile(r"(?:^|\.)(?:[0-9]+|0x[0-9a-f]*)$")
_LINK = re.compile(r"https?://\S+$", re.IGNORECASE)


def undoable(spec: JobSpec) -> list[dict[str, str]]:
    """The fields of `spec` that cannot be as they are, as {field, reason}."""
    faults = [*_of_numbers(spec), *_of_words(spec), *_of_secrets(spec), *_of_extract(spec.extract), *_of_headers(spec)]
    faults += [*_of_person(spec), *_of_sites(spec), *_of_changes(spec)]
    if spec.webhook is not None and not spec.webhook.events:
        faults.append(("webhook.events", "is empty: nothing would ever be told"))
    for place, people in enumerate(spec.notify or ()):
        if people.by == "email" and (bad := people.bad_address) is not None:
            faults.append((f"notify[{place}].to", f"{bad!r} is no e-mail address"))
        if people.by != "email" and people.secret is None and not _LINK.match(people.to):
            faults.append((f"notify[{place}].to", "is no address of an incoming webhook, and no secret:NAME"))
    for prefix, loop in _loops(spec):
        faults += _of_loop(loop, prefix)
        if loop.sitemap is not None and spec.browser.proxy is not None:
            faults.append((f"{prefix}.sitemap", "is not read through `browser.proxy`: leave one of them out"))
    return [{"field": field, "reason": reason} for field, reason in faults]


def login_addresses(spec: JobSpec) -> Iterator[Found]:
    """The addresses that the job's login opens, each with its field."""
    if spec.login is None:
        return
    yield "login.url", spec.login.url
    for index, step in enumerate(spec.login.steps or ()):
        if step.open is not None:
            yield f"login.steps[{index}].open", step.open


def address_fault(url: str) -> str | None:
    """Why no browser could open `url`, an http(s) URL; None when one could."""
    if _CONTROL.search(url):
        return _HAS_CONTROL
    parts = urlsplit(url)
    host = parts.hostname or ""
    plain = plain_host(host)
    if parts.port == 0:
        return "names port 0, which no server has"
    if ":" in plain:  # IPv6 in brackets, which urlsplit has checked
        return None
    if len(plain) > LONGEST_HOST:
        return f"has a host name of {len(plain)} characters; none has more than {LONGEST_HOST}"
    if not plain or _NOT_IN_HOSTS.search(plain) or any(not 0 < len(label) < 64 for label in plain.split(".")):
        return f"{host!r} is no host name"
    if _NUMBER_AT_END.search(plain) and literal_address(plain) is None:  # browsers take it for an address
        return f"{host!r} is no IPv4 address"
    return None


def _loops(spec: JobSpec) -> Iterator[tuple[str, LoopSpec]]:
    prefix, loop = "loop", spec.loop
    while loop is not None:
        yield prefix, loop
        prefix, loop = f"{prefix}.loop", loop.loop


def _of_numbers(spec: JobSpec) -> Iterator[Found]:
    budget = spec.budget
    for field, value, most in (
        ("deadline_s", spec.deadline_s, _MOST_SECONDS),
        ("artifacts.retention_days", spec.artifacts.retention_days, _MOST_DAYS),
        ("politeness.per_domain", spec.politeness.per_domain, _INT32),
        ("budget.step_tokens", budget.step_tokens, _MOST_TOKENS),
        ("budget.session_tokens", budget.session_tokens, _MOST_TOKENS),
        ("budget.job_tokens", budget.job_tokens, _MOST_TOKENS),
    ):
        if value is not None and value > most:
            yield field, f"must be at most {most:.0f}"


def _of_words(spec: JobSpec) -> Iterator[Found]:
    for name in ("name", "goal"):
        if _blank(getattr(spec, name)):
            yield name, "must not be blank"
    if spec.name is not None and _CONTROL.search(spec.name):
        yield "name", _HAS_CONTROL
    extract = spec.extract
    if extract is None:
        return
    for name in ("goal", "records", "next", "wait_for"):
        if _blank(getattr(extract, name)):
            yield f"extract.{name}", "must not be blank"
    for name, place in extract.fields.items():
        if _blank(place.query):
            yield f"extract.fields.{name}.{place.kind}", "must not be blank"


def _of_person(spec: JobSpec) -> Iterator[Found]:
    """Yield what a job in which a person shows what is to be done cannot do besides."""
    if spec.policy != "person":
        return
    if not spec.help.person:
        yield "help.person", "must be true with `policy`: person"
    for name in ("extract", "loop", "sample"):
        if getattr(spec, name) is not None:
            yield name, "does not go with `policy`: person"


def _of_changes(spec: JobSpec) -> Iterator[Found]:
    """Yield what keeps items from being compared with an earlier run: pages that only a browser may read."""
    if not spec.changes.skip_unchanged:
        return
    if spec.loop is None:
        yield "changes.skip_unchanged", "is for the items of a `loop`, and the job has none"
    elif not spec.allows_documents:
        yield (
            "changes.skip_unchanged",
            "asks sites without a browser, and this job reads its pages in one: it needs a schema of one record, "
            "`artifacts.evidence`: document or `artifacts.screenshots`: errors or none, and no `wait_for`, trace, HAR, "
            "recording, proxy or attached browser",
        )


def _of_secrets(spec: JobSpec) -> Iterator[Found]:
    for name, use in spec.secrets.items():
        for index, domain in enumerate(use.domains):
            if fault := host_fault(domain):
                yield f"secrets.{name}.domains[{index}]", fault


def _of_sites(spec: JobSpec) -> Iterator[Found]:
    named = []
    for index, text in enumerate(spec.sites):
        try:
            named.append(named_site(text))
        except ValueError as error:
            yield f"sites[{index}]", f"{text!r} {error}"
    if named and len(named) == len(spec.sites):
        for field, url in login_addresses(spec):
            if not any(site.covers(url) for site in named):
                yield field, "is on none of the job's `sites`, so nothing could be filled in there: name its host, too"


def _of_loop(loop: LoopSpec, prefix: str) -> Iterator[Found]:
    for name, number in (("concurrency", loop.concurrency), ("max_items", loop.max_items)):
        if number is not None and number > _INT32:
            yield f"{prefix}.{name}", f"must be at most {_INT32}"
    if loop.sitemap is not None and prefix != "loop":
        yield f"{prefix}.sitemap", "is for the outermost loop"
    if loop.sitemap is not None and loop.is_link is False:
        yield f"{prefix}.is_link", "must be left out: the pages of a sitemap are links"
    if loop.source is not None:
        if _blank(loop.source.select):
            yield f"{prefix}.from.select", "must not be blank"
        if _blank(loop.source.next):
            yield f"{prefix}.from.next", "must not be blank"
    for index, value in enumerate(loop.values or ()):
        if _blank(value):
            yield f"{prefix}.values[{index}]", "must not be blank"
        elif loop.is_link and not _LINK.match(value):
            yield f"{prefix}.values[{index}]", "must be an http:// or https:// address, since `is_link` is true"


def _blank(text: str | None) -> bool:
    return text is not None and not text.strip()


# --- schemas ------------------------------------------------------------------------------------------


def _is_mapping_of_types(schema: dict[str, Json]) -> bool:
    """Return whether it looks like {"name": "string"}: fields where keywords belong, so that no field would be read."""
    if not schema or any(name in _OF_SCHEMAS or name.startswith("$") for name in schema):
        return False
    types = (part.get("type") if isinstance(part, dict) else part for part in schema.values())
    return all(isinstance(name, str) and name in _TYPE_NAMES for name in types)


def _of_headers(spec: JobSpec) -> Iterator[Found]:
    for name, value in spec.browser.headers.items():
        if is_reference(value):
            yield (
                f"browser.headers.{name}",
                "stored secrets are filled into pages and not sent as headers: a header goes to every site that a page "
                "loads from. Log in by `data`, or give the header's own value, which is not shown",
            )


def _unread(schema: Json, place: str) -> Iterator[Found]:
    """Keywords that would say nothing: those that are none, but nearly, and a unit that is not known.

    Other keywords of the caller's own are left alone.
    """
    if not isinstance(schema, dict):
        return
    for name, part in schema.items():
        if name not in _KEYWORDS and (meant := get_close_matches(name, _KEYWORDS, n=1, cutoff=0.8)):
            yield f"{place}.{name}", f"is no keyword of JSON Schema; {meant[0]!r} is one"
        elif name == "x-unit" and (not isinstance(part, str) or unit_named(part) is None):
            yield f"{place}.{name}", "is no unit that is known; write it as in `kg`, `cm`, `minutes` or `kWh`"
        elif name in _OF_NAMES and isinstance(part, dict):
            for field, inner in part.items():
                yield from _unread(inner, f"{place}.{name}.{field}")
        elif name in _OF_PARTS:
            for number, inner in enumerate(part) if isinstance(part, list) else ():
                yield from _unread(inner, f"{place}.{name}[{number}]")
            yield from _unread(part, f"{place}.{name}")


def _of_key(extract: ExtractSpec) -> Iterator[Found]:
    """Faults of the key that the schema of a record declares."""
    place = "extract.schema.items" if extract.many else "extract.schema"
    schema = extract.record_schema or {}
    if extract.many and X_KEY in (extract.json_schema or {}):
        yield f"extract.schema.{X_KEY}", f"belongs into the schema of one record: {place}.{X_KEY}"
    declared, known = schema.get(X_KEY), schema.get("properties")
    if X_KEY not in schema:
        return
    names = declared if isinstance(declared, list) else [declared]
    if not names or not all(isinstance(name, str) for name in names):
        yield f"{place}.{X_KEY}", "must be the name of a field, or a list of names"
        return
    for name in names:
        if not isinstance(known, dict) or name not in known:
            yield f"{place}.{X_KEY}", f"names {name!r}, which is no property of the schema"


def _of_glossary(extract: ExtractSpec) -> Iterator[Found]:
    """Faults of the field glossary that the schema of a record has."""
    schema, place = extract.record_schema or {}, "extract.schema.items" if extract.many else "extract.schema"
    if extract.many and X_GLOSSARY in (extract.json_schema or {}):
        yield f"extract.schema.{X_GLOSSARY}", f"belongs into the schema of one record: {place}.{X_GLOSSARY}"
    if X_GLOSSARY in schema:
        known = frozenset(field_names(properties_of(schema)))
        for field, why in glossary_faults(schema[X_GLOSSARY], known):
            yield f"{place}.{X_GLOSSARY}{field and '.'}{field}", why


def _of_extract(extract: ExtractSpec | None) -> Iterator[Found]:
    if extract is None or extract.json_schema is None:
        return
    items = extract.json_schema.get("items")
    if extract.many and isinstance(items, dict) and items.get("type", "object") != "object":
        yield "extract.schema", "must describe an array of objects: its `items` are something else"
    schemas = (schema for schema in (extract.json_schema, items) if isinstance(schema, dict))
    mapped = [schema for schema in schemas if _is_mapping_of_types(schema)]
    for schema in mapped:
        properties = {name: part if isinstance(part, dict) else {"type": part} for name, part in schema.items()}
        meant = json.dumps({"type": "object", "properties": properties}, ensure_ascii=False)
        yield "extract.schema", f"maps names to types, and is no JSON Schema; write {meant[:300]}"
    if not mapped:
        yield from _unread(extract.json_schema, "extract.schema")
    yield from _of_key(extract)
    yield from _of_glossary(extract)
    reason = schema_fault(schema_text(extract.json_schema))
    if reason is not None:
        yield "extract.schema", reason
