"""Register Keyhole with clients, and check the installation."""

from __future__ import annotations

from keyhole.runtime.extensions import Command, Extension

EXTENSION = Extension(
    commands={
        "install": Command(
            "keyhole.extensions.install.arguments:add_install",
            "keyhole.extensions.install.commands",
            needs_settings=False,
        ),
        "uninstall": Command(
            "keyhole.extensions.install.arguments:add_uninstall",
            "keyhole.extensions.install.uninstall",
            needs_settings=False,
        ),
        "doctor": Command(
            "keyhole.extensions.install.arguments:add_doctor",
            "keyhole.extensions.install.doctor.commands",
            needs_settings=False,
        ),
    },
)
