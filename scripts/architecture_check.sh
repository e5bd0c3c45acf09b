#!/usr/bin/env bash
# Every file of lib/ and programs/ is named in ARCHITECTURE.md, in the part of its folder, by its name in
# backquotes with or without its ending; * stands for any letters. A part begins with a heading that names
# the folder.
#
#   scripts/architecture_check.sh [TREE]
set -euo pipefail
cd "${1:-$(dirname "$0")/..}"

find lib programs -name '*.[ch]' | LC_ALL=C sort | awk -v tour=ARCHITECTURE.md '
    # "### `lib/store/`: pack" begins the part of lib/store; other headings of that rank or above end it
    BEGIN {
        folder = ""
        while ((getline line < tour) > 0) {
            if (line ~ /^##/) {
                folder = ""
                if (match(line, /`(lib\/[a-z_0-9\/]+|programs)\/?`/)) {
                    folder = substr(line, RSTART + 1, RLENGTH - 2)
                    sub(/\/$/, "", folder)
                }
            }
            if (folder == "") continue
            while (match(line, /`[a-z_0-9.*\/]+`/)) {
                name = substr(line, RSTART + 1, RLENGTH - 2)
                line = substr(line, RSTART + RLENGTH)
                sub(/\.[ch]$/, "", name)
                gsub(/\*/, "[a-z_0-9]*", name)
                named[folder] = named[folder] "|" name
            }
        }
    }
    {
        stem = $0
        sub(/\.[ch]$/, "", stem)
        for (folder = stem; sub(/\/[^\/]*$/, "", folder);) {
            name = substr(stem, length(folder) + 2)
            if (folder in named && name ~ "^(" substr(named[folder], 2) ")$") next
        }
        print $0 ": ARCHITECTURE.md does not name it in the part of its folder"
        missing++
    }
    END { exit missing > 0 }'
