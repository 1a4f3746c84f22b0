"""What a dispatcher knows of the lanes is kept in step with the store: all of them seldom, what others did at once."""

from __future__ import annotations

from services.dispatch.board import Board
from services.dispatch.clock import loop_time
from services.store.store import Store

_SHARE = 20
"""Nothing is read for so many times as long as it should take to read all lanes."""
_LANE_S = 30e-6
"""What a lane should take: ten thousand took a tenth of a second. More is not the lanes' fault: a database that was
slow once is asked again soon."""
_READ_S = 0.003
"""What a reading should take at most beyond that."""
_LONGEST_REST_S = 30.0
"""By then all lanes are read again, however many there are: news is a hint, this is the truth."""


class Reader:
    """Reads what the board says is to be read, as far as its rest is over. Who reads does not claim."""

    def __init__(self, store: Store, board: Board) -> None:
        self._store = store
        self._board = board
        self._all_after = 0.0  # when all lanes may be read again
        self._news_after = 0.0
        self._seq: int | None = None  # the event up to which the board knows

    async def read(self) -> None:
        """All lanes, or what others did since; nothing where nothing changed, or it was read only just now.

        Raises:
            StoreAway: it is still to be read.
        """
        board, now = self._board, loop_time()
        if board.stale and now >= self._all_after:
            board.stale = board.news = False
            try:
                await self._read_all()
            except BaseException:
                board.stale = board.news = True
                raise
        elif board.news and now >= self._news_after:
            board.news = False
            try:
                await self._read_news()
            except BaseException:
                board.news = True
                raise

    def due_s(self, now: float) -> float | None:
        """Seconds until `read` has something to do; None while nothing has changed."""
        board = self._board
        wanted = ((board.stale, self._all_after), (board.news, self._news_after))
        return min((max(0.0, at - now) for is_wanted, at in wanted if is_wanted), default=None)

    async def _read_all(self) -> None:
        began = loop_time()
        self._seq = (await self._store.news(None)).seq  # before the lanes: what comes between is told twice
        lanes = await self._store.lanes()
        self._board.ready(lanes)
        self._board.note_store(away=False)
        ended = loop_time()
        self._all_after = ended + rest_s(ended - began, len(lanes))

    async def _read_news(self) -> None:
        began = loop_time()
        news = await self._store.news(self._seq)
        self._seq = news.seq
        self._board.ready(news.ready)
        self._board.note_store(away=False)
        if news.more:
            self._board.news = True
        ended = loop_time()
        self._news_after = ended + rest_s(ended - began, len(news.ready))


def rest_s(took_s: float, lanes: int) -> float:
    """For how long nothing is read after a reading that took so long and gave so many lanes.

    As long as it took in any case: who reads does not claim.
    """
    return min(max(took_s, _SHARE * min(took_s, _READ_S + lanes * _LANE_S)), _LONGEST_REST_S)
