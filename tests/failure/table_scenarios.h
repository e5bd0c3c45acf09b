/*
 * Arrow and Parquet tables that test_allocation.c reads while memory runs out.
 */
#ifndef DPMF_TESTS_TABLE_SCENARIOS_H
#define DPMF_TESTS_TABLE_SCENARIOS_H

void table_scenarios_make(void); /* the files that are read */
void table_scenarios_remove(void);

/* @return 0 or a negative code */
int table_scenarios_parquet(void);
int table_scenarios_arrow(void);
int table_scenarios_arrow_stream(void);

#endif
