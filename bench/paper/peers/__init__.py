"""The programs dpmf is compared with, each by a small adapter. None of their code is here: a peer
is found through an environment variable, the PATH or Python's modules, and one that is not found is
said to be absent.

An adapter is a module with

    NAME                     what it is called in the report
    HOW                      how to provide it, for when it is absent
    SHAPES                   the sets it is run on at given dimensions, by `run`; none when it has
                             no `run`
    HAS_ERROR                whether run can tell the test error of the given ratings
    memory_needed(files, k)  about how many bytes a run takes
    find(work)               None, or a Peer of this package with what a report must say of it
                             (version, flags) and whatever the adapter needs to start it
    convert(work, peer, dataset)    the ratings in the peer's own format, made once; the paths
    run(work, peer, files, k, epochs, threads, validate)    trains, and returns
        {"updates_per_second": [of each epoch], "rmse_by_time": [[seconds, test rmse], ...] with
        validate}
    run_with_defaults(work, peer, files, threads)    trains with its own defaults from the text to
        the model, and returns {"seconds", "rmse" or None when it predicts no ratings}; an adapter
        without it is not compared so
    rank_with_defaults(work, peer, files, threads)    the same of a model that ranks, every rating
        an event: {"seconds", "recall", "ndcg"} of the ten best of all items that a user has not
        rated
"""
import importlib

ADAPTERS = ("libmf", "tile_prototype", "authors", "graphchi", "spark_als", "implicit_als",
            "surprise_svd", "cmfrec_als", "myfm_gibbs", "lenskit_als", "irspack_ials")


class Peer:
    """One that was found. `identity` is what its measurements depend on: its bytes or version."""

    def __init__(self, adapter, description, identity, **details):
        self.adapter, self.description, self.identity = adapter, description, identity
        self.name = adapter.NAME
        self.__dict__.update(details)

    @property
    def key(self):
        return [self.name, self.identity]

    def convert(self, work, dataset):
        return self.adapter.convert(work, self, dataset)

    def run(self, work, files, k, epochs, threads, validate=False):
        return self.adapter.run(work, self, files, k, epochs, threads, validate)

    def run_with_defaults(self, work, files, threads):
        return self.adapter.run_with_defaults(work, self, files, threads)

    def rank_with_defaults(self, work, files, threads):
        return self.adapter.rank_with_defaults(work, self, files, threads)


def find_all(work):
    """(peers found, [(name, how to provide it)] of the others)."""
    found, absent = [], []
    for name in ADAPTERS:
        adapter = importlib.import_module(f"peers.{name}")
        peer = adapter.find(work)
        if peer:
            found.append(peer)
        else:
            absent.append((adapter.NAME, adapter.HOW))
    return found, absent
