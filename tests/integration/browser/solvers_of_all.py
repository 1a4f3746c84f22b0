"""Scripted solutions of further MiniWoB++ tasks: those that take several looks, memory, or a hand that drags."""

from __future__ import annotations

import calendar
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import count

from shoal.agent.observe.renderings import compact
from shoal.agent.observe.tree import walk_elements
from shoal.agent.types import Element, Observation
from tests.integration.browser.solvers import (
    SOLVERS,
    Script,
    Solver,
    between,
    bid,
    by_role,
    click,
    controls,
    fields,
    lines,
    movie,
    quoted,
)

_MONTHS = tuple(calendar.month_name)[1:]
_ALIKE = """
big large huge enormous gigantic
small tiny little mini petite
red scarlet crimson vermillion
happy cheerful joyful gleeful delighted
sad unhappy sorrowful miserable tragic
angry mad furious irritated
evil wicked immoral sinful corrupt depraved
wrong incorrect mistaken erroneous
real genuine actual
strange odd peculiar unusual weird
stop cease halt end finish
scared terrified panicked fearful frightened afraid
quiet calm peaceful serene mild
old aged archaic
love like adore favor
kill murder assassinate
keep retain preserve sustain maintain
hide conceal camouflage
hate despise loathe detest dislike
funny humorous amusing comical laughable
fat fleshy plump chubby
stupid dumb dull unwise
delicious savory delectable appetizing
cut slice carve chop
brave courageous fearless
begin start initiate launch
answer reply response
television televisions TV TVs
house home houses homes
fire flame fires flames
pig pork swine
rabbit rabbits bunny bunnies
car cars automobile automobiles vehicle vehicles
water
""".strip().splitlines()
_COLOURS = {"red": "FF0000", "lime": "00FF00", "green": "008000", "blue": "0000FF", "yellow": "FFFF00"} | {
    "white": "FFFFFF", "black": "000000", "aqua": "00FFFF", "magenta": "FF00FF", "olive": "808000", "purple": "800080",
    "orange": "FFA500", "maroon": "800000", "navy": "000080", "silver": "C0C0C0", "teal": "008080", "gold": "FFD700",
    "grey": "808080", "gray": "808080", "pink": "FFC0CB", "cyan": "00FFFF",
}  # fmt: skip


def named(seen: Observation, name: str, *roles: str) -> Element | None:
    """The control of exactly this name, if there is one."""
    return next((e for e in controls(seen) if e.name == name and (not roles or e.role in roles)), None)


def middle(element: Element) -> tuple[float, float]:
    assert element.box is not None
    return element.box.x + element.box.width / 2, element.box.y + element.box.height / 2


def until_there(seen: Observation, name: str, openers: Callable[[Observation], list[Element]]) -> Script:
    """Opens one part after another until a control of this name can be seen, and clicks it."""
    for number in range(len(openers(seen))):
        if (found := _listed(seen, name)) is None:
            seen = yield f"click('{openers(seen)[number].bid}')\nnoop(700)"
            found = _listed(seen, name)
        if found is not None:
            yield f"click('{found.bid}')"


def _listed(seen: Observation, name: str) -> Element | None:
    return next((e for e in controls(seen) if e.name == name and e.role not in ("tab", "link")), None)


def ascending(seen: Observation) -> str:
    """The first click hides all numbers; where they were is remembered."""
    numbers = sorted((e for e in controls(seen) if e.name.isdigit()), key=lambda e: int(e.name))
    calls = [f"click('{numbers[0].bid}')"]
    for element in numbers[1:]:
        assert element.box is not None
        calls.append(f"mouse_click({element.box.x + 7:.0f}, {element.box.y + 12:.0f})")
    return "\n".join(calls)


def cheapest(seen: Observation) -> str:
    offers: list[tuple[float, float, str]] = []
    minutes = 0.0
    for line in lines(seen):
        if found := re.search(r"Duration:\s*(?:(\d+)h)?\s*(?:(\d+)m)?", line):
            minutes = int(found[1] or 0) * 60 + int(found[2] or 0)
        if found := re.search(r'\[(\d+) button "Book [^"]*\$(\d+)"', line):
            offers.append((int(found[2]), minutes, found[1]))
    column = 1 if re.search("duration|shortest", seen.goal) else 0
    best = max if re.search("longest|expensive", seen.goal) else min
    return f"click('{best(offers, key=lambda offer: offer[column])[2]}')"


