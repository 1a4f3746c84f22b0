"""A run as a report: success with its interval, cost, failures by class, beside an earlier run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from statistics import mean, median

from shoal.agent.support.json_value import Json
from shoal.services.evaluation.episode import EpisodeResult
from shoal.services.evaluation.statistics import Agreement, Rate, agreement, change, rate

_SHOWN_CHANGES = 20


def report(
    results: Sequence[EpisodeResult],
    earlier: Sequence[EpisodeResult] = (),
    *,
    about: Mapping[str, Json],
    about_earlier: Mapping[str, Json] | None = None,
) -> dict[str, Json]:
    """Everything that is to be said about a run, as JSON.

    Args:
        results: of this run.
        earlier: of the run that it is set beside; empty: none.
        about: suite, policy and model of this run.
        about_earlier: the same of the other run.
    """
    groups = list(dict.fromkeys(result.group for result in results))
    before = {result.name: result.success for result in earlier}
    names = {result.name for result in results}
    compared = [result for result in earlier if result.name in names]
    summary: dict[str, Json] = {
        "about": dict(about),
        "all": _figures(results, compared),
        "groups": {
            group: _figures([r for r in results if r.group == group], [r for r in compared if r.group == group])
            for group in groups
        },
        "failures": _failures(results),
        "judge": _agreements(results),
    }
    if earlier:
        summary["before"] = {"about": dict(about_earlier or {}), "failures": _failures(compared)}
        summary["change"] = asdict(change(before, {result.name: result.success for result in results}))
    return summary


def _figures(results: Sequence[EpisodeResult], earlier: Sequence[EpisodeResult]) -> dict[str, Json]:
    figures: dict[str, Json] = {
        "success": asdict(_rate(results)),
        "steps": _spread([result.steps for result in results]),
        "tokens": _spread([result.tokens for result in results]),
        "model_calls": _spread([result.model_calls for result in results]),
        "seconds": _spread([result.seconds for result in results]),
    }
    if earlier:
        figures["before"] = _figures(earlier, ())
    return figures


def _failures(results: Sequence[EpisodeResult]) -> dict[str, int]:
    return dict(Counter(result.failure for result in results if not result.success).most_common())


def _rate(results: Sequence[EpisodeResult]) -> Rate:
    return rate(sum(result.success for result in results), len(results))


def _spread(values: Sequence[float]) -> dict[str, float] | None:
    if not values:
        return None
    return {"mean": mean(values), "median": median(values), "max": max(values), "sum": sum(values)}


def _agreements(results: Sequence[EpisodeResult]) -> dict[str, Json]:
    """The judge against people's labels, and against the checks."""
    judged = [result for result in results if result.verdict is not None]
    labelled = [result for result in judged if result.label is not None]
    with_labels = agreement([str(r.verdict) for r in labelled], [str(r.label) for r in labelled])
    with_checks = agreement([str(r.verdict) for r in judged], ["yes" if r.success else "no" for r in judged])
    return {"labels": asdict(with_labels), "checks": asdict(with_checks)}


# --- as text --------------------------------------------------------------------------------------------


def as_text(summary: Mapping[str, Json]) -> str:
    """The report for people, in Markdown."""
    about = summary["about"]
    lines = [f"# {about.get('suite', 'suite')}", ""]
    lines += [f"{name}: {value}" for name, value in about.items() if name != "suite" and value not in ("", None)]
    compared = "before" in summary["all"]
    head = ["task", "episodes", "success (95 % interval)", "steps", "tokens", "seconds"]
    lines += ["", *_table([*head, *(["success before"] if compared else [])])]
    rows = [("all", summary["all"]), *(summary["groups"].items() if len(summary["groups"]) > 1 else ())]
    lines += [_row(name, figures, compared) for name, figures in rows]
    if compared:
        lines += ["", *_beside(summary), "", *_changes(summary["change"])]
    elif summary["failures"]:
        lines += ["", *_table(["failure", "episodes"])]
        lines += [f"| {name} | {count} |" for name, count in summary["failures"].items()]
    for against, scores in summary["judge"].items():
        if scores["cases"]:
            lines += ["", _agreement_line(against, Agreement(**scores))]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]


def _row(name: str, figures: Mapping[str, Json], compared: bool) -> str:
    success = Rate(**figures["success"])
    cells = [name, f"{success.episodes}", str(success)]
    cells += [_number((figures[what] or {}).get("mean")) for what in ("steps", "tokens", "seconds")]
    if compared:
        before = figures.get("before")
        cells.append(str(Rate(**before["success"])) if before else "")
    return "| " + " | ".join(cells) + " |"


def _beside(summary: Mapping[str, Json]) -> list[str]:
    """Costs and failures of both runs, each named by its model or, without one, by its policy."""
    now, before = summary["all"], summary["all"]["before"]
    names = [about.get("model") or about.get("policy", "") for about in (summary["about"], summary["before"]["about"])]
    lines = _table(["per episode", f"this run: {names[0]}", f"before: {names[1]}"])
    for words, figure in (("steps", "steps"), ("calls", "model_calls"), ("tokens", "tokens"), ("seconds", "seconds")):
        costs = [_number((run[figure] or {}).get("mean")) for run in (now, before)]
        lines.append(f"| {words} | {costs[0]} | {costs[1]} |")
    failures = (summary["failures"], summary["before"]["failures"])
    for name in dict.fromkeys([*failures[0], *failures[1]]):
        lines.append(f"| failure: {name} | {failures[0].get(name, 0)} | {failures[1].get(name, 0)} |")
    return lines


def _number(value: float | None) -> str:
    if value is None:
        return ""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.2f}"


def _changes(compared: Mapping[str, Json]) -> list[str]:
    better, worse = compared["better"], compared["worse"]
    lines = [
        f"Of {compared['both']} episodes in both runs {len(better)} got better and {len(worse)} worse "
        f"(p = {compared['p']:.3f}, exact McNemar test)."
    ]
    for words, names in (("better", better), ("worse", worse)):
        if names:
            more = f" and {len(names) - _SHOWN_CHANGES} more" if len(names) > _SHOWN_CHANGES else ""
            lines.append(f"- {words}: {', '.join(names[:_SHOWN_CHANGES])}{more}")
    return lines


def _agreement_line(against: str, scores: Agreement) -> str:
    kappa = "not defined (one answer only)" if scores.kappa is None else f"{scores.kappa:.2f}"
    return (
        f"The judge against the {against}: accuracy {scores.accuracy:.1%} over {scores.cases} cases, "
        f"Cohen's kappa {kappa}; {scores.unsure} unsure."
    )
