"""The AGENTS.md convention: find the instruction files that apply, expand their imports, render and serve them."""
