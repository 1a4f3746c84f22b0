"""Notifies callers that wait for a change in PostgreSQL, by LISTEN/NOTIFY.

A process with SQLite does not import it: psycopg takes a tenth of a second of its start.
"""

from __future__ import annotations

import logging
import threading

import psycopg
from sqlalchemy import URL

from shoal.services.events import LogEvent
from shoal.services.store.database.change_notifier import ChangeNotifier

log = logging.getLogger(__name__)

_LISTEN_S = 0.2
"""Seconds that the listener sleeps before it looks whether the store was closed."""
_RECONNECT_S = 1.0


class ListeningNotifier(ChangeNotifier):
    """PostgreSQL: a thread of its own listens, from the first time that somebody waits."""

    def __init__(self, url: URL) -> None:
        super().__init__()
        self._dsn = url.set(drivername="postgresql").render_as_string(hide_password=False)
        self._closed = threading.Event()
        self._thread: threading.Thread | None = None
        self._heard = False

    async def wait(self, timeout_s: float, since: int | None) -> int:
        if self._thread is None and not self._closed.is_set():
            self._thread = threading.Thread(target=self._listen, name="store-listen", daemon=True)
            self._thread.start()
        return await super().wait(timeout_s, since)

    def _listen(self) -> None:
        logged = False
        while not self._closed.is_set():
            try:
                self._hear()
            except psycopg.OperationalError as err:
                if self._heard or not logged:  # once for each time that it goes away
                    log.warning(LogEvent.STORE_AWAY.value, extra={"error": str(err)})
                logged = True
                self._closed.wait(_RECONNECT_S)

    def _hear(self) -> None:
        self._heard = False
        with psycopg.connect(self._dsn, autocommit=True, connect_timeout=5, application_name="shoal-listen") as conn:
            conn.execute("listen shoal")
            self._heard = True
            self.notify()  # for what happened between two connections
            while not self._closed.is_set():
                for _ in conn.notifies(timeout=_LISTEN_S, stop_after=1):
                    self.notify()

    def close(self) -> None:
        self._closed.set()
        super().close()
        if self._thread:
            self._thread.join()
