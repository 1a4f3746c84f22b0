"""Values that a page labels: rows of tables, terms of lists, controls of forms, lines, and what is under headings."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

from lxml import etree
from lxml.html import HtmlElement

from shoal.agent.page.page import Page
from shoal.agent.page.selectors import Selectors
from shoal.agent.read.facts.controls import CONTROL_TAGS, combo_box, is_value, is_within, outside
from shoal.agent.read.facts.lines import named_in_lines
from shoal.agent.read.facts.page_parts import Around, LabeledValue, Taken
from shoal.agent.read.facts.pictures import picture_address
from shoal.agent.read.facts.surroundings import HEADINGS, Surroundings
from shoal.agent.read.facts.tables import Grids, cells_of, in_turns, is_head, table_of
from shoal.agent.read.facts.texts import LONGEST_TEXT, SKIPPED, clean, leaves, one_line

_MOST = 800
_LONGEST_LABEL = 60
_MOST_OPTIONS = 1_000
_NO_VALUE = frozenset(["hidden", "password", "submit", "button", "reset", "image", "file", "search"])
_CONTROL_ROLES = frozenset(["checkbox", "switch", "radio", "textbox", "combobox", "spinbutton", "slider"])
_EXACT = frozenset(["number", "date", "datetime-local", "month", "week", "time", "range", "color"])
_PARTS_OF_LISTS = frozenset(["tr", "tbody", "thead", "td", "th", "dt", "dd", "ul", "ol", "select"])
_NO_LABELS = frozenset(["th", "td", "dt", "dd", "li", "option", "a", "button"])
_INLINE = frozenset(
    {
        *("a", "abbr", "b", "button", "cite", "code", "em", "i"),
        *("kbd", "mark", "small", "span", "strong", "sub", "sup"),
    }
    | {"var"}
)
_LISTS = frozenset(["ul", "ol"])
_NO_PARTS = frozenset(["a", "form", "nav"])
"""Elements behind a text under a heading that are no part of it."""
_PASSED_OVER = SKIPPED | {"button"}
_BADGES = frozenset(["span", "small", "label", "i", "em", "a"])
_LONGEST_BADGE = 40
_MOST_IN_CELL = 20
_MOST_IN_LABEL = 50
"""Elements in a label among which the control is that it names."""
_SIGN_BEFORE = re.compile(r"^[:：·•|]\s*")
_FIGURE = re.compile(r"[^\w\s]?\s?\d[\d.,' ]{0,20}[kKmM%]?\+?")
_WORDS = re.compile(r"[^\W\d_][^\d:]{1,39}")
_ACTIONS = re.compile(r"(?<![a-z])actions?(?![a-z])", re.I)
"""Classes of a part that offers what can be done with the value beside it."""
_COLON = re.compile(r"\s{0,9}[:：]\s{0,9}$")


class Walked(Protocol):
    """The state of the walk that labels are read by."""

    page: Page
    surroundings: Surroundings
    grids: Grids
    selectors: Selectors
    taken: Taken
    texts: dict[HtmlElement, str]
    struck_texts: dict[HtmlElement, str]
    order: int

    @property
    def many(self) -> bool:
        """True where records are read one by one."""
        ...

    def asks(self, names: str) -> bool:
        """True for names that hold a word which is looked for."""
        ...

    def spends(self, text: str) -> bool:
        """True for a text that is short, or one of the long ones that are kept."""
        ...

    def nothing_yet(self, el: HtmlElement) -> None:
        """Notes an element that holds nothing."""
        ...


class Labels:
    """Adds labelled values to what a walk takes."""

    def __init__(self, walk: Walked) -> None:
        self._walk = walk
        self._page = walk.page
        self._forms = {form: place for place, form in enumerate(walk.page.root.iter("form"))}
        self._by_id = {el.get("id"): el for el in reversed(walk.page.elements) if el.get("id")}
        self._label_of: dict[HtmlElement, list[HtmlElement]] = {}
        for label in walk.page.root.iter("label"):
            named = self._by_id.get(label.get("for"))
            own = named if named is not None else next(filter(is_value, label.iterdescendants(etree.Element)), None)
            own = own if own is not None or label.get("for") else combo_box(label.getnext())
            if own is not None:
                self._label_of.setdefault(own, []).append(label)

    def _text_of(self, el: HtmlElement) -> str:
        return self._walk.texts.get(el, "")

    def _add(self, how: str, label: str, value: str, el: HtmlElement, around: Around, **more: Any) -> None:
        walk, struck = self._walk, around.struck
        label, value = _COLON.sub("", one_line(label)), clean(value)
        if not value and el in walk.struck_texts:
            value, struck = clean(walk.struck_texts[el]), True
        if not label or not value or len(label) > _LONGEST_LABEL or len(value) > LONGEST_TEXT:
            return
        if len(walk.taken.pairs) >= _MOST or not walk.spends(value):
            return
        link = (
            el
            if el.tag == "a" and el.get("href")
            else next((a for a in el.iterdescendants("a") if a.get("href")), None)
        )
        pictures = map(picture_address, el.iterdescendants("img"))
        to = link.get("href") if link is not None else next(filter(None, pictures), "")
        walk.taken.pairs.append(
            LabeledValue(
                how, label, value, walk.selectors.of(el), not around.hidden, around.region,
                exact=_stamp(el), link=walk.surroundings.address(to) if to else "", struck=struck, names=around.names,
                around=around.around, in_fragment=around.in_fragment, order=walk.order, **more,
            )
        )  # fmt: skip

    # --- tables and lists of terms --------------------------------------------------------------------

    def add_table(self, table: HtmlElement, around: Around) -> None:
        """Rows that name their value, and the one row of a table with headers."""
        grid, box = self._walk.grids.of(table), str(self._walk.order)
        body = [row for row in grid.rows if row not in grid.heads]
        if grid.heads and not body:
            self._walk.nothing_yet(table)
        elif grid.heads and len(body) == 1 and grid.width > 1:
            for column, cell in grid.by_row[body[0]].items():
                names = grid.names[column]
                self._add_cell([" ".join(names), *names[-1:]], cell, around, box)
        else:
            for row in body:
                self._add_row(cells_of(row), grid.width, around, box)

    def _add_row(self, cells: Sequence[HtmlElement], width: int, around: Around, box: str) -> None:
        pair = len(cells) == 2 and width == 2 and not is_head(cells[1])
        if pair or in_turns(cells):
            for place in range(0, len(cells), 2):
                self._add_cell([self._text_of(cells[place])], cells[place + 1], around, box)

    def add_record_row(self, row: HtmlElement, around: Around) -> None:
        """The cells of a row that is a record, each with the names of its column."""
        table = table_of(row)
        grid = self._walk.grids.of(table) if table is not None else None
        if grid is None or row not in grid.by_row:
            return
        for column, cell in grid.by_row[row].items():
            names = grid.names[column] if column < len(grid.names) else ()
            if names:
                labels = [names[-1], *([" ".join(names)] if len(names) > 1 else [])]
                self._add_cell(labels, cell, around, str(self._walk.order), may_be_empty=True)
            else:
                self._add("column", str(column + 1), self._text_of(cell), cell, around)

    def _add_cell(
        self, labels: Sequence[str], cell: HtmlElement, around: Around, box: str, *, may_be_empty: bool = False
    ) -> None:
        """Add what a cell states: its text, else the value of the one control in it,
        else what its one picture shows.
        """
        names = [name for name in (*labels, *(cell.get("headers") or "").split()) if name.strip()]
        if not names:
            return
        own = self._text_of(cell)
        control = None if own.strip() else next(cell.iterdescendants(*CONTROL_TAGS), None)
        pictures = [] if own.strip() else [img for img in cell.iterdescendants("img") if img.get("alt") is not None]
        text = one_line(pictures[0].get("alt")) if len(pictures) == 1 else own
        more_labels = tuple(names[1:])
        if control is not None and control.get("type") != "hidden":
            self.add_control(control, around, names)
        elif text.strip() or cell in self._walk.struck_texts:
            self._add(
                "table",
                names[0],
                text,
                cell,
                around,
                more_labels=more_labels,
                box=box,
                before_badges=self._before_badges(cell),
            )
        elif may_be_empty and len(self._walk.taken.pairs) < _MOST:
            place, order = self._walk.selectors.of(cell), self._walk.order
            empty = LabeledValue(
                "table",
                one_line(names[0]),
                "",
                place,
                True,
                around.region,
                order=order,
                empty=True,
                more_labels=more_labels,
                box=box,
            )
            self._walk.taken.pairs.append(empty)

    def _before_badges(self, cell: HtmlElement) -> str:
        """Return what a cell says before the badges at its end;
        "" where it ends with none, or says nothing else.

        A badge is a short inline element on a ground or with an edge of its own. Behind a link or a text in bold,
        smaller letters are enough: "12 kg" may be written with a smaller unit.
        """
        if not len(cell) or len(cell) > _MOST_IN_CELL:
            return ""
        parts = [part for part in leaves(cell) if part[1].tag not in SKIPPED]
        if len(parts) < 2:
            return ""
        page, main = self._page, parts[0][1]
        up = main
        while up is not cell:
            if page.boxed(up):
                return ""  # all of it is badges
            up = up.getparent()
        linked = any(above.tag in ("a", "b", "strong") for above in (main, *main.iterancestors()))

        def is_badge(el: HtmlElement) -> bool:
            if (
                el.tag not in _BADGES
                or len(el.text_content().strip()) > _LONGEST_BADGE
                or main in (el, *el.iterdescendants())
            ):
                return False
            return page.layout(el).startswith("inline") and (page.boxed(el) or (linked and page.smaller(el)))

        def in_badge(el: HtmlElement) -> bool:
            while el is not cell:
                if is_badge(el):
                    return True
                el = el.getparent()
            return False

        left = len(parts)
        while left > 1 and in_badge(parts[left - 1][1]):
            left -= 1
        text = self._text_of(cell).strip() if left < len(parts) else ""
        for badge, _ in reversed(parts[left:]):
            shown = one_line(badge)
            if not text.endswith(shown):
                return ""  # it is hidden, or struck through
            text = text[: -len(shown)].strip()
        return "" if text.endswith((":", "：")) else text

    def add_terms(self, terms: HtmlElement, around: Around) -> None:
        """The values of a list of terms."""
        names, box, named = list[str](), str(self._walk.order), False
        for el in terms.iterdescendants("dt", "dd"):
            if next(el.iterancestors("dl"), None) is not terms or (named and _ACTIONS.search(el.get("class") or "")):
                continue
            if el.tag == "dt":
                names, named = [*([] if named else names), self._text_of(el)], False
            else:
                named = True
                more_labels = tuple(map(one_line, names[:-1]))
                label = names[-1] if names else ""
                self._add("definition-list", label, self._text_of(el), el, around, box=box, more_labels=more_labels)

    # --- lines and headings ---------------------------------------------------------------------------

    def add_beside(self, el: HtmlElement, whole: str, around: Around, *, inline: bool) -> None:
        """A first child that names what follows it; and lines "Label: value"."""
        if el.tag in _PARTS_OF_LISTS:
            if inline and el.tag == "td":
                self._add_lines(el, whole, around)
            return
        children = [child for child in el if isinstance(child.tag, str)]
        if len(children) <= 6:
            children = [child for child in children if child.tag not in SKIPPED or child.tag in ("select", "textarea")]
        names = el.tag not in _INLINE and len(children) in (2, 3) and children[0].tag not in _NO_LABELS
        if names:
            label = one_line(self._text_of(children[0]))
            names = 0 < len(label) <= 40 and not self._text_before(el, children[0])
            if names and not self._controls(children[0]):
                rest = (children[0].tail or "") + "".join(
                    f" {self._text_of(n)}{n.tail or ''}" for n in children[0].itersiblings(etree.Element)
                )
                box = self._walk.selectors.of(el.getparent()) if el.getparent() is not None else ""
                self._add("label", label, _SIGN_BEFORE.sub("", rest.strip()), children[1], around, box=box)
                if _FIGURE.fullmatch(label) and _WORDS.fullmatch(rest.strip()) and not self._is_numbered(el, label):
                    self._add("label", rest, label, children[0], around, box=box)
        self._add_named_parts(el, children, around)
        self._add_in_turns(children, around)
        if inline:
            self._add_lines(el, whole, around)

    @staticmethod
    def _is_numbered(el: HtmlElement, number: str) -> bool:
        """True for one of three elements side by side that begin with numbers in turn: "1" and "Size"."""
        if not number.isdecimal():
            return False
        before = (el.itersiblings(etree.Element, preceding=preceding) for preceding in (True, False))
        beside = [each for siblings in before for each in itertools.islice(siblings, 2) if len(each)]
        numbers = {(each[0].text or "").strip() for each in beside}
        turns = [{str(int(number) + step) for step in steps} for steps in ((1, 2), (-1, 1), (-2, -1))]
        return any(turn <= numbers for turn in turns)

    def _add_lines(self, el: HtmlElement, whole: str, around: Around) -> None:
        for label, value in named_in_lines(whole):
            self._add("label", label, value, el, around)

    def _add_named_parts(self, el: HtmlElement, children: Sequence[HtmlElement], around: Around) -> None:
        """Several parts of one line, each behind its name and a colon."""
        before = [el.text, *(child.tail for child in children)]
        named = [
            (text, child)
            for text, child in zip(before, children, strict=False)
            if text and _COLON.search(text) and child.tag not in SKIPPED
        ]
        for text, child in named if len(named) > 1 else ():
            self._add("label", text, self._text_of(child), child, around)

    def _add_in_turns(self, children: Sequence[HtmlElement], around: Around) -> None:
        """Names and values in turns, below a heading or without: the names have a tag or a class of their own."""
        children = list(itertools.dropwhile(lambda child: child.tag in HEADINGS, children))
        if len(children) < 4 or len(children) % 2 or children[0].tag in _NO_LABELS:
            return
        names, values = children[::2], children[1::2]
        of_names, of_values = ({(el.tag, el.get("class")) for el in each} for each in (names, values))
        if len(of_names) > 1 or of_names & of_values or any((el.tail or "").strip() for el in children):
            return
        if not names[0].get("class") and (len(of_values) > 1 or names[0].tag == "p"):
            return
        for name, value in zip(names, values, strict=True):
            self._add("label", self._text_of(name), self._text_of(value), value, around)

    def _controls(self, label: HtmlElement) -> bool:
        """True for the label of a control, alone or around it: what it names is the control's value, and no text beside
        it.
        """
        named = self._by_id.get(label.get("for")) if label.tag == "label" else None
        within = itertools.islice(label.iterdescendants(etree.Element), _MOST_IN_LABEL)
        return any(map(is_value, within)) or (named is not None and is_value(named))

    @staticmethod
    def _text_before(el: HtmlElement, child: HtmlElement) -> bool:
        before = (el.text or "") + "".join(n.tail or "" for n in child.itersiblings(preceding=True))
        return bool(before.strip())

    def add_under_headings(self, el: HtmlElement, around: Around) -> None:
        """Add what the headings among an element's children speak of."""
        children = [child for child in el if isinstance(child.tag, str) and child.tag not in _PASSED_OVER]
        for place, head in enumerate(children):
            if head.tag in HEADINGS[1:]:
                higher = (at for at in range(place + 1, len(children)) if _outranks(children[at], head))
                self._add_section(head, children[place + 1 : next(higher, len(children))], around)

    def _add_section(self, head: HtmlElement, nodes: Sequence[HtmlElement], around: Around) -> None:
        """The list right under a heading, or the lists of all its groups; else the text up to the next heading."""
        lists = [node for node in nodes[:1] if node.tag in _LISTS] or [*self._grouped(nodes)]
        if lists:
            entries = (self._entry(item) for listed in lists for item in listed if isinstance(item.tag, str))
            self._add("heading", self._text_of(head), "\n".join(entries), lists[0], around)
            return
        texts, length = list[str](), 0
        for node in itertools.takewhile(lambda node: node.tag not in HEADINGS, nodes):
            if texts and node.tag in _NO_PARTS:
                break
            texts.append(self._text_of(node))
            length += len(texts[-1] or str(node.text_content()))  # of one that is too long nothing is kept
            if length >= LONGEST_TEXT:
                return
        if texts:
            self._add("heading", self._text_of(head), "\n".join(texts), nodes[0], around)

    def _grouped(self, nodes: Sequence[HtmlElement]) -> list[HtmlElement]:
        """Lists of one kind that have a name each, a lower heading or a line with a colon, from the first node on."""
        named = [listed for name, listed in itertools.pairwise(nodes) if listed.tag in _LISTS and self._is_name(name)]
        if not named or named[0] is not nodes[1]:
            return []
        first = (named[0].tag, named[0].get("class"))
        return [listed for listed in named if (listed.tag, listed.get("class")) == first]

    def _is_name(self, el: HtmlElement) -> bool:
        return el.tag in HEADINGS or (el.tag not in _LISTS and self._text_of(el).rstrip().endswith((":", "：")))

    def _entry(self, item: HtmlElement) -> str:
        """The text of a list's entry; of one that is a block about something of its own as well."""
        return one_line(self._text_of(item) or self._page.text(item))

    # --- controls -------------------------------------------------------------------------------------

    @staticmethod
    def is_control(el: HtmlElement) -> bool:
        """True for a field of a form, and for what takes its part."""
        if el.tag in CONTROL_TAGS or el.get("role") in _CONTROL_ROLES:
            return True
        return el.get("contenteditable") in ("", "true", "plaintext-only")

    def add_control(self, el: HtmlElement, around: Around, given: Sequence[str] = ()) -> None:
        """Add what a field of a form holds. Passwords and what is not filled in by people are left out."""
        walk, type_ = self._walk, (el.get("type") or "").lower()
        if len(walk.taken.pairs) >= _MOST or (el.tag == "input" and type_ in _NO_VALUE):
            return
        if any(up.get("role") == "search" for up in (el, *el.iterancestors())):
            return
        checkable = type_ == "checkbox" or el.get("role") in ("checkbox", "switch")
        value = self._value(el, type_, checkable=checkable)
        if value is None:
            return
        text = clean(value)
        options = tuple(self._options(el)) if el.tag == "select" else ()
        labels = list(given) or self._labels(el, type_)
        if not labels or (not text and not options) or not walk.spends(text):
            return
        if not given and not walk.asks(" ".join(labels)):
            return
        form = next(el.iterancestors("form"), None)
        walk.taken.pairs.append(
            LabeledValue(
                "control", labels[0], text, walk.selectors.of(el), not around.hidden, around.region, tuple(labels[1:]),
                exact=text if type_ in _EXACT else "", link=text if type_ == "url" else "", around=around.within,
                in_fragment=around.in_fragment, order=walk.order, box=self._box(form),
                asking=form is not None and self._asks(form), options=options, is_checkbox=checkable,
            )
        )  # fmt: skip

    def _box(self, form: HtmlElement | None) -> str:
        return "" if form is None else f"form{self._forms[form]}"

    def _value(self, el: HtmlElement, type_: str, *, checkable: bool) -> str | None:
        """Return what a control says; None for a choice that is not made."""
        page = self._page
        pressed = page.checked(el) if el.tag == "input" else el.get("aria-checked") == "true"
        if el.tag == "select":
            chosen = [option for option in el.iter("option") if page.selected(option)]
            meaningful = (option for option in chosen if page.value(option) != "" or option.get("selected") is not None)
            return "\n".join(one_line(str(option.text_content())) for option in meaningful)
        if checkable:
            return "true" if pressed else "false"
        if type_ == "radio" or el.get("role") == "radio":
            if not pressed:
                return None
            label = next(iter(self._label_of.get(el, ())), el)
            return one_line(str(label.text_content())) or page.value(el) or ""
        if el.tag in ("input", "textarea"):
            return page.value(el) or ""
        return str(el.get("aria-valuetext") or el.get("aria-valuenow") or page.text(el))

    def _options(self, el: HtmlElement) -> Iterator[str]:
        for option in list(el.iter("option"))[:_MOST_OPTIONS]:
            if self._page.value(option) != "" and option.get("disabled") is None:
                yield one_line(str(option.text_content()))[:100]

    def _asks(self, form: HtmlElement) -> bool:
        """True for a form that searches or orders."""
        fields = (
            el
            for el in form.iterdescendants(*CONTROL_TAGS)
            if (el.get("type") or "").lower() not in _NO_VALUE and self._page.is_visible(el)
        )
        return form.get("role") == "search" or len(list(itertools.islice(fields, 2))) < 2

    def _labels(self, el: HtmlElement, type_: str) -> list[str]:
        labels = [outside(label, el) for label in self._label_of.get(el, ())]
        if type_ == "radio":
            group = next(el.iterancestors("fieldset"), None)
            legend = None if group is None else next(group.iterdescendants("legend"), None)
            labels = [] if legend is None else [str(legend.text_content())]
        else:
            named = (self._by_id.get(name) for name in (el.get("aria-labelledby") or "").split())
            labels += [str(other.text_content()) for other in named if other is not None and not is_within(other, el)]
            labels.append(el.get("aria-label") or "")
            cell = next((up for up in el.iterancestors() if up.tag in ("td", "dd")), None)
            before = cell.getprevious() if cell is not None else None
            if before is not None and before.tag in ("th", "td", "dt"):
                labels.append(str(before.text_content()))
        labels += [el.get("name") or "", el.get("id") or "", el.get("title") or ""]
        plain = (one_line(re.sub(r"[*:：]\s{0,9}$", "", text).removesuffix("[]")) for text in labels)
        return list(dict.fromkeys(text for text in plain if text and len(text) <= _LONGEST_LABEL))


def _outranks(el: HtmlElement, head: HtmlElement) -> bool:
    """True for a heading that ends what a heading before it speaks of."""
    return el.tag in HEADINGS and str(el.tag) <= str(head.tag)


def _stamp(el: HtmlElement) -> str:
    """The value as it is written for machines."""
    for inner in el.iterdescendants():
        if inner.tag == "time" and inner.get("datetime"):
            return str(inner.get("datetime"))
        if inner.tag == "data" and inner.get("value"):
            return str(inner.get("value"))
        if isinstance(inner.tag, str) and inner.get("aria-label"):
            return str(inner.get("aria-label"))
    return ""
