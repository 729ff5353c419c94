"""Read PDF files, office documents and books."""

from __future__ import annotations

from keyhole.runtime.extensions import Extension

EXTENSION = Extension(port="keyhole.extensions.documents.readers:DocumentReaders")
