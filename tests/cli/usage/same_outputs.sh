dpmf split r.dpr --train a.dpr --test a.dpr
