"""Cloud Commander: two panels of files in the browser, which are worked on by keys and by a menu."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from _solver import Move, Task, all_of, click, fill, keys, quoted

from apps.asking import job
from tests.sites.registry import cache
from tests.sites.registry import serving as sites


@contextmanager
def served(folder: Path) -> Iterator[tuple[str, Path]]:
    """A folder of three files, and where it is."""
    program = cache.node("cloudcmd", ["cloudcmd@17.4.0"]) / "cloudcmd" / "bin" / "cloudcmd.mjs"
    files = folder / "files"
    files.mkdir()
    for name, text in (("letter.txt", "Dear Ada, the plums are ripe."), ("old.txt", "gone"), ("list.txt", "jam, tea")):
        (files / name).write_text(text, encoding="utf-8")
    port = sites.free_port()
    command = ["node", str(program), "--root", str(files), "--port", str(port), "--no-open", "--no-auth"]
    command += ["--no-console", "--no-terminal", "--one-file-panel", "--no-online"]
    with sites.program(command, port, cwd=folder, env={"HOME": str(folder)}) as url:
        yield url, files


def tasks(url: str, files: Path) -> list[Task]:
    """Files are read, called otherwise and deleted, and a folder is made."""
    name = "textbox"
    return [
        Task(
            "cloudcmd read",
            job(f"{url}/", "What does letter.txt say of the plums?", "cloudcmd read"),
            over="the plums are ripe",
            moves=(
                Move(
                    "", all_of(click("link", r"^letter\.txt$"), click("button", "^F3$")), {"text": "the plums are ripe"}
                ),
            ),
            answer=quoted("the plums are ripe"),
            right=lambda told: "ripe" in told["answer"],
            perfect=2,
        ),
        Task(
            "cloudcmd folder",
            job(f"{url}/", "Make a folder", "cloudcmd folder", data={"name": "spring"}),
            over='link "spring"',
            moves=(
                Move('button "OK"', all_of(fill(name, "", "spring"), keys("Enter")), {"element": "spring"}),
                Move("", all_of(keys("F7")), last=False),
            ),
            right=lambda told: (files / "spring").is_dir(),
            perfect=2,
        ),
        Task(
            "cloudcmd rename",
            job(f"{url}/", "Rename list.txt", "cloudcmd rename", data={"name": "shopping.txt"}),
            over=r'link "shopping\.txt"',
            moves=(
                Move('button "OK"', all_of(fill(name, "", "shopping.txt"), keys("Enter")), {"element": "shopping.txt"}),
                Move("", all_of(click("link", r"^list\.txt$"), keys("Shift+F6")), last=False),
            ),
            right=lambda told: (files / "shopping.txt").exists() and not (files / "list.txt").exists(),
            perfect=2,
        ),
        Task(
            "cloudcmd delete",
            job(f"{url}/", "Delete old.txt", "cloudcmd delete"),
            over="navigate, completed",
            moves=(
                Move('button "OK"', all_of(keys("Enter")), {"acted": True}),
                Move("", all_of(click("link", r"^old\.txt$"), keys("F8")), last=False),
            ),
            right=lambda told: not (files / "old.txt").exists(),
            perfect=2,
        ),
    ]
