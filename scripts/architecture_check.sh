#!/usr/bin/env bash
# Every C file, script and module of lib/, programs/, web/ and python/src/ is named in
# ARCHITECTURE.md, in the part of its folder, by its name in backquotes; the ending .c or .h may be
# left out, and * stands for any letters. A part begins with a heading that names the folder. The
# table of the include law is the one of scripts/include_law.sh.
#
#   scripts/architecture_check.sh [TREE]
set -euo pipefail
law=$(dirname "$(readlink -f "$0")")/include_law.sh
cd "${1:-$(dirname "$0")/..}"

status=0
places=()
for each in lib programs web python/src; do
    if [[ -d $each ]]; then places+=("$each"); fi
done
# The page's words are one file per language.
find "${places[@]}" \( -name '*.[ch]' -o -name '*.js' -o -name '*.py' \) \
    -not -path 'web/texts/*' | LC_ALL=C sort | awk -v tour=ARCHITECTURE.md '
    # "### `lib/store/`: pack" begins the part of lib/store; other headings of that rank or above
    # end it
    BEGIN {
        folder = ""
        while ((getline line < tour) > 0) {
            if (line ~ /^##/) {
                folder = ""
                if (match(line, /`(lib|programs|web|python)[a-z_0-9\/]*`/)) {
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
    END { exit missing > 0 }' || status=1

# Rows of the law, "lib/x a b +c", as rows of the tour, "| x | a, b | c |"; rooms of programs/ by
# their whole names.
rows() {
    sed -e ':more' -e '/\\$/ { N; s/\\\n//; b more' -e '}' "$law" |
        awk "/^law='/ { on = 1; next } /^'/ { on = 0 } on && /^(lib\\/|programs)/ { print }" |
        awk '{
        included = ""; called = ""
        for (i = 2; i <= NF; i++) {
            if ($i ~ /^[+]/) called = called (called == "" ? "" : ", ") substr($i, 2)
            else if ($i != "-") included = included (included == "" ? "" : ", ") $i
        }
        sub(/^lib\//, "", $1)
        print "| " $1 " | " (included == "" ? "nothing" : included) " | " \
            (called == "" ? "" : called " ") "|"
    }'
}
if grep -q '^## The include law' ARCHITECTURE.md; then
    while IFS= read -r row; do
        grep -qxF "$row" ARCHITECTURE.md || {
            echo "ARCHITECTURE.md: the table of the include law lacks: $row"
            status=1
        }
    done < <(rows)
fi
exit $status
