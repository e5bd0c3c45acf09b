# What a publisher gives a page: a colour, a logo, covers, links; and what is refused of each.
cp "$CLI_TESTS/fixtures/release.safetensors" r.safetensors
page() { dpmf export -q r.safetensors --web site --replace "$@"; echo "status $?"; }
printf '\x89PNG\r\n\x1a\n0123' >logo.png
mkdir covers && printf '\xff\xd8\xff0' >covers/dune.jpg && printf 'text' >covers/unknown.jpg
printf '<About> us,https://example.org/?a=1&b="2"\nWrite,mailto:us@example.org\n' >links.csv
page --colour '#8A1538' --logo logo.png --covers covers --links links.csv
grep -o 'id="dpmf-look">[^<]*' site/index.html
grep -o '<ul class="links".*</ul>' site/index.html
grep -o "img-src[^\"]*" site/index.html
echo "== refused"
page --colour red
page --colour '#12345g'
page --logo links.csv
page --logo none.png
page --covers .
printf 'GIF8' >covers/alien.gif
page --covers covers
printf 'Bad,javascript:alert(1)\n' >links.csv
page --links links.csv
printf 'no address\n' >links.csv
page --links links.csv
head -c 1100000 /dev/zero | sed 's/^/<svg /' >large.svg
page --logo large.svg
dpmf export -q r.safetensors --npy v --colour '#000000'
echo "status $?"
grep -c dpmf-look site/index.html
