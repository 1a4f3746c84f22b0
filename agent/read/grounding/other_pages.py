"""Names by which a page says that it stands in another's place: a login, a puzzle for people, an error's text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from shoal.agent.errors import AccessDenied, NavigationError, PageMissing, ServerBusy, ServerFailed
from shoal.agent.read.grounding.part_claims import failure_line

MOST_HEADINGS = 3
"""Of the first and second level, from the page's top: what comes later names parts of it."""
SHORT = 1_500
"""Characters. A page of that many says no more than that it is another; a manual's chapter on an error is longer."""
_PARTS = re.compile(r"\s[|–—·»:-]\s")  # between a title's own words and the site's name
_LOGIN = re.compile(
    r"(?:please )?(?:log ?in|sign ?in|log ?on|login required|sign in required|authentication required)"
    r"(?: to (?:continue|view|your account|access).{0,60})?"
    r"|you (?:must|need to) (?:log|sign) ?in.{0,60}|(?:bitte )?(?:anmelden|einloggen)|anmeldung(?: erforderlich)?"
    r"|connexion|se connecter|identifiez-vous|iniciar sesión|accedi|inloggen",
    re.IGNORECASE,
)
_PUZZLE = re.compile(
    r"(?:please )?(?:verify|confirm|prove)(?: that)? you(?: are|['’]re) (?:a )?(?:human|not a (?:ro)?bot).{0,60}"
    r"|are you (?:a )?(?:human|robot)\??|(?:i['’]?m|i am) not a robot|just a moment(?:…|\.{3})?|security check"
    r"|checking (?:your|if the site connection|the).{0,60}|attention required!?|one more step|robot check"
    r"|(?:our systems have detected )?unusual traffic.{0,80}|complete the (?:captcha|security check).{0,60}",
    re.IGNORECASE,
)
_ERRORS: tuple[tuple[re.Pattern[str], type[NavigationError]], ...] = (
    (
        re.compile(
            r"(?:error )?(?:404|410)?[ :–-]{0,5}(?:this |the |requested )*(?:page|file|resource) (?:was |is |could )?"
            r"(?:not (?:be )?found|missing|gone|no longer available|not available|unavailable)"
            r"|(?:error )?(?:404|410)(?: (?:error|not found|gone))?|not found|seite nicht gefunden|page introuvable"
            r"|página no encontrada|pagina non trovata|pagina niet gevonden",
            re.IGNORECASE,
        ),
        PageMissing,
    ),
    (
        re.compile(
            r"(?:error )?(?:401|403)?[ :–-]{0,5}(?:access (?:is )?(?:denied|forbidden)|forbidden|unauthorized"
            r"|permission denied|you don['’]t have permission.{0,80})|zugriff verweigert|accès refusé|acceso denegado",
            re.IGNORECASE,
        ),
        AccessDenied,
    ),
    (
        re.compile(
            r"(?:error )?(?:429|503)?[ :–-]{0,5}(?:too many requests|service (?:is )?(?:temporarily )?unavailable"
            r"|rate limit(?:ed| exceeded)|(?:down for|under) maintenance|we['’]ll be back soon)",
            re.IGNORECASE,
        ),
        ServerBusy,
    ),
    (
        re.compile(
            r"(?:error )?(?:500|502|504)?[ :–-]{0,5}(?:internal server error|bad gateway|gateway time-?out|server error"
            r"|application error|unhandled exception)",
            re.IGNORECASE,
        ),
        ServerFailed,
    ),
)


def page_names(title: str, headings: Sequence[str] = ()) -> Iterator[str]:
    """Yield what a page calls itself: its headings, its title, and its title without the name of the site."""
    for text in dict.fromkeys([*headings[:MOST_HEADINGS], title, *_PARTS.split(title)]):
        if bare := text.strip().rstrip(".!"):
            yield bare


def error_named(name: str, *, asks_password: bool, is_short: bool) -> type[NavigationError] | None:
    """The error that a page of this name stands for; None for any other page."""
    if _LOGIN.fullmatch(name):
        return AccessDenied if asks_password else None
    if not is_short:
        return None
    if _PUZZLE.fullmatch(name):
        return AccessDenied
    if failure_line(name):
        return ServerFailed
    return next((error for form, error in _ERRORS if form.fullmatch(name)), None)
