# Entities in a catalogue's titles are shown and matched as what they stand for, once, and never in
# ids. Other names, control characters and what is no character stay.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf '%s\n' item,title 'dune,"Fire &amp; Ice, &#39;the&#x27; &quot;Film&quot; (1999)"' \
    'solaris,&amp;lt; &lt;b&gt; &apos;' \
    'alien,&eacute; &#233; &#x1F600; &#0; &#27; &#xD800; &#1114112; &#12345678; & &;' \
    'brazil,&#; &#x; &amp &AMP; &#65 &#65;' >t.csv
dpmf similar release.safetensors --item dune --catalogue t.csv -n 5 -q | cut -f 1-9
dpmf similar release.safetensors --item dune --catalogue t.csv -n 5 -q --json | grep -o '"title.*'
printf 'title,rating\nFire & Ice: the Film,4\n%s,4\n' "Fire and Ice 'the' \"Film\"" >own.csv
dpmf recommend release.safetensors --ratings own.csv --catalogue t.csv 2>&1 | grep titles
