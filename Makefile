# `make demo` shows what Keyhole does, `make test` runs all checks, `make docs` builds the site. `make sdks` tests
# conversations with the SDKs of providers and frameworks, `make nightly` many more of them, `make release-check` a release. Each installs its requirements.
PYTHON ?= python3
BIN := .venv/bin
SDKS := PYTHONPATH=server:. .venv-sdks/bin/python
# Random conversations of `make sdks`, in each format.
FUZZ ?= 250

.PHONY: demo test docs sdks nightly release-check lock clean

demo: .venv/installed
	@$(BIN)/keyhole demo

test: .venv/installed
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/pytest -n 3 --dist loadfile --no-loadscope-reorder

docs: .venv/installed
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "site/index.html"

# The SDKs leave sockets and event loops open, which Python finds when it collects garbage: at the end, or in any test.
sdks: .venv-sdks/installed
	$(SDKS) -m pytest tests/sdks -p no:randomly -p no:unraisableexception -W ignore::ResourceWarning
	$(SDKS) -m tests.sdks.fuzz --count $(FUZZ)
	$(SDKS) -m tests.sdks.fuzz --count $(FUZZ) --sdk

nightly: .venv/installed
	$(MAKE) sdks FUZZ=5000
	$(BIN)/pytest tests/passages/test_select_properties.py tests/retrieval --hypothesis-profile thorough -n 2
	$(BIN)/python -m benchmarks.extraction.mutations.pdf --count 2000

# Everything of a release but the uploads. OWNER and CONTACT take the places of what the tree does not have yet.
release-check: .venv/installed
	@OWNER="$(OWNER)" CONTACT="$(CONTACT)" TAG="$(TAG)" $(BIN)/python packaging/release_check.py

# Runs again only when requirements.txt or pyproject.toml change. requirements.txt has hashes, so versions are exact.
.venv/installed: requirements.txt pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Keyhole needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

# Keyhole is not installed there: it runs from the source tree. Runs again only when the requirements change.
.venv-sdks/installed: tests/sdks/requirements.txt
	$(PYTHON) -m venv .venv-sdks
	.venv-sdks/bin/python -m pip install --quiet --disable-pip-version-check --no-deps -r tests/sdks/requirements.txt
	@touch $@

# Write requirements.txt for every supported Python and platform, without index URLs.
lock:
	uv pip compile --universal --generate-hashes --no-header --no-annotate --python-version 3.11 \
		--extra dev --output-file requirements.txt pyproject.toml

clean:
	rm -rf .venv .venv-sdks .mypy_cache .ruff_cache .pytest_cache .hypothesis site
