dpmf completion tcsh
