/*
 * The configuration: keys, their ranges, and the file.
 *
 * Structs. A `conf_key` says of one key how its text is read, in which range
 * and into which member of struct conf. The table of them is all that the file
 * and the command line (args.c) know of a value, so that both accept the same.
 *
 * Flow of conf_parse(): each line is cut into a key and one value, and the
 * value is set in a draft; the draft replaces the configuration when the last
 * line was good. A half-read file must not run a fabric.
 *
 * The keys are OpenSM's where OpenSM has one, since the files exist already
 * (see the man page of opensm, and what `opensm -c` writes). A key of OpenSM's
 * that minism has no use for is a warning of its own kind, for its owner
 * believes that it works; with the value "(null)", OpenSM's word for "not
 * set", it asks for nothing and is passed over.
 *
 * Numbers are decimal or 0x and hexadecimal. GUIDs are hexadecimal always, as
 * in OpenSM: nobody writes them in decimals, and ibstat's are often copied
 * without the 0x. An empty string stands for "none" where that is possible.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "sm/conf/conf_key.h"

enum value_type {
	VALUE_UNSIGNED,
	VALUE_BOOL,		/* OpenSM writes TRUE and FALSE */
	VALUE_NUMBER64,
	VALUE_SECRET,		/* 64 bits, which no message repeats */
	VALUE_GUID,
	VALUE_TEXT,		/* must not be empty */
	VALUE_TEXT_OR_NONE,
};

struct conf_key {
	const char *name;
	enum value_type type;
	size_t offset;
	unsigned min, max;	/* of a VALUE_UNSIGNED */
};

#define AT(member)	offsetof(struct conf, member)

static const struct conf_key keys[] = {
	{ "guid", VALUE_GUID, AT(port_guid), 0, 0 },
	{ "port", VALUE_UNSIGNED, AT(port_num), 1, 254 },
	{ "ca_name", VALUE_TEXT_OR_NONE, AT(ca_name), 0, 0 },
	{ "routing_engine", VALUE_TEXT, AT(engine), 0, 0 },
	{ "require_deadlock_free", VALUE_BOOL, AT(require_deadlock_free),
	  0, 0 },
	{ "root_guid_file", VALUE_TEXT_OR_NONE, AT(root_guid_file), 0, 0 },
	{ "cn_guid_file", VALUE_TEXT_OR_NONE, AT(cn_guid_file), 0, 0 },
	{ "io_guid_file", VALUE_TEXT_OR_NONE, AT(io_guid_file), 0, 0 },
	{ "routing_threads", VALUE_UNSIGNED, AT(routing_threads), 0, 256 },
	{ "sweep_interval", VALUE_UNSIGNED, AT(sweep_s), 0, 86400 },
	{ "transaction_timeout", VALUE_UNSIGNED, AT(timeout_ms), 1, 60000 },
	{ "transaction_retries", VALUE_UNSIGNED, AT(retries), 0, 100 },
	{ "max_wire_smps", VALUE_UNSIGNED, AT(max_smps), 1, 65535 },
	{ "sm_priority", VALUE_UNSIGNED, AT(priority), 0, 15 },
	{ "lmc", VALUE_UNSIGNED, AT(lmc), 0, 7 },
	{ "m_key", VALUE_SECRET, AT(m_key), 0, 0 },
	{ "sm_key", VALUE_SECRET, AT(sm_key), 0, 0 },
	{ "sa_key", VALUE_SECRET, AT(sa_key), 0, 0 },
	{ "subnet_prefix", VALUE_NUMBER64, AT(subnet_prefix), 0, 0 },
	{ "log_file", VALUE_TEXT_OR_NONE, AT(log_file), 0, 0 },
	{ "cache_dir", VALUE_TEXT_OR_NONE, AT(cache_dir), 0, 0 },
	{ "dump_dir", VALUE_TEXT_OR_NONE, AT(dump_dir), 0, 0 },
};

