"""The documentation site (`make docs-site`): the pages of docs/ with a sidebar, search and the reference of the API."""
