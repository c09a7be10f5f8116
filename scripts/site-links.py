#!/usr/bin/env python3
"""Looks whether every link of the built site leads to a file, and to a place in it.

  site-links.py DIRECTORY
"""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """What a page links to, and what in it can be linked to."""

    def __init__(self, path):
        super().__init__()
        self.links, self.places = [], set()
        self.feed(path.read_text())

    def handle_starttag(self, tag, attributes):
        named = dict(attributes)
        self.places.update(named[key] for key in ("id", "name") if named.get(key))
        link = named.get("href") if tag == "a" else named.get("src")
        if link:
            self.links.append(link)


def main():
    root = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(root.rglob("*.html"))}
    broken, seen = [], 0
    for path, page in pages.items():
        # It is shown at any address, and printed as one page.
        if path.name in ("404.html", "print.html"):
            continue
        for link in page.links:
            parts = urlsplit(link)
            if parts.scheme or parts.netloc:
                continue
            seen += 1
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if target.is_dir():
                target /= "index.html"
            place = unquote(parts.fragment)
            if not target.exists():
                broken.append(f"{path.relative_to(root)}: {link} leads nowhere")
            elif place and target in pages and place not in pages[target].places:
                broken.append(f"{path.relative_to(root)}: {link}: there is no such place")
    print("\n".join(broken + [f"{len(pages)} pages, {seen} links, {len(broken)} broken"]), file=sys.stderr)
    sys.exit(bool(broken))


main()
