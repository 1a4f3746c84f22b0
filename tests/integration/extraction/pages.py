"""The pages of these tests, by path."""

from __future__ import annotations

import json

_PARTS = """<table class="parts"><caption>Parts</caption>
<thead><tr><th rowspan="2">Part</th><th colspan="2">Price</th><th rowspan="2">Stock ▲</th></tr>
<tr><th>Net</th><th>Gross</th></tr></thead>
<tbody><tr><th colspan="4">Screws</th></tr>
<tr><th scope="row"><a href="/p/1">M4 <b>steel</b></a></th><td>1.00</td><td>1.19</td>
<td>In stock (3 available)</td></tr>
<tr><th scope="row"><a href="/p/2">M5</a></th><td rowspan="2">2.00</td><td>2.38</td><td></td></tr>
<tr><th scope="row"><a href="/p/3">M6</a></th><td>2.39</td><td>7</td></tr>
<tr><td colspan="4">Nuts</td></tr>
<tr><th scope="row"><a href="/p/4">N1</a></th><td>3.00</td><td>3.57</td><td>12</td></tr></tbody>
<tfoot><tr><td>Sum</td><td>8.00</td><td>9.53</td><td>22</td></tr></tfoot></table>"""

_FACTS = """<h1>Lamp</h1><nav><ul><li><a href="/a">UPC</a></li><li><a href="/b">Status</a></li></ul></nav>
<table><tr><th>UPC</th><td>a897</td></tr><tr><th>Availability</th><td>In stock (3 available)</td></tr>
<tr><th>Tax</th><td></td></tr></table>
<dl><dt>Colours</dt><dd>red</dd><dd>blue</dd><dt>Weight</dt><dt>Mass</dt><dd>1.5 kg</dd></dl>
<div class="row"><div class="label">Status:</div><div class="value">Open</div></div>
<p><b>Author:</b> Jane Doe <b>Year:</b> 1990</p>
<p>Edition: third<br>Shelf: B 12</p>
<h2>DESCRIPTION</h2><p>A lamp for <em>every</em> desk.</p><p>Two bulbs.</p><h2>See also</h2><p>kettle</p>
<div><span>Width</span><span>Height</span></div>
<p>Seen on <time datetime="2024-03-01">yesterday</time></p>
<p class="price"><del>£20.00</del> £12.50</p>
<p class="price old" style="display:none">£99.00</p>
<ul class="tags"><li>a</li><li>b</li></ul><b class="big" style="text-transform:uppercase">Quiet</b>"""

_STRUCK = """<h1>Lamp</h1><s class="price">£20.00</s> <p class="big">Now <b>£12.50</b></p>
<p>Was: <del>£20.00</del></p><del><p>Weight: 3 kg</p><p class="old">3 kg</p></del>
<table><tr><th>Stock</th><td><s>7</s></td></tr><tr><th><s>Sizes</s></th><td>4 <strike>5</strike></td></tr></table>
<p><b>Maker:</b> <s>Oak</s> Sons</p><dl><dt>Width</dt><dd><s>4</s> 5</dd></dl>
<ul class="tags"><li>a</li><li><s>b</s></li></ul>"""

_EDIT = """<h1>Edit user</h1><form method="post">
<label for="n">Name</label><input id="n" name="name" value="Ada">
<div class="form-row"><label for="r">Role</label><select id="r" name="role"><option value="1">Guest</option>
<option value="2" selected>Editor</option></select></div>
<label>Notes <textarea name="notes">first line
second line</textarea></label>
<label><input type="checkbox" name="active" checked> Active</label>
<label><input type="checkbox" name="staff"> Staff</label>
<fieldset><legend>Plan</legend><label><input type="radio" name="plan" value="f"> Free</label>
<label><input type="radio" name="plan" value="p" checked> Paid</label></fieldset>
<label>Groups <select multiple name="g">
<option selected>a</option><option>b</option><option selected>c</option></select></label>
<table><tr><th>Quota</th><td><input type="number" value="40"></td></tr></table>
<div contenteditable="true" aria-label="Biography">Born <b>1815</b></div>
<label>Password <input type="password" name="pw" value="hush"></label>
<button>Save</button></form>"""

_LD = {
    "@context": "https://schema.org",
    "@graph": [
        {"@type": "Product", "name": "Lamp", "offers": {"price": "12.50", "availability": "https://schema.org/InStock"}}
    ],
}
_STATE = {"props": {"item": {"id": 7, "title": "Lamp, embedded", "sizes": [1, 2]}}}


