"""Functions of texts that remember their answers."""

from __future__ import annotations

from shoal.agent.support.bounded_cache import bounded_cache


def test_an_answer_is_remembered_and_long_texts_are_not_kept() -> None:
    asked: list[str] = []

    @bounded_cache(2, longest=3)
    def length(text: str) -> int:
        """Return how long it is."""
        asked.append(text)
        return len(text)

    assert [length("abc"), length("abc"), length("abcd"), length("abcd")] == [3, 3, 4, 4]
    assert asked == ["abc", "abcd", "abcd"]
    assert [length(text) for text in ("a", "b", "abc")] == [1, 1, 3]
    assert asked[3:] == ["a", "b", "abc"], "only the last two are remembered"
    assert length.__doc__ == "Return how long it is."


def test_several_arguments_are_remembered_while_they_are_short_together() -> None:
    asked: list[tuple[tuple[str, ...], tuple[str, ...]]] = []

    @bounded_cache(2, longest=3)
    def same(one: tuple[str, ...], other: tuple[str, ...]) -> bool:
        asked.append((one, other))
        return one == other

    assert [same(("a",), ("a", "b")) for _ in range(3)] == [False] * 3
    assert asked == [(("a",), ("a", "b"))]
    assert [same(("a", "b"), ("a", "b")) for _ in range(3)] == [True] * 3
    assert len(asked) == 4, "four words together are not kept"
