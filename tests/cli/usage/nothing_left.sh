dpmf split r.dpr --train a.dpr --test b.dpr --test-fraction 1
