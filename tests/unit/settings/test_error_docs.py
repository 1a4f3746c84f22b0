"""docs/errors.md is made from the classes of errors, and is current."""

from __future__ import annotations

from pathlib import Path

from shoal.agent import errors

ROOT = Path(__file__).resolve().parents[3]


def test_every_error_of_a_session_says_what_it_means() -> None:
    text = (ROOT / "docs" / "errors.md").read_text()
    classes = [one for one in vars(errors).values() if isinstance(one, type) and issubclass(one, errors.AgentError)]
    assert len(classes) > 30
    for one in classes:
        assert one.__doc__ and (one is errors.AgentError or f"| `{one.__name__}` |" in text), one
