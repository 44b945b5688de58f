"""`serve`: the same chunks behind an address."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from situate.cli import console
from situate.errors import ConfigError

_MEBIBYTE = 1 << 20
_HOUR = 60 * 60


def serve(  # noqa: PLR0913 - one for each bound there is
    *,
    config_dir: Annotated[
        Path,
        typer.Option(
            help="A folder of corpora: every *.toml but models.toml and "
            "organisation.toml. Read once."
        ),
    ],
    state: Annotated[
        Path, typer.Option(help="The folder that jobs are kept in; of one service.")
    ] = Path(".situate/service"),
    host: Annotated[
        str, typer.Option(help="The address to listen at; others need keys.")
    ] = "127.0.0.1",
    port: Annotated[
        int, typer.Option(min=0, max=65_535, help="0 takes one that is free.")
    ] = 8000,
    grace_seconds: Annotated[
        float,
        typer.Option(
            min=0, max=3_600, help="What is under way may take so long at the end."
        ),
    ] = 30.0,
    max_body_mb: Annotated[
        int, typer.Option(min=1, max=1_024, help="MiB of a body, or of a document.")
    ] = 32,
    max_job_mb: Annotated[
        int, typer.Option(min=1, max=65_536, help="MiB of a job's form of files.")
    ] = 256,
    max_bodies_mb: Annotated[
        int, typer.Option(min=1, max=65_536, help="MiB of all bodies under way.")
    ] = 256,
    max_documents: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Documents of a job.")
    ] = 10_000,
    body_seconds: Annotated[
        float, typer.Option(min=1, max=3_600, help="A body may take so long to come.")
    ] = 60.0,
    requests_per_minute: Annotated[
        int, typer.Option(min=1, max=1_000_000, help="Of each key.")
    ] = 600,
    uploads_per_key: Annotated[
        int, typer.Option(min=1, max=10_000, help="At once.")
    ] = 64,
    streams_per_key: Annotated[
        int, typer.Option(min=1, max=10_000, help="Events and results at once.")
    ] = 16,
    jobs_per_key: Annotated[
        int, typer.Option(min=1, max=10_000, help="Queued or at work.")
    ] = 20,
    uploads: Annotated[
        int, typer.Option(min=1, max=1_000, help="Uploads at work at once.")
    ] = 8,
    waiting: Annotated[
        int,
        typer.Option(min=0, max=10_000, help="Uploads that wait; more are refused."),
    ] = 32,
    jobs: Annotated[
        int, typer.Option(min=1, max=100, help="Jobs at work at once.")
    ] = 2,
    processes: Annotated[
        int, typer.Option(min=1, max=256, help="Processes that read and cut.")
    ] = 2,
    keep_hours: Annotated[
        int, typer.Option(min=1, max=8_760, help="A job that is over is kept so long.")
    ] = 24,
) -> None:
    """Serve the corpora of a folder over HTTP until told to end.

    Keys come from SITUATE_SERVICE_KEYS, NAME=KEY between white space, or from the file
    that SITUATE_SERVICE_KEYS_FILE names; without any, only this machine is served.
    What is asked of models costs dollars: enrichment.max_usd holds for each upload and
    job, enrichment.max_usd_month for all together, and is required where the model has
    a price. Needs `situate[service]`.

    Exit codes: 0 told to end, and did; 2 a config, key or the address cannot be used;
    4 another service works on the folder of --state.
    """
    with console.errors():
        with console.installed("service"):
            from situate.service.engine.engine import EngineSettings
            from situate.service.values import Bounds
            from situate.service.web import serving as service
            from situate.service.web.limits import Limits
        if max_bodies_mb < max_body_mb:
            message = "--max-bodies-mb: it is below --max-body-mb, so none would fit"
            raise ConfigError(message)
        service.serve(
            service.Serving(
                config_directory=config_dir,
                state=state,
                host=host,
                port=port,
                grace_seconds=grace_seconds,
                limits=Limits(
                    body_bytes=max_body_mb * _MEBIBYTE,
                    job_bytes=max_job_mb * _MEBIBYTE,
                    in_hand_bytes=max_bodies_mb * _MEBIBYTE,
                    documents=max_documents,
                    body_seconds=body_seconds,
                    requests_per_minute=requests_per_minute,
                    uploads=uploads_per_key,
                    streams=streams_per_key,
                ),
                engine=EngineSettings(
                    uploads=uploads, waiting=waiting, jobs=jobs, processes=processes
                ),
                bounds=Bounds(
                    open_jobs_each=jobs_per_key,
                    # No job that may come is larger than all there is room for.
                    stored_bytes=16 * max_job_mb * _MEBIBYTE,
                    stored_bytes_each=4 * max_job_mb * _MEBIBYTE,
                    kept_seconds=keep_hours * _HOUR,
                ),
            ),
            os.environ,
            console.say,
        )
