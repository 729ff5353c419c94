"""Rank passages by meaning with a local model, which the user installs, or with models behind HTTP APIs."""

from __future__ import annotations

from keyhole.runtime.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "models": Command("keyhole.extensions.models.arguments:add_models", "keyhole.extensions.models.commands"),
    },
    checks={"Model": "keyhole.extensions.models.commands:check_model"},
    port="keyhole.extensions.models.scorers:open_scorers",
)
