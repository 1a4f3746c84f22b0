"""Fills a new Trac environment: python seed_trac.py ENVIRONMENT. Runs in Trac's own virtual environment."""

import random
import sys
from datetime import UTC, datetime, timedelta

from trac.env import Environment
from trac.perm import PermissionSystem
from trac.ticket.model import Component, Milestone, Ticket
from trac.wiki.model import WikiPage

NOUNS = ("printer", "report", "login page", "invoice", "calendar", "backup", "search box", "mail queue")
FAULTS = ("stops without a message", "shows the wrong month", "is slow on Mondays", "loses the last line", "asks twice")
SETTINGS = {
    "components": {
        "trac.web.auth.LoginModule": "disabled",
        "acct_mgr.web_ui.LoginModule": "enabled",
        "acct_mgr.web_ui.AccountModule": "disabled",
        "acct_mgr.register.RegistrationModule": "enabled",
        "acct_mgr.register.BasicCheck": "enabled",
        "acct_mgr.db.SessionStore": "enabled",
        "acct_mgr.pwhash.HtPasswdHashMethod": "enabled",
        "acct_mgr.api.*": "enabled",
    },
    "account-manager": {
        "password_store": "SessionStore",
        "hash_method": "HtPasswdHashMethod",
        "register_check": "BasicCheck",
        "verify_email": "disabled",
    },
    "query": {"items_per_page": "20"},
    "report": {"items_per_page": "20"},
    "project": {"name": "Office"},
}


def seed(env: Environment) -> None:
    """Components, people, 57 tickets and eight wiki pages, the same at each run."""
    chance = random.Random(18)
    for name in ("paper", "screens", "network"):
        component = Component(env)
        component.name, component.owner = name, chance.choice(("ada", "bruno"))
        component.insert()
    milestone = Milestone(env)
    milestone.name = "spring"
    milestone.insert()
    start = datetime(2026, 1, 5, 9, tzinfo=UTC)
    for number in range(1, 58):
        ticket = Ticket(env)
        ticket["summary"] = f"{chance.choice(NOUNS).capitalize()} {number} {chance.choice(FAULTS)}"
        ticket["description"] = f"Seen on floor {number % 7} by {chance.choice(('ada', 'chloe', 'dario'))}."
        ticket["reporter"] = chance.choice(("ada", "bruno", "chloe"))
        ticket["owner"] = chance.choice(("ada", "bruno"))
        ticket["component"] = chance.choice(("paper", "screens", "network"))
        ticket["priority"] = chance.choice(("critical", "major", "minor"))
        ticket["type"] = chance.choice(("defect", "enhancement", "task"))
        ticket["milestone"] = chance.choice(("spring", ""))
        ticket["keywords"] = chance.choice(("", "urgent", "blue"))
        ticket["status"] = "new"
        ticket.insert(when=start + timedelta(hours=7 * number))
    for number in range(1, 9):
        page = WikiPage(env, f"Handbook{number}")
        page.text = f"= How to keep a {NOUNS[number - 1]} =\n\nPart {number} of the handbook.\n"
        page.save("ada", "seeded")


def configure(path: str) -> None:
    """Settings first: what they enable is there only once the environment is opened again."""
    env = Environment(path)
    for section, options in SETTINGS.items():
        for name, value in options.items():
            env.config.set(section, name, value)
    env.config.save()


configure(sys.argv[1])
environment = Environment(sys.argv[1])
environment.upgrade()
PermissionSystem(environment).grant_permission("anonymous", "TICKET_CREATE")
PermissionSystem(environment).grant_permission("authenticated", "TICKET_ADMIN")
seed(environment)
from acct_mgr.api import AccountManager  # noqa: E402

for user, password in (("ada", "correct horse 7"), ("bruno", "quiet river 9")):
    AccountManager(environment).set_password(user, password)
environment.shutdown()
