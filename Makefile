# `make demo` shows what Keyhole does, `make test` runs all checks, `make docs` builds the site. Each installs its requirements.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test docs lock clean

demo: .venv/installed
	@$(BIN)/keyhole demo

test: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n 2 --dist loadgroup

docs: .venv/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

# Runs again only when requirements.txt or pyproject.toml change. requirements.txt has hashes, so versions are exact.
.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Keyhole needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

# Write requirements.txt for every supported Python and platform, without index URLs.
lock:
	uv pip compile --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
		--extra dev --output-file requirements.txt pyproject.toml

clean:
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache .hypothesis site
