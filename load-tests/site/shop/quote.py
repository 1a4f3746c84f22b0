"""The quote request: contact data, then the project with a date and a file, then a reference number.

The pages check what a browser can; everything is checked again here, and the delivery date only here.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from datetime import date
from pathlib import PurePath

from starlette.datastructures import FormData, UploadFile
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse, RedirectResponse, Response
from starlette.routing import Route

from shop.catalogue import CATEGORIES
from shop.regions import REGIONS
from shop.rendering import page
from shop.served import Attachment
from shop.state import shop_of

LONGEST_FIELD = 4_000  # characters
LARGEST_FILE = 5 * 1024 * 1024  # bytes
MOST_PIECES = 10_000

FILE_TYPES = {".pdf": "application/pdf", ".png": "image/png", ".txt": "text/plain"}
FILE_BEGINNINGS = {".pdf": b"%PDF-", ".png": b"\x89PNG\r\n\x1a\n", ".txt": b""}

CONTACT_FIELDS = ("contact_name", "company", "email", "tel", "street", "city", "postcode", "country", "region",
                  "contact_by")  # fmt: skip
PROJECT_FIELDS = ("project", "department", "quantity", "delivery_date", "budget", "message", "terms", "newsletter")

CONTACT_WAYS = {"email": "By e-mail", "phone": "By phone", "post": "By post"}
BUDGETS = ("under 1,000", "1,000 to 5,000", "5,000 to 20,000", "over 20,000")

_EMAIL = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")
_PHONE = re.compile(r"\+?[0-9 ()/.-]{6,24}")

Errors = dict[str, str]  # field name -> what is wrong with it


def check_contact(fields: Mapping[str, str]) -> Errors:
    """Return what is wrong with the first page."""
    errors: Errors = {}
    for name, label in (("contact_name", "your name"), ("street", "street and number"), ("city", "town or city"),
                        ("postcode", "the postcode")):  # fmt: skip
        if not fields[name]:
            errors[name] = f"Please enter {label}."
    if not _EMAIL.fullmatch(fields["email"]):
        errors["email"] = "Please enter an e-mail address such as name@example.org."
    if fields["tel"] and not _PHONE.fullmatch(fields["tel"]):
        errors["tel"] = "Please enter a phone number with figures, spaces and an optional + in front."
    if fields["contact_by"] == "phone" and not fields["tel"]:
        errors["tel"] = "To be called back, please leave a phone number."
    if fields["country"] not in REGIONS:
        errors["country"] = "Please choose a country."
    elif fields["region"] not in REGIONS[fields["country"]]:
        errors["region"] = f"Please choose a region of {fields['country']}."
    if fields["contact_by"] not in CONTACT_WAYS:
        errors["contact_by"] = "Please say how we may reach you."
    return errors


def check_project(fields: Mapping[str, str], today: date) -> Errors:
    """Return what is wrong with the second page, its file apart."""
    errors: Errors = {}
    if not fields["project"]:
        errors["project"] = "Please give your project a title."
    if fields["department"] not in {category.slug for category in CATEGORIES}:
        errors["department"] = "Please choose a product group."
    if not (fields["quantity"].isascii() and fields["quantity"].isdigit()):
        errors["quantity"] = "Please enter a whole number of pieces."
    elif not 1 <= int(fields["quantity"]) <= MOST_PIECES:
        errors["quantity"] = f"We can offer between 1 and {MOST_PIECES:,} pieces."
    date_error = check_date(fields["delivery_date"], today)
    if date_error:
        errors["delivery_date"] = date_error
    if fields["budget"] and fields["budget"] not in BUDGETS:
        errors["budget"] = "Please choose one of the ranges."
    if len(fields["message"]) < 10:
        errors["message"] = "Please describe what you need, in ten characters or more."
    if not fields["terms"]:
        errors["terms"] = "Please accept the terms to send your request."
    return errors


def check_date(written: str, today: date) -> str | None:
    """Why we cannot deliver on that day, or None: it may not lie in the past nor more than a year ahead."""
    try:
        wanted = date.fromisoformat(written)
    except ValueError:
        return "Please enter a delivery date."
    if wanted < today:
        return "The delivery date is in the past. Please choose a later day."
    if (wanted - today).days > 365:
        return "We plan one year ahead at most. Please choose an earlier delivery date."
    return None


def check_file(name: str, body: bytes) -> str | None:
    """Why the file cannot be taken, or None. Its content must fit its name."""
    suffix = PurePath(name).suffix.lower()
    if suffix not in FILE_TYPES:
        return "Only PDF, PNG and TXT files can be attached."
    if len(body) > LARGEST_FILE:
        return "The file is larger than 5 MB."
    if not body:
        return "The file is empty."
    if not body.startswith(FILE_BEGINNINGS[suffix]):
        return f"This is not a {suffix[1:].upper()} file, whatever its name says."
    return None


def _fields(form: FormData, names: tuple[str, ...]) -> dict[str, str]:
    return {name: _text(form, name)[:LONGEST_FIELD] for name in names}


def _text(form: FormData, name: str) -> str:
    value = form.get(name, "")
    return value.strip() if isinstance(value, str) else ""


def _contact_page(request: Request, values: Mapping[str, str], errors: Errors, draft: str) -> Response:
    return page(
        request, "quote_contact.html", status=422 if errors else 200, values=values, errors=errors, draft=draft,
        countries=list(REGIONS), regions=REGIONS.get(values.get("country", ""), ()), contact_ways=CONTACT_WAYS,
    )  # fmt: skip


def _project_page(request: Request, draft: str, values: Mapping[str, str], errors: Errors) -> Response:
    return page(
        request, "quote_project.html", status=422 if errors else 200, draft=draft, values=values, errors=errors,
        contact=shop_of(request).drafts[draft], budgets=BUDGETS,
    )  # fmt: skip


async def contact(request: Request) -> Response:
    """Page one. With `draft`, what was entered before stands in it."""
    draft = request.query_params.get("draft", "")
    return _contact_page(request, shop_of(request).drafts.get(draft, {}), {}, draft)


async def send_contact(request: Request) -> Response:
    """Check page one, keep it and lead on to page two."""
    async with request.form() as form:
        fields = _fields(form, CONTACT_FIELDS)
        errors = check_contact(fields)
        if errors:
            return _contact_page(request, fields, errors, _text(form, "draft"))
    draft = shop_of(request).keep_draft(fields)
    return RedirectResponse(f"/quote/project?draft={draft}", status_code=303)


async def project(request: Request) -> Response:
    """Page two, for a draft that exists; otherwise back to page one."""
    draft = request.query_params.get("draft", "")
    if draft not in shop_of(request).drafts:
        return RedirectResponse("/quote", status_code=303)
    return _project_page(request, draft, {}, {})


async def send_project(request: Request) -> Response:
    """Check page two and accept the request. Sent twice, it is accepted twice: the log tells."""
    shop = shop_of(request)
    async with request.form(max_part_size=LARGEST_FILE) as form:
        draft = _text(form, "draft")
        if draft not in shop.drafts:
            return RedirectResponse("/quote", status_code=303)
        fields = _fields(form, PROJECT_FIELDS)
        errors = check_project(fields, shop.today())
        file, file_error = await _attachment(form)
    if file_error:
        errors["attachment"] = file_error
    if errors:
        return _project_page(request, draft, fields, errors)
    submission = shop.accept(request, "quote", "Q", {**shop.drafts[draft], **fields}, file)
    return RedirectResponse(f"/quote/received/{submission.reference}", status_code=303)


async def _attachment(form: FormData) -> tuple[Attachment | None, str | None]:
    upload = form.get("attachment")
    if not isinstance(upload, UploadFile) or not upload.filename:
        return None, None
    # One byte more than allowed is enough to know that it is too large.
    body = await upload.read(LARGEST_FILE + 1)
    name = PurePath(upload.filename.replace("\\", "/")).name
    error = check_file(name, body)
    if error:
        return None, error
    content_type = FILE_TYPES[PurePath(name).suffix.lower()]
    return Attachment(name, content_type, len(body), hashlib.sha256(body).hexdigest()), None


async def received(request: Request) -> Response:
    """The confirmation with the reference number."""
    reference = request.path_params["reference"]
    found = next((s for s in reversed(shop_of(request).log.forms) if s.reference == reference), None)
    if found is None:
        raise HTTPException(404)
    return page(request, "quote_received.html", submission=found)


async def regions(request: Request) -> Response:
    """The regions of a country, for the script that fills the second select."""
    return JSONResponse(REGIONS.get(request.query_params.get("country", ""), ()))


routes = [
    Route("/quote", contact),
    Route("/quote", send_contact, methods=["POST"]),
    Route("/quote/project", project),
    Route("/quote/project", send_project, methods=["POST"]),
    Route("/quote/received/{reference}", received),
    Route("/quote/regions", regions),
]
