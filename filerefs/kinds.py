"""What the name of a file says: the tag for its fence, and whether a typed name looks like one of a file.

The table is our own: guessing libraries take longer than a whole turn for one name, and go wrong without the
contents (`.pl` as Prolog, `go.mod` as Modula-2).  The tags are those that highlighters agree on.
"""

from __future__ import annotations

__all__ = ["has_path_extension", "language"]

_EXTENSIONS_BY_LANGUAGE = {
    "ada": "adb ads",
    "asciidoc": "adoc asciidoc",
    "asm": "asm s nasm",
    "astro": "astro",
    "awk": "awk",
    "bash": "sh bash zsh ksh bats",
    "bat": "bat cmd",
    "bibtex": "bib",
    "c": "c h",
    "clojure": "clj cljs cljc edn",
    "cmake": "cmake",
    "cobol": "cob cbl",
    "coffeescript": "coffee",
    "cpp": "cc cpp cxx c++ hpp hh hxx h++ inl ipp tpp ino",
    "crystal": "cr",
    "csharp": "cs csx",
    "css": "css pcss",
    "csv": "csv",
    "cuda": "cu cuh",
    "cython": "pyx pxd pxi",
    "d": "d",
    "dart": "dart",
    "diff": "diff patch rej",
    "dockerfile": "dockerfile containerfile",
    "dot": "dot gv",
    "dts": "dts dtsi",
    "ejs": "ejs",
    "elixir": "ex exs",
    "elm": "elm",
    "erb": "erb",
    "erlang": "erl hrl",
    "fish": "fish",
    "fortran": "f90 f95 f03 f08 f77",
    "fsharp": "fs fsx fsi",
    "gdscript": "gd",
    "gherkin": "feature",
    "glsl": "glsl vert frag comp geom",
    "go": "go",
    "graphql": "graphql gql graphqls",
    "groovy": "groovy gradle gvy",
    "haml": "haml",
    "handlebars": "hbs handlebars mustache",
    "haskell": "hs lhs",
    "haxe": "hx",
    "hcl": "hcl",
    "heex": "heex",
    "hlsl": "hlsl",
    "html": "html htm xhtml",
    "http": "http",
    "ini": "ini cfg",
    "java": "java",
    "javascript": "js mjs cjs",
    "jinja": "j2 jinja jinja2 njk",
    "json": "json geojson ipynb webmanifest har avsc",
    "json5": "json5",
    "jsonc": "jsonc",
    "jsonl": "jsonl ndjson",
    "jsonnet": "jsonnet libsonnet",
    "jsx": "jsx",
    "julia": "jl",
    "just": "just",
    "kotlin": "kt kts",
    "latex": "tex sty",
    "less": "less",
    "liquid": "liquid",
    "lisp": "lisp lsp el",
    "lua": "lua",
    "makefile": "mk mak",
    "markdown": "md markdown mdown mkd mdc rmd qmd",
    "mdx": "mdx",
    "mermaid": "mmd mermaid",
    "metal": "metal",
    "nim": "nim nims nimble",
    "nix": "nix",
    "nu": "nu",
    "objectivec": "m mm",
    "ocaml": "ml mli",
    "org": "org",
    "pascal": "pas dpr lpr",
    "perl": "pl pm",
    "php": "php phtml",
    "plantuml": "puml plantuml",
    "po": "po pot",
    "powershell": "ps1 psm1 psd1",
    "prisma": "prisma",
    "properties": "properties",
    "protobuf": "proto",
    "pug": "pug",
    "purescript": "purs",
    "python": "py pyi pyw",
    "qml": "qml",
    "r": "r",
    "racket": "rkt",
    "razor": "cshtml razor",
    "rego": "rego",
    "robotframework": "robot",
    "rst": "rst",
    "ruby": "rb rake gemspec podspec rbi ru",
    "rust": "rs",
    "scala": "scala sbt",
    "scheme": "scm",
    "scss": "scss sass",
    "solidity": "sol",
    "sql": "sql ddl psql",
    "stan": "stan",
    "starlark": "bzl bazel",
    "stylus": "styl",
    "svelte": "svelte",
    "swift": "swift",
    "systemverilog": "sv svh",
    "tcl": "tcl",
    "terraform": "tf tfvars",
    "thrift": "thrift",
    "toml": "toml",
    "tsv": "tsv",
    "tsx": "tsx",
    "twig": "twig",
    "typescript": "ts mts cts",
    "verilog": "v",
    "vhdl": "vhd vhdl",
    "vim": "vim",
    "vb": "vb vbs bas",
    "vue": "vue",
    "wasm": "wat wast",
    "wgsl": "wgsl",
    "xml": "xml xsd xsl xslt svg plist csproj fsproj vbproj vcxproj resx xaml storyboard xib wsdl rss atom kml gpx",
    "yaml": "yaml yml",
    "zig": "zig zon",
}

