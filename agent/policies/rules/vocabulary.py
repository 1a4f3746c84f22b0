"""The general words that pages use for common things, in several languages. Data only; no word of any one site.

A concept joins the names that a schema may use with the places and labels where pages put such a value. What is not
listed here is matched by its own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Kind = Literal["text", "price", "currency", "availability", "rating", "count", "name", "date", "image", "url", "gtin"]


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
        ("name", "title", "product name", "product title", "headline", "heading", "item name", "page title", "titel",
         "nom", "titre", "nombre", "titulo", "nazev", "nome", "titolo", "naam", "bezeichnung", "produktname",
         "artikelname", "page heading", "nazwa", "tytul"),
        ("name", "headline", "title"),
        ("og:title", "twitter:title", "title", "dc.title", "citation_title"),
    ),
    Concept(
        "price",
        "price",
        ("price", "current price", "sale price", "price amount", "preis", "prix", "precio", "cena", "prezzo", "prijs",
         "preco", "pris", "our price", "unser preis", "verkaufspreis", "selling price", "cost", "price value", "hinta"),
        ("offers.price", "offers.priceSpecification.price", "price", "offers.lowPrice"),
        ("product:price:amount", "og:price:amount", "product:sale_price:amount"),
    ),
    Concept(
        "old_price",
        "price",
        ("old price", "list price", "original price", "regular price", "was price", "rrp", "msrp", "uvp",
         "previous price", "strike price", "before price", "alter preis", "statt", "ancien prix", "precio anterior",
         "puvodni cena", "price before", "was"),
        ("offers.highPrice",),
        ("product:original_price:amount",),
    ),
    Concept(
        "currency",
        "currency",
        ("currency", "price currency", "currency code", "waehrung", "wahrung", "devise", "moneda", "mena", "valuta",
         "monnaie", "preiswaehrung"),
        ("offers.priceCurrency", "offers.priceSpecification.priceCurrency", "priceCurrency"),
        ("product:price:currency", "og:price:currency"),
    ),
    Concept(
        "availability",
        "availability",
        ("availability", "in stock", "available", "stock", "stock status", "is available", "verfugbarkeit",
         "verfuegbarkeit", "lieferbar", "auf lager", "lagerbestand", "disponibilite", "disponible", "disponibilidad",
         "dostupnost", "skladem", "disponibilita", "beschikbaarheid", "lieferstatus", "delivery status", "vorratig",
         "dostepnosc", "en stock"),
        ("offers.availability", "availability"),
        ("product:availability", "og:availability"),
    ),
    Concept(
        "rating",
        "rating",
        ("rating", "rating value", "stars", "star rating", "average rating", "customer rating", "review rating",
         "score", "bewertung", "note", "evaluation", "calificacion", "valoracion", "hodnoceni", "valutazione",
         "beoordeling", "sterne", "ocena"),
        ("aggregateRating.ratingValue", "reviewRating.ratingValue", "ratingValue"),
        ("product:rating:value", "rating"),
    ),
    Concept(
        "review_count",
        "count",
        ("review count", "reviews", "number of reviews", "ratings count", "rating count", "number of ratings",
         "bewertungen", "anzahl bewertungen", "avis", "nombre d avis", "opiniones", "pocet hodnoceni", "recensioni",
         "reviews count", "num reviews", "recenze"),
        ("aggregateRating.reviewCount", "aggregateRating.ratingCount", "reviewCount", "ratingCount"),
    ),
    Concept(
        "sku",
        "text",
        ("sku", "article number", "item number", "part number", "product number", "product code", "item code",
         "artikelnummer", "artikel nr", "art nr", "bestellnummer", "reference", "ref", "referencia", "kod produktu",
         "codice articolo", "artikelnr", "catalog number", "model number", "product id", "item no", "article no",
         "katalogove cislo", "artikelcode"),
        ("sku", "productID", "mpn"),
        ("product:retailer_item_id", "product:retailer_part_no"),
    ),
    Concept(
        "gtin",
        "gtin",
        ("gtin", "ean", "upc", "barcode", "gtin13", "ean13", "isbn", "isbn13"),
        ("gtin13", "gtin", "gtin12", "gtin14", "gtin8", "isbn", "offers.gtin13"),
        ("product:ean", "product:upc", "product:isbn", "books:isbn", "book:isbn"),
    ),
    Concept(
        "brand",
        "text",
        ("brand", "brand name", "manufacturer", "make", "maker", "marke", "hersteller", "marque", "fabricant", "marca",
         "fabricante", "znacka", "vyrobce", "merk", "producent", "produttore"),
        ("brand.name", "brand", "manufacturer.name", "manufacturer"),
        ("product:brand", "og:brand"),
    ),
    Concept(
        "description",
        "text",
        ("description", "product description", "summary", "about", "beschreibung", "produktbeschreibung", "descripcion",
         "popis", "descrizione", "beschrijving", "abstract", "opis", "details"),
        ("description", "abstract"),
        ("og:description", "description", "twitter:description"),
    ),
    Concept(
        "author",
        "text",
        ("author", "author name", "authors", "written by", "by", "creator", "autor", "auteur", "autore", "verfasser",
         "byline", "posted by", "von", "par"),
        ("author.name", "author", "creator.name", "creator"),
        ("author", "article:author", "citation_author", "dc.creator", "book:author"),
    ),
    Concept(
        "date",
        "date",
        ("date", "published", "date published", "publication date", "published at", "published on", "publish date",
         "posted", "posted on", "posted at", "datum", "veroffentlicht", "erscheinungsdatum", "date de publication",
         "fecha", "fecha de publicacion", "vydano", "data", "release date", "released"),
        ("datePublished", "releaseDate", "dateCreated", "uploadDate", "startDate"),
        ("article:published_time", "date", "citation_publication_date", "dc.date", "pubdate"),
    ),
    Concept(
        "modified",
        "date",
        ("date modified", "modified", "last modified", "updated", "last updated", "updated at", "aktualisiert",
         "geandert", "mis a jour", "actualizado", "aktualizovano"),
        ("dateModified",),
        ("article:modified_time", "og:updated_time", "last-modified"),
    ),
    Concept(
        "image",
        "image",
        ("image", "image url", "picture", "photo", "main image", "bild", "imagen", "obrazek", "immagine", "thumbnail",
         "product image", "afbeelding", "foto", "img"),
        ("image.url", "image.contentUrl", "image", "thumbnailUrl"),
        ("og:image:secure_url", "og:image", "twitter:image"),
    ),
    Concept(
        "url",
        "url",
        ("url", "link", "product url", "page url", "permalink", "href", "web address"),
        ("url", "mainEntityOfPage.@id", "@id"),
        ("og:url",),
    ),
    Concept(
        "category",
        "text",
        ("category", "section", "department", "kategorie", "categorie", "categoria", "rubrik", "genre", "topic",
         "product category"),
        ("category.name", "category", "articleSection", "genre"),
        ("article:section", "product:category"),
    ),
    Concept("email", "text", ("email", "e mail", "email address", "mail", "courriel"), ("email", "contactPoint.email")),
    Concept(
        "phone",
        "text",
        ("phone", "telephone", "phone number", "tel", "telefon", "telefono", "mobile", "telefonnummer", "rufnummer"),
        ("telephone", "contactPoint.telephone"),
    ),
    Concept(
        "weight",
        "text",
        ("weight", "gewicht", "poids", "peso", "hmotnost", "vaha", "net weight", "item weight", "waga"),
        ("weight.value", "weight"),
    ),
    Concept("color", "text", ("color", "colour", "farbe", "couleur", "barva", "colore", "kleur", "kolor"), ("color",)),
    Concept("size", "text", ("size", "groesse", "grosse", "taille", "talla", "velikost", "taglia", "maat"), ("size",)),
    Concept(
        "material", "text", ("material", "materials", "matiere", "materiale", "materiaal", "werkstoff"), ("material",)
    ),
    Concept(
        "language", "text", ("language", "sprache", "langue", "idioma", "jazyk", "lingua", "taal"), ("inLanguage",)
    ),
    Concept(
        "publisher", "text", ("publisher", "verlag", "editeur", "editorial", "nakladatel", "editore", "uitgever"),
        ("publisher.name", "publisher"),
    ),
    Concept("pages", "count", ("page count", "number of pages", "pages", "seiten", "seitenzahl", "nombre de pages"),
            ("numberOfPages",)),
    Concept(
        "location", "text",
        ("location", "place", "venue", "ort", "standort", "lieu", "lugar", "misto", "luogo", "job location"),
        ("location.name", "location.address.addressLocality", "jobLocation.address.addressLocality", "location"),
    ),
    Concept(
        "company", "text",
        ("company", "company name", "employer", "organization", "organisation", "firma", "unternehmen", "entreprise",
         "empresa", "societe", "arbeitgeber", "hiring organization"),
        ("hiringOrganization.name", "worksFor.name", "organizer.name"),
    ),
)

NEUTRAL = (
    "product", "item", "page", "article", "main", "current", "value", "text", "label", "field", "info", "detail",
    "details", "content", "box", "wrapper", "container", "block", "the", "a", "an", "of", "in", "this", "its", "is",
    "our", "your", "entry", "record", "data", "amount", "final", "now", "span", "div", "row", "col", "block", "big",
    "large", "incl", "including", "vat", "mwst", "inkl", "tva", "iva", "dph", "js", "der", "die", "das", "le", "la",
    "el", "produkt", "artikel", "produit", "producto", "element", "display", "section", "single", "component", "test",
)
"""Words in a label or a class name that do not change what is named."""

QUALIFIERS = (
    "old", "was", "before", "previous", "list", "rrp", "msrp", "uvp", "regular", "original", "strike", "striked",
    "crossed", "compare", "shipping", "delivery", "versand", "porto", "postage", "unit", "per", "pro", "base",
    "grundpreis", "total", "subtotal", "sum", "gesamt", "summe", "basket", "cart", "warenkorb", "panier", "kosik",
    "carrito", "saving", "save", "savings", "discount", "rabatt", "from", "ab", "min", "max", "minimum", "maximum",
    "tax", "deposit", "pfand", "related", "similar", "recommended", "other", "alternative", "upsell", "cross", "also",
    "filter", "sort", "range", "history", "alert", "count", "number", "average", "site", "logo", "nav", "menu", "alt",
    "lowest", "highest", "monthly", "monat", "installment", "rate", "fee", "excl", "exkl", "netto", "net", "wholesale",
    "trade", "add", "button", "icon", "tooltip", "currency", "bundle", "accessory", "used", "starting", "ersparnis",
    "mini", "sidebar", "widget", "banner", "estimated", "previously", "recently", "viewed",
)
"""Words that make a label mean something else than the name alone."""

AROUND = (
    "related", "similar", "recommended", "recommendation", "recommendations", "upsell", "crosssell", "cross", "shipping",
    "minicart", "basket", "cart", "teaser", "carousel", "sidebar", "cookie", "newsletter", "banner", "ad", "ads", "promo",
    "advert", "sponsored", "footer", "accessories",
)
"""Words in the class names of the blocks around a value that make it somebody else's."""

