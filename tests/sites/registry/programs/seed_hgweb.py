"""Fills a new Mercurial repository: python seed_hgweb.py REPOSITORY. Runs in Mercurial's own virtual environment."""

import random
import sys

from mercurial import bookmarks, context, hg, ui

PEOPLE = (b"Ada Arndt <ada@example.org>", b"Bruno Bello <bruno@example.org>", b"Chloe Cerny")
PARTS = (b"parser", b"index", b"cache", b"dialog", b"report", b"importer")
DEEDS = (b"fix the %s when it is empty", b"%s: read dates with a zone", b"remove the old %s", b"speed up the %s")
CHANGESETS = 76
FIRST_S = 1_672_567_200  # 1 January 2023: so long ago that the pages tell dates and not ages
PAUSE_S = 40_000


def seed(path):
    """76 changesets by three people and one that adds a tag; two branches, two bookmarks, the same at each run."""
    chance = random.Random(18)
    repo = hg.repository(ui.ui.load(), path, create=True)
    with repo.wlock(), repo.lock(), repo.transaction(b"seed") as transaction:
        nodes = []
        for number in range(CHANGESETS):
            nodes.append(commit(repo, number, chance, nodes[-1:]))
        tagged = b"%s 1.0\n" % repo[nodes[20]].hex()
        nodes.append(stored(repo, nodes[-1:], b".hgtags", tagged, b"tag 1.0", PEOPLE[0], CHANGESETS, b"default"))
        marks = [(b"review", nodes[70]), (b"wip", nodes[40])]
        bookmarks.bmstore.applychanges(repo._bookmarks, repo, transaction, marks)


def commit(repo, number, chance, parents):
    """One changeset that writes a file."""
    part = chance.choice(PARTS)
    said = chance.choice(DEEDS) % part + b" (%d)\n\nSeen on floor %d." % (number, number % 7)
    branch = b"stable" if number % 9 == 4 else b"default"
    return stored(repo, parents, b"notes/%s.txt" % part, said, said, chance.choice(PEOPLE), number, branch)


def stored(repo, parents, name, text, said, person, number, branch):
    """The node of a new changeset with one file."""

    def file(repo, changeset, path):
        return context.memfilectx(repo, changeset, path, text)

    both = (parents[0] if parents else None, None)
    date = b"%d 0" % (FIRST_S + number * PAUSE_S)
    return context.memctx(repo, both, said, [name], file, person, date, {b"branch": branch}).commit()


seed(sys.argv[1].encode())
