// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The options of minism and the keys of minism.conf: one table.
 *
 * Flow of options_parse(): each line is a key and one value. After a bad line
 * the following ones are read as well, so that one run shows all errors. A
 * half-read file must not run a fabric: after an error, callers give up.
 *
 * The keys are OpenSM's where OpenSM has one, since the files exist already
 * (see the man page of opensm, and what `opensm -c` writes); minism-import knows
 * those of OpenSM's keys that minism has no use for.
 *
 * Of several modes the one that does least to a fabric wins: "--plan -o" writes
 * nothing.
 */
#include "sm/config/options.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "sm/config/guid_files.h"
#include "topology/each.h"
#include "topology/text.h"

#define LAB_ENV		"MINISM_LAB"	/* these two: see lab/protocol.h */
#define LAB_ENV_SYS	"MINISM_LAB_SYS"
#define ERRORS_MAX	20u
#define OTHERS_MAX	5u
#define VERBOSITY_MAX	4
#define WEIGHT_MAX	255u
#define AT(member)	offsetof(struct options, member)

struct options_given {
	enum options_origin from;
	char *value;
};

/* --- kinds of values that only minism has --- */

static char *
count_up(const struct option *o, void *place, const char *value)
{
	++*(unsigned *)place;
	return NULL;
}

/* A value that selects nothing would be a mistake in what protects a fabric. */
static char *
kind_set_guids(const struct option *o, void *place, const char *value)
{
	g_autoptr(GArray) list = value ? guid_list_of_line(value) : NULL;

	if (value && !list)
		return option_refuse(o, value);
	return option_text.set(o, place, value);
}

static const struct option_kind kind_guids = {
	.accepts = "a list of GUIDs, with commas between them",
	.is_text = true, .set = kind_set_guids,
};
static const char *const side_words[] = {
	[0] = "off",
	[OPTIONS_SIDE_IN] = "in",
	[OPTIONS_SIDE_OUT] = "out",
	[OPTIONS_SIDE_IN | OPTIONS_SIDE_OUT] = "both",
	NULL,
};
static const struct option_kind kind_sides = {
	.accepts = "both, in, out or off", .words = side_words,
	.set = option_set_word,
};
static const char *const bad_link_words[] = {
	[0] = "report",
	[OPTIONS_LINKS_SLOW] = "avoid_slow",
	/* of the time when the manager read counters */
	[OPTIONS_LINKS_ERRORS] = "avoid_errors",
	[OPTIONS_LINKS_ERRORS | OPTIONS_LINKS_SLOW] = "avoid",
	NULL,
};
static const struct option_kind kind_bad_links = {
	.accepts = "report or avoid_slow",
	.words = bad_link_words, .set = option_set_word,
};
/* As plan_digest() makes them. */
static char *
set_digest(const struct option *o, void *place, const char *value)
{
	return value && (strlen(value) != 16 ||
			 strspn(value, "0123456789abcdef") != 16) ?
		option_refuse(o, value) : option_set_text(o, place, value);
}

static const struct option_kind kind_digest = {
	.accepts = "the 16 digits behind --apply of --plan",
	.is_text = true, .set = set_digest,
};
/* What belongs to the place where a manager runs: what it remembers and writes,
 * and where it is asked. */
static const struct option_kind kind_place = {
	.accepts = "a name", .is_text = true, .or_none = true,
	.set = option_set_text,
};
/* As enum log_format. */
static const char *const log_format_words[] = {
	"auto", "text", "journal", "json", NULL,
};
static const struct option_kind kind_log_format = {
	.accepts = "auto, text, journal or json", .words = log_format_words,
	.set = option_set_word,
};
static const struct option_kind kind_verbose = {
	.no_value = true, .is_action = true, .set = count_up,
};

/*
 * The values of quality of service. Names and lists are OpenSM's (see its manual
 * page, QOS CONFIGURATION), as are the values for "not set" in a file that OpenSM
 * wrote: 0 VLs, a limit of -1. A list may be shorter than the table: the rest of
 * an arbitration table is empty, and SLs beyond the end of sl2vl go to VL 0, as
 * with OpenSM. Values that OpenSM cuts down without a message (VL 20, weight 300)
 * are an error here.
 */

/* max_vls and high_limit. */
static char *
set_limit(const struct option *o, void *place, const char *value)
{
	bool is_unset = !strcmp(value, o->min ? "0" : "-1");

	return option_number.set(o, place, is_unset ? o->preset : value);
}

