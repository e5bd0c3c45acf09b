# Titles beside ids, from UTF-8 or ISO-8859-1.
cp "$CLI_TESTS/fixtures/release.safetensors" .
printf 'solaris::Solar\351s (1972)::Drama\ndune::Dune::Sand\n' >latin.dat
printf 'solaris,Solarés (1972)\n' >utf8.csv
dpmf recommend release.safetensors --ratings dune:5 --catalogue latin.dat
dpmf recommend release.safetensors --ratings dune:5 --catalogue utf8.csv -n 1
dpmf predict release.safetensors --ratings dune:5 --catalogue latin.dat
dpmf similar release.safetensors --item alien --ratings dune:5 --catalogue latin.dat
dpmf explain release.safetensors --item solaris --ratings dune:5 --catalogue latin.dat