/* The rest of what `opensm -c` of OpenSM 3.3.23 writes. */
static const char *const unused[] = {
	"accum_log_file", "allow_both_pkeys", "avoid_throttled_links",
	"babbling_port_policy", "cc_ca_cong_setting_ccti_increase",
	"cc_ca_cong_setting_ccti_min", "cc_ca_cong_setting_ccti_timer",
	"cc_ca_cong_setting_control_map", "cc_ca_cong_setting_port_control",
	"cc_ca_cong_setting_trigger_threshold", "cc_cct", "cc_key",
	"cc_max_outstanding_mads", "cc_sw_cong_setting_control_map",
	"cc_sw_cong_setting_credit_mask",
	"cc_sw_cong_setting_credit_starvation_return_delay",
	"cc_sw_cong_setting_credit_starvation_threshold",
	"cc_sw_cong_setting_marking_rate", "cc_sw_cong_setting_packet_size",
	"cc_sw_cong_setting_threshold", "cc_sw_cong_setting_victim_mask",
	"congestion_control", "connect_roots", "console",
	"console_port", "consolidate_ipv6_snm_req", "daemon",
	"disable_multicast", "do_mesh_analysis", "drop_event_subscriptions",
	"dump_files_dir", "enable_quirks", "event_db_dump_file",
	"event_plugin_name", "event_plugin_options", "exit_on_fatal", "fdr10",
	"force_heavy_sweep", "force_link_speed", "force_link_speed_ext",
	"force_link_width", "force_log_flush", "fsync_high_avail_files",
	"guid_routing_order_file", "guid_routing_order_no_scatter",
	"head_of_queue_lifetime", "honor_guid2lid_file", "hop_weights_file",
	"ids_guid_file", "ignore_other_sm",
	"ipoib_mcgroup_creation_validation", "keep_pkey_indexes",
	"lash_start_vl", "leaf_head_of_queue_lifetime", "leaf_vl_stall_count",
	"lfts_file", "lid_matrix_dump_file", "lmc_esp0",
	"local_phy_errors_threshold", "log_flags", "log_max_size",
	"log_prefix", "long_transaction_timeout", "m_key_lease_period",
	"m_key_lookup", "m_key_protection_level", "max_msg_fifo_timeout",
	"max_op_vls", "max_reverse_hops", "max_smps_timeout",
	"max_wire_smps2", "mcgroup_join_validation", "no_clients_rereg",
	"no_partition_enforcement", "node_name_map_name",
	"nue_include_switches", "nue_max_num_vls",
	"overrun_errors_threshold", "packet_life_time", "part_enforce",
	"partition_config_file", "per_module_logging_file", "perfmgr",
	"perfmgr_ignore_cas", "perfmgr_log_errors",
	"perfmgr_max_outstanding_queries", "perfmgr_query_cpi",
	"perfmgr_redir", "perfmgr_rm_nodes", "perfmgr_sweep_time_s",
	"perfmgr_xmit_wait_log", "perfmgr_xmit_wait_threshold",
	"polling_retry_number", "port_prof_ignore_file",
	"port_profile_switch_nodes", "port_search_ordering_file",
	"port_shifting", "prefix_routes_file", "qos",
	"qos_ca_high_limit", "qos_ca_max_vls", "qos_ca_sl2vl",
	"qos_ca_vlarb_high", "qos_ca_vlarb_low", "qos_high_limit",
	"qos_max_vls", "qos_policy_file", "qos_rtr_high_limit",
	"qos_rtr_max_vls", "qos_rtr_sl2vl", "qos_rtr_vlarb_high",
	"qos_rtr_vlarb_low", "qos_sl2vl", "qos_sw0_high_limit",
	"qos_sw0_max_vls", "qos_sw0_sl2vl", "qos_sw0_vlarb_high",
	"qos_sw0_vlarb_low", "qos_swe_high_limit", "qos_swe_max_vls",
	"qos_swe_sl2vl", "qos_swe_vlarb_high", "qos_swe_vlarb_low",
	"qos_vlarb_high", "qos_vlarb_low", "quasi_ftree_indexing",
	"reassign_lids", "sa_db_dump", "sa_db_file",
	"scatter_ports", "single_thread", "sm_assigned_guid",
	"sm_inactive", "sm_sl", "sminfo_polling_timeout", "subnet_timeout",
	"suppress_sl2vl_mad_status_errors", "sweep_on_trap", "torus_config",
	"use_mfttop", "use_optimized_slvl",
	"use_original_extended_sa_rates_only", "use_ucast_cache",
	"vl_stall_count",
};

