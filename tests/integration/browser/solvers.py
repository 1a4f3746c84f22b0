"""Scripted solutions of MiniWoB++ tasks. They read observations as a model does, and answer in the text dialect."""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping
from datetime import datetime

from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import clickable_elements
from shoal.agent.types import Element, Observation

Script = Generator[str, Observation, None]
"""Replies, step after step; each is answered with what the page then shows."""
Solver = Callable[[Observation], "str | Script"]


def controls(seen: Observation) -> list[Element]:
    return clickable_elements(seen.elements)


def bid(seen: Observation, name: str) -> str:
    return next(element.bid for element in controls(seen) if element.name.lower() == name.lower())


def click(seen: Observation, *names: str) -> str:
    return "\n".join(f"click('{bid(seen, name)}')" for name in names)


def quoted(seen: Observation) -> list[str]:
    return re.findall(r'"([^"]*)"', seen.goal)


def fields(seen: Observation) -> list[str]:
    return [element.bid for element in controls(seen) if element.tag in ("input", "textarea")]


def by_role(seen: Observation, *roles: str) -> list[Element]:
    return [element for element in controls(seen) if element.role in roles]


def filled(seen: Observation, *values: str, then: str = "Submit") -> str:
    """The page's fields in order, and its button."""
    lines = [f"fill('{field}', {value!r})" for field, value in zip(fields(seen), values, strict=False)]
    return "\n".join([*lines, click(seen, then)])


def lines(seen: Observation) -> list[str]:
    """Return what the page says."""
    return compact(seen.elements).splitlines()


def pairs(seen: Observation) -> dict[str, str]:
    """A table of two columns."""
    return {left: right for left, _, right in (line.partition(" | ") for line in lines(seen)) if right}


def between(text: str, before: str, after: str) -> str:
    return text.split(before, 1)[1].split(after, 1)[0]


def ticked(seen: Observation) -> str:
    said = between(seen.goal, "Select ", " and click")
    names = [] if said == "nothing" else said.split(", ")
    return "\n".join([*(f"check('{bid(seen, name)}')" for name in names), click(seen, "Submit")])


def chosen(seen: Observation, listed: str) -> str:
    box = next(element.bid for element in controls(seen) if element.tag == "select")
    names = listed.split(", ")
    return f"select_option('{box}', {names if len(names) > 1 else names[0]!r})\n{click(seen, 'Submit')}"


def collapsible(seen: Observation) -> Script:
    yield f"click('{by_role(seen, 'tab')[0].bid}')\nnoop(600)"
    yield click(seen, "Submit")


def widget(seen: Observation) -> str:
    (kind,) = quoted(seen)
    tests: dict[str, Callable[[Element], bool]] = {
        "text": lambda e: e.tag == "input" and e.role == "textbox",
        "textarea": lambda e: e.tag == "textarea",
    }
    test = tests.get(kind, lambda e: e.role == kind and e.tag in ("input", "button"))
    return f"click('{next(element.bid for element in controls(seen) if test(element))}')"


def nth_word(seen: Observation) -> str:
    position = int(re.findall(r"(\d+)(?:st|nd|rd|th)", seen.goal)[0])
    return re.sub(r"\W+$", "", lines(seen)[0].split()[position - 1])


def sum_of(seen: Observation) -> str:
    left, sign, right = re.findall(r"^(-?\d+) ([-+x]) (-?\d+) =", lines(seen)[0])[0]
    return str({"+": int(left) + int(right), "-": int(left) - int(right), "x": int(left) * int(right)}[sign])


def unknown(seen: Observation) -> str:
    left, sign, right, result = re.findall(r"^(-?\d+|x) ([-+]) (-?\d+|x) = (-?\d+)", lines(seen)[0])[0]
    total = int(result)
    if left == "x":
        return str(total - int(right) if sign == "+" else total + int(right))
    return str(total - int(left) if sign == "+" else int(left) - total)


def icon_of_email(seen: Observation, icon: str) -> str:
    sender = between(seen.goal, "email by ", " and click")
    text = lines(seen)
    at = next(index for index, line in enumerate(text) if line.startswith(sender))
    (found,) = re.findall(rf'(\d+) span "{icon}"', text[at + 1])
    return f"click('{found}')"


def radio_and_text(seen: Observation) -> str:
    nth, field = (int(n) for n in re.findall(r"(\d+)(?:st|nd|rd|th)", seen.goal))
    radio, text = by_role(seen, "radio")[nth - 1], by_role(seen, "textbox")[field - 1]
    return f"check('{radio.bid}')\nfill('{text.bid}', {quoted(seen)[0]!r})\n{click(seen, 'Submit')}"


def odd_or_even(seen: Observation) -> str:
    found = [re.match(r'\[(\d+) button "Odd"\] (-?\d+) \[(\d+) button "Even"\]', line) for line in lines(seen)]
    marks = [one.group(1) if int(one.group(2)) % 2 else one.group(3) for one in found if one]
    return "\n".join([*(f"click('{mark}')" for mark in marks), click(seen, "Submit")])


def greatest(seen: Observation) -> str:
    cards = [element for element in controls(seen) if re.fullmatch(r"-?\d+", element.name)]
    return f"click('{max(cards, key=lambda card: int(card.name)).bid}')\n{click(seen, 'Submit')}"


def guessed(seen: Observation) -> Script:
    low, high = 0, 9
    while True:
        guess = (low + high) // 2
        seen = yield filled(seen, str(guess))
        low, high = (low, guess - 1) if f"lower than {guess}" in " ".join(lines(seen)) else (guess + 1, high)