_NAMES_BY_LANGUAGE = {
    "bash": ".bashrc .bash_profile .bash_aliases .bash_logout .profile .zshrc .zprofile .zshenv .envrc pkgbuild gradlew mvnw",
    "cmake": "cmakelists.txt",
    "dockerfile": "dockerfile containerfile",
    "dotenv": ".env",
    "gitattributes": ".gitattributes",
    "gitignore": "codeowners",
    "go": "go.mod go.work",
    "groovy": "jenkinsfile",
    "ini": ".editorconfig .gitconfig .gitmodules .npmrc .pypirc .coveragerc .flake8 .pylintrc pylintrc .condarc",
    "json": ".babelrc .eslintrc .prettierrc .swcrc .stylelintrc .jshintrc pipfile.lock composer.lock flake.lock deno.lock bun.lock",
    "just": "justfile .justfile",
    "makefile": "makefile gnumakefile bsdmakefile",
    "meson": "meson.build meson_options.txt",
    "nginx": "nginx.conf",
    "python": "snakefile sconstruct sconscript wscript tiltfile",
    "ruby": "gemfile rakefile vagrantfile podfile fastfile appfile brewfile guardfile capfile dangerfile berksfile",
    "toml": "pipfile cargo.lock poetry.lock uv.lock pdm.lock",
    "vim": ".vimrc .gvimrc",
    "xml": "app.config web.config nuget.config",
    "yaml": ".clang-format .clang-tidy .clangd .yamllint pubspec.lock",
}

_NAME_STARTS = (
    ("dockerfile.", "dockerfile"),
    ("containerfile.", "dockerfile"),
    ("jenkinsfile.", "groovy"),
    ("makefile.", "makefile"),
    (".env.", "dotenv"),
)

# Files without a tag: what people attach or name all the same.  No top-level domain and no everyday word: such a
# name in a message is a host, a person or a decorator far more often than a file.
_OTHER_EXTENSIONS = (
    "txt log conf lock tpl tmpl inc srt vtt ics vcf eml "
    "pdf png jpg jpeg jpe jfif gif webp bmp ico icns tif tiff heic heif avif psd eps "
    "mp3 wav flac ogg oga opus m4a aac mid midi m3u m3u8 mp4 m4v mkv mov avi webm mpg mpeg "
    "zip tar gz tgz bz2 tbz2 xz txz zst 7z rar lz4 jar war whl deb rpm dmg iso apk msi "
    "exe dll dylib bin dat pyc pyo pyd wasm hex "
    "db sqlite sqlite3 db3 parquet feather arrow avro orc h5 hdf5 npy npz pkl pickle joblib pth onnx safetensors gguf ckpt rds rdata "
    "xls xlsx xlsm ods doc docx odt rtf ppt pptx odp epub mobi djvu "
    "ttf otf woff woff2 eot gltf glb stl fbx dwg dxf shp kmz pcap "
    "pem crt cer csr asc bak tmp orig swp md5 sha256"
)

# Languages whose extension is a word or a domain that stands behind dots in ordinary messages: `@mock.patch`,
# `@np.dot`, `@acme.org`, `@mail.ru`, `@alice.s`.
_EVERYDAY_EXTENSIONS = "ads atom bas cmd comp dot feature geom http just metal nimble nu org patch robot ru s v vert"

_LANGUAGE_BY_EXTENSION = {extension: tag for tag, extensions in _EXTENSIONS_BY_LANGUAGE.items() for extension in extensions.split()}
_LANGUAGE_BY_NAME = {name: tag for tag, names in _NAMES_BY_LANGUAGE.items() for name in names.split()}
_PATH_EXTENSIONS = frozenset((*_LANGUAGE_BY_EXTENSION, *_OTHER_EXTENSIONS.split())).difference(_EVERYDAY_EXTENSIONS.split())
# Names that are known as a whole count too, where the dot in them makes them no plain word.
_PATH_NAMES = frozenset(("go.mod", "go.sum", "go.work", "meson.build", "web.config", "nuget.config"))


def language(path: str) -> str:
    """
    Return the tag for the fence of the file at *path*, going by its name alone in any case; "" for none.

    Whole names come first (`CMakeLists.txt` is no plain text), then names with a known start
    (`Dockerfile.dev`), then the last extension.
    """
    name = _last_part(path)
    tag = _LANGUAGE_BY_NAME.get(name) or _LANGUAGE_BY_EXTENSION.get(_extension(name))
    if tag is not None:
        return tag
    if name[:1] == "." and name.endswith("ignore"):
        return "gitignore"
    return next((tag for start, tag in _NAME_STARTS if name.startswith(start)), "")


def has_path_extension(name: str) -> bool:
    """
    Tell whether the last part of the typed *name* ends in an extension that files have, in any case.

    It decides whether a name that does not exist is reported or taken as words, so it is no test for file
    types: extensions that are also domains or method names (`.org`, `.patch`) do not count, nor does a
    name without a stem (`.md`).
    """
    part = _last_part(name)
    return _extension(part) in _PATH_EXTENSIONS or part in _PATH_NAMES


def _last_part(path: str) -> str:
    return path[path.rfind("/") + 1 :].lower()


def _extension(name: str) -> str:
    stem, _, extension = name.rpartition(".")
    return extension if stem else ""
