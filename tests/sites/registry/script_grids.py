"""More grids from npm: some draw only the rows in sight, the others have pagers of their own make."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.sites.registry import serving
from tests.sites.registry.case import Case, records
from tests.sites.registry.script_tables import people

NAME = "script grids (npm)"
_PACKAGES = {
    "handsontable": "handsontable@14.6.1",
    "jquery": "jquery@3.7.1",
    "jqgrid": "free-jqgrid@4.15.5",
    "jsgrid": "jsgrid@1.5.3",
    "simple-datatables": "simple-datatables@9.2.1",
    "slickgrid": "slickgrid@5.20.2",
}
_TYPES = {"name": "string", "office": "string", "role": "string", "age": "integer"}
_HEAD = '<!doctype html><html lang="en"><meta charset="utf-8"><title>{title}</title><h1>Staff</h1>'
_JQUERY = '<script src="/lib/jquery/dist/jquery.min.js"></script>'
_PAGES: Mapping[str, str] = {
    "handsontable": """
<link rel="stylesheet" href="/lib/handsontable/dist/handsontable.full.min.css">
<script src="/lib/handsontable/dist/handsontable.full.min.js"></script>
<div id="grid"></div>
<script>fetch('/120.json').then(answer => answer.json()).then(data => new Handsontable(
  document.getElementById('grid'), {data, height: 400, readOnly: true, rowHeaders: true,
  colHeaders: ['Name', 'Office', 'Role', 'Age'], licenseKey: 'non-commercial-and-evaluation',
  columns: [{data: 'name'}, {data: 'office'}, {data: 'role'}, {data: 'age', type: 'numeric'}]}))</script>""",
    "jqgrid": f"""{_JQUERY}
<link rel="stylesheet" href="/lib/jqgrid/dist/css/ui.jqgrid.min.css">
<script src="/lib/jqgrid/dist/jquery.jqgrid.min.js"></script>
<table id="grid"></table>
<script>$('#grid').jqGrid({{url: '/57.json', datatype: 'json', loadonce: true, pager: true, rowNum: 10,
  viewrecords: true, iconSet: 'fontAwesome', colModel: [{{name: 'name', label: 'Name'}},
  {{name: 'office', label: 'Office'}}, {{name: 'role', label: 'Role'}}, {{name: 'age', label: 'Age'}}]}})</script>""",
    "jsgrid": f"""{_JQUERY}
<link rel="stylesheet" href="/lib/jsgrid/dist/jsgrid.min.css">
<link rel="stylesheet" href="/lib/jsgrid/dist/jsgrid-theme.min.css">
<script src="/lib/jsgrid/dist/jsgrid.min.js"></script>
<div id="grid"></div>
<script>$.getJSON('/57.json').then(data => $('#grid').jsGrid({{width: '100%', height: 'auto', paging: true,
  pageSize: 10, sorting: true, data, fields: [{{name: 'name', title: 'Name', type: 'text'}},
  {{name: 'office', title: 'Office', type: 'text'}}, {{name: 'role', title: 'Role', type: 'text'}},
  {{name: 'age', title: 'Age', type: 'number'}}]}}))</script>""",
    "simple-datatables": """
<link rel="stylesheet" href="/lib/simple-datatables/dist/style.css">
<script src="/lib/simple-datatables/dist/umd/simple-datatables.js"></script>
<table id="grid"></table>
<script>fetch('/57.json').then(answer => answer.json()).then(rows => new simpleDatatables.DataTable('#grid', {
  perPage: 10, data: {headings: ['Name', 'Office', 'Role', 'Age'],
  data: rows.map(row => [row.name, row.office, row.role, row.age])}}))</script>""",
    "slickgrid": """
<link rel="stylesheet" href="/lib/slickgrid/dist/styles/css/slick.grid.css">
<link rel="stylesheet" href="/lib/slickgrid/dist/styles/css/slick-default-theme.css">
<script src="/lib/slickgrid/dist/browser/slick.core.js"></script>
<script src="/lib/slickgrid/dist/browser/slick.interactions.js"></script>
<script src="/lib/slickgrid/dist/browser/slick.grid.js"></script>
<div id="grid" style="width: 640px; height: 400px"></div>
<script>fetch('/120.json').then(answer => answer.json()).then(rows => new Slick.Grid('#grid', rows, [
  {id: 'name', name: 'Name', field: 'name', width: 160}, {id: 'office', name: 'Office', field: 'office', width: 160},
  {id: 'role', name: 'Role', field: 'role', width: 160}, {id: 'age', name: 'Age', field: 'age', width: 80}],
  {enableColumnReorder: false}))</script>""",
}
_ROWS = {"handsontable": 120, "slickgrid": 120}
_DEFAULT_ROWS = 57


@contextmanager
def site() -> Iterator[list[Case]]:
    """The cases, while the pages are served."""
    with serving.npm_folder(_PACKAGES) as root:
        for name, body in _PAGES.items():
            (root / f"{name}.html").write_text(_HEAD.format(title=name) + body, encoding="utf-8")
        for count in {*_ROWS.values(), _DEFAULT_ROWS}:
            (root / f"{count}.json").write_text(json.dumps(people(count)), encoding="utf-8")
        with serving.folder(root) as url:
            yield [_grid(name, url) for name in _PAGES]


def _grid(name: str, url: str) -> Case:
    rows = [{field: person[field] for field in _TYPES} for person in people(_ROWS.get(name, _DEFAULT_ROWS))]
    extract = {"schema": records(_TYPES, required=["name"])}
    return Case(name, "paged list", {"url": f"{url}/{name}.html", "extract": extract}, rows, key="name")
