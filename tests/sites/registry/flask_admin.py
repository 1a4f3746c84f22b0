"""Flask-Admin over a seeded database: lists of several pages, details, edit pages, forms."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, record, records
from tests.sites.registry.database import rows

NAME = "Flask-Admin"
_PACKAGES = ("flask-admin[sqlalchemy]==2.2.1", "flask-sqlalchemy==3.1.1")
_PROGRAM = Path(__file__).with_name("programs") / "flask_admin_app.py"
_PRODUCTS = 57
_QUERY = (
    "SELECT product.*, supplier.name AS supplier FROM product JOIN supplier ON supplier.id = supplier_id ORDER BY id"
)
_TYPES = {
    "name": "string",
    "sku": "string",
    "price": "number",
    "stock": "integer",
    "on_sale": "boolean",
    "supplier": "string",
    "description": "string",
}
_LISTED = ("name", "sku", "price", "stock", "supplier")


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the application is served over a new database."""
    python = cache.pypi("flask-admin", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-flask-") as temp:
        database = Path(temp) / "shop.db"
        port = serving.free_port()
        command = [str(python), str(_PROGRAM), str(database), str(port)]
        with serving.program(command, port, cwd=Path(temp), path="/admin/") as url:
            cases = [*_reading(url, database), *_forms(url, database)]
            yield [*cases, *_with_places({case.name: case for case in cases})]


def _product(row: Json, names: tuple[str, ...] = tuple(_TYPES)) -> Json:
    return {name: bool(row[name]) if name == "on_sale" else row[name] for name in names}


def _reading(url: str, database: Path) -> Iterator[Case]:
    products = rows(database, _QUERY)
    listed = {name: _TYPES[name] for name in _LISTED}
    yield Case(
        "all products",
        "paged list",
        {"url": f"{url}/admin/product/", "extract": {"schema": records(listed, required=["name", "sku"])}},
        [_product(row, _LISTED) for row in products],
        key="name",
    )
    yield Case(
        "suppliers",
        "table",
        {
            "url": f"{url}/admin/supplier/",
            "extract": {"schema": records({"name": "string", "city": "string"}, required=["name"])},
        },
        [{"name": row["name"], "city": row["city"]} for row in rows(database, "SELECT * FROM supplier")],
        key="name",
    )
    for n in (3, 31):
        yield Case(
            f"edit page of product {n}",
            "edit",
            {
                "url": f"{url}/admin/product/edit/?id={n}",
                "extract": {"schema": record(_TYPES, required=["name", "sku"])},
            },
            [_product(products[n - 1])],
        )
    yield Case(
        "details of product 5",
        "single",
        {"url": f"{url}/admin/product/details/?id=5", "extract": {"schema": record(_TYPES, required=["name", "sku"])}},
        [_product(products[4])],
    )
    yield Case(
        "each product's edit page",
        "loop",
        {
            "url": f"{url}/admin/product/",
            "loop": {"from": {"select": "a[title='Edit Record']"}, "max_items": 24},
            "extract": {"schema": record(_TYPES, required=["name", "sku"])},
        },
        [_product(row) for row in products[:24]],
        key="name",  # the address of an edit page carries where it was reached from
    )


def _with_places(cases: Mapping[str, Case]) -> Iterator[Case]:
    columns = {name: {"column": name.capitalize()} for name in _LISTED}
    yield cases["all products"].with_places(
        columns, records="table.model-list tbody tr", next="li.page-item.active + li a"
    )
    places = {name: {"select": f"#{name}"} for name in _TYPES}
    yield cases["edit page of product 3"].with_places(places)
    yield cases["each product's edit page"].with_places(places)


def _forms(url: str, database: Path) -> Iterator[Case]:
    product = {
        **{"name": "Dahl vice 99", "sku": "VI-1099", "price": 31.5, "stock": 4, "description": "Holds well."},
        "supplier": "Bello",
    }

    def stored() -> str:
        new = rows(database, _QUERY)[_PRODUCTS:]
        if len(new) != 1:
            return f"{len(new)} new products"
        differing = {name: new[0][name] for name, value in product.items() if new[0][name] != value}
        return f"the product differs: {differing}" if differing else ""

    def no_supplier_more() -> str:
        names = [row["name"] for row in rows(database, "SELECT name FROM supplier ORDER BY id")]
        return "" if names == ["Arndt", "Bello", "Cerny", "Dahl"] else f"suppliers are now {names}"

    def one_supplier_more() -> str:
        names = [row["name"] for row in rows(database, "SELECT name FROM supplier ORDER BY id")]
        return "" if names == ["Arndt", "Bello", "Cerny", "Dahl", "Estrada"] else f"suppliers are now {names}"

    yield Case(
        "a name that is taken",
        "form",
        {"url": f"{url}/admin/supplier/new/", "goal": "add the supplier", "data": {"name": "Dahl", "city": "Rome"}},
        succeeds=False,
        check=no_supplier_more,
    )
    yield Case(
        "a new supplier",
        "form",
        {"url": f"{url}/admin/supplier/new/", "goal": "add the supplier", "data": {"name": "Estrada", "city": "Rome"}},
        check=one_supplier_more,
    )
    yield Case(
        "a new product",
        "form",
        {"url": f"{url}/admin/product/new/", "goal": "add the product", "data": product},
        check=stored,
    )
