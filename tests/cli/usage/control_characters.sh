# What a file name or a file holds cannot drive the terminal.
dpmf describe $'\e[31mred\n\u009b.csv'
