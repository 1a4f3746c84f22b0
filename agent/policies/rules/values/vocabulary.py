"""The general words that pages use for common things, in several languages. Data only; no word of any one site.

A concept joins the names that a schema may use with the places and labels where pages put such a value. What is not
listed here is matched by its own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "price", "currency", "availability", "rating", "count", "name", "date", "image", "url", "gtin"]


def _words(text: str) -> tuple[str, ...]:
    """The entries of a comma-separated list: easier to read and to extend than quoted tuples."""
    return tuple(dict.fromkeys(" ".join(part.split()) for part in text.split(",")))


@dataclass(frozen=True, slots=True)
class Concept:
    """One common thing that pages state."""

    name: str
    kind: Kind  # how its value is read
    names: tuple[str, ...]  # what schemas and labels call it
    paths: tuple[str, ...] = ()  # where schema.org puts it, best first
    metas: tuple[str, ...] = ()  # meta tags, best first


CONCEPTS: tuple[Concept, ...] = (
    Concept(
        "name",
        "name",
        _words(
            """
            name, title, product name, product title, headline, heading, item name, page title, titel, nom,
            titre, nombre, titulo, nazev, nome, titolo, naam, bezeichnung, produktname, artikelname, page
            heading, nazwa, tytul
            """
        ),
        _words("name, headline, title"),
        _words("og:title, twitter:title, title, dc.title, citation_title"),
    ),
    Concept(
        "price",
        "price",
        _words(
            """
            price, current price, sale price, price amount, preis, prix, precio, cena, prezzo, prijs, preco,
            pris, our price, unser preis, verkaufspreis, selling price, cost, price value, hinta, price per
            piece, price each, stuckpreis, preis pro stuck, prix unitaire, cena za kus
            """
        ),
        _words("offers.price, offers.priceSpecification.price, price, offers.lowPrice"),
        _words("product:price:amount, og:price:amount, product:sale_price:amount"),
    ),
    Concept(
        "old_price",
        "price",
        _words(
            """
            old price, list price, original price, regular price, was price, rrp, msrp, uvp, previous price,
            strike price, before price, alter preis, statt, ancien prix, precio anterior, puvodni cena,
            price before, was
            """
        ),
        _words("offers.highPrice"),
        _words("product:original_price:amount"),
    ),
    Concept(
        "currency",
        "currency",
        _words(
            """
            currency, price currency, currency code, waehrung, wahrung, devise, moneda, mena, valuta,
            monnaie, preiswaehrung
            """
        ),
        _words("offers.priceCurrency, offers.priceSpecification.priceCurrency, priceCurrency"),
        _words("product:price:currency, og:price:currency"),
    ),
    Concept(
        "availability",
        "availability",
        _words(
            """
            availability, in stock, available, stock, stock status, is available, verfugbarkeit,
            verfuegbarkeit, lieferbar, auf lager, lagerbestand, disponibilite, disponible, disponibilidad,
            dostupnost, skladem, disponibilita, beschikbaarheid, lieferstatus, delivery status, vorratig,
            dostepnosc, en stock
            """
        ),
        _words("offers.availability, availability"),
        _words("product:availability, og:availability"),
    ),
    Concept(
        "rating",
        "rating",
        _words(
            """
            rating, rating value, rated, rated by customers, stars, star rating, average rating, customer
            rating, review rating, score, bewertung, note, evaluation, calificacion, valoracion, hodnoceni,
            valutazione, beoordeling, sterne, ocena
            """
        ),
        _words("aggregateRating.ratingValue, reviewRating.ratingValue, ratingValue"),
        _words("product:rating:value, rating"),
    ),
    Concept(
        "review_count",
        "count",
        _words(
            """
            review count, reviews, number of reviews, ratings count, rating count, number of ratings,
            bewertungen, anzahl bewertungen, avis, nombre d avis, opiniones, pocet hodnoceni, recensioni,
            reviews count, num reviews, recenze
            """
        ),
        _words("aggregateRating.reviewCount, aggregateRating.ratingCount, reviewCount, ratingCount"),
    ),
    Concept(
        "sku",
        "text",
        _words(
            """
            sku, article number, item number, part number, product number, product code, item code,
            artikelnummer, artikel nr, art nr, bestellnummer, reference, ref, referencia, kod produktu,
            codice articolo, artikelnr, catalog number, model number, product id, item no, article no,
            katalogove cislo, artikelcode, catalogue number, model no, serial number, code
            """
        ),
        _words("sku, productID, mpn"),
        _words("product:retailer_item_id, product:retailer_part_no"),
    ),
    Concept(
        "gtin",
        "gtin",
        _words("gtin, ean, upc, barcode, gtin13, ean13, isbn, isbn13"),
        _words("gtin13, gtin, gtin12, gtin14, gtin8, isbn, offers.gtin13"),
        _words("product:ean, product:upc, product:isbn, books:isbn, book:isbn"),
    ),
    Concept(
        "brand",
        "text",
        _words(
            """
            brand, brand name, manufacturer, make, maker, marke, hersteller, marque, fabricant, marca,
            fabricante, znacka, vyrobce, merk, producent, produttore
            """
        ),
        _words("brand.name, brand, manufacturer.name, manufacturer"),
        _words("product:brand, og:brand"),
    ),
    Concept(
        "description",
        "text",
        _words(
            """
            description, product description, summary, about, beschreibung, produktbeschreibung,
            descripcion, popis, descrizione, beschrijving, abstract, opis, details
            """
        ),
        _words("description, abstract"),
        _words("og:description, description, twitter:description"),
    ),
    Concept(
        "author",
        "text",
        _words(
            """
            author, author name, authors, written by, by, creator, autor, auteur, autore, verfasser, byline,
            posted by, von, par
            """
        ),
        _words("author.name, author, creator.name, creator"),
        _words("author, article:author, citation_author, dc.creator, book:author"),
    ),
    Concept(
        "date",
        "date",
        _words(
            """
            date, published, date published, publication date, published at, published on, publish date,
            posted, posted on, posted at, datum, veroffentlicht, erscheinungsdatum, date de publication,
            fecha, fecha de publicacion, vydano, data, release date, released
            """
        ),
        _words("datePublished, releaseDate, dateCreated, uploadDate, startDate"),
        _words("article:published_time, date, citation_publication_date, dc.date, pubdate"),
    ),
    Concept(
        "modified",
        "date",
        _words(
            """
            date modified, modified, last modified, updated, last updated, updated at, aktualisiert,
            geandert, mis a jour, actualizado, aktualizovano
            """
        ),
        _words("dateModified"),
        _words("article:modified_time, og:updated_time, last-modified"),
    ),
    Concept(
        "image",
        "image",
        _words(
            """
            image, image url, picture, photo, main image, bild, imagen, obrazek, immagine, thumbnail,
            product image, afbeelding, foto, img
            """
        ),
        _words("image.url, image.contentUrl, image, thumbnailUrl"),
        _words("og:image:secure_url, og:image, twitter:image"),
    ),
    Concept(
        "url",
        "url",
        _words("url, link, product url, page url, permalink, href, web address"),
        _words("url, mainEntityOfPage.@id, @id"),
        _words("og:url"),
    ),
    Concept(
        "category",
        "text",
        _words(
            """
            category, section, department, kategorie, categorie, categoria, rubrik, genre, topic, product
            category
            """
        ),
        _words("category.name, category, articleSection, genre"),
        _words("article:section, product:category"),
    ),
    Concept(
        "email", "text", _words("email, e mail, email address, mail, courriel"), _words("email, contactPoint.email")
    ),
    Concept(
        "phone",
        "text",
        _words("phone, telephone, phone number, tel, telefon, telefono, mobile, telefonnummer, rufnummer"),
        _words("telephone, contactPoint.telephone"),
    ),
    Concept(
        "weight",
        "text",
        _words("weight, gewicht, poids, peso, hmotnost, vaha, net weight, item weight, waga"),
        _words("weight.value, weight"),
    ),
    Concept("color", "text", _words("color, colour, farbe, couleur, barva, colore, kleur, kolor"), _words("color")),
    Concept("size", "text", _words("size, groesse, grosse, taille, talla, velikost, taglia, maat"), _words("size")),
    Concept(
        "material", "text", _words("material, materials, matiere, materiale, materiaal, werkstoff"), _words("material")
    ),
    Concept("language", "text", _words("language, sprache, langue, idioma, jazyk, lingua, taal"), _words("inLanguage")),
    Concept(
        "publisher",
        "text",
        _words("publisher, verlag, editeur, editorial, nakladatel, editore, uitgever"),
        _words("publisher.name, publisher"),
    ),
    Concept(
        "pages",
        "count",
        _words("page count, number of pages, pages, seiten, seitenzahl, nombre de pages"),
        _words("numberOfPages"),
    ),
    Concept(
        "location",
        "text",
        _words("location, place, venue, ort, standort, lieu, lugar, misto, luogo, job location"),
        _words("location.name, location.address.addressLocality, jobLocation.address.addressLocality, location"),
    ),
    Concept(
        "company",
        "text",
        _words(
            """
            company, company name, employer, organization, organisation, firma, unternehmen, entreprise,
            empresa, societe, arbeitgeber, hiring organization
            """
        ),
        _words("hiringOrganization.name, worksFor.name, organizer.name"),
    ),
)

NEUTRAL = _words(
    """
    product, item, page, article, main, current, value, text, label, field, info, detail, details, content,
    box, wrapper, container, block, the, a, an, of, in, this, its, is, our, your, entry, record, data,
    amount, final, now, span, div, row, col, big, large, incl, including, vat, mwst, inkl, tva, iva, dph,
    js, der, die, das, le, la, el, produkt, artikel, produit, producto, element, display, section, single,
    component, test
    """
)
"""Words in a label or a class name that do not change what is named."""

QUALIFIERS = _words(
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

AROUND = _words(
    """
    related, similar, recommended, recommendation, recommendations, upsell, crosssell, cross, shipping,
    minicart, basket, cart, teaser, carousel, sidebar, cookie, newsletter, banner, ad, ads, promo, advert,
    sponsored, footer, accessories
    """
)
"""Words in the class names of the blocks around a value that make it somebody else's."""

