// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Reading a view: the net file by its parser, which skips lines that begin with
 * "#", then these. Lines about a node or port that the net file does not have
 * are skipped, as are unknown ones: a newer manager may write more.
 */
#include "tools/view.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "sm/mad/bytes.h"
#include "tools/net_file_parse.h"
#include "topology/each.h"
#include "topology/port_search.h"
#include "topology/text.h"

G_DEFINE_QUARK(minism-tool-view-error-quark, tool_view_error)

struct reading {
	struct tool_view *v;
	struct view_lines *lines;
	GArray *grants;		/* struct partition_grant */
	uint64_t numbers[VIEW_WORDS];
	const char *text;
};

static void
view_group_free(gpointer data)
{
	struct view_group *group = data;

	g_array_unref(group->members);
	g_free(group);
}

uint32_t
tool_view_line_port(const struct tool_view *v,
		    const uint64_t numbers[VIEW_WORDS])
{
	return snapshot_port_of(v->s, snapshot_find_node(v->s,
				numbers[PORT_GUID]),
				(unsigned)MIN(numbers[PORT_NUMBER], UINT_MAX));
}

/* NULL: there is none. */
static struct snapshot_port *
find_port(const struct reading *r)
{
	uint32_t port = tool_view_line_port(r->v, r->numbers);

	return port == SNAPSHOT_NONE ? NULL : &r->v->s->ports[port];
}

/* A manager before #idle said nothing of the physical state. */
static void
set_port(struct snapshot_port *p, const uint64_t *numbers)
{
	p->known = numbers[USUAL_STATE] != 0;
	p->info.state = (uint8_t)numbers[USUAL_STATE];
	p->info.neighbor_mtu = (uint8_t)numbers[USUAL_MTU];
	p->info.oper_vls = (uint8_t)numbers[USUAL_VLS];
	if (numbers[USUAL_PHYS])
		p->info.phys_state = (uint8_t)numbers[USUAL_PHYS];
}

/* Of ports with a link, or of those of switches without one. */
static void
take_usual(struct reading *r, enum view_kind kind)
{
	struct snapshot *s = r->v->s;
	bool linked = kind == VIEW_USUAL;

	for (uint32_t i = 0; i < s->n_ports; i++) {
		struct snapshot_port *p = &s->ports[i];

		if (p->peer != SNAPSHOT_NONE ? linked :
		    snapshot_is_switch(&s->nodes[p->node]) && linked == !p->num)
			set_port(p, r->numbers);
	}
}

static void
keep_text(struct reading *r, GHashTable *table, const struct snapshot_port *p)
{
	if (p && *r->text)
		g_hash_table_insert(table,
				    GUINT_TO_POINTER(p - r->v->s->ports + 1),
				    g_strdup(r->text));
}

/* Of the switch with this NodeGUID; NULL: there is none. */
static uint8_t *
table_of(struct tool_view *v, uint64_t guid)
{
	uint32_t node = snapshot_find_node(v->s, guid);

	if (node == SNAPSHOT_NONE || !snapshot_is_switch(&v->s->nodes[node]))
		return NULL;
	if (!v->lft)
		v->lft = lft_new(v->s->n_switches, v->lids->top);
	return lft_row(v->lft, v->s->nodes[node].sw_index);
}

/* The way of one switch to one LID. */
static void
take_hop(struct reading *r, enum view_kind kind)
{
	uint8_t *row = table_of(r->v, r->numbers[HOP_GUID]);

	if (row && r->numbers[HOP_LID] <= r->v->lids->top)
		row[r->numbers[HOP_LID]] = (uint8_t)r->numbers[HOP_PORT];
}

/* Of two hexadecimal digits, lower case. */
static uint8_t
hex_byte(const char *at)
{
	unsigned high = (unsigned char)at[0], low = (unsigned char)at[1];

	return (uint8_t)((high > '9' ? high - 'a' + 10 : high - '0') << 4 |
			 (low > '9' ? low - 'a' + 10 : low - '0'));
}

static void
take_table(struct reading *r, enum view_kind kind)
{
	uint8_t *row = table_of(r->v, r->numbers[0]);
	size_t at = r->numbers[LFT_NUMBER] * VIEW_LFT_BLOCK;

	if (!row || r->numbers[LFT_NUMBER] > UINT16_MAX / VIEW_LFT_BLOCK ||
	    strspn(r->text, "0123456789abcdef") != 2 * VIEW_LFT_BLOCK)
		return;
	for (unsigned i = 0; i < VIEW_LFT_BLOCK && at + i <= r->v->lft->top;
	     i++)
		row[at + i] = hex_byte(r->text + 2 * i);
}

