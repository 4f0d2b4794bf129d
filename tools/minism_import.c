// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * minism-import: the configuration of an OpenSM, reported and taken over.
 *
 * Method. Each key of opensm.conf gets a verdict: by the table of options if
 * minism has it (its own value, or the built-in one), else by the table of
 * OpenSM's keys. The keys that apply become a new minism.conf, and the files
 * that they name are copied beside it. First they are parsed by the functions of a
 * run: if one of them would be refused, nothing is written.
 *
 * Isolation. A partition file is read as OpenSM reads it, or refused
 * (minism-partitions.conf(5), DIFFERENCES TO OPENSM): where the two differ,
 * members here reach more ports, not fewer. On an error OpenSM ignores the file
 * and makes every port a full member of the default partition; then the
 * isolation that the file describes is lost.
 */
#include <errno.h>
#include <glib/gstdio.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "routing/engine.h"
#include "sm/config/guid_files.h"
#include "sm/config/options.h"
#include "sm/config/partitions_conf.h"
#include "sm/lockfile.h"
#include "tools/tool_options.h"
#include "topology/each.h"
#include "topology/lid.h"
#include "topology/state_file.h"
#include "topology/text.h"

#define OPENSM_CACHE	"/var/cache/opensm"
#define OPENSM_CONF	"/etc/opensm/"
#define PARTITIONS	"partition_config_file"
#define MODE_PUBLIC	0644
#define MODE_SECRET	0640	/* keys of the fabric; group minism */

enum import_verdict {
	IMPORT_USED,
	IMPORT_DEFAULT,		/* what minism does anyway */
	IMPORT_OTHERWISE,
	IMPORT_MISSING,
	IMPORT_REFUSED,
	IMPORT_VERDICTS,
};

/* A file to be copied. Its text is read once, so that the report is about the
 * text that is written. */
struct import_file {
	const char *key;	/* that names it, or NULL */
	char *from, *to;
	GString *text;
	int mode;
};

struct import {
	int mode;		/* enum tool_mode */
	bool write;
	char *to, *cache, *opensm_cache;	/* folders */
	const char *dir;
	bool secret;		/* a key of the fabric is in the new file */
	bool has_lids;		/* one of the files is minism's guid2lid */
	GString *conf;		/* minism.conf */
	char *engine;		/* as given, or NULL */
	GPtrArray *lines[IMPORT_VERDICTS];
	GPtrArray *files;	/* struct import_file */
	GPtrArray *notes;	/* lines about the files */
};

#define AT(member)	offsetof(struct import, member)
static const struct option rows[] = {
	OPTION_HEADING("Options:"),
	OPTION_SWITCH("write", 0, &option_bool, AT(write), 0,
		      "Write what is reported, with backups (.bak)"),
	{ NULL, "to", 0, &option_file, AT(to), 0, 0, MINISM_SYSCONFDIR,
	  "FOLDER", "minism's configuration (" MINISM_SYSCONFDIR ")" },
	{ NULL, "cache-dir", 0, &option_file, AT(cache), 0, 0,
	  MINISM_CACHEDIR, "FOLDER", "minism's memory (" MINISM_CACHEDIR ")" },
	{ NULL, "opensm-cache", 0, &option_file, AT(opensm_cache), 0, 0,
	  OPENSM_CACHE, "FOLDER", "OpenSM's memory (" OPENSM_CACHE ")" },
	TOOL_OPTIONS,
};
static const struct option_table table = {
	.options = rows,
	.n = G_N_ELEMENTS(rows),
	.usage = "FOLDER",
	.summary = "Reports what minism makes of the configuration of an OpenSM "
		"in FOLDER\n(/etc/opensm), and writes it as its own.",
};

#define OWN	"OpenSM's built-in value, so minism's own holds"

/* Keys of both managers whose value (NULL: any) is not taken: it does not fit
 * the service; or it is written by `opensm -c`, so hardly chosen by the site,
 * and would make minism slow: a takeover after 40 s, 4 SMPs at a time. */
