mkdir d
dpmf split r.dpr --train a.dpr --test d/../a.dpr
