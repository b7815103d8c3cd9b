# All set-up is done once, by the first command that needs it.
SHELL := /bin/bash
PYTHON ?= python3
ARGS ?=

.PHONY: help run test test-pages test-formats lint setup setup-tests clean

help:
	@echo "make run             start a simulated arm and its page (ARGS=\"num_envs:=2 port:=8081\" for launch arguments)"
	@echo "make test            run all checks and tests"
	@echo "make test-pages      run the long tests of the pages of phone, headset, gamepad and SpaceMouse"
	@echo "make test-formats    load exports with lerobot's and robomimic's own loaders (installs 9 GB in build/formats, once)"
	@echo "make lint            run ruff and mypy alone"
	@echo "make setup           do the set-up and nothing else"
	@echo "make setup-tests     the same, with what tests and benchmarks need"
	@echo "make clean           remove everything that set-up and tests have made, but not datasets/"
	@echo "PYTHON=python3.12 make run   with another Python (3.11 to 3.13)"

setup:
	@$(PYTHON) tools/set_up.py

setup-tests:
	@$(PYTHON) tools/set_up.py --tests

run: setup
	@. tools/env.sh && exec cobalt up sim.launch.xml $(ARGS)

test: setup-tests
	@. tools/env.sh && exec python3 tools/run_tests.py

test-pages: setup-tests
	@. tools/env.sh && exec python3 tools/run_tests.py --long-pages

test-formats: setup-tests
	@. tools/env.sh && exec python3 tests/formats/round_trip.py

lint: setup-tests
	@. tools/env.sh && exec python3 tools/run_tests.py --lint

clean:
	@rm -rf .venv build install log .mypy_cache .ruff_cache .hypothesis .pytest_cache
	@find . -name __pycache__ -type d -prune -exec rm -rf {} +
	@echo "Removed the virtual environment, what was built, and caches. Recorded episodes stay."