static const struct {
	const char *key, *value, *instead;
} own_keys[] = {
	{ "daemon", NULL, "the service stays in the foreground; by hand "
	  "minism -B" },
	{ "log_file", NULL, "the journal; for a file log_file "
	  "/var/log/minism/NAME" },
	{ "log_flags", "0x03", OWN },
	{ "max_wire_smps", "4", OWN },
	{ "polling_retry_number", "4", OWN },
	{ "sminfo_polling_timeout", "10000", OWN },
};

/* Keys that name a file. */
static const char *const file_keys[] = {
	"cn_guid_file", "io_guid_file", "node_name_map_name", PARTITIONS,
	"root_guid_file", NULL,
};

static void
add_refusal(struct import *im, const GError *error)
{
	if (error)
		text_add(im->lines[IMPORT_REFUSED], "%s", error->message);
}

/* --- files --- */

static void
free_file(gpointer data)
{
	struct import_file *f = data;

	g_free(f->from);
	g_free(f->to);
	g_string_free(f->text, TRUE);
	g_free(f);
}

/* Takes `to`. False: it cannot be read, or another one is to be there. */
static bool
add_file(struct import *im, const char *key, const char *from, char *to)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = text_read_file(from, &error);
	struct import_file *f = g_new0(struct import_file, 1);
	bool taken = false;

	EACH_PTR(const struct import_file, other, im->files)
		taken |= !strcmp(other->to, to) && strcmp(other->from, from);
	*f = (struct import_file){ key, g_strdup(from), to,
				   g_string_new(text), MODE_PUBLIC };
	if (text && !taken) {
		g_ptr_array_add(im->files, f);
		return true;
	}
	text_add(im->lines[IMPORT_REFUSED], "%s: %s", from, text ?
		 "two files would become one" : error->message);
	free_file(f);
	return false;
}

/* The path as named; if that is in OpenSM's own folder or does not exist, the
 * file of that name in the folder that is imported, which may be a copy of
 * another machine's. g_free; NULL: neither is there. */
static char *
import_find(const struct import *im, const char *value)
{
	g_autofree char *name = g_path_get_basename(value);
	g_autofree char *here = g_build_filename(im->dir, name, NULL);
	bool there = g_file_test(value, G_FILE_TEST_IS_REGULAR);

	if (g_file_test(here, G_FILE_TEST_IS_REGULAR) &&
	    (!there || g_str_has_prefix(value, OPENSM_CONF)))
		return g_steal_pointer(&here);
	return there ? g_strdup(value) : NULL;
}

static enum import_verdict
take_file(struct import *im, const char *key, const char *value)
{
	g_autofree char *name = g_path_get_basename(value);
	g_autofree char *from = import_find(im, value);
	g_autofree char *base = strcmp(key, PARTITIONS) ?
		g_strdup(name) : g_strdup("partitions.conf");
	char *to;

	/* OpenSM's built-in name, which it writes out */
	if (!from && !strcmp(key, PARTITIONS))
		return IMPORT_DEFAULT;
	if (!from)
		return IMPORT_MISSING;
	to = g_build_filename(im->to, base, NULL);
	g_string_append_printf(im->conf, "%s \"%s\"\n", key, to);
	add_file(im, key, from, to);
	return IMPORT_USED;
}

/* --- OpenSM's keys that minism has no use for ---
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

/* value: the word behind the key, without quotes. *remark: what does the same. */
static enum import_verdict
judge_foreign(const char *key, const char *value, const char **remark)
{
	for (size_t i = 0; i < G_N_ELEMENTS(opensm_lists); i++) {
		const struct opensm_list *l = &opensm_lists[i];
		g_auto(GStrv) names = g_strsplit(l->names, " ", -1);

		if (!g_strv_contains((const char *const *)names, key))
			continue;
		if (!g_ascii_strcasecmp(value, "(null)") ||
		    (l->done && (l->done[0] == ANY[0] ||
				 !g_ascii_strcasecmp(value, l->done) ||
				 (l->done[0] == NO_FILE[0] &&
				  !g_file_test(value, G_FILE_TEST_EXISTS)))))
			return IMPORT_DEFAULT;
		*remark = l->instead;
		return l->instead ? IMPORT_OTHERWISE : IMPORT_MISSING;
	}
	*remark = "no key of OpenSM 3.3";
	return IMPORT_MISSING;
}

