"""Words in labels and class names that say what a value is, or that it is something else."""

from __future__ import annotations

from shoal.agent.read.word_lists.word_list import word_list

NEUTRAL = word_list(
    """
    product, item, page, article, main, current, value, text, label, field, info, detail, details, content,
    box, wrapper, container, block, the, a, an, of, in, this, its, is, our, your, entry, record, data,
    amount, final, now, new, sale, span, div, row, col, big, large, incl, including, vat, mwst, inkl, tva, iva, dph,
    js, der, die, das, le, la, el, produkt, artikel, produit, producto, element, display, section, single,
    component, test
    """
)
"""Words in a label or a class name that do not change what is named."""

QUALIFIERS = word_list(
    """
    old, was, before, previous, list, rrp, msrp, uvp, regular, original, strike, striked, crossed, compare,
    shipping, delivery, versand, porto, postage, unit, per, pro, base, grundpreis, total, subtotal, sum,
    gesamt, summe, basket, cart, warenkorb, panier, kosik, carrito, saving, save, savings, discount, rabatt,
    from, ab, min, max, minimum, maximum, tax, deposit, pfand, related, similar, recommended, other,
    alternative, upsell, cross, also, filter, sort, range, history, alert, count, number, average, site,
    logo, nav, menu, alt, lowest, highest, monthly, monat, installment, rate, fee, excl, exkl, netto, net,
    wholesale, trade, add, button, icon, tooltip, currency, bundle, accessory, used, starting, ersparnis,
    mini, sidebar, widget, banner, estimated, previously, recently, viewed
    """
)
"""Words that make a label mean something else than the name alone."""

AROUND = word_list(
    """
    related, similar, recommended, recommendation, recommendations, upsell, crosssell, cross, shipping,
    minicart, basket, cart, teaser, carousel, sidebar, cookie, newsletter, banner, ad, ads, promo, advert,
    sponsored, footer, accessories, comment, comments, commentform, respond
    """
)
"""Words in the class names of the blocks around a value that make it somebody else's."""

UNITS = word_list(
    """
    mm, cm, m, km, inch, inches, ft, g, kg, mg, lb, lbs, oz, l, ml, cl, w, kw, kwh, wh, v, mah, hz, khz,
    mhz, ghz, gb, mb, tb, s, sec, second, seconds, min, minute, minutes, hour, hours, h, day, days, month,
    months, year, years, c, f, celsius, percent, pct, eur, usd, gbp, czk, chf, pln, euro, euros, dollar,
    dollars, gram, grams, kilogram, meter, metre, liter, litre, watt, volt, db, px, bar, nm, ms, stunden,
    tage, monate, jahre
    """
)
"""Unit names that a property carries in its name ("battery_hours") and the page's label does not."""

NAMING_DATA = word_list(
    """
    testid, test, test-id, qa, cy, field, name, attribute, label, type, hook, key, prop, property, role, ref
    """
)
"""data- attributes whose value names the element rather than holding its value."""

STRUCK_WORDS = word_list(
    """
    old, was, strike, striked, crossed, strikethrough
    """
)
"""Class names of what is no longer valid."""