/* vlarb_high, vlarb_low: VL:WEIGHT; sl2vl: a VL. The rest of a short list is 0. A
 * comma may end the list. */
static char *
set_list(const struct option *o, void *place, const char *value)
{
	struct vl_share shares[QOS_ARB_ENTRIES] = { { 0, 0 } };
	uint8_t *vls = place;
	bool is_sl2vl = o->max == SL_COUNT;
	g_auto(GStrv) list = g_strsplit(value, ",", -1);
	guint n = g_strv_length(list);

	n -= n > 1 && !*g_strstrip(list[n - 1]);
	for (guint i = 0; i < n; i++) {
		g_auto(GStrv) parts = g_strsplit(list[i], ":", -1);
		g_autofree char *shown = text_one_line(list[i]);
		uint64_t vl, weight = 0;

		if (i >= o->max || g_strv_length(parts) != (is_sl2vl ? 1 : 2) ||
		    !text_read_number(g_strstrip(parts[0]), 0, is_sl2vl ?
				      QOS_VL_DROP : QOS_VLS - 1, &vl) ||
		    (!is_sl2vl && !text_read_number(g_strstrip(parts[1]), 0,
						    WEIGHT_MAX, &weight)))
			return g_strdup_printf("number %u of the list, \"%s\", "
					       "is wrong: %s is needed", i + 1,
					       shown, o->kind->accepts);
		shares[i] = (struct vl_share){ (uint8_t)vl, (uint8_t)weight };
	}
	for (unsigned sl = 0; is_sl2vl && sl < SL_COUNT; sl++)
		vls[sl] = shares[sl].vl;
	if (!is_sl2vl)
		memcpy(place, shares, sizeof(shares));
	return NULL;
}

static const struct option_kind kind_limit = { .set = set_limit };
static const struct option_kind kind_vlarb = {
	.accepts = "a list of up to 64 VL:WEIGHT, VLs of 0 to 14 and "
		"weights of 0 to 255",
	.set = set_list,
};
static const struct option_kind kind_sl2vl = {
	.accepts = "a list of up to 16 VLs of 0 to 14, or 15 to drop the SL",
	.set = set_list,
};

/* --- the table --- */

/* Rows of keys that are not on the command line, and of names of files that
 * are. */
#define KEY(key, kind, member, min, max, preset) \
	OPTION_KEY(key, &kind, AT(member), min, max, preset)
#define NUMBER(key, member, min, max, preset) \
	KEY(key, option_number, member, min, max, preset)
#define NUMBER8(key, member, min, max, preset) \
	KEY(key, option_number8, member, min, max, preset)
#define FLAG(key, member) KEY(key, option_bool, member, 0, 0, NULL)
#define FILE_NAME(key, name, letter, kind, member, preset, help) \
	{ key, name, letter, kind, AT(member), 0, 0, preset, "FILE", help }

