"""Concepts: the names of common things in schemas, labels, schema.org and meta tags.

A concept joins the names that schemas and labels use with the properties of schema.org. What is not
listed here is matched by its own words.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from shoal.agent.read.word_lists.word_list import word_list

Kind = Literal["text", "price", "currency", "availability", "rating", "count", "name", "date", "image", "url", "gtin"]


@dataclass(frozen=True, slots=True)
class Concept:
    """One common thing that pages state."""

    name: str
    kind: Kind  # how its value is read
    names: tuple[str, ...]  # what schemas and labels call it
    props: tuple[str, ...] = ()  # properties of schema.org that it is, best first


CONCEPTS: tuple[Concept, ...] = (
    Concept(
        "name",
        "name",
        word_list(
            """
            name, title, product name, product title, headline, heading, item name, page title, titel, nom,
            titre, nombre, titulo, nazev, nome, titolo, naam, bezeichnung, produktname, artikelname, page
            heading, nazwa, tytul
            """
        ),
        word_list("name, headline, title"),
    ),
    Concept(
        "price",
        "price",
        word_list(
            """
            price, current price, sale price, price amount, preis, prix, precio, cena, prezzo, prijs, preco,
            pris, our price, unser preis, verkaufspreis, selling price, cost, price value, hinta, price per
            piece, price each, stuckpreis, preis pro stuck, prix unitaire, cena za kus
            """
        ),
        word_list("price, lowPrice"),
    ),
    Concept(
        "old_price",
        "price",
        word_list(
            """
            old price, list price, original price, regular price, was price, rrp, msrp, uvp, previous price,
            strike price, before price, alter preis, statt, ancien prix, precio anterior, puvodni cena,
            price before, was
            """
        ),
        word_list("highPrice"),
    ),
    Concept(
        "currency",
        "currency",
        word_list(
            """
            currency, price currency, currency code, waehrung, wahrung, devise, moneda, mena, valuta,
            monnaie, preiswaehrung
            """
        ),
        word_list("priceCurrency"),
    ),
    Concept(
        "availability",
        "availability",
        word_list(
            """
            availability, in stock, available, stock, stock status, is available, verfugbarkeit,
            verfuegbarkeit, lieferbar, auf lager, lagerbestand, disponibilite, disponible, disponibilidad,
            dostupnost, skladem, disponibilita, beschikbaarheid, lieferstatus, delivery status, vorratig,
            dostepnosc, en stock
            """
        ),
        word_list("availability"),
    ),
    Concept(
        "rating",
        "rating",
        word_list(
            """
            rating, rating value, rated, rated by customers, stars, star rating, average rating, customer
            rating, review rating, score, bewertung, note, evaluation, calificacion, valoracion, hodnoceni,
            valutazione, beoordeling, sterne, ocena
            """
        ),
        word_list("ratingValue"),
    ),
    Concept(
        "review_count",
        "count",
        word_list(
            """
            review count, reviews, number of reviews, ratings count, rating count, number of ratings,
            bewertungen, anzahl bewertungen, avis, nombre d avis, opiniones, pocet hodnoceni, recensioni,
            reviews count, num reviews, recenze
            """
        ),
        word_list("reviewCount, ratingCount"),
    ),
    Concept(
        "sku",
        "text",
        word_list(
            """
            sku, article number, item number, product number, product code, item code,
            artikelnummer, artikel nr, art nr, bestellnummer, reference, ref, referencia, kod produktu,
            codice articolo, artikelnr, catalog number, product id, item no, article no,
            katalogove cislo, artikelcode, catalogue number, code
            """
        ),
        word_list("sku, productID, mpn"),
    ),
    Concept(
        "gtin",
        "gtin",
        word_list("gtin, ean, upc, barcode, gtin13, ean13, isbn, isbn13"),
        word_list("gtin13, gtin, gtin12, gtin14, gtin8, isbn"),
    ),
    Concept(
        "brand",
        "text",
        word_list(
            """
            brand, brand name, manufacturer, make, maker, marke, hersteller, marque, fabricant, marca,
            fabricante, znacka, vyrobce, merk, producent, produttore
            """
        ),
        word_list("brand, manufacturer"),
    ),
    Concept(
        "description",
        "text",
        word_list(
            """
            description, product description, summary, about, beschreibung, produktbeschreibung,
            descripcion, popis, descrizione, beschrijving, abstract, opis, details
            """
        ),
        word_list("description, abstract"),
    ),
    Concept(
        "author",
        "text",
        word_list(
            """
            author, author name, authors, written by, by, creator, autor, auteur, autore, verfasser, byline,
            posted by, von, par
            """
        ),
        word_list("author, creator"),
    ),
    Concept(
        "date",
        "date",
        word_list(
            """
            date, when, published, date published, publication date, published at, published on, publish date,
            posted, posted on, posted at, datum, veroffentlicht, erscheinungsdatum, date de publication,
            fecha, fecha de publicacion, vydano, data, release date, released
            """
        ),
        word_list("datePublished, releaseDate, dateCreated, uploadDate, startDate"),
    ),
    Concept(
        "modified",
        "date",
        word_list(
            """
            date modified, modified, last modified, updated, last updated, updated at, aktualisiert,
            geandert, mis a jour, actualizado, aktualizovano
            """
        ),
        word_list("dateModified"),
    ),
    Concept(
        "image",
        "image",
        word_list(
            """
            image, image url, picture, photo, main image, bild, imagen, obrazek, immagine, thumbnail,
            product image, afbeelding, foto, img
            """
        ),
        word_list("image, thumbnailUrl"),
    ),
    Concept(
        "url",
        "url",
        word_list("url, link, product url, page url, permalink, href, web address"),
        word_list("url, mainEntityOfPage"),
    ),
    Concept(
        "category",
        "text",
        word_list(
            """
            category, section, department, kategorie, categorie, categoria, rubrik, genre, topic, product
            category
            """
        ),
        word_list("category, articleSection, genre"),
    ),
    Concept(
        "email",
        "text",
        word_list("email, e mail, email address, mail, courriel"),
        word_list("email"),
    ),
    Concept(
        "phone",
        "text",
        word_list("phone, telephone, phone number, tel, telefon, telefono, mobile, telefonnummer, rufnummer"),
        word_list("telephone"),
    ),
    Concept(
        "servings",
        "text",
        word_list("servings, serves, yield, yields, makes, portions, number of servings"),
        word_list("recipeYield"),
    ),
    Concept(
        "weight",
        "text",
        word_list("weight, gewicht, poids, peso, hmotnost, vaha, net weight, item weight, waga"),
        word_list("weight"),
    ),
    Concept(
        "color", "text", word_list("color, colour, farbe, couleur, barva, colore, kleur, kolor"), word_list("color")
    ),
    Concept(
        "size", "text", word_list("size, groesse, grosse, taille, talla, velikost, taglia, maat"), word_list("size")
    ),
    Concept(
        "material",
        "text",
        word_list("material, materials, matiere, materiale, materiaal, werkstoff"),
        word_list("material"),
    ),
    Concept(
        "language", "text", word_list("language, sprache, langue, idioma, jazyk, lingua, taal"), word_list("inLanguage")
    ),
    Concept(
        "publisher",
        "text",
        word_list("publisher, verlag, editeur, editorial, nakladatel, editore, uitgever"),
        word_list("publisher"),
    ),
    Concept(
        "pages",
        "count",
        word_list("page count, number of pages, pages, seiten, seitenzahl, nombre de pages"),
        word_list("numberOfPages"),
    ),
    Concept(
        "location",
        "text",
        word_list("location, place, venue, where, ort, standort, lieu, lugar, misto, luogo, job location"),
        word_list("location, addressLocality"),
    ),
    Concept(
        "company",
        "text",
        word_list(
            """
            company, company name, employer, organization, organisation, firma, unternehmen, entreprise,
            empresa, societe, arbeitgeber, hiring organization
            """
        ),
        word_list("hiringOrganization, worksFor, organizer"),
    ),
)

LOOSE_SYNONYMS = word_list("summary, abstract, about, details, section, topic, department, genre, note, code")
"""Names of texts that one page may use beside another name of the same concept, for something else."""
