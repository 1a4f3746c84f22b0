"""The forms of a page as plain records: the observation's fields, joined with what only the document knows."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from shoal.agent.read.values.phrases import Phrase, phrase
from shoal.agent.read.word_lists.form_vocabulary import (
    AUTOCOMPLETE,
    BUTTON_AVOID,
    BUTTON_NEXT,
    BUTTON_SEND,
    FORM_FILLER,
    TYPE_NAMES,
)
from shoal.agent.support.json_value import Json
from shoal.agent.types import Element, Observation

Kind = Literal["text", "select", "combobox", "radio", "checkbox", "file", "date"]
NoticeKind = Literal["error", "success", "alert", "status", "note"]
_TEXT_ROLES = frozenset({"textbox", "searchbox", "spinbutton"})
_BUTTON_TYPES = frozenset({"submit", "button", "image", "reset"})
_DATE_TYPES = frozenset({"date", "month", "week", "time", "datetime-local"})


@dataclass(frozen=True, slots=True)
class FormField:
    """One field that can be filled in."""

    bid: str
    kind: Kind
    label: str  # what a person calls it
    names: tuple[Phrase, ...]  # all that it is called, most telling first
    type: str = ""  # an input's type
    name: str = ""  # the name attribute; joins radio buttons
    group: str = ""  # legend of the fields around it
    value: str = ""  # now; of a radio button or checkbox what it stands for
    checked: bool = False
    options: tuple[tuple[str, str, bool], ...] = ()  # of a select: (label, value, selected)
    required: bool = False
    disabled: bool = False
    invalid: bool = False  # marked so by the page
    error: str = ""  # the message beside it
    native_error: str = ""  # the browser's own complaint, once it shows it
    form: int = -1  # which form it belongs to, -1 for none


@dataclass(frozen=True, slots=True)
class Entry:
    """A detail and the field, or the group of buttons, that it belongs into."""

    keys: tuple[str, ...]
    value: Json
    fields: tuple[FormField, ...]
    score: float


@dataclass(frozen=True, slots=True)
class FormButton:
    """One button of a form."""

    bid: str
    label: str
    submit: bool  # of type submit
    form: int = -1

    @property
    def words(self) -> Phrase:
        """Its label's words."""
        return phrase(self.label)


@dataclass(frozen=True, slots=True)
class FormNotice:
    """One notice that the page shows."""

    text: str
    kind: NoticeKind  # a note is plain text beside a form
    aside: bool = False  # in a table, a navigation or a footer: part of the page's content rather than an answer


@dataclass(frozen=True, slots=True)
class FormFacts:
    """A form's own words about itself."""

    form: int  # which form of the page
    heading: str = ""  # over it
    named: str = ""  # its name, id, classes and role
    action: str = ""  # the address that it is sent to
    method: str = ""
    send: tuple[str, ...] = ()  # labels of the buttons that submit it


@dataclass(frozen=True, slots=True)
class Overlay:
    """The part of a page that lies over the rest."""

    text: str
    buttons: tuple[str, ...]
    fields: int  # a dialog with fields of its own is no banner


@dataclass(frozen=True, slots=True)
class DocumentField:
    """The properties of a field that an observation does not carry."""

    tag: str = ""
    type: str = ""
    name: str = ""
    id: str = ""
    label: str = ""
    autocomplete: str = ""
    group: str = ""  # legend of the fields around it
    required: bool = False
    form: int = -1  # place of its form in the document; -1: it has none
    visible: bool = False
    native_error: str = ""  # the browser's own complaint
    marked_invalid: bool = False  # by aria-invalid
    error: str = ""  # the message beside it
    value: str = ""  # of a radio button or checkbox what it stands for

    @property
    def key(self) -> tuple[str, ...]:
        """By which it is joined with the observation's field."""
        return _key(self.tag, self.type, self.name)


@dataclass(frozen=True, slots=True)
class FormDocument:
    """A page's forms, as far as an observation does not carry them."""

    fields: tuple[DocumentField, ...] = ()
    messages: tuple[FormNotice, ...] = ()
    forms: tuple[FormFacts, ...] = ()  # by their places in the document
    overlay: Overlay | None = None
    heading: str = ""  # the first of the first level
    text: str = ""
    busy: bool = False
    loaded: float = 0.0  # when the document began to load, in ms
    status: int = 0  # HTTP status of the document; 0: unknown
    lang: str = ""