static const struct option rows[] = {
	OPTION_HEADING("Which port:"),
	{ "port", "port", 'p', &option_number, AT(port_num), 1, 254, NULL,
	  "NUMBER", "port of the CA (1 to 254)" },
	{ "ca_name", "Ca", 'C', &option_text, AT(ca_name), 0, 0, NULL,
	  "NAME", "CA, as ibstat -l lists them" },
	{ "guid", "guid", 'g', &option_guid, AT(port_guid), 0, 0, NULL,
	  "GUID", "PortGUID, hexadecimal" },
	FILE_NAME(NULL, "pcap", 0, &option_file, pcap, NULL,
		  "capture all MADs for Wireshark, without keys"),

	OPTION_HEADING("What to do:"),
	OPTION_SWITCH("once", 'o', &option_mode, AT(mode), OPTIONS_MODE_ONCE,
		      "bring the subnet up once and end"),
	OPTION_SWITCH("plan", 0, &option_mode, AT(mode), OPTIONS_MODE_PLAN,
		      "only read, and print what would be written"),
	{ NULL, "apply", 0, &kind_digest, AT(apply), 0, 0, NULL, "DIGEST",
	  "like --once, if its plan is the one with this digest" },
	OPTION_SWITCH("observe", 0, &option_bool, AT(observe), 0,
		      "only read, stay, and judge what another manager does"),
	OPTION_SWITCH("check-config", 0, &option_mode, AT(mode),
		      OPTIONS_MODE_CHECK,
		      "check the configuration and end; needs no fabric"),
	OPTION_SWITCH("version", 0, &option_mode, AT(mode),
		      OPTIONS_MODE_VERSION, "print the version and end"),
	{ "daemon", "daemon", 'B', &option_bool, AT(background), 0, 0, NULL,
	  NULL, "go to the background when the port is open" },
	OPTION_SWITCH("help", 'h', &option_mode, AT(mode), OPTIONS_MODE_HELP,
		      "print this text and end"),

	OPTION_HEADING("How:"),
	{ "routing_engine", "routing-engine", 'R', &option_name, AT(engine),
	  0, 0, "auto", "NAME",
	  "routing engine, or a list (auto: the best that fits)" },
	{ "require_deadlock_free", "require-deadlock-free", 0, &option_bool,
	  AT(require_deadlock_free), 0, 0, NULL, NULL,
	  "refuse tables with a credit loop of any engine" },
	FILE_NAME("root_guid_file", "root-guid-file", 'a', &option_path,
		  root_guid_file, NULL, "GUIDs of the switches that are roots"),
	FILE_NAME("cn_guid_file", "cn-guid-file", 'u', &option_path,
		  cn_guid_file, NULL, "GUIDs of the compute nodes"),
	FILE_NAME("io_guid_file", "io-guid-file", 'G', &option_path,
		  io_guid_file, NULL, "GUIDs of the I/O nodes"),
	{ "sweep_interval", "sweep", 's', &option_number, AT(sweep_s), 0,
	  86400, "10", "SECONDS", "time between light sweeps, 0: none (10)" },
	{ "lmc", "lmc", 0, &option_number, AT(lmc), 0, 7, "0",
	  "LMC", "2^LMC LIDs for each end port, 0 to 7 (0)" },
	{ "sm_priority", "priority", 0, &option_number, AT(priority), 0, 15,
	  "0", "PRIORITY", "in an election of SMs, 0 to 15 (none: see "
	  "--takeover)" },
	OPTION_SWITCH("takeover", 0, &option_bool, AT(takeover), 0,
		      "take the fabric over from its present master"),
	{ "transaction_timeout", "timeout", 't', &option_number,
	  AT(timeout_ms), 1, 60000, "200",
	  "MS", "to wait for an answer, in milliseconds (200)" },
	{ "transaction_retries", "retries", 0, &option_number, AT(retries), 0,
	  100, "3", "NUMBER", "of a request without an answer (3)" },
	{ "max_wire_smps", "maxsmps", 0, &option_number, AT(max_smps), 1,
	  65535, "128", "NUMBER", "SMPs on the wire at a time, at most (128)" },

	OPTION_HEADING("Files:"),
	FILE_NAME(NULL, "config", 'F', &option_file, config_file,
		  MINISM_SYSCONFDIR "/minism.conf",
		  "configuration (" MINISM_SYSCONFDIR "/minism.conf)"),
	FILE_NAME("partition_config_file", "partitions", 'P', &option_path,
		  partition_file, OPTIONS_PARTITION_FILE,
		  "partitions, OpenSM's form (" OPTIONS_PARTITION_FILE ")"),
	FILE_NAME("control_socket", "control-socket", 0, &kind_place,
		  control_socket, OPTIONS_CONTROL_SOCKET,
		  "for minismctl (auto: " OPTIONS_CONTROL_DIR "/GUID.ctl)"),
	FILE_NAME("node_name_map_name", "node-name-map", 0, &option_path,
		  node_names_file, NULL,
		  "what to call nodes, as for ibnetdiscover"),
	FILE_NAME(NULL, "pidfile", 'J', &option_file, pid_file, NULL,
		  "where to write the process number"),
	{ "cache_dir", "cache-dir", 0, &kind_place, AT(cache_dir), 0, 0,
	  MINISM_CACHEDIR, "FOLDER",
	  "where LIDs are remembered (" MINISM_CACHEDIR ")" },
	FILE_NAME("view_file", "view", 0, &kind_place, view_file, NULL,
		  "the fabric for programs, after each sweep (none)"),
	FILE_NAME("log_file", "log-file", 'f', &kind_place, log_file, NULL,
		  "log (standard error)"),
	{ "log_flags", "log-flags", 'D', &option_number, AT(log_flags), 0,
	  0xff, "0x43", "FLAGS",
	  "what to log, OpenSM's mask: 1 errors to 15 all (0x43)" },
	{ "log_format", "log-format", 0, &kind_log_format, AT(log_format), 0,
	  0, "auto", "FORMAT",
	  "text, journal (<4> for syslog levels) or json (auto)" },
	OPTION_SWITCH("verbose", 'v', &kind_verbose, AT(verbose), 0,
		      "log more; may be repeated"),

	/* in the file only */
	KEY("control_group", option_text, control_group, 0, 0, "minism"),
	NUMBER("routing_threads", routing_threads, 0, 256, "0"),
	KEY("m_key", option_secret, policy.m_key, 0, 0, NULL),
	/* OpenSM's: it elects none that shows another one */
	KEY("sm_key", option_secret, sm_key, 0, 0, "1"),
	KEY("allowed_sm_guids", kind_guids, allowed_sms, 0, 0, NULL),
	/* OpenSM's, which is built into saquery */
	KEY("sa_key", option_secret, sa_key, 0, 0, "1"),
	KEY("subnet_prefix", option_number64, policy.gid_prefix, 0, 0,
	    "0xfe80000000000000"),
	KEY("m_key_lease_period", option_number16, policy.m_key_lease, 0, 65535,
	    "0"),
	FLAG("m_key_per_port", m_key_per_port),
	KEY("m_key_lookup", option_bool, m_key_lookup, 0, 0, "TRUE"),
	NUMBER8("m_key_protection_level", policy.m_key_protect, 0, 3, "0"),
	KEY("part_enforce", kind_sides, enforce, 0, 0, "both"),
	FLAG("no_partition_enforcement", no_enforcement),
	NUMBER8("sm_sl", policy.sm_sl, 0, 15, "0"),
	NUMBER8("subnet_timeout", policy.subnet_timeout, 0, 31, "18"),
	NUMBER8("packet_life_time", policy.packet_life_time, 0, 31, "0x12"),
	NUMBER8("head_of_queue_lifetime", policy.hoq_life, 0, 31, "0x12"),
	NUMBER8("leaf_head_of_queue_lifetime", policy.leaf_hoq_life, 0, 31,
		"0x10"),
	NUMBER8("vl_stall_count", policy.vl_stall, 1, 7, "7"),
	NUMBER8("leaf_vl_stall_count", policy.leaf_vl_stall, 1, 7, "7"),
	NUMBER("max_op_vls", qos.max_op_vls, 1, 5, "5"),
	NUMBER8("local_phy_errors_threshold", policy.local_phy_errors, 0, 15,
		"8"),
	NUMBER8("overrun_errors_threshold", policy.overrun_errors, 0, 15, "8"),
	NUMBER("sminfo_polling_timeout", poll_ms, 10, 600000, "250"),
	NUMBER("polling_retry_number", polls_lost, 1, 1000, "2"),
	FLAG("qos", qos.enabled),
	KEY("qos_max_vls", kind_limit, qos.max_vls, 1, QOS_VLS, "15"),
	KEY("qos_high_limit", kind_limit, qos.high_limit, 0, 255, "0"),
	KEY("qos_vlarb_high", kind_vlarb, qos.high, 0, QOS_ARB_ENTRIES,
	    "0:4,1:0,2:0,3:0,4:0,5:0,6:0,7:0,8:0,9:0,10:0,11:0,12:0,"
	    "13:0,14:0"),
	KEY("qos_vlarb_low", kind_vlarb, qos.low, 0, QOS_ARB_ENTRIES,
	    "0:0,1:4,2:4,3:4,4:4,5:4,6:4,7:4,8:4,9:4,10:4,11:4,12:4,"
	    "13:4,14:4"),
	KEY("qos_sl2vl", kind_sl2vl, qos.sl2vl, 0, SL_COUNT,
	    "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,7"),
	NUMBER("max_groups_per_port", group_quota, 0, 16383, "256"),
	NUMBER("flap_hold", flap_hold_s, 0, 86400, "0"),
	FLAG("babbling_port_policy", babbling_disable),
	KEY("bad_link_policy", kind_bad_links, bad_links, 0, 0, "report"),
	FLAG("no_clients_rereg", no_rereg),
};

