"""A version as a Python script for Playwright that runs by itself: to look at, to debug, and to leave with."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from shoal.agent.workflows.exchange.exchanged import Exported, straight, untold
from shoal.agent.workflows.format.condition import Condition
from shoal.agent.workflows.format.node import ActionNode, ExtractNode, GuardNode, Node, WaitNode
from shoal.agent.workflows.format.param import Arg, Param
from shoal.agent.workflows.format.target import Locator, Target
from shoal.agent.workflows.format.version import Version

_HEAD = '''"""{title}

Written by Shoal from a workflow. Run it with the values of one run:

    python THIS_FILE '{example}' [ADDRESS]

It prints what it read as JSON. It uses `playwright`, with its Chromium or the one named by CHROMIUM.
{lost}"""

import json
import os
import re
import sys

from playwright.sync_api import expect, sync_playwright

{helpers}
def run(page, values, address):
    record = {{}}
    if address:
        page.goto(address)
'''
_CHOOSE = '''
def choose(place, field, options):
    """Chooses in a list: one of the browser's own, or one of the site's that opens while one types."""
    if field.evaluate("element => element.tagName") == "SELECT":
        field.select_option(options)
        return
    for text in options if isinstance(options, list) else [options]:
        if field.evaluate("element => element.tagName") == "INPUT":
            field.fill("")
            field.press_sequentially(str(text))
        else:
            field.click()
        option = place.get_by_role("option", name=str(text), exact=True)
        expect(option).to_have_count(1)
        option.click()

'''
_TAIL = """    return record


def main():
    values = json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}
    address = sys.argv[2] if len(sys.argv) > 2 else ""
    with sync_playwright() as playwright:
        options = {"executable_path": os.environ["CHROMIUM"]} if "CHROMIUM" in os.environ else {}
        browser = playwright.chromium.launch(**options, args=["--no-sandbox"] if os.environ.get("NO_SANDBOX") else [])
        try:
            page = browser.new_page()
            print(json.dumps(run(page, values, address), ensure_ascii=False))
        finally:
            browser.close()


if __name__ == "__main__":
    main()
"""
_METHODS = {
    "click": "click",
    "dblclick": "dblclick",
    "hover": "hover",
    "check": "check",
    "uncheck": "uncheck",
    "clear": "clear",
    "focus": "focus",
}


def write_playwright(version: Version, title: str) -> Exported:
    """The script, and what it cannot say."""
    line, lost = straight(version)
    body: list[str] = []
    for node in line:
        lost += [part for part in untold(node, nested=True) if not isinstance(node, (WaitNode, GuardNode))]
        body += _lines(node, version, lost)
    if any(isinstance(node, ActionNode) for node in line):
        lost.append("the agreement of two ways to find an element: the script takes the best one")
    lost = list(dict.fromkeys(lost))
    example = json.dumps({param.name: _example(param) for param in version.params}, ensure_ascii=True)
    losses = "".join(f"\n* {_plain(loss)}" for loss in lost)
    notes = f"\nWhat the workflow says and the script does not:\n{losses}\n" if lost else ""
    helpers = _CHOOSE if any(isinstance(node, ActionNode) and node.action == "select_option" for node in line) else ""
    head = _HEAD.format(title=_plain(title), example=_plain(example), lost=notes, helpers=helpers)
    return Exported(head + "".join(f"    {written}\n" for written in body) + _TAIL, tuple(lost))


def _plain(text: str) -> str:
    """`text` for a docstring: nothing in it ends the docstring or is an escape."""
    return text.replace("\\", "/").replace('"""', "'''").replace('"', '"')


def _example(param: Param) -> str:
    return f"the value of {param.name}"


def _lines(node: Node, version: Version, lost: list[str]) -> Iterator[str]:
    match node:
        case ActionNode():
            yield from _action(node, lost)
            for condition in node.post:
                yield from _expected(condition, node.id, lost)
        case WaitNode():
            for condition in node.until:
                yield from _expected(condition, node.id, lost, timeout_ms=round(node.timeout_s * 1000))
        case GuardNode():
            for condition in node.holds:
                yield from _expected(condition, node.id, lost)
        case ExtractNode():
            yield from _read(node, version, lost)


