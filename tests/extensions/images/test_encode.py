"""Images encoded again, from files that Pillow makes."""

from __future__ import annotations

import asyncio
import io
import os
from random import Random
from typing import Any

import pytest
from PIL import Image

from keyhole.config.config import Config
from keyhole.errors import Code, KeyholeError
from keyhole.extensions.images.encode import MAX_BYTES, encode, encode_task
from keyhole.extract.workers.tasks import Result
from keyhole.extract.workers.worker_pool import WorkerPool

SIDE, PIXELS = 1_568, 1_200_000
RED, BLUE = (255, 0, 0), (0, 0, 255)


def file_of(image: Image.Image, format: str, **options: Any) -> bytes:
    written = io.BytesIO()
    image.save(written, format, **options)
    return written.getvalue()


def encoded(body: bytes, side: int = SIDE, pixels: int = PIXELS) -> Image.Image:
    values, data = encode({"max_side": side, "max_pixels": pixels}, [body])
    image = Image.open(io.BytesIO(data))
    assert values == {"media_type": f"image/{str(image.format).lower()}", "width": image.width, "height": image.height}
    assert len(data) <= MAX_BYTES
    return image


def noise(mode: str, side: int) -> Image.Image:
    bands = len(mode)
    return Image.frombytes(mode, (side, side), Random(1).randbytes(side * side * bands))


def is_near(image: Image.Image, color: tuple[int, ...]) -> bool:
    pixel = image.convert("RGB").getpixel((image.width // 2, image.height // 2))
    assert isinstance(pixel, tuple)
    return all(abs(one - other) < 6 for one, other in zip(pixel, color, strict=True))


@pytest.mark.parametrize("format", ["PNG", "JPEG", "GIF", "WEBP", "AVIF", "BMP", "ICO"])
def test_an_image_of_each_format_is_shown_in_its_colors(format: str) -> None:
    image = encoded(file_of(Image.new("RGB", (64, 48), RED), format))
    assert is_near(image, RED)


@pytest.mark.parametrize(
    ("image", "format", "color"),
    [
        (Image.new("CMYK", (40, 30), (0, 255, 255, 0)), "JPEG", RED),
        (Image.new("I;16", (40, 30), 40_000), "PNG", (155, 155, 155)),
        (Image.new("1", (40, 30), 1), "PNG", (255, 255, 255)),
        (Image.new("LA", (40, 30), (90, 255)), "PNG", (90, 90, 90)),
    ],
)
def test_other_color_models_become_rgb(image: Image.Image, format: str, color: tuple[int, ...]) -> None:
    shown = encoded(file_of(image, format))
    assert shown.mode in ("RGB", "RGBA")
    assert is_near(shown, color)


def test_a_large_image_is_scaled_down_to_the_longer_side_and_to_the_pixels() -> None:
    assert encoded(file_of(Image.new("RGB", (4_000, 400), RED), "PNG")).size == (1_568, 156)
    assert encoded(file_of(Image.new("RGB", (3_000, 2_000), RED), "JPEG")).size == (1_341, 894)
    assert encoded(file_of(Image.new("RGB", (300, 200), RED), "PNG"), pixels=15_000).size == (150, 100)
    assert encoded(file_of(Image.new("RGB", (9_000, 1), RED), "PNG")).size == (1_568, 1)


def test_a_small_image_keeps_its_size() -> None:
    assert encoded(file_of(Image.new("RGB", (16, 9), RED), "PNG")).size == (16, 9)


def test_of_an_animation_the_first_frame_is_shown() -> None:
    frames = [Image.new("RGB", (20, 20), color) for color in (BLUE, RED)]
    for format in ("GIF", "WEBP", "PNG"):
        assert is_near(encoded(file_of(frames[0], format, save_all=True, append_images=frames[1:])), BLUE)


def test_transparent_parts_stay_transparent() -> None:
    image = encoded(file_of(Image.new("RGBA", (40, 30), (255, 0, 0, 100)), "PNG"))
    assert image.getpixel((1, 1)) == (255, 0, 0, 100)


def test_an_image_that_does_not_compress_is_made_smaller_until_it_fits() -> None:
    for mode in ("RGB", "RGBA"):
        assert encoded(file_of(noise(mode, 1_000), "PNG", compress_level=0)).width in (490, 700)


def test_no_metadata_is_left_and_the_image_is_turned_as_it_says() -> None:
    exif = Image.Exif()
    exif[0x0112], exif[0x010E] = 6, "a secret place"
    options: dict[str, Any] = {"exif": exif, "comment": b"a secret place", "icc_profile": b"a secret place" * 20}
    _, data = encode({"max_side": SIDE, "max_pixels": PIXELS}, [file_of(noise("RGB", 300), "JPEG", **options)])
    assert b"secret" not in data
    assert not Image.open(io.BytesIO(data)).getexif()
    assert encoded(file_of(Image.new("RGB", (60, 40), RED), "JPEG", exif=exif)).size == (40, 60)


@pytest.mark.parametrize("size", [(6_000, 5_000), (20_000, 20_000)])
def test_an_image_of_too_many_pixels_is_refused_before_it_is_decoded(size: tuple[int, int]) -> None:
    body = file_of(Image.new("1", size), "PNG")
    with pytest.raises(KeyholeError) as caught:
        encoded(body)
    assert caught.value.code is Code.DECOMPRESSION_BOMB


def test_a_damaged_image_is_a_named_error() -> None:
    whole = file_of(noise("RGB", 200), "PNG")
    for body in (whole[:40], whole[: len(whole) // 2], b"%!PS-Adobe-3.0 EPSF-3.0\n", os.urandom(100)):
        with pytest.raises(KeyholeError) as caught:
            encoded(body)
        assert caught.value.code is Code.EXTRACTION_FAILED


def test_the_same_image_gives_the_same_bytes() -> None:
    body = file_of(noise("RGB", 500), "JPEG")
    arguments = {"max_side": 100, "max_pixels": PIXELS}
    assert encode(arguments, [body]) == encode(arguments, [body])


def test_a_worker_encodes_the_largest_image_within_its_memory() -> None:
    async def run() -> Result:
        pool = WorkerPool(Config())
        try:
            return await pool.run(encode_task(file_of(Image.new("RGB", (5_000, 5_000), RED), "JPEG"), SIDE, PIXELS))
        finally:
            await pool.aclose()

    values, data = asyncio.run(run())
    assert (values["width"], values["height"]) == (1_095, 1_095)
    assert is_near(Image.open(io.BytesIO(data)), RED)


def test_without_the_library_the_error_says_where_the_command_is_that_installs_it() -> None:
    with pytest.raises(KeyholeError) as caught:
        encode_task(b"", SIDE, PIXELS, library="no_such_library")
    assert caught.value.code is Code.UNSUPPORTED_MEDIA
    assert "extra [images], whose command `keyhole doctor` prints" in caught.value.message
