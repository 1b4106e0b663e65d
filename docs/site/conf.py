"""Settings of Sphinx. The source is the whole repository, so that links between its pages work as they are."""

from steelyard.foundation.version import __version__

project = "Steelyard"
author = "The Steelyard maintainers"
project_copyright = author
version = release = __version__

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "docs.site.contents", "docs.site.api"]
root_doc = "README"
include_patterns = [
    "README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md", "CODE_OF_CONDUCT.md",
    "docs/[!_]*.md", "docs/site/api/*.rst", "examples/*/README.md",
]  # fmt: skip
exclude_patterns = ["docs/*.template.md"]

myst_heading_anchors = 4
myst_enable_extensions = ["deflist"]
default_role = "code"
smartquotes = False  # an option has two hyphens
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_member_order = "groupwise"
autodoc_default_options = {"members": True}
autosummary_generate = False
python_use_unqualified_type_names = True
add_module_names = False
maximum_signature_line_length = 88
toc_object_entries_show_parents = "hide"

html_theme = "furo"
html_title = f"Steelyard {release}"
html_static_path = ["static"]
html_extra_path = ["extra"]
html_favicon = "static/favicon.svg"
html_css_files = ["site.css"]
html_copy_source = False
html_show_sourcelink = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True}
templates_path: list[str] = []
pygments_style = "friendly"
pygments_dark_style = "monokai"
