// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The configuration: keys, their ranges, and the file.
 *
 * Structs. A `options_key` says of one key how its text is read, in which range
 * and into which member of struct options. The table of them is all that the
 * file and the command line (command_line.c) know of a value, so that both
 * accept the same.
 *
 * Flow of options_parse(): each line is cut into a key and one value, and the
 * value is set in a draft; the draft replaces the configuration when all lines
 * were good. A half-read file must not run a fabric. After a bad line the next
 * one is read all the same, so that a person sees all that is wrong at once.
 *
 * The keys are OpenSM's where OpenSM has one, since the files exist already
 * (see the man page of opensm, and what `opensm -c` writes); opensm_keys.c
 * knows those of OpenSM's that minism has no use for.
 *
 * Numbers are decimal or 0x and hexadecimal. GUIDs are hexadecimal always, as
 * in OpenSM: nobody writes them in decimals, and ibstat's are often copied
 * without the 0x. An empty string stands for "none" where that is possible.
 */
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "topology/text.h"
#include "sm/config/option_keys.h"
#include "sm/config/opensm_keys.h"
#include "sm/config/qos_keys.h"

enum value_type {
	VALUE_UNSIGNED,
	VALUE_BOOL,		/* OpenSM writes TRUE and FALSE */
	VALUE_NUMBER64,
	VALUE_SECRET,		/* 64 bits, which no message repeats */
	VALUE_GUID,
	VALUE_TEXT,		/* must not be empty */
	VALUE_TEXT_OR_NONE,
	VALUE_SIDES,		/* of a switch port; CONF_SIDE_* */
};

struct options_key {
	const char *name;
	enum value_type type;
	size_t offset;
	unsigned min, max;	/* of a VALUE_UNSIGNED */
};

#define ERRORS_MAX	20u
#define UNKNOWN_MAX	20u
#define LOG_FLAG_DUMP	0x40u	/* OpenSM's OSM_LOG_ROUTING */
#define AT(member)	offsetof(struct options, member)

static const struct options_key keys[] = {
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
	{ "force_heavy_sweep", VALUE_BOOL, AT(force_heavy), 0, 0 },
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
	{ "m_key_lease_period", VALUE_UNSIGNED, AT(m_key_lease), 0, 65535 },
	{ "m_key_per_port", VALUE_BOOL, AT(m_key_per_port), 0, 0 },
	{ "m_key_lookup", VALUE_BOOL, AT(m_key_lookup), 0, 0 },
	{ "m_key_protection_level", VALUE_UNSIGNED, AT(m_key_protect), 0, 3 },
	{ "partition_config_file", VALUE_TEXT_OR_NONE, AT(partition_file),
	  0, 0 },
	{ "part_enforce", VALUE_SIDES, AT(enforce), 0, 0 },
	{ "no_partition_enforcement", VALUE_BOOL, AT(no_enforcement), 0, 0 },
	{ "sm_sl", VALUE_UNSIGNED, AT(sm_sl), 0, 15 },
	{ "subnet_timeout", VALUE_UNSIGNED, AT(subnet_timeout), 0, 31 },
	{ "packet_life_time", VALUE_UNSIGNED, AT(packet_life_time), 0, 31 },
	{ "head_of_queue_lifetime", VALUE_UNSIGNED, AT(hoq_life), 0, 31 },
	{ "leaf_head_of_queue_lifetime", VALUE_UNSIGNED, AT(leaf_hoq_life),
	  0, 31 },
	{ "vl_stall_count", VALUE_UNSIGNED, AT(vl_stall), 1, 7 },
	{ "leaf_vl_stall_count", VALUE_UNSIGNED, AT(leaf_vl_stall), 1, 7 },
	{ "max_op_vls", VALUE_UNSIGNED, AT(max_op_vls), 1, 5 },
	{ "local_phy_errors_threshold", VALUE_UNSIGNED, AT(local_phy_errors),
	  0, 15 },
	{ "overrun_errors_threshold", VALUE_UNSIGNED, AT(overrun_errors),
	  0, 15 },
	{ "sminfo_polling_timeout", VALUE_UNSIGNED, AT(poll_ms), 10, 600000 },
	{ "polling_retry_number", VALUE_UNSIGNED, AT(polls_lost), 1, 1000 },
	{ "qos", VALUE_BOOL, AT(qos.enabled), 0, 0 },
	{ "qos_policy_file", VALUE_TEXT_OR_NONE, AT(qos_policy_file), 0, 0 },
	{ "max_groups_per_port", VALUE_UNSIGNED, AT(group_quota), 0, 16383 },
	{ "no_clients_rereg", VALUE_BOOL, AT(no_rereg), 0, 0 },
	{ "node_name_map_name", VALUE_TEXT_OR_NONE, AT(node_names_file),
	  0, 0 },
	{ "daemon", VALUE_BOOL, AT(background), 0, 0 },
	{ "log_file", VALUE_TEXT_OR_NONE, AT(log_file), 0, 0 },
	{ "cache_dir", VALUE_TEXT_OR_NONE, AT(cache_dir), 0, 0 },
	{ "dump_dir", VALUE_TEXT_OR_NONE, AT(dump_dir), 0, 0 },
	{ "dump_files_dir", VALUE_TEXT_OR_NONE, AT(dump_files_dir), 0, 0 },
	{ "log_flags", VALUE_UNSIGNED, AT(log_flags), 0, 0xff },
	{ "control_socket", VALUE_TEXT_OR_NONE, AT(control_socket), 0, 0 },
};

