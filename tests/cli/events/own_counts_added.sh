# Of an item that occurs again in one's own events the counts are added, in every form of them.
printf 'user,item,plays\n' >events.csv
for u in 1 2 3 4 5 6 7 8 9; do
    for i in 1 2 3 4; do echo "u$u,i$(((u * i) % 7)),$((i * i))"; done
done >>events.csv
dpmf train -q events.csv -k 4 --count-weight 2 --deterministic -o m
printf 'item,count\ni1,99\ni1,1\n' >items.csv
printf 'user,item,count\nz,i1,99\nz,i1,1\n' >users.csv
printf 'i1\ni1\n' >alone.csv
dpmf recommend m --ratings i1:100 -n 2 -q >once
for mine in i1:99,i1:1 items.csv users.csv; do
    dpmf recommend m --ratings $mine -n 2 >found
    cmp found once && echo same
done
dpmf recommend m --ratings i1:2 -n 2 -q >twice
dpmf recommend m --ratings alone.csv -n 2 -q | cmp - twice && echo same