static void
note_value(struct options *conf, const struct option *o, const char *value,
	   enum options_origin from)
{
	struct options_given *g = &conf->origins[o - rows];

	g_free(g->value);
	*g = (struct options_given){ from, g_strdup(value) };
}

static void
note_argument(const struct option *o, const char *value, void *values)
{
	note_value(values, o, value, OPTIONS_COMMAND_LINE);
}

const struct option_table options_table = {
	.options = rows,
	.n = G_N_ELEMENTS(rows),
	.summary = "A subnet manager for InfiniBand. Without options it "
		"manages the subnet of\nthe first port that is up, until it "
		"is told to end.",
	.description = "minism(8) has the options of OpenSM that are spelled, "
		"or done, in another way.",
	.note = note_argument,
};

/* --- the struct --- */

struct options *
options_new(void)
{
	struct options *conf = g_new0(struct options, 1);

	conf->origins = g_new0(struct options_given, G_N_ELEMENTS(rows));
	option_set_defaults(&options_table, conf);
	return conf;
}

void
options_free(struct options *conf)
{
	if (!conf)
		return;
	option_free_texts(&options_table, conf);
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		g_free(conf->origins[i].value);
	g_free(conf->origins);
	g_strfreev(conf->fabric);
	g_free(conf);
}

/* name: on the command line. */
static enum options_origin
origin_of(const struct options *conf, const char *name)
{
	size_t i = 0;

	while (g_strcmp0(rows[i].name, name))
		i++;
	return conf->origins[i].from;
}

