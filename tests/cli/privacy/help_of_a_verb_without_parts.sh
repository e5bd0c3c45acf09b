dpmf help import csv
