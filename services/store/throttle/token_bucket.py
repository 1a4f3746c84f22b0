"""The rate at which each tenant may ask, by all gateways together: a token bucket."""

from __future__ import annotations

from shoal.services.store.database.transaction import Tx


def spend(tx: Tx, tenant: str, spent: int, *, per_s: float, most: float) -> float:
    """Counts requests that were let in already, and asks for one more: the seconds until that one may come in.

    0.0: it may, and is counted too. What was let in has to be made up for: the bucket may be less than empty.
    """
    (row,) = tx.rows_made("token_bucket", "add_token_bucket", n=1, tenant=tenant, level=most, at=tx.now)
    level: float = min(most, row.level + max(0.0, tx.now - row.at) * per_s) - spent
    wait_s = max(0.0, (1 - level) / per_s)
    if spent or not wait_s or row.at > tx.now:
        tx.run("set_token_bucket", tenant=tenant, level=level - (not wait_s), at=tx.now)
    return wait_s
