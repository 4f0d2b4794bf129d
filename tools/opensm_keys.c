// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The keys of OpenSM's that minism has no use for.
 *
 * A file that worked with OpenSM works unchanged. A key in it that has no effect
 * here is a warning, for the operator expects an effect; but there is none if the
 * value is "(null)", OpenSM's word for "not set", if minism behaves so in any
 * case, or if the key is a detail of a feature that another key switches on. The
 * output of `opensm -c` is full of those, and needless warnings would hide the
 * others.
 *
 * The name of a file that OpenSM reads if it is there counts only then.
 *
 * Source: the output of `opensm -c` of OpenSM 3.3.23, without the keys of
 * options.c, and additional keys of NVIDIA's subnet manager.
 */
#include "tools/opensm_keys.h"

#include <glib.h>
#include <string.h>

#define ANY	"*"
#define NO_FILE	"/"	/* a file that does not exist */

#define DUMP	"minismctl dump writes OpenSM's files, of view_file too"
#define HEALTH	"minism-health reads the counters of ports"
#define CONSOLE	"minismctl asks a running minism"
#define ALL_PORTS "qos_max_vls, qos_sl2vl and so on are for all ports"

/* Names in alphabetical order, a blank between two. ANY: no value is a warning,
 * since the key is a detail of another one in the table, or minism behaves as
 * one of the values in any case. */
static const struct opensm_list {
	const char *done;	/* the value that minism does; NULL: none */
	const char *names;
	const char *instead;	/* what does the same here, or NULL */
} opensm_lists[] = {
	{ ANY,
	  "cc_ca_cong_setting_ccti_increase "
	  "cc_ca_cong_setting_ccti_min cc_ca_cong_setting_ccti_timer "
	  "cc_ca_cong_setting_control_map cc_ca_cong_setting_port_control "
	  "cc_ca_cong_setting_trigger_threshold cc_cct cc_key "
	  "cc_max_outstanding_mads cc_sw_cong_setting_control_map "
	  "cc_sw_cong_setting_credit_mask "
	  "cc_sw_cong_setting_credit_starvation_return_delay "
	  "cc_sw_cong_setting_credit_starvation_threshold "
	  "cc_sw_cong_setting_marking_rate cc_sw_cong_setting_packet_size "
	  "cc_sw_cong_setting_threshold cc_sw_cong_setting_victim_mask "
	  "event_plugin_options exit_on_fatal fdr10 force_log_flush "
	  "fsync_high_avail_files gmp_threads honor_guid2lid_file "
	  "lash_start_vl lmc_esp0 long_transaction_timeout "
	  "max_msg_fifo_timeout max_smps_timeout max_wire_smps2 "
	  "max_wire_smps_per_device nue_include_switches nue_max_num_vls "
	  "perfmgr_ignore_cas perfmgr_log_errors "
	  "perfmgr_max_outstanding_queries perfmgr_query_cpi "
	  "perfmgr_redir perfmgr_rm_nodes perfmgr_xmit_wait_log "
	  "perfmgr_xmit_wait_threshold "
	  "port_prof_ignore_file single_thread smp_threads torus_config "
	  "use_mfttop use_ucast_cache virt_max_ports_in_process", NULL },
	{ "FALSE",
	  "avoid_throttled_links congestion_control connect_roots "
	  "consolidate_ipv6_snm_req disable_multicast do_mesh_analysis "
	  "drop_event_subscriptions enable_quirks "
	  "guid_routing_order_no_scatter ignore_other_sm "
	  "port_profile_switch_nodes port_shifting quasi_ftree_indexing "
	  "sa_db_dump sm_inactive "
	  "suppress_sl2vl_mad_status_errors use_optimized_slvl "
	  "use_original_extended_sa_rates_only", NULL },
	{ NULL,
	  "event_db_dump_file event_plugin_name guid_routing_order_file "
	  "hop_weights_file ids_guid_file lid_matrix_dump_file "
	  "log_prefix pgrp_policy_file port_search_ordering_file "
	  "sa_db_file", NULL },
	{ "0", "qos_ca_max_vls qos_rtr_max_vls qos_sw0_max_vls "
	  "qos_swe_max_vls", ALL_PORTS },
	{ "-1", "qos_ca_high_limit qos_rtr_high_limit qos_sw0_high_limit "
	  "qos_swe_high_limit", ALL_PORTS },
	{ NULL,
	  "qos_ca_sl2vl qos_ca_vlarb_high qos_ca_vlarb_low qos_rtr_sl2vl "
	  "qos_rtr_vlarb_high qos_rtr_vlarb_low qos_sw0_sl2vl "
	  "qos_sw0_vlarb_high qos_sw0_vlarb_low qos_swe_sl2vl "
	  "qos_swe_vlarb_high qos_swe_vlarb_low", ALL_PORTS },
	{ "TRUE",
	  "accum_log_file ipoib_mcgroup_creation_validation "
	  "keep_pkey_indexes mcgroup_join_validation sweep_on_trap", NULL },
	{ "0", "max_reverse_hops scatter_ports", NULL },
	{ "0x00", "sm_assigned_guid", NULL },
	{ "15", "force_link_speed", NULL },
	{ "31", "force_link_speed_ext", NULL },
	{ "255", "force_link_width", NULL },
	{ NO_FILE, "per_module_logging_file prefix_routes_file", NULL },
	{ ANY, "allow_both_pkeys",
	  "\"both\" in partitions.conf always gives both" },
	{ "off", "console", CONSOLE },
	{ ANY, "console_port", CONSOLE },
	{ ANY, "dump_files_dir", DUMP },
	{ "FALSE", "force_heavy_sweep", "minismctl sweep, by a timer" },
	{ NULL, "lfts_file",
	  "tables are computed always; minism-route judges those of a file" },
	{ "0", "log_max_size", "SIGUSR1 opens the log again, for logrotate" },
	{ "FALSE", "perfmgr", HEALTH },
	{ ANY, "perfmgr_sweep_time_s", HEALTH },
	{ NO_FILE, "qos_policy_file",
	  "a path has the SL of its partition, \"sl=\" in partitions.conf" },
	{ "FALSE", "reassign_lids", "LIDs in use are kept always" },
	{ NULL, "rereg_on_guid_migr",
	  "clients are asked to register again in any case" },
	{ NULL, "routing_threads_num", "routing_threads" },
};

enum opensm_key_verdict
opensm_key_judge(const char *key, const char *value, const char **instead)
{
	for (size_t i = 0; i < G_N_ELEMENTS(opensm_lists); i++) {
		const struct opensm_list *l = &opensm_lists[i];
		g_auto(GStrv) names = g_strsplit(l->names, " ", -1);

		if (!g_strv_contains((const char *const *)names, key))
			continue;
		*instead = l->instead;
		if (!g_ascii_strcasecmp(value, "(null)") ||
		    (l->done && (l->done[0] == ANY[0] ||
				 !g_ascii_strcasecmp(value, l->done) ||
				 (l->done[0] == NO_FILE[0] &&
				  !g_file_test(value, G_FILE_TEST_EXISTS)))))
			return OPENSM_KEY_HARMLESS;
		return OPENSM_KEY_UNUSED;
	}
	return OPENSM_KEY_UNKNOWN;
}