def dated(seen: Observation, field: str, wanted: str) -> Script:
    """Picks a day (month/day/year) in a calendar that a field opens."""
    month, day, year = (int(part) for part in wanted.split("/"))
    seen = yield f"click('{field}')\nnoop(300)"
    while f"{_MONTHS[month - 1]} {year}" not in compact(seen.elements):
        shown = re.search(rf"({'|'.join(_MONTHS)}) (\d{{4}})", compact(seen.elements))
        assert shown is not None
        later = (int(shown[2]), _MONTHS.index(shown[1])) < (year, month - 1)
        seen = yield f"click('{bid(seen, 'Next' if later else 'Prev')}')"
    found = named(seen, str(day), "link")
    assert found is not None
    return (yield f"click('{found.bid}')\nnoop(300)")


def choose_date(seen: Observation) -> Script:
    seen = yield from dated(seen, fields(seen)[0], between(seen.goal, "Select ", " as the date"))
    yield click(seen, "Submit")


def flight(seen: Observation) -> Script:
    start, goal, day = re.findall(r"from: (.+) to: (.+) on (\d+/\d+/\d+)", seen.goal)[0]
    for number, place in ((0, start), (1, goal)):
        seen = yield f"fill('{fields(seen)[number]}', {place!r})\nnoop(200)"
        option = next(e for e in controls(seen) if place in e.name and e.tag not in ("input", "button"))
        seen = yield f"click('{option.bid}')"
    seen = yield from dated(seen, fields(seen)[2], day)
    seen = yield f"{click(seen, 'Search')}\nnoop(500)"
    yield cheapest(seen)


def alike(seen: Observation) -> str:
    wanted = between(seen.goal, "similar to ", " and click").split(", ")
    groups = [set(group.split()) for group in _ALIKE]
    boxes = [e for e in by_role(seen, "checkbox") if any(e.name in g and g & set(wanted) for g in groups)]
    return "\n".join([*(f"check('{e.bid}')" for e in boxes), click(seen, "Submit")])


def menu(seen: Observation) -> Script:
    *parents, leaf = between(seen.goal + "|", "Select ", "|").split(">")
    for parent in parents:
        seen = yield f"hover('{bid(seen, parent)}')\nnoop(700)"
    yield f"click('{bid(seen, leaf)}')"


def shows_an_icon(seen: Observation) -> bool:
    """Return whether the goal names a thing of a menu by a picture."""
    return "with the" in seen.goal


def playback(seen: Observation) -> Script:
    name = quoted(seen)[1]
    seen = yield f"{click(seen, 'Menu')}\nnoop(300)"
    if name in ("Prev", "Stop", "Play", "Next"):
        seen = yield f"hover('{bid(seen, 'Playback')}')\nnoop(700)"
    yield f"click('{bid(seen, name)}')"


def copied_from_one_of_three(seen: Observation) -> str:
    number = int(re.findall(r"(\d)(?:st|nd|rd|th)", seen.goal)[0])
    texts = by_role(seen, "textbox")
    return f"fill('{texts[-1].bid}', {texts[number - 1].attributes['value']!r})\n{click(seen, 'Submit')}"


def boxed(seen: Observation) -> str:
    (x, y), (to_x, to_y) = (middle(next(e for e in controls(seen) if e.name == name)) for name in ("s", "L"))
    return f"mouse_drag_and_drop({x}, {y}, {to_x}, {to_y})\n{click(seen, 'Submit')}"


_WAYS = {"left": (-35, 0), "right": (35, 0), "up": (0, -35), "down": (0, 35)}


def dragged(seen: Observation) -> str:
    way = next(way for way in _WAYS if f" {way} " in seen.goal)
    x, y = middle(next(e for e in controls(seen) if e.role != "button"))
    dx, dy = _WAYS[way]
    return f"mouse_drag_and_drop({x}, {y}, {x + dx}, {y + dy})\n{click(seen, 'Submit')}"


def to_position(seen: Observation) -> Script:
    """Drags an item of a list or grid to its place."""
    name, place = re.findall(r"Drag ([\w-]+) (?:to the )?(.+?)\.", seen.goal)[0]
    items = [e for e in controls(seen) if e.role == "listitem"]
    at = next(index for index, e in enumerate(items) if e.name == name)
    wide = 3 if len(items) == 9 else 1
    if found := re.match(r"(\d+)", place):
        to = int(found[1]) - 1
    elif way := re.match(r"up|down|left|right", place):  # by one
        to = at + {"up": -wide, "down": wide, "left": -1, "right": 1}[way[0]]
    else:
        row = 0 if "top" in place else 2 if "bottom" in place else 1
        to = row * 3 + (0 if "left" in place else 2 if "right" in place else 1)
    yield _moved(items[at], items[to])


