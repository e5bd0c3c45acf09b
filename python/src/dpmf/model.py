"""Model: fitted to ratings, or loaded from a file, and then used."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from datetime import date
from typing import Any, Optional, Sequence, Union

import numpy as np
import numpy.typing as npt

from ._arrow import Exported
from ._file import ModelFile, WorkFolder
from ._fit import Fitted, OpenStore, check_goal, continue_checkpoint, fit_checkpoint, fit_release
from ._ids import Id, Ids, pointer
from ._measure import Measured
from ._native import ffi, lib
from ._pairs import items_come_first, pairs_of
from ._progress import Shown
from ._ratings import Named, Reading, Store, columns_of, store_from_columns, store_from_file
from ._run import Epoch, ProgressCallback, Run, cores
from ._seen import Seen, SeenBefore, recommend_known
from ._tables import feature_files
from ._values import flag, is_path, memory_bytes, path_bytes, shown, whole
from .errors import (KindError, NotFittedError, PrivacyRefused, UnknownIdError, check, new_error,
                     usage, warn)
from .history import History, Titles, read_history
from .statement import PrivacyStatement
from .user import Explanation, Ratings, Recommendations, User, clip_to_scale, order_of

PathLike = Union[str, "os.PathLike[str]"]


class ItemVectors(Exported):
    """Items with their vectors and biases: columns `item`, `vector` (a list of fixed size) and
    `bias`, by `to_pandas`, `to_polars`, `to_arrow`, and whatever takes an object with
    ``__arrow_c_stream__``."""

    def __init__(self, items: Any, vectors: Any, biases: Any) -> None:
        self._items, self._vectors, self._biases = items, vectors, biases

    def __len__(self) -> int:
        return len(self._items)

    def _arrow_columns(self) -> dict[str, Any]:
        return {"item": self._items, "vector": self._vectors, "bias": self._biases}


class Model(Measured):
    """Matrix factorisation: a rating is an offset, a user's bias, an item's bias, and how well
    their vectors agree.

    Without `epsilon`, `fit` trains on the ratings and gives a checkpoint: it knows its users, and
    is as private as the ratings are. With `epsilon`, `fit` makes a *release*: items alone, proven
    (epsilon, delta)-differentially private for every user, to be published. People then use it at
    home, with ratings of their own.

    Parameters
    ----------
    n_factors : int, optional
        Length of the vectors. Like everything that is None: the library's own choice.
    n_epochs, learning_rate, decay, regularization : optional
        Settings of training; not with `epsilon`, where a public rule decides. Those that are None,
        except for the decay, are found by short trials first (see `adapt`).
    epsilon : float, optional
        Makes a private release, with this privacy loss.
    delta : float
        The other part of the promise; below one in the number of users.
    rating_range : (float, float), optional
        The smallest and the largest rating there can be. Needed with `epsilon`, as those that were
        given are private; ratings outside are dropped then, and refused otherwise.
    catalogue : list of items, frame, dict, or path, optional
        All items that can be rated, whether anyone did or not; needed with `epsilon`. For a frame,
        the one column (or the index) whose name stands for items; for a dict, its keys, or that
        column if it is a dict of columns. A file is in one of the forms of
        docs/formats/catalogue.md.
    mechanism : str
        "auto", or one that ``dpmf train --help`` lists, such as "residual" or "biases".
    item_features : dict, frame, or path, optional
        What is known about items: ``{item: {"genre": "comedy|drama", "year": 1999}}``, or a frame
        with a column of items; with `epsilon` it must be public. Without `epsilon`, items that
        nobody rated are placed by their features, and "sgd" moves items with few ratings towards
        similar ones.
    user_features : dict, frame, or path, optional
        The same for users; not with `epsilon`. Both have to be given to `load` again: a file keeps
        only users and items with ratings.
    user_privacy : dict, frame, series, or path, optional
        ``{user: epsilon}`` of users who want a smaller one; 0 leaves a user out. A frame has
        columns of both, or the users as an index of that name, as a series has. Users without
        ratings are counted in a warning, before anything is spent, and have no effect.
    users_since, users_before : str or datetime.date, optional
        Only users whose own first record is on or after the one day, and before the other, take
        part: dates such as "2026-01-01", in UTC. Needs times; a user with a record without a time
        is left out. Releases of other periods still add up with this one in the ledger.
    complete_histories : bool
        Declares that every release of this population is made from ratings that contain the same
        first record of each user, never missing, never one that could not be read, and never
        replaced by a later record of the same item. The ledger then does not add up releases of
        periods that do not overlap; dpmf cannot check it, so that total is partial, not proven.
        Refused for events, halves of splits and stores that were imported with a range of ratings.
    about : dict or path, optional
        What you declare about a release: ``{"controller": "Example Library", "contact": ...}``,
        with the names of docs/formats/about.md. It is published, and marked as not verified.
    population, ledger, ledger_budget : optional
        Whose budget is spent; the file in which that is recorded, which `init_ledger` made, by
        default the user's own; how much the population may spend in all, as a mu or as an epsilon
        at a delta ("5@1e-5"). What it has spent by then is logged after every fit, and in
        `report_`.
    random_state : int, optional
        Seed of training: the same ratings give the same model, with `deterministic` bit for bit.
        None is the library's own seed. Not with `epsilon`: noise comes from the operating system.
    n_threads : int
        0: every core that this process may use.
    memory : int or str, optional
        Bytes, or a size such as "2GiB", that a fit may use.
    deterministic : bool
        The same bits for any number of threads, from the same kernels on machines with the same
        caches.
    progress : callable or bool, optional
        None shows progress in notebooks and on terminals, with tqdm where it is installed; True
        always, False never. A function is called with a `Progress` now and then, in the thread that
        called `fit`. What it raises ends the fit and is raised there; when it returns False after
        an epoch, training ends and keeps the model as it is then.
    patience : int, optional
        Epochs without gain on `valid` (see `fit`) before training stops; 0: never.
    solver : str, optional
        "sgd", "ials", or a sampler of the posterior: "sgld", "sghmc", "sgnht" or "gibbs".
    unobserved : float, optional
        With `goal="ranking"`, the weight of a pair that was not observed; None: by the number of
        events.
    count_weight : float, optional
        With `goal="ranking"` and events: one that happened n times weighs 1 + count_weight ln(n);
        None: all weigh 1.
    average : bool
        With a sampler: predict with the average of many samples, which also gives `interval`.
    burn_in, n_samples, n_chains, step : optional
        With a sampler: epochs before samples count, the largest number of samples to keep, the
        number of independent chains, and the step of an epoch.
    snapshot : path, optional
        A file that is written during the fit, after every `snapshot_every` epochs (1) and when it
        is interrupted; `fit(..., resume=snapshot)` continues from there.
    adapt : bool
        With "sgd": find the number of epochs, the step size and the penalty by a few short trials
        on ratings held back, unless a parameter gives them; `report_["adapted"]` says what was
        found. False trains with fixed settings.
    goal : str, optional
        "rating", to predict ratings, or "ranking", to recommend. None: ranking when `fit` is given
        events (pairs of users and items, with counts or without), otherwise rating. With
        `goal="ranking"` a sparse matrix holds counts.
    like : float or "any", optional
        With `goal="ranking"`, from ratings: those of at least this value are what people liked, or
        all of them.
    catalogue_from_ratings : bool
        Instead of a catalogue: shows which items anyone rated; the release is then partial, not
        proven.
    declared_users : int, optional
        How many users there are, if that is public: delta is checked against it.
    accept_delta, accept_epsilon : bool
        Allow a delta above 1e-4 or not below one over the declared users, or a mu above 3.45, which
        is epsilon 20 at delta 1e-5. The release is then partial, not proven.
    insecure_noise_seed : int, optional
        For tests: the noise is predictable, and the file is marked NOT PRIVATE.

    Examples
    --------
    >>> import numpy as np, dpmf
    >>> rng = np.random.default_rng(7)
    >>> users, items = np.divmod(rng.permutation(200 * 40)[:5000], 40)
    >>> ratings = 1 + (users + items) % 5
    >>> model = dpmf.Model(n_factors=8, n_epochs=10, deterministic=True).fit(users, items, ratings)
    >>> model.item_factors_.shape
    (40, 8)
    >>> best = model.recommend(user=17, n=3)
    >>> best.items.shape, best.scores.dtype
    ((3,), dtype('float64'))
    """

    _items_first = False  # whether the table of pairs that was fitted to has the items first

    def __init__(
        self,
        n_factors: Optional[int] = None,
        n_epochs: Optional[int] = None,
        learning_rate: Optional[float] = None,
        regularization: Optional[float] = None,
        epsilon: Optional[float] = None,
        delta: float = 1e-5,
        rating_range: Optional[Sequence[float]] = None,
        catalogue: Any = None,
        mechanism: str = "auto",
        item_features: Any = None,
        user_privacy: Any = None,
        about: Any = None,
        population: Optional[str] = None,
        ledger: Optional[PathLike] = None,
        random_state: Optional[int] = None,
        n_threads: int = 0,
        memory: Union[int, str, None] = None,
        deterministic: bool = False,
        progress: Union[ProgressCallback, bool, None] = None,
        *,
        decay: Optional[float] = None,
        patience: Optional[int] = None,
        solver: Optional[str] = None,
        goal: Optional[str] = None,
        like: Union[float, str, None] = None,
        catalogue_from_ratings: bool = False,
        declared_users: Optional[int] = None,
        accept_delta: bool = False,
        accept_epsilon: bool = False,
        ledger_budget: Optional[Union[float, str]] = None,
        insecure_noise_seed: Optional[int] = None,
        unobserved: Optional[float] = None,
        count_weight: Optional[float] = None,
        average: bool = False,
        burn_in: Optional[int] = None,
        n_samples: Optional[int] = None,
        n_chains: Optional[int] = None,
        step: Optional[float] = None,
        snapshot: Optional[PathLike] = None,
        snapshot_every: Optional[int] = None,
        adapt: bool = True,
        user_features: Any = None,
        users_since: Union[str, date, None] = None,
        users_before: Union[str, date, None] = None,
        complete_histories: bool = False,
    ) -> None:
        self.n_factors = n_factors
        self.n_epochs = n_epochs
        self.learning_rate = learning_rate
        self.regularization = regularization
        self.epsilon = epsilon
        self.delta = delta
        self.rating_range = rating_range
        self.catalogue = catalogue
        self.mechanism = mechanism
        self.item_features = item_features
        self.user_privacy = user_privacy
        self.about = about
        self.population = population
        self.ledger = ledger
        self.random_state = random_state
        self.n_threads = n_threads
        self.memory = memory
        self.deterministic = deterministic
        self.progress = progress
        self.decay = decay
        self.patience = patience
        self.solver = solver
        self.goal = goal
        self.like = like
        self.catalogue_from_ratings = catalogue_from_ratings
        self.declared_users = declared_users
        self.accept_delta = accept_delta
        self.accept_epsilon = accept_epsilon
        self.ledger_budget = ledger_budget
        self.insecure_noise_seed = insecure_noise_seed
        self.unobserved = unobserved
        self.count_weight = count_weight
        self.average = average
        self.burn_in = burn_in
        self.n_samples = n_samples
        self.n_chains = n_chains
        self.step = step
        self.snapshot = snapshot
        self.snapshot_every = snapshot_every
        self.adapt = adapt
        self.user_features = user_features
        self.users_since = users_since
        self.users_before = users_before
        self.complete_histories = complete_histories

    # ---- parameters, as scikit-learn has them --------------------------------------------------

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters that the model was made with.

        >>> import dpmf
        >>> dpmf.Model(n_factors=16).get_params()["n_factors"]
        16
        """
        return {name: getattr(self, name) for name in self._defaults()}

    def set_params(self, **parameters: Any) -> Model:
        """Changes parameters, for the next fit.

        >>> import dpmf
        >>> dpmf.Model().set_params(n_factors=4, n_epochs=2)
        Model(n_factors=4, n_epochs=2)
        """
        known = self._defaults()
        for name in parameters:
            if name not in known:
                raise usage(f"Model has no parameter {name!r}", f"it has {', '.join(known)}")
        for name, value in parameters.items():
            setattr(self, name, value)
        return self

    def __repr__(self) -> str:
        def text_of(name: str) -> str:
            value = getattr(self, name)
            is_range = name == "rating_range" and isinstance(value, list)
            return shown(tuple(value) if is_range else value)

        changed = [f"{name}={text_of(name)}" for name, default in self._defaults().items()
                   if not _same(getattr(self, name), default)]
        return f"Model({', '.join(changed)})"

    # ---- fitting -------------------------------------------------------------------------------

    def fit(self, users: Any, items: Any = None, ratings: Any = None, timestamps: Any = None, *,
            counts: Any = None, valid: Any = None, resume: Optional[PathLike] = None,
            user: Optional[str] = None, item: Optional[str] = None, rating: Optional[str] = None,
            time: Optional[str] = None) -> Model:
        """Fits the model to ratings, or to events.

        Either three columns of the same length, `users`, `items` and `ratings` (and `timestamps`),
        where ids are whole numbers or texts. Or one argument: a sparse matrix of SciPy, users by
        items; a dense one, in which what was not rated is NaN or masked; or a data frame whose
        columns name users, items and ratings. If a pair occurs twice, the last rating counts.

        A frame is of pandas or polars (lazy ones too), or anything with Arrow's
        ``__arrow_c_stream__`` or ``__arrow_c_array__``: tables and readers of pyarrow, relations of
        DuckDB, cursors of ADBC. Where its columns have unusual names, `user`, `item`, `rating` and
        `time` give them.

        Events, what people played, bought or clicked, need no ratings: `users` and `items` alone,
        or with `counts`; a frame without a column of ratings; or, with ``goal="ranking"``, a sparse
        matrix of counts. Counts of the same pair are added. A count is a whole number from 1 to
        2**53 - 1.

        As scikit-learn calls it, ``fit(X, y)``: a table of two columns, users and items, and their
        ratings.

        Arrays of int64, float64 and float32 are read where they are, without a copy.

        `valid` is ratings in the same forms (a tuple of columns, a matrix, a frame), or a file: the
        error on them is in `history_`, and ends training when `patience` is over. `resume` is a
        snapshot of an earlier fit to the same ratings with the same parameters, which is continued.

        >>> import dpmf
        >>> model = dpmf.Model(n_factors=2, n_epochs=3)
        >>> model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4]).n_iter_
        3
        >>> played = dpmf.Model(n_factors=2, n_epochs=3)
        >>> played = played.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"])
        >>> played.recommend("bob", n=1).items
        array(['alien'], dtype=object)
        """
        ranks = check_goal(self.get_params())
        table = users
        pairs = (pairs_of(users)
                 if items is not None and ratings is None and counts is None else None)
        if pairs is not None:
            ratings, (users, items) = items, pairs
        columns = columns_of(users, items, ratings, timestamps, counts=counts, ranks=ranks,
                             likes=self.like is not None, names=Named(user, item, rating, time),
                             is_private=self.epsilon is not None)
        if columns.is_events and self.goal == "rating":
            raise usage("events are no ratings, which goal=\"rating\" is to predict",
                        'give ratings, or goal="ranking"')

        def open_store(run: Run, reading: Reading) -> Store:
            return store_from_columns(columns, reading, run)

        self._fit(open_store, Reading(events=columns.is_events), valid, resume)
        self._items_first = pairs is not None and items_come_first(table)
        if pairs is not None:
            self.n_features_in_ = 2
        return self

    def partial_fit(self, users: Any, items: Any = None, ratings: Any = None,
                    timestamps: Any = None, *, counts: Any = None, valid: Any = None,
                    history: Any = None, n_epochs: Optional[int] = None,
                    resume: Optional[PathLike] = None, user: Optional[str] = None,
                    item: Optional[str] = None, rating: Optional[str] = None,
                    time: Optional[str] = None) -> Model:
        """Trains a fitted model further, on new ratings alone, in any form that `fit` takes; one
        that is not fitted yet is fitted to them.

        New users and items are added. Vectors of old ones are held in place with the weight of the
        ratings behind them, and those without new ratings stay as they are. A rating that has
        changed counts as one more. `n_epochs` (2) is how often users and items are fitted in turn.
        Factors, penalties and the goal are the model's.

        `history` is for models that rank: what the model was fitted to before, in any form that
        `valid` takes, or True for what it remembers of its `fit`. Users and items with new ratings
        are then solved for again from all of theirs, which is more accurate.

        >>> import dpmf
        >>> model = dpmf.Model(n_factors=2, n_epochs=3)
        >>> model = model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4])
        >>> model.partial_fit(["eve", "eve"], ["dune", "solaris"], [3, 5]).users_
        array(['ann', 'bob', 'eve'], dtype=object)
        """
        fitted: Optional[Fitted] = self.__dict__.get("_fitted")
        if self.epsilon is not None or fitted is not None and fitted.file.is_release:
            raise PrivacyRefused(
                lib.DPMF_ERR_PRIVACY_REFUSED,
                "a release cannot be trained further: new ratings without noise would undo its "
                "privacy",
                "make another release from all ratings; the ledger counts both")
        if fitted is None:
            return self.fit(users, items, ratings, timestamps, counts=counts, valid=valid,
                            resume=resume, user=user, item=item, rating=rating, time=time)
        ranks, likes = fitted.file.ranks, self.like is not None
        pairs = (pairs_of(users, self._items_first)
                 if items is not None and ratings is None and counts is None else None)
        if pairs is not None:
            ratings, (users, items) = items, pairs
        columns = columns_of(users, items, ratings, timestamps, counts=counts, ranks=ranks,
                             likes=likes, names=Named(user, item, rating, time))

        def open_store(run: Run, reading: Reading) -> Store:
            return store_from_columns(columns, reading, run)

        self._fitted = continue_checkpoint({**self.get_params(), "resume": resume}, n_epochs,
                                           fitted, open_store,
                                           None if valid is None else opener(valid, ranks, likes),
                                           Reading(events=columns.is_events), self._run(),
                                           _opener_of_history(history, fitted, ranks, likes))
        return self

    def fit_file(self, path: PathLike, *, format: Optional[str] = None,
                 columns: Optional[str] = None, separator: Optional[str] = None,
                 events: bool = False, valid: Any = None,
                 resume: Optional[PathLike] = None, user: Optional[str] = None,
                 item: Optional[str] = None, rating: Optional[str] = None,
                 time: Optional[str] = None) -> Model:
        """Fits the model to a file of ratings: a store, CSV and other text, Parquet, Arrow; or to a
        folder of Parquet and Arrow files.

        `format`, `columns`, `separator` and `events` say what the file does not say itself, as the
        options of that name do on the command line. For a private release a header must name the
        columns, or the layout must be declared by these: otherwise one person's record would decide
        how all others are read. A store must have been imported in this way. `user`, `item`,
        `rating` and `time` name columns of Parquet and Arrow files.
        """
        path_bytes(path)  # a path that is none is told before anything else
        names = Named(user, item, rating, time)
        names.check()

        def open_store(run: Run, reading: Reading) -> Store:
            return store_from_file(path, reading._replace(format=format, columns=columns,
                                                          separator=separator, names=names), run)

        return self._fit(open_store, Reading(events=flag("events", events)), valid, resume)

    def _run(self) -> Run:
        return Run(whole("n_threads", self.n_threads, 0, 4096), memory_bytes(self.memory),
                   Shown(self.progress))

    def _open(self, ratings: Any, run: Run) -> Store:
        """Ratings in any form, or a file of them."""
        ranks = self._ready.file.ranks
        return opener(ratings, ranks, ranks and self.like is not None)(run, Reading())

    def _refuse_stranger(self) -> None:
        """A release from elsewhere does not say whose budget it spent, nor who wanted a smaller
        epsilon: fitted again, it would charge other people, and forget wishes."""
        fitted: Optional[Fitted] = self.__dict__.get("_fitted")
        if fitted is not None and fitted.file.is_release and not fitted.is_made_here:
            raise usage(
                "this release was copied, unpickled or loaded, without the population, ledger "
                "and user_privacy that it was made with: it cannot be fitted again",
                "make a new dpmf.Model, with all of its parameters")

    def _fit(self, open_store: OpenStore, reading: Reading, valid: Any,
             resume: Optional[PathLike] = None) -> Model:
        self._items_first = False
        self._refuse_stranger()
        parameters, defaults, run = self.get_params(), self._defaults(), self._run()
        if self.epsilon is None:
            open_valid = None if valid is None else opener(valid, check_goal(parameters),
                                                            self.like is not None)
            self._fitted = fit_checkpoint({**parameters, "resume": resume}, defaults, open_store,
                                          open_valid, reading, run)
        elif resume is not None:
            raise PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED,
                                 "a private fit has no snapshots to resume from",
                                 "leave resume out")
        elif valid is None:
            fit_release(parameters, defaults, open_store, reading, run, self._deliver)
        else:
            raise PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED,
                                 "valid measures private ratings, which no release pays for",
                                 "leave it out")
        return self

    def _deliver(self, fitted: Fitted) -> None:
        self._fitted = fitted

    # ---- what was fitted -----------------------------------------------------------------------

    @property
    def _ready(self) -> Fitted:
        fitted: Optional[Fitted] = self.__dict__.get("_fitted")
        if fitted is None:
            raise NotFittedError(lib.DPMF_ERR_USAGE_VALUE, "this model has not been fitted yet",
                                 "call fit, or dpmf.load a file")
        return fitted

    @property
    def _with_users(self) -> Fitted:
        if self._ready.file.is_release:
            raise KindError(lib.DPMF_ERR_MODEL_KIND, "this is a release, which has no users",
                            "give someone's ratings: ratings={item: rating, ...}")
        return self._ready

    @property
    def goal_(self) -> str:
        """ "rating", or "ranking" for a model whose scores order items and are not ratings."""
        return "ranking" if self._ready.file.ranks else "rating"

    @property
    def kind_(self) -> str:
        """ "checkpoint", or "release", which has no users."""
        return "release" if self._ready.file.is_release else "checkpoint"

    @property
    def item_factors_(self) -> npt.NDArray[np.float32]:
        """The items' vectors, a row each, in the order of `items_`: read-only, and no copy."""
        return self._ready.file.factors("item")

    @property
    def item_biases_(self) -> npt.NDArray[np.float32]:
        """How much better than others each item is rated; no copy."""
        return self._ready.file.biases("item")

    def item_vectors(self) -> ItemVectors:
        """The items' ids, vectors and biases as a table for other libraries, such as vector
        databases.

        >>> import dpmf
        >>> model = dpmf.Model(n_factors=2, n_epochs=3)
        >>> model = model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4])
        >>> len(model.item_vectors())
        2
        """
        return ItemVectors(self.items_, self.item_factors_, self.item_biases_)

    @property
    def user_factors_(self) -> npt.NDArray[np.float32]:
        """The users' vectors, of a checkpoint; no copy."""
        return self._with_users.file.factors("user")

    @property
    def user_biases_(self) -> npt.NDArray[np.float32]:
        """How much higher than others each user rates, of a checkpoint; no copy."""
        return self._with_users.file.biases("user")

    @property
    def items_(self) -> npt.NDArray[Any]:
        """Ids of the items."""
        return self._ready.items.array

    @property
    def users_(self) -> npt.NDArray[Any]:
        """Ids of the users, of a checkpoint."""
        return self._with_users.users.array

    @property
    def offset_(self) -> float:
        """What all ratings have in common."""
        return float(self._ready.file.info.offset)

    @property
    def rating_range_(self) -> tuple[float, float]:
        """The scale of the ratings, to which predictions are clipped; a model that ranks has none,
        and no such attribute."""
        self._ready.file.refuse_ranking()
        info = self._ready.file.info
        return float(info.min), float(info.max)

    @property
    def n_iter_(self) -> int:
        """Epochs of training; 0 for a release."""
        return int(self._ready.file.info.epochs)

    @property
    def history_(self) -> list[Epoch]:
        """What was known after each epoch; empty for a release, and for a model from a file."""
        return list(self._ready.epochs)

    @property
    def report_(self) -> dict[str, Any]:
        """About the fit, for whoever made it; not part of any file. For a release it has **private
        figures**."""
        return dict(self._ready.report)

    @property
    def privacy_(self) -> PrivacyStatement:
        """What a release promises, checked: a dict, and for people its ``text``."""
        file = self._ready.file
        if not file.is_release:
            raise KindError(lib.DPMF_ERR_MODEL_KIND,
                            "this is a checkpoint, as private as the ratings it was fitted to",
                            "set epsilon to make a release")
        return file.statement

    @property
    def item_map_(self) -> npt.NDArray[np.float32]:
        """A picture of the items: two coordinates each, within -1 and 1, along which their vectors
        differ most."""
        file = self._ready.file
        made, error = ffi.new("struct dpmf_map **"), new_error()
        check(lib.dpmf_map_make(file.model, made, error), error)
        try:
            points = np.empty((file.count("item"), 2), dtype=np.float32)
            for i in range(len(points)):
                lib.dpmf_map_item(made[0], i, pointer("float *", points[i]))
            return points
        finally:
            lib.dpmf_map_free(made[0])

    # ---- use -----------------------------------------------------------------------------------

    def fold_in(self, ratings: Ratings, titles: Optional[Titles] = None) -> User:
        """Someone the model does not know, fitted to ratings of their own: a dict, a pair of arrays
        (items and ratings), or a file that Letterboxd, IMDb, Goodreads, StoryGraph, Trakt, Netflix,
        Spotify or Last.fm exported, which is matched by `titles` as `read_history` does.

        >>> import dpmf
        >>> model = dpmf.Model(n_factors=2, n_epochs=3)
        >>> model = model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 3, 4])
        >>> me = model.fold_in({"dune": 5})
        >>> me.recommend().items.tolist()
        ['alien']
        >>> me.rate("alien", 3).ratings
        {'dune': 5.0, 'alien': 3.0}
        """
        return User(self._ready.shelf, ratings, titles)

    def read_history(self, path: Any, titles: Optional[Titles] = None) -> History:
        """A file that another service exported, matched with the model's items by title and year:
        what was matched, with what certainty, and what was not (docs/titles.md). `titles` is a dict
        of items and titles, or a title for each of `items_`; without it items are compared by their
        ids.

        >>> import dpmf, pathlib, tempfile
        >>> model = dpmf.Model(n_factors=2, n_epochs=3)
        >>> model = model.fit(["ann", "ann", "bob"], ["dune", "alien", "dune"], [5, 1, 4])
        >>> file = pathlib.Path(tempfile.mkdtemp(), "ratings.csv")
        >>> _ = file.write_text("Title,Year,Rating\\nDune,1984,4\\nAliens,1986,5\\n")
        >>> import warnings
        >>> with warnings.catch_warnings():
        ...     warnings.simplefilter("ignore")
        ...     history = model.read_history(file, {"dune": "Dune (1984)", "alien": "Alien (1979)"})
        >>> history.ratings
        {'dune': 4.0}
        >>> [(entry.title, entry.match) for entry in history.entries]
        [('Dune', 'sure'), ('Aliens', 'none')]
        """
        return read_history(self._ready.shelf, path, titles)

    def recommend(self, user: Optional[Id] = None, ratings: Optional[Ratings] = None, n: int = 10,
                  exclude_seen: bool = True, include: Any = None, exclude: Any = None,
                  taste: Optional[float] = None, by: Optional[str] = None,
                  titles: Optional[Titles] = None) -> Recommendations:
        """The n items that someone will like best, ties in the order of `items_`.

        `user` is one that the model was fitted on; or `ratings` are someone's own, as for
        `fold_in`, with `titles` where they are a file of another service. With neither, the items
        that everyone likes best. What was rated counts as what a user chose, and is left out; with
        `exclude_seen=False` what a user of the model rated is ignored. `exclude` are further items
        to leave out, `include` the only ones to choose from.

        Items are ordered by a score: how much everyone likes them, and how much they are to the
        person's taste. `taste` is the dial between the two, from 0, the crowd, to 1, my taste; 0.5
        when it is None. `by="rating"` orders by the predicted rating alone, which is also what
        models made by 0.1.0 do.
        """
        if user is not None and ratings is not None:
            raise usage("recommend takes a user or ratings, not both")
        if user is None:
            someone = self.fold_in({} if ratings is None else ratings, titles)
            return someone.recommend(n, exclude_seen, include, exclude, taste, by)
        fitted = self._with_users
        number = fitted.users.find_one(user)
        if number < 0:
            raise _unknown_user(user)
        own = self._seen(fitted)[number] if exclude_seen else None
        if own is not None and not len(own) and number < fitted.file.n_rated_users:
            warn("the history has nothing of this user: nothing is left out")
        without, within = fitted.shelf.choice(None if own is None else own["item"], include,
                                              exclude)
        return recommend_known(fitted.shelf, number, own, order_of(taste, by), n, without, within)

    def recommend_many(self, users: Any = None, ratings: Optional[Sequence[Ratings]] = None,
                       n: int = 10, exclude_seen: bool = True, include: Any = None,
                       exclude: Any = None, taste: Optional[float] = None,
                       by: Optional[str] = None) -> list[Recommendations]:
        """The same for each of several `users` (all of the model's, when None), or for several
        people with `ratings` of their own, by all threads: a list, in their order."""
        threads = whole("n_threads", self.n_threads, 0, 4096) or cores()
        self._ready.shelf.room(n)  # a senseless n is told before there are threads
        self._ready.items.array  # and ids are read once
        if ratings is not None:
            if users is not None:
                raise usage("recommend_many takes users or ratings, not both")
            with ThreadPoolExecutor(threads) as pool:
                return list(
                    pool.map(
                        lambda mine: self.recommend(None, mine, n, exclude_seen, include, exclude,
                                                    taste, by), ratings))
        fitted = self._with_users
        numbers = list(range(fitted.file.count("user")))
        if users is not None:
            numbers = fitted.users.find(users).tolist()
            if -1 in numbers:
                raise _unknown_user(list(users)[numbers.index(-1)])
        seen = self._seen(fitted) if exclude_seen else None
        shelf, order = fitted.shelf, order_of(taste, by)
        without, within = shelf.choice(None, include, exclude)
        unseen: list[int] = []

        def one(number: int) -> Recommendations:
            left_out, own = without, None
            if seen is not None:
                own = seen[number]
                if not len(own) and number < fitted.file.n_rated_users:
                    unseen.append(number)
                left_out = shelf.bitmap(own["item"].astype(np.int64))
                if without is not None:
                    left_out |= without
            return recommend_known(shelf, number, own, order, n, left_out, within)

        with ThreadPoolExecutor(threads) as pool:
            lists = list(pool.map(one, numbers))
        if unseen:
            warn(f"the history has nothing of {len(unseen)} of {len(numbers)} users: nothing is "
                 "left out for them")
        return lists

    def _history(self, fitted: Fitted) -> Any:
        """The store of what each user has rated; None where that is not known, or is in two."""
        return None if isinstance(fitted.seen, SeenBefore) else fitted.store

    def _seen(self, fitted: Fitted) -> Seen:
        if fitted.seen is None:
            if fitted.store is None:
                raise usage("who has rated what is not in the model's file",
                            "give it with dpmf.load(path, history=...), or say exclude_seen=False")
            fitted.seen = Seen(fitted, fitted.store, self._run())
        seen: Seen = fitted.seen
        return seen

    def similar_items(self, item: Id, n: int = 10) -> Recommendations:
        """The n items whose vectors point in the most similar direction, with the cosines; the item
        itself is left out. A release may have so few factors that much of the list is chance, and
        a warning then says how much."""
        shelf = self._ready.shelf
        number = shelf.find_item(item)
        if not shelf.file.info.factors:
            held = "popularity" if shelf.file.ranks else "biases"
            raise KindError(lib.DPMF_ERR_MODEL_KIND,
                            f"there are no vectors to compare: this model holds {held} alone",
                            "use a model with factors")
        scored, error = shelf.room(n), new_error()
        count = check(lib.dpmf_model_similar(shelf.file.model, number, len(scored),
                                             pointer("struct dpmf_scored_item *", scored), error),
                      error)
        doubt = (lib.dpmf_model_similar_in_doubt(shelf.file.model, count,
                                                 scored["score"][count - 1]) if count else 0)
        if doubt:
            info = shelf.file.info
            warn(f"{info.factors} noisy factor{'s' if info.factors > 1 else ''} tell few items "
                 f"apart: of {info.items} items in random directions, {doubt:.0f} would be as "
                 "similar as the last of these by chance")
        return shelf.ranked(scored[:count])

    def explain(self, ratings: Ratings, item: Id, taste: Optional[float] = None,
                by: Optional[str] = None) -> Explanation:
        """Why an item is recommended to someone: the parts of its score, and which of their ratings
        speak for it."""
        return self.fold_in(ratings).explain(item, taste, by)

    def predict(self, users: Any = None, items: Any = None, *, ratings: Optional[Ratings] = None,
                clip: bool = True) -> Any:
        """The predicted ratings.

        ``predict(users, items)`` with a checkpoint: pairs, or one user for all items, or one item
        for all users. Unknown users and items count as average, with a warning that says how many
        there are. ``predict(items=..., ratings=...)`` for someone with ratings of their own. Within
        the scale of the ratings, unless `clip` is False. A float for one pair, otherwise an array.
        ``predict(X)``, as scikit-learn calls it: a table of two columns, users and items.
        """
        pairs = (pairs_of(users, self._items_first)
                 if items is None and ratings is None else None)
        if pairs is not None:
            users, items = pairs
        if items is None:
            raise usage("predict needs items")
        if (users is None) == (ratings is None):
            raise usage("predict needs either users or someone's ratings")
        if ratings is not None:
            return self.fold_in(ratings).predict(items, clip)
        fitted = self._with_users
        fitted.file.refuse_ranking()
        user_numbers, is_one_user = _numbers(fitted.users, users)
        item_numbers, is_one_item = _numbers(fitted.items, items)
        if len(user_numbers) != len(item_numbers) and not is_one_user and not is_one_item:
            raise usage(
                f"there are {len(user_numbers)} users and {len(item_numbers)} items: a pair "
                "has one of each")
        n = len(item_numbers) if is_one_user else len(user_numbers)
        u = np.ascontiguousarray(np.broadcast_to(user_numbers, (n,)))
        i = np.ascontiguousarray(np.broadcast_to(item_numbers, (n,)))
        predictions = np.empty(n)
        lib.native_pairs_predict(fitted.file.model, pointer("int64_t *", u),
                                 pointer("int64_t *", i), n, pointer("double *", predictions))
        for unknown, what in ((u < 0, "users"), (i < 0, "items")):
            if unknown.any():
                count = int(unknown.sum())
                warn(f"{count} pair{'s' if count > 1 else ''} with {what} that the model does not "
                     "know: predicted from averages")
        if clip:
            clip_to_scale(fitted.file, predictions)
        return float(predictions[0]) if is_one_user and is_one_item else predictions

    # ---- files ---------------------------------------------------------------------------------

    def save(self, path: PathLike, *, replace: bool = False) -> None:
        """Writes the model to a safetensors file, whole or not at all. Only its owner can read a
        checkpoint; a release is for everyone. Replacing a release or another file needs `replace`;
        replacing a checkpoint does not."""
        self._ready.file.save(path, flag("replace", replace))

    def __getstate__(self) -> dict[str, Any]:
        state = self.get_params()
        state["progress"] = None
        if not self.__sklearn_is_fitted__():
            return state
        fitted = self._fitted
        if not fitted.file.is_release:
            raise PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED,
                                 "not pickled: this model contains user data",
                                 "use save(path), which writes a file that only you can read")
        if not fitted.file.statement.is_private:
            raise PrivacyRefused(lib.DPMF_ERR_PRIVACY_REFUSED,
                                 "not copied or pickled: this model is NOT PRIVATE",
                                 "use save(path)")
        # What a fit was told may name people and places. What is public of it is in the release.
        for name in ("catalogue", "item_features", "user_features", "user_privacy", "about",
                     "population", "ledger", "ledger_budget"):
            state[name] = None
        state["_release"] = fitted.file.bytes()
        state["_items_are_texts"] = fitted.items.as_texts
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        release = state.pop("_release", None)
        items_are_texts = state.pop("_items_are_texts", False)
        self.__dict__.update(state)
        if release is not None:
            file = ModelFile.from_bytes(release, "the pickled release")
            file.statement  # someone may have changed it on the way
            self._fitted = Fitted(file, items_are_texts=items_are_texts)


