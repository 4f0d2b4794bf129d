// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keys and options of OpenSM's that minism has no use for.
 *
 * A file that worked with OpenSM is to work as it is. A key in it that has no
 * effect here is a warning, for its owner believes that it works; but not if
 * it asks for nothing ("(null)", OpenSM's word for "not set"), for what minism
 * does in any case, or for the details of a thing that another key switches
 * on. What `opensm -c` writes is full of those, and a warning that says
 * nothing hides the one that does.
 *
 * A file that OpenSM reads by default counts only if it is there.
 *
 * Source: what `opensm -c` of OpenSM 3.3.23 writes, less the keys of options.c,
 * and what files of NVIDIA's subnet manager have besides.
 */
#include "sm/config/opensm_keys.h"

#include <glib.h>

struct opensm_key {
	char letter;		/* of an option that is none here */
	const char *name;	/* of a key or a long option; NULL: none */
	const char *done;	/* the value that minism does; NULL: none */
	const char *instead;	/* what does the same here, or NULL */
};

/* Details: the key that makes them count is in the table, too; or minism does
 * in any case what one of the values asks for. */
#define ANY	"*"

#define CONSOLE	"minismctl asks a running minism"
#define ROTATE	"SIGUSR1 opens the log again, for logrotate"
#define ERRORS	"ibqueryerrors reads the error counters of ports"

static const struct opensm_key opensm_keys[] = {
	{ 0, "accum_log_file", "TRUE", NULL },
	{ 0, "allow_both_pkeys", ANY, NULL },
	{ 0, "avoid_throttled_links", "FALSE", NULL },
	{ 0, "babbling_port_policy", "FALSE", NULL },
	{ 0, "cc_ca_cong_setting_ccti_increase", ANY, NULL },
	{ 0, "cc_ca_cong_setting_ccti_min", ANY, NULL },
	{ 0, "cc_ca_cong_setting_ccti_timer", ANY, NULL },
	{ 0, "cc_ca_cong_setting_control_map", ANY, NULL },
	{ 0, "cc_ca_cong_setting_port_control", ANY, NULL },
	{ 0, "cc_ca_cong_setting_trigger_threshold", ANY, NULL },
	{ 0, "cc_cct", ANY, NULL },
	{ 0, "cc_key", ANY, NULL },
	{ 0, "cc_max_outstanding_mads", ANY, NULL },
	{ 0, "cc_sw_cong_setting_control_map", ANY, NULL },
	{ 0, "cc_sw_cong_setting_credit_mask", ANY, NULL },
	{ 0, "cc_sw_cong_setting_credit_starvation_return_delay", ANY, NULL },
	{ 0, "cc_sw_cong_setting_credit_starvation_threshold", ANY, NULL },
	{ 0, "cc_sw_cong_setting_marking_rate", ANY, NULL },
	{ 0, "cc_sw_cong_setting_packet_size", ANY, NULL },
	{ 0, "cc_sw_cong_setting_threshold", ANY, NULL },
	{ 0, "cc_sw_cong_setting_victim_mask", ANY, NULL },
	{ 0, "congestion_control", "FALSE", NULL },
	{ 0, "connect_roots", "FALSE", NULL },
	{ 0, "console", "off", CONSOLE },
	{ 0, "console_port", ANY, CONSOLE },
	{ 0, "consolidate_ipv6_snm_req", "FALSE", NULL },
	{ 0, "disable_multicast", "FALSE", NULL },
	{ 0, "do_mesh_analysis", "FALSE", NULL },
	{ 0, "drop_event_subscriptions", "FALSE", NULL },
	{ 0, "enable_quirks", "FALSE", NULL },
	{ 0, "event_db_dump_file", NULL, NULL },
	{ 0, "event_plugin_name", NULL, NULL },
	{ 0, "event_plugin_options", ANY, NULL },
	{ 0, "exit_on_fatal", ANY, NULL },
	{ 0, "fdr10", ANY, NULL },
	{ 0, "force_link_speed", "15", NULL },
	{ 0, "force_link_speed_ext", "31", NULL },
	{ 0, "force_link_width", "255", NULL },
	{ 0, "force_log_flush", ANY, NULL },
	{ 0, "fsync_high_avail_files", ANY, NULL },
	{ 0, "gmp_threads", ANY, NULL },
	{ 0, "guid_routing_order_file", NULL, NULL },
	{ 0, "guid_routing_order_no_scatter", "FALSE", NULL },
	{ 0, "honor_guid2lid_file", ANY, NULL },
	{ 0, "hop_weights_file", NULL, NULL },
	{ 0, "ids_guid_file", NULL, NULL },
	{ 0, "ignore_other_sm", "FALSE", NULL },
	{ 0, "ipoib_mcgroup_creation_validation", "TRUE", NULL },
	{ 0, "keep_pkey_indexes", "TRUE", NULL },
	{ 0, "lash_start_vl", ANY, NULL },
	{ 0, "lfts_file", NULL, NULL },
	{ 0, "lid_matrix_dump_file", NULL, NULL },
	{ 0, "lmc_esp0", ANY, NULL },
	{ 0, "log_max_size", "0", ROTATE },
	{ 0, "log_prefix", NULL, NULL },
	{ 0, "long_transaction_timeout", ANY, NULL },
	{ 0, "max_msg_fifo_timeout", ANY, NULL },
	{ 0, "max_reverse_hops", "0", NULL },
	{ 0, "max_smps_timeout", ANY, NULL },
	{ 0, "max_wire_smps2", ANY, NULL },
	{ 0, "max_wire_smps_per_device", ANY, NULL },
	{ 0, "mcgroup_join_validation", "TRUE", NULL },
	{ 0, "nue_include_switches", ANY, NULL },
	{ 0, "nue_max_num_vls", ANY, NULL },
	{ 0, "per_module_logging_file", "/etc/opensm/per-module-logging.conf",
	  NULL },
	{ 0, "perfmgr", "FALSE", ERRORS },
	{ 0, "perfmgr_ignore_cas", ANY, NULL },
	{ 0, "perfmgr_log_errors", ANY, NULL },
	{ 0, "perfmgr_max_outstanding_queries", ANY, NULL },
	{ 0, "perfmgr_query_cpi", ANY, NULL },
	{ 0, "perfmgr_redir", ANY, NULL },
	{ 0, "perfmgr_rm_nodes", ANY, NULL },
	{ 0, "perfmgr_sweep_time_s", ANY, NULL },
	{ 0, "perfmgr_xmit_wait_log", ANY, NULL },
	{ 0, "perfmgr_xmit_wait_threshold", ANY, NULL },
	{ 0, "pgrp_policy_file", NULL, NULL },
	{ 0, "port_prof_ignore_file", ANY, NULL },
	{ 0, "port_profile_switch_nodes", "FALSE", NULL },
	{ 0, "port_search_ordering_file", NULL, NULL },
	{ 0, "port_shifting", "FALSE", NULL },
	{ 0, "prefix_routes_file", "/etc/opensm/prefix-routes.conf", NULL },
	{ 0, "quasi_ftree_indexing", "FALSE", NULL },
	{ 0, "reassign_lids", "FALSE", NULL },
	{ 0, "sa_db_dump", "FALSE", NULL },
	{ 0, "sa_db_file", NULL, NULL },
	{ 0, "scatter_ports", "0", NULL },
	{ 0, "single_thread", ANY, NULL },
	{ 0, "sm_assigned_guid", "0x00", NULL },
	{ 0, "sm_inactive", "FALSE", NULL },
	{ 0, "smp_threads", ANY, NULL },
	{ 0, "suppress_sl2vl_mad_status_errors", "FALSE", NULL },
	{ 0, "sweep_on_trap", "TRUE", NULL },
	{ 0, "torus_config", ANY, NULL },
	{ 0, "use_mfttop", ANY, NULL },
	{ 0, "use_optimized_slvl", "FALSE", NULL },
	{ 0, "use_original_extended_sa_rates_only", "FALSE", NULL },
	{ 0, "use_ucast_cache", ANY, NULL },
	{ 0, "virt_max_ports_in_process", ANY, NULL },

	/* options of the command line */
	{ 'A', "ucast_cache", NULL,
	  "tables that are still right are kept always" },
	{ 'c', "create_config", NULL,
	  "minism.conf(5) has all keys, --check-config reads a file "
	  "of OpenSM's" },
	{ 'd', "debug", NULL, "-v or -D logs more" },
	{ 'e', "erase_log_file", NULL,
	  "the log is appended to; SIGUSR1 opens it again, for logrotate" },
	{ 'H', "max_reverse_hops", NULL, NULL },
	{ 'i', "ignore_guids", NULL, NULL },
	{ 'I', "inactive", NULL, "--priority=0 loses elections" },
	{ 'k', "smkey", NULL, "the key sm_key of minism.conf" },
	{ 'l', NULL, NULL, "--lmc=LMC" },
	{ 'L', "log_limit", NULL,
	  "SIGUSR1 opens the log again, for logrotate" },
	{ 'm', "ids_guid_file", NULL, NULL },
	{ 'M', "lid_matrix_file", NULL, NULL },
	{ 'n', NULL, NULL, "--maxsmps=NUMBER" },
	{ 'N', "no_part_enforce", NULL,
	  "\"part_enforce off\" in minism.conf" },
	{ 'O', "port_search_ordering_file", NULL, NULL },
	{ 0, "Pconfig", NULL, "-P, --partitions=FILE" },
	{ 'q', NULL, NULL, "minismctl asks a running minism" },
	{ 'Q', NULL, NULL, "\"qos TRUE\" in minism.conf" },
	{ 'r', "reassign_lids", NULL, "LIDs in use are kept always" },
	{ 0, "rereg_on_guid_migr", NULL,
	  "clients are asked to register again in any case" },
	{ 'S', "sadb_file", NULL,
	  "the state of the SA is kept in --cache-dir" },
	{ 'U', "lfts_file", NULL,
	  "tables are computed always; minism-route judges those of a file" },
	{ 'V', "V", NULL, "-vv or -D 0xf" },
	{ 'w', "hop_weights_file", NULL, NULL },
	{ 'W', "allow_both_pkeys", NULL,
	  "\"both\" in partitions.conf always gives both" },
	{ 'x', "honor_guid2lid", NULL,
	  "LIDs are remembered always, in --cache-dir" },
	{ 'X', "guid_routing_order_file", NULL, NULL },
	{ 'y', "stay_on_fatal", NULL, "minism stays in any case" },
	{ 'Y', NULL, NULL, "the key qos_policy_file of minism.conf" },
	{ 'z', "connect_roots", NULL, NULL },
	{ 'Z', NULL, NULL, "the key part_enforce of minism.conf" },
};

static const struct opensm_key *
find(char letter, const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(opensm_keys); i++)
		if ((letter && opensm_keys[i].letter == letter) ||
		    (name && !g_strcmp0(opensm_keys[i].name, name)))
			return &opensm_keys[i];
	return NULL;
}

enum opensm_key_verdict
opensm_key_judge(const char *key, const char *value, const char **instead)
{
	const struct opensm_key *k = find(0, key);

	if (!k)
		return OPENSM_KEY_UNKNOWN;
	*instead = k->instead;
	if (!g_ascii_strcasecmp(value, "(null)") ||
	    (k->done && (k->done[0] == ANY[0] ||
			 (!g_ascii_strcasecmp(value, k->done) &&
			  !g_file_test(k->done, G_FILE_TEST_EXISTS)))))
		return OPENSM_KEY_HARMLESS;
	return OPENSM_KEY_UNUSED;
}

char *
opensm_option_explain(char letter, const char *name)
{
	const struct opensm_key *k = find(name ? 0 : letter, name);

	return k ? g_strconcat("is OpenSM's; here ", k->instead ? k->instead :
			       "there is nothing like it", NULL) : NULL;
}
