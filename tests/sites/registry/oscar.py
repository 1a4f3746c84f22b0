"""A django-oscar shop over a seeded catalogue: lists of several pages, product pages, a review form, a login page."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.sites.registry import cache, serving
from tests.sites.registry.case import Case, Json, either, record, records
from tests.sites.registry.database import rows

NAME = "Oscar"
_PACKAGES = (
    "django-oscar==4.0",
    "sorl-thumbnail==13.4.0",
    "django==5.2.19",
    "django-treebeard==4.7.1",
    "whoosh==2.7.4",
)
_PROGRAM = Path(__file__).with_name("programs") / "oscar_site.py"
_QUERY = """
SELECT product.id, title, upc, product.slug AS slug, price, num_in_stock AS stock,
  category.name AS category, category.slug AS shelf, category.id AS category_id,
  (SELECT value_text FROM catalogue_productattributevalue AS value JOIN catalogue_productattribute AS named
   ON named.id = attribute_id WHERE value.product_id = product.id AND named.code = 'maker') AS maker,
  (SELECT value_text FROM catalogue_productattributevalue AS value JOIN catalogue_productattribute AS named
   ON named.id = attribute_id WHERE value.product_id = product.id AND named.code = 'material') AS material
FROM catalogue_product AS product
JOIN partner_stockrecord AS stocked ON stocked.product_id = product.id
JOIN catalogue_productcategory AS placed ON placed.product_id = product.id
JOIN catalogue_category AS category ON category.id = placed.category_id
ORDER BY product.id
"""
_LISTED = {"title": "string", "price": "number", "availability": "string"}
_TYPES = {
    "title": "string",
    "price": "number",
    "upc": "string",
    "product_type": "string",
    "availability": "string",
    "maker": "string",
    "material": "string",
    "number_of_reviews": "integer",
}


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the shop is served over a new database."""
    python = cache.pypi("django-oscar", _PACKAGES)
    with tempfile.TemporaryDirectory(prefix="shoal-oscar-") as temp:
        database = Path(temp) / "shop.db"
        port = serving.free_port()
        command = [str(python), str(_PROGRAM), str(database), str(port)]
        with serving.program(command, port, cwd=Path(temp), path="/catalogue/") as url:
            cases = [*_reading(url, rows(database, _QUERY)), *_forms(url, database)]
            yield [*cases, *_with_places({case.name: case for case in cases})]


def _availability(row: Json) -> Json:
    """A list says only whether there is one, and a product's page how many."""
    return either(f"In stock ({row['stock']} available)", "In stock") if row["stock"] else "Unavailable"


def _product(row: Json) -> Json:
    return {
        **{name: row[name] for name in ("title", "price", "upc", "maker", "material")},
        "product_type": "Furniture",
        "availability": _availability(row),
        "number_of_reviews": 0,
    }


def _listed(row: Json) -> Json:
    return {"title": row["title"], "price": row["price"], "availability": _availability(row)}


def _reading(url: str, products: list[Json]) -> Iterator[Case]:
    listed = {"schema": records(_LISTED, required=["title", "price"])}
    one = {"schema": record(_TYPES, required=["title", "price"])}
    lamp = next(row for row in products if row["category"] == "Lamps")
    stocked = next(row for row in products if row["stock"])
    yield Case(
        "all products",
        "paged list",
        {"url": f"{url}/catalogue/", "extract": listed},
        [_listed(row) for row in products],
        key="title",
    )
    yield Case(
        "lamps",
        "list",
        {"url": f"{url}/catalogue/category/{lamp['shelf']}_{lamp['category_id']}/", "extract": listed},
        [_listed(row) for row in products if row["category"] == "Lamps"],
        key="title",
    )
    for row in (stocked, next(row for row in products if not row["stock"])):
        yield Case(
            f"product {row['id']}",
            "single",
            {"url": f"{url}/catalogue/{row['slug']}_{row['id']}/", "extract": one},
            [_product(row)],
        )
    yield Case(
        "each product",
        "loop",
        {"url": f"{url}/catalogue/", "loop": {"from": {"select": "article h3 a"}, "max_items": 24}, "extract": one},
        [{"page": f"{url}/catalogue/{row['slug']}_{row['id']}/", **_product(row)} for row in products[:24]],
        at="page",
    )


def _with_places(cases: dict[str, Case]) -> Iterator[Case]:
    yield cases["all products"].with_places(
        {
            "title": {"select": "h3 a", "attribute": "title"},
            "price": {"select": ".price_color"},
            "availability": {"select": ".availability"},
        },
        records="article.product_pod",
        next="li.page-item:last-child a",
    )
    labels = {"upc": "UPC", "product_type": "Product Type", "maker": "Maker", "material": "Material"}
    (single, *_) = (case for case in cases.values() if case.kind == "single")
    yield single.with_places(
        {
            "title": {"select": "h1"},
            "price": {"select": ".product_main .price_color"},
            "availability": {"label": "Availability"},
            "number_of_reviews": {"label": "Number of reviews"},
            **{name: {"label": label} for name, label in labels.items()},
        }
    )


def _forms(url: str, database: Path) -> Iterator[Case]:
    review = {"title": "Stands well", "score": 4, "body": "It does not wobble.", "name": "Ada", "email": "a@b.example"}

    def reviewed() -> str:
        new = rows(database, "SELECT * FROM reviews_productreview")
        if len(new) != 1:
            return f"{len(new)} reviews"
        differing = {name: new[0][name] for name, value in review.items() if new[0][name] != value}
        return f"the review differs: {differing}" if differing else ""

    def no_new_account() -> str:
        names = [row["email"] for row in rows(database, "SELECT email FROM auth_user")]
        return "" if names == ["ada@shop.example"] else f"accounts are now {names}"

    def one_more_account() -> str:
        names = [row["email"] for row in rows(database, "SELECT email FROM auth_user ORDER BY id")]
        return "" if names == ["ada@shop.example", "bruno@shop.example"] else f"accounts are now {names}"

    product = rows(database, _QUERY)[1]
    add = f"{url}/catalogue/{product['slug']}_{product['id']}/reviews/add/"
    yield Case(
        "a review", "form", {"url": add, "goal": "send the review of the product", "data": review}, check=reviewed
    )
    login, good = f"{url}/accounts/login/", {"email": "ada@shop.example", "password": "correct horse 7"}
    yield Case("log in", "login", {"url": login, "goal": "log in", "data": good}, check=no_new_account)
    yield Case(
        "log in with a wrong password",
        "login",
        {"url": login, "goal": "log in", "data": {**good, "password": "wrong"}},
        succeeds=False,
        check=no_new_account,
    )
    new = {"email": "bruno@shop.example", "password": "quiet river 9", "confirm password": "quiet river 9"}
    yield Case("register", "form", {"url": login, "goal": "create an account", "data": new}, check=one_more_account)
