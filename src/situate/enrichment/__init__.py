"""One situating sentence per chunk, asked of a model and judged before it is kept.

    async with Session(settings=settings, prompt=prompt, ...) as session:
        chunks = await session.enrich(document, chunks)

`plan` and `estimate` say what that sends and costs, and send nothing. A session
serves one corpus; `ScriptedProvider` stands for a model in tests.
"""

from situate.enrichment.budget import check_limits
from situate.enrichment.cache import Cache
from situate.enrichment.estimate import Estimate, estimate
from situate.enrichment.exchange import Parameters, Provider, Rendered, Reply
from situate.enrichment.ledger import Ledger
from situate.enrichment.live import Session, Summary
from situate.enrichment.plan import DocumentPlan, plan
from situate.enrichment.providers import open_provider
from situate.enrichment.providers.scripted import ScriptedProvider
from situate.enrichment.questions import Passage, PlannedRequest
from situate.enrichment.settings import Settings
from situate.prompts import Prompt, load_prompt
from situate.usage import Usage

__all__ = [
    "Cache",
    "DocumentPlan",
    "Estimate",
    "Ledger",
    "Parameters",
    "Passage",
    "PlannedRequest",
    "Prompt",
    "Provider",
    "Rendered",
    "Reply",
    "ScriptedProvider",
    "Session",
    "Settings",
    "Summary",
    "Usage",
    "check_limits",
    "estimate",
    "load_prompt",
    "open_provider",
    "plan",
]
