"""Trains Spark's ALS on numbered text, and prints its speed and, once at the end, its test error as
JSON. Run by spark_als.py."""
import json
import sys
import tempfile
import time

from pyspark.ml.evaluation import RegressionEvaluator
from pyspark.ml.recommendation import ALS
from pyspark.sql import SparkSession
from spark_java import end_java

asked = json.loads(sys.argv[1])
spark = (SparkSession.builder.master(f"local[{asked['threads']}]").config(
    "spark.driver.memory", "12g").config("spark.ui.enabled", "false").getOrCreate())


def load(path):
    return spark.read.csv(path, sep=" ", schema="user INT, item INT, rating FLOAT")


ratings = load(asked["train"]).cache()
count = ratings.count()
# Without a place for checkpoints ALS keeps the history of every iteration: reading it back
# overflows Java's stack after some twenty.
checkpoints = tempfile.TemporaryDirectory()
spark.sparkContext.setCheckpointDir(checkpoints.name)
begun = time.perf_counter()
model = ALS(rank=asked["k"], maxIter=asked["epochs"], seed=asked["seed"],
            coldStartStrategy="drop").fit(ratings)
spent = time.perf_counter() - begun
found = {"updates_per_second": [count * asked["epochs"] / spent]}
if asked["test"]:
    error = RegressionEvaluator(labelCol="rating",
                                metricName="rmse").evaluate(model.transform(load(asked["test"])))
    found["rmse_by_time"] = [[spent, error]]
print(json.dumps(found))
end_java()
