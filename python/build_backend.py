"""The build backend of maturin, which fails at once if Rust is missing, instead of fetching a compiler in silence."""

import shutil

import maturin
from maturin import *  # noqa: F403  (the other hooks of a build backend, PEP 517)


def get_requires_for_build_wheel(config_settings=None):
    _need_cargo()
    return maturin.get_requires_for_build_wheel(config_settings)


def get_requires_for_build_editable(config_settings=None):
    _need_cargo()
    return maturin.get_requires_for_build_editable(config_settings)


def _need_cargo():
    if shutil.which("cargo") is None:
        raise SystemExit(
            "transect is compiled here, which takes minutes and needs cargo, and there is none on PATH: "
            "install Rust from https://rustup.rs, or install a wheel"
        )
