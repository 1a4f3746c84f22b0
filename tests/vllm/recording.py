"""A model seam that looks at every reply on its way: does the text hold to the schema that was sent?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from shoal.agent.errors import PromptTooLong
from shoal.agent.models.model import Ask, Model, Reply
from shoal.agent.models.reply import ReplyProblem, check, parse


async def _whole(reply: Reply, ask: Ask) -> str:
    """Return what is wrong with a reply that ended by itself, "" when nothing is."""
    try:
        parsed = parse(reply.text)
        await check(parsed.value, ask.json_schema)
    except ReplyProblem as problem:
        return str(problem)
    return "it is cut off" if parsed.cut_off else ""


@dataclass
class Recording:
    """Passes on, and keeps the score."""

    model: Model
    replies: Counter[str] = field(default_factory=Counter)  # by the name of the schema
    ended: Counter[str] = field(default_factory=Counter)  # by finish reason
    too_long: int = 0  # requests that the server refused for their length
    invalid: list[str] = field(default_factory=list)  # replies that do not hold to their schema, or are taken for whole
    cut: Counter[str] = field(default_factory=Counter)  # replies cut off at their limit, by what is left of them

    async def ask(self, ask: Ask) -> Reply:
        try:
            reply = await self.model.ask(ask)
        except PromptTooLong:
            self.too_long += 1
            raise
        self.replies[ask.schema_name] += 1
        self.ended[reply.finish_reason] += 1
        look = _whole if reply.finish_reason == "stop" else self._part
        problem = await look(reply, ask)
        if problem:
            self.invalid.append(f"{ask.schema_name}, {reply.finish_reason}: {problem}: {reply.text[:500]}")
        return reply

    async def _part(self, reply: Reply, ask: Ask) -> str:
        """Return what is wrong with a reply that was cut off: nothing, where it says so or is of no use."""
        try:
            parsed = parse(reply.text)
        except ReplyProblem:
            self.cut["nothing"] += 1
            return ""
        self.cut["a part" if parsed.cut_off else "all"] += 1
        return "" if parsed.cut_off else await _whole(reply, ask)

    async def close(self) -> None:
        """Nothing: the model belongs to somebody else."""