/* --- keys --- */

static enum import_verdict
judge_own(struct import *im, const struct option *o, const char *value,
	  const char **remark, char **why)
{
	struct options *probe = options_new();
	struct options before = *probe;
	char **text = (char **)(void *)((char *)probe + o->offset);
	g_autofree char *preset = o->kind->is_text ? g_strdup(*text) : NULL;
	bool is_preset;		/* the value is minism's built-in one */

	*why = option_set(o, probe, value);
	is_preset = o->kind->is_text ? !g_strcmp0(preset, *text) :
		!memcmp(&before, probe, sizeof(before));
	options_free(probe);
	if (*why)
		return IMPORT_REFUSED;
	if (is_preset)
		return IMPORT_DEFAULT;
	if (g_strv_contains(file_keys, o->key)) {
		*remark = "no such file";
		return take_file(im, o->key, value);
	}
	for (size_t i = 0; i < G_N_ELEMENTS(own_keys); i++)
		if (!strcmp(own_keys[i].key, o->key) &&
		    (!own_keys[i].value || !strcmp(own_keys[i].value, value))) {
			*remark = own_keys[i].instead;
			return IMPORT_OTHERWISE;
		}
	im->secret |= o->kind->secret;
	g_string_append_printf(im->conf, "%s \"%s\"\n", o->key, value);
	return IMPORT_USED;
}

static void
take_key(struct import *im, const char *where, const char *key,
	 const char *value)
{
	const struct option *o = option_find_key(&options_table, key);
	bool is_set = strcmp(value, "(null)") && *value;
	g_autofree char *why = NULL, *shown = text_one_line(value);
	g_autofree char *file = *value == '/' ? import_find(im, value) : NULL;
	const char *remark = NULL;
	enum import_verdict verdict = IMPORT_DEFAULT;

	if (is_set && !strcmp(key, "routing_engine")) {
		g_free(im->engine);
		im->engine = g_strdup(value);
		return;		/* to judge_engine() */
	}
	if (o && is_set)
		verdict = judge_own(im, o, value, &remark, &why);
	if (!o)
		verdict = judge_foreign(key, file ?: value, &remark);
	if (verdict == IMPORT_USED || verdict == IMPORT_DEFAULT)
		remark = NULL;
	if (why)
		text_add(im->lines[verdict], "%s: %s: %s", where, key, why);
	else
		text_add(im->lines[verdict], "%s %s%s%s", key,
			 o && o->kind->secret ? "(secret)" : shown,
			 remark ? ": " : "", remark ? remark : "");
}

static bool
take_conf(struct import *im, const char *path)
{
	g_autoptr(GError) error = NULL;
	g_autofree char *text = text_read_file(path, &error);
	g_auto(GStrv) lines = NULL;

	if (!text && !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT)) {
		add_refusal(im, error);
		return false;
	}
	lines = g_strsplit(text ? text : "", "\n", -1);
	/* each is a key, and a word or a text in quotes */
	for (unsigned i = 0; lines[i]; i++) {
		g_autofree char *where = g_strdup_printf("%s:%u", path, i + 1);
		char *key = g_strstrip(lines[i]), *value, *end;

		if (!*key || *key == '#')
			continue;
		value = key + strcspn(key, " \t");
		if (*value)
			*value++ = '\0';
		value = g_strchug(value);
		end = *value == '"' ? strchr(value + 1, '"') :
			value + strcspn(value, " \t#");
		value += *value == '"';
		if (end)
			*end = '\0';
		take_key(im, where, key, value);
	}
	return text;
}

/* --- judging the whole --- */

static const struct import_file *
import_file_of(const struct import *im, const char *key)
{
	EACH_PTR(const struct import_file, f, im->files)
		if (!g_strcmp0(f->key, key))
			return f;
	return NULL;
}

