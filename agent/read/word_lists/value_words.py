"""Words that are values, or stand beside them."""

from __future__ import annotations

from shoal.agent.read.word_lists.word_list import word_list

IN_STOCK = word_list(
    """
    in stock, on stock, available, instock, limitedavailability, onlineonly, instoreonly, in store only,
    ready to ship, ships in, ships within, ships today, ships tomorrow, dispatched, usually ships, usually
    dispatched, delivery in, delivered by, left in stock, only left, few left, last items, low stock, while
    stocks last, auf lager, lieferbar, sofort lieferbar, verfugbar, vorratig, lagernd, versandfertig, am
    lager, nur noch, wenige verfugbar, en stock, disponible, plus que, expedie sous, skladem, na sklade,
    dostupne, dostupny, k odeslani, disponibile, disponibili, op voorraad, leverbaar, na stanie, dostepny,
    dostepne, w magazynie, em estoque, disponivel, hay existencias, quedan, pa lager, i lager, auf vorrat,
    sur stock, ihned k odberu, posledni kus, posledni kusy
    """
)

OUT_OF_STOCK = word_list(
    """
    out of stock, outofstock, sold out, soldout, unavailable, not available, no longer available,
    discontinued, currently unavailable, temporarily out, not in stock, 0 in stock, none left, back in
    stock, notify me, backorder, back order, ausverkauft, nicht lieferbar, nicht verfugbar, nicht auf lager,
    nicht vorratig, vergriffen, derzeit nicht, zur zeit nicht, momentan nicht, rupture de stock, epuise,
    indisponible, non disponible, n est plus disponible, pas en stock, agotado, no disponible, sin
    existencias, vyprodano, neni skladem, nedostupne, nedostupny, esaurito, non disponibile, uitverkocht,
    niet op voorraad, niet leverbaar, wyprzedane, niedostepny, niedostepne, esgotado, indisponivel,
    slutsald, udsolgt, ikke pa lager, ej i lager
    """
)

PREORDER = word_list(
    """
    pre order, preorder, presale, vorbestellen, vorbestellbar, precommande, predobjednavka, coming soon
    """
)

TRUE_WORDS = word_list("yes, true, ja, oui, si, sí, ano, tak, sim, on, included, ✓, ✔, ☑, ✅, y, wahr, vrai")

FALSE_WORDS = word_list(
    "no, false, nein, non, ne, nie, nao, não, off, none, not included, ✗, ✘, ☐, ❌, ×, n, falsch, faux"
)

NO_VALUE = word_list(
    """
    n/a, na, not available yet, tbd, tba, unknown, loading, please select, please choose, select, choose, select one,
    choose one, select an option, choose an option, not set, none selected, no selection, untitled, bitte wahlen,
    keine angabe, k.a., null, undefined, nan, not specified, empty, lorem ipsum, unassigned, not assigned,
    no one assigned, nobody, no one yet, none yet
    """
)
"""Texts that stand where a value is missing."""

OUT_OF = word_list("out of, of, von, sur, de, z, su, van, /, av, do")
"""Between a rating and its best value."""

FORMERLY = word_list(
    """
    was, before, rrp, msrp, uvp, statt, instead of, previously, formerly, old price, list price, regular
    price, recommended price, avant, au lieu de, antes, en lugar de, pvp, puvodne, puvodni cena, prima,
    invece di, voorheen, bisher, ehemals, alter preis, listenpreis, compare at, save, ersparnis, you save,
    sie sparen
    """
)
"""Before an amount that is no longer asked, or was never."""

STARS = word_list(
    """
    star, stars, stern, sterne, sternen, etoile, etoiles, estrella, estrellas, hvezdicka, hvezdicek, stelle,
    sterren
    """
)
