dpmf tune nowhere.dpr
