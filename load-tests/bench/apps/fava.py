"""Fava: the books of a club, kept in a text file."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, Told, all_of, click, fill, quoted

from apps.asking import job
from shoal.agent.support.json_value import Json
from tests.sites.registry import cache
from tests.sites.registry import serving as sites

_LEDGER = """option "title" "Club"
option "operating_currency" "EUR"
2024-01-01 open Assets:Bank EUR
2024-01-01 open Expenses:Rent EUR
2024-01-01 open Expenses:Food EUR
2024-01-01 open Income:Fees EUR
2024-01-05 * "Ada" "Yearly fee"
  Assets:Bank  120.00 EUR
  Income:Fees
2024-02-01 * "Hall Ltd" "Rent of February"
  Expenses:Rent  80.00 EUR
  Assets:Bank
2024-02-14 * "Baker" "Cake"
  Expenses:Food  24.50 EUR
  Assets:Bank
"""


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Path]]:
    """The books of a club, and the file that holds them."""
    python = cache.pypi("fava", ["fava==1.30.16"])
    ledger = folder / "club.beancount"
    ledger.write_text(_LEDGER, encoding="utf-8")
    port = sites.free_port()
    command = [str(python.with_name("fava")), str(ledger), "--host", "127.0.0.1", "--port", str(port)]
    with sites.program(command, port, cwd=folder, path="/club/") as url:
        yield url, ledger


def _amount(account: str) -> Told:
    return quoted(rf'link "{account}"\] ([\d.,]+)')


def tasks(url: str, ledger: Path) -> list[Task]:
    """Questions about the books of a club, and an entry in them."""
    paid: dict[str, Json] = {
        "payee": "Printer",
        "narration": "Leaflets",
        "amount": "12.00 EUR",
        "account": "Expenses:Rent",
    }
    entry = (
        fill("textbox|combobox", "^Payee", "Printer"),
        fill("textbox|combobox", "^Narration", "Leaflets"),
        fill("textbox|combobox", "^Account", "Expenses:Rent"),
        fill("textbox|combobox", "^Amount", "12.00 EUR"),
    )
    books = f"{url}/club/income_statement/"
    return [
        Task(
            "fava food",
            job(books, "How much was spent on food?", "fava food"),
            answer=_amount("Food"),
            right=lambda told: "24.50" in told["answer"] and "24.50 EUR" in ledger.read_text(encoding="utf-8"),
        ),
        Task(
            "fava bank",
            job(books, "What is in the bank?", "fava bank"),
            over=r"url: \S*/balance_sheet",
            moves=(Move("", all_of(click("link", "^Balance Sheet$")), {"address": "/balance_sheet"}),),
            answer=_amount("Bank"),
            right=lambda told: "15.50" in told["answer"],
            perfect=2,
        ),
        Task(
            "fava add",
            job(books, "Enter this payment by the bank", "fava add", data=paid),
            over="navigate, completed",
            moves=(
                Move("dialog", all_of(*entry, click("button", "^Save$")), {"text": "Stored 1 entries"}),
                Move("", all_of(click("link", r"^\+$")), last=False),
            ),
            right=lambda told: ledger.read_text(encoding="utf-8").count('"Printer" "Leaflets"') == 1,
            perfect=2,
        ),
        Task(
            "fava payee",
            job(books, "Who was paid on 14 February 2024?", "fava payee"),
            over=r"url: \S*/journal",
            moves=(Move("", all_of(click("link", "^Journal$")), {"address": "/journal"}),),
            answer=quoted(r"2024-02-14[\s\S]{0,200}?(Baker)"),
            right=lambda told: "Baker" in told["answer"],
            perfect=2,
        ),
    ]