bool
options_is_guest(const struct options *conf)
{
	return !conf->takeover && !origin_of(conf, "priority");
}

bool
options_next(const struct options *conf, size_t *at, struct options_value *v)
{
	while (*at < G_N_ELEMENTS(rows)) {
		const struct options_given *g = &conf->origins[*at];
		const struct option *o = &rows[(*at)++];
		const char *text = g->from ? g->value : o->preset;

		if (!o->kind || !(o->key || g->from))
			continue;
		if (o->kind->is_text)
			text = G_STRUCT_MEMBER(char *, conf, o->offset);
		if (!text && o->kind == &option_bool)
			text = "FALSE";
		*v = (struct options_value){
			.key = o->key, .name = o->name, .from = g->from,
			.value = o->kind->secret ? NULL : text,
			.secret = o->kind->secret,
		};
		return true;
	}
	return false;
}

/* The highest of the low four bits of OpenSM's mask decides. */
unsigned
options_log_level(const struct options *conf)
{
	unsigned flags = conf->log_flags;

	return MIN((flags & 8 ? 4 : flags & 4 ? 3 : flags & 2 ? 2 : 0) +
		   conf->verbose, VERBOSITY_MAX);
}

unsigned
options_enforce(const struct options *conf)
{
	return conf->no_enforcement ? 0 : conf->enforce;
}

/* --- a check of QoS ---
 *
 * A VL without weight in either table never sends (IBA 7.6.9.2). Mapping an SL
 * to it is allowed, but deserves a warning.
 */

/* On a port with as many VLs as it may have: 1, 2, 4, 8 or 15 (IBA
 * 14.2.5.6). */
static bool
starves(const struct qos *q, unsigned sl)
{
	unsigned n = 1, vl;

	while (2 * n <= MIN(q->max_vls, 8))
		n *= 2;
	if (q->max_vls == QOS_VLS)
		n = QOS_VLS;
	vl = q->sl2vl[sl] % n;
	for (unsigned i = 0; i < QOS_ARB_ENTRIES; i++)
		if ((q->high[i].vl % n == vl && q->high[i].weight) ||
		    (q->low[i].vl % n == vl && q->low[i].weight))
			return false;
	return q->sl2vl[sl] != QOS_VL_DROP;
}

static void
check_qos(const struct qos *qos, GPtrArray *lines)
{
	g_autoptr(GString) sls = g_string_new(NULL);

	for (unsigned sl = 0; qos->enabled && sl < SL_COUNT; sl++)
		if (starves(qos, sl))
			g_string_append_printf(sls, "%s%u",
					       sls->len ? ", " : "", sl);
	if (sls->len)
		text_add(lines, "qos: packets of SL %s are never sent: sl2vl "
			 "gives them a VL without weight in vlarb_high and "
			 "vlarb_low", sls->str);
}

/* --- the file --- */

