"""Thirty tasks for `agent_calls.py`, each with the solver that a deterministic model solves it by."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

from _solver import Move, Prompt, Task, all_of, click, fill

from shoal.agent.support.json_value import Json

ACTED: Mapping[str, Json] = {"acted": True}
_OVER = r"\bSTART\b|click\(|fill\(|navigate, completed"  # its cover is drawn, or the click that ends it was made


def _wob(site: str, name: str, acts: Any) -> Task:
    goal = f"Do what the yellow field at the top of the page says (task {name})"
    return Task(
        name,
        {"url": f"{site}/miniwob/{name}.html", "goal": goal},
        over=_OVER,
        moves=(Move("", acts, ACTED),),
        right=lambda told: float(told["reward"] or 0) > 0,
    )


def _choose(role: str, button: str = "Submit") -> Any:
    def acts(prompt: Prompt) -> list[dict[str, Json]]:
        wanted = re.sub(r"^.*?Select ", "", prompt.query).split(" and click")[0]
        names = [name.strip() for name in wanted.split(",") if name.strip() != "nothing"]
        clicks = [click(role, f"^{re.escape(name)}$")(prompt) for name in names]
        return [*clicks, click("button", button)(prompt)]

    return acts


def _from_list(prompt: Prompt) -> list[dict[str, Json]]:
    wanted = re.sub(r"^.*?Select ", "", prompt.query).split(" from the list")[0].strip()
    field = prompt.find("combobox|listbox|select", "")
    return [
        {"action_type": "SELECT_OPTION", "id": field.id, "option": {"label": wanted}},
        click("button", "Submit")(prompt),
    ]


def _enter(fields: int, button: str) -> Any:
    def acts(prompt: Prompt) -> list[dict[str, Json]]:
        values = re.findall(r'"\s*([^"]+?)\s*"', prompt.query)
        boxes = [one for one in prompt.elements if one.role in ("textbox", "searchbox", "input")][:fields]
        texts = values if len(values) >= fields else values * fields
        typed = zip(boxes, texts, strict=False)
        fills = [{"action_type": "INPUT_TEXT", "id": box.id, "text": text} for box, text in typed]
        return [*fills, click("button", button)(prompt)]

    return acts


def _named_in_query(role: str) -> Any:
    def acts(prompt: Prompt) -> list[dict[str, Json]]:
        wanted = re.findall(r'"\s*([^"]+?)\s*"', prompt.query)[0]
        return [click(role, f"^{re.escape(wanted)}$")(prompt)]

    return acts


def miniwob(site: str) -> list[Task]:
    """Tasks of one step, and of several actions in one step."""
    any_role = "button|link|generic|span|tab|a|listitem"
    return [
        _wob(site, "click-button", _named_in_query("button")),
        _wob(site, "click-test", all_of(click("button", "Click Me"))),
        _wob(site, "click-test-2", all_of(click("button", "^ONE$"))),
        _wob(site, "click-link", _named_in_query(any_role)),
        _wob(site, "click-checkboxes", _choose("checkbox")),
        _wob(site, "click-option", _choose("radio")),
        _wob(site, "enter-text", _enter(1, "Submit")),
        _wob(site, "enter-password", _enter(2, "Submit")),
        _wob(site, "focus-text", all_of(click("textbox", ""))),
        _wob(site, "login-user", _enter(2, "Login")),
        _wob(site, "click-dialog", all_of(click("button", "(?i)close|^x$"))),
        _wob(site, "choose-list", _from_list),
    ]


# --- the demo shop ----------------------------------------------------------------------------------------

PRODUCT = {
    "type": "object",
    "required": ["name", "price"],
    "properties": {"name": {"type": "string"}, "price": {"type": "number"}},
}
_PRICE = re.compile(r"\$\s?([\d,]+\.\d\d)")


def _product(prompt: Prompt) -> Json:
    name = re.search(r"^# (.+)$", prompt.page, re.MULTILINE)
    assert name is not None, prompt.page[:2000]
    prices = _PRICE.findall(prompt.page[name.end() :])
    return [{"name": name[1].strip(), "price": float(prices[0].replace(",", ""))}]


def _price_told(prompt: Prompt) -> Json:
    name = re.search(r"^# (.+)$", prompt.page, re.MULTILINE)
    assert name is not None, prompt.page[:2000]
    price = "$" + _PRICE.findall(prompt.page[name.end() :])[0]
    return {"text": price, "quotes": [price]}


def _average_told(prompt: Prompt) -> Json:
    found = [float(price.replace(",", "")) for price in _PRICE.findall(prompt.page)][-3:]
    mean = round(sum(found) / 3, 2)
    return {"text": f"{mean:.2f}", "computed": {"operation": "average", "values": found, "result": mean}}


def shop(site: str, products: Sequence[str], in_stock: str) -> list[Task]:
    """Searching, a banner, a basket (of a product that is `in_stock`), questions, records, and a loop."""
    loop = {"values": list(products[:12]), "is_link": True}
    drill = Move("", all_of(fill("searchbox|textbox|combobox", "(?i)search", "drill"), click("button", "(?i)^search$")))
    return [
        Task(
            "shop search",
            {"url": f"{site}/", "goal": "Search the shop for: drill (task shop search)"},
            over=r"url: \S*/search\?",
            moves=(Move("", drill.acts, {"address": "/search?q=drill"}),),
            right=lambda told: "/search?q=drill" in told["url"],
        ),
        Task(
            "shop cookies",
            {"url": f"{site}/", "goal": "Accept only the necessary cookies (task shop cookies)"},
            over=r"click\(|navigate, completed",
            moves=(Move("", all_of(click("button", "Only necessary")), ACTED),),
        ),
        Task(
            "shop basket",
            {"url": in_stock, "goal": "Put this product into the basket (task shop basket)"},
            over=r"url: \S*/basket|navigate, completed",
            moves=(Move("", all_of(click("button", "(?i)^add")), {"address": "/basket"}),),
            right=lambda told: "/basket" in told["url"],
        ),
        Task(
            "shop price",
            {"url": products[1], "goal": "What does this product cost? (task shop price)"},
            answer=_price_told,
            right=lambda told: str(told["answer"]).startswith("$"),
        ),
        Task(
            "shop search price",
            {
                "url": f"{site}/",
                "goal": "Search for: drill. What do the last three cost on average? (task shop search price)",
            },
            over=r"url: \S*/search\?",
            moves=(Move("", drill.acts, {"address": "/search?q=drill"}),),
            answer=_average_told,
            right=lambda told: re.fullmatch(r"[\d.]+", str(told["answer"])) is not None,
        ),
        Task(
            "shop record",
            {"url": products[2], "goal": "Read the product (task shop record)", "extract": {"schema": PRODUCT}},
            record=_product,
            right=lambda told: len(told["records"]) == 1,
        ),
        Task(
            "shop loop",
            {
                "url": f"{site}/",
                "goal": "Read each product (task shop loop)",
                "loop": loop,
                "extract": {"schema": PRODUCT},
            },
            record=_product,
            loop=True,
            right=lambda told: len(told["records"]) == 12,
        ),
    ]


# --- two applications and a documentation -------------------------------------------------------------------

SUPPLIER = {
    "type": "object",
    "required": ["name", "city"],
    "properties": {"name": {"type": "string"}, "city": {"type": "string"}},
}
ITEM = {
    "type": "object",
    "required": ["name", "sku"],
    "properties": {"name": {"type": "string"}, "sku": {"type": "string"}},
}


def _field_value(prompt: Prompt, name: str) -> str:
    """Return what a field of a form holds."""
    found = re.search(rf'\[[^\[\]\n]*textbox "{name}[^"]*"[^\[\]\n]*="([^"\n]*)"', prompt.page)
    assert found is not None, prompt.page[:2000]
    return found[1]


def _how_many_suppliers(prompt: Prompt) -> Json:
    names = [name for name in ("Arndt", "Bello", "Cerny", "Dahl", "Estrada") if name in prompt.page]
    computed = {"operation": "count", "values": names, "result": len(names)}
    return {"text": f"{len(names)} suppliers", "computed": computed}


def flask_admin(site: str) -> list[Task]:
    """An administration: a form, details, a count, a list, and a loop over edit pages."""
    new = {"url": f"{site}/admin/supplier/new/", "data": {"name": "Estrada", "city": "Rome"}}
    form = all_of(fill("textbox", "^Name", "Estrada"), fill("textbox", "^City", "Rome"), click("button", "^Save$"))
    edits = {"from": {"select": "a[title='Edit Record']"}, "max_items": 12}
    return [
        Task(
            "admin count",
            {"url": f"{site}/admin/supplier/", "goal": "How many suppliers are there? (task admin count)"},
            answer=_how_many_suppliers,
            right=lambda told: re.search(r"\d", str(told["answer"])) is not None,
        ),
        Task(
            "admin supplier",
            {**new, "goal": "Add the supplier (task admin supplier)"},
            over=r"successfully created",
            moves=(Move("", form, {"text": "successfully created"}),),
            right=lambda told: "/admin/supplier/" in told["url"] and "new" not in told["url"],
        ),
        Task(
            "admin open",
            {"url": f"{site}/admin/", "goal": "Open the list of suppliers (task admin open)"},
            over=r"url: \S*/admin/supplier/",
            moves=(Move("", all_of(click("link", "^Supplier$")), {"address": "/admin/supplier/"}),),
            right=lambda told: told["url"].endswith("/admin/supplier/"),
        ),
        Task(
            "admin record",
            {
                "url": f"{site}/admin/product/edit/?id=5",
                "goal": "Read the product (task admin record)",
                "extract": {"schema": ITEM},
            },
            record=lambda prompt: [{"name": _field_value(prompt, "Name"), "sku": _field_value(prompt, "Sku")}],
            right=lambda told: len(told["records"]) == 1,
        ),
        Task(
            "admin loop",
            {
                "url": f"{site}/admin/product/",
                "goal": "Read each product (task admin loop)",
                "loop": edits,
                "extract": {"schema": ITEM},
            },
            record=lambda prompt: [{"name": _field_value(prompt, "Name"), "sku": _field_value(prompt, "Sku")}],
            loop=True,
            right=lambda told: len(told["records"]) == 12,
        ),
    ]


CITY = {
    "type": "object",
    "required": ["name", "country"],
    "properties": {"name": {"type": "string"}, "country": {"type": "string"}},
}


def _city(prompt: Prompt) -> Json:
    for name, country in (("Ulm", "Germany"), ("Graz", "Austria"), ("Gent", "Belgium")):
        if name in prompt.page and country in prompt.page:
            return [{"name": name, "country": country}]
    raise LookupError(prompt.page[:2000])


def datasette(site: str) -> list[Task]:
    """A database on the web: from its front to a table, a sum, and a loop over rows."""
    rows = {"values": [f"{site}/city/city/{n}" for n in (1, 2, 3)], "is_link": True}
    people = [128000, 302000, 267000]
    return [
        Task(
            "data table",
            {"url": f"{site}/city", "goal": "Open the table city (task data table)"},
            over=r"url: \S*/city/city",
            moves=(Move("", all_of(click("link", "^city$")), {"address": "/city/city"}),),
            right=lambda told: told["url"].endswith("/city/city"),
        ),
        Task(
            "data sum",
            {"url": f"{site}/city/city", "goal": "How many people live in these cities in all? (task data sum)"},
            answer=lambda prompt: {
                "text": f"{sum(people)}",
                "computed": {"operation": "sum", "values": people, "result": sum(people)},
            },
            right=lambda told: told["answer"] == "697000",
        ),
        Task(
            "data loop",
            {"url": site, "goal": "Read each city (task data loop)", "loop": rows, "extract": {"schema": CITY}},
            record=_city,
            loop=True,
            right=lambda told: len(told["records"]) == 3,
        ),
    ]


MODULE = {
    "type": "object",
    "required": ["module"],
    "properties": {"module": {"type": "string"}},
}


def _module(prompt: Prompt) -> Json:
    found = re.search(r"^title: ([a-z0-9_]+) — ", prompt.page, re.MULTILINE)
    assert found is not None, prompt.page[:3000]
    return [{"module": found[1]}]


def _version(prompt: Prompt) -> Json:
    found = re.search(r"(?:New|Added) in version \d\.\d+", prompt.page)
    assert found is not None, prompt.page[:3000]
    return {"text": found[0].split()[-1], "quotes": [found[0]]}


def manual(site: str) -> list[Task]:
    """A manual: a page to open, a question about one that has to be opened, a loop over pages."""
    short = ("netrc", "sched", "colorsys", "fnmatch", "linecache", "reprlib")
    pages = (*short, "bisect", "keyword", "tabnanny", "py_compile", "code", "codeop")
    loop = {"values": [f"{site}/library/{page}.html" for page in pages], "is_link": True}
    opened = Move("", all_of(click("link", "^shelve")), {"address": "/library/shelve.html"})
    tomllib = Move("", all_of(click("link", "^tomllib")), {"address": "/library/tomllib.html"})
    return [
        Task(
            "manual open",
            {"url": f"{site}/library/persistence.html", "goal": "Open the page about shelve (task manual open)"},
            over=r"url: \S*/library/shelve",
            moves=(opened,),
            right=lambda told: "/library/shelve.html" in told["url"],
        ),
        Task(
            "manual version",
            {
                "url": f"{site}/library/fileformats.html",
                "goal": "In which version of Python was tomllib added? (task manual version)",
            },
            over=r"url: \S*/library/tomllib",
            moves=(tomllib,),
            answer=_version,
            right=lambda told: told["answer"] == "3.11",
        ),
        Task(
            "manual loop",
            {
                "url": f"{site}/library/index.html",
                "goal": "Read which module each page is about (task manual loop)",
                "loop": loop,
                "extract": {"schema": MODULE},
            },
            record=_module,
            loop=True,
            right=lambda told: len(told["records"]) == 12,
        ),
    ]