def _moved(item: Element, onto: Element) -> str:
    """A drag that goes a little beyond the middle of what it is dropped on."""
    (x, y), (to_x, to_y) = middle(item), middle(onto)
    beyond_x = 4 if to_x > x + 2 else -4 if to_x < x - 2 else 0
    beyond_y = 4 if to_y > y + 2 else -4 if to_y < y - 2 else 0
    return f"mouse_drag_and_drop({x}, {y}, {to_x + beyond_x}, {to_y + beyond_y})\nnoop(400)"


def sorted_numbers(seen: Observation) -> Script:
    while True:
        items = [e for e in controls(seen) if e.role == "listitem"]
        wrong = [n for n in range(len(items) - 1) if int(items[n].name) > int(items[n + 1].name)]
        if not wrong:
            break
        seen = yield _moved(items[wrong[0]], items[wrong[0] + 1])
    yield click(seen, "Submit")


_VERBS = ["Find", "Forward", "Get", "Give", "Go", "Locate", "Look", "Navigate", "Please", "Search", "Send", "The"]


def email(seen: Observation) -> Script:
    """One of four things to be done with the email of a sender; in words of many kinds."""
    rows = _emails(seen)
    goal = seen.goal
    sender = _sender(goal, rows)
    text = quoted(seen)
    if re.search(r"delete|trash|\bbin\b|remove|get rid", goal, re.IGNORECASE):
        yield f"click('{rows[sender][1]}')"
    elif re.search(r"star|important", goal, re.IGNORECASE) and not text:
        yield f"click('{rows[sender][2]}')"
    else:
        seen = yield f"click('{rows[sender][0]}')"
        forward = not text
        word = "forward" if forward else "reply"
        seen = yield f"click('{next(e.bid for e in controls(seen) if word in e.name.lower())}')"
        names = [word for word in re.findall(r"\b[A-Z][\w-]+", goal) if word not in (sender, *_VERBS)]
        told = text[-1] if text else names[-1]
        place = by_role(seen, "textbox")[0 if forward else -1]
        seen = yield f"fill('{place.bid}', {told!r})"
        yield f"click('{next(e.bid for e in controls(seen) if 'send' in e.name.lower())}')"


def _sender(goal: str, rows: Iterable[str]) -> str:
    """Whose email is meant: there may be one too of the person that it goes to."""
    names = [name for name in rows if re.search(rf"\b{name}\b", goal)]
    meant = [n for n in names if re.search(rf"\b(?:by|from|Get) {n}\b|\b{n} (?:sent|wants his)\b", goal)]
    owner = [n for n in names if re.search(rf"\b{n}'s\b", goal)]
    return (meant or owner or names)[0]


def _emails(seen: Observation) -> dict[str, tuple[str, str, str]]:
    """By sender: the row's id, and those of its two icons."""
    found: dict[str, tuple[str, str, str]] = {}
    for row in walk_elements(seen.elements):
        icons = [e for e in row.children if e.name in ("trash", "star")] or [
            e for child in row.children for e in child.children if e.name in ("trash", "star")
        ]
        if row.bid and row.clickable and len(icons) == 2:
            words = " ".join(e.text for e in walk_elements(row) if e.text).split()
            found[words[0]] = (row.bid, icons[0].bid, icons[1].bid)
    return found


def slid(seen: Observation, number: int, wanted: int) -> Script:
    """Moves the slider of this number by its keys until the text behind it says what is wanted."""
    for _ in range(6):
        handles = [e for e in controls(seen) if "handle" in e.name]
        shown = _values(seen)[number]
        if shown == wanted:
            break
        key = "ArrowRight" if wanted > shown else "ArrowLeft"
        keys = "\n".join([f"keyboard_press('{key}')"] * min(abs(wanted - shown), 60))
        seen = yield f"focus('{handles[number].bid}')\n{keys}"
    return seen


def _values(seen: Observation) -> list[int]:
    """The numbers that stand alone between the sliders."""
    said = re.sub(r"\[(?:[^\]\"]|\"[^\"]*\")*\]", " ", " ".join(lines(seen)))
    return [int(one) for one in re.findall(r"(?<![\w.])-?\d+(?![\w.])", said.split("(canvas")[0])]


