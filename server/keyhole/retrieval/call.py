"""One call under way: its budget, its place in its session, and its answer. Retrieves and words nothing."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import Final

from keyhole.budget.budget import Budget
from keyhole.callers import Caller
from keyhole.config.config import Config
from keyhole.records import Answer
from keyhole.retrieval.session import FIRST, Shown, Turn
from keyhole.thrift import lowered

NO_ANSWER: Final = Answer("", {}, is_error=True)


@dataclass(slots=True)
class Call:
    """One call of a tool."""

    budget: Budget
    usual: Budget
    """What the caller's next call has, which the continuation is worded for."""
    caller: Caller
    repeat: bool
    """Whether it shows what the session was shown before."""
    turn: Turn = FIRST
    answer: Answer = NO_ANSWER
    until: float = 0.0
    """Its deadline, in seconds of the event loop's clock."""

    @classmethod
    def begun(
        cls,
        config: Config,
        caller: Caller,
        budget: Budget,
        usual: Budget,
        asked: tuple[Hashable, ...],
        repeat: bool,
    ) -> Call:
        """A call that asked this: its query, its tool, and all else but its budget."""
        always = repeat or config.repeats == "always"
        if caller.ledger is None:
            return cls(budget, usual, caller, always)
        # No tokenizer makes more tokens than bytes: without a bound of their own they have that one.
        sizes = budget.size, budget.tokens or budget.size
        turn = caller.ledger.begin((*asked, repeat), str(asked[0] or asked[1]), *sizes)
        budget = lowered(budget, config.session_tokens, turn.spent)
        # The next call has what this one leaves, which may take all that it is given.
        usual = lowered(usual, config.session_tokens, turn.spent + (budget.tokens or budget.size))
        return cls(budget, usual, caller, always, turn)

    def shown(self, id: str) -> tuple[Shown, ...]:
        """What the session was shown of a text and need not be shown again."""
        return () if self.repeat else self.turn.shown(id)

    def answered(self) -> None:
        """Its answer goes out: only now the session was shown what is in it."""
        if self.caller.ledger is not None and not self.caller.gone():
            from keyhole.budget.tokens import estimate  # with its words, which no start waits for

            self.caller.ledger.enter(self.turn, self.answer.shown, estimate(self.answer.text))
