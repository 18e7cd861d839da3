"""`ralph show LOOP N --events`: what an agent's stream said, event by event, in the words of the live view."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from ralphloop.core.messages import Event
from ralphloop.views.events import EventLines
from ralphloop.views.facts import Title
from ralphloop.views.layout import layout
from ralphloop.views.style import Style


def replay(title: str, events: Iterable[Event], style: Style) -> Iterator[str]:
    """The lines of one attempt, as they were shown while it ran."""
    yield from layout(Title(text=title), style)
    lines = EventLines(style)
    for event in events:
        yield from lines.lines(event)
