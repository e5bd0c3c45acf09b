dpmf help shard
diff <(dpmf help shard) <(dpmf shard --help)
