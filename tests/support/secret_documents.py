"""Documents full of secrets, of which every word stands in secrets alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable
    from random import Random

SECRETS = (
    "Quillon Vexmoor",
    "QX89 3704 0044 0532 0130 77",
    "Zebrano",
    "quagga " + " ".join(f"zq{number}" for number in range(30)) + " xylem",
)
"""What is to be hidden."""

EXPRESSIONS = (
    "Quillon Vexmoor",
    "QX[0-9]{2}( [0-9]{2,4}){5}",
    r"\bZebrano\b",
    "(?s)quagga.*?xylem",
)
"""What finds them where they stand in one spelling."""

TELLING = frozenset(word for secret in SECRETS for word in secret.split())
"""Words that nobody may be shown."""

_COMMON = ("the", "rule", "applies", "to", "all.", "It", "holds:", "when", "others")


def secret_document(chance: Random, laid_out: Callable[[str], str]) -> str:
    """Write a Markdown document; `laid_out` says how a secret stands in running text.

    Headings, tables, lists and code hold secrets as they are.
    """
    blocks = [f"# {_line(chance, 8)}"]
    for _ in range(chance.randint(1, 7)):
        match chance.randint(0, 6):
            case 0:
                heading = _line(chance, chance.choice((4, 30)))
                blocks.append("#" * chance.randint(2, 4) + f" {heading}")
            case 1 | 2:
                words = _words(chance, chance.choice((10, 80, 160)))
                blocks.append(" ".join(map(laid_out, words)))
            case 3:
                items = (f"- {_line(chance, 20)}" for _ in range(chance.randint(1, 9)))
                blocks += [f"Lead in {_line(chance, 5)}:", "\n".join(items)]
            case 4:
                blocks.append(_table(chance))
            case 5:
                lines = (_line(chance, 12) for _ in range(chance.randint(1, 9)))
                blocks.append("```\n" + "\n".join(lines) + "\n```")
            case _:
                quoted = " ".join(map(laid_out, _words(chance, 30)))
                blocks.append("> " + quoted.replace("\n", "\n> "))
    return "\n\n".join(blocks) + "\n"


def _table(chance: Random) -> str:
    columns = chance.randint(1, 3)

    def row(longest: int) -> str:
        cells = (_line(chance, longest) for _ in range(columns))
        return f"| {' | '.join(cells)} |"

    rows = (row(chance.choice((4, 24))) for _ in range(chance.randint(1, 6)))
    return "\n".join([row(chance.choice((4, 16))), "|" + "---|" * columns, *rows])


def _line(chance: Random, longest: int) -> str:
    return " ".join(_words(chance, longest))


def _words(chance: Random, longest: int) -> list[str]:
    count = chance.randint(1, longest)
    return [
        chance.choice(SECRETS if chance.random() < 0.02 else _COMMON)
        for _ in range(count)
    ]