/* Of a list of engines those that minism has, or auto. */
static void
judge_engine(struct import *im)
{
	g_auto(GStrv) names = g_strsplit_set(im->engine, ", \t", -1);
	g_autoptr(GString) known = g_string_new(NULL);
	bool all = true;

	for (unsigned i = 0; names[i]; i++) {
		if (!*names[i])
			continue;
		if (!strcmp(names[i], "auto") ||
		    engine_by_name(names[i], NULL))
			g_string_append_printf(known, "%s%s",
					       known->len ? "," : "", names[i]);
		else
			all = false;
	}
	if (known->len)
		g_string_append_printf(im->conf, "routing_engine \"%s\"\n",
				       known->str);
	text_add(im->lines[all ? IMPORT_USED : IMPORT_OTHERWISE],
		 "routing_engine %s%s%s", im->engine, all ? "" : ": ",
		 all ? "" : known->len ? known->str :
		 "auto, the best of minism's that fits");
}

static void
judge_partitions(struct import *im, GPtrArray *warnings, GError **error)
{
	const struct import_file *f = import_file_of(im, PARTITIONS);
	struct partition_rules *rules;
	g_autoptr(GString) cut = g_string_new("none");
	unsigned n = 0;

	if (!f) {
		text_add(im->notes, "partitions: no file, so as before: every "
			 "port talks to every other one");
		return;
	}
	rules = partitions_conf_parse(f->text->str, f->from, warnings, error);
	if (!rules) {
		text_add(im->notes, "%s: NOT TAKEN; with a mistake that it "
			 "sees, OpenSM lets every port talk to every other "
			 "one", f->from);
		return;
	}
	for (guint i = 0; i < warnings->len; i++)
		n += strstr(warnings->pdata[i], "made from its name") != NULL;
	if (n)
		g_string_printf(cut, "those in %u partition%s without a P_Key "
				"that use the number of OpenSM; write it into "
				"the file", n, text_plural(n));
	text_add(im->notes, "%s: %u partition%s; ports that could communicate "
		 "before and cannot now: %s", f->from, rules->partitions->len,
		 text_plural(rules->partitions->len), cut->str);
	partition_rules_unref(rules);
}

/* Parses what is to be written. */
static void
judge_site(struct import *im)
{
	g_autoptr(GPtrArray) warnings = g_ptr_array_new_with_free_func(g_free);
	g_autofree char *to = g_build_filename(im->to, "minism.conf", NULL);
	g_autoptr(GError) conf_error = NULL, error = NULL;
	struct options *conf = options_new();

	if (im->engine)
		judge_engine(im);
	options_parse(conf, im->conf->str, to, warnings, &conf_error);
	add_refusal(im, conf_error);
	EACH_PTR(const struct import_file, f, im->files) {
		g_autoptr(GError) list_error = NULL;
		g_autoptr(GHashTable) names = NULL;
		g_autoptr(GArray) guids = NULL;

		if (!strcmp(f->key, "node_name_map_name"))
			names = node_name_map_parse(f->text->str, f->from,
						    warnings, &list_error);
		else if (strcmp(f->key, PARTITIONS))
			guids = guid_list_parse(f->text->str, f->from,
						&list_error);
		add_refusal(im, list_error);
	}
	judge_partitions(im, warnings, &error);
	add_refusal(im, error);
	for (guint i = 0; i < warnings->len; i++)
		text_add(im->notes, "%s (warning)",
			 (const char *)warnings->pdata[i]);
	options_free(conf);
}

/* The lines of a guid2lid, whose words may have any blanks between them, as
 * those of a state. */
static char *
lines_of_lids(const char *text)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	GString *out = g_string_new(NULL);

	for (char **line = lines; *line; line++) {
		g_auto(GStrv) words = g_strsplit_set(*line, " \t\r", -1);
		gsize begin = out->len;

		for (char **w = words; **line != '#' && *w; w++)
			if (**w)
				g_string_append_printf(out, "%s %s",
					out->len > begin ? "" : "lid", *w);
		g_string_append_c(out, '\n');
	}
	return g_string_free(out, FALSE);
}