# ---- small things --------------------------------------------------------------------------------


def _same(value: Any, default: Any) -> bool:
    """Whether a parameter is as it was; arrays have opinions of their own about ==."""
    return value is default or (type(value) is type(default) and bool(value == default))


def _unknown_user(user: Any) -> UnknownIdError:
    return UnknownIdError(lib.DPMF_ERR_MODEL_UNKNOWN_ID,
                          f"the model does not know user {shown(user)}",
                          "give their ratings: ratings={item: rating, ...}")


def _numbers(ids: Ids, values: Any) -> tuple[npt.NDArray[np.int64], bool]:
    if isinstance(values, (str, bytes)) or np.ndim(values) == 0:
        return np.array([ids.find_one(values)], dtype=np.int64), True
    return ids.find(values), False


def opener(ratings: Any, ranks: bool = False, likes: bool = False, events: bool = False,
           names: Named = Named()) -> OpenStore:
    """How ratings in any form are opened; `events`: they are declared to be events, whose values
    are counts."""
    names.check()
    columns = (None if is_path(ratings) else
               columns_of(ratings, ranks=ranks or events, likes=likes, names=names))
    if columns is not None and events and not columns.is_events:
        is_matrix = isinstance(ratings, np.ndarray) and ratings.dtype.names is None
        if not is_matrix and not isinstance(ratings, tuple):
            raise usage("these are declared as events, but there is a rating and no count",
                        'name the column "count", or leave events out')
        columns = columns._replace(is_events=True)

    def open_store(run: Run, reading: Reading) -> Store:
        if columns is None:
            return store_from_file(
                ratings, reading._replace(events=reading.events or events, names=names), run)
        return store_from_columns(columns, reading, run)

    return open_store


