"""Check the local model: which one is used, whether its files are whole, and how fast it is."""

from __future__ import annotations

from typing import Final

from keyhole.cli.report import Finding, Level
from keyhole.config.config import Config
from keyhole.config.extras import install_command
from keyhole.errors import KeyholeError
from keyhole.store.home import has_models, home_folder

AREA: Final = "Model"


def check(config: Config) -> list[Finding]:
    """Return whether passages are also ranked by meaning, and by what."""
    home = home_folder(config.home)
    if config.model == "auto" and not has_models(home):
        return [Finding(AREA, "model", Level.NOTE, "none is installed; passages are ranked by their words", _advice())]
    if config.model == "off":
        return [Finding(AREA, "model", Level.NOTE, "off; passages are ranked by their words")]
    from keyhole.extensions.models.folder import ModelsFolder
    from keyhole.extensions.models.inference import Inference

    models = ModelsFolder(home)
    try:
        manifest = models.choose(config.model)
        if manifest is None:
            return [Finding(AREA, "model", Level.NOTE, "none is installed completely", _advice())]
        if faults := models.verify(manifest):
            fix = f"Install it again: keyhole models get {manifest.name}."
            return [Finding(AREA, "model", Level.FAIL, f"{manifest.name}: {'; '.join(faults)}", fix)]
        speed = Inference(models.folder_of(manifest.name), manifest).measure_speed()
    except KeyholeError as error:
        return [Finding(AREA, "model", Level.FAIL, error.message, "Set KEYHOLE_MODEL=off to do without it.")]
    return [Finding(AREA, "model", Level.OK, f"{manifest.name}, {speed:.0f} ms a passage")]


def _advice() -> str:
    return f"To rank by meaning too: {install_command('semantic')}, then keyhole models get NAME."
