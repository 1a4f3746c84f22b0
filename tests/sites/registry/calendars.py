"""Calendars and a timeline, as libraries from npm draw them: May 2026, with an entry or two."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from tests.sites.registry import serving

_PACKAGES = {
    "fullcalendar": "fullcalendar@6.1.15",
    "flatpickr": "flatpickr@4.6.13",
    "pikaday": "pikaday@1.8.2",
    "air-datepicker": "air-datepicker@3.6.0",
    "vis-timeline": "vis-timeline@7.7.3",
    "jquery": "jquery@3.7.1",
    "jquery-ui": "jquery-ui@1.14.1",
}
_HEAD = '<!doctype html><meta charset="utf-8"><title>{name}</title>'
_SCRIPT = '<script src="/lib/{}"></script>'
_STYLE = '<link rel="stylesheet" href="/lib/{}">'

PAGES: Mapping[str, str] = {
    "fullcalendar": _SCRIPT.format("fullcalendar/index.global.min.js")
    + """<div id="at"></div><script>
new FullCalendar.Calendar(at, {initialView: 'dayGridMonth', initialDate: '2026-05-06', height: 700, dateClick() {},
  events: [{title: 'Board meeting', start: '2026-05-05T10:00'}]}).render();
</script>""",
    "flatpickr": _STYLE.format("flatpickr/dist/flatpickr.min.css")
    + _SCRIPT.format("flatpickr/dist/flatpickr.min.js")
    + """<label for="day">Day</label> <input id="day"><script>
flatpickr('#day', {inline: true, defaultDate: '2026-05-06'});
</script>""",
    "pikaday": _STYLE.format("pikaday/css/pikaday.css")
    + _SCRIPT.format("pikaday/pikaday.js")
    + """<label>Day <input id="day"></label><div id="at"></div><script>
new Pikaday({field: day, container: at, bound: false, defaultDate: new Date(2026, 4, 6), setDefaultDate: true,
  minDate: new Date(2026, 4, 3)});
</script>""",
    "air-datepicker": _STYLE.format("air-datepicker/air-datepicker.css")
    + _SCRIPT.format("air-datepicker/air-datepicker.js")
    + "<div id='at'></div><script>new AirDatepicker('#at', {inline: true, startDate: new Date(2026, 4, 6)})</script>",
    "jquery-ui": _SCRIPT.format("jquery/dist/jquery.min.js")
    + _SCRIPT.format("jquery-ui/dist/jquery-ui.min.js")
    + _STYLE.format("jquery-ui/dist/themes/base/jquery-ui.min.css")
    + "<div id='at'></div><script>$('#at').datepicker({defaultDate: new Date(2026, 4, 6)})</script>",
    "vis-timeline": _SCRIPT.format("vis-timeline/standalone/umd/vis-timeline-graph2d.min.js")
    + """<div id="at"></div><script>
new vis.Timeline(at, [
  {id: 1, group: 1, content: 'Call Ann', start: '2026-05-05T10:00', end: '2026-05-05T12:00'},
  {id: 2, group: 2, content: 'Lunch', start: '2026-05-05T12:30', end: '2026-05-05T14:00'},
], [{id: 1, content: 'Room A'}, {id: 2, content: 'Room B'}], {start: '2026-05-05T08:00', end: '2026-05-05T18:00'});
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
            (root / f"{name}.html").write_text(_HEAD.format(name=name) + body, encoding="utf-8")
        with serving.folder(root) as url:
            yield {name: f"{url}/{name}.html" for name in PAGES}