def slider(seen: Observation) -> Script:
    seen = yield from slid(seen, 0, int(between(seen.goal, "Select ", " with")))
    yield click(seen, "Submit")


def sliders(seen: Observation) -> Script:
    for number, wanted in enumerate(re.findall(r"\d+", between(seen.goal, "[", "]"))):
        seen = yield from slid(seen, number, int(wanted))
    yield click(seen, "Submit")


def slider_and_box(seen: Observation) -> Script:
    wanted, box = int(between(seen.goal, "Select ", " with")), int(re.findall(r"(\d)(?:st|nd|rd)", seen.goal)[0])
    seen = yield from slid(seen, 0, wanted)
    yield f"check('{by_role(seen, 'checkbox')[box - 1].bid}')\n{click(seen, 'Submit')}"


def height_and_button(seen: Observation) -> Script:
    wanted = between(seen.goal, "Choose ", " from")
    opener = next(e for e in controls(seen) if e.tag == "div")
    seen = yield f"click('{opener.bid}')\nnoop(300)"
    seen = yield f"click('{bid(seen, wanted)}')\nnoop(300)"
    yield click(seen, quoted(seen)[0])


def generated(seen: Observation) -> Script:
    limit = [int(n) for n in re.findall(r"\d+", seen.goal)]
    tests: dict[str, Callable[[int], bool]] = {
        "less": lambda n: n < limit[0],
        "greater": lambda n: n > limit[0],
        "odd": lambda n: n % 2 == 1,
        "even": lambda n: n % 2 == 0,
    }
    test = next(test for word, test in tests.items() if word in seen.goal)
    while not (re.fullmatch(r"\d+", shown := lines(seen)[0].split(" [")[0]) and test(int(shown))):
        seen = yield click(seen, "Generate")
    yield click(seen, "Submit")


def coordinate(seen: Observation) -> str:
    x, y = (int(n) for n in re.findall(r"-?\d+", seen.goal)[:2])
    dots = [e for e in controls(seen) if e.tag == "circle"]
    columns = sorted({round(middle(e)[0]) for e in dots})
    rows = sorted({round(middle(e)[1]) for e in dots})
    wanted = (columns[x + 2], rows[2 - y])
    return f"click('{next(e.bid for e in dots if tuple(map(round, middle(e))) == wanted)}')"


def login(seen: Observation) -> Script:
    """A popup may come while a field is filled, and is to be closed."""
    for number, value in enumerate(quoted(seen)[:2]):
        seen = yield f"fill('{fields(seen)[number]}', {value!r})"
        if named(seen, "Cancel"):
            seen = yield click(seen, "Cancel")
            seen = yield f"fill('{fields(seen)[number]}', {value!r})"
    yield f"click('{next(e for e in controls(seen) if e.name == 'OK').bid}')"


def in_tree(seen: Observation) -> Script:
    name = quoted(seen)[0]
    opened: set[str] = set()
    while (found := named(seen, name)) is None:
        folder = next(e for e in controls(seen) if "expandable" in e.name and e.bid not in opened)
        opened.add(folder.bid)
        seen = yield f"click('{folder.bid}')\nnoop(500)"
    yield f"click('{found.bid}')"


def order(seen: Observation) -> str:
    dishes: list[tuple[str, str]] = []  # what is said of a dish, and the id that orders one more
    said = ""
    for line in lines(seen):
        if plus := re.search(r'\[(\d+) span "\+"', line):
            dishes.append((said, plus[1]))
            said = ""
        else:
            said = line if line.startswith("#") else f"{said} {line}"
    if "one of each" in seen.goal:
        wanted = between(seen.goal + "|", "item: ", "|").split(", ")
        pluses = [next(plus for said, plus in dishes if name in said) for name in wanted]
    else:
        count, kind = re.findall(r"Order (\d+) items that are (.+)", seen.goal)[0]
        pluses = [plus for said, plus in dishes if f"img {kind}" in said][:1] * int(count)
    return "\n".join([*(f"click('{plus}')" for plus in pluses), click(seen, "Order!")])


def contact(seen: Observation) -> Script:
    name, what = re.findall(r"Find (\w+) in .* on their (.+?)\.", seen.goal)[0]
    label = {"phone number": "Phone", "email": "Email", "address": "Address"}[what]
    while f"# {name}" not in compact(seen.elements).splitlines():
        seen = yield f"click('{bid(seen, '>')}')\nnoop(200)"
    found = next(re.search(r"\[(\d+) ", line) for line in lines(seen) if line.startswith(f"{label}:"))
    assert found is not None
    yield f"click('{found[1]}')"