GQuark
options_error_quark(void)
{
	return g_quark_from_static_string("minism-conf-error");
}

/* --- the struct --- */

struct options *
options_new(void)
{
	struct options *conf = g_new0(struct options, 1);

	conf->mode = OPTIONS_MODE_RUN;
	conf->engine = g_strdup("auto");
	conf->sweep_s = 10;
	conf->timeout_ms = 200;
	conf->retries = 3;
	conf->max_smps = 128;
	conf->m_key_lookup = true;
	conf->sm_key = 1; /* OpenSM's: it elects none that shows another */
	conf->sa_key = 1;	/* OpenSM's, which saquery knows */
	conf->subnet_prefix = UINT64_C(0xfe80000000000000);
	conf->partition_file = g_strdup(OPTIONS_PARTITION_FILE);
	conf->enforce = OPTIONS_SIDE_IN | OPTIONS_SIDE_OUT;
	conf->subnet_timeout = 18;
	conf->packet_life_time = 0x12;
	conf->hoq_life = 0x12;
	conf->leaf_hoq_life = 0x10;
	conf->vl_stall = 7;
	conf->leaf_vl_stall = 7;
	conf->max_op_vls = 5;
	conf->local_phy_errors = 8;
	conf->overrun_errors = 8;
	conf->poll_ms = 1000;
	conf->polls_lost = 2;
	conf->log_flags = 0x43;
	conf->verbosity = options_verbosity(conf->log_flags);
	conf->group_quota = 256;
	conf->seed = 1;
	conf->config_file = g_strdup(MINISM_SYSCONFDIR "/minism.conf");
	conf->cache_dir = g_strdup(MINISM_CACHEDIR);
	conf->control_socket = g_strdup(OPTIONS_CONTROL_SOCKET);
	return conf;
}

static struct options *
options_copy(const struct options *conf)
{
	struct options *copy = g_new(struct options, 1);

	*copy = *conf;
	copy->ca_name = g_strdup(conf->ca_name);
	copy->engine = g_strdup(conf->engine);
	copy->root_guid_file = g_strdup(conf->root_guid_file);
	copy->cn_guid_file = g_strdup(conf->cn_guid_file);
	copy->io_guid_file = g_strdup(conf->io_guid_file);
	copy->node_names_file = g_strdup(conf->node_names_file);
	copy->pid_file = g_strdup(conf->pid_file);
	copy->config_file = g_strdup(conf->config_file);
	copy->log_file = g_strdup(conf->log_file);
	copy->cache_dir = g_strdup(conf->cache_dir);
	copy->dump_dir = g_strdup(conf->dump_dir);
	copy->dump_files_dir = g_strdup(conf->dump_files_dir);
	copy->partition_file = g_strdup(conf->partition_file);
	copy->qos_policy_file = g_strdup(conf->qos_policy_file);
	copy->control_socket = g_strdup(conf->control_socket);
	copy->simulate = g_strdup(conf->simulate);
	copy->record = g_strdup(conf->record);
	copy->replay = g_strdup(conf->replay);
	copy->given = g_strdup(conf->given);
	return copy;
}

