dpmf split r.dpr --train a.dpr --test b.dpr --by moonlight
