"""Make `agent/read/vocabulary.json` of a release of schema.org, given as the file of its JSON-LD.

Only names, their relations, and the single words of each comment are taken; sentences are not.
"""

from __future__ import annotations

import json
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from shoal.agent.read.words import tokens

TARGET = Path(__file__).resolve().parents[1] / "agent" / "read" / "vocabulary.json"
_COMMENT = 220
"""Characters of a comment whose words count: what follows is examples."""
_MOST_COMMENTS = 30
"""A word that stands in more comments than this tells no property from others."""


def main(release: Path) -> None:
    """Read the release and write the vocabulary."""
    graph = json.loads(release.read_text(encoding="utf-8"))["@graph"]
    made: dict[str, dict[str, Any]] = {"types": {}, "properties": {}, "members": {}}
    for node in graph:
        prefix, _, name = node["@id"].partition(":")
        if prefix != "schema":
            continue
        kinds = node["@type"] if isinstance(node["@type"], list) else [node["@type"]]
        if "rdf:Property" in kinds:
            made["properties"][name] = _property(node)
        elif "rdfs:Class" in kinds:
            made["types"][name] = list(_names(node.get("rdfs:subClassOf")))
        else:
            made["members"][name] = [kind.rpartition(":")[2] for kind in kinds]
    _drop_common_words(made["properties"].values())
    TARGET.write_text(json.dumps(made, sort_keys=True, separators=(",", ":")) + "\n", encoding="utf-8")


def _property(node: Mapping[str, Any]) -> dict[str, list[str]]:
    comment = node.get("rdfs:comment", "")
    text = re.sub(r"<[^>]+>", "", comment["@value"] if isinstance(comment, Mapping) else comment)
    counted = re.findall(r"\bnumber of ((?:\w+ )?\w+)", text)
    return {
        "domains": list(_names(node.get("schema:domainIncludes"))),
        "ranges": list(_names(node.get("schema:rangeIncludes"))),
        "superseded_by": list(_names(node.get("schema:supersededBy"))),
        "broader": list(_names(node.get("rdfs:subPropertyOf"))),
        "words": sorted({word for part in text[:_COMMENT].split() for word in tokens(part)}),
        "counts": sorted({word for phrase in counted for word in tokens(phrase)}),
    }


def _drop_common_words(properties: Collection[dict[str, list[str]]]) -> None:
    counted = Counter(word for prop in properties for word in prop["words"])
    for prop in properties:
        prop["words"] = [word for word in prop["words"] if counted[word] <= _MOST_COMMENTS]
        for name in [name for name, entries in prop.items() if not entries]:
            del prop[name]


def _names(value: Any) -> Iterator[str]:
    for entry in value if isinstance(value, list) else [value]:
        if isinstance(entry, Mapping):
            yield str(entry.get("@id", "")).rpartition(":")[2]


if __name__ == "__main__":
    main(Path(sys.argv[1]))