def listed(number: int) -> str:
    """One of three pages of three entries each; the way on is a link, beside one that leads elsewhere."""
    rows = "".join(
        f'<li class="hit"><b>Entry {n}</b><i>{n * 1.5:.2f} €</i></li>' for n in range(3 * number - 2, 3 * number + 1)
    )
    onward = f'<a class="onward" href="/linked?page={number + 1}">Older entries</a>' if number < 3 else ""
    return (
        f'<!doctype html><html lang="en"><p>Showing {3 * number - 2} to {3 * number} of 9</p><ul>{rows}</ul>{onward}'
        '<a rel="next" href="/facts">Next chapter</a></html>'
    )


_SCRIPTED = """<!doctype html><html lang="en"><p id="said"></p>
<table id="grid"><thead><tr><th>No</th><th>Word</th></tr></thead>
<tbody></tbody></table><button id="on">Next</button><form method="post"><button id="send">More</button></form>
<script>
let at = 0; const all = [['1','yes'],['2','no'],['3','yes'],['4','no'],['5','yes']];
const row = (r) => `<tr><td>${r[0]}</td><td>${r[1]}</td></tr>`;
const draw = () => { document.querySelector('tbody').innerHTML = all.slice(at, at + 2).map(row).join('');
  const last = Math.min(5, at + 2);
  document.getElementById('said').textContent = `Showing ${at + 1} to ${last} of 5 entries`;
  document.getElementById('on').disabled = at + 2 >= all.length; };
document.getElementById('on').onclick = () => setTimeout(() => { at += 2; draw(); }, 300);
draw();
</script>"""

_PAGER_LATE = """<h1>Staff</h1><table id="grid"><thead><tr><th>No</th><th>Word</th></tr></thead>
<tbody></tbody></table><div id="foot"></div>
<script>
let at = 0; const all = [['1','yes'],['2','no'],['3','yes'],['4','no'],['5','yes']];
const draw = () => { document.querySelector('tbody').innerHTML =
  all.slice(at, at + 2).map((r) => `<tr><td>${r[0]}</td><td>${r[1]}</td></tr>`).join(''); };
const foot = () => { document.getElementById('foot').innerHTML = `SAID<button id="on">Next</button><button>1</button>`;
  document.getElementById('on').disabled = at + 2 >= all.length;
  document.getElementById('on').onclick = () => { at += 2; draw(); foot(); }; };
draw(); setTimeout(foot, 200);
</script>"""

_GRID = """<div role="grid"><div role="rowgroup"><div role="row"><div role="columnheader">Make</div>
<div role="columnheader">Model</div><div role="columnheader">Price</div></div></div><div role="rowgroup">
<div role="row"><div role="gridcell" aria-colindex="1">Ford</div>
<div role="gridcell" aria-colindex="3">32000</div></div>
<div role="row"><div role="gridcell" aria-colindex="1">Opel</div><div role="gridcell" aria-colindex="2">Astra</div>
<div role="gridcell" aria-colindex="3">21000</div></div></div></div>"""

_LATE = """<h1>Late</h1><div id="box"></div><script>setTimeout(() => {
document.getElementById('box').innerHTML = '<span class="price">12.50</span>'; }, 2500);</script>"""


def _page(body: str) -> str:
    return f'<!doctype html><html lang="en"><body>{body}</body></html>'


PAGES: dict[str, str] = {
    "/parts": _page(_PARTS),
    "/two-tables": _page(_PARTS + _PARTS),
    "/facts": _page(_FACTS),
    "/struck": _page(_STRUCK),
    "/edit": _page(_EDIT),
    "/json-ld": _page(f'<h1>Lamp</h1><script type="application/ld+json">{json.dumps(_LD)}</script>'),
    "/state": _page(f"<h1>x</h1><script>window.__STATE__ = {json.dumps(_STATE)};</script>"),
    "/data.json": json.dumps({"total": 2, "items": [{"id": 1, "name": "a"}, {"id": 2, "name": None}]}),
    "/none.json": json.dumps({"total": 0, "items": []}),
    "/scripted": _SCRIPTED,
    "/grid": _page(_GRID),
    "/late": _page(_LATE),
    "/pager-late": _page(_PAGER_LATE.replace("SAID", "Showing 1 to 2 of 5 ")),
    "/pager-late-uncounted": _page(_PAGER_LATE.replace("SAID", "")),
    "/spoken": _page(
        "<p>A catalogue raises an error where no parts were found for a name; what calls it may give another name, and "
        "goes on with the part that it gets for that one instead.</p>"
        '<div class="parts"><div><table><tbody><tr><td>M4</td></tr></tbody></table></div></div>'
    ),
    "/empty": _page('<p>No results found.</p><table class="parts"><tbody></tbody></table>'),
}
