dpmf serve --help