@dataclass(frozen=True, slots=True)
class FormPage:
    """All that matters for filling in a form, at one moment."""

    url: str
    fields: tuple[FormField, ...]
    buttons: tuple[FormButton, ...]
    messages: tuple[FormNotice, ...]
    text: str
    heading: str = ""
    overlay: Overlay | None = None
    busy: bool = False
    forms: tuple[FormFacts, ...] = ()
    loaded: float = 0.0  # when the document began to load, in ms: another one is another page
    status: int = 0  # HTTP status of the document; 0: unknown
    lang: str = ""  # in whose spelling dates and numbers are written; "": unknown

    def facts_of(self, form: int) -> FormFacts:
        """Return what the form says of itself; nothing where it is no form element."""
        return next((form_facts for form_facts in self.forms if form_facts.form == form), FormFacts(form))

    def fields_of(self, form: int) -> list[FormField]:
        """The form's fields in document order."""
        return [field for field in self.fields if field.form == form]


def form_page(seen: Observation, document: FormDocument) -> FormPage:
    """The observation's fields and buttons in document order, joined with what the document says of them."""
    fields: list[FormField] = []
    buttons: list[FormButton] = []
    known = _by_key(document.fields)
    taken: dict[tuple[str, ...], int] = {}
    places: dict[int, int] = {}
    for element, form, searches in _controls(seen.elements):
        if _is_button(element):
            buttons.append(FormButton(element.bid, _button_label(element), _is_submit(element, form), form))
        elif (kind := _kind(element)) is not None and (element.visible or kind in ("file", "radio", "checkbox")):
            twin = _twin(element, known, taken)
            if kind == "text" and not searches and element.chooses:
                kind = "combobox"
            fields.append(_field(element, kind, twin, form))
            if form >= 0 and twin is not None and twin.form >= 0:
                places.setdefault(form, twin.form)
    alerts = (
        FormNotice(dialog.message, "alert") for dialog in seen.dialogs if dialog.kind == "alert" and dialog.message
    )
    return FormPage(
        url=seen.url,
        fields=tuple(fields),
        buttons=tuple(button for button in buttons if button.label or button.submit),
        messages=(*document.messages, *alerts),
        text=document.text,
        heading=document.heading,
        overlay=document.overlay,
        busy=document.busy,
        forms=tuple(
            replace(document.forms[place], form=form) for form, place in places.items() if place < len(document.forms)
        ),
        loaded=document.loaded,
        status=document.status,
        lang=document.lang,
    )


def _controls(root: Element) -> Iterator[tuple[Element, int, bool]]:
    """The elements with an id, each with the number of the form around it, and whether it is part of a search."""
    count = -1

    def go(element: Element, form: int, searches: bool) -> Iterator[tuple[Element, int, bool]]:
        nonlocal count
        if element.tag == "form":
            count += 1
            form = count
        searches = searches or "search" in (element.role, element.tag)
        if element.bid:
            yield element, form, searches
        for child in element.children:
            yield from go(child, form, searches)

    yield from go(root, -1, False)


def _is_button(element: Element) -> bool:
    if not element.visible or "disabled" in element.states:
        return False
    if element.tag == "input":
        return element.attributes.get("type", "") in _BUTTON_TYPES
    return element.tag == "button" or element.role == "button"


def _is_submit(element: Element, form: int) -> bool:
    type_ = element.attributes.get("type", "")
    return type_ in ("submit", "image") or (element.tag == "button" and not type_ and form >= 0)


def _button_label(element: Element) -> str:
    return " ".join((element.name or element.text or element.attributes.get("value", "") or _inner(element)).split())


def _inner(element: Element) -> str:
    return " ".join(filter(None, [element.text, *(_inner(child) for child in element.children)]))


def _kind(element: Element) -> Kind | None:
    type_ = element.attributes.get("type", "text" if element.tag == "input" else "").lower()
    if element.tag == "select" or (element.role in ("combobox", "listbox") and element.options):
        return "select"
    if element.tag == "input":
        if type_ in ("radio", "checkbox", "file"):
            return type_  # type: ignore[return-value]
        if type_ in _BUTTON_TYPES or type_ == "hidden":
            return None
        return "date" if type_ in _DATE_TYPES else "text"
    if element.role in ("checkbox", "switch"):
        return "checkbox"
    if element.role == "radio":
        return "radio"
    return "text" if element.tag == "textarea" or element.role in _TEXT_ROLES else None


