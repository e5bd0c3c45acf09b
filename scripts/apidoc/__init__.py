"""What scripts/api_docs.py is made of: two readers (c_header, python_source) and two writers
(html_pages, man_pages)."""
