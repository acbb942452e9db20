"""Fence tags and path-like names, as tables."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from filerefs import kinds

# The rows that the ancestor promises, in its own order.
ANCESTOR = {
    "go": "go",
    "python": "py",
    "javascript": "js mjs cjs",
    "typescript": "ts",
    "tsx": "tsx",
    "jsx": "jsx",
    "rust": "rs",
    "java": "java",
    "kotlin": "kt kts",
    "swift": "swift",
    "c": "c h",
    "cpp": "cc cpp cxx hpp hh",
    "csharp": "cs",
    "ruby": "rb",
    "php": "php",
    "bash": "sh bash zsh",
    "fish": "fish",
    "lua": "lua",
    "sql": "sql",
    "html": "html htm",
    "css": "css",
    "scss": "scss sass",
    "json": "json",
    "yaml": "yaml yml",
    "toml": "toml",
    "xml": "xml",
    "markdown": "md markdown",
    "dockerfile": "dockerfile",
    "terraform": "tf",
    "protobuf": "proto",
    "graphql": "graphql gql",
    "vue": "vue",
    "svelte": "svelte",
    "r": "r",
    "perl": "pl pm",
    "elixir": "ex exs",
    "erlang": "erl",
    "clojure": "clj cljs",
    "scala": "scala",
    "dart": "dart",
    "zig": "zig",
    "nim": "nim",
    "haskell": "hs",
    "ocaml": "ml mli",
    "fsharp": "fs fsx",
}
ANCESTOR_ROWS = [(extension, tag) for tag, extensions in ANCESTOR.items() for extension in extensions.split()]


@pytest.mark.parametrize(("extension", "tag"), ANCESTOR_ROWS)
def test_language_of_the_ancestors_extensions(extension: str, tag: str) -> None:
    """Every extension that the ancestor tags has the same tag, in any folder and any case."""
    assert kinds.language(f"src/a b.{extension}") == tag
    assert kinds.language(f"NAME.{extension.upper()}") == tag


@pytest.mark.parametrize(
    ("path", "tag"),
    [
        pytest.param("Dockerfile", "dockerfile", id="a Dockerfile"),
        pytest.param("ops/DOCKERFILE", "dockerfile", id="a Dockerfile in capitals"),
        pytest.param("Dockerfile.dev", "dockerfile", id="a Dockerfile for a stage"),
        pytest.param("Makefile", "makefile", id="a Makefile"),
        pytest.param("sub/makefile", "makefile", id="a makefile in a folder"),
        pytest.param("rules.mk", "makefile", id="a part of a Makefile"),
        pytest.param("CMakeLists.txt", "cmake", id="CMake's list is no plain text"),
        pytest.param("go.mod", "go", id="a Go module"),
        pytest.param("go.sum", "", id="Go's checksums"),
        pytest.param("Jenkinsfile", "groovy", id="a Jenkinsfile"),
        pytest.param("build.gradle", "groovy", id="a Gradle script"),
        pytest.param("build.gradle.kts", "kotlin", id="a Gradle script in Kotlin"),
        pytest.param("Gemfile", "ruby", id="a Gemfile"),
        pytest.param(".gitignore", "gitignore", id="an ignore file"),
        pytest.param("web/.dockerignore", "gitignore", id="another ignore file"),
        pytest.param(".npmignore", "gitignore", id="an ignore file that no table has"),
        pytest.param("gitignore", "", id="a word that ends like an ignore file"),
        pytest.param(".env.example", "dotenv", id="an example of an environment"),
        pytest.param(".bashrc", "bash", id="a shell's start file"),
        pytest.param("uv.lock", "toml", id="a lock file in TOML"),
        pytest.param("Pipfile.lock", "json", id="a lock file in JSON"),
        pytest.param("yarn.lock", "", id="a lock file in a format of its own"),
        pytest.param("fix.patch", "diff", id="a patch"),
        pytest.param("fix.diff", "diff", id="a diff"),
        pytest.param("setup.cfg", "ini", id="a cfg file"),
        pytest.param("tox.ini", "ini", id="an ini file"),
        pytest.param("run.bat", "bat", id="a batch file"),
        pytest.param("Deploy.ps1", "powershell", id="a PowerShell script"),
        pytest.param("t.csv", "csv", id="a table"),
        pytest.param("log.jsonl", "jsonl", id="JSON lines"),
        pytest.param("a.mts", "typescript", id="a TypeScript module"),
        pytest.param("a.cts", "typescript", id="a TypeScript CommonJS module"),
        pytest.param("types.d.ts", "typescript", id="a TypeScript declaration"),
        pytest.param("App.svelte", "svelte", id="Svelte"),
        pytest.param("post.mdx", "mdx", id="MDX"),
        pytest.param("logo.svg", "xml", id="a drawing that is text"),
        pytest.param("nb.ipynb", "json", id="a notebook"),
        pytest.param("lib.pyi", "python", id="a stub"),
        pytest.param("notes.org", "org", id="an outline"),
        pytest.param("templates/base.html.j2", "jinja", id="the last extension counts"),
        pytest.param("a.py/notes", "", id="an extension of a folder"),
        pytest.param("notes.txt", "", id="plain text"),
        pytest.param("app.log", "", id="a log"),
        pytest.param("LICENSE", "", id="no extension"),
        pytest.param("py", "", id="a name like an extension"),
        pytest.param(".py", "", id="an extension without a stem"),
        pytest.param("a.", "", id="a final dot"),
        pytest.param("a.py~", "", id="a backup"),
        pytest.param("", "", id="nothing"),
    ],
)
def test_language(path: str, tag: str) -> None:
    """The tag comes from the whole name, its start or its last extension."""
    assert kinds.language(path) == tag


PATHS = (
    "NEW.md bad\ufffdname.md src/mian.py x.bin conf.py a.c a.h a.r a.R a.d a.m README.MD l'ecran.txt report.pdf shot.PNG logo.svg "
    "data.xlsx book.docx nb.ipynb poetry.lock dump.tar.gz app.log t.tsv a.go Main.java .eslintrc.json go.mod web/go.sum "
    "CMakeLists.txt src\\main.rs my.file.name.toml"
)


@pytest.mark.parametrize("name", [pytest.param(name, id=ascii(name)) for name in PATHS.split()])
def test_path_extension(name: str) -> None:
    """A name with an extension that files have looks like a path."""
    assert kinds.has_path_extension(name)


WORDS = (
    "v9.2.3 python3.11 2.0 example.com alice.smith app.route app.get app.post app.task app.command app.patch mock.patch np.dot "
    "pytest.fixture pytest.mark.skip foo.bar java.util functools.cache functools.wraps x.setter click.option click.group mcp.tool "
    "app.delete app.put app.head app.options app.websocket celery.task api.resource property.getter pool.map np.sum foo.property "
    "acme.org acme.net acme.io acme.dev acme.ai acme.co acme.app acme.cloud acme.de acme.ru acme.uk notion.so lang.v alice.s prod.env my.keys "
    "types/node scope/pkg a.py/b dir/ .md .py .gitignore Makefile README alice server.kye e.g etc. a..  . .. ..."
)


@pytest.mark.parametrize("name", [*WORDS.split(), "", "a.b.", "md"])
def test_path_extension_of_words(name: str) -> None:
    """Versions, hosts, people, decorators and names without an extension are words."""
    assert not kinds.has_path_extension(name)


def test_tables_are_disjoint() -> None:
    """No extension stands in two rows, and every exception is one of a real row."""
    extensions = " ".join(kinds._EXTENSIONS_BY_LANGUAGE.values()).split()
    names = " ".join(kinds._NAMES_BY_LANGUAGE.values()).split()

    assert len(extensions) == len(set(extensions))
    assert len(names) == len(set(names))
    assert set(extensions).isdisjoint(kinds._OTHER_EXTENSIONS.split())
    assert set(extensions) >= set(kinds._EVERYDAY_EXTENSIONS.split())
    assert all(extension == extension.lower() for extension in [*extensions, *names])


def test_tags_fit_behind_a_fence() -> None:
    """A tag is one word of plain characters."""
    tags = {*kinds._EXTENSIONS_BY_LANGUAGE, *kinds._NAMES_BY_LANGUAGE}

    assert all(tag.isalnum() and tag == tag.lower() for tag in tags)


@given(st.text())
def test_any_name_is_taken(name: str) -> None:
    """No name raises, and a folder in front of it changes nothing."""
    assert kinds.language("folder.py/" + name) == kinds.language(name)
    assert kinds.has_path_extension("folder/" + name) == kinds.has_path_extension(name)
