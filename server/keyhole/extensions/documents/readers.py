"""Find the reader of a document by its media type. Readers are imported on first use."""

from __future__ import annotations

from typing import Final

from keyhole.errors import KeyholeError
from keyhole.extract.body import Body, Reader
from keyhole.runtime.extensions import load_function

_OPEN_XML: Final = "application/vnd.openxmlformats-officedocument."
_READERS: Final = {
    "application/pdf": "pdf.reader:read_pdf",
    "application/epub+zip": "epub:read_epub",
    "application/rtf": "office:read_rtf",
    "application/x-ole-storage": "office:read_ole",
    f"{_OPEN_XML}wordprocessingml.document": "office:read_docx",
    f"{_OPEN_XML}presentationml.presentation": "office:read_pptx",
    f"{_OPEN_XML}spreadsheetml.sheet": "workbook:read_xlsx",
    **{
        f"application/vnd.oasis.opendocument.{kind}{form}": "open_document:read_open_document"
        for kind in ("text", "spreadsheet", "presentation", "graphics")
        for form in ("", "-template")
    },
}
"""Readers by media type. A reader is used only if the body starts with the signature of its format."""


class DocumentReaders:
    """The implementation of the port `DocumentFormats`."""

    def sniff_archive(self, body: Body) -> str:
        """Return the media type of the document in a ZIP file. For a damaged file, return a declared document type."""
        from keyhole.extensions.documents.zip_archive import Archive  # imports zipfile, which PDF does not need

        declared = body.content_type.partition(";")[0].strip().lower()
        try:
            return Archive(body).media_type()
        except KeyholeError:
            documents = ("application/vnd.openxmlformats-", "application/epub+zip")
            return declared if declared.startswith(documents) else "application/zip"

    def find_reader(self, media_type: str) -> Reader | None:
        """Return the reader of a media type, or None for an unsupported type."""
        name = _READERS.get(media_type)
        reader: Reader | None = load_function(f"keyhole.extensions.documents.{name}") if name else None
        return reader