static void
view_take_node(struct reading *r, enum view_kind kind)
{
	struct snapshot *s = r->v->s;
	struct snapshot_port *port;
	uint32_t node = snapshot_find_node(s, r->numbers[0]);

	if (node == SNAPSHOT_NONE)
		return;
	if (kind == VIEW_NODE)
		s->nodes[node].info.revision =
			(uint32_t)r->numbers[NODE_REVISION];
	else if (kind == VIEW_NAME)
		s->nodes[node].name = g_intern_string(r->text);
	else if (kind == VIEW_SLOW)
		keep_text(r, r->v->could_be, find_port(r));
	else if ((port = find_port(r))) {
		set_port(port, &r->numbers[PORT_STATE]);
		keep_text(r, r->v->speeds, port);
	}
}

static void
take_pkey(struct reading *r, enum view_kind kind)
{
	const struct partition_grant grant = {
		.port = tool_view_port(r->v, r->numbers[PKEY_PORT]),
		.pkey = (uint16_t)r->numbers[PKEY_KEY],
	};

	if (grant.port != SNAPSHOT_NONE)
		g_array_append_val(r->grants, grant);
}

static void
take_partition(struct reading *r, enum view_kind kind)
{
	struct partition *p = partition_rules_get(r->v->rules,
				(uint16_t)r->numbers[PARTITION_KEY]);

	p->sl = (uint8_t)r->numbers[PARTITION_SL];
	g_free(p->name);
	p->name = *r->text ? g_strdup(r->text) : NULL;
}

#define GID_WORD	" 0x%32[0-9a-f]"
#define HEX_WORD	" %" SCNx64
#define NUMBER_WORD	" %" SCNu64

static void
take_gid(const char digits[33], uint8_t gid[16])
{
	for (unsigned i = 0; i < 16; i++)
		gid[i] = hex_byte(digits + 2 * i);
}

/* #group, #member: lines of the SA's state, with all words in their order. A
 * member is of the group before it. */
static void
view_take_group(struct tool_view *v, const char *line)
{
	struct view_group g = { .permanent = 0 }, *last;
	struct view_member m;
	char mgid[33] = "", port[33] = "";
	uint8_t gid[16];

	/* FlowLabel, PacketLifeTime, TClass and HopLimit are not listed */
	if (sscanf(line, "#group" GID_WORD HEX_WORD HEX_WORD HEX_WORD
		   " %*s" NUMBER_WORD NUMBER_WORD " %*s" NUMBER_WORD
		   " %*s %*s" NUMBER_WORD, mgid, &g.mlid, &g.pkey, &g.q_key,
		   &g.mtu, &g.rate, &g.sl, &g.permanent) == 8 && mgid[31]) {
		take_gid(mgid, g.mgid);
		g.members = g_array_new(FALSE, FALSE, sizeof(m));
		g_ptr_array_add(v->groups, g_memdup2(&g, sizeof(g)));
	} else if (sscanf(line, "#member" GID_WORD GID_WORD " %u", mgid, port,
			  &m.joined) == 3 && port[31] && v->groups->len) {
		take_gid(port, gid);
		m.guid = bytes_load64(gid + 8);
		last = v->groups->pdata[v->groups->len - 1];
		g_array_append_val(last->members, m);
	}
}

/* Of nodes and ports. Other lines are kept as they stand. */
static void (*const takes[VIEW_KINDS])(struct reading *r,
				       enum view_kind kind) = {
	[VIEW_USUAL] = take_usual, [VIEW_IDLE] = take_usual,
	[VIEW_NODE] = view_take_node, [VIEW_NAME] = view_take_node,
	[VIEW_PORT] = view_take_node, [VIEW_SLOW] = view_take_node,
	[VIEW_LFT] = take_table,
	[VIEW_PKEY] = take_pkey, [VIEW_PARTITION] = take_partition,
	[VIEW_HOP] = take_hop,
};

/* The next line that begins with # at *at or behind it, with those that go on with
 * it; *at goes past it. */
static bool
next_line(const char **at, GString *line)
{
	const char *end;

	if (*at && **at != '#') {
		*at = strstr(*at, "\n#");
		*at += *at ? 1 : 0;
	}
	if (!*at)
		return false;
	g_string_truncate(line, 0);
	do {
		*at += line->len ? strlen("\n" VIEW_LINE_MORE) : 0;
		end = *at + strcspn(*at, "\n");
		g_string_append_len(line, *at, end - *at);
		*at = end;
	} while (g_str_has_prefix(end, "\n" VIEW_LINE_MORE));
	return true;
}

