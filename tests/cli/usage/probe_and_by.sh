dpmf split r.dpr --train a.dpr --test b.dpr --probe p.txt --by user
