"""Words of forms: names of fields, buttons, and what a page says when a form was sent."""

from __future__ import annotations

from shoal.agent.read.word_lists.word_list import word_list

FORM_NAMES: tuple[tuple[str, ...], ...] = (
    word_list("first name, given name, forename, fname, firstname, vorname, prenom, nombre, jmeno, voornaam"),
    word_list(
        """
        last name, family name, surname, lname, lastname, nachname, familienname, nom de famille, apellido,
        apellidos, prijmeni, achternaam
        """
    ),
    word_list(
        """
        name, full name, your name, contact name, contact person, customer name, nom, jmeno a prijmeni,
        nombre completo, ansprechpartner, fullname
        """
    ),
    word_list(
        """
        email, e mail, email address, mail, e mail adresse, courriel, adresse email, correo, correo
        electronico, mail address
        """
    ),
    word_list(
        """
        phone, telephone, phone number, tel, telephone number, mobile, mobile number, telefon,
        telefonnummer, telefono, rufnummer, handy, cell phone
        """
    ),
    word_list(
        """
        street, address, street address, address line 1, strasse, adresse, rue, calle, ulice, direccion,
        address1, strasse und hausnummer
        """
    ),
    word_list("house number, hausnummer, street number, numero, number house"),
    word_list("zip, zip code, postal code, postcode, plz, postleitzahl, code postal, codigo postal, psc, cap, zipcode"),
    word_list("city, town, ort, stadt, ville, ciudad, mesto, citta, place, locality, stad, plaats"),
    word_list("state, province, region, bundesland, county, provincia, kraj"),
    word_list("country, land, pays, pais, zeme, paese, country region"),
    word_list(
        """
        company, organization, organisation, company name, firma, unternehmen, entreprise, empresa, societe,
        firm, business, business name
        """
    ),
    word_list(
        """
        message, comment, comments, note, notes, remark, remarks, nachricht, bemerkung, bemerkungen,
        kommentar, commentaire, mensaje, zprava, poznamka, your message, enquiry, inquiry, question,
        anmerkung
        """
    ),
    word_list("subject, betreff, sujet, asunto, predmet, topic"),
    word_list(
        """
        quantity, qty, amount, number of items, menge, anzahl, stuckzahl, quantite, cantidad, mnozstvi,
        pieces, units, how many
        """
    ),
    word_list(
        """
        birthday, date of birth, birth date, dob, birthdate, geburtsdatum, date de naissance, fecha de
        nacimiento, datum narozeni
        """
    ),
    word_list("date, day, datum, preferred date, desired date, wunschtermin, fecha"),
    word_list(
        """
        delivery date, needed by, required by, deliver by, delivery by, liefertermin, lieferdatum, need by,
        due date, deadline
        """
    ),
    word_list("time, uhrzeit, heure, hora, cas"),
    word_list("password, passwort, kennwort, mot de passe, contrasena, heslo, pass, pwd, passwd"),
    word_list(
        """
        username, user, user name, login, login name, benutzername, benutzer, nom d utilisateur, usuario,
        uzivatelske jmeno, account
        """
    ),
    word_list("salutation, title, anrede, civilite, tratamiento, prefix"),
    word_list("gender, sex, geschlecht, sexe, genero, pohlavi"),
    word_list(
        """
        terms, accept terms, terms and conditions, agree, agreement, consent, privacy, privacy policy, agb,
        datenschutz, i agree, accept, conditions, gdpr, dsgvo, einwilligung, podminky, tos, terms of
        service, accept conditions
        """
    ),
    word_list("newsletter, subscribe, updates, marketing, mailing list, marketing emails"),
    word_list("product, article, item, produkt, artikel, produit, producto, model"),
    word_list("budget, price, max price, price range"),
    word_list("website, url, homepage, web, web site, webseite"),
    word_list("vat, vat id, vat number, ust id, ustid, umsatzsteuer id, tax id, tax number, dic, tva"),
    word_list("file, attachment, upload, document, datei, anhang, fichier, priloha, attach"),
    word_list("search, query, q, suche, suchbegriff, recherche, buscar, hledat, keyword, keywords, search term, find"),
    word_list("code, verification code, one time code, otp, totp, token, security code"),
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
"""Names of fields by the tokens of the autocomplete attribute."""

TYPE_NAMES = {
    "email": "email",
    "tel": "phone",
    "password": "password",
    "url": "website",
    "search": "search",
    "file": "file",
}
"""Names of fields by an input's type, for fields with no other name."""

FORM_FILLER = word_list(
    """
    your, please, enter, the, a, an, of, optional, required, choose, select, pick, type, in, here, ihre,
    ihr, bitte, eingeben, wahlen, votre, su, tu, field, input, form, txt, for, you, we, pflichtfeld,
    povinne, my, to, i, and, preferred, by, on, at, be, how, may, what, when, where, which, can, do, should,
    want, like, would
    """
)

CONFIRM_WORDS = word_list(
    """
    confirm, confirmation, repeat, retype, again, reenter, wiederholen, bestatigen, verify, confirmer,
    repetir, zopakovat, repetition
    """
)

BUTTON_NEXT = word_list(
    """
    next, continue, weiter, proceed, suivant, continuer, siguiente, continuar, dalsi, pokracovat, avanti,
    continua, volgende, next step, go on, nachster schritt, forward, fortfahren, step 2, step 3, review,
    uberprufen, nastepny, dalej
    """
)

BUTTON_SEND = word_list(
    """
    submit, send, request, order, buy, book, confirm, finish, done, save, register, sign up, sign in, log
    in, login, apply, get quote, search, absenden, senden, abschicken, anfragen, bestellen, kaufen, buchen,
    bestatigen, anmelden, registrieren, speichern, einloggen, kostenpflichtig, envoyer, commander, valider,
    confirmer, reserver, enviar, confirmar, comprar, reservar, odeslat, objednat, potvrdit, invia, conferma,
    verzenden, place order, pay, create, subscribe, join, complete, place, ask, contact, post, publish,
    reply, suchen, go
    """
)

BUTTON_AVOID = word_list(
    """
    back, previous, zuruck, cancel, abbrechen, reset, clear, zurucksetzen, retour, annuler, cancelar, zpet,
    zrusit, add, remove, delete, show password, forgot, help, close, edit, change, loschen, save draft,
    browse, choose file, preview, print, indietro, annulla, upload
    """
)

THANKS = word_list(
    """
    thank you, thanks, received, success, successfully, confirmed, confirmation, submitted, sent, danke,
    vielen dank, erfolgreich, eingegangen, gesendet, bestatigung, merci, gracias, enviado, recu, envoye,
    dekujeme, odeslano, prijato, grazie, bedankt, we will contact you, reference number, order number,
    complete, completed, we have your, on its way
    """
)

COMMON_WORDS = word_list(
    """
    wrong, correct, incorrect, check, again, try, something, went, needed, missing, given,
    the, a, an, of, to, is, are, was, be, not, no, in, on, at, for, and, or, this, that, it, its, must, please,
    error, invalid, field, value, form, your, you, we, with, has, have, been, can, cannot, could, if, when, site,
    page, says
    """
)
"""Words that two messages may share without meaning the same."""

CRITERION_FILLER = word_list(
    """
    page, shows, show, showing, displayed, display, visible, there, appears, appear, message, saying, text,
    confirmation, contains, number, user, sees, see, form, sent, shown
    """
)
"""Words of a complete criterion that only say that something is to be seen."""
