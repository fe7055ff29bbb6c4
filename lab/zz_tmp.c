#include "lab.h"
void exp_counting(struct lab *lab) { (void)lab; }
void exp_minhash_permutations(struct lab *lab) { (void)lab; }
void exp_minhash_error(struct lab *lab) { (void)lab; }
void exp_lsh_curve(struct lab *lab) { (void)lab; }
void exp_lsh_plan(struct lab *lab) { (void)lab; }
void exp_movielens(struct lab *lab) { (void)lab; }
void exp_threads(struct lab *lab) { (void)lab; }