void
options_free(struct options *conf)
{
	if (!conf)
		return;
	g_free(conf->ca_name);
	g_free(conf->engine);
	g_free(conf->root_guid_file);
	g_free(conf->cn_guid_file);
	g_free(conf->io_guid_file);
	g_free(conf->node_names_file);
	g_free(conf->pid_file);
	g_free(conf->config_file);
	g_free(conf->log_file);
	g_free(conf->cache_dir);
	g_free(conf->dump_dir);
	g_free(conf->dump_files_dir);
	g_free(conf->partition_file);
	g_free(conf->qos_policy_file);
	g_free(conf->control_socket);
	g_free(conf->simulate);
	g_free(conf->record);
	g_free(conf->replay);
	g_free(conf->given);
	g_free(conf);
}

unsigned
options_enforce(const struct options *conf)
{
	return conf->no_enforcement ? 0 : conf->enforce;
}

/* The highest of the low four bits decides. */
int
options_verbosity(unsigned log_flags)
{
	static const int levels[16] = {
		0, 0, 2, 2, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4,
	};

	return levels[log_flags & 0xf];
}

/* --- words --- */

char *
options_one_line(const char *text)
{
	GString *out = g_string_new(NULL);

	for (; *text && out->len < 60; text++)
		g_string_append_c(out, g_ascii_iscntrl(*text) ? '?' : *text);
	if (*text)
		g_string_append(out, "...");
	return g_string_free(out, FALSE);
}

/* Case does not count, nor does the kind of dash. */
static char
plain(char c)
{
	return c == '-' ? '_' : g_ascii_tolower(c);
}

/* Letters to change, add, leave out or exchange with the next one: the last
 * three rows of the table at a time. */
static size_t
edit_distance(const char *a, const char *b)
{
	size_t len = strlen(b);
	g_autofree size_t *rows = g_new(size_t, 3 * (len + 1));
	size_t *row = rows, *last = row + len + 1, *before = last + len + 1;

	for (size_t j = 0; j <= len; j++)
		row[j] = j;
	for (size_t i = 0; a[i]; i++) {
		size_t *free_row = before;

		before = last;
		last = row;
		row = free_row;
		row[0] = i + 1;
		for (size_t j = 0; j < len; j++) {
			row[j + 1] = MIN(MIN(row[j], last[j + 1]) + 1,
				last[j] + (plain(a[i]) != plain(b[j])));
			if (i && j && plain(a[i]) == plain(b[j - 1]) &&
			    plain(a[i - 1]) == plain(b[j]))
				row[j + 1] = MIN(row[j + 1],
						 before[j - 1] + 1);
		}
	}
	return row[len];
}

char *
options_nearest(const char *word, const char *prefix, const char *const *names,
	     size_t n)
{
	size_t least = strlen(word) / 3 + 1;
	const char *nearest = NULL;

	for (size_t i = 0; i < n; i++) {
		bool begun = *word && !g_ascii_strncasecmp(word, names[i],
							   strlen(word));
		size_t distance = begun ? 0 : edit_distance(word, names[i]);

		if (distance < least) {
			least = distance;
			nearest = names[i];
		}
	}
	return nearest ? g_strdup_printf("; the nearest is %s%s", prefix,
					 nearest) : g_strdup("");
}

bool
options_read_number(const char *text, uint64_t max, uint64_t *value)
{
	if (text_take_0x(&text))
		return text_read_digits(text, 16, max, value);
	return text_read_digits(text, 10, max, value);
}

bool
options_read_guid(const char *text, uint64_t *guid)
{
	text_take_0x(&text);
	return text_read_digits(text, 16, UINT64_MAX, guid);
}

/* --- keys --- */

static const struct options_key *
find_key(const char *name)
{
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		if (strcmp(keys[i].name, name) == 0)
			return &keys[i];
	return NULL;
}

const char *
options_key_name(size_t i)
{
	return i < G_N_ELEMENTS(keys) ? keys[i].name : NULL;
}

bool
options_key_is(const char *name)
{
	return find_key(name) || qos_key_is(name);
}

