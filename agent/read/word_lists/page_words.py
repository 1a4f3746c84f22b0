"""Words of what moves a page on: pagers, banners, and the words by which a loop names its items."""

from __future__ import annotations

from shoal.agent.read.word_lists.word_list import word_list

NEXT_WORDS = word_list(
    """
    next, next page, older, older posts, older entries, older comments, weiter, nachste, nachste seite, vor,
    suivant, page suivante, suivante, siguiente, pagina siguiente, dalsi, nasledujici, dalsi strana, avanti,
    successivo, successiva, pagina successiva, volgende, volgende pagina, nastepna, dalej, proxima, proximo, nasta,
    naste, neste, seuraava, forward, go to next page, vorwarts
    """
)

NEXT_SIGNS = word_list("›, », →, >, >>, ⟩, ❯, ▶, ⇨, ➔, ➡")

MORE_WORDS = word_list(
    """
    load more, show more, more results, view more, see more, mehr laden, mehr anzeigen, weitere anzeigen,
    weitere laden, charger plus, afficher plus, voir plus, cargar mas, ver mas, mostrar mas, nacist dalsi,
    zobrazit dalsi, carica altri, mostra altro, meer laden, toon meer, wczytaj wiecej, pokaz wiecej,
    carregar mais, load more results, show more results, more items, weitere ergebnisse
    """
)

MORE_LINKS = word_list("more, mehr, plus, mas, altro, meer, wiecej, mais, more entries")
"""Words of a link to a page that shows more of a list. A button of that name mostly opens a menu."""

OTHER_MATTER = word_list(
    """
    related, similar, see also, also like, also bought, also viewed, also interested, you may like, you might like,
    recommended for you, recommended products, our recommendations, recently viewed, more like this, sponsored,
    ahnliche, das konnte, auch interessant, auch gekauft, auch angesehen, zuletzt angesehen, unsere empfehlungen,
    siehe auch, similaires, voir aussi, vous aimerez, consultes recemment, vus recemment, similares, relacionados,
    ver tambien, tambien te, vistos recientemente, simili, correlati, vedi anche, potrebbe interessarti,
    visti di recente, vergelijkbare, gerelateerde, zie ook, misschien ook, onlangs bekeken, podobne, zobacz tez,
    souvisejici, mohlo by, ver tambem, voce tambem, vistos recentemente
    """
)
"""Words in headings over what is about something else than the page."""

SUM_WORDS = word_list(
    """
    total, totals, subtotal, sub total, grand total, sum, gesamt, gesamtsumme, summe, zwischensumme, totale, subtotale,
    totaal, subtotaal, totaux, sous-total, somme, suma, celkem, razem, summa, yhteensa, i alt
    """
)
"""First words of a table's row that sums up those above."""

RETRY_WORDS = word_list(
    """
    retry, try again, tap to retry, click to retry, load again, erneut versuchen, nochmal versuchen, erneut laden,
    réessayer, reintentar, riprova, opnieuw proberen, zkusit znovu, tentar novamente
    """
)
"""Buttons that load what could not be loaded."""

DISMISS = (
    word_list(
        """
        reject all, reject, decline, decline all, refuse, only necessary, necessary only, only essential,
        essential only, use necessary cookies only, nur notwendige, nur erforderliche, nur essenzielle,
        notwendige cookies, ablehnen, alle ablehnen, tout refuser, refuser, continuer sans accepter,
        rechazar, rechazar todo, odmitnout, odmitnout vse, rifiuta, weigeren, deny, disagree, no thanks,
        nein danke, non merci, no gracias, ne dekuji, not now, maybe later, skip, later, spater
        """
    ),
    word_list("close, schliessen, fermer, cerrar, zavrit, chiudi, sluiten, dismiss, x, ×, ✕, ✖"),
    word_list(
        """
        accept, accept all, agree, i agree, ok, okay, got it, allow all, allow, akzeptieren, alle
        akzeptieren, zustimmen, einverstanden, accepter, tout accepter, j accepte, aceptar, aceptar todo,
        prijmout, prijmout vse, souhlasim, accetta, accepteren, understood, verstanden, continue
        """
    ),
)
"""Labels of buttons that close a banner, gentlest first: refuse, close, accept."""

LOOP_FILLER = word_list(
    """
    all, every, each, the, of, in, on, a, an, link, links, item, items, entry, entries, list, page, pages, one,
    for, to, and, from, with, row, rows, alle, jede, jeder, der, die, das
    """
)
"""Words of a loop's `select` that name nothing."""
