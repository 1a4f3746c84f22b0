"""The state of one running shop: the catalogue, the log, the visitors' sessions, the unfinished quote requests."""

from __future__ import annotations

import itertools
import secrets
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal

from starlette.requests import Request

from shop.catalogue import Catalogue, Product
from shop.faults import FaultBox
from shop.served import Attachment, ServedLog, Submission, client_of
from shop.writing import EUROS

SESSION_COOKIE = "hr_session"
KEPT_SESSIONS = 50_000  # the oldest is forgotten beyond this
KEPT_DRAFTS = 50_000

_REFERENCE_LETTERS = "23456789ABCDEFGHJKLMNPQRSTUVWXYZ"  # none that can be mistaken for another


@dataclass
class Session:
    """One visitor: who is logged in, and what lies in the basket."""

    user: str | None = None  # e-mail address
    basket: dict[str, int] = field(default_factory=dict)  # product slug -> pieces
    voucher: str | None = None


@dataclass(frozen=True)
class BasketLine:
    """One product in a basket."""

    product: Product
    quantity: int

    @property
    def total(self) -> Decimal:
        """Price of all pieces, in the product's currency."""
        return self.product.price * self.quantity

    @property
    def euros(self) -> Decimal:
        """Price of all pieces in euros."""
        return self.total * EUROS[self.product.category.currency]


@dataclass
class Shop:
    """Everything behind the pages of one running site."""

    catalogue: Catalogue
    faults: FaultBox
    today: Callable[[], date]
    slow_s: float  # how long a slow product page takes
    log: ServedLog = field(default_factory=ServedLog)
    sessions: OrderedDict[str, Session] = field(default_factory=OrderedDict)
    drafts: OrderedDict[str, dict[str, str]] = field(default_factory=OrderedDict)  # quote requests after page one
    placed: dict[str, list[str]] = field(default_factory=dict)  # e-mail address -> references of new orders
    references: Iterator[int] = field(default_factory=lambda: itertools.count(1))

    def session(self, request: Request) -> Session:
        """The visitor's session; an empty one that is not kept if there is none yet."""
        return self.sessions.get(request.cookies.get(SESSION_COOKIE, ""), Session())

    def open_session(self, request: Request) -> tuple[str, Session]:
        """The visitor's session and its token, begun now if there is none yet."""
        token = request.cookies.get(SESSION_COOKIE, "")
        if token not in self.sessions:
            token = secrets.token_urlsafe(24)
            self.sessions[token] = Session()
            if len(self.sessions) > KEPT_SESSIONS:
                self.sessions.popitem(last=False)
        return token, self.sessions[token]

    def keep_draft(self, fields: dict[str, str]) -> str:
        """Keep the first page of a quote request; returns the draft's id."""
        draft = secrets.token_hex(8)
        self.drafts[draft] = fields
        if len(self.drafts) > KEPT_DRAFTS:
            self.drafts.popitem(last=False)
        return draft

    def basket(self, session: Session) -> list[BasketLine]:
        """The lines of the visitor's basket."""
        return [BasketLine(self.catalogue.by_slug[slug], pieces) for slug, pieces in session.basket.items()]

    def accept(
        self, request: Request, form: str, prefix: str, fields: dict[str, str], file: Attachment | None = None
    ) -> Submission:
        """Record an accepted form under a new reference number such as Q-7KM2XD."""
        submission = Submission(
            form=form,
            reference=f"{prefix}-{self._reference()}",
            at=datetime.now(UTC).isoformat(),
            client=client_of(request),
            fields=fields,
            file=file,
        )
        self.log.accept(submission)
        return submission

    def _reference(self) -> str:
        # Multiplying by an odd number modulo a power of two maps no two numbers to the same place: references look
        # unrelated to each other and still never repeat.
        place = (next(self.references) * 0x2545F491 + self.catalogue.seed * 0x9E3779B1) % len(_REFERENCE_LETTERS) ** 6
        letters = ""
        for _ in range(6):
            place, digit = divmod(place, len(_REFERENCE_LETTERS))
            letters += _REFERENCE_LETTERS[digit]
        return letters


def shop_of(request: Request) -> Shop:
    """The shop that this request is for."""
    shop: Shop = request.app.state.shop
    return shop