struct file_reader {
	struct text_scan scan;
	struct options *conf;
	struct options *unused;	/* has the values that do not count: they are
				   to be good nevertheless */
	GArray *others;		/* struct text_span: what is no key */
	GString *places;	/* keys of kind_place that do not count */
};

/* Keys that are not in the table. Few are mistakes in typing; many, as of a file
 * of OpenSM's, are none that minism has a use for. */
static void
warn_of_others(struct text_scan *s, const GArray *others)
{
	const char *names[G_N_ELEMENTS(rows)];
	size_t n = 0;

	if (others->len > OTHERS_MAX) {
		text_add(s->warnings, "%s: %u keys are none of minism's, and "
			 "not used; minism-import tells what OpenSM's are here",
			 s->file, others->len);
		return;
	}
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++)
		if (rows[i].key)
			names[n++] = rows[i].key;
	EACH_ITEM(const struct text_span, span, others) {
		g_autofree char *shown = text_span_show(span);
		g_autofree char *near = text_nearest(shown, "", names, n);

		text_warn(s, span->place, "%s is no key%s", shown, near);
	}
}

/* value NULL: the default. */
static char *
take_value(struct file_reader *r, const struct option *o, const char *value)
{
	struct options *conf = r->conf;
	bool asked = conf->origins[o - rows].from == OPTIONS_COMMAND_LINE ||
		(conf->port_asked && (o->offset == AT(ca_name) ||
				      o->offset == AT(port_num) ||
				      o->offset == AT(port_guid)));
	bool left = o->kind == &kind_place && conf->elsewhere;
	char *why = option_set(o, asked || left ? r->unused : conf, value);

	if (!why && !asked && !left)
		note_value(conf, o, value, value ? OPTIONS_FILE :
			   OPTIONS_DEFAULT);
	if (!asked && left && value && *value)
		g_string_append_printf(r->places, "%s%s", r->places->len ?
				       ", " : "", o->key);
	return why;
}

/* A word, or anything in quotes; "(null)" is the default. */
static bool
read_value(struct file_reader *r, const struct option *o)
{
	struct text_scan *s = &r->scan;
	bool quoted = *s->at == '"';
	struct text_span span = { .place = text_here(s) };
	g_autofree char *value = NULL, *why = NULL;

	if (!*s->at || strchr("#\n", *s->at)) {
		why = option_accepts(o);
		return text_fail(s, span.place, "%s: a value is missing: %s",
				 o->key, why);
	}
	if (!quoted)
		span = text_take_span(s, " \t\r\n");
	else if (!text_take_quoted(s, &span))
		return text_fail(s, span.place, "%s: the quote is not closed",
				 o->key);
	if (!text_line_ends(s))
		return text_fail(s, text_here(s), "%s: more than one value "
				 "(one with blanks in it needs quotes)",
				 o->key);
	value = g_strndup(span.at, span.len);
	if (!quoted && !strcmp(value, "(null)"))
		g_clear_pointer(&value, g_free);
	why = take_value(r, o, value);
	return !why || text_fail(s, span.place, "%s: %s", o->key, why);
}

bool
options_parse(struct options *conf, const char *text, const char *name,
	      GPtrArray *warnings, GError **error)
{
	g_autoptr(GArray) others = g_array_new(FALSE, FALSE,
					       sizeof(struct text_span));
	g_autoptr(GString) places = g_string_new(NULL);
	struct file_reader r = {
		.conf = conf, .unused = options_new(), .others = others,
		.places = places,
	};
	struct text_scan *s = &r.scan;

	text_scan_init(s, text, name, warnings);
	s->errors_max = ERRORS_MAX;
	s->warnings_max = UINT_MAX;
	for (; text_skip_space(s); text_skip_line(s)) {
		struct text_span span = text_take_span(s, " \t\r\n");
		g_autofree char *key = g_strndup(span.at, span.len);
		const struct option *o = option_find_key(&options_table, key);

		s->at = text_skip_blanks(s->at);
		if (o)
			read_value(&r, o);
		else
			g_array_append_val(others, span);
	}
	options_free(r.unused);
	warn_of_others(s, others);
	if (!text_scan_end(s, error))
		return false;
	check_qos(&conf->qos, warnings);
	if (conf->bad_links & OPTIONS_LINKS_ERRORS)
		text_add(warnings, "bad_link_policy %s: links with errors are "
			 "avoided by minism-health --avoid (OPTIONS of "
			 "minism-health.service); %s is in force here",
			 bad_link_words[conf->bad_links],
			 bad_link_words[conf->bad_links & OPTIONS_LINKS_SLOW]);
	if (places->len && conf->mode < OPTIONS_MODE_CHECK)
		text_add(warnings, "%s: for the manager of this machine, so not "
			 "used in a %s; the command line can name others",
			 places->str, conf->simulator ? "simulation" : "lab");
	return true;
}

