# What is no text is refused where pairs, lists, titles and one's own ratings are read, whatever
# bytes in it look like separators.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
printf 'SQLite format 3\0\020\0,\0\1\nann,dune\n' >binary
printf '\377\376u\0s\0e\0r\0,\0i\0t\0e\0m\0\n\0a\0n\0n\0,\0d\0u\0n\0e\0\n\0' >wide.csv
printf 'user,item\rann,dune\rbob,alien\r' >old.csv
printf 'user,item\nann,dune\n\xef\xbb\xbfuser,item\nbob,alien\n' >joined.csv
printf 'item,title\r\ndune,"Dune,\r\nthe film"\r\n' >titles.csv
for file in binary wide.csv old.csv joined.csv; do
    dpmf predict m "$file"
    echo $?
done
for file in binary wide.csv; do
    dpmf recommend m --ratings dune:5 --exclude "$file"
    echo $?
    dpmf similar m --item dune --catalogue "$file"
    echo $?
    dpmf recommend m --ratings "$file"
    echo $?
done
# a line break inside quotes ends no row, and is no reason to refuse the table
dpmf similar m --item alien -n 3 --catalogue titles.csv
