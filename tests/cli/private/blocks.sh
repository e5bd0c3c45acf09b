# In blocks one line decides whose, or of what, the lines below it are
printf 'item\n1\n2\n7\n' >items
printf '1:\n11,3,2005-09-06\n12,4,2005-09-07\n' >netflix
printf '0|2\n1\t90\n2\t80\n' >yahoo
for format in netflix yahoo; do
    for given in auto $format; do
        dpmf train $format --format $given --epsilon 1 --rating-range 1:100 --catalogue items \
            --ledger l -o x.safetensors
        echo $?
    done
    dpmf import -q $format --on-error skip -o r.dpr
    dpmf train r.dpr --epsilon 1 --rating-range 1:100 --catalogue items --ledger l -o x.safetensors
    echo $?
done
ls