def _key(tag: str, type_: str, name: str) -> tuple[str, ...]:
    return (tag, type_ if tag == "input" else "", name)


def _by_key(fields: Iterable[DocumentField]) -> dict[tuple[str, ...], list[DocumentField]]:
    by_key: dict[tuple[str, ...], list[DocumentField]] = {}
    for field in fields:
        by_key.setdefault(field.key, []).append(field)
    return by_key


def _twin(
    element: Element, known: Mapping[tuple[str, ...], list[DocumentField]], taken: dict[tuple[str, ...], int]
) -> DocumentField | None:
    """Return what the document knows of the same field:
    the next with the same tag, type and name that is shown alike.
    """
    type_ = element.attributes.get("type", "text" if element.tag == "input" else "").lower()
    key = _key(element.tag, type_, element.attributes.get("name", ""))
    candidates = [field for field in known.get(key, ()) if field.visible == element.visible] or known.get(key, [])
    place = taken.get(key, 0)
    taken[key] = place + 1
    return candidates[min(place, len(candidates) - 1)] if candidates else None


def _field(element: Element, kind: Kind, twin: DocumentField | None, form: int) -> FormField:
    attributes, details = element.attributes, twin or DocumentField()
    label = element.name or details.label or attributes.get("placeholder", "") or attributes.get("title", "")
    type_ = attributes.get("type", "").lower()
    name = attributes.get("name", "")
    auto = (details.autocomplete or attributes.get("autocomplete", "")).split()
    spoken = [
        label,
        details.label,
        AUTOCOMPLETE.get(auto[-1] if auto else "", ""),
        name,
        details.id,
        attributes.get("placeholder", ""),
        attributes.get("aria-label", ""),
        attributes.get("title", ""),
        TYPE_NAMES.get(type_, "") if kind == "text" or kind == "file" else "",
    ]
    names = tuple(dict.fromkeys(words for text in spoken if (words := bare(phrase(text)))))
    return FormField(
        bid=element.bid,
        kind=kind,
        label=" ".join(label.split()).rstrip(" *:"),
        names=names,
        type=type_,
        name=name,
        group=details.group,
        value=details.value if kind in ("radio", "checkbox") else attributes.get("value", ""),
        checked="checked" in element.states,
        options=element.options,
        required="required" in element.states or details.required,
        disabled="disabled" in element.states or "readonly" in element.states,
        invalid=details.marked_invalid or ("invalid" in element.states and twin is None),
        error=details.error,
        native_error=details.native_error if "invalid" in element.states else "",
        form=form,
    )


_FILLER_WORDS = frozenset(word for text in FORM_FILLER for word in phrase(text))


def bare(words: Phrase) -> Phrase:
    """`words` without those that only address the reader ("please enter your")."""
    return tuple(word for word in words if word not in _FILLER_WORDS) or words


# --- buttons ------------------------------------------------------------------------------------------

_NEXT = tuple(phrase(text) for text in BUTTON_NEXT)
_SEND = tuple(phrase(text) for text in BUTTON_SEND)
_AVOID = tuple(phrase(text) for text in BUTTON_AVOID)


def leads_on(button: FormButton) -> bool:
    """Return whether the button goes to a further page of the form rather than sending it."""
    return _names_any(button.words, _NEXT) and not _names_any(button.words, _SEND)


def sending_buttons(page: FormPage, form: int) -> list[FormButton]:
    """The buttons that send the form or lead on in it, the likeliest kind only; [] when it cannot be told which."""
    own = [button for button in page.buttons if button.form == form] or [button for button in page.buttons if form < 0]
    usable = [button for button in own if not _names_any(button.words, _AVOID) or _names_any(button.words, _SEND)]
    submits = [button for button in usable if button.submit]
    for fitting in (
        [submit for submit in submits if _names_any(submit.words, _SEND) or _names_any(submit.words, _NEXT)],
        submits,
        [button for button in usable if _names_any(button.words, _SEND) or _names_any(button.words, _NEXT)],
        [button for button in own if button.submit] if len([button for button in own if button.submit]) == 1 else [],
    ):
        if fitting:
            return fitting
    return []


def _names_any(words: Phrase, known: Sequence[Phrase]) -> bool:
    return any(words[i : i + len(name)] == name for name in known for i in range(len(words) - len(name) + 1) if name)