static char *
key_accepts(const struct options_key *key)
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
	case VALUE_SIDES:
		return g_strdup("both, in, out or off");
	}
	g_assert_not_reached();
}

char *
options_key_accepts(const char *key)
{
	const struct options_key *k = find_key(key);

	if (!k)
		return qos_key_accepts(key);
	return key_accepts(k);
}

static void *
member(struct options *conf, const struct options_key *key)
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

static bool
read_sides(const char *text, unsigned *value)
{
	static const char *const names[] = {
		[0] = "off",
		[OPTIONS_SIDE_IN] = "in",
		[OPTIONS_SIDE_OUT] = "out",
		[OPTIONS_SIDE_IN | OPTIONS_SIDE_OUT] = "both",
	};

	for (unsigned i = 0; i < G_N_ELEMENTS(names); i++) {
		if (g_ascii_strcasecmp(text, names[i]))
			continue;
		*value = i;
		return true;
	}
	return false;
}

/* False: `value` is nothing that this key can be. */
static bool set_value(struct options *conf, const struct options_key *key,
		      const char *value)
{
	uint64_t *number = member(conf, key);
	char **text = member(conf, key);
	uint64_t n;

	switch (key->type) {
	case VALUE_UNSIGNED:
		if (!options_read_number(value, key->max, &n) || n < key->min)
			return false;
		*(unsigned *)member(conf, key) = (unsigned)n;
		return true;
	case VALUE_BOOL:
		return read_bool(value, member(conf, key));
	case VALUE_SIDES:
		return read_sides(value, member(conf, key));
	case VALUE_NUMBER64:
	case VALUE_SECRET:
		return options_read_number(value, UINT64_MAX, number);
	case VALUE_GUID:
		return options_read_guid(value, number);
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
options_key_set(struct options *conf, const char *name, const char *value)
{
	const struct options_key *key = find_key(name);
	char *accepts;
	char *shown;
	char *why;

	if (!key)
		return qos_key_set(&conf->qos, name, value);
	if (set_value(conf, key, value))
		return NULL;
	accepts = key_accepts(key);
	if (key->type == VALUE_SECRET)
		shown = g_strdup("the value");
	else if (!*value)
		shown = g_strdup("\"\"");
	else
		shown = options_one_line(value);
	why = g_strdup_printf("%s is not %s", shown, accepts);
	g_free(shown);
	g_free(accepts);
	return why;
}

/* "(null)": back to the built-in value. */
static void
key_reset(struct options *conf, const struct options_key *key)
{
	struct options *fresh = options_new();

	switch (key->type) {
	case VALUE_UNSIGNED:
	case VALUE_SIDES:
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
	options_free(fresh);
}

/* --- the file --- */

struct line {
	const char *file;
	unsigned number;
	const char *text;	/* the line; it is cut up as it is read */
	GPtrArray *errors, *warnings;
	unsigned *n_unknown;	/* keys of the file */
};

/* file:line:column: text; `at` is the place in the line. */
G_GNUC_PRINTF(4, 5) static void
tell(const struct line *line, GPtrArray *whom, const char *at,
     const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_ptr_array_add(whom, g_strdup_printf("%s:%u:%u: %s", line->file,
					      line->number,
					      (unsigned)(at - line->text) + 1,
					      text));
	g_free(text);
}

/* A key that is not ours. */
static void
warn_key(const struct line *line, const char *key, const char *value)
{
	GPtrArray *names;
	const char *instead;
	char *shown, *near;

	switch (opensm_key_judge(key, value, &instead)) {
	case OPENSM_KEY_HARMLESS:
		return;
	case OPENSM_KEY_UNUSED:
		tell(line, line->warnings, key,
		     "%s is not used by minism yet%s%s", key,
		     instead ? "; " : "", instead ? instead : "");
		return;
	case OPENSM_KEY_UNKNOWN:
		break;
	}
	/* A file of another kind: the first ones say it. */
	if (++*line->n_unknown > UNKNOWN_MAX)
		return;
	names = g_ptr_array_new();
	for (size_t i = 0; i < G_N_ELEMENTS(keys); i++)
		g_ptr_array_add(names, (char *)keys[i].name);
	for (size_t i = 0; qos_key_name(i); i++)
		g_ptr_array_add(names, (char *)qos_key_name(i));
	shown = options_one_line(key);
	near = options_nearest(shown, "", (const char *const *)names->pdata,
			    names->len);
	tell(line, line->warnings, key, "%s is no key%s", shown, near);
	g_free(near);
	g_free(shown);
	g_ptr_array_free(names, TRUE);
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
		end = strchr(text + 1, '"');
		if (!end) {
			tell(line, line->errors, text,
			     "%s: the quote is not closed", key);
			return NULL;
		}
		text++;
	} else {
		end = text + strcspn(text, " \t");
	}
	if (*end)
		*end++ = '\0';
	end += strspn(end, " \t");
	if (!*end || *end == '#')
		return text;
	tell(line, line->errors, end, "%s: more than one value (one with "
	     "blanks in it needs quotes)", key);
	return NULL;
}

static void
reset_key(struct options *conf, const char *name)
{
	const struct options_key *key = find_key(name);

	if (key)
		key_reset(conf, key);
	else
		qos_key_reset(&conf->qos, name);
}

static void
set_from_line(struct options *conf, const struct line *line, const char *name,
	      char *text)
{
	bool quoted = *text == '"';
	char *value;
	char *why;

	if (!*text || *text == '#') {
		why = options_key_accepts(name);
		tell(line, line->errors, text, "%s: a value is missing: %s",
		     name, why);
		g_free(why);
		return;
	}
	value = cut_value(line, name, text);
	if (!value)
		return;
	if (!quoted && strcmp(value, "(null)") == 0) {
		reset_key(conf, name);
		return;
	}
	why = options_key_set(conf, name, value);
	if (why)
		tell(line, line->errors, text, "%s: %s", name, why);
	g_free(why);
}

static void
read_line(struct options *conf, const struct line *line, char *text)
{
	char *value;
	char *name = g_strchomp(text);

	while (g_ascii_isspace(*name))
		name++;
	if (!*name || *name == '#')
		return;
	value = name + strcspn(name, " \t");
	if (*value)
		*value++ = '\0';
	value += strspn(value, " \t");
	if (opensm_key_alias(name))
		name = (char *)opensm_key_alias(name);
	if (options_key_is(name))
		set_from_line(conf, line, name, value);
	else
		warn_key(line, name, value);
}

/* All errors, a line each, as one message. */
static void
set_errors(GPtrArray *errors, GError **error)
{
	guint more = errors->len > ERRORS_MAX ? errors->len - ERRORS_MAX : 0;
	char *text;

	g_ptr_array_set_size(errors, (gint)(errors->len - more));
	if (more)
		g_ptr_array_add(errors, g_strdup_printf("and %u errors more",
							more));
	g_ptr_array_add(errors, NULL);
	text = g_strjoinv("\n", (char **)errors->pdata);
	g_set_error_literal(error, OPTIONS_ERROR, OPTIONS_ERROR_FILE, text);
	g_free(text);
}

bool
options_parse(struct options *conf, const char *text, const char *name,
	   GPtrArray *warnings, GError **error)
{
	struct options *draft = options_copy(conf);
	unsigned n_unknown = 0;
	struct line line = {
		.file = name,
		.errors = g_ptr_array_new_with_free_func(g_free),
		.warnings = warnings,
		.n_unknown = &n_unknown,
	};
	char **lines = g_strsplit(text, "\n", -1);
	struct options old = *conf;
	bool ok;

	for (unsigned i = 0; lines[i]; i++) {
		line.number = i + 1;
		line.text = lines[i];
		read_line(draft, &line, lines[i]);
	}
	if (n_unknown > UNKNOWN_MAX)
		g_ptr_array_add(warnings, g_strdup_printf(
			"%s: %u unknown keys more", name,
			n_unknown - UNKNOWN_MAX));
	ok = line.errors->len == 0;
	if (ok) {
		draft->verbosity = options_verbosity(draft->log_flags);
		if (!draft->dump_dir && (draft->log_flags & LOG_FLAG_DUMP))
			draft->dump_dir = g_strdup(draft->dump_files_dir);
		qos_keys_check(&draft->qos, warnings);
		*conf = *draft;
		*draft = old;
	} else {
		set_errors(line.errors, error);
	}
	options_free(draft);
	g_ptr_array_free(line.errors, TRUE);
	g_strfreev(lines);
	return ok;
}
