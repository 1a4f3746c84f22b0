"""Makes and fills a Roundup tracker: python seed_roundup.py HOME ADDRESS. Runs in Roundup's own environment."""

import random
import re
import sys
from pathlib import Path

from roundup import date, init, instance, password

HOME, ADDRESS = Path(sys.argv[1]), sys.argv[2]
TOPICS = ("Parser", "Index", "Mailer", "Export", "Clock", "Theme")
FAULTS = ("fails on empty input", "forgets the time zone", "needs a limit", "repeats the first row", "is hard to find")
PEOPLE = (("ada", "Ada Holm"), ("bruno", "Bruno Cerny"), ("chloe", "Chloe Dahl"))


def make() -> None:
    """The tracker's home with the classic template."""
    templates = next(Path(sys.prefix).glob("share/roundup/templates/classic"))
    init.install(str(HOME), str(templates))
    (HOME / "detectors" / "nosyreaction.py").unlink()  # it sends mail, and there is no mail server
    settings = HOME / "config.ini"
    text = settings.read_text()
    for name, value in {"web": ADDRESS, "domain": "office.example", "backend": "sqlite"}.items():
        text = re.sub(rf"^#?{name} =.*$", f"{name} = {value}", text, count=1, flags=re.M)
    settings.write_text(text)
    tracker = instance.open(str(HOME))
    tracker.init(password.Password("admin of office 1", config=tracker.config))


def seed() -> None:
    """People and 57 issues, the same at each run."""
    chance = random.Random(18)
    tracker = instance.open(str(HOME))
    db = tracker.open("admin")
    users = [
        db.user.create(
            username=name, realname=full, address=f"{name}@office.example", roles="User",
            password=password.Password("correct horse 7", config=tracker.config),
        )
        for name, full in PEOPLE
    ]  # fmt: skip
    for n in range(1, 58):
        note = db.msg.create(
            author=chance.choice(users), date=date.Date(f"2026-01-{1 + n % 28:02d}.10:00:00"), summary=f"Note {n}",
            content=f"Seen {n} times.", recipients=[],
        )  # fmt: skip
        db.issue.create(
            title=f"{chance.choice(TOPICS)} {n} {chance.choice(FAULTS)}",
            priority=chance.choice(db.priority.list()),
            status=chance.choice(db.status.list()),
            assignedto=chance.choice([*users, None]),
            messages=[note],
        )
    db.commit()
    db.close()


make()
seed()
