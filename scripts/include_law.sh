#!/usr/bin/env bash
# The law of the tree, checked: which folder may include and call which, and what lib/ may never do.
#
#   scripts/include_law.sh [--objects DIR] [TREE]
#
# TREE is the source tree (default: this one). With --objects, the object files below DIR that come
# from lib/ and programs/ are searched for calls between folders, and those from lib/ for mutable
# data. Says each breach as file:line: what; the last line is "N passed, N failed", a rule each; the
# exit status is 1 when any failed.
set -euo pipefail

# ---- the law: folder, then the folders beside it that it may include and call ------------------
# `-` is none. Folders of lib/ are beside each other, and so are those of programs/, which see the
# public headers of lib/ alone. A folder with a + may be called, through the public headers that all
# may include, but not included. Folders of tests/ and bench/ are not listed: they may include
# anything.
law='
lib/base       -
lib/numerics   base
lib/files      base
lib/arrow      base tables
lib/parquet    base arrow
lib/chains     base files
lib/database   base
lib/random     base numerics
lib/store      base files
lib/model      base files
lib/kernels    base numerics
lib/schedule   base files store kernels
lib/tables     base store
lib/ratings    base files random store tables database arrow parquet +cluster
lib/synth      base files random store model
lib/describe   base files store
lib/split      base files store tables ratings
lib/cluster    base store
lib/compare    base store model cluster
lib/statement  base numerics model
lib/ledger     base numerics files random statement
lib/privacy    base numerics files random store tables kernels model cluster statement
lib/mechanisms base numerics random chains statement privacy
lib/release    base numerics files random store model cluster statement ledger privacy mechanisms
lib/audit      base numerics files random store model cluster statement privacy release +ratings
lib/train      base files random store schedule kernels model cluster
lib/rank       base numerics random store kernels model cluster train recommend +evaluate
lib/sample     base numerics files random store schedule kernels model cluster chains train rank \
               privacy features compare
lib/continue   base files store kernels model cluster train rank sample recommend compare \
               +evaluate
lib/recommend  base numerics model kernels
lib/titles     base +recommend
lib/features   base numerics model privacy recommend
lib/evaluate   base store tables model recommend cluster compare
lib/own        base files ratings tables +store +recommend +titles +evaluate
lib/tune       base numerics files random store rank train cluster compare +ratings +split \
               +sample