def resized(seen: Observation) -> str:
    corner = next(e for e in walk_elements(seen.elements) if "se" in e.name.split())
    (x, y), far = middle(corner), 14 if "larger" in seen.goal else -14
    to = (x + far, y) if "width" in seen.goal else (x, y + far)
    return f"mouse_drag_and_drop({x}, {y}, {to[0]}, {to[1]})\n{click(seen, 'Submit')}"


def last_word(seen: Observation) -> str:
    text, answer = by_role(seen, "textbox")
    word = re.sub(r"\W+$", "", text.attributes["value"].split()[-1])
    return f"fill('{answer.bid}', {word!r})\n{click(seen, 'Submit')}"


def scrolled(seen: Observation) -> str:
    area, key = by_role(seen, "textbox")[0].bid, "Home" if "top" in seen.goal else "End"
    return f"press('{area}', 'Control+{key}')\nnoop(200)\n{click(seen, 'Submit')}"


def signed(seen: Observation) -> Script:
    if "enter the name" not in seen.goal:
        yield click(seen, "Cancel")
    area, name = by_role(seen, "textbox")
    while "disabled" in by_role(seen, "textbox")[1].states:
        seen = yield "\n".join([f"scroll_element('{area.bid}', 'down')"] * 4)
    yield f"fill('{name.bid}', {quoted(seen)[0]!r})\n{click(seen, quoted(seen)[1])}"


def posts(seen: Observation) -> Iterator[tuple[str, dict[str, str]]]:
    """By post: what it says, and its icons."""
    said = ""
    for line in lines(seen):
        icons = dict(re.findall(r'\[(\d+) span "(\w+)"', line))
        if icons:
            yield said, {name: number for number, name in icons.items()}
            said = ""
        else:
            said = f"{said} {line}"


def many_posts(seen: Observation) -> str:
    action, user = quoted(seen)[0].lower(), re.findall(r"by (@\w+)", seen.goal)[0]
    found = [icons[action] for said, icons in posts(seen) if user in said.split()]
    count = re.findall(r"on (\d+) posts?", seen.goal)
    found = found[: int(count[0])] if count else found
    return "\n".join([*(f"click('{icon}')" for icon in found), click(seen, "Submit")])


def deleted(seen: Observation) -> Script:
    target = by_role(seen, "textbox")[0].bid
    seen = yield f"focus('{target}')\nkeyboard_type('ls')\nkeyboard_press('Enter')\nnoop(200)"
    files = between(" ".join(lines(seen)), " ls ", " user$").split()
    wanted = re.findall(r"extension (\.[\w.]+)", seen.goal)
    file = next(f for f in files if (f.endswith(wanted[0]) if wanted else "." not in f))
    yield f"keyboard_type('rm {file}')\nkeyboard_press('Enter')"


_ROWS = [(0, 1, 2), (3, 4, 5), (6, 7, 8), (0, 3, 6), (1, 4, 7), (2, 5, 8), (0, 4, 8), (2, 4, 6)]


def played(seen: Observation) -> Script:
    cells = [e for e in controls(seen) if e.tag == "span"]
    board = [""] * 9
    mine: set[int] = set()
    while True:
        seen = yield f"click('{cells[(at := _best(board))].bid}')\nnoop(200)"
        mine.add(at)
        now = {e.bid: e for e in walk_elements(seen.elements) if e.bid}
        for index, cell in enumerate(cells):
            taken = index in mine or cell.bid not in now or bool(now[cell.bid].name)
            board[index] = "x" if index in mine else "o" if taken else ""


def _best(board: list[str]) -> int:
    for mark in ("x", "o"):
        for row in _ROWS:
            marks = [board[n] for n in row]
            if marks.count(mark) == 2 and "" in marks:
                return row[marks.index("")]
    return max((n for n in (4, 0, 8, 2, 6, 1, 3, 5, 7) if not board[n]), key=lambda n: _threats(board, n))


def _threats(board: list[str], cell: int) -> int:
    """In how many rows one more mark would win, after one in this cell."""
    after = [*board[:cell], "x", *board[cell + 1 :]]
    return sum(sorted(after[n] for n in row) == ["", "x", "x"] for row in _ROWS)