static void
line_free(gpointer data)
{
	struct view_text *line = data;

	g_free(line->text);
	g_free(line);
}

static void
keep_fault(struct view_lines *lines, const uint64_t *numbers, const char *text)
{
	struct expected_fault f = {
		.kind = MIN(numbers[FAULT_KIND], EXPECTED_KINDS - 1),
		.since = (int64_t)numbers[FAULT_SINCE],
		.guid = numbers[FAULT_GUID], .cause = numbers[FAULT_CAUSE],
		.port = (uint8_t)numbers[FAULT_PORT],
		.far = numbers[FAULT_FAR],
		.far_port = (uint8_t)numbers[FAULT_FAR_PORT],
	};

	text += MIN(strlen(text), strlen(expected_kind_names[f.kind]) + 1);
	f.name = g_strndup(text, MIN(strlen(text), numbers[FAULT_NAME]));
	if (numbers[FAULT_NEAR] < strlen(f.name) &&
	    g_str_has_prefix(f.name + numbers[FAULT_NEAR], " - "))
		f.near = (unsigned)numbers[FAULT_NEAR];
	text += strlen(f.name);
	f.text = g_strdup(g_str_has_prefix(text, ", ") ? text + 2 : text);
	g_ptr_array_add(lines->expected->faults, g_memdup2(&f, sizeof(f)));
}

static void
keep_line(struct reading *r, enum view_kind kind)
{
	struct view_text *line = g_new(struct view_text, 1);
	struct snapshot_port *port;

	memcpy(line->n, r->numbers, sizeof(line->n));
	line->text = g_strdup(r->text);
	g_ptr_array_add(r->lines->of[kind], line);
	if (kind == VIEW_FAULT)
		keep_fault(r->lines, r->numbers, r->text ? r->text : "");
	/* its GUID and the number of its port are where #port has them */
	else if (kind == VIEW_AVOIDED && (port = find_port(r)) &&
		 !r->numbers[AVOIDED_VERDICT])
		port->avoided = true;
}

/* Those of the whole fabric into `lines`. A part of a view has no memberships. */
static void
read_lines(struct tool_view *v, struct view_lines *lines, const char *text)
{
	g_autoptr(GString) line = g_string_new(NULL);
	g_autoptr(GArray) grants = g_array_new(FALSE, FALSE,
					sizeof(struct partition_grant));
	struct reading r = { .v = v, .lines = lines, .grants = grants };
	enum view_kind last = VIEW_HEAD;

	while (next_line(&text, line)) {
		g_autofree char *shown = NULL;
		unsigned k = 0;

		/* mostly it is of the same kind as the line before */
		if (view_line_take(last, line->str, r.numbers, &r.text))
			k = last;
		else
			while (k < VIEW_KINDS &&
			       !view_line_take((enum view_kind)k, line->str,
					       r.numbers, &r.text))
				k++;
		last = k < VIEW_KINDS ? (enum view_kind)k : VIEW_HEAD;
		if (k == VIEW_KINDS) {
			view_take_group(v, line->str);
			continue;
		}
		/* it may be of a stranger's file, and is printed */
		if (r.text && k != VIEW_LFT)
			r.text = shown = text_printable(r.text);
		if (takes[k] && !r.text)
			r.text = "";
		(takes[k] ? takes[k] : keep_line)(&r, (enum view_kind)k);
	}
	if (!v->memberships)
		v->memberships = memberships_deal(v->s->n_ports, grants);
}

const struct view_text *
view_lines_first(const struct view_lines *lines, enum view_kind kind)
{
	static const struct view_text none;

	return lines->of[kind]->len ? lines->of[kind]->pdata[0] : &none;
}

const char *
view_text_rest(const char *text, uint64_t len)
{
	return text && strlen(text) > len ? text + len : "";
}

/* Without a head it is a plain net file, and nothing at all if it has no node:
 * a file cut down to nothing by a full disk is not a fabric that is all gone. */
static bool
is_good(const struct view_lines *lines, const struct snapshot *s,
	const char *name, GError **error)
{
	const uint64_t *head = view_lines_first(lines, VIEW_HEAD)->n;
	uint64_t version = head[HEAD_VERSION];
	const GPtrArray *ends = lines->of[VIEW_END];

	if (version ? version == VIEW_VERSION && ends->len &&
	    view_lines_first(lines, VIEW_END)->n[END_GEN] == head[HEAD_GEN] :
	    s->n_nodes)
		return true;
	if (!version)
		return text_refuse(error, "%s: neither a node nor a cable is "
				   "in it", name);
	if (version != VIEW_VERSION)
		return text_refuse(error, "%s: a view of version %u, and this "
				   "program knows %u", name, (unsigned)version,
				   VIEW_VERSION);
	return text_refuse(error, "%s: " CUT_OFF "its line #end is missing",
			   name);
}

static struct view_lines *
view_lines_new(void)
{
	struct view_lines *lines = g_new(struct view_lines, 1);

	for (unsigned k = 0; k < VIEW_KINDS; k++)
		lines->of[k] = g_ptr_array_new_with_free_func(line_free);
	lines->expected = expected_new();
	return lines;
}

static void
view_lines_free(struct view_lines *lines)
{
	for (unsigned k = 0; k < VIEW_KINDS; k++)
		g_ptr_array_unref(lines->of[k]);
	expected_free(lines->expected);
	g_free(lines);
}

static void
index_lost(struct tool_view *v)
{
	EACH_PTR(struct expected_fault, f, v->lines->expected->faults) {
		const struct {
			uint64_t guid;
			unsigned num;
		} ends[] = {
			{ f->far, f->far_port },
			{ f->near ? f->guid : 0, f->port },
		};

		for (unsigned k = 0; k < 2 && expected_is_missing(f->kind); k++) {
			uint32_t port = snapshot_port_of(v->s,
				snapshot_find_node(v->s, ends[k].guid),
				ends[k].num);

			if (ends[k].num && port != SNAPSHOT_NONE)
				g_hash_table_insert(v->lost,
					GUINT_TO_POINTER(port + 1), f);
		}
	}
}

static struct tool_view *
view_new(struct snapshot *s, const char *name)
{
	struct tool_view *v = g_new0(struct tool_view, 1);

	v->s = s;
	v->name = g_strdup(name);
	v->lines = view_lines_new();
	v->groups = g_ptr_array_new_with_free_func(view_group_free);
	v->rules = partition_rules_new();
	v->by_guid = g_hash_table_new(g_int64_hash, g_int64_equal);
	v->speeds = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	v->could_be = g_hash_table_new_full(NULL, NULL, NULL, g_free);
	v->lost = g_hash_table_new(NULL, NULL);
	for (uint32_t i = 0; i < s->n_ports; i++)
		if (s->ports[i].guid)
			g_hash_table_insert(v->by_guid, &s->ports[i].guid,
					    GUINT_TO_POINTER(i + 1));
	return v;
}

bool
tool_view_has_states(const struct tool_view *v)
{
	return view_lines_first(v->lines, VIEW_HEAD)->n[HEAD_VERSION];
}

char *
tool_view_missing(const struct tool_view *v, const char *word)
{
	const struct expected_fault *f = expected_find(v->lines->expected, word);

	return f ? expected_missing_text(f) : NULL;
}

uint32_t
tool_view_find(const struct tool_view *v, const char *word,
	       enum find_what what, bool *missing, char **why)
{
	g_autofree char *wrong = NULL;
	uint32_t node = port_search_node(v->s, word);
	uint32_t port = what == FIND_CABLE_END ? port_search_any(v->s, word) :
		port_search(v->s, v->lids, word, &wrong);

	if (port == SNAPSHOT_NONE && what == FIND_NODE)
		port = node;
	*why = port == SNAPSHOT_NONE ? tool_view_missing(v, word) : NULL;
	if (missing)
		*missing = *why != NULL;
	if (port != SNAPSHOT_NONE || *why)
		return port;
	if (what != FIND_CABLE_END)
		*why = g_strconcat(wrong, strchr(wrong, '\n') ? "" :
				   expected_hint(v->lines->expected, word),
				   NULL);
	else if (node != SNAPSHOT_NONE)
		*why = g_strdup_printf("%s has several ports: which one is "
			"meant, as %s/1?", word, word);
	else
		*why = g_strdup_printf("%s is no port, or several are: "
			"links has all with cables, as NAME/PORT; the NodeGUID "
			"in place of the name means one node", word);
	return port;
}

char *
tool_view_port_name(const struct tool_view *v, uint32_t port)
{
	return snapshot_full_port_name(v->s, port, v->shared);
}

uint32_t
tool_view_port(const struct tool_view *v, uint64_t guid)
{
	return GPOINTER_TO_UINT(g_hash_table_lookup(v->by_guid, &guid)) - 1;
}

/* LIDs are made up for a fabric without any. In another one a port that has none
 * has none, whatever it is to get. */
static void
forget_made_up(struct lid_map *lids, const struct snapshot *s)
{
	bool has_any = false;

	for (uint32_t port = 0; port < s->n_ports; port++)
		has_any |= s->ports[port].info.lid != LID_NONE;
	for (uint32_t lid = LID_UNICAST_MIN; has_any && lid <= lids->top;
	     lid++) {
		uint32_t port = lids->owner[lid];

		if (port == SNAPSHOT_NONE || s->ports[port].info.lid)
			continue;
		lids->base[port] = LID_NONE;
		lids->owner[lid] = SNAPSHOT_NONE;
	}
}

struct tool_view *
tool_view_read(const char *text, const char *name, GError **error)
{
	struct snapshot *s = net_file_parse(text, name, error);
	unsigned lmc = 0;
	struct tool_view *v;

	if (!s)
		return NULL;
	for (uint32_t p = 0; p < s->n_ports; p++)
		lmc = MAX(lmc, s->ports[p].info.lmc);
	v = view_new(s, name);
	v->lids = lid_assign(s, lmc, NULL, 0, NULL, error);
	if (v->lids) {
		forget_made_up(v->lids, s);
		read_lines(v, v->lines, text);
		index_lost(v);
	}
	v->shared = snapshot_shared_names(s);
	v->whole = v->lft;
	if (v->lids && is_good(v->lines, v->s, name, error))
		return v;
	tool_view_free(v);
	return NULL;
}

bool
tool_view_add(struct tool_view *v, const char *text, const char *name,
	      GError **error)
{
	uint64_t generation = view_lines_first(v->lines, VIEW_HEAD)->n[HEAD_GEN];
	struct view_lines *lines = view_lines_new();
	bool good, same;

	read_lines(v, lines, text);
	same = view_lines_first(lines, VIEW_HEAD)->n[HEAD_GEN] == generation;
	good = is_good(lines, v->s, name, error);
	if (good && !same)
		g_set_error(error, G_FILE_ERROR, G_FILE_ERROR_AGAIN,
			    "the fabric changes");
	view_lines_free(lines);
	return good && same;
}

void
tool_view_free(struct tool_view *v)
{
	if (!v)
		return;
	g_free(v->name);
	snapshot_unref(v->s);
	lid_map_free(v->lids);
	lft_free(v->lft);
	partition_rules_unref(v->rules);
	memberships_unref(v->memberships);
	view_lines_free(v->lines);
	g_ptr_array_unref(v->groups);
	g_hash_table_unref(v->shared);
	g_hash_table_unref(v->by_guid);
	g_hash_table_unref(v->speeds);
	g_hash_table_unref(v->could_be);
	g_hash_table_unref(v->lost);
	g_free(v);
}

/* The text of a file, or the answer of the manager; NULL with an error. g_free. */
static char *
get_text(const struct client_place *place, const char *file,
	 const char *request, GError **error)
{
	g_autoptr(GString) line = g_string_new(request);
	g_autoptr(GString) body = g_string_new(NULL);
	int code;

	if (file)
		return text_read_file(file, error);
	code = client_ask(place, CLIENT_PATIENCE_US, line, body, NULL, NULL,
			     error);
	/* the manager finds what has one meaning */
	if (code == CLIENT_USAGE && g_str_has_prefix(request, "view node "))
		return get_text(place, NULL, "view\n", error);
	if (code > 0)
		g_set_error(error, TOOL_VIEW_ERROR, code, "%s",
			    g_strchomp(body->str));
	return code ? NULL : g_string_free(g_steal_pointer(&body), FALSE);
}

struct tool_view *
tool_view_get(const struct client_place *place, const char *file,
	      const char *request, GError **error)
{
	g_autofree char *text = get_text(place, file, request, error);
	struct tool_view *v = text ? tool_view_read(text, file ? file :
		"the manager's view", error) : NULL;

	if (!v || v->s->n_nodes || g_str_has_prefix(request, "view status"))
		return v;
	text_refuse(error, "%s: it has no nodes; minismctl view writes one "
		    "that has", v->name);
	tool_view_free(v);
	return NULL;
}

bool
tool_view_more(struct tool_view *v, const struct client_place *place,
	       const char *request, GError **error)
{
	g_autofree char *text = get_text(place, NULL, request, error);

	return text && tool_view_add(v, text, "the manager's view", error);
}
