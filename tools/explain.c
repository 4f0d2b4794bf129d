// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * MADs as sentences.
 *
 * Method. One table has for each attribute a sentence, the reason why it is sent
 * and the clause of IBA; fields are named in braces and read by the tables of
 * sm/mad/mad_tables.c, so nothing is decoded here a second time. A device that
 * no LID reaches yet is named by the NodeInfo and NodeDescription that came from
 * the end of its directed route; before that, by the port that leads to it.
 *
 * Safety. Keys are in no sentence (sm/mad/mkey_mask.h says where they are).
 *
 * Decisions are in sm/decisions.c.
 */
#include "tools/explain.h"

#include <inttypes.h>
#include <string.h>

#include "sm/mad/sa_mad.h"
#include "sm/mad/smp.h"
#include "topology/report.h"
#include "topology/text.h"

#define INITIAL_PATH	128u	/* in a directed-route SMP, IBA 14.2.1.2 */
#define ENTRIES_MAX	16u	/* of a table, in a line */
#define NAME_WIDTH	12
#define WHAT_WIDTH	25

struct explain {
	int64_t start;
	explain_fn fn;
	void *data;
	const char *phase;
	GHashTable *said;	/* reasons written in this phase */
	GHashTable *methods;	/* low half of the TID -> method */
	GHashTable *places;	/* "0,1,5" -> NodeGUID */
	GHashTable *names;	/* NodeGUID -> NodeDescription */
	struct snapshot *s;	/* or NULL */
	struct lid_map *lids;
};

/* --------------------------------------------------------------- the lines */

struct explain *
explain_new(explain_fn fn, void *data)
{
	struct explain *e = g_new0(struct explain, 1);

	e->start = -1;
	e->fn = fn;
	e->data = data;
	e->phase = "start";
	e->said = g_hash_table_new(NULL, NULL);
	e->methods = g_hash_table_new(NULL, NULL);
	e->places = g_hash_table_new_full(g_str_hash, g_str_equal, g_free,
					  g_free);
	e->names = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					 g_free);
	return e;
}

void
explain_free(struct explain *e)
{
	if (!e)
		return;
	g_hash_table_unref(e->said);
	g_hash_table_unref(e->methods);
	g_hash_table_unref(e->places);
	g_hash_table_unref(e->names);
	snapshot_unref(e->s);
	lid_map_free(e->lids);
	g_free(e);
}

static void
emit(struct explain *e, int64_t now, struct explain_line *line)
{
	if (e->start < 0)
		e->start = now;
	line->us = now - e->start;
	line->phase = e->phase;
	line->is_new = line->why && line->kind != EXPLAIN_REQUEST &&
		g_hash_table_add(e->said, (gpointer)line->why);
	e->fn(line, e->data);
}

void
explain_phase(struct explain *e, int64_t now, const char *phase)
{
	struct explain_line line = { .where = "", .text = phase };

	e->phase = phase;
	g_hash_table_remove_all(e->said);
	emit(e, now, &line);
}

void
explain_say(struct explain *e, int64_t now, const char *what,
	    const char *where, const char *why, const char *clause,
	    const char *format, ...)
{
	struct explain_line line = {
		.kind = EXPLAIN_DECISION, .what = what, .where = where,
		.why = why, .clause = clause,
	};
	g_autofree char *text = NULL;
	va_list args;

	va_start(args, format);
	line.text = text = g_strdup_vprintf(format, args);
	va_end(args);
	emit(e, now, &line);
}

void
explain_print(const struct explain_line *l, enum explain_format format,
	      GString *out)
{
	const struct {
		const char *key, *value;
	} members[] = {
		{ "phase", l->phase }, { "what", l->what },
		{ "where", *l->where ? l->where : NULL }, { "path", l->path },
		{ "text", l->text }, { "why", l->why },
		{ "clause", l->clause },
	};
	struct text_report j = { .out = out, .space = " ", .as_json = true };

	if (l->kind == EXPLAIN_REQUEST)
		return;
	if (format == EXPLAIN_JSON) {
		report_open(&j, NULL, '{');
		report_ms(&j, "ms", l->us);
		for (size_t i = 0; i < G_N_ELEMENTS(members); i++)
			if (members[i].value)
				report_text(&j, members[i].key,
					    members[i].value, NULL);
		report_close(&j, '}');
	} else if (!l->what) {
		g_string_append_printf(out, "--- %s", l->text);
	} else {
		g_string_append_printf(out, "%" PRId64 ".%06u  %-*s  %-*s  ",
				       l->us / G_USEC_PER_SEC,
				       (unsigned)(l->us % G_USEC_PER_SEC),
				       NAME_WIDTH, l->where, WHAT_WIDTH,
				       l->what);
		if (l->path)
			g_string_append_printf(out, "path %s -> ", l->path);
		g_string_append(out, l->text);
		if (l->why && l->is_new)
			g_string_append_printf(out, " (%s)", l->why);
		if (l->clause)
			g_string_append_printf(out, " [%s]", l->clause);
	}
	g_string_append_c(out, '\n');
}

/* ------------------------------------------------------------ names, places */

void
explain_set_lids(struct explain *e, struct snapshot *s, struct lid_map *lids)
{
	snapshot_unref(e->s);
	lid_map_free(e->lids);
	e->s = snapshot_ref(s);
	e->lids = lid_map_ref(lids);
}

static char *
place_by_lid(const struct explain *e, unsigned lid)
{
	uint32_t port = e->lids ? lid_map_owner(e->lids, (uint16_t)lid) :
		SNAPSHOT_NONE;

	return port == SNAPSHOT_NONE ? g_strdup_printf("LID %u", lid) :
		g_strdup(snapshot_name_of(e->s, port));
}

static char *
place_by_path(const struct explain *e, const char *path)
{
	const uint64_t *guid = g_hash_table_lookup(e->places, path);
	const char *name = guid ? g_hash_table_lookup(e->names, guid) : NULL;
	const char *comma = strrchr(path, ',');
	g_autofree char *before = NULL, *from = NULL;

	if (name)
		return g_strdup(name);
	if (guid)
		return g_strdup_printf("0x%" PRIx64, *guid);
	if (!comma)
		return g_strdup("own port");
	before = g_strndup(path, (gsize)(comma - path));
	from = place_by_path(e, before);
	return strchr(before, ',') ? g_strdup_printf("%s/%s", from, comma + 1) :
		g_strdup("next door");
}

/* The name and GUID of the device at the end of a route. */
static void
learn(struct explain *e, const struct mad_header *h, const char *path,
      const uint8_t *data)
{
	const uint64_t *guid = g_hash_table_lookup(e->places, path);
	struct node_info info;

	if (h->attr_id == MAD_ATTR_NODE_INFO) {
		node_info_decode(data, &info);
		g_hash_table_replace(e->places, g_strdup(path),
				     g_memdup2(&info.node_guid, 8));
	} else if (h->attr_id == MAD_ATTR_NODE_DESC && guid) {
		g_autofree char *raw = g_strndup((const char *)data,
						 SMP_DATA_LEN);

		g_hash_table_replace(e->names, g_memdup2(guid, 8),
				     text_one_line(raw));
	}
}

/* ------------------------------------------------------- tables in a line */

static void
explain_put_name(GString *out, uint32_t modifier, const uint8_t *data)
{
	g_autofree char *raw = g_strndup((const char *)data, SMP_DATA_LEN);
	g_autofree char *line = text_one_line(raw);

	g_string_append_printf(out, "\"%s\"", line);
}

static void
told_port(GString *out, uint32_t modifier, const uint8_t *data)
{
	struct port_info info;

	port_info_decode(data, &info);
	if (info.lid)
		g_string_append_printf(out, ", LID %u, SM at LID %u", info.lid,
				       info.sm_lid);
	if (info.state > PORT_STATE_DOWN)
		g_string_append_printf(out, ", %s%s", port_width(&info)->name,
				       port_speed(&info)->name);
}

/* After the first ENTRIES_MAX of n. */
static void
put_rest(GString *out, unsigned n, const char *none)
{
	if (n > ENTRIES_MAX)
		g_string_append_printf(out, " and %u more", n - ENTRIES_MAX);
	else if (!n)
		g_string_append(out, none);
}

static void
put_lft(GString *out, uint32_t block, const uint8_t *data)
{
	unsigned n = 0;

	for (unsigned i = 0; i < LFT_BLOCK; i++)
		if (data[i] != LFT_NO_PATH && n++ < ENTRIES_MAX)
			g_string_append_printf(out, "%s %u:%u", n > 1 ? "," :
					       ", LID:port",
					       block * LFT_BLOCK + i, data[i]);
	put_rest(out, n, ", no entry");
}

static void
told_pkeys(GString *out, uint32_t modifier, const uint8_t *data)
{
	union port_block b;
	unsigned n = 0;

	smp_table_decode(PORT_TABLE_PKEY, data, &b);
	for (unsigned i = 0; i < PKEYS_A_BLOCK; i++)
		if (b.pkeys[i] && n++ < ENTRIES_MAX)
			g_string_append_printf(out, " 0x%04x", b.pkeys[i]);
	put_rest(out, n, " none");
}

static void
told_groups(GString *out, uint32_t modifier, const uint8_t *data)
{
	unsigned n = 0;

	for (unsigned i = 0; i < SMP_DATA_LEN; i += 2)
		n += data[i] || data[i + 1];
	g_string_append_printf(out, " %u, ports from %u on: %u MLIDs have "
			       "members", modifier & 0x1ff,
			       16 * (modifier >> 28), n);
}

static void
put_notice(GString *out, uint32_t modifier, const uint8_t *data)
{
	struct notice n;

	notice_decode(data, &n);
	g_string_append_printf(out, "trap %u, %s, issued by LID %u", n.trap,
			       n.generic ? notice_trap_name(n.trap) :
			       "the vendor's own", n.issuer_lid);
}

/* -------------------------------------------------------------- sentences */

#define PORT_0	0xffu		/* it is port 0 of a switch, in any state */
static const struct sentence {
	uint16_t attr;
	uint8_t method;
	uint8_t state;		/* PortState in the MAD, or PORT_0; 0: any */
	uint16_t record;	/* SA record with the table of its fields */
	const char *text, *why, *clause;
	void (*more)(GString *out, uint32_t modifier, const uint8_t *data);
} smps[] = {
	{ MAD_ATTR_NODE_INFO, MAD_METHOD_GET, 0, SA_ATTR_NODE,
	  "{NodeType} {NodeGUID}, ports: {NumPorts}, entered by port "
	  "{LocalPortNum}", "which device is there? No LIDs yet: the route is "
	  "a list of ports", "IBA 14.2.5.3", NULL },
	{ MAD_ATTR_NODE_DESC, MAD_METHOD_GET, 0, 0, "",
	  "the name for people; all else goes by GUID", "IBA 14.2.5.2",
	  explain_put_name },
	{ MAD_ATTR_SWITCH_INFO, MAD_METHOD_GET, 0, SA_ATTR_SWITCH_INFO,
	  "room for {LinearFDBCap} LIDs, LinearFDBTop {LinearFDBTop}, "
	  "PortStateChange {PortStateChange}", "how large its tables are, and "
	  "has a port changed?", "IBA 14.2.5.4", NULL },
	{ MAD_ATTR_SWITCH_INFO, MAD_METHOD_SET, 0, SA_ATTR_SWITCH_INFO,
	  "LinearFDBTop {LinearFDBTop}, PortStateChange {PortStateChange}",
	  "the top rises when the blocks are written; and a change is noted",
	  "IBA 14.2.5.4", NULL },
	{ MAD_ATTR_PORT_INFO, MAD_METHOD_GET, 0, SA_ATTR_PORT_INFO,
	  "port {#}: {PortState}, {PortPhysicalState}",
	  "is there a cable, which LID has it, and what can the link do?",
	  "IBA 14.2.5.6", told_port },
	{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, PORT_0, SA_ATTR_PORT_INFO,
	  "port 0", "a switch has its LID at port 0, which has no cable",
	  "IBA 14.2.5.6", told_port },
	{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, PORT_STATE_ARMED,
	  SA_ATTR_PORT_INFO, "port {#}: {PortState}", "both ends are routed "
	  "and have their tables: the link may be armed", "IBA 14.3.6",
	  told_port },
	{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, PORT_STATE_ACTIVE,
	  SA_ATTR_PORT_INFO, "port {#}: {PortState}",
	  "both ends are armed: data may flow",
	  "IBA 14.3.6", told_port },
	{ MAD_ATTR_PORT_INFO, MAD_METHOD_SET, 0, SA_ATTR_PORT_INFO,
	  "port {#}: {PortState}",
	  "its LID, where the SM is, MTU, VLs and time-outs",
	  "IBA 14.2.5.6", told_port },
	{ MAD_ATTR_GUID_INFO, MAD_METHOD_GET, 0, 0, "GUIDs of the port",
	  "which further GUIDs has it?", "IBA 14.2.5.5", NULL },
	{ MAD_ATTR_PKEY_TABLE, MAD_METHOD_GET, 0, 0, "P_Keys",
	  "which partitions is it in already?", "IBA 14.2.5.7", told_pkeys },
	{ MAD_ATTR_PKEY_TABLE, MAD_METHOD_SET, 0, 0, "P_Keys",
	  "only ports that share a P_Key, one of them as full member, may talk",
	  "IBA 10.9.3", told_pkeys },
	{ MAD_ATTR_SL2VL, MAD_METHOD_GET, 0, 0, "VLs by SL",
	  "which lane takes which service level?", "IBA 14.2.5.8", NULL },
	{ MAD_ATTR_SL2VL, MAD_METHOD_SET, 0, 0, "VLs by SL",
	  "which lane takes which service level", "IBA 14.2.5.8", NULL },
	{ MAD_ATTR_VL_ARB, MAD_METHOD_GET, 0, 0, "weights of the VLs",
	  "how do the lanes share the link?", "IBA 14.2.5.9", NULL },
	{ MAD_ATTR_VL_ARB, MAD_METHOD_SET, 0, 0, "weights of the VLs",
	  "how the lanes share the link", "IBA 14.2.5.9", NULL },
	{ MAD_ATTR_LINEAR_FT, MAD_METHOD_GET, 0, 0, "block {#}",
	  "what does the switch hold already? Only differences are written",
	  "IBA 14.2.5.10", put_lft },
	{ MAD_ATTR_LINEAR_FT, MAD_METHOD_SET, 0, 0, "block {#}",
	  "by which port a packet to a LID leaves; 64 LIDs are one MAD",
	  "IBA 14.2.5.10", put_lft },
	{ MAD_ATTR_MULTICAST_FT, MAD_METHOD_GET, 0, 0, "block",
	  "which ports does a group have here?", "IBA 14.2.5.12", told_groups },
	{ MAD_ATTR_MULTICAST_FT, MAD_METHOD_SET, 0, 0, "block",
	  "the tree of each group: copies leave by all of its ports but the "
	  "one they came by", "IBA 14.2.5.12", told_groups },
	{ MAD_ATTR_SM_INFO, MAD_METHOD_GET, 0, SA_ATTR_SM_INFO,
	  "SM {GUID}, priority {Priority}, {SMState}", "the higher priority, "
	  "then the lower GUID, is the master", "IBA 14.4.1", NULL },
	{ MAD_ATTR_SM_INFO, MAD_METHOD_SET, 0, SA_ATTR_SM_INFO,
	  "control {#} to SM {GUID}", "managers hand the fabric over by this",
	  "IBA 14.4.1", NULL },
	{ MAD_ATTR_NOTICE, MAD_METHOD_TRAP, 0, 0, "",
	  "a device reports by itself; it repeats that until it is answered",
	  "IBA 13.4.9", put_notice },
	{ MAD_ATTR_NOTICE, MAD_METHOD_TRAP_REPRESS, 0, 0, "",
	  "the trap has arrived: it need not be repeated", "IBA 13.4.9",
	  put_notice },
};

static const struct sentence *
find_sentence(const struct mad_header *h, unsigned method, const uint8_t *data)
{
	const struct mad_field *state =
		mad_field_find(mad_attr_table(SA_ATTR_PORT_INFO), "PortState",
			       strlen("PortState"));
	uint64_t now = h->attr_mod & ~SMP_PORT_INFO_EXT_SPEEDS ?
		mad_field_value(state, MAD_FIELD_ATTR_BASE, data) : PORT_0;

	for (size_t i = 0; i < G_N_ELEMENTS(smps); i++)
		if (smps[i].attr == h->attr_id && smps[i].method == method &&
		    (!smps[i].state || smps[i].state == now))
			return &smps[i];
	return NULL;
}

static const struct {
	const char *field;
	const char *(*name)(unsigned value);
} named[] = {
	{ "NodeType", node_type_name }, { "PortState", port_state_name },
	{ "PortPhysicalState", port_phys_name }, { "SMState", sm_state_name },
};

/* The text with what is in braces filled in; {#}: the AttributeModifier without
 * SMSupportExtendedSpeeds. */
static void
put_sentence(GString *out, const struct sentence *t,
	     const struct mad_header *h, const uint8_t *data)
{
	const char *at = t->text, *end;

	for (; *at; at = *at ? end + 1 : end) {
		const struct mad_field *f;
		const char *name = NULL;
		uint64_t value;

		end = at + strcspn(at, "{");
		g_string_append_len(out, at, end - at);
		at = end;
		if (!*at)
			break;
		end = strchr(at, '}');
		if (at[1] == '#') {
			g_string_append_printf(out, "%u", h->attr_mod &
				~SMP_PORT_INFO_EXT_SPEEDS);
			continue;
		}
		f = mad_field_find(mad_attr_table(t->record), at + 1,
				   (size_t)(end - at - 1));
		value = mad_field_value(f, MAD_FIELD_ATTR_BASE, data);
		for (size_t i = 0; i < G_N_ELEMENTS(named); i++)
			if (strcmp(named[i].field, f->name) == 0)
				name = named[i].name((unsigned)value);
		if (name)
			g_string_append(out, name);
		else
			g_string_append_printf(out, f->bits == 64 ?
				"0x%016" PRIx64 : "%" PRIu64, value);
	}
	if (t->more)
		t->more(out, h->attr_mod, data);
}

/* ------------------------------------------------------------------- SMPs */

static void
told_status(GString *out, const struct mad_header *h)
{
	g_string_append_printf(out, "refused: %s (status 0x%04x)",
			       mad_status_name(h->status), h->status);
}

static void
explain_smp(struct explain *e, int64_t now, const struct mad_header *h,
	    unsigned method, const char *place, enum explain_event event,
	    const uint8_t *mad)
{
	const uint8_t *data = smp_data_const(mad);
	bool direct = h->mgmt_class == MAD_CLASS_SMP_DIRECT &&
		h->hop_count <= DR_MAX_HOPS;
	g_autoptr(GString) route = g_string_new("0");
	g_autofree char *where = NULL;
	const char *path;
	g_autofree char *what = g_strdup_printf("%s %s",
		mad_method_name(method), mad_attr_name(h->attr_id));
	const struct sentence *t = find_sentence(h, method &
		~MAD_METHOD_RESPONSE, data);
	g_autoptr(GString) text = g_string_new(NULL);
	struct explain_line line = {
		.kind = event == EXPLAIN_SENT && h->method == method &&
			sa_is_request(method) ? EXPLAIN_REQUEST : EXPLAIN_MAD,
		.what = what, .why = t ? t->why : NULL,
		.clause = t ? t->clause : NULL,
	};

	for (unsigned i = 1; direct && i <= h->hop_count; i++)
		g_string_append_printf(route, ",%u", mad[INITIAL_PATH + i]);
	path = direct ? route->str : NULL;
	where = place ? g_strdup(place) : place_by_path(e, path);
	line.path = path;
	line.where = where;
	if (event == EXPLAIN_RETURNED)
		g_string_append(text, "no answer in time");
	else if (event == EXPLAIN_RECEIVED && h->method == method &&
		 method != MAD_METHOD_TRAP)
		g_string_append(text, "another manager asks");
	else if (line.kind == EXPLAIN_REQUEST && method == MAD_METHOD_GET)
		g_string_append(text, "asked");
	else if (h->status)
		told_status(text, h);
	else if (t)
		put_sentence(text, t, h, data);
	if (path && event == EXPLAIN_RECEIVED && h->method != method &&
	    !h->status)
		learn(e, h, path, data);
	line.text = text->str;
	emit(e, now, &line);
}

/* ------------------------------------------------------------------ SA MADs */

static const struct {
	uint16_t attr;
	const char *why, *clause;
} records[] = {
	{ SA_ATTR_PATH, "which LID, SL, MTU, rate and P_Key lead there?",
	  "IBA 15.2.5.16" },
	{ SA_ATTR_MC_MEMBER, "joining, leaving or looking up a multicast group",
	  "IBA 15.2.5.17" },
	{ SA_ATTR_SERVICE, "a service is offered or looked for",
	  "IBA 15.2.5.14" },
	{ SA_ATTR_INFORM_INFO, "whose traps are to be forwarded to this port?",
	  "IBA 13.4.11" },
	{ SA_ATTR_NOTICE, "a trap is forwarded to a port that subscribed",
	  "IBA 13.4.11" },
};

static void
explain_sa(struct explain *e, int64_t now, unsigned lid, const uint8_t *mad,
	   size_t len)
{
	g_autofree char *where = place_by_lid(e, lid), *what = NULL;
	g_autoptr(GString) text = g_string_new(NULL);
	struct explain_line line = {
		.kind = EXPLAIN_MAD, .where = where, .clause = "IBA 15.2",
	};
	const struct mad_field *f;
	struct sa_header h;
	unsigned n = 0;

	if (!sa_header_read(mad, len, &h))
		return;
	what = g_strdup_printf("%s %s", mad_method_name(h.mad.method),
			       sa_attr_name(h.mad.attr_id));
	if (h.mad.method & MAD_METHOD_RESPONSE && h.mad.status) {
		told_status(text, &h.mad);
	} else if (h.mad.method & MAD_METHOD_RESPONSE) {
		g_string_append_printf(text, "%" G_GSIZE_FORMAT " bytes of "
				       "records", len - SA_DATA_OFFSET);
	} else {	/* "by SGID, DGID": the components of the mask */
		f = sa_fields(h.mad.attr_id, &n);
		for (unsigned i = 0; f && i < MIN(n, 64); i++)
			if (h.comp_mask & SA_BIT(i) &&
			    f[i].kind != MAD_FIELD_RESERVED)
				g_string_append_printf(text, "%s%s", text->len ?
						       ", " : "by ", f[i].name);
		if (!text->len)
			g_string_append(text, "all of them");
	}
	for (size_t i = 0; i < G_N_ELEMENTS(records); i++)
		if (records[i].attr == h.mad.attr_id) {
			line.why = records[i].why;
			line.clause = records[i].clause;
		}
	line.what = what;
	line.text = text->str;
	emit(e, now, &line);
}

void
explain_mad(struct explain *e, int64_t now, enum explain_event event,
	    unsigned lid, const uint8_t *mad, size_t len)
{
	struct mad_header h;
	g_autofree char *where = NULL;
	gpointer key;
	unsigned method;
	bool asks;

	if (!mad_header_read(mad, len, &h))
		return;
	key = GUINT_TO_POINTER((uint32_t)h.tid);
	method = h.method;
	asks = method == MAD_METHOD_GET || method == MAD_METHOD_SET;
	if (h.mgmt_class == MAD_CLASS_SA) {
		explain_sa(e, now, lid, mad, len);
		return;
	}
	if (event == EXPLAIN_SENT && asks)
		g_hash_table_insert(e->methods, key, GUINT_TO_POINTER(method));
	if (event == EXPLAIN_RECEIVED && method == MAD_METHOD_GET_RESP)
		method = GPOINTER_TO_UINT(g_hash_table_lookup(e->methods, key));
	if (event != EXPLAIN_SENT)
		g_hash_table_remove(e->methods, key);
	if (h.mgmt_class != MAD_CLASS_SMP_DIRECT || h.hop_count > DR_MAX_HOPS)
		where = place_by_lid(e, lid);
	explain_smp(e, now, &h, method, where, event, mad);
}

void
explain_answer(struct explain *e, int64_t now, const char *where,
	       unsigned method, const uint8_t *mad)
{
	struct mad_header h;

	if (mad_header_read(mad, MAD_SIZE, &h))
		explain_smp(e, now, &h, method, where, EXPLAIN_RECEIVED, mad);
}
