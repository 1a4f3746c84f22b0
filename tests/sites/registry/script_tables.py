"""Tables that libraries from npm draw and page, over a seeded data set that they fetch as JSON."""

from __future__ import annotations

import json
import random
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.sites.registry import serving
from tests.sites.registry.case import Case, Json, record, records

NAME = "script tables (npm)"
_PACKAGES = {
    "bootstrap-table": "bootstrap-table@1.27.3",
    "bootstrap": "bootstrap@5.3.9",
    "jquery": "jquery@4.0.0",
    "gridjs": "gridjs@5.1.0",  # 6.2.0 fails by itself in 4 of 10 turns of its page, also under a plain click
    "ag-grid": "ag-grid-community@36.2.0",
    "datatables": "datatables.net@3.1.5",
    "datatables-dt": "datatables.net-dt@3.1.2",
    "tabulator": "tabulator-tables@6.5.3",
}
_FIELDS = {"name": "Name", "office": "Office", "role": "Role", "age": "Age"}
_TYPES = {"name": "string", "office": "string", "role": "string", "age": "integer"}
_OFFICES = ("Oslo", "Porto", "Lyon", "Graz", "Turku", "Cork")
_ROLES = ("Accountant", "Buyer", "Clerk", "Designer", "Engineer", "Support lead")
_GIVEN = ("Ada", "Bruno", "Chloe", "Dario", "Elin", "Farid", "Greta", "Hugo", "Ines", "Jonas", "Kaja", "Lena")
_FAMILY = ("Arndt", "Bello", "Cerny", "Dahl", "Estrada", "Ferrari", "Gruber", "Holm", "Ivanova", "Jansen", "Keller")

