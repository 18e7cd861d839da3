"""`ralph explain LOOP N`: why iteration N was, or was not, taken for done."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ralphloop.core import messages as m
from ralphloop.core.claims import ClaimReading
from ralphloop.core.model import Kind, Strength
from ralphloop.views.facts import Line, Moment, Row, Title, moments
from ralphloop.views.keys import Key, obstacles, read_keys
from ralphloop.views.layout import layout
from ralphloop.views.show import iteration_of
from ralphloop.views.style import Style
from ralphloop.views.text import clean, clip, one_line
from ralphloop.views.words import outcome_words

WHOLE = 60
AROUND_A_TAG = 3
AT_THE_END = 20
LONGEST_LINE = 400


def render_explain(entries: Iterable[m.Entry], number: int, final_words: str | None, style: Style) -> str:
    """What was read in the final words of the iteration, both keys, and the decision. Without words, those of the ledger.

    LookupError where the loop has no such iteration.
    """
    turn = iteration_of(list(moments(entries)), number)
    ended = next((seen.entry for seen in reversed(turn) if isinstance(seen.entry, m.AttemptEnded)), None)
    said = final_words if final_words is not None else ended.stream.final_words if ended else ""
    lines = [line for row in _head(turn, ended) for line in layout(row, style)]
    if turn[0].after.spec.work.kind is not Kind.FOLDER:  # there is nothing to look for in words: DONE counts
        lines += _quoted(said, ended.claim if ended else None, style)
    lines += [line for row in _body(turn, ended) for line in layout(row, style)]
    return "\n".join(lines).lstrip("\n") + "\n"


def _head(turn: Sequence[Moment], ended: m.AttemptEnded | None) -> Iterator[Row]:
    yield Title(text=f"Iteration {turn[0].after.iteration} of {one_line(turn[0].after.spec.name)}")
    if turn[0].after.spec.work.kind is Kind.FOLDER:
        return
    where = "the agent's final words" if ended else "no attempt of this iteration came to its end: there are no final words"
    yield Line(label="looked", text=f"at {where}" if ended else where)


def _quoted(said: str, reading: ClaimReading | None, style: Style) -> list[str]:
    """The words with their line numbers; of many lines, those around tags and the last ones."""
    lines = said.replace("\r\n", "\n").rstrip("\n").split("\n")
    shown = _worth_showing(len(lines), {tag.line for tag in reading.tags} if reading else set())
    quoted, before = [], 0
    for number in shown if said.strip() else ():
        if number > before + 1:
            quoted.append("     ┆")
        quoted.append(clip(f"{number:>4} │ {clean(lines[number - 1]).replace(chr(10), ' ').expandtabs(4)}", style.width or LONGEST_LINE).rstrip())
        before = number
    return quoted


def _worth_showing(count: int, tags: set[int]) -> list[int]:
    if count <= WHOLE:
        return list(range(1, count + 1))
    near = {line for tag in tags for line in range(tag - AROUND_A_TAG, tag + AROUND_A_TAG + 1)}
    return sorted(line for line in near | set(range(count - AT_THE_END + 1, count + 1)) if 1 <= line <= count)


def _body(turn: Sequence[Moment], ended: m.AttemptEnded | None) -> Iterator[Row]:
    if ended is not None and turn[0].after.spec.work.kind is not Kind.FOLDER:
        wanted = one_line(turn[0].after.spec.completion.text)
        yield Line(label="for", text=f"<promise>{wanted}</promise> or <response>{wanted}</response>")
        for tag in ended.claim.tags:
            stands = "stands" if tag.stands else "does not stand"
            yield Line(label=f"line {tag.line}", text=f"{stands}: {one_line(tag.why)}   {one_line(tag.excerpt)}")
        yield Line(label="claim", text=f"{'yes' if ended.claim.claimed else 'no'}: {one_line(ended.claim.why)}")
    closed = next((seen for seen in turn if isinstance(seen.entry, m.IterationEnded)), None)
    if closed is not None:
        disk, evidence = read_keys(closed.before)
        yield _key("key 1", disk)
        yield _key("key 2", evidence)
    yield Line(label="so", text=_decision(turn, closed), colour="bold")


def _key(label: str, key: Key) -> Line:
    against = "; ".join(obstacle for obstacle in key.obstacles if obstacle not in key.found)
    return Line(
        label=label,
        text=f"{'turned' if key.turned else 'not turned'}: {key.found}{f' - {against}' if against else ''}",
        colour="green" if key.turned else "red",
    )


def _decision(turn: Sequence[Moment], closed: Moment | None) -> str:
    if closed is not None and isinstance(closed.entry, m.IterationEnded):
        if not closed.entry.done:
            return f"Not done, because {'; '.join(obstacles(closed.before))}."
        return (
            "Done and proved: both keys are turned." if closed.entry.strength is Strength.PROVED else "Done, but only attested: nothing was checked."
        )
    outcome = turn[-1].after.outcome
    if outcome is not None:
        return f"Not decided: the loop ended before the iteration did ({outcome_words(outcome)})."
    return "Not decided yet: the iteration is still open."
