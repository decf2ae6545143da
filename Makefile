# Every target is one line that names what is done; bin/tachograph.js VERB --help says more.
.DEFAULT_GOAL := help
.PHONY: help setup demo run test check bench up down status doctor report format clean

# The pinned Node and the tools come first, whatever Node the machine has.
export PATH := $(CURDIR)/node_modules/.bin:$(PATH)
TACHOGRAPH := bin/tachograph.js

VEHICLES ?= 3
SPEED ?= 5
SEED ?= 1
# Of "run": the experiment, and what replaces its policy.
EXPERIMENT ?= loadtest/experiments/step.yaml
POLICY ?=
# Of "up".
PORT ?= 8080
DATA ?= data
# Of "report": a result folder.
DIR ?= results/latest
# Of "test": handed to vitest, for instance a folder.
ARGS ?=

help: ## shows this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | awk -F '|' '{ printf "%-16s%s\n", $$1, $$2 }'

# npm writes this file last; it is older than the lock file when another version was checked out.
node_modules/.package-lock.json: package-lock.json
	npm ci --no-audit --no-fund && touch $@

setup: node_modules/.package-lock.json ## installs the npm modules and makes nats-server available
	$(TACHOGRAPH) setup

demo: setup ## replays a recorded drive through the whole pipeline (VEHICLES=3 SPEED=5 SEED=1)
	$(TACHOGRAPH) demo --vehicles $(VEHICLES) --speed $(SPEED) --seed $(SEED)

run: setup ## runs an experiment (EXPERIMENT=loadtest/experiments/step.yaml POLICY=hpa SEED=1)
	$(TACHOGRAPH) run $(EXPERIMENT) $(if $(POLICY),--policy $(POLICY)) $(if $(filter command environment,$(origin SEED)),--seed $(SEED))

test: setup ## runs all tests that this machine can run (ARGS="infra/local")
	vitest run $(ARGS)

check: setup ## format, lint, types, unused code
	npm run --silent check

bench: setup ## decoding, batch format, storage and broker beside their alternatives
	$(TACHOGRAPH) bench

up: setup ## starts the pipeline and leaves it running (PORT=8080 DATA=data)
	$(TACHOGRAPH) up --port $(PORT) --data $(DATA)

down: ## stops what "make up" started; the data stay
	$(TACHOGRAPH) down

status: ## shows how the running pipeline does
	$(TACHOGRAPH) status

doctor: ## says what this machine has, what is missing, and the remedy
	$(TACHOGRAPH) doctor

report: setup ## makes the report of a result folder anew from its raw files (DIR=results/latest)
	$(TACHOGRAPH) report $(DIR)

format: setup ## formats the sources
	oxfmt .

clean: ## stops the pipeline, removes data, state and caches; results and node_modules stay
	$(TACHOGRAPH) down || true; rm -rf data .tachograph coverage