def movie(seen: Observation) -> str:
    """Fields in any order, told by their names."""
    genre, director, year = re.findall(r"for (\S+) movies directed by (\S+) from year (\d+)", seen.goal)[0]
    values = {"genre": genre, "direct": director, "year": year, "date": year}
    calls = []
    for element in by_role(seen, "textbox"):
        label = element.name or next(line for line in lines(seen) if f"[{element.bid} " in line)
        value = next(value for word, value in values.items() if word in label.lower())
        calls.append(f"fill('{element.bid}', {value!r})")
    last = [element for element in controls(seen) if element.role != "textbox"][-1]
    return "\n".join([*calls, f"click('{last.bid}')"])


def coloured(seen: Observation) -> str:
    said = between(seen.goal, "Click on the ", " colored")
    seen_as = {"lime": "green", "magenta": "pink", "olive": "dark yellow", "purple": "dark pink"}
    colour = seen_as.get(said, said)
    boxes = [element for element in controls(seen) if element.name.startswith(f"{colour} ")]
    return f"click('{boxes[-1].bid}')"  # the goal may show the colour as a box of its own, before the others


def moved_time(seen: Observation) -> str:
    return datetime.strptime(between(seen.goal, "Enter ", " as the time"), "%I:%M %p").strftime("%H:%M")


def moved_date(seen: Observation) -> str:
    return datetime.strptime(between(seen.goal, "Enter ", " as the date"), "%m/%d/%Y").strftime("%Y-%m-%d")


def in_case(seen: Observation) -> str:
    return quoted(seen)[0].upper() if "upper case" in seen.goal else quoted(seen)[0].lower()


def copied(seen: Observation) -> str:
    text = next(e for e in by_role(seen, "textbox") if e.attributes.get("value"))
    answer = next(e for e in by_role(seen, "textbox") if e is not text)
    return f"fill('{answer.bid}', {text.attributes['value']!r})\n{click(seen, 'Submit')}"


SOLVERS: Mapping[str, Solver] = {
    "button-delay": lambda seen: (
        f"{click(seen, 'ONE')}\nnoop({int(re.findall(r'wait (.+?) seconds', seen.goal)[0]) * 1000 + 100})\n"
        f"{click(seen, 'TWO')}"
    ),
    "choose-list": lambda seen: chosen(seen, between(seen.goal, "Select ", " from")),
    "click-button": lambda seen: click(seen, quoted(seen)[0]),
    "click-button-sequence": lambda seen: click(seen, "ONE", "TWO"),
    "click-checkboxes": ticked,
    "click-checkboxes-large": ticked,
    "click-checkboxes-transfer": ticked,
    "click-collapsible": collapsible,
    "click-color": coloured,
    "click-dialog": lambda seen: click(seen, "Close"),
    "click-dialog-2": lambda seen: click(seen, "Close" if quoted(seen)[0] == "x" else quoted(seen)[0]),
    "click-link": lambda seen: click(seen, quoted(seen)[0]),
    "click-option": lambda seen: (
        f"check('{bid(seen, between(seen.goal, 'Select ', ' and click'))}')\n{click(seen, 'Submit')}"
    ),
    "click-scroll-list": lambda seen: chosen(seen, between(seen.goal, "Select ", " from")),
    "click-tab": lambda seen: click(seen, between(seen.goal, "Click on ", ".")),
    "click-test": lambda seen: click(seen, "Click Me!"),
    "click-test-2": lambda seen: click(seen, "ONE"),
    "click-test-transfer": lambda seen: click(seen, between(seen.goal, "button ", ".")),
    "click-widget": widget,
    "copy-paste": copied,
    "enter-date": lambda seen: filled(seen, moved_date(seen)),
    "enter-password": lambda seen: filled(seen, quoted(seen)[0], quoted(seen)[0]),
    "enter-text": lambda seen: filled(seen, quoted(seen)[0]),
    "enter-text-2": lambda seen: filled(seen, in_case(seen)),
    "enter-text-dynamic": lambda seen: filled(seen, quoted(seen)[0]),
    "enter-time": lambda seen: filled(seen, moved_time(seen)),
    "email-inbox-delete": lambda seen: icon_of_email(seen, "trash"),
    "email-inbox-important": lambda seen: icon_of_email(seen, "star"),
    "find-greatest": greatest,
    "find-word": lambda seen: filled(seen, nth_word(seen)),
    "focus-text": lambda seen: f"focus('{fields(seen)[0]}')",
    "focus-text-2": lambda seen: f"focus('{fields(seen)[int(re.findall(r'[0-9]', seen.goal)[0]) - 1]}')",
    "form-sequence-2": radio_and_text,
    "guess-number": guessed,
    "login-user": lambda seen: filled(seen, *quoted(seen)[:2], then="Login"),
    "multi-orderings": movie,
    "odd-or-even": odd_or_even,
    "read-table": lambda seen: filled(seen, pairs(seen)[between(seen.goal, "value of ", " into")]),
    "read-table-2": lambda seen: filled(seen, *(pairs(seen)[e.name] for e in by_role(seen, "textbox"))),
    "simple-algebra": lambda seen: filled(seen, unknown(seen)),
    "simple-arithmetic": lambda seen: filled(seen, sum_of(seen)),
    "text-transform": lambda seen: filled(seen, lines(seen)[0].replace(" ", "")),
    "unicode-test": lambda seen: click(seen, quoted(seen)[0]),
    "use-spinner": lambda seen: filled(seen, between(seen.goal, "Select ", " with")),
}
