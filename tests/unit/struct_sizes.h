/*
 * The sizes of the structs of include/, in bytes, where pointers have 64 bits: for
 * test_arguments.c, which defines what the two macros check. dpmf_build is returned by value, and
 * so never changes either.
 */
EXACTLY(dpmf_error, 1560);
EXACTLY(dpmf_model_info, 248);
EXACTLY(dpmf_scored_item, 16);
EXACTLY(dpmf_order, 48);
EXACTLY(dpmf_score, 80);
EXACTLY(dpmf_own_rating, 16);
EXACTLY(dpmf_diary_entry, 152);
EXACTLY(dpmf_diary_info, 144);
AT_LEAST(dpmf_run, 64);
EXACTLY(dpmf_build, 24);
AT_LEAST(dpmf_input_options, 96);
EXACTLY(dpmf_layout, 176);
EXACTLY(dpmf_import_report, 1872);
AT_LEAST(dpmf_arrays, 104);
EXACTLY(dpmf_store_info, 272);
EXACTLY(dpmf_description, 2040);
AT_LEAST(dpmf_split_options, 48);
EXACTLY(dpmf_split_report, 96);
EXACTLY(dpmf_shard_report, 72);
AT_LEAST(dpmf_synth_options, 112);
EXACTLY(dpmf_sampler_options, 72);
EXACTLY(dpmf_ials_options, 72);
AT_LEAST(dpmf_train_options, 288);
EXACTLY(dpmf_train_report, 256);
AT_LEAST(dpmf_tune_options, 32);
EXACTLY(dpmf_trial, 112);
EXACTLY(dpmf_tune_report, 176);
EXACTLY(dpmf_adapt_report, 88);
EXACTLY(dpmf_budget, 24);
EXACTLY(dpmf_ledger_population, 144);
EXACTLY(dpmf_release_report, 656);
EXACTLY(dpmf_extend_report, 144);
EXACTLY(dpmf_posterior_options, 80);
AT_LEAST(dpmf_release_options, 248);
EXACTLY(dpmf_machine, 320);
AT_LEAST(dpmf_bench_options, 48);
EXACTLY(dpmf_bench_result, 152);
EXACTLY(dpmf_history, 64);
EXACTLY(dpmf_user_list, 88);
AT_LEAST(dpmf_evaluate_options, 24);
EXACTLY(dpmf_ranking_part, 120);
EXACTLY(dpmf_evaluation, 840);
EXACTLY(dpmf_candidates_evaluation, 80);
AT_LEAST(dpmf_plan_options, 72);
EXACTLY(dpmf_plan, 96);
EXACTLY(dpmf_statement, 104);
EXACTLY(dpmf_verification, 2608);
AT_LEAST(dpmf_export_options, 24);
EXACTLY(dpmf_export_report, 88);
AT_LEAST(dpmf_audit_options, 40);
EXACTLY(dpmf_audit_report, 1664);
EXACTLY(dpmf_field, 24);
EXACTLY(dpmf_nearest, 24);
