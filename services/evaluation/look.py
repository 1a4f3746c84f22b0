"""The steps of one episode, as text for people."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import orjson

from shoal.agent.evaluate import Evaluation
from shoal.agent.policies.model.requests.history import call_text
from shoal.agent.support.json_value import Json
from shoal.agent.types import Action
from shoal.services.errors import BadInput
from shoal.services.evaluation.episode import EpisodeResult
from shoal.services.evaluation.runner import Folder


def look(folder: Folder, name: str) -> str:
    """Return what the episode `name` did,
    step by step.

    Raises:
        BadInput: the run has no such episode.
    """
    result = next((finished for finished in folder.results() if finished.name == name), None)
    if result is None:
        known = ", ".join(finished.name for finished in folder.results()[:20])
        raise BadInput(f"there is no finished episode {name!r}; there are: {known}")
    lines = list(_head(result))
    kept = folder.steps(name) / "episode.json"
    if kept.exists():
        for session in orjson.loads(kept.read_bytes())["sessions"]:
            lines += _session(session)
        lines += ["", f"pictures and prompts: {kept.parent}"]
    return "\n".join(lines)


def _head(result: EpisodeResult) -> Iterator[str]:
    yield f"{result.name}: {'success' if result.success else f'failure ({result.failure}): {result.why}'}"
    yield f"job {result.job} {result.status}, {result.steps} steps, {result.tokens:,} tokens, {result.seconds:.1f} s"
    if result.verdict is not None:
        judged = Evaluation(result.verdict, {}, result.reason)
        yield f"judge: {judged.complete} ({judged.verdict}): {judged.reason}"
        yield from (f"  {name}: {met}" for name, met in result.sub_scores.items())


def _session(session: Mapping[str, Json]) -> Iterator[str]:
    item = session["item"]
    yield ""
    yield f"session {session['id']} {session['status']}" + (f", value {item['value']}" if item else "")
    for number, attempt in enumerate(session["attempts"], 1):
        if len(session["attempts"]) > 1:
            yield f" attempt {number}"
        for task in attempt:
            yield f" {task['type']}: {task['plan']} -> {task['status']}" + (
                f", {task['reason']}" if task["reason"] else ""
            )
            for step in task["steps"]:
                yield from _step(step)
    if session["error"]:
        yield f" error {session['error']['code']}: {session['error']['message']}"


def _step(step: Mapping[str, Json]) -> Iterator[str]:
    yield f"  {step['index'] + 1}. on {step['url']} ({step['seconds']:.1f} s): {step['thought']}"
    for result in step["results"]:
        call = call_text(Action(result["action"]["name"], result["action"]["args"]))
        error = result["error"]
        yield f"     {call} -> {error['message'] if error else 'done'}"
    if step["screenshot"]:
        yield f"     picture {step['screenshot']}"