_HEAD = '<!doctype html><meta charset="utf-8"><title>{title}</title>'
_PAGES: Mapping[str, str] = {
    "bootstrap-table": """
<link rel="stylesheet" href="/lib/bootstrap/dist/css/bootstrap.min.css">
<link rel="stylesheet" href="/lib/bootstrap-table/dist/bootstrap-table.min.css">
<script src="/lib/jquery/dist/jquery.min.js"></script>
<script src="/lib/bootstrap-table/dist/bootstrap-table.min.js"></script>
<h1>Staff</h1>
<table data-toggle="table" data-url="/57.json" data-pagination="true" data-page-size="10" data-search="true">
<thead><tr><th data-field="name" data-sortable="true">Name</th><th data-field="office">Office</th>
<th data-field="role">Role</th><th data-field="age" data-sortable="true">Age</th></tr></thead></table>""",
    "gridjs": """
<link rel="stylesheet" href="/lib/gridjs/dist/theme/mermaid.min.css">
<script src="/lib/gridjs/dist/gridjs.umd.js"></script>
<h1>Staff</h1><div id="grid"></div>
<script>new gridjs.Grid({columns: ['Name', 'Office', 'Role', 'Age'], search: true, sort: true,
  pagination: {limit: 10},
  server: {url: '/57.json', then: rows => rows.map(row => [row.name, row.office, row.role, row.age])},
}).render(document.getElementById('grid'))</script>""",
    "ag-grid": """
<script src="/lib/ag-grid/dist/ag-grid-community.min.js"></script>
<h1>Staff</h1><div id="grid" style="height: 400px"></div>
<script>fetch('/120.json').then(answer => answer.json()).then(rowData => agGrid.createGrid(
  document.getElementById('grid'),
  {rowData, columnDefs: [{field: 'name'}, {field: 'office'}, {field: 'role'}, {field: 'age'}]}))</script>""",
    "datatables": """
<link rel="stylesheet" href="/lib/datatables-dt/css/dataTables.dataTables.min.css">
<script src="/lib/jquery/dist/jquery.min.js"></script>
<script src="/lib/datatables/js/dataTables.min.js"></script>
<script src="/lib/datatables-dt/js/dataTables.dataTables.min.js"></script>
<h1>Staff</h1><table id="staff" class="display"><thead><tr><th>Name</th><th>Office</th><th>Role</th><th>Age</th></tr>
</thead></table>
<script>new DataTable('#staff', {ajax: {url: '/57.json', dataSrc: ''}, columns: [
  {data: 'name'}, {data: 'office'}, {data: 'role'}, {data: 'age'}]})</script>""",
    "datatables-late": """
<script src="/lib/jquery/dist/jquery.min.js"></script>
<script src="/lib/datatables/js/dataTables.min.js"></script>
<h1>Staff</h1><table id="staff"><thead><tr><th>Name</th><th>Office</th><th>Role</th><th>Age</th></tr></thead></table>
<script>setTimeout(() => new DataTable('#staff', {ajax: {url: '/9.json', dataSrc: ''}, columns: [
  {data: 'name'}, {data: 'office'}, {data: 'role'}, {data: 'age'}]}), 2500)</script>""",
    "datatables-links": """
<script src="/lib/jquery/dist/jquery.min.js"></script>
<script src="/lib/datatables/js/dataTables.min.js"></script>
<h1>Staff</h1><table id="staff"><thead><tr><th>Name</th><th>Office</th></tr></thead></table>
<script>new DataTable('#staff', {ajax: {url: '/23.json', dataSrc: ''}, columns: [
  {data: 'name', render: (name, kind, row) => `<a href="/person-${row.id}.html">${name}</a>`},
  {data: 'office'}]})</script>""",
    "tabulator": """
<link rel="stylesheet" href="/lib/tabulator/dist/css/tabulator.min.css">
<script src="/lib/tabulator/dist/js/tabulator.min.js"></script>
<h1>Staff</h1><div id="grid"></div>
<script>new Tabulator('#grid', {height: '350px', ajaxURL: '/120.json', layout: 'fitColumns', columns: [
  {title: 'Name', field: 'name'}, {title: 'Office', field: 'office'},
  {title: 'Role', field: 'role'}, {title: 'Age', field: 'age'}]})</script>""",
    "tabulator-pages": """
<link rel="stylesheet" href="/lib/tabulator/dist/css/tabulator.min.css">
<script src="/lib/tabulator/dist/js/tabulator.min.js"></script>
<h1>Staff</h1><div id="grid"></div>
<script>new Tabulator('#grid', {ajaxURL: '/57.json', layout: 'fitColumns', pagination: true, paginationSize: 10,
  paginationCounter: 'rows', columns: [{title: 'Name', field: 'name'}, {title: 'Office', field: 'office'},
  {title: 'Role', field: 'role'}, {title: 'Age', field: 'age'}]})</script>""",
}
_ROWS = {"ag-grid": 120, "tabulator": 120, "datatables-late": 9}
_DEFAULT_ROWS = 57


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the pages are served."""
    with serving.npm_folder(_PACKAGES) as root:
        for name, body in _PAGES.items():
            (root / f"{name}.html").write_text(_HEAD.format(title=name) + body, encoding="utf-8")
        for count in (9, 23, 57, 120):
            (root / f"{count}.json").write_text(json.dumps(people(count)), encoding="utf-8")
        for person in people(23):
            (root / f"person-{person['id']}.html").write_text(_person_page(person), encoding="utf-8")
        with serving.folder(root) as url:
            tables = {name: _table(name, url) for name in _PAGES if name != "datatables-links"}
            columns = {name: {"column": label} for name, label in _FIELDS.items()}
            yield [
                *(*tables.values(), _loop(url)),
                tables["bootstrap-table"].with_places(columns, records="table tbody tr", next="li.page-next a"),
                tables["gridjs"].with_places(columns, records="table tbody tr", next="button[aria-label=Next]"),
                tables["datatables"].with_places(columns, records="#staff tbody tr", next="button.next"),
                tables["datatables-late"].with_places(columns, records="#staff tbody tr"),
            ]


def people(count: int) -> list[Json]:
    """The first so many of a seeded staff, in the order of their names as tables sort them."""
    chance = random.Random(18)
    names = [f"{given} {family}" for given in _GIVEN for family in _FAMILY]
    chance.shuffle(names)
    return [
        {"id": n, "name": name, "office": chance.choice(_OFFICES), "role": chance.choice(_ROLES), "age": 20 + n % 45}
        for n, name in enumerate(names[:count], 1)
    ]


def _person_page(person: Mapping[str, Json]) -> str:
    entries = "".join(f"<dt>{label}</dt><dd>{person[name]}</dd>" for name, label in _FIELDS.items() if name != "name")
    return f"{_HEAD.format(title=person['name'])}<h1>{person['name']}</h1><dl>{entries}</dl>"


def _table(name: str, url: str) -> Case:
    rows = [{field: person[field] for field in _FIELDS} for person in people(_ROWS.get(name, _DEFAULT_ROWS))]
    return Case(
        name,
        "table" if len(rows) < 10 else "paged list",
        {"url": f"{url}/{name}.html", "extract": {"schema": records(_TYPES, required=["name"])}},
        rows,
        key="name",
    )


def _loop(url: str) -> Case:
    return Case(
        "each person of a paged table",
        "loop",
        {
            "url": f"{url}/datatables-links.html",
            "loop": {"from": {"select": "#staff tbody a"}},
            "extract": {"schema": record(_TYPES, required=["name"])},
        },
        [{"page": f"{url}/person-{p['id']}.html", **{field: p[field] for field in _FIELDS}} for p in people(23)],
        at="page",
    )