lib/machine    base store schedule kernels model train rank sample
lib/export     base files store database +statement +recommend
programs        cli
programs/cli    -
programs/shared cli
programs/page   cli shared
programs/http   cli
programs/train  cli shared
programs/verbs  cli shared page http train
python         -
web            -
examples       -
'
law=${law//\\$'\n'/ } # a line that ends with a backslash goes on

# ---- where to look -------------------------------------------------------------------------------

objects=""
if [[ ${1:-} == --objects ]]; then
    objects=$(cd "$2" && pwd)
    shift 2
fi
cd "${1:-$(dirname "$0")/..}"

passed=0
failed=0

# Counts one rule; its breaches, if there are any, are the lines of the second argument.
rule() {
    if [[ -z $2 ]]; then
        passed=$((passed + 1))
    else
        failed=$((failed + 1))
        printf 'broken: %s\n' "$1"
        printf '%s\n' "$2" | sed 's/^/  /'
    fi
}

c_files() {
    local folders=()
    for folder in "$@"; do
        [[ -d $folder ]] && folders+=("$folder")
    done
    ((${#folders[@]})) || return 0
    find "${folders[@]}" -type f -name '*.[ch]' | LC_ALL=C sort
}

# parts_of WHAT FILE...: C files as file:line:text, without comments. WHAT is code, in which
# literals are blanked out, or strings: a literal a line.
parts_of() {
    (($# > 1)) || return 0
    awk -v what="$1" '
    FNR == 1 { inside = 0 }
    {
        line = $0; out = ""
        while (line != "") {
            if (inside) {
                at = index(line, "*/")
                if (!at) { line = ""; break }
                line = substr(line, at + 2); inside = 0
            } else if (match(line, /^"([^"\\]|\\.)*"/) ||
                       match(line, /^\047([^\047\\]|\\.)*\047/)) {
                if (what == "strings") print FILENAME ":" FNR ":" substr(line, 1, RLENGTH)
                out = out "\"\""; line = substr(line, RLENGTH + 1)
            } else if (line ~ /^\/\*/) {
                inside = 1; line = substr(line, 3)
            } else if (line ~ /^\/\//) {
                line = ""
            } else {
                out = out substr(line, 1, 1); line = substr(line, 2)
            }
        }
        if (what == "code") print FILENAME ":" FNR ":" out
    }' "${@:2}"
}
mapfile -t lib_files < <(c_files lib)

# ---- rule 1: who includes whom -------------------------------------------------------------------

# Prints the folders that a folder may include, or nothing when the law does not know it.
allowed_for() {
    awk -v folder="$1" '$1 == folder { $1 = ""; print; exit }' <<<"$law"
}

# The folder of the law that a file belongs to: lib/x or programs/x for anything below it, else the
# first part.
home_of() {
    case $1 in
    lib/*/* | programs/*/*) cut -d/ -f1-2 <<<"$1" ;;
    *) cut -d/ -f1 <<<"$1" ;;
    esac
}

breaches=""
while IFS= read -r file; do
    home=$(home_of "$file")
    allowed=$(allowed_for "$home")
    if [[ -z $allowed ]]; then
        breaches+="$file:1: the law in scripts/include_law.sh does not know the folder $home"$'\n'
        continue
    fi
    while IFS=: read -r number line; do
        [[ $line =~ \"([^\"]*)\" ]] || continue
        path=${BASH_REMATCH[1]}
        [[ $path == dpmf.h || $path == dpmf_client.h || $path == dpmf_text.h ]] && continue
        if [[ $path == *..* ]]; then
            breaches+="$file:$number: \"$path\": no dots in an include"$'\n'
        elif [[ $home == lib/* || $home == programs* ]]; then
            # There an include names its folder, so that the law can be read off the line.
            target=${path%%/*}
            top=${home%%/*}
            if [[ $path != */* || ! -f $top/$path ]]; then
                breaches+="$file:$number: \"$path\": there is no $top/$path"$'\n'
            elif [[ $top/$target != "$home" && " $allowed " != *" $target "* ]]; then
                breaches+="$file:$number: \"$path\": $home may not include $top/$target"$'\n'
            fi
        elif [[ ! -f $(dirname "$file")/$path ]]; then
            breaches+="$file:$number: \"$path\": $home includes only dpmf.h and its own"$'\n'
        fi
    done < <(grep -nE '^[[:space:]]*#[[:space:]]*include[[:space:]]*"' "$file" || true)
done < <(c_files lib programs python web examples)
rule "which folder may include which" "${breaches%$'\n'}"

# A permission that nobody uses, between folders that have files, goes; and no two folders need each
# other.
breaches=""
while read -r folder targets; do
    [[ $folder == */* && -n $(c_files "$folder") ]] || continue
    for target in ${targets#-}; do
        beside=${folder%%/*}/$target
        [[ $target != +* && -n $(c_files "$beside") ]] || continue
        grep -qrE "^[[:space:]]*#[[:space:]]*include[[:space:]]*\"$target/" \
            --include='*.[ch]' "$folder" ||
            breaches+="scripts/include_law.sh: nothing in $folder includes $beside"$'\n'
    done
done <<<"$law"
rule "every permission is used" "${breaches%$'\n'}"

breaches=$(while read -r folder targets; do
    for target in ${targets#-}; do echo "$folder ${folder%%/*}/${target#+}"; done
done <<<"$law" | tsort 2>&1 >/dev/null || true)
rule "no folder needs itself by way of others" "$breaches"

# The same by what was compiled, as the public headers declare what any folder could call: every
# symbol that an object file of one folder needs and one of another has. What is called but may not
# be included is also used. The list of verbs is the one thing above programs/cli that it needs: the
# parser and the manual are made from it.

# objects_of TOP: the object files of lib/ or of programs/ that have a source: others are left of
# files that moved.
objects_of() {
    [[ -d $objects/CMakeFiles/dpmf_objects.dir ]] || return 0
    find "$objects"/CMakeFiles/dpmf_*objects.dir -path "*objects.dir/$1/*.o" | LC_ALL=C sort |
        while IFS= read -r object; do
            source=$1/${object##*objects.dir/"$1"/}
            if [[ -f ${source%.o} ]]; then echo "$object"; fi
        done
}

calls_between_folders() {
    { objects_of lib && objects_of programs; } | xargs -r nm -A -P | LAW=$law awk '
        BEGIN {
            rows = split(ENVIRON["LAW"], row, "\n")
            for (r = 1; r <= rows; r++) {
                n = split(row[r], word, " ")
                top = word[1]; sub(/\/.*/, "", top)
                for (w = 2; w <= n; w++) {
                    called_only = sub(/^\+/, "", word[w])
                    target = top "/" word[w]
                    may[word[1], target] = 1
                    if (called_only) unused[word[1], target] = word[1] " calls " target
                }
            }
        }
        { # an object file and a colon, a symbol, what it is
            file = $1; sub(/.*objects\.dir\//, "", file); sub(/\.o:$/, "", file)
            split(file, part, "/"); folder = part[1] "/" part[2]
            known[folder] = 1
            if ($3 == "U") { n_needs++; needs[n_needs] = $2; from[n_needs] = file;
                of[n_needs] = folder }
            else if ($3 ~ /^[A-Z]$/) home[$2] = folder
        }
        END {
            for (i = 1; i <= n_needs; i++) {
                target = home[needs[i]]
                if (target == "" || target == of[i]) continue
                if (of[i] ~ /^programs/ && target ~ /^lib/ && needs[i] ~ /^dpmf_/) continue
                if (of[i] == "programs/cli" && needs[i] == "verbs") continue
                delete unused[of[i], target]
                if (!((of[i], target) in may))
                    print from[i] ": " needs[i] ": " of[i] " may not call " target
            }
            for (pair in unused) {
                split(pair, folders, SUBSEP)
                if (folders[1] in known && folders[2] in known)
                    print "scripts/include_law.sh: nothing in " unused[pair]
            }
        }'
}
if [[ -n $objects ]]; then
    rule "which folder may call which" "$(calls_between_folders)"
fi

# ---- rule 2: lib/ neither prints nor ends the process ------------------------------------------

calls='v?f?printf|v?dprintf|puts|fputs|putchar|putc|fputc|perror|stdout|stderr'
calls+='|exit|_exit|_Exit|quick_exit|abort|system|setlocale|signal|sigaction|rand|srand'
calls="(^|[^[:alnum:]_])($calls)([^[:alnum:]_]|\$)"
breaches=$(parts_of code "${lib_files[@]}" |
    grep -vE '^[^:]*:[0-9]+:[[:space:]]*#' | grep -E "$calls" || true)
rule "lib/ never prints, exits or touches what belongs to the process" "$breaches"

# ---- rule 3: lib/ keeps no mutable data --------------------------------------------------------
# Sections are asked, not symbols: relocated constants (.data.rel.ro) are read-only when it runs.

mutable_data() {
    if [[ ! -d $objects/CMakeFiles/dpmf_objects.dir ]]; then
        echo "no object files of lib/ in $objects"
        return
    fi
    # objdump -t: address, 7 flags (d, f, F: not data), section, a tab, size, name.
    objects_of lib |
        while IFS= read -r object; do
            objdump -t "$object" | awk -v file="lib/${object##*/lib/}" '
                substr($0, 18, 7) !~ /[dfF]/ && !/\.data\.rel\.ro/ &&
                / (\.data|\.bss|\.tdata|\.tbss|\*COM\*)[^\t]*\t/ { print file ": " $NF }'
        done
}
if [[ -n $objects ]]; then
    rule "lib/ keeps no mutable data" "$(mutable_data)"
fi

# ---- rule 4: a file's name says which it is ----------------------------------------------------

breaches=$(c_files include lib programs web reference tests bench examples | sed 's#.*/##' |
    sort | uniq -d |
    while IFS= read -r name; do
        c_files include lib programs web reference tests bench examples | grep "/$name$" |
            paste -sd' '
    done)
rule "no two C files of one name" "$breaches"

# ---- rule 5: one binary for every machine --------------------------------------------------------

breaches=$(find . -path ./.git -prune -o -path ./build -prune -o \
    \( -name CMakeLists.txt -o -name '*.cmake' -o -name Makefile -o -name CMakePresets.json \) \
    -print0 |
    xargs -0 -r grep -nE '^[^#]*m(arch|cpu|tune)=native' /dev/null || true)
rule "no -march=native" "$breaches"

# ---- rule 6: nothing unfinished ------------------------------------------------------------------

breaches=$(c_files include lib programs web reference tests bench |
    xargs -r grep -nE '\b(TODO|FIXME|XXX|HACK)\b' /dev/null || true)
rule "nothing marked as unfinished" "$breaches"

# ---- rule 7: one place knows the machine -------------------------------------------------------
# doctor shows what the system reports beside what is used.

questions='/sys/devices/system/cpu|_SC_LEVEL[1-4]|_SC_NPROCESSORS|_SC_PHYS_PAGES'
questions+='|_SC_PAGE_?SIZE|getpagesize|sched_getaffinity|get_nprocs|/proc/cpuinfo'
breaches=$(c_files lib programs tests/unit tests/failure |
    grep -vxE 'lib/base/host.c|programs/verbs/command_doctor.c' |
    xargs -r grep -nE "$questions" /dev/null || true)
# A test that takes DPMF_CACHES away has the machine's: whatever it calls then follows from them.
breaches+=$(c_files tests/unit tests/failure |
    grep -vxE 'tests/unit/(test_host.c|fixed_machine.c|cache_shapes.h)' |
    xargs -r grep -nE 'host_caches_read|"DPMF_CACHES"|clearenv' /dev/null || true)
rule "only base/host asks what this machine is, and no unit test reads its caches" "$breaches"

# ---- rule 8: only noisy_sum draws the noise of a release ---------------------------------------
# private_ratings tosses coins, by which a user's ratings are trimmed. `posterior` publishes one
# draw of a sampler, and its statement is conditional for that reason: it alone of the mechanisms
# may draw.

breaches=$(c_files lib | grep -v '^lib/random/' |
    xargs -r grep -nE \
    '#[[:space:]]*include[[:space:]]*"random/(exact_gaussian|secure_random)\.h"' /dev/null |
    grep -vE -e '/noisy_sum\.c:' \
        -e '/(noisy_sum|private_ratings|posterior_sampler)\.h:[0-9]+:.*secure_random' || true)
rule "of the mechanisms only posterior draws: noise comes from noisy_sum" "$breaches"

# ---- rule 9: lib/ names settings, not options --------------------------------------------------
# A front end renders {memory} as --memory, as memory= or in words, and {:ledger show} as a command
# or a task: see struct dpmf_error. "dpmf audit: canary 1" is a name, with a colon. One
# sentence is in the statements of releases, which are compared with it byte for byte: it stays as
# it was first written.

breaches=$(parts_of strings "${lib_files[@]}" |
    grep -E -- '^[^:]*:[0-9]+:(.*[^[:alnum:]-])?--[a-z]' |
    grep -v '^lib/statement/statement_json.c:.*"figures of the private .* shown with --research"' ||
    true)
rule "no string of lib/ names an option of the command line" "$breaches"
verbs=$(c_files programs | sed -n 's#^programs/verbs/command_\([a-z]*\)\.c$#\1#p' | paste -sd'|')
breaches=$(parts_of strings "${lib_files[@]}" |
    grep -E -- "^[^:]*:[0-9]+:.*\bdpmf ($verbs)( [A-Za-z]|\")" || true)
rule "no string of lib/ names a command of the program" "$breaches"

# ---- rule 10: one clock, and one place for temporary files ---------------------------------------

# The program, which sees the public headers alone, has one place of its own for each.

breaches=$(c_files lib bench programs | grep -vxE 'lib/base/clock.c|programs/cli/terminal.c' |
    xargs -r grep -nE '\bCLOCK_[A-Z]|clock_gettime|gettimeofday' /dev/null |
    grep -v 'DPMF_BASE_CLOCK_H' || true)
rule "only base/clock asks what time it is" "$breaches"
breaches=$(c_files lib programs | grep -vxE 'lib/files/temporary.c|programs/cli/terminal.c' |
    xargs -r grep -nE 'getenv\("TMPDIR|"/tmp' /dev/null || true)
rule "only files/temporary decides where temporary files go" "$breaches"

# ---- rule 11: no room has more files than one can look over ------------------------------------
# A room is a folder without its subfolders, which are rooms of their own.

room_files() {
    local folders=()
    for folder in "$@"; do
        [[ -d $folder ]] && folders+=("$folder")
    done
    find "${folders[@]}" -type f \( -name '*.[ch]' -o -name '*.py' -o -name '*.js' -o \
        -name '*.html' -o -name '*.css' -o -name '*.sh' -o -name '*.md' \)
}

breaches=$(room_files include lib programs python web reference bench examples scripts docs |
    sed 's#/[^/]*$##' | sort | uniq -c |
    awk '$1 > 45 { print $2 ": " $1 " files, and a room has at most 45" }')
rule "no room of more than 45 files" "$breaches"

printf '%d passed, %d failed\n' "$passed" "$failed"
((failed == 0))
