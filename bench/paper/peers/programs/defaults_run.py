"""Trains a Python package with its own defaults on numbered text, and prints the seconds from the
text to the model and the test error as JSON. Run by in_python.py. The clock starts when the package
is loaded: Python's start, and that of Spark's Java, do not count. The seed is the one thing that is
given to all.
"""
import json
import os
import sys
import time

asked = json.loads(sys.argv[1])
SEED = asked["seed"]


def read_table(path):
    import pandas
    return pandas.read_csv(path, sep=" ", names=["user", "item", "rating"])


def surprise():
    """SVD: 100 factors, 20 epochs."""
    from surprise import SVD, Dataset, Reader

    def fit(path):
        reader = Reader(line_format="user item rating", sep=" ",
                        rating_scale=(asked["low"], asked["high"]))
        return SVD(random_state=SEED).fit(
            Dataset.load_from_file(path, reader).build_full_trainset())

    def predict(model, test):
        return [model.predict(str(u), str(i)).est for u, i in zip(test.user, test.item)]
    return fit, predict


def cmfrec():
    """CMF: 40 factors and biases, alternating least squares, 10 iterations."""
    from cmfrec import CMF

    def fit(path):
        table = read_table(path).rename(
            columns={"user": "UserId", "item": "ItemId", "rating": "Rating"})
        return CMF(random_state=SEED, verbose=False).fit(table)

    return fit, lambda model, test: model.predict(user=test.user.to_numpy(), item=test.item.
                                                  to_numpy())


def myfm():
    """MyFMRegressor: a rank must be given, and is the 10 of its manual; 100 iterations of Gibbs
    sampling."""
    import myfm as package
    import numpy
    import scipy.sparse

    def one_hot(table):
        rows = numpy.arange(len(table))
        return scipy.sparse.hstack([
            scipy.sparse.csr_matrix((numpy.ones(len(table)), (rows, column)),
                                    shape=(len(table), size))
            for column, size in ((table.user, asked["users"]), (table.item, asked["items"]))
        ]).tocsr()

    def fit(path):
        table = read_table(path)
        return package.MyFMRegressor(rank=10, random_seed=SEED).fit(one_hot(table),
                                                                    table.rating.to_numpy())
    return fit, lambda model, test: model.predict(one_hot(test))


def lenskit():
    """BiasedMFScorer: alternating least squares."""
    from lenskit.als import BiasedMFScorer
    from lenskit.data import ItemList, from_interactions_df
    from lenskit.training import TrainingOptions

    def fit(path):
        data = from_interactions_df(read_table(path), user_col="user", item_col="item",
                                    rating_col="rating")
        model = BiasedMFScorer()
        model.train(data, TrainingOptions(rng=SEED))
        return model

    def predict(model, test):
        found = test.rating.to_numpy(dtype=float)
        for user, rows in test.groupby("user").indices.items():
            found[rows] = model(user, ItemList(item_ids=test.item.to_numpy()[rows])).scores("numpy")
        return found
    return fit, predict


def implicit():
    """AlternatingLeastSquares: 100 factors, 15 iterations. It predicts no ratings, so it has no
    error."""
    os.environ.update(OPENBLAS_NUM_THREADS="1", MKL_NUM_THREADS="1")  # its own threads are enough
    import scipy.sparse
    from implicit.cpu.als import AlternatingLeastSquares

    def fit(path):
        table = read_table(path)
        matrix = scipy.sparse.csr_matrix(
            (table.rating.to_numpy("float32"), (table.user, table.item)),
            shape=(asked["users"], asked["items"]))
        model = AlternatingLeastSquares(random_state=SEED)
        model.fit(matrix, show_progress=False)
        return model
    return fit, None


def pyspark():
    """ALS of MLlib: 10 factors, 10 iterations."""
    from pyspark.ml.recommendation import ALS
    from pyspark.sql import SparkSession
    spark = (SparkSession.builder.master(f"local[{asked['threads']}]").config(
        "spark.driver.memory", "4g").config("spark.ui.enabled",
                                            "false").config("spark.ui.showConsoleProgress",
                                                            "false").getOrCreate())

    def load(path):
        return spark.read.csv(path, sep=" ", schema="user INT, item INT, rating FLOAT")

    def fit(path):
        model = ALS(seed=SEED, coldStartStrategy="drop").fit(load(path))
        # nothing is computed before it is asked for
        model.userFactors.count(), model.itemFactors.count()
        return model

    def predict(model, test):
        found = model.transform(load(asked["test"])).toPandas()
        return test.merge(found, on=["user", "item"], how="left").prediction
    return fit, predict


def main():
    fit, predict = {f.__name__: f for f in (surprise, cmfrec, myfm, lenskit, implicit, pyspark)
                    }[asked["package"]]()
    import numpy
    import pandas  # noqa: F401  (loaded before the clock starts)
    begun = time.perf_counter()
    model = fit(asked["train"])
    seconds = time.perf_counter() - begun
    rmse = None
    if predict:
        test = read_table(asked["test"])
        rmse = float(
            numpy.sqrt(numpy.mean((numpy.asarray(predict(model, test), float) - test.rating)**2)))
    print(json.dumps({"seconds": seconds, "rmse": rmse}))
    if asked["package"] == "pyspark":
        from spark_java import end_java
        end_java()


main()
