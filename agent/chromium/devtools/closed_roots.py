"""Closed shadow roots, which no script can find: Session tells them of the elements that may have one."""

from __future__ import annotations

import asyncio

from shoal.agent.chromium.wire.connection import Session


async def hand_over_closed_roots(session: Session, suspects: str, context: int, group: str, take: str) -> bool:
    """Hands closed shadow roots to a script in a page; True where there was one.

    Args:
        session: that the handles are of.
        suspects: DevTools' object id of an array of the elements that may have one.
        context: DevTools' execution context of the array.
        group: that the handles are in, which the caller releases.
        take: a function that is given the roots, in the array's world.

    Raises:
        playwright.async_api.Error: the document went away meanwhile.
    """
    listed = await session.send("Runtime.getProperties", {"objectId": suspects, "ownProperties": True})
    hosts = [entry["value"]["objectId"] for entry in listed["result"] if entry["name"].isdigit()]
    nodes = await asyncio.gather(
        *(session.send("DOM.describeNode", {"objectId": host, "depth": 0, "pierce": True}) for host in hosts)
    )
    closed = [
        root["backendNodeId"]
        for described in nodes
        for root in described["node"].get("shadowRoots", ())
        if root["shadowRootType"] == "closed"
    ]
    if not closed:
        return False
    asked = {"executionContextId": context, "objectGroup": group}
    roots = await asyncio.gather(
        *(session.send("DOM.resolveNode", {**asked, "backendNodeId": number}) for number in closed)
    )
    arguments = [{"objectId": root["object"]["objectId"]} for root in roots]
    call = {"objectId": suspects, "functionDeclaration": take, "arguments": arguments}
    await session.send("Runtime.callFunctionOn", call)
    return True