/* The state with these LIDs instead of its own. */
static GString *
state_with_lids(const char *state, const struct lid_memory *m)
{
	g_auto(GStrv) lines = g_strsplit(state, "\n", -1);
	GString *out = g_string_new(STATE_HEAD);

	lid_part.save(m, out, 0);
	for (char **line = lines; *line; line++)
		if (**line && !g_str_has_prefix(*line, "lid ") &&
		    !g_str_has_prefix(*line, "minism-state "))
			g_string_append_printf(out, "%s\n", *line);
	return out;
}

/* The file of the state, with OpenSM's LIDs in place of those that minism
 * remembers. */
static void
take_lids(struct import *im)
{
	g_autofree char *from = g_build_filename(im->opensm_cache, "guid2lid",
						 NULL);
	g_autofree char *own = state_file_path(im->cache, STATE_FILE_STATE);
	g_autoptr(GError) error = NULL;
	g_autofree char *text = state_file_read(own, &error), *lids = NULL;
	struct state_told told = { .n_bad = 0 };
	struct lid_memory m = { .ranges = NULL };
	const struct state_owner owner = { &lid_part, &m };
	struct import_file *f;

	if (!g_file_test(from, G_FILE_TEST_EXISTS)) {
		text_add(im->notes, "%s: there is none; LIDs that ports have "
			 "are kept", from);
		return;
	}
	if (error && !g_error_matches(error, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		add_refusal(im, error);
	if (!add_file(im, NULL, from, g_strdup(own)))
		return;
	f = im->files->pdata[im->files->len - 1];
	lids = lines_of_lids(f->text->str);
	m.ranges = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	state_read(&owner, 1, lids, strlen(lids), 0, &told);
	im->has_lids = !told.n_bad;
	if (im->has_lids)
		text_add(im->notes, "%s: LIDs of %u port%s are kept", from,
			 m.ranges->len, text_plural(m.ranges->len));
	else
		text_add(im->lines[IMPORT_REFUSED], "%s: %s", from, told.first);
	g_string_free(f->text, TRUE);
	f->text = state_with_lids(text ?: "", &m);
	f->mode = STATE_FILE_OWNER_ONLY;
	g_array_unref(m.ranges);
	state_told_clear(&told);
}

/* --- report and files --- */

static void
print_lines(const char *title, const GPtrArray *lines)
{
	for (guint i = 0; i < lines->len; i++)
		printf("  %-14s %s\n", title, (char *)lines->pdata[i]);
}

static void
import_report(const struct import *im, const char *path, bool there)
{
	unsigned n = 0;

	for (unsigned i = 0; i < IMPORT_VERDICTS; i++)
		n += im->lines[i]->len;
	if (there)
		printf("%s: %u key%s: %u used, %u the same by default, %u done "
		       "otherwise, %u NOT AVAILABLE\n", path, n -
		       im->lines[IMPORT_REFUSED]->len, text_plural(n -
		       im->lines[IMPORT_REFUSED]->len),
		       im->lines[IMPORT_USED]->len,
		       im->lines[IMPORT_DEFAULT]->len,
		       im->lines[IMPORT_OTHERWISE]->len,
		       im->lines[IMPORT_MISSING]->len);
	else
		printf("%s: there is none, so built-in values hold\n", path);
	print_lines("used", im->lines[IMPORT_USED]);
	print_lines("otherwise", im->lines[IMPORT_OTHERWISE]);
	print_lines("NOT AVAILABLE", im->lines[IMPORT_MISSING]);
	for (guint i = 0; i < im->notes->len; i++)
		puts(im->notes->pdata[i]);
	print_lines("REFUSED", im->lines[IMPORT_REFUSED]);
}

/* A file with keys gets the group of the service. */
static bool
import_write_file(const struct import_file *f)
{
	const struct group *group = f->mode == MODE_SECRET ?
		getgrnam("minism") : NULL;
	g_autofree char *backup = g_strconcat(f->to, ".bak", NULL);
	g_autofree char *old = text_read_file(f->to, NULL);
	g_autoptr(GError) error = NULL;

	if (old && !strcmp(old, f->text->str)) {
		printf("unchanged: %s\n", f->to);
		return true;
	}
	if (old && ((g_unlink(backup) < 0 && errno != ENOENT) ||
		    link(f->to, backup) < 0)) {
		printf("%s: %s; nothing is replaced without a backup\n",
		       backup, g_strerror(errno));
		return false;
	}
	if (!state_file_write(f->to, f->text, G_FILE_SET_CONTENTS_CONSISTENT |
			      G_FILE_SET_CONTENTS_DURABLE, f->mode, &error)) {
		printf("%s\n", error->message);
		return false;
	}
	if (geteuid() == 0 && group &&
	    lchown(f->to, (uid_t)-1, group->gr_gid) < 0)
		printf("%s: cannot be given to the group minism: %s\n", f->to,
		       g_strerror(errno));
	printf("written: %s%s%s\n", f->to, old ? "; the old one is " : "",
	       old ? backup : "");
	return true;
}

/* A manager that runs would replace its memory by what it knows itself. False:
 * one does; *lock may be NULL. */
static bool
hold_cache(const struct import *im, struct lockfile **lock)
{
	g_autofree char *path = state_file_path(im->cache, STATE_FILE_LOCK);
	g_autoptr(GError) error = NULL;

	if (!im->has_lids)
		return true;
	state_file_make_folder(im->cache, NULL);
	*lock = lockfile_take(path, &error);
	if (!*lock)
		printf("nothing is written: %s; the minism of this folder must "
		       "be ended first\n", error->message);
	return *lock;
}

static int
import_folder(struct import *im)
{
	g_autofree char *path = g_build_filename(im->dir, "opensm.conf", NULL);
	g_autofree char *to = g_build_filename(im->to, "minism.conf", NULL);
	struct import_file conf = { .to = to, .text = im->conf };
	struct lockfile *lock = NULL;
	bool there, ok = true;

	g_string_printf(im->conf, "# Taken from %s by minism-import; all keys "
			"are in minism.conf(5).\n", path);
	there = take_conf(im, path);
	/* OpenSM reads it without a key */
	if (!import_file_of(im, PARTITIONS))
		take_file(im, PARTITIONS, "partitions.conf");
	judge_site(im);
	take_lids(im);
	import_report(im, path, there);
	if (im->lines[IMPORT_REFUSED]->len) {
		puts("nothing is written: mend what is refused, in a copy of "
		     "the folder if OpenSM still needs it");
		return EXIT_FAILURE;
	}
	if (!im->write) {
		puts("nothing is written: --write does");
		return EXIT_SUCCESS;
	}
	if (!hold_cache(im, &lock))
		return EXIT_FAILURE;
	for (guint i = 0; i < im->files->len && ok; i++)
		ok = import_write_file(im->files->pdata[i]);
	/* last, since it names the other files */
	conf.mode = im->secret ? MODE_SECRET : MODE_PUBLIC;
	ok = ok && import_write_file(&conf);
	lockfile_free(lock, false);
	return ok ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
import_run(void *arguments, char **words)
{
	struct import *im = arguments;
	g_autofree char *given = im->to;

	/* it is written into minism.conf */
	im->to = g_canonicalize_filename(given, NULL);
	if (!tool_options_one_word(words, "FOLDER"))
		return EXIT_USAGE;
	if (!g_file_test(words[0], G_FILE_TEST_IS_DIR)) {
		tool_options_complain("%s is no folder", words[0]);
		return EXIT_USAGE;
	}
	im->dir = words[0];
	return import_folder(im);
}

int
main(int argc, char **argv)
{
	struct import im = { .conf = g_string_new(NULL) };
	int status;

	for (unsigned i = 0; i < IMPORT_VERDICTS; i++)
		im.lines[i] = g_ptr_array_new_with_free_func(g_free);
	im.files = g_ptr_array_new_with_free_func(free_file);
	im.notes = g_ptr_array_new_with_free_func(g_free);
	status = tool_main("minism-import", &table, &im, EXIT_USAGE, argc,
			   argv, import_run);
	for (unsigned i = 0; i < IMPORT_VERDICTS; i++)
		g_ptr_array_unref(im.lines[i]);
	g_ptr_array_unref(im.files);
	g_ptr_array_unref(im.notes);
	g_string_free(im.conf, TRUE);
	g_free(im.engine);
	return status;
}
