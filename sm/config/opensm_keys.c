// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keys of OpenSM's that minism has no use for.
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
#include <stdbool.h>
#include <string.h>

struct foreign {
	const char *key;
	const char *done;	/* the value that minism does; NULL: none */
	const char *instead;	/* what does the same here, or NULL */
};

/* Details: the key that makes them count is in the table, too; or minism does
 * in any case what one of the values asks for. */
#define ANY	"*"

#define CONSOLE	"minismctl asks a running minism"
#define ROTATE	"SIGUSR1 opens the log again, for logrotate"
#define ERRORS	"ibqueryerrors reads the error counters of ports"

static const struct foreign foreigners[] = {
	{ "accum_log_file", "TRUE", NULL },
	{ "allow_both_pkeys", ANY, NULL },
	{ "avoid_throttled_links", "FALSE", NULL },
	{ "babbling_port_policy", "FALSE", NULL },
	{ "cc_ca_cong_setting_ccti_increase", ANY, NULL },
	{ "cc_ca_cong_setting_ccti_min", ANY, NULL },
	{ "cc_ca_cong_setting_ccti_timer", ANY, NULL },
	{ "cc_ca_cong_setting_control_map", ANY, NULL },
	{ "cc_ca_cong_setting_port_control", ANY, NULL },
	{ "cc_ca_cong_setting_trigger_threshold", ANY, NULL },
	{ "cc_cct", ANY, NULL },
	{ "cc_key", ANY, NULL },
	{ "cc_max_outstanding_mads", ANY, NULL },
	{ "cc_sw_cong_setting_control_map", ANY, NULL },
	{ "cc_sw_cong_setting_credit_mask", ANY, NULL },
	{ "cc_sw_cong_setting_credit_starvation_return_delay", ANY, NULL },
	{ "cc_sw_cong_setting_credit_starvation_threshold", ANY, NULL },
	{ "cc_sw_cong_setting_marking_rate", ANY, NULL },
	{ "cc_sw_cong_setting_packet_size", ANY, NULL },
	{ "cc_sw_cong_setting_threshold", ANY, NULL },
	{ "cc_sw_cong_setting_victim_mask", ANY, NULL },
	{ "congestion_control", "FALSE", NULL },
	{ "connect_roots", "FALSE", NULL },
	{ "console", "off", CONSOLE },
	{ "console_port", ANY, CONSOLE },
	{ "consolidate_ipv6_snm_req", "FALSE", NULL },
	{ "disable_multicast", "FALSE", NULL },
	{ "do_mesh_analysis", "FALSE", NULL },
	{ "drop_event_subscriptions", "FALSE", NULL },
	{ "enable_quirks", "FALSE", NULL },
	{ "event_db_dump_file", NULL, NULL },
	{ "event_plugin_name", NULL, NULL },
	{ "event_plugin_options", ANY, NULL },
	{ "exit_on_fatal", ANY, NULL },
	{ "fdr10", ANY, NULL },
	{ "force_link_speed", "15", NULL },
	{ "force_link_speed_ext", "31", NULL },
	{ "force_link_width", "255", NULL },
	{ "force_log_flush", ANY, NULL },
	{ "fsync_high_avail_files", ANY, NULL },
	{ "gmp_threads", ANY, NULL },
	{ "guid_routing_order_file", NULL, NULL },
	{ "guid_routing_order_no_scatter", "FALSE", NULL },
	{ "honor_guid2lid_file", ANY, NULL },
	{ "hop_weights_file", NULL, NULL },
	{ "ids_guid_file", NULL, NULL },
	{ "ignore_other_sm", "FALSE", NULL },
	{ "ipoib_mcgroup_creation_validation", "TRUE", NULL },
	{ "keep_pkey_indexes", "TRUE", NULL },
	{ "lash_start_vl", ANY, NULL },
	{ "lfts_file", NULL, NULL },
	{ "lid_matrix_dump_file", NULL, NULL },
	{ "lmc_esp0", ANY, NULL },
	{ "log_max_size", "0", ROTATE },
	{ "log_prefix", NULL, NULL },
	{ "long_transaction_timeout", ANY, NULL },
	{ "max_msg_fifo_timeout", ANY, NULL },
	{ "max_reverse_hops", "0", NULL },
	{ "max_smps_timeout", ANY, NULL },
	{ "max_wire_smps2", ANY, NULL },
	{ "max_wire_smps_per_device", ANY, NULL },
	{ "mcgroup_join_validation", "TRUE", NULL },
	{ "nue_include_switches", ANY, NULL },
	{ "nue_max_num_vls", ANY, NULL },
	{ "per_module_logging_file", "/etc/opensm/per-module-logging.conf",
	  NULL },
	{ "perfmgr", "FALSE", ERRORS },
	{ "perfmgr_ignore_cas", ANY, NULL },
	{ "perfmgr_log_errors", ANY, NULL },
	{ "perfmgr_max_outstanding_queries", ANY, NULL },
	{ "perfmgr_query_cpi", ANY, NULL },
	{ "perfmgr_redir", ANY, NULL },
	{ "perfmgr_rm_nodes", ANY, NULL },
	{ "perfmgr_sweep_time_s", ANY, NULL },
	{ "perfmgr_xmit_wait_log", ANY, NULL },
	{ "perfmgr_xmit_wait_threshold", ANY, NULL },
	{ "pgrp_policy_file", NULL, NULL },
	{ "port_prof_ignore_file", ANY, NULL },
	{ "port_profile_switch_nodes", "FALSE", NULL },
	{ "port_search_ordering_file", NULL, NULL },
	{ "port_shifting", "FALSE", NULL },
	{ "prefix_routes_file", "/etc/opensm/prefix-routes.conf", NULL },
	{ "quasi_ftree_indexing", "FALSE", NULL },
	{ "reassign_lids", "FALSE", NULL },
	{ "sa_db_dump", "FALSE", NULL },
	{ "sa_db_file", NULL, NULL },
	{ "scatter_ports", "0", NULL },
	{ "single_thread", ANY, NULL },
	{ "sm_assigned_guid", "0x00", NULL },
	{ "sm_inactive", "FALSE", NULL },
	{ "smp_threads", ANY, NULL },
	{ "suppress_sl2vl_mad_status_errors", "FALSE", NULL },
	{ "sweep_on_trap", "TRUE", NULL },
	{ "torus_config", ANY, NULL },
	{ "use_mfttop", ANY, NULL },
	{ "use_optimized_slvl", "FALSE", NULL },
	{ "use_original_extended_sa_rates_only", "FALSE", NULL },
	{ "use_ucast_cache", ANY, NULL },
	{ "virt_max_ports_in_process", ANY, NULL },
};

/* The first word of `value` is `word`, in whatever case. */
static bool
is_word(const char *value, const char *word)
{
	size_t len = strcspn(value, " \t");

	return len == strlen(word) && !g_ascii_strncasecmp(value, word, len);
}

enum opensm_key_verdict
opensm_key_judge(const char *key, const char *value, const char **instead)
{
	*instead = NULL;
	for (size_t i = 0; i < G_N_ELEMENTS(foreigners); i++) {
		const struct foreign *f = &foreigners[i];

		if (strcmp(f->key, key) != 0)
			continue;
		*instead = f->instead;
		if (is_word(value, "(null)") ||
		    (f->done && (f->done[0] == ANY[0] ||
				 (is_word(value, f->done) &&
				  !g_file_test(f->done, G_FILE_TEST_EXISTS)))))
			return OPENSM_KEY_HARMLESS;
		return OPENSM_KEY_UNUSED;
	}
	return OPENSM_KEY_UNKNOWN;
}

const char *
opensm_key_alias(const char *key)
{
	return strcmp(key, "routing_threads_num") == 0 ? "routing_threads" :
		NULL;
}