UNITS = (
    "mm", "cm", "m", "km", "inch", "inches", "ft", "g", "kg", "mg", "lb", "lbs", "oz", "l", "ml", "cl", "w", "kw", "kwh",
    "wh", "v", "mah", "hz", "khz", "mhz", "ghz", "gb", "mb", "tb", "s", "sec", "second", "seconds", "min", "minute",
    "minutes", "hour", "hours", "h", "day", "days", "month", "months", "year", "years", "c", "f", "celsius", "percent",
    "pct", "eur", "usd", "gbp", "czk", "chf", "pln", "euro", "euros", "dollar", "dollars", "gram", "grams", "kilogram",
    "meter", "metre", "liter", "litre", "watt", "volt", "db", "px", "bar", "nm", "ms", "stunden", "tage", "monate", "jahre",
)
"""Unit names that a property carries in its name ("battery_hours") and the page's label does not."""

IN_STOCK = (
    "in stock", "available", "instock", "limitedavailability", "onlineonly", "instoreonly", "in store only", "ready to ship",
    "ships in", "ships within", "ships today", "ships tomorrow", "dispatched", "usually ships", "usually dispatched",
    "delivery in", "delivered by", "left in stock", "only left", "few left", "last items",
    "low stock", "while stocks last", "auf lager", "lieferbar", "sofort lieferbar", "verfugbar", "vorratig", "lagernd",
    "versandfertig", "am lager", "nur noch", "wenige verfugbar", "en stock", "disponible", "plus que", "expedie sous",
    "skladem", "na sklade", "dostupne", "dostupny", "k odeslani", "disponibile", "disponibili", "op voorraad",
    "leverbaar", "na stanie", "dostepny", "dostepne", "w magazynie", "em estoque", "disponivel", "hay existencias", "quedan",
    "pa lager", "i lager", "auf vorrat", "sur stock", "ihned k odberu", "posledni kus", "posledni kusy",
)
OUT_OF_STOCK = (
    "out of stock", "outofstock", "sold out", "soldout", "unavailable", "not available", "no longer available",
    "discontinued", "currently unavailable", "temporarily out", "not in stock", "0 in stock", "none left", "back in stock",
    "notify me", "backorder", "back order", "ausverkauft", "nicht lieferbar", "nicht verfugbar", "nicht auf lager",
    "nicht vorratig", "vergriffen", "derzeit nicht", "zur zeit nicht", "momentan nicht", "rupture de stock", "epuise",
    "indisponible", "non disponible", "n est plus disponible", "pas en stock", "agotado", "no disponible", "sin existencias", "vyprodano",
    "neni skladem", "nedostupne", "nedostupny", "esaurito", "non disponibile", "uitverkocht", "niet op voorraad",
    "niet leverbaar", "wyprzedane", "niedostepny", "niedostepne", "esgotado", "indisponivel", "slutsald", "udsolgt",
    "ikke pa lager", "ej i lager",
)
PREORDER = ("pre order", "preorder", "presale", "vorbestellen", "vorbestellbar", "precommande", "predobjednavka", "coming soon")

TRUE_WORDS = ("yes", "true", "ja", "oui", "si", "sí", "ano", "tak", "sim", "on", "included", "✓", "✔", "☑", "✅", "y", "wahr", "vrai")
FALSE_WORDS = ("no", "false", "nein", "non", "ne", "nie", "nao", "não", "off", "none", "not included", "✗", "✘", "☐", "❌", "×", "n", "falsch", "faux")

OUT_OF = ("out of", "of", "von", "sur", "de", "z", "su", "van", "/", "av", "do")
"""Between a rating and its best value."""

STARS = ("star", "stars", "stern", "sterne", "sternen", "etoile", "etoiles", "estrella", "estrellas", "hvezdicka", "hvezdicek", "stelle", "sterren")

NEXT_WORDS = (
    "next", "next page", "older", "older posts", "weiter", "nachste", "nachste seite", "vor", "suivant", "page suivante",
    "suivante", "siguiente", "pagina siguiente", "dalsi", "nasledujici", "dalsi strana", "avanti", "successivo", "successiva", "pagina successiva",
    "volgende", "volgende pagina", "nastepna", "dalej", "proxima", "proximo", "nasta", "naste", "neste", "seuraava", "forward", "go to next page", "vorwarts",
)
NEXT_SIGNS = ("›", "»", "→", ">", ">>", "⟩", "❯", "▶", "⇨", "➔", "➡")
MORE_WORDS = (
    "load more", "show more", "more results", "view more", "see more", "mehr laden", "mehr anzeigen", "weitere anzeigen", "weitere laden",
    "charger plus", "afficher plus", "voir plus", "cargar mas", "ver mas", "mostrar mas", "nacist dalsi", "zobrazit dalsi", "carica altri",
    "mostra altro", "meer laden", "toon meer", "wczytaj wiecej", "pokaz wiecej", "carregar mais", "load more results", "show more results", "more items", "weitere ergebnisse",
)

NOT_ENTITIES = (
    "BreadcrumbList", "Organization", "WebSite", "WebPage", "ItemPage", "CollectionPage", "SearchAction", "ImageObject",
    "SiteNavigationElement", "WPHeader", "WPFooter", "OnlineStore", "Store", "LocalBusiness", "Corporation", "ListItem",
    "SearchResultsPage", "ContactPoint", "PostalAddress", "VideoObject", "ReadAction", "FAQPage", "Question", "Person", "Review", "Offer", "AggregateRating",
)
"""Types of schema.org that describe the site or a part of the page rather than what the page is about."""