GQuark
conf_error_quark(void)
{
	return g_quark_from_static_string("minism-conf-error");
}

/* --- the struct --- */

struct conf *
conf_new(void)
{
	struct conf *conf = g_new0(struct conf, 1);

	conf->mode = CONF_MODE_RUN;
	conf->engine = g_strdup("auto");
	conf->sweep_s = 10;
	conf->timeout_ms = 200;
	conf->retries = 3;
	conf->max_smps = 128;
	conf->sa_key = 1;	/* OpenSM's, which saquery knows */
	conf->subnet_prefix = UINT64_C(0xfe80000000000000);
	conf->verbosity = 2;
	conf->seed = 1;
	conf->config_file = g_strdup(MINISM_SYSCONFDIR "/minism.conf");
	conf->cache_dir = g_strdup(MINISM_CACHEDIR);
	return conf;
}

static struct conf *
conf_copy(const struct conf *conf)
{
	struct conf *copy = g_new(struct conf, 1);

	*copy = *conf;
	copy->ca_name = g_strdup(conf->ca_name);
	copy->engine = g_strdup(conf->engine);
	copy->root_guid_file = g_strdup(conf->root_guid_file);
	copy->cn_guid_file = g_strdup(conf->cn_guid_file);
	copy->io_guid_file = g_strdup(conf->io_guid_file);
	copy->config_file = g_strdup(conf->config_file);
	copy->log_file = g_strdup(conf->log_file);
	copy->cache_dir = g_strdup(conf->cache_dir);
	copy->dump_dir = g_strdup(conf->dump_dir);
	copy->simulate = g_strdup(conf->simulate);
	copy->ibsim = g_strdup(conf->ibsim);
	copy->record = g_strdup(conf->record);
	copy->replay = g_strdup(conf->replay);
	return copy;
}

void
conf_free(struct conf *conf)
{
	if (!conf)
		return;
	g_free(conf->ca_name);
	g_free(conf->engine);
	g_free(conf->root_guid_file);
	g_free(conf->cn_guid_file);
	g_free(conf->io_guid_file);
	g_free(conf->config_file);
	g_free(conf->log_file);
	g_free(conf->cache_dir);
	g_free(conf->dump_dir);
	g_free(conf->simulate);
	g_free(conf->ibsim);
	g_free(conf->record);
	g_free(conf->replay);
	g_free(conf);
}

/* --- words --- */

char *
conf_one_line(const char *text)
{
	GString *out = g_string_new(NULL);

	for (; *text && out->len < 60; text++)
		g_string_append_c(out, g_ascii_iscntrl(*text) ? '?' : *text);
	if (*text)
		g_string_append(out, "...");
	return g_string_free(out, FALSE);
}

/* Levenshtein's distance, one row of the table at a time. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t len = strlen(b);
	size_t *row = g_new(size_t, len + 1);
	size_t distance;

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t diagonal = row[0];

		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			size_t change = diagonal + (a[i] != b[j]);

			diagonal = row[j + 1];
			row[j + 1] = MIN(change, MIN(row[j], diagonal) + 1);
		}
	}
	distance = row[len];
	g_free(row);
	return distance;
}

const char *
conf_nearest(const char *word, const char *const *names, size_t n)
{
	size_t least = SIZE_MAX;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		size_t distance = edit_distance(word, names[i]);

		if (distance < least) {
			least = distance;
			nearest = names[i];
		}
	}
	return nearest;
}

static bool
read_digits(const char *text, unsigned base, uint64_t max, uint64_t *value)
{
	uint64_t n = 0;

	if (!*text)
		return false;
	for (; *text; text++) {
		int digit = g_ascii_xdigit_value(*text);

		if (digit < 0 || (unsigned)digit >= base)
			return false;
		if ((unsigned)digit > max ||
		    n > (max - (unsigned)digit) / base)
			return false;
		n = n * base + (unsigned)digit;
	}
	*value = n;
	return true;
}

static bool
is_hex(const char *text)
{
	return text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
}

bool
conf_read_number(const char *text, uint64_t max, uint64_t *value)
{
	if (is_hex(text))
		return read_digits(text + 2, 16, max, value);
	return read_digits(text, 10, max, value);
}

/* --- keys --- */

