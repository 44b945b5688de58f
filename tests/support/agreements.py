"""Made-up agreements in English, as many as a load test needs, no two alike."""

from __future__ import annotations


def agreement(number: int, sections: int) -> str:
    """Write one; every section becomes a chunk of its own under the default sizes."""
    title = f"Agreement {number}"
    parts = [f"---\ntitle: {title}\ndoc_type: contract\n---\n# {title}\n"]
    for section in range(sections):
        about = _SUBJECTS[(number + section) % len(_SUBJECTS)]
        parts.append(
            f"## {section + 1}. {about.capitalize()}\n\n"
            f"Clause {number}.{section} settles {about} for sites of grade "
            f"{1 + section % 7}. {_REVIEW}\n\n"
            f"- Notice is given {10 + section} days ahead, in writing.\n"
            f"- The above limits do not apply to renewals of lot {number}.\n"
        )
    return "\n".join(parts)


_SUBJECTS = (
    "late delivery",
    "spare parts",
    "access to the premises",
    "liability",
    "working hours",
    "price changes",
    "handover",
    "data that leaves the site",
)

_REVIEW = (
    "Either party may ask for a review once a year, and the other answers within a "
    "month. What was agreed before stays in force until both have signed the change; "
    "costs of the review are shared. Where a site is closed for longer than a "
    "quarter, the term is suspended and runs on from the day it opens again."
)
