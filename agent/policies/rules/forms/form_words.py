"""The words by which forms and goals say what they are for, and sites whether they took a form. Data only."""

from __future__ import annotations

from typing import Literal

Purpose = Literal[
    "login", "register", "recover", "password", "search", "newsletter", "contact", "order", "delete", "logout"
]


def _words(text: str) -> tuple[str, ...]:
    """The entries of a comma-separated list."""
    return tuple(dict.fromkeys(" ".join(part.split()) for part in text.split(",")))


PURPOSES: dict[Purpose, tuple[str, ...]] = {
    "login": _words(
        """
        log in, login, log into, logging in, sign in, signin, sign into, log on, logon, sign on, authenticate,
        anmelden, anmeldung, einloggen, connexion, se connecter, connectez vous, iniciar sesion, inicio de sesion,
        acceder, prihlasit, prihlaseni, accedi, accesso, inloggen, aanmelden
        """
    ),
    "register": _words(
        """
        register, registration, sign up, signup, create account, create an account, create new account,
        create a new account, create your account, new account, open an account, make an account, join, join now,
        become a member, enroll, registrieren, registrierung, konto erstellen, konto anlegen, neues konto, inscription,
        s inscrire, inscrivez vous, creer un compte, registro, registrarse, registrate, crear cuenta, crear una cuenta,
        registrace, registrovat, zaregistrovat, registrati, registrazione, registreren, account aanmaken
        """
    ),
    "recover": _words(
        """
        forgot password, forgot your password, forgotten password, forgot, lost password, reset password,
        reset your password, reset my password, password reset, recover, recover password, recover account,
        send reset link, passwort vergessen, passwort zurucksetzen, mot de passe oublie, olvide mi contrasena,
        zapomenute heslo, password dimenticata, wachtwoord vergeten
        """
    ),
    "password": _words(
        """
        change password, change your password, change my password, change the password, set password, new password,
        update password, passwort andern, neues passwort, changer le mot de passe, cambiar contrasena, zmenit heslo
        """
    ),
    "search": _words(
        """
        search, search for, find, look up, look for, query, suche, suchen, finden, recherche, rechercher, chercher,
        buscar, busqueda, buscador, hledat, vyhledat, vyhledavani, cerca, cercare, zoeken, zoek
        """
    ),
    "newsletter": _words(
        """
        newsletter, subscribe, subscription, mailing list, news letter, email updates, abonnieren,
        s abonner, abonnez vous, suscribirse, suscribete, odebirat, odber, iscriviti, abonneren, nieuwsbrief
        """
    ),
    "contact": _words(
        """
        contact, contact us, message, enquiry, enquire, inquiry, inquire, feedback, ask, question, request, quote,
        kontakt, nachricht, anfrage, anfragen, contacter, contacto, contactar, mensaje, kontaktovat, zprava, contatto
        """
    ),
    "order": _words("order, buy, purchase, checkout, pay, payment, bestellen, kaufen, commander, comprar, objednat"),
    "delete": _words(
        """
        delete, remove, close account, deactivate, unsubscribe, loschen, entfernen, supprimer, effacer, eliminar,
        borrar, smazat, odstranit, elimina, verwijderen
        """
    ),
    "logout": _words(
        """
        log out, logout, sign out, signout, log off, logoff, abmelden, ausloggen, deconnexion, se deconnecter,
        cerrar sesion, salir, odhlasit, esci, uitloggen, afmelden
        """
    ),
}
"""Words of goals, buttons and headings for each purpose of a form."""

ACCOUNT_PURPOSES: frozenset[Purpose] = frozenset({"login", "register", "password"})
"""Purposes whose forms take a password."""

OWN_EFFECT: frozenset[Purpose] = frozenset(
    {"login", "register", "recover", "password", "search", "newsletter", "delete", "logout"}
)
"""Purposes whose forms are filled only for a goal that asks for just that."""

REFUSALS = _words(
    """
    wrong, incorrect, incorrectly, invalid, not valid, isn t valid, fail, failed, failure, error, denied, rejected,
    refused, declined, not found, not match, mismatch, doesn t match, not allowed, not accepted, not permitted,
    not recognized, not recognised, not authorized, not correct, unauthorized, unauthorised, forbidden, unable,
    could not, couldn t, cannot, can t, can not, try again, required, must, missing, already exist, already exists,
    already taken, already in use, already registered, already used, already have, is taken, expired, locked,
    blocked, disabled, suspended, too short, too long, too weak, too many, too large, too big, too common,
    does not exist, doesn t exist, no such, unknown user, unknown account, bad credential, not enough, not unique,
    must be, please enter, please correct, please check, please fill, please provide, please choose, not supported,
    not successful, unsuccessful, not sent, not saved, not submitted, not received, only accept,
    ungultig, falsch, fehler, fehlgeschlagen, verweigert, abgelehnt, erforderlich, bereits vergeben,
    bereits registriert, gesperrt, nicht gefunden, nicht gultig, nicht korrekt, stimmt nicht, stimmen nicht,
    konnte nicht,
    bitte korrigieren, bitte prufen, pflichtfeld, erreur, echec, invalide, incorrecte, refuse, introuvable, obligatoire,
    deja utilise, incorrecto, incorrecta, no valido, no valida, fallo, denegado, obligatorio, ya existe, no coincide,
    chyba, chybne, spatne, neplatne, neplatny, nespravne, nespravny, povinne, povinny, nelze, jiz existuje,
    errore, non valido, non valida, errato, errata, sbagliato, obbligatorio, fout, ongeldig, onjuist, verplicht,
    mislukt, bestaat al
    """
)
"""Words of a site that does not take a form."""

SAVED = _words(
    """
    saved, updated, changed, created, added, deleted, removed, logged in, signed in, logged out, signed out, posted,
    published, welcome, registered, stored, gespeichert, aktualisiert, geandert, angelegt, erstellt, hinzugefugt,
    geloscht, angemeldet, willkommen, enregistre, modifie, cree, ajoute, bienvenue, guardado, actualizado, creado,
    bienvenido, ulozeno, vytvoreno, vitejte, salvato, aggiornato, creato, benvenuto, opgeslagen, welkom
    """
)
"""Words of a site, beside thanks, that took a form; only its messages are asked for them."""