static const struct conf_key *
find_key(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

static char *
key_accepts(const struct conf_key *key)
{
	switch (key->type) {
	case VALUE_UNSIGNED:
		return g_strdup_printf("%u to %u", key->min, key->max);
	case VALUE_BOOL:
		return g_strdup("TRUE or FALSE");
	case VALUE_NUMBER64:
	case VALUE_SECRET:
		return g_strdup("a number of 64 bits, decimal or 0x and "
				"hexadecimal");
	case VALUE_GUID:
		return g_strdup("a GUID of up to 16 hexadecimal digits");
	case VALUE_TEXT:
	case VALUE_TEXT_OR_NONE:
		return g_strdup("a name");
	}
	g_assert_not_reached();
}

char *
conf_key_accepts(const char *key)
{
	const struct conf_key *k = find_key(key);

	g_assert(k);
	return key_accepts(k);
}

static void *
member(struct conf *conf, const struct conf_key *key)
{
	return (char *)conf + key->offset;
}

static bool
read_bool(const char *text, bool *value)
{
	static const char *const yes[] = { "TRUE", "yes", "on", "1" };
	static const char *const no[] = { "FALSE", "no", "off", "0" };

	for (size_t i = 0; i < G_N_ELEMENTS(yes); i++) {
		if (g_ascii_strcasecmp(text, yes[i]) &&
		    g_ascii_strcasecmp(text, no[i]))
			continue;
		*value = !g_ascii_strcasecmp(text, yes[i]);
		return true;
	}
	return false;
}

/* False: `value` is nothing that this key can be. */
static bool
set_value(struct conf *conf, const struct conf_key *key, const char *value)
{
	uint64_t *number = member(conf, key);
	char **text = member(conf, key);
	uint64_t n;

	switch (key->type) {
	case VALUE_UNSIGNED:
		if (!conf_read_number(value, key->max, &n) || n < key->min)
			return false;
		*(unsigned *)member(conf, key) = (unsigned)n;
		return true;
	case VALUE_BOOL:
		return read_bool(value, member(conf, key));
	case VALUE_NUMBER64:
	case VALUE_SECRET:
		return conf_read_number(value, UINT64_MAX, number);
	case VALUE_GUID:
		return read_digits(value + (is_hex(value) ? 2 : 0), 16,
				   UINT64_MAX, number);
	case VALUE_TEXT:
		if (!*value)
			return false;
		break;
	case VALUE_TEXT_OR_NONE:
		break;
	}
	g_free(*text);
	*text = *value ? g_strdup(value) : NULL;
	return true;
}

char *
conf_key_set(struct conf *conf, const char *name, const char *value)
{
	const struct conf_key *key = find_key(name);
	char *accepts;
	char *shown;
	char *why;

	g_assert(key);
	if (set_value(conf, key, value))
		return NULL;
	accepts = key_accepts(key);
	if (key->type == VALUE_SECRET)
		shown = g_strdup("the value");
	else if (!*value)
		shown = g_strdup("\"\"");
	else
		shown = conf_one_line(value);
	why = g_strdup_printf("%s is not %s", shown, accepts);
	g_free(shown);
	g_free(accepts);
	return why;
}

/* "(null)": back to the built-in value. */
static void
key_reset(struct conf *conf, const struct conf_key *key)
{
	struct conf *fresh = conf_new();

	switch (key->type) {
	case VALUE_UNSIGNED:
		*(unsigned *)member(conf, key) =
			*(unsigned *)member(fresh, key);
		break;
	case VALUE_BOOL:
		*(bool *)member(conf, key) = *(bool *)member(fresh, key);
		break;
	case VALUE_NUMBER64:
	case VALUE_SECRET:
	case VALUE_GUID:
		*(uint64_t *)member(conf, key) =
			*(uint64_t *)member(fresh, key);
		break;
	case VALUE_TEXT:
	case VALUE_TEXT_OR_NONE:
		g_free(*(char **)member(conf, key));
		*(char **)member(conf, key) =
			g_strdup(*(char **)member(fresh, key));
		break;
	}
	conf_free(fresh);
}

/* --- the file --- */

struct line {
	const char *file;
	unsigned number;
	GError **error;
};

G_GNUC_PRINTF(2, 3) static bool
fail(const struct line *line, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(line->error, CONF_ERROR, CONF_ERROR_FILE, "%s:%u: %s",
		    line->file, line->number, text);
	g_free(text);
	return false;
}

/* A key that is not ours. */
static void
warn_key(const struct line *line, const char *key, const char *value,
	 GPtrArray *warnings)
{
	const char *names[G_N_ELEMENTS(keys)];
	char *shown;

	for (size_t i = 0; i < G_N_ELEMENTS(unused); i++) {
		if (strcmp(unused[i], key) != 0)
			continue;
		if (!g_str_has_prefix(value, "(null)"))
			g_ptr_array_add(warnings, g_strdup_printf(
				"%s:%u: %s is not used by minism yet",
				line->file, line->number, key));
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		names[i] = keys[i].name;
	shown = conf_one_line(key);
	g_ptr_array_add(warnings, g_strdup_printf(
		"%s:%u: %s is no key; the nearest is %s", line->file,
		line->number, shown,
		conf_nearest(shown, names, G_N_ELEMENTS(names))));
	g_free(shown);
}

/*
 * Cuts one value out of `text`, in place: a word, or anything in quotes. NULL
 * with an error if there is none or something is left that is no comment.
 */
static char *
cut_value(const struct line *line, const char *key, char *text)
{
	char *end;

	if (*text == '"') {
		end = strchr(++text, '"');
		if (!end) {
			fail(line, "%s: the quote is not closed", key);
			return NULL;
		}
	} else {
		end = text + strcspn(text, " \t");
	}
	if (*end)
		*end++ = '\0';
	end += strspn(end, " \t");
	if (!*end || *end == '#')
		return text;
	fail(line, "%s: more than one value (one with blanks in it needs "
	     "quotes)", key);
	return NULL;
}

static bool
set_from_line(struct conf *conf, const struct line *line,
	      const struct conf_key *key, char *text)
{
	bool quoted = *text == '"';
	char *value;
	char *why;

	if (!*text || *text == '#') {
		char *accepts = key_accepts(key);

		fail(line, "%s: a value is missing: %s", key->name, accepts);
		g_free(accepts);
		return false;
	}
	value = cut_value(line, key->name, text);
	if (!value)
		return false;
	if (!quoted && strcmp(value, "(null)") == 0) {
		key_reset(conf, key);
		return true;
	}
	why = conf_key_set(conf, key->name, value);
	if (!why)
		return true;
	fail(line, "%s: %s", key->name, why);
	g_free(why);
	return false;
}

static bool
read_line(struct conf *conf, const struct line *line, char *text,
	  GPtrArray *warnings)
{
	const struct conf_key *key;
	char *value;
	char *name = g_strstrip(text);

	if (!*name || *name == '#')
		return true;
	value = name + strcspn(name, " \t");
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	key = find_key(name);
	if (key)
		return set_from_line(conf, line, key, value);
	warn_key(line, name, value, warnings);
	return true;
}

bool
conf_parse(struct conf *conf, const char *text, const char *name,
	   GPtrArray *warnings, GError **error)
{
	struct conf *draft = conf_copy(conf);
	struct line line = { .file = name, .error = error };
	char **lines = g_strsplit(text, "\n", -1);
	struct conf old = *conf;
	bool ok = true;

	for (unsigned i = 0; ok && lines[i]; i++) {
		line.number = i + 1;
		ok = read_line(draft, &line, lines[i], warnings);
	}
	if (ok) {
		*conf = *draft;
		*draft = old;
	}
	conf_free(draft);
	g_strfreev(lines);
	return ok;
}