/*
 * --- the command line ---
 *
 * It goes before the file, so it is read first, and the file does not replace
 * what it has set. A bad option is so reported before any file is read, and
 * --help works with any file.
 */

static struct option_table
whole_table(const struct options *conf)
{
	struct option_table t = options_table;

	t.also = conf->simulator;
	if (t.also) {
		t.usage = t.also->usage;
		t.summary = t.also->summary;
	}
	return t;
}

void
options_print_help(const struct options *conf)
{
	const struct option_table t = whole_table(conf);
	g_autofree char *help = option_help(&t);

	fputs(help, stdout);
}

/* The default file need not exist; one that was named must. */
static bool
options_read_file(struct options *conf, GPtrArray *warnings, GError **error)
{
	bool asked = origin_of(conf, "config") > OPTIONS_FILE;
	const char *path = conf->config_file;
	g_autoptr(GError) why = NULL;
	g_autofree char *text = text_read_file(path, &why);

	if (text)
		return options_parse(conf, text, path, warnings, error);
	if (!asked && g_error_matches(why, G_FILE_ERROR, G_FILE_ERROR_NOENT))
		return true;
	return text_refuse(error, "%s: %s", asked ? "--config" : path,
			   why->message);
}

/* A lab has control sockets of its own: options_control_dir(). */
static void
leave_places(struct options *conf)
{
	for (size_t i = 0; i < G_N_ELEMENTS(rows); i++) {
		char **text = G_STRUCT_MEMBER_P(conf, rows[i].offset);

		if (rows[i].kind == &kind_place &&
		    (conf->simulator || rows[i].offset != AT(control_socket)))
			g_clear_pointer(text, g_free);
	}
}

/* What the command line alone asks for. */
static bool
check_args(const struct options *conf, GError **error)
{
	enum options_mode mode = conf->mode;

	if (conf->simulator && (!conf->fabric[0] || conf->fabric[1]))
		return text_refuse(error, "one FABRIC is needed%s: a net file, "
				   "or a formula such as 'PGFT(4,8;1,4)'",
				   conf->fabric[0] ? ", not several" : "");
	if (conf->apply && mode == OPTIONS_MODE_PLAN)
		return text_refuse(error, "--apply writes a plan, --plan "
				   "prints one: not both");
	if (conf->observe && (conf->apply || conf->takeover ||
	    (mode > OPTIONS_MODE_RUN && mode < OPTIONS_MODE_CHECK)))
		return text_refuse(error, "--observe stays and writes nothing: "
				   "not with --once, --plan, --apply or "
				   "--takeover");
	return true;
}

bool
options_from_args(struct options *conf, int argc, char **argv,
	       GPtrArray *warnings, GError **error)
{
	const struct option_table t = whole_table(conf);

	conf->elsewhere = conf->simulator || g_getenv(LAB_ENV);
	if (conf->elsewhere)
		leave_places(conf);
	if (!option_read(&t, conf, argc, argv, t.also ? &conf->fabric : NULL,
			 error))
		return false;
	if (conf->mode >= OPTIONS_MODE_HELP)
		return true;
	conf->port_asked = conf->ca_name || conf->port_num || conf->port_guid;
	conf->partition_file_asked = conf->partition_file &&
		origin_of(conf, "partitions") > OPTIONS_FILE;
	if (!check_args(conf, error) ||
	    !options_read_file(conf, warnings, error))
		return false;
	if (conf->apply && conf->mode == OPTIONS_MODE_RUN)
		conf->mode = OPTIONS_MODE_ONCE;
	return true;
}

char *
options_control_dir(void)
{
	const char *sys = g_getenv(LAB_ENV_SYS);

	if (!g_getenv(LAB_ENV))
		return g_strdup(OPTIONS_CONTROL_DIR);
	/* without its folder no path leads out of the lab */
	return g_build_filename(sys ? sys : "/dev/null", "run", NULL);
}
