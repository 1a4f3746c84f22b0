"""Fields that open a list of suggestions, by libraries from npm, and one after the pattern of WAI-ARIA's guide."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.sites.registry import serving

_PACKAGES = {
    "jquery": "jquery@3.7.1",
    "jquery-ui": "jquery-ui@1.14.1",
    "select2": "select2@4.0.13",
    "choices": "choices.js@11.1.0",
    "downshift": "downshift@9.5.0",
    "react": "react@18.3.1",
    "react-dom": "react-dom@18.3.1",
    "github": "@github/auto-complete-element@3.8.0",
}
TOWNS = ("Bergen", "Bern", "Berlin", "Lyon", "Oslo", "Porto", "Turku")
_HEAD = '<!doctype html><meta charset="utf-8"><title>{name}</title><script>const towns = {towns}</script>'
_SCRIPT = '<script src="/lib/{}"></script>'
_JQUERY = _SCRIPT.format("jquery/dist/jquery.min.js")
_OPTIONS = "".join(f"<option>{town}</option>" for town in TOWNS)

PAGES: Mapping[str, str] = {
    "jquery-ui": f"""{_JQUERY}{_SCRIPT.format("jquery-ui/dist/jquery-ui.min.js")}
<link rel="stylesheet" href="/lib/jquery-ui/dist/themes/base/jquery-ui.min.css">
<label>Town <input id="town"></label><p id="out"></p>
<script>$('#town').autocomplete({{source: (asked, answer) => setTimeout(() => answer(
  towns.filter(town => town.toLowerCase().startsWith(asked.term.toLowerCase()))), 100)}});
setInterval(() => {{ out.textContent = 'town is ' + $('#town').val() }}, 50)</script>""",
    "aria": """
<style>[role=listbox] { position: absolute; margin: 0; padding: 0; background: #eee; list-style: none }</style>
<label>Town
<input id="town" role="combobox" aria-expanded="false" aria-autocomplete="list" aria-controls="list"></label>
<ul id="list" role="listbox" aria-label="Towns" hidden></ul><p id="out"></p>
<script>
const close = () => { list.hidden = true; town.setAttribute('aria-expanded', 'false') };
town.addEventListener('keyup', event => {
  if (event.key === 'Escape') { close(); return; }
  const fits = towns.filter(one => one.toLowerCase().startsWith(town.value.toLowerCase()));
  const item = one => Object.assign(document.createElement('li'), { role: 'option', textContent: one });
  list.replaceChildren(...fits.map(item));
  list.hidden = !fits.length || !town.value;
  town.setAttribute('aria-expanded', String(!list.hidden));
});
list.addEventListener('mousedown', event => event.preventDefault());
list.addEventListener('click', event => { town.value = event.target.textContent; close() });
town.addEventListener('blur', close);
setInterval(() => { out.textContent = 'town is ' + town.value }, 50);
</script>""",
    "github": """<script type="module" src="/lib/github/dist/bundle.js"></script>
<auto-complete src="/fragment.html" for="list"><label>Town <input id="town" name="town"></label>
<ul id="list"></ul></auto-complete><p id="out"></p>
<script>setInterval(() => { out.textContent = 'town is ' + town.value }, 50)</script>""",
    "select2": f"""{_JQUERY}{_SCRIPT.format("select2/dist/js/select2.min.js")}
<link rel="stylesheet" href="/lib/select2/dist/css/select2.min.css">
<label for="town">Town</label> <select id="town" style="width: 200px"><option></option>{_OPTIONS}</select>
<p id="out"></p>
<script>$('#town').select2({{placeholder: 'Choose a town'}});
setInterval(() => {{ out.textContent = 'town is ' + $('#town').val() }}, 50)</script>""",
    "choices": f"""<link rel="stylesheet" href="/lib/choices/public/assets/styles/choices.min.css">
{_SCRIPT.format("choices/public/assets/scripts/choices.min.js")}
<label for="town">Town</label> <select id="town"><option value="">Choose a town</option>{_OPTIONS}</select>
<p id="out"></p>
<script>new Choices('#town');
setInterval(() => {{ out.textContent = 'town is ' + town.value }}, 50)</script>""",
    "downshift": f"""{_SCRIPT.format("react/umd/react.production.min.js")}
{_SCRIPT.format("react-dom/umd/react-dom.production.min.js")}{_SCRIPT.format("downshift/dist/downshift.umd.min.js")}
<style>ul {{ list-style: none; padding: 0 }}</style><div id="app"></div>
<script>
const e = React.createElement;
function Town() {{
  const [fits, setFits] = React.useState(towns);
  const box = Downshift.useCombobox({{ items: fits, onInputValueChange: ({{ inputValue }}) =>
    setFits(towns.filter(one => one.toLowerCase().startsWith(inputValue.toLowerCase()))) }});
  return e('div', null, e('label', box.getLabelProps(), 'Town'), e('input', box.getInputProps()),
    e('ul', box.getMenuProps(), box.isOpen ? fits.map((item, index) =>
      e('li', box.getItemProps({{ item, index, key: item }}), item)) : null),
    e('p', {{ id: 'out' }}, 'town is ' + (box.selectedItem || '')));
}}
ReactDOM.createRoot(document.getElementById('app')).render(e(Town));
</script>""",
}


@contextmanager
def pages() -> Iterator[Mapping[str, str]]:
    """The address of each page, by its library, while they are served.

    Raises:
        Unreachable: a library cannot be had.
    """
    with serving.npm_folder(_PACKAGES) as root:
        for name, body in PAGES.items():
            text = _HEAD.format(name=name, towns=list(TOWNS)) + body
            (root / f"{name}.html").write_text(text, encoding="utf-8")
        fits = "".join(f'<li role="option" data-autocomplete-value="{one}">{one}</li>' for one in ("Bergen", "Bern"))
        (root / "fragment.html").write_text(fits, encoding="utf-8")
        with serving.folder(root) as url:
            yield {name: f"{url}/{name}.html" for name in PAGES}
