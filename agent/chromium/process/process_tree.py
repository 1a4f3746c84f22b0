"""The operating system's view of one Chromium: its processes, their memory, and their end."""

from __future__ import annotations

import os
import shutil
from dataclasses import dataclass
from pathlib import Path

import psutil

from shoal.agent.support.process_memory import memory_in_use

_PROFILE_FLAG = "--user-data-dir="
_KILL_S = 3.0


@dataclass(frozen=True, slots=True)
class ProcessTree:
    """A browser's main process with all that it started. Every method may block for some milliseconds."""

    root: psutil.Process | None  # None: it was gone before it was seen
    profile: Path | None = None  # its profile folder, which an unclean end leaves behind

    @classmethod
    def marked(cls, flag: str) -> ProcessTree:
        """The tree below this process whose command line carries `flag`."""
        for process in psutil.Process().children(recursive=True):
            try:
                command = process.cmdline()
            except psutil.Error:
                continue
            # Only the main process has the flag of its own; children get a chosen few flags.
            if flag in command and not any(part.startswith("--type=") for part in command):
                folders = [part.removeprefix(_PROFILE_FLAG) for part in command if part.startswith(_PROFILE_FLAG)]
                return cls(process, Path(folders[0]) if folders else None)
        return cls(None)

    def members(self) -> list[psutil.Process]:
        """The processes that live now, the main one first."""
        if self.root is None:
            return []
        try:
            return [self.root, *self.root.children(recursive=True)] if self.root.is_running() else []
        except psutil.Error:
            return []

    def measure(self) -> tuple[tuple[int, ...], int]:
        """Process ids, and the memory that they hold in bytes (see `shoal.agent.support.process_memory`)."""
        alive = []
        for process in self.members():
            try:
                if process.status() != psutil.STATUS_ZOMBIE:
                    alive.append(process)
            except psutil.Error:
                continue
        return tuple(process.pid for process in alive), memory_in_use(alive)

    def _group(self) -> list[psutil.Process]:
        """The main process's group: its children stay in it when it was killed and they have another parent."""
        members = []
        for process in psutil.process_iter() if self.root is not None else ():
            try:
                if self.root is not None and os.getpgid(process.pid) == self.root.pid != os.getpgrp():
                    members.append(process)
            except ProcessLookupError:
                continue
        return members

    def end(self, seen: list[psutil.Process]) -> None:
        """Kills what is left of the tree, `seen` earlier included, and removes the profile folder."""
        left = {process.pid: process for process in (*seen, *self.members(), *self._group())}
        for process in left.values():
            try:
                process.kill()  # psutil checks that the id was not given to another process since
            except psutil.Error:
                continue
        psutil.wait_procs(list(left.values()), timeout=_KILL_S)
        if self.profile is not None:
            shutil.rmtree(self.profile, ignore_errors=True)
