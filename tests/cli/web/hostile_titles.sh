# Titles that would end a script, a string or a terminal's patience stay titles.
command -v python3 >/dev/null || { echo "no python3 here"; exit 77; }
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'item,title\ndune,"</script><script>alert(1)</script>"\n' >items.csv
printf 'solaris,"<!-- "" \\ \x01\x1b[31m \x7f\xe2\x80\xa8]]>"\n' >>items.csv
printf 'alien,caf\xe9 & "co"\nbrazil,<!--dpmf:name--><!--dpmf:release-->\n' >>items.csv
dpmf export -q release.safetensors --web site --catalogue items.csv --name \
    $'</title><script>x\x01\xff</script>\n\xc2\x85'
python3 "$CLI_TESTS/web/page_parts.py" site/index.html release.safetensors
grep -c 'alert(1)</script>' site/index.html || true
