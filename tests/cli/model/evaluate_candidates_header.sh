# The header says which column is the item that was held out; the figures of a and b agree.
# shellcheck source=/dev/null
. "$CLI_TESTS/tiny_model.sh"
tiny_model m
try() {
    printf '%s\n' "$@" >rows.csv
    echo "-- $1"
    echo "-- $1" >&2
    dpmf evaluate m --candidates rows.csv -n 1
    echo "exit status $?"
}
try user,item,negatives ann,dune,brazil,solaris
try user,negatives,item ann,brazil,dune
try user,negative1,negative2,item ann,brazil,solaris,dune
try item,user,negatives dune,ann,brazil,solaris
try user,other,item ann,brazil,dune
# What the header does not say, or says of something else.
try user,negatives,item ann,brazil,dune,solaris
try user,title,item,negatives ann,Dune,dune,brazil
try user,timestamp,item,negatives ann,7,dune,brazil
try user,item,rating,negatives ann,dune,5,brazil
try user,wanted,negatives ann,dune,brazil
try user,item,movie,negatives ann,dune,brazil,alien
try item,negatives dune,brazil,alien
try user,negatives,item ann,brazil
try user,item,negatives ann,dune,brazil item,user,negatives dune,ann,brazil