def completed(seen: Observation) -> Script:
    begin, *end = quoted(seen)
    seen = yield f"fill('{fields(seen)[0]}', {begin!r})\nnoop(600)"
    fits = [e for e in controls(seen) if e.tag not in ("input", "button") and e.name.startswith(begin)]
    choice = next(e for e in fits if not end or e.name.endswith(end[0]))
    seen = yield f"click('{choice.bid}')\nnoop(200)"
    yield click(seen, "Submit")


def coloured_field(seen: Observation) -> Script:
    colour = between(seen.goal, "Select ", " with")
    seen = yield f"fill('{fields(seen)[0]}', '{_COLOURS[colour]}')\nkeyboard_press('Tab')\nnoop(200)"
    yield click(seen, "Submit")


def bought(seen: Observation) -> Script:
    """The price goes on while it is read, by up to 1.5 each tenth of a second; late in an episode less is spared."""
    limit = float(between(seen.goal + " ", "less than $", ". "))
    x, y = middle(next(e for e in controls(seen) if e.name == "Buy"))
    for look in count():
        shown = re.search(r"Stock price: \$([\d.]+)", " ".join(lines(seen)))
        if shown is not None and float(shown[1]) < limit - (2 if look < 25 else 1):
            yield f"mouse_click({x}, {y})"
        seen = yield "noop(20)"


def tabs(seen: Observation) -> list[Element]:
    return [e for e in controls(seen) if e.role == "tab"]


def _until(seen: Observation) -> Script:
    return until_there(seen, quoted(seen)[0], tabs)


ALL: Mapping[str, Solver] = {
    **SOLVERS,
    "ascending-numbers": ascending,
    "book-flight": flight,
    "book-flight-nodelay": flight,
    "buy-ticket": cheapest,
    **dict.fromkeys(("choose-date", "choose-date-easy", "choose-date-medium", "choose-date-nodelay"), choose_date),
    "click-checkboxes-soft": alike,
    "click-collapsible-nodelay": SOLVERS["click-collapsible"],
    **dict.fromkeys(("click-collapsible-2", "click-collapsible-2-nodelay"), _until),
    **dict.fromkeys(("click-tab-2", "click-tab-2-easy", "click-tab-2-medium", "click-tab-2-hard"), _until),
    "click-menu": menu,
    "click-menu-2": playback,
    "copy-paste-2": copied_from_one_of_three,
    "drag-box": boxed,
    "drag-circle": dragged,
    "drag-single-shape": dragged,
    "drag-items": to_position,
    "drag-items-grid": to_position,
    "drag-sort-numbers": sorted_numbers,
    **dict.fromkeys(("email-inbox", "email-inbox-noscroll", "email-inbox-nl-turk", "email-inbox-reply"), email),
    **dict.fromkeys(("email-inbox-forward", "email-inbox-forward-nl", "email-inbox-star-reply"), email),
    "form-sequence": slider_and_box,
    "form-sequence-3": height_and_button,
    "generate-number": generated,
    "grid-coordinate": coordinate,
    "login-user-popup": login,
    "multi-layouts": movie,
    "navigate-tree": in_tree,
    "order-food": order,
    "phone-book": contact,
    "resize-textarea": resized,
    "scroll-text": last_word,
    "scroll-text-2": scrolled,
    "sign-agreement": signed,
    "social-media-all": many_posts,
    "social-media-some": many_posts,
    "stock-market": bought,
    "terminal": deleted,
    "tic-tac-toe": played,
    "use-autocomplete": completed,
    "use-autocomplete-nodelay": completed,
    "use-colorwheel": coloured_field,
    "use-slider": slider,
    "use-slider-2": sliders,
}
"""Every task that can be solved without sight, as far as a script solves it."""

NEEDS_SIGHT: Mapping[str, Callable[[Observation], bool]] = {
    "click-menu-2": shows_an_icon,
    "click-color": lambda seen: "pink colored" in seen.goal,  # a light one, which is told as red
}
"""Tasks of which some episodes need sight, and which those are."""

SHORT = (
    *("click-test", "click-checkboxes", "click-collapsible", "click-color", "click-dialog", "click-option"),
    *("click-scroll-list", "click-tab", "click-widget", "choose-list", "copy-paste", "button-delay", "enter-date"),
    *("enter-time", "enter-text-dynamic", "email-inbox-delete", "focus-text", "guess-number", "read-table"),
    *("use-spinner", "use-autocomplete", "choose-date-easy", "click-menu", "drag-items", "use-slider"),
    *("terminal", "login-user-popup", "ascending-numbers"),
)
"""Those that are run with every change: one of each kind of control and of episode. `make test-gym` runs all."""
