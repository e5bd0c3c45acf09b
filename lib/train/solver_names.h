/*
 * The solvers by name: what models record of the one that made them, and options ask for. Rooms
 * that cannot see the solvers themselves (sample/solver.h) know the names too.
 */
#ifndef DPMF_TRAIN_SOLVER_NAMES_H
#define DPMF_TRAIN_SOLVER_NAMES_H

#define SOLVER_NAME_SGD "sgd"
#define SOLVER_NAME_IALS "ials"
#define SOLVER_NAME_GIBBS "gibbs"
#define SOLVER_NAME_SGLD "sgld"
#define SOLVER_NAME_SGHMC "sghmc"
#define SOLVER_NAME_SGNHT "sgnht"

#endif
