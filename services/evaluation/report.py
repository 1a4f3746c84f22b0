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
    results: Sequence[EpisodeResult], earlier: Sequence[EpisodeResult] = (), *, about: Mapping[str, Json]
) -> dict[str, Json]:
    """Everything that is to be said about a run, as JSON.

    Args:
        results: of this run.
        earlier: of the run that it is set beside; empty: none.
        about: what this run was: suite, policy, model.
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
        "failures": dict(Counter(result.failure for result in results if not result.success).most_common()),
        "judge": _agreements(results),
    }
    if earlier:
        summary["change"] = asdict(change(before, {result.name: result.success for result in results}))
    return summary


def _figures(results: Sequence[EpisodeResult], earlier: Sequence[EpisodeResult]) -> dict[str, Json]:
    figures: dict[str, Json] = {
        "success": asdict(_rate(results)),
        "score": mean([result.score for result in results]) if results else None,
        "steps": _spread([result.steps for result in results]),
        "tokens": _spread([result.tokens for result in results]),
        "model_calls": _spread([result.model_calls for result in results]),
        "seconds": _spread([result.seconds for result in results]),
    }
    if earlier:
        figures["before"] = {
            "success": asdict(_rate(earlier)),
            "steps": _spread([result.steps for result in earlier]),
            "tokens": _spread([result.tokens for result in earlier]),
            "seconds": _spread([result.seconds for result in earlier]),
        }
    return figures


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
    head = ["task", "episodes", "success (95 % interval)", "score", "steps", "tokens", "seconds"]
    lines += ["", *_table([*head, *(["success before", "tokens before"] if compared else [])])]
    rows = [("all", summary["all"]), *(summary["groups"].items() if len(summary["groups"]) > 1 else ())]
    lines += [_row(name, figures, compared) for name, figures in rows]
    if summary["failures"]:
        lines += ["", *_table(["failure", "episodes"])]
        lines += [f"| {name} | {count} |" for name, count in summary["failures"].items()]
    if "change" in summary:
        lines += ["", *_changes(summary["change"])]
    for against, scores in summary["judge"].items():
        if scores["cases"]:
            lines += ["", _agreement_line(against, Agreement(**scores))]
    return "\n".join(lines) + "\n"


def _table(head: Sequence[str]) -> list[str]:
    return ["| " + " | ".join(head) + " |", "|" + " --- |" * len(head)]


def _row(name: str, figures: Mapping[str, Json], compared: bool) -> str:
    success = Rate(**figures["success"])
    cells = [name, f"{success.episodes}", str(success), _number(figures["score"])]
    cells += [_number((figures[what] or {}).get("mean")) for what in ("steps", "tokens", "seconds")]
    if compared:
        before = figures.get("before")
        cells += [str(Rate(**before["success"])), _number((before["tokens"] or {}).get("mean"))] if before else ["", ""]
    return "| " + " | ".join(cells) + " |"


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
