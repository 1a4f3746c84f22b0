"""Which addresses a template knows, and that none keeps a worker busy."""

from __future__ import annotations

import re
import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from shoal.agent.workflows.reading.page_guards import fits_template, plain_address


@pytest.mark.parametrize(
    ("url", "template", "fits"),
    [
        ("https://shop.example/p/17", "https://shop.example/p/{}", True),
        ("https://shop.example/p/17/", "https://shop.example/p/{}#top", True),
        ("https://shop.example/p/17/reviews", "https://shop.example/p/{}", False),
        ("https://shop.example/p/", "https://shop.example/p/{}", False),
        ("https://shop.example/list?page=2&sort=up", "https://shop.example/list?page={}&sort={}", True),
        ("https://shop.example/list?page=2&sort=", "https://shop.example/list?page={}&sort={}", False),
        ("https://shop.example/a-1-b", "https://shop.example/a-{}-b", True),
        ("https://shop.example/a--b", "https://shop.example/a-{}-b", False),
    ],
)
def test_a_template_stands_for_parts_of_an_address(url: str, template: str, fits: bool) -> None:
    assert fits_template(url, template) is fits


@given(url=st.text("ab/=", max_size=12), template=st.lists(st.sampled_from(["a", "b", "/", "=", "{}"]), max_size=8))
@example("aab", ["{}", "a", "b"])
@example("aa", ["{}", "{}", "{}"])
def test_it_says_what_an_expression_would(url: str, template: list[str]) -> None:
    text = "".join(template)
    pattern = "[^/?#&=]+".join(map(re.escape, plain_address(text).split("{}")))
    assert fits_template(url, text) == (re.fullmatch(pattern, plain_address(url)) is not None)


@pytest.mark.parametrize("template", ["{}" * 40 + "!", "{}a" * 40 + "!", "{}" * 1_000 + "b"])
def test_no_template_takes_long(template: str) -> None:
    began = time.process_time()
    assert not fits_template("https://x.example/" + "a" * 2_000, "https://x.example/" + template)
    assert time.process_time() - began < 0.2