def _opener_of_history(history: Any, fitted: Fitted, ranks: bool,
                       likes: bool) -> Optional[OpenStore]:
    """What `partial_fit` was given: ratings, or True for those of the `fit` before."""
    if history is None or history is False:
        return None
    if history is not True:
        return opener(history, ranks, likes)
    store = fitted.store
    if store is None:
        raise usage("the model does not remember what it was fitted to: it was loaded, or has "
                    "been continued since", "give the ratings: history=(users, items)")
    return lambda run, reading: store


# ---- loading -------------------------------------------------------------------------------------


def load(path: PathLike, *, history: Any = None, verify: bool = True, ids: str = "auto",
         n_threads: int = 0, item_features: Any = None, user_features: Any = None,
         catalogue: Optional[PathLike] = None) -> Model:
    """Opens a checkpoint or a release that `Model.save` or ``dpmf train`` wrote.

    A release is checked: its digest, that it holds nothing else, and the arithmetic of its privacy
    statement. With `verify` False the last is left to `privacy_`. `history` are the ratings that a
    checkpoint's users have given, in any form that `fit` or `fit_file` take (columns as a tuple),
    so that what was rated can be left out. `ids` is the type of ids in results, "int" or "str";
    "auto" gives whole numbers if all ids are. `item_features` and `user_features` place items and
    users without ratings in a checkpoint, as in `Model`. `catalogue` is a table with kinds and
    years of items (docs/goals.md), which a release counts in the taste of whoever has ratings of
    their own, as ``dpmf recommend --catalogue`` and the page do.
    """
    if ids not in ("auto", "int", "str"):
        raise usage(f'ids={shown(ids)} is not "auto", "int" or "str"')
    file = ModelFile.open(path)
    info = file.info
    model = Model(n_threads=n_threads)
    if file.is_release and verify:
        statement = file.statement
        model.set_params(epsilon=statement["epsilon"], mechanism=statement["mechanism"])
        if file.ranks:
            model.set_params(goal="ranking")
        else:
            model.set_params(rating_range=(float(info.min), float(info.max)))
        if statement["delta"]:  # a conditional one has none
            model.set_params(delta=statement["delta"])
    elif not file.is_release:
        model.set_params(n_factors=int(info.factors), n_epochs=int(info.epochs),
                         random_state=int(info.seed))
        if not file.ranks and not info.samples:
            model.set_params(learning_rate=info.learning_rate)
        if not info.samples:
            model.set_params(regularization=info.regularization)
    model.set_params(item_features=item_features, user_features=user_features)
    with WorkFolder() as folder:
        file.add_features(*feature_files(folder, item_features, user_features), model._run())
    if catalogue is not None:
        file.add_facts(path_bytes(catalogue), model._run())
    fitted = Fitted(file, ids == "str", ids == "str")
    if ids == "int" and fitted.items.array.dtype != np.int64:
        raise usage(f"{file.name}: its items are not all whole numbers", 'leave ids out')
    if history is not None:
        if file.is_release:
            raise KindError(lib.DPMF_ERR_MODEL_KIND, "this is a release, which has no users",
                            "leave history out", file.name)
        fitted.store = opener(history)(model._run(), Reading())
        fitted.store.warn_off_scale(file)
    model._fitted = fitted
    return model