def _action(node: ActionNode, lost: list[str]) -> Iterator[str]:
    args = {name: _value(arg) for name, arg in node.args.items()}
    element = f"page.{_located(node.target)}" if node.target is not None else ""
    match node.action:
        case "goto":
            yield f"page.goto({args['url']})"
        case "fill":
            yield f"{element}.fill(str({args['value']}))"
        case "select_option":
            frames = _around(node.target.frame) if node.target is not None else []
            yield f"choose({'.'.join(('page', *frames))}, {element}, {args['options']})"
        case "press":
            yield f"{element}.press({args['key_comb']})"
        case "keyboard_press":
            yield f"page.keyboard.press({args['key_comb']})"
        case "upload_file":
            yield f"{element}.set_input_files({args['file']})"
        case "scroll":
            yield f"page.mouse.wheel({args['dx']}, {args['dy']})"
        case "go_back" | "go_forward" | "reload":
            yield f"page.{node.action}()"
        case action if action in _METHODS:
            yield f"{element}.{_METHODS[action]}()"
        case action:
            lost.append(f"{node.id}: the action {action}")


def _value(arg: Arg) -> str:
    if arg.param is not None:
        return f"values[{arg.param!r}]"
    if arg.template is not None:
        return f"re.sub(r'{{([A-Za-z_][\\w-]*)}}', lambda m: str(values[m.group(1)]), {arg.template!r})"
    return repr(arg.const)


def _located(target: Target) -> str:
    hosts = [f"locator({host!r})" for host in target.shadow]
    return ".".join((*_around(target.frame), *hosts, _locator(target.locators[0])))


def _around(frames: Sequence[str]) -> list[str]:
    return [f"frame_locator({frame!r})" for frame in frames]


def _locator(locator: Locator) -> str:
    match locator.family:
        case "test_id":
            return f"get_by_test_id({locator.value!r})"
        case "role_name":
            return f"get_by_role({locator.role!r}, name={locator.value!r}, exact=True)"
        case "label":
            return f"get_by_label({locator.value!r}, exact=True)"
        case "placeholder":
            return f"get_by_placeholder({locator.value!r}, exact=True)"
        case "text":
            return f"get_by_text({locator.value!r}, exact=True)"
        case "xpath":
            return f"locator({'xpath=' + locator.value!r})"
    return f"locator({locator.value!r})"


def _expected(condition: Condition, where: str, lost: list[str], *, timeout_ms: int = 5_000) -> Iterator[str]:
    wait = f"timeout={timeout_ms}"
    text = _value(Arg(template=condition.value)) if "{" in condition.value.replace("{}", "") else repr(condition.value)
    element = f"page.{_located(condition.target)}" if condition.target is not None else ""
    match condition.kind:
        case "url":
            parts = condition.value.split("{}")
            if "{" in condition.value.replace("{}", ""):
                lost.append(f"{where}: the parameters in the address {condition.value}")
                return
            pattern = f"'[^/?#&=]+'.join(re.escape(part) for part in {parts!r})"
            yield f"expect(page).to_have_url(re.compile('^' + {pattern}), {wait})"
        case "text":
            yield f"expect(page.locator('body')).to_contain_text({text}, {wait})"
        case "no_text":
            yield f"expect(page.locator('body')).not_to_contain_text({text}, {wait})"
        case "visible":
            yield f"expect({element}).to_be_visible({wait})"
        case "hidden":
            yield f"expect({element}).to_be_hidden({wait})"
        case "value":
            yield f"expect({element}).to_have_value(str({text}), {wait})"


def _read(node: ExtractNode, version: Version, lost: list[str]) -> Iterator[str]:
    """Raw texts by the first selector of each field: readers, agreement and guards are Shoal's."""
    branches = [branch for branch in version.branches if not node.branches or branch.id in node.branches]
    if len(branches) > 1:
        lost.append(f"{node.id}: {len(branches)} kinds of pages; the script reads the first")
    for field in branches[0].fields if branches else ():
        place = next((channel.place for channel in field.channels if channel.place.select is not None), None)
        if place is None:
            lost.append(f"{node.id}: the field {field.name}, which no selector names")
            continue
        locator = f"page.locator({place.select!r}).first"
        if place.attribute is not None:
            yield f"record[{field.name!r}] = {locator}.get_attribute({place.attribute!r})"
        else:
            yield f"record[{field.name!r}] = {locator}.inner_text()"
    lost.append(
        f"{node.id}: readers, the agreement of channels, and the guards of the page; the script gives raw texts"
    )
