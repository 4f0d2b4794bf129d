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
 * Source: what `opensm -c` of OpenSM 3.3.23 writes, less the keys of conf.c.
 */
#include "sm/conf/foreign.h"

#include <glib.h>
#include <stdbool.h>
#include <string.h>

struct foreign {
	const char *key;
	const char *done;	/* the value that minism does; NULL: none */
};

/* Details: the key that makes them count is in the table, too. */
#define ANY	"*"

static const struct foreign foreigners[] = {
	{ "accum_log_file", "TRUE" },
	{ "allow_both_pkeys", "TRUE" },
	{ "avoid_throttled_links", "FALSE" },
	{ "babbling_port_policy", "FALSE" },
	{ "cc_ca_cong_setting_ccti_increase", ANY },
	{ "cc_ca_cong_setting_ccti_min", ANY },
	{ "cc_ca_cong_setting_ccti_timer", ANY },
	{ "cc_ca_cong_setting_control_map", ANY },
	{ "cc_ca_cong_setting_port_control", ANY },
	{ "cc_ca_cong_setting_trigger_threshold", ANY },
	{ "cc_cct", ANY },
	{ "cc_key", ANY },
	{ "cc_max_outstanding_mads", ANY },
	{ "cc_sw_cong_setting_control_map", ANY },
	{ "cc_sw_cong_setting_credit_mask", ANY },
	{ "cc_sw_cong_setting_credit_starvation_return_delay", ANY },
	{ "cc_sw_cong_setting_credit_starvation_threshold", ANY },
	{ "cc_sw_cong_setting_marking_rate", ANY },
	{ "cc_sw_cong_setting_packet_size", ANY },
	{ "cc_sw_cong_setting_threshold", ANY },
	{ "cc_sw_cong_setting_victim_mask", ANY },
	{ "congestion_control", "FALSE" },
	{ "connect_roots", "FALSE" },
	{ "console", "off" },
	{ "console_port", ANY },
	{ "consolidate_ipv6_snm_req", "FALSE" },
	{ "disable_multicast", "FALSE" },
	{ "do_mesh_analysis", "FALSE" },
	{ "drop_event_subscriptions", "FALSE" },
	{ "dump_files_dir", NULL },
	{ "enable_quirks", "FALSE" },
	{ "event_db_dump_file", NULL },
	{ "event_plugin_name", NULL },
	{ "event_plugin_options", ANY },
	{ "exit_on_fatal", "FALSE" },
	{ "fdr10", NULL },
	{ "force_link_speed", "15" },
	{ "force_link_speed_ext", "31" },
	{ "force_link_width", "255" },
	{ "force_log_flush", "FALSE" },
	{ "fsync_high_avail_files", NULL },
	{ "guid_routing_order_file", NULL },
	{ "guid_routing_order_no_scatter", "FALSE" },
	{ "honor_guid2lid_file", "TRUE" },
	{ "hop_weights_file", NULL },
	{ "ids_guid_file", NULL },
	{ "ignore_other_sm", "FALSE" },
	{ "ipoib_mcgroup_creation_validation", "TRUE" },
	{ "keep_pkey_indexes", "TRUE" },
	{ "lash_start_vl", ANY },
	{ "lfts_file", NULL },
	{ "lid_matrix_dump_file", NULL },
	{ "lmc_esp0", "TRUE" },
	{ "log_flags", NULL },
	{ "log_max_size", "0" },
	{ "log_prefix", NULL },
	{ "long_transaction_timeout", NULL },
	{ "max_msg_fifo_timeout", NULL },
	{ "max_reverse_hops", "0" },
	{ "max_smps_timeout", NULL },
	{ "max_wire_smps2", NULL },
	{ "mcgroup_join_validation", "TRUE" },
	{ "nue_include_switches", ANY },
	{ "nue_max_num_vls", ANY },
	{ "per_module_logging_file", NULL },
	{ "perfmgr", "FALSE" },
	{ "perfmgr_ignore_cas", ANY },
	{ "perfmgr_log_errors", ANY },
	{ "perfmgr_max_outstanding_queries", ANY },
	{ "perfmgr_query_cpi", ANY },
	{ "perfmgr_redir", ANY },
	{ "perfmgr_rm_nodes", ANY },
	{ "perfmgr_sweep_time_s", ANY },
	{ "perfmgr_xmit_wait_log", ANY },
	{ "perfmgr_xmit_wait_threshold", ANY },
	{ "port_prof_ignore_file", ANY },
	{ "port_profile_switch_nodes", "FALSE" },
	{ "port_search_ordering_file", NULL },
	{ "port_shifting", "FALSE" },
	{ "prefix_routes_file", NULL },
	{ "quasi_ftree_indexing", "FALSE" },
	{ "reassign_lids", "FALSE" },
	{ "sa_db_dump", "FALSE" },
	{ "sa_db_file", NULL },
	{ "scatter_ports", "0" },
	{ "single_thread", NULL },
	{ "sm_assigned_guid", "0x00" },
	{ "sm_inactive", "FALSE" },
	{ "suppress_sl2vl_mad_status_errors", "FALSE" },
	{ "sweep_on_trap", "TRUE" },
	{ "torus_config", ANY },
	{ "use_mfttop", NULL },
	{ "use_optimized_slvl", "FALSE" },
	{ "use_original_extended_sa_rates_only", "FALSE" },
	{ "use_ucast_cache", "FALSE" },
};

/* The first word of `value` is `word`, in whatever case. */
static bool
is_word(const char *value, const char *word)
{
	size_t len = strcspn(value, " \t");

	return len == strlen(word) && !g_ascii_strncasecmp(value, word, len);
}

enum foreign_verdict
foreign_judge(const char *key, const char *value)
{
	for (size_t i = 0; i < G_N_ELEMENTS(foreigners); i++) {
		const struct foreign *f = &foreigners[i];

		if (strcmp(f->key, key) != 0)
			continue;
		if (is_word(value, "(null)") ||
		    (f->done && (f->done[0] == ANY[0] ||
				 is_word(value, f->done))))
			return FOREIGN_HARMLESS;
		return FOREIGN_UNUSED;
	}
	return FOREIGN_UNKNOWN;
}
