"""BrowserGym's own reading of an observation, run by the Python of a virtual environment that has browsergym-core.

Each line of standard input is a JSON object: `call` (`dom` or `axtree`), `tree`, `options` of its function, and for
`dom` `find`: a tag with attributes. Each line of standard output is JSON: the text, or the attributes of the first
element that fits, null where none does.
"""

from __future__ import annotations

import json
import sys

from browsergym.utils.obs import flatten_axtree_to_str, flatten_dom_to_str
from bs4 import BeautifulSoup

for line in sys.stdin:
    asked = json.loads(line)
    read = flatten_dom_to_str if asked["call"] == "dom" else flatten_axtree_to_str
    told: object = read(asked["tree"], **asked["options"])
    if asked["find"]:
        tag, attributes = asked["find"]
        found = BeautifulSoup(str(told), "lxml").find(tag, attrs=attributes)
        told = dict(found.attrs) if found is not None else None
    print(json.dumps(told), flush=True)