UNITS = _words(
    """
    mm, cm, m, km, inch, inches, ft, g, kg, mg, lb, lbs, oz, l, ml, cl, w, kw, kwh, wh, v, mah, hz, khz,
    mhz, ghz, gb, mb, tb, s, sec, second, seconds, min, minute, minutes, hour, hours, h, day, days, month,
    months, year, years, c, f, celsius, percent, pct, eur, usd, gbp, czk, chf, pln, euro, euros, dollar,
    dollars, gram, grams, kilogram, meter, metre, liter, litre, watt, volt, db, px, bar, nm, ms, stunden,
    tage, monate, jahre
    """
)
"""Unit names that a property carries in its name ("battery_hours") and the page's label does not."""

IN_STOCK = _words(
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
OUT_OF_STOCK = _words(
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
PREORDER = _words(
    """
    pre order, preorder, presale, vorbestellen, vorbestellbar, precommande, predobjednavka, coming soon
    """
)

TRUE_WORDS = _words("yes, true, ja, oui, si, sí, ano, tak, sim, on, included, ✓, ✔, ☑, ✅, y, wahr, vrai")
FALSE_WORDS = _words(
    "no, false, nein, non, ne, nie, nao, não, off, none, not included, ✗, ✘, ☐, ❌, ×, n, falsch, faux"
)

LOOSE_SYNONYMS = _words("summary, abstract, about, details, section, topic, department, genre, note, code")
"""Names of texts that one page may use beside another name of the same concept, for something else."""

NO_VALUE = _words(
    """
    n/a, na, not available yet, tbd, tba, unknown, loading, please select, please choose, select, choose, select one,
    choose one, select an option, choose an option, not set, none selected, no selection, untitled, bitte wahlen,
    keine angabe, k.a., null, undefined, nan, not specified, empty, lorem ipsum
    """
)
"""What stands where a value is missing."""

OUT_OF = _words("out of, of, von, sur, de, z, su, van, /, av, do")
"""Between a rating and its best value."""

FORMERLY = _words(
    """
    was, before, rrp, msrp, uvp, statt, instead of, previously, formerly, old price, list price, regular
    price, recommended price, avant, au lieu de, antes, en lugar de, pvp, puvodne, puvodni cena, prima,
    invece di, voorheen, bisher, ehemals, alter preis, listenpreis, compare at, save, ersparnis, you save,
    sie sparen
    """
)
"""Before an amount that is no longer asked, or was never."""

STARS = _words(
    """
    star, stars, stern, sterne, sternen, etoile, etoiles, estrella, estrellas, hvezdicka, hvezdicek, stelle,
    sterren
    """
)

NEXT_WORDS = _words(
    """
    next, next page, older, older posts, weiter, nachste, nachste seite, vor, suivant, page suivante,
    suivante, siguiente, pagina siguiente, dalsi, nasledujici, dalsi strana, avanti, successivo, successiva,
    pagina successiva, volgende, volgende pagina, nastepna, dalej, proxima, proximo, nasta, naste, neste,
    seuraava, forward, go to next page, vorwarts
    """
)
NEXT_SIGNS = _words("›, », →, >, >>, ⟩, ❯, ▶, ⇨, ➔, ➡")
MORE_WORDS = _words(
    """
    load more, show more, more results, view more, see more, mehr laden, mehr anzeigen, weitere anzeigen,
    weitere laden, charger plus, afficher plus, voir plus, cargar mas, ver mas, mostrar mas, nacist dalsi,
    zobrazit dalsi, carica altri, mostra altro, meer laden, toon meer, wczytaj wiecej, pokaz wiecej,
    carregar mais, load more results, show more results, more items, weitere ergebnisse
    """
)
MORE_LINKS = _words("more, mehr, plus, mas, altro, meer, wiecej, mais, more entries, older entries")
"""Words of a link to a page that shows more of a list. A button of that name mostly opens a menu."""

NOT_ENTITIES = _words(
    """
    BreadcrumbList, Organization, WebSite, WebPage, ItemPage, CollectionPage, SearchAction, ImageObject,
    SiteNavigationElement, WPHeader, WPFooter, OnlineStore, Store, LocalBusiness, Corporation, ListItem,
    SearchResultsPage, ContactPoint, PostalAddress, VideoObject, ReadAction, FAQPage, Question, Person,
    Review, Offer, AggregateRating
    """
)
"""Types of schema.org that describe the site or a part of the page rather than what the page is about."""

FORM_NAMES: tuple[tuple[str, ...], ...] = (
    _words("first name, given name, forename, fname, firstname, vorname, prenom, nombre, jmeno, voornaam"),
    _words(
        """
        last name, family name, surname, lname, lastname, nachname, familienname, nom de famille, apellido,
        apellidos, prijmeni, achternaam
        """
    ),
    _words(
        """
        name, full name, your name, contact name, contact person, customer name, nom, jmeno a prijmeni,
        nombre completo, ansprechpartner, fullname
        """
    ),
    _words(
        """
        email, e mail, email address, mail, e mail adresse, courriel, adresse email, correo, correo
        electronico, mail address
        """
    ),
    _words(
        """
        phone, telephone, phone number, tel, telephone number, mobile, mobile number, telefon,
        telefonnummer, telefono, rufnummer, handy, cell phone
        """
    ),
    _words(
        """
        street, address, street address, address line 1, strasse, adresse, rue, calle, ulice, direccion,
        address1, strasse und hausnummer
        """
    ),
    _words("house number, hausnummer, street number, numero, number house"),
    _words("zip, zip code, postal code, postcode, plz, postleitzahl, code postal, codigo postal, psc, cap, zipcode"),
    _words("city, town, ort, stadt, ville, ciudad, mesto, citta, place, locality, stad, plaats"),
    _words("state, province, region, bundesland, county, provincia, kraj"),
    _words("country, land, pays, pais, zeme, paese, country region"),
    _words(
        """
        company, organization, organisation, company name, firma, unternehmen, entreprise, empresa, societe,
        firm, business, business name
        """
    ),
    _words(
        """
        message, comment, comments, note, notes, remark, remarks, nachricht, bemerkung, bemerkungen,
        kommentar, commentaire, mensaje, zprava, poznamka, your message, enquiry, inquiry, question,
        anmerkung
        """
    ),
    _words("subject, betreff, sujet, asunto, predmet, topic"),
    _words(
        """
        quantity, qty, amount, number of items, menge, anzahl, stuckzahl, quantite, cantidad, mnozstvi,
        pieces, units, how many
        """
    ),
    _words(
        """
        birthday, date of birth, birth date, dob, birthdate, geburtsdatum, date de naissance, fecha de
        nacimiento, datum narozeni
        """
    ),
    _words("date, day, datum, preferred date, desired date, wunschtermin, fecha"),
    _words(
        """
        delivery date, needed by, required by, deliver by, delivery by, liefertermin, lieferdatum, need by,
        due date, deadline
        """
    ),
    _words("time, uhrzeit, heure, hora, cas"),
    _words("password, passwort, kennwort, mot de passe, contrasena, heslo, pass, pwd, passwd"),
    _words(
        """
        username, user, user name, login, login name, benutzername, benutzer, nom d utilisateur, usuario,
        uzivatelske jmeno, account
        """
    ),
    _words("salutation, title, anrede, civilite, tratamiento, prefix"),
    _words("gender, sex, geschlecht, sexe, genero, pohlavi"),
    _words(
        """
        terms, accept terms, terms and conditions, agree, agreement, consent, privacy, privacy policy, agb,
        datenschutz, i agree, accept, conditions, gdpr, dsgvo, einwilligung, podminky, tos, terms of
        service, accept conditions
        """
    ),
    _words("newsletter, subscribe, updates, marketing, mailing list, marketing emails"),
    _words("product, article, item, produkt, artikel, produit, producto, model"),
    _words("budget, price, max price, price range"),
    _words("website, url, homepage, web, web site, webseite"),
    _words("vat, vat id, vat number, ust id, ustid, umsatzsteuer id, tax id, tax number, dic, tva"),
    _words("file, attachment, upload, document, datei, anhang, fichier, priloha, attach"),
    _words("search, query, q, suche, suchbegriff, recherche, buscar, hledat, keyword, keywords, search term, find"),
    _words("code, verification code, one time code, otp, totp, token, security code"),
)
"""Names of form fields that mean the same."""

AUTOCOMPLETE = {
    "name": "full name",
    "given-name": "first name",
    "family-name": "last name",
    "email": "email",
    "tel": "phone",
    "tel-national": "phone",
    "street-address": "street",
    "address-line1": "street",
    "address-level2": "city",
    "address-level1": "state",
    "postal-code": "zip",
    "country": "country",
    "country-name": "country",
    "organization": "company",
    "bday": "birthday",
    "username": "username",
    "current-password": "password",
    "new-password": "password",
    "one-time-code": "code",
    "url": "website",
    "honorific-prefix": "salutation",
    "sex": "gender",
}
"""What the tokens of the autocomplete attribute call a field."""

TYPE_NAMES = {
    "email": "email",
    "tel": "phone",
    "password": "password",
    "url": "website",
    "search": "search",
    "file": "file",
}
"""What an input's type says about it when nothing else does."""

FORM_FILLER = _words(
    """
    your, please, enter, the, a, an, of, optional, required, choose, select, pick, type, in, here, ihre,
    ihr, bitte, eingeben, wahlen, votre, su, tu, field, input, form, txt, for, you, we, pflichtfeld,
    povinne, my, to, i, and, preferred, by, on, at, be, how, may, what, when, where, which, can, do, should,
    want, like, would
    """
)
CONFIRM_WORDS = _words(
    """
    confirm, confirmation, repeat, retype, again, reenter, wiederholen, bestatigen, verify, confirmer,
    repetir, zopakovat, repetition
    """
)

BUTTON_NEXT = _words(
    """
    next, continue, weiter, proceed, suivant, continuer, siguiente, continuar, dalsi, pokracovat, avanti,
    continua, volgende, next step, go on, nachster schritt, forward, fortfahren, step 2, step 3, review,
    uberprufen, nastepny, dalej
    """
)
BUTTON_SEND = _words(
    """
    submit, send, request, order, buy, book, confirm, finish, done, save, register, sign up, sign in, log
    in, login, apply, get quote, search, absenden, senden, abschicken, anfragen, bestellen, kaufen, buchen,
    bestatigen, anmelden, registrieren, speichern, einloggen, kostenpflichtig, envoyer, commander, valider,
    confirmer, reserver, enviar, confirmar, comprar, reservar, odeslat, objednat, potvrdit, invia, conferma,
    verzenden, place order, pay, create, subscribe, join, complete, place, ask, contact, post, publish,
    reply, suchen, go
    """
)
BUTTON_AVOID = _words(
    """
    back, previous, zuruck, cancel, abbrechen, reset, clear, zurucksetzen, retour, annuler, cancelar, zpet,
    zrusit, add, remove, delete, show password, forgot, help, close, edit, change, loschen, save draft,
    browse, choose file, preview, print, indietro, annulla, upload
    """
)
THANKS = _words(
    """
    thank you, thanks, received, success, successfully, confirmed, confirmation, submitted, sent, danke,
    vielen dank, erfolgreich, eingegangen, gesendet, bestatigung, merci, gracias, enviado, recu, envoye,
    dekujeme, odeslano, prijato, grazie, bedankt, we will contact you, reference number, order number,
    complete, completed, we have your, on its way
    """
)

DISMISS = (
    _words(
        """
        reject all, reject, decline, decline all, refuse, only necessary, necessary only, only essential,
        essential only, use necessary cookies only, nur notwendige, nur erforderliche, nur essenzielle,
        notwendige cookies, ablehnen, alle ablehnen, tout refuser, refuser, continuer sans accepter,
        rechazar, rechazar todo, odmitnout, odmitnout vse, rifiuta, weigeren, deny, disagree, no thanks,
        nein danke, non merci, no gracias, ne dekuji, not now, maybe later, skip, later, spater
        """
    ),
    _words("close, schliessen, fermer, cerrar, zavrit, chiudi, sluiten, dismiss, x, ×, ✕, ✖"),
    _words(
        """
        accept, accept all, agree, i agree, ok, okay, got it, allow all, allow, akzeptieren, alle
        akzeptieren, zustimmen, einverstanden, accepter, tout accepter, j accepte, aceptar, aceptar todo,
        prijmout, prijmout vse, souhlasim, accetta, accepteren, understood, verstanden, continue
        """
    ),
)
"""What closes a banner, gentlest first: refuse, close, accept."""

LOOP_FILLER = _words(
    """
    all, every, each, the, of, in, on, a, an, link, links, item, items, entry, entries, list, page, pages, one,
    for, to, and, from, with, row, rows, alle, jede, jeder, der, die, das
    """
)
"""Words of a loop's `select` that name nothing."""

COMMON_WORDS = _words(
    """
    wrong, correct, incorrect, check, again, try, something, went, needed, missing, given,
    the, a, an, of, to, is, are, was, be, not, no, in, on, at, for, and, or, this, that, it, its, must, please,
    error, invalid, field, value, form, your, you, we, with, has, have, been, can, cannot, could, if, when, site,
    page, says
    """
)
"""Words that two messages may share without meaning the same."""

CRITERION_FILLER = _words(
    """
    page, shows, show, showing, displayed, display, visible, there, appears, appear, message, saying, text,
    confirmation, contains, number, user, sees, see, form, sent, shown
    """
)
"""Words of a complete criterion that only say that something is to be seen."""

META_ABOUT_THE_PAGE = _words(
    """
    viewport, generator, robots, theme-color, referrer, og:type, og:site_name, og:locale, x-ua-compatible,
    content-type, format-detection, apple-mobile-web-app-title, application-name, csrf-token, googlebot,
    content-security-policy, refresh, color-scheme, og:image:width, og:image:height, og:image:alt
    """
)
"""Meta tags that state nothing about what the page is about."""

NAMING_DATA = _words(
    """
    testid, test, test-id, qa, cy, field, name, attribute, label, type, hook, key, prop, property, role, ref
    """
)
"""data- attributes whose value names the element rather than holding its value."""

STRUCK_WORDS = _words(
    """
    old, was, strike, striked, crossed, strikethrough
    """
)
"""Class names of what is no longer valid."""
