"""The AGENTS.md convention: find the instruction files that apply, expand their imports, render and serve them."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from filerefs.agentsmd.catalogs import Entry, Library, catalog, entries, inline_bytes_for, tools
    from filerefs.agentsmd.discovery import discover
    from filerefs.agentsmd.documents import Base, Discovery, Doc, Omission, Omitted, Problem
    from filerefs.agentsmd.history import insert, is_injected, keep_conversation, sent_text, strip_injected
    from filerefs.agentsmd.imports import expand_imports
    from filerefs.agentsmd.loader import Loader, Run
    from filerefs.agentsmd.migration import Plan, Step, Written, plan_migration, write_migration
    from filerefs.agentsmd.profiles import CHAIN, CODEX, DEFAULT, EINO, PROFILES, PROJECTCTX, Profile
    from filerefs.agentsmd.refreshing import EachTurn, Frozen, Refreshed, WhenChanged, refresh
    from filerefs.agentsmd.rendering import compose, render, wrap

__all__ = [
    "CHAIN",
    "CODEX",
    "DEFAULT",
    "EINO",
    "PROFILES",
    "PROJECTCTX",
    "Base",
    "Discovery",
    "Doc",
    "EachTurn",
    "Entry",
    "Frozen",
    "Library",
    "Loader",
    "Omission",
    "Omitted",
    "Plan",
    "Problem",
    "Profile",
    "Refreshed",
    "Run",
    "Step",
    "WhenChanged",
    "Written",
    "catalog",
    "compose",
    "discover",
    "entries",
    "expand_imports",
    "inline_bytes_for",
    "insert",
    "is_injected",
    "keep_conversation",
    "plan_migration",
    "refresh",
    "render",
    "sent_text",
    "strip_injected",
    "tools",
    "wrap",
    "write_migration",
]

# Loaded when first asked for, as in the package above.
_HOMES = {
    "catalogs": "Entry Library catalog entries inline_bytes_for tools",
    "discovery": "discover",
    "documents": "Base Discovery Doc Omission Omitted Problem",
    "history": "insert is_injected keep_conversation sent_text strip_injected",
    "imports": "expand_imports",
    "loader": "Loader Run",
    "migration": "Plan Step Written plan_migration write_migration",
    "profiles": "CHAIN CODEX DEFAULT EINO PROFILES PROJECTCTX Profile",
    "refreshing": "EachTurn Frozen Refreshed WhenChanged refresh",
    "rendering": "compose render wrap",
}


def __getattr__(name: str) -> object:
    from importlib import import_module

    for home, names in _HOMES.items():
        if name in names.split():
            value: object = getattr(import_module(f"filerefs.agentsmd.{home}"), name)
            globals()[name] = value
            return value
    message = f"module 'filerefs.agentsmd' has no attribute {name!r}"
    raise AttributeError(message)


def __dir__() -> list[str]:
    return list(__all__)
