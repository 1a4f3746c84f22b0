"""A model seam that looks at every reply on its way: does the text hold to the schema that was sent?"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from agent.errors import PromptTooLong
from agent.models.model import Ask, Model, Reply
from agent.models.reply import ReplyProblem, check, parse


@dataclass
class Recording:
    """Passes on, and keeps the score."""

    model: Model
    replies: Counter[str] = field(default_factory=Counter)  # by the name of the schema
    ended: Counter[str] = field(default_factory=Counter)  # by finish reason
    too_long: int = 0  # requests that the server refused for their length
    invalid: list[str] = field(default_factory=list)  # replies that ended by themselves and do not hold to their schema

    async def ask(self, ask: Ask) -> Reply:
        try:
            reply = await self.model.ask(ask)
        except PromptTooLong:
            self.too_long += 1
            raise
        self.replies[ask.schema_name] += 1
        self.ended[reply.finish_reason] += 1
        if reply.finish_reason == "stop":
            try:
                check(parse(reply.text).value, ask.json_schema)
            except ReplyProblem as problem:
                self.invalid.append(f"{ask.schema_name}: {problem}: {reply.text[:500]}")
        return reply

    async def close(self) -> None:
        """Nothing: the model belongs to somebody else."""
