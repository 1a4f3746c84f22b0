"""Words for the sureness of values and of replayed records. Clients read them without the rest of the vocabulary."""

from __future__ import annotations

from typing import Literal

Audited = Literal["", "right", "wrong", "unclear", "not_done"]
"""Result of comparing a model's readings of a page with a replayed record: `wrong`, two of them agree on another one;
`unclear`, all of them differ; `not_done`, the model did not answer; "", none was asked for."""

Sureness = Literal["certain", "likely", "weak"]
"""Levels of a value's sureness, best first."""
