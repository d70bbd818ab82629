# What people and machines run. Every target does its own set-up in .venv; nothing else is needed but python3.

PYTHON ?= python3
BIN := .venv/bin
unexport PYTHONDONTWRITEBYTECODE # or else each of the many processes compiles whatever it loads

.PHONY: help setup demo docs wheel test test-long test-nightly check bench bench-peers against reliability guards planted goldens pictures tables ratings lock clean

help:
	@echo "make demo      run a small tournament of each game, with two bad players each; leaves reports and pictures in demo/"
	@echo "make test      run the tests in pure Python, and then those that compare with the kernels in C"
	@echo "make test-long run those that make test leaves out: attacks, repetition, browsers, terminals, programs in other languages"
	@echo "make test-nightly  run repetition at full length, the planted bugs of the meters, and those of tests/planted (hours)"
	@echo "make check     ruff, mypy, import-linter, doctests"
	@echo "make docs      build the site of documentation into site/; it can be read from disk"
	@echo "make wheel     build what pip installs into dist/"
	@echo "make bench     measure, and show a table"
	@echo "make bench-peers  measure beside other libraries, and write docs/benchmarks.md anew (a few minutes; installs them into .peers)"
	@echo "make against REV=...  measure this tree against another commit, by turns, and show the ratios"
	@echo "make reliability  crash, kill, cut, tamper and fail, and count what was lost (a few minutes)"
	@echo "make guards    show that every meter of reliability catches a planted bug"
	@echo "make planted   plant each bug of tests/planted, and show that tests notice (BUGS=... for some; minutes)"
	@echo "make goldens   write the golden playthroughs, pictures and example bots and the protocol's transcript and schema anew; review the difference"
	@echo "make pictures  take the pictures of README and docs anew"
	@echo "make tables    write the tables of files in the READMEs and of the settings of a server anew"
	@echo "make ratings   play the ladders of built-in players, and write their ratings anew (minutes; goes on if it was interrupted)"
	@echo "make lock      work out requirements/ anew (needs uv)"
	@echo "make setup     only the .venv, with everything in it"

setup: .venv/kernels

.venv/ready: requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "fairplay needs Python 3.11 or later")'
	@if ! $(PYTHON) -c 'import ensurepip, venv' 2>/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		apt-get update -qq && apt-get install -y -qq python3-venv; fi
	@if ! command -v bwrap >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing bubblewrap, for the sandbox of programs"; apt-get update -qq && apt-get install -y -qq bubblewrap >/dev/null; fi
	@if ! ldconfig -p 2>/dev/null | grep -q libseccomp.so.2 && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing libseccomp2, for the filter of system calls"; apt-get update -qq && apt-get install -y -qq libseccomp2 >/dev/null; fi
	@if ! command -v chromium >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing chromium, for tests of pages"; apt-get update -qq && apt-get install -y -qq chromium >/dev/null; fi
	@if ! command -v go >/dev/null && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
		echo "installing Go, for tests of bots written in it"; apt-get update -qq && apt-get install -y -qq --no-install-recommends golang-go >/dev/null; fi
	@echo "setting up .venv"
	@$(PYTHON) -m venv --clear .venv
	@$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes -r requirements/dev.txt
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

.venv/kernels: .venv/ready hatch_build.py $(wildcard src/fairplay/kernels/*.[ch])
	@$(BIN)/python hatch_build.py
	@touch $@

demo: setup
	@rm -rf demo && mkdir demo
	@for game in fish tsuro q; do \
		echo "-- $$game"; \
		$(BIN)/fairplay tournament examples/cups/$$game.toml --out demo/$$game && \
		$(BIN)/fairplay draw demo/$$game/matches/m00001.jsonl -o demo/$$game.svg || exit; done
	@echo "-- look at demo/fish/report.html and demo/fish.svg, and the same of tsuro and q"

docs: setup
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --quiet --strict
	@echo "-- look at site/index.html"

wheel: setup
	@rm -rf dist
	@$(BIN)/python -m hatchling build -t wheel

WITH_KERNELS := tests/kernels tests/records tests/hosting/test_playouts.py

test: setup
	@FAIRPLAY_PURE=1 $(BIN)/python -m pytest -n 3 --dist loadfile --durations 10 -m quick --ignore tests/kernels
	@echo "-- with the kernels in C:"
	@$(BIN)/python -m pytest -n 3 --dist loadfile -m quick $(WITH_KERNELS)

test-long: setup
	@$(BIN)/python -m pytest -n 5 --dist loadfile --durations 10 -m long

test-nightly: setup
	@$(BIN)/python -m pytest -n 2 --dist loadfile --durations 10 -m nightly
	@$(BIN)/python -m tests.reliability --guards
	@$(BIN)/python -m tests.planted

check: setup
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports
	@$(BIN)/python -m pytest -p no:cacheprovider --doctest-modules --doctest-glob='*.md' src README.md docs

bench: setup
	@$(BIN)/python benchmarks/run.py
	@$(BIN)/python benchmarks/distances.py
	@$(BIN)/python benchmarks/tournament.py
	@$(BIN)/python benchmarks/kernels.py

bench-peers: setup
	@$(BIN)/python -m benchmarks.peers

against: setup
	@$(BIN)/python benchmarks/compare_commits.py $(REV) $(NAMES)

reliability: setup
	@$(BIN)/python -m tests.reliability

guards: setup
	@$(BIN)/python -m tests.reliability --guards

planted: setup
	@$(BIN)/python -m tests.planted $(BUGS)

goldens: setup
	@$(BIN)/python -m tests.records.goldens
	@$(BIN)/python -m tests.render.goldens
	@$(BIN)/python -m tools.schema
	@$(BIN)/python -m tests.examples.transcript
	@$(BIN)/python -m tests.examples.template_bots

pictures: setup
	@$(BIN)/python -m tools.match_gif
	@$(BIN)/python -m tools.terminal_recording
	@$(BIN)/python -m tools.screenshot

tables: setup
	@$(BIN)/python -m tools.server_settings
	@$(BIN)/python -m tools.readme_tables

ratings: setup
	@$(BIN)/python -m benchmarks.ladders before
	@for tournament in benchmarks/ladders/*.toml; do \
		echo "-- $$tournament"; \
		$(BIN)/fairplay tournament $$tournament --out .ladders/$$(basename $$tournament .toml) || exit; done
	@$(BIN)/python -m benchmarks.ladders after
	@$(BIN)/python -m tools.server_settings
	@$(BIN)/python -m tools.readme_tables

lock:
	uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-header --group dev pyproject.toml -o requirements/dev.txt

clean:
	rm -rf .venv .peers .ladders .ladders.old demo site dist .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache
