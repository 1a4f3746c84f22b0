"""The rules of a step that code keeps, whatever the model says."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from shoal.agent.actions.schema import arguments
from shoal.agent.errors import ActionInvalid
from shoal.agent.models.decisions.step import TYPED, StepDecision, names_element, primitive_of, typed_by
from shoal.agent.models.refusals import unknown_id
from shoal.agent.models.reply import PartAgain, ReplyDoubt, ReplyProblem
from shoal.agent.policies.model.checks.addresses import AllowedTargets
from shoal.agent.policies.model.checks.codes import code_field
from shoal.agent.policies.model.checks.evidence import AllowedValues, quotes
from shoal.agent.policies.model.requests.elements import Offered, describe, walk
from shoal.agent.read.grounding.page_text import PageText
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action, Element, Step
from shoal.prompts import render

_ENDS = frozenset({"complete", "terminate"})
_PRESSES = frozenset({"click", "dblclick"})
_CHANGES = frozenset({"fill", "clear", "select_option", "check", "uncheck", "click", "upload_file", "press"})
_ENABLES = _CHANGES | TYPED.keys()
_GIVING_UP = "report_infeasible"
_SHOWN_IDS = 12
_SAID_CHARS = 300
_VALUE_TOKENS = 512
_NAMES = ("label", "index", "value")
_NO_OPTION: Mapping[str, Json] = dict.fromkeys(_NAMES)


def actions_of(
    reply: Json,
    offered: Offered,
    *,
    given: AllowedTargets | None = None,
    page: PageText | None = None,
) -> tuple[Action, ...]:
    """The actions of a reply that are to run, in order, with bids for ids.

    Args:
        reply: held to the step's schema already.
        offered: what may be acted on, by the ids that the model was given.
        given: which addresses and files may be named; None: all.
        page: what the page says, which giving up must quote; None: it need not.

    Raises:
        ReplyProblem: an id, an option or an end that this page does not bear; fed back to the model.
    """
    ends = [entry for entry in reply["actions"] if entry["action_type"] == "TERMINATE"]
    if ends:
        _check_evidence(ends[0]["reasoning"], page)
        return (primitive_of(ends[0]),)
    elements = offered.elements
    chosen: list[tuple[Action, bool]] = []
    for entry in reply["actions"]:
        enabling = any(needed and action.name in _ENABLES for action, needed in chosen)
        chosen.append(_checked(entry, offered, enabling=enabling))
    actions = [_valid(action) for action, needed in chosen if needed]
    for action in actions:
        if given is not None:
            _check_targets(action, given, offered.url)
        if action.name == _GIVING_UP:
            _check_evidence(str(action.args.get("reason", "")), page)
    if reply.get("place_to_enter_verification_code"):
        return _with_code(actions, elements)
    if chosen and not actions:
        raise ReplyProblem(
            "every field that these actions would change holds its value already: go on with what comes after that"
        )
    return _ordered(actions, achieved=reply["user_goal_achieved"])


def _check_evidence(reason: str, page: PageText | None) -> None:
    if page is not None and not quotes(reason, page):
        raise ReplyProblem("giving up needs, in its reason, a quotation of what the page says: else go on")


def _check_targets(action: Action, given: AllowedTargets, base: str) -> None:
    address, file = action.args.get("url"), action.args.get("file")
    if isinstance(address, str):
        given.check_address(address, base)
    for reference in file if isinstance(file, list | tuple) else [file]:
        if isinstance(reference, str):
            given.check_file(reference)


def check_values(decision: StepDecision, reply: Json, known: Callable[[], AllowedValues]) -> None:
    """Check that what is typed was given by somebody.

    Args:
        known: what was given. It takes the words of whole pages, so it is asked only where something is typed.

    Raises:
        ReplyDoubt: neither the job nor what was seen so far has a value. Only that value is asked for again; one that
            follows from what was given is given again.
    """
    typed = {n: typed_by(action) for n, action in enumerate(decision.actions) if action.name in TYPED}
    if not typed:
        return
    given = known()
    invented = any(not given.gives(entry.get("user_detail_answer") or "") for entry in reply["actions"])
    doubted = {n: text for n, text in typed.items() if invented or not given.gives(text)}
    if not doubted:
        return
    part = PartAgain(
        words=render(
            "value",
            doubted=[
                {"target": decision.actions[n].target or "the focused field", "value": text[:_SAID_CHARS]}
                for n, text in doubted.items()
            ],
        ),
        schema_name="value",
        json_schema=_values_schema(len(doubted)),
        max_tokens=_VALUE_TOKENS,
        read=lambda reply: _retyped(decision, dict(zip(doubted, reply["values"], strict=True))),
        otherwise=_retyped(decision, dict.fromkeys(doubted)),
    )
    raise ReplyDoubt("neither the job's goal nor its data give these values", decision, part=part)


def _values_schema(n: int) -> dict[str, Json]:
    value: Json = {"anyOf": [{"type": "string"}, {"type": "null"}]}
    return {
        "type": "object",
        "additionalProperties": False,
        "required": ["values"],
        "properties": {"values": {"type": "array", "items": value, "minItems": n, "maxItems": n}},
    }


def _retyped(decision: StepDecision, values: Mapping[int, str | None]) -> StepDecision:
    """`decision` with other texts for some of its actions; with None for one, neither it nor what follows is done.

    What was decided to come after a text may send it: it is decided anew, on the page as it is then.
    """
    kept: list[Action] = []
    for n, action in enumerate(decision.actions):
        if n in values:
            text = values[n]
            if text is None:
                field = action.target or "the focused field"
                left_out = f"The job has no value for {field}: this and what follows it, `then_done` too, was left out."
                thought = f"{decision.thought} ({left_out})"
                return replace(decision, thought=thought, actions=tuple(kept), then_done=None)
            action = replace(action, args={**action.args, TYPED[action.name]: text})
        kept.append(action)
    return replace(decision, actions=tuple(kept))


def check_progress(decision: StepDecision, root: Element, steps: Sequence[Step] = ()) -> None:
    """Check that a decision's actions leave nothing undone that the page asks for.

    Args:
        steps: of the session. A field that one of them changed after the form was last sent may still be marked by the
            page, which looks at it again when the form is sent.

    Raises:
        ReplyDoubt: a form is sent with a field that is required and empty, or that the page marks as invalid; or a page
            is called done that shows invalid fields.
    """
    actions = decision.actions
    if any(action.name == "complete" for action in actions):
        wrong = [element for element in walk(root) if element.visible and "invalid" in element.states]
        if wrong:
            raise ReplyDoubt(
                "the page marks fields as invalid: is the mini goal really reached?", decision, _named(wrong)
            )
    pressed = {str(action.args.get("bid")) for action in actions if action.name in _PRESSES}
    filled = {str(action.args.get("bid")) for action in actions}
    for form in (element for element in walk(root) if element.tag == "form" or element.role == "form"):
        inside = list(walk(form))
        sends = any(element.bid in pressed and _may_send(element) for element in inside)
        if not sends:
            continue
        left = [element for element in inside if element.bid not in filled and _wanting(element)]
        mended = filled | _changed_since_sent(inside, steps)
        if left:
            raise ReplyDoubt(
                "fields are required and still empty: fill them before the form is sent", decision, _named(left)
            )
        wrong = [e for e in inside if e.visible and "invalid" in e.states and not _within(e, mended)]
        if wrong:
            raise ReplyDoubt(
                "the page marks fields as invalid: mend them before the form is sent", decision, _named(wrong)
            )


def _changed_since_sent(inside: list[Element], steps: Sequence[Step]) -> set[str]:
    """The ids of what was acted on since something in the form was pressed that sends it, on the page that is open."""
    sending, changed = {element.bid for element in inside if _may_send(element)}, set[str]()
    for result in reversed([result for step in steps for result in step.results]):
        bid = str(result.action.args.get("bid", ""))
        if (bid in sending and result.action.name in _PRESSES) or result.effect.url or result.effect.new_tab:
            break
        if result.error is None and result.action.name in _CHANGES:
            changed.add(bid)
    return changed


def _within(element: Element, bids: set[str]) -> bool:
    return any(descendant.bid in bids for descendant in walk(element))


def _wanting(element: Element) -> bool:
    """Return whether a required field is empty."""
    if "required" not in element.states or "disabled" in element.states or not element.visible:
        return False
    if element.tag == "select":
        return not any(value for _, value, selected in element.options if selected)
    if element.attributes.get("type") in ("checkbox", "radio"):
        return element.attributes["type"] == "checkbox" and "checked" not in element.states
    return element.tag in ("input", "textarea") and not element.attributes.get("value")


def _named(elements: list[Element]) -> str:
    return ", ".join(f"{element.bid} {element.name or element.tag}".strip() for element in elements[:_SHOWN_IDS])


def _valid(action: Action) -> Action:
    try:
        arguments(action)
    except ActionInvalid as err:
        raise ReplyProblem("an action's arguments do not fit", err.message) from err
    return action


def _checked(entry: Json, offered: Offered, *, enabling: bool) -> tuple[Action, bool]:
    """One action with the element's bid for its id, and whether it changes anything.

    Args:
        enabling: an action before it may enable a button, which is waited for when it is clicked.
    """
    if entry["action_type"] == "CALL":
        return _checked_call(primitive_of(entry), offered), True
    if "id" not in entry:
        return primitive_of(entry), True
    element = offered.elements.get(entry["id"])
    if element is None and enabling and entry["action_type"] == "CLICK":
        element = offered.waiting.get(entry["id"])
    if element is None:
        raise _unknown(entry["id"], offered)
    if entry["action_type"] == "SELECT_OPTION":
        entry = {**entry, "option": _there(entry["option"], element)}
    action = replace(primitive_of({**entry, "id": element.bid}), target=describe(element))
    return action, not _holds_already(action, element)


def _checked_call(call: Action, offered: Offered) -> Action:
    args = dict(offered.canvas.to_pixels(call) if offered.canvas else call.args)
    target = ""
    for name in sorted(filter(names_element, args)):  # of a drag, what is dragged comes first
        element = offered.elements.get(str(args[name]))
        if element is not None:
            args[name] = element.bid
            target = target or describe(element)
        elif args[name] not in offered.bids:
            raise _unknown(args[name], offered)
    return replace(call, args=args, target=target)


def _unknown(given: Json, offered: Offered) -> ReplyProblem:
    return ReplyProblem(*unknown_id(given, tuple(offered.elements), offered.disabled))


def _there(option: Mapping[str, Json], element: Element) -> dict[str, Json]:
    """The option by the one of its names that the element knows: a wrong label beside a right value chooses nothing.

    Raises:
        ReplyProblem: it has none, or the element has no such option.
    """
    option = {**_NO_OPTION, **option}
    if all(option[key] is None for key in _NAMES):
        raise ReplyProblem(f"SELECT_OPTION on {element.bid} names no option")
    if not element.options:
        return dict(option)  # a widget made of divs shows its options only once it is open
    labels = [" ".join(label.split()) for label, _, _ in element.options]
    label = " ".join((option["label"] or "").split())
    if label and label in labels:
        return {**_NO_OPTION, "label": element.options[labels.index(label)][0]}
    if option["value"] is not None and option["value"] in [value for _, value, _ in element.options]:
        return {**_NO_OPTION, "value": option["value"]}
    if option["index"] is not None and option["index"] < len(labels):
        return {**_NO_OPTION, "index": option["index"]}
    raise ReplyProblem(f"{element.bid} has no such option; these are its options", "; ".join(labels[:50]))


def _holds_already(action: Action, element: Element) -> bool:
    """Return whether the element shows already what the action would make it show."""
    if action.name == "fill":
        return bool(action.args["value"]) and element.attributes.get("value") == action.args["value"]
    if action.name == "select_option":
        option = action.args["options"]
        if not element.options and element.role == "combobox" and element.tag not in ("input", "textarea"):
            return isinstance(option, str) and option.split() == element.attributes.get("value", "").split() != []
        chosen = [(label, value, n) for n, (label, value, selected) in enumerate(element.options) if selected]
        return len(chosen) == 1 and option in chosen[0]
    return False


def _with_code(actions: list[Action], elements: Mapping[str, Element]) -> tuple[Action, ...]:
    """Return what is to be filled beside the code, then the code itself from where it comes."""
    field = code_field(elements.values())
    if field is None:
        raise ReplyProblem("no field on this page takes a verification code: place_to_enter_verification_code is false")
    fills = [
        action for action in actions if action.name in ("fill", "select_option") and action.args["bid"] != field.bid
    ]
    return (*fills, Action("enter_verification_code", {"bid": field.bid}, "the page asks for a verification code"))


def _may_send(element: Element) -> bool:
    kind = element.attributes.get("type", "").lower()
    if element.tag == "input":
        return kind in ("submit", "image")
    return (element.tag == "button" or element.role == "button") and kind not in ("reset", "button")


def _ordered(actions: list[Action], *, achieved: bool) -> tuple[Action, ...]:
    """WAIT only by itself; COMPLETE only by itself, and only when the model says that the mini goal is reached."""
    busy = [action for action in actions if action.name not in _ENDS and action.name != "noop"]
    if busy:
        return tuple(busy)  # whether the mini goal is reached is for the page to show that comes after them
    if any(action.name == "complete" for action in actions):
        if not achieved:
            raise ReplyProblem("COMPLETE contradicts user_goal_achieved, which is false")
        return tuple(action for action in actions if action.name == "complete")[:1]
    if achieved:
        return (Action("complete", {}, "the mini goal is reached"),)
    if not actions:
        raise ReplyProblem("there is no action: choose at least one, WAIT if there is nothing else to do")
    return tuple(actions[:1])
