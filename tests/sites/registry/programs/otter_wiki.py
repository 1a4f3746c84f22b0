"""An Otter Wiki with seeded pages and accounts: python otter_wiki.py FOLDER PORT. It has its own environment."""

import os
import sys
from datetime import UTC, datetime
from pathlib import Path

FOLDER = Path(sys.argv[1])
(FOLDER / "pages").mkdir()
os.environ |= {
    "REPOSITORY": str(FOLDER / "pages"),
    "SQLALCHEMY_DATABASE_URI": f"sqlite:///{FOLDER / 'wiki.db'}",
    "SECRET_KEY": "only for a test on the loopback address",
    "READ_ACCESS": "ANONYMOUS",
    "WRITE_ACCESS": "REGISTERED",
    "AUTO_APPROVAL": "True",
    "EMAIL_NEEDS_CONFIRMATION": "False",
}
from otterwiki.gitstorage import GitStorage  # noqa: E402

ROOMS = ("Kitchen", "Workshop", "Cellar", "Library", "Garage", "Attic", "Garden", "Office", "Studio")
KEEPERS = ("Ada", "Bruno", "Chloe")
storage = GitStorage(str(FOLDER / "pages"), initialize=True)
for n, room in enumerate(ROOMS):
    text = (
        f"# The {room.lower()} in house {n}\n\n| Keeper | Floor | Opens |\n| --- | --- | --- |\n"
        f"| {KEEPERS[n % 3]} | {n % 4} | {8 + n % 3}:30 |\n\nKept tidy by all.\n"
    )
    storage.store(f"{room.lower()}.md", content=text, message="seeded", author=("Ada", "ada@office.example"))

from otterwiki.server import app, db  # noqa: E402, I001  (first: its modules import each other)
from otterwiki.models import User  # noqa: E402
from werkzeug.security import generate_password_hash  # noqa: E402

with app.app_context():
    db.create_all()
    for name in KEEPERS:
        account = User(
            name=name,
            email=f"{name.lower()}@office.example",
            password_hash=generate_password_hash("correct horse 7", method="scrypt"),
            first_seen=datetime.now(UTC),
            last_seen=datetime.now(UTC),
            is_approved=True,
            email_confirmed=True,
        )
        db.session.add(account)
    db.session.commit()
from otterwiki import views  # noqa: E402, F401

app.run(port=int(sys.argv[2]))
