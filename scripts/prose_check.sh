#!/usr/bin/env bash
# Prose: words that codespell knows to be misspelt, words of ours that a reader has to translate
# (scripts/words.txt), comments that do not stand alone, and lines of C, Python and shell beyond 100
# columns.
#
#   scripts/prose_check.sh [TREE]
#
# Ends with 1 when anything is found.
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cd "${1:-$here/..}" || exit 70

found=0
places=(include lib programs web reference) # those of them that are there
code() { find "${places[@]}" -name '*.[ch]' -print0 2>/dev/null || true; }
# Reports of runs, below docs/paper, stay as they were made; the page's other languages are not
# English.
text() {
    find "${places[@]}" docs ./*.md \
        \( -name '*.[ch]' -o -name '*.md' -o -name '*.js' -o \
        -name '*.html' \) \
        -type f -not -path 'docs/paper/*/*' \( -not -path 'web/texts/*' -o -name en.js \) \
        -print0 2>/dev/null || true
}

if command -v codespell >/dev/null; then
    text | xargs -0r codespell --ignore-words="$here/spelled_right.txt" || found=1
else
    echo "codespell is not installed: make lint installs it"
    found=1
fi

# A line of words.txt: an extended regular expression of whole words, a tab, and what to write
# instead.
while IFS=$'\t' read -r word instead; do
    [[ -z $word || $word == '#'* ]] && continue
    if text | xargs -0r grep -nHwiE -- "$word"; then
        echo "    \"$word\": $instead"
        found=1
    fi
done <"$here/words.txt"

# The comment of a field is a noun phrase that stands alone: it neither begins with a bare "of" nor
# continues another.
if code | xargs -0r grep -nHE '/\*[*<]* *(\.\.\. *)?[Oo]f |/\* *\.\.\. |[^"0-9,] \.\.\. \*/'; then
    echo "    a comment that needs what stands before it: let it stand alone"
    found=1
fi

# Lines of code and scripts; a line with a word too long to be broken, such as a row of data, is
# what it is, and so is mypy's list of errors to ignore.
places+=(tests bench examples python scripts packaging .ci)
scripts() {
    find "${places[@]}" -type f \
        \( -name '*.py' -o -name '*.pyi' -o -name '*.sh' -o -path .ci/run \) -print0 2>/dev/null ||
        true
}
if { code; scripts; } | LC_ALL=C.UTF-8 xargs -0r grep -nHE '^.{101,}' |
    grep -vE '[^[:blank:]]{60}|# type: ignore\['; then
    echo "    beyond 100 columns"
    found=1
fi
exit "$found"
