// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A snapshot from the text that ibnetdiscover writes and ibsim reads. What
 * the blocks look like is in net_file.c.
 *
 * Structs. net_file_net.h has what is read: a net_node for each block, a
 * net_cable for each line of it. `file` is the reader: its place (line, at),
 * and what ibsim carries from one block to the next.
 *
 * Flow:
 *	1. read_line()		every line into nodes and cables; what a line
 *				can say wrong by itself is found here
 *	2. match_cables()	ids to nodes; both ends must tell of each other
 *	3. net_build()		nodes, ports, cables into a builder
 *
 * What is taken over from ibsim (verified against ibsim-utils 0.10): width=,
 * speed=, extspeed= and devid= hold until the next of their kind, vendid= and
 * sysimgguid= for one node; GUIDs count on from the last one given (a switch
 * takes one, others one and one for each port; ibsim's routers begin with 0,
 * which is no GUID, ours do not), `switchguid+0x10` is relative to the last
 * that was given with "="; a port without words of its own is 4x SDR; "4xEDR"
 * enables all speeds up to EDR, and the link comes up with the best that both
 * ends have enabled. What is not: ibsim skips what it does not know, here an
 * unknown word is an error: a typing mistake would become another fabric.
 *
 * Comments. On a cable line the text after '#' is data if it begins like
 * ibnetdiscover's (a LID, a quoted description, a width), else it is free. A
 * description may have quotes in it: it reaches to the last one on the line.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "topology/net_file.h"
#include "topology/net_file_net.h"

struct file {
	const char *name;
	unsigned line;
	const char *at;		/* the rest of the line */
	GError **error;
	struct net net;
	GHashTable *by_id;	/* id -> node + 1 */
	GHashTable *by_guid;	/* uint64_t * -> node + 1 */
	bool in_block;		/* cable lines belong to the last node */
	struct net_rate rate;
	uint32_t vendor_id;
	uint16_t device_id;
	uint64_t system_guid;	/* 0 with no_system: that of the node */
	bool no_system;
	uint64_t port0_guid;	/* of the next switch, 0: as its NodeGUID */
	uint64_t base_guid[NODE_ROUTER + 1], next_guid[NODE_ROUTER + 1];
};

GQuark
net_file_error_quark(void)
{
	return g_quark_from_static_string("minism-netfile-error");
}

/* Every complaint goes through here; always false, for `return fail(...)`. */
G_GNUC_PRINTF(3, 4) static bool
fail(struct file *f, unsigned line, const char *format, ...)
{
	va_list args;
	char *text;

	va_start(args, format);
	text = g_strdup_vprintf(format, args);
	va_end(args);
	g_set_error(f->error, NET_FILE_ERROR, NET_FILE_ERROR_SYNTAX,
		    "%s:%u: %s", f->name, line, text);
	g_free(text);
	return false;
}

/* --- words and numbers --- */

static void
skip_blanks(struct file *f)
{
	f->at += strspn(f->at, " \t");
}

static bool
take_char(struct file *f, char c)
{
	if (*f->at != c)
		return false;
	f->at++;
	return true;
}

/* Takes `word` if the line goes on with it and the word ends there. */
static bool
take_word(struct file *f, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(f->at, word, len) != 0 ||
	    g_ascii_isalnum(f->at[len]))
		return false;
	f->at += len;
	return true;
}

static bool
fail_word(struct file *f)
{
	size_t len = strcspn(f->at, " \t");

	return fail(f, f->line, "unknown word \"%.*s\"", (int)MIN(len, 40u),
		    f->at);
}

static bool
take_number(struct file *f, int base, uint64_t min, uint64_t max,
	    const char *what, uint64_t *value)
{
	char *end;

	if (!g_ascii_isxdigit(*f->at))
		return fail(f, f->line, "%s: a number is missing", what);
	errno = 0;
	*value = g_ascii_strtoull(f->at, &end, base);
	if (end == f->at)
		return fail(f, f->line, "%s: a number is missing", what);
	if (errno || *value < min || *value > max)
		return fail(f, f->line, "%s: %.*s is not %" PRIu64 " to %"
			    PRIu64, what, (int)(end - f->at), f->at, min, max);
	f->at = end;
	return true;
}

/* "(1001)", hexadecimal with or without 0x; nothing there is fine too. */
static bool
take_guid_in_parens(struct file *f, uint64_t *guid)
{
	if (!take_char(f, '('))
		return true;
	if (!take_number(f, 16, 0, UINT64_MAX, "PortGUID", guid))
		return false;
	if (!take_char(f, ')'))
		return fail(f, f->line, "PortGUID: ) is missing");
	return true;
}

/* "[3]", and what ibnetdiscover -g adds for a chassis: "[ext 5]" */
static bool
take_port(struct file *f, unsigned max, unsigned *num)
{
	uint64_t value;

	f->at++;	/* '[': that is how the caller knew */
	if (!take_number(f, 10, 1, max, "port", &value))
		return false;
	if (!take_char(f, ']'))
		return fail(f, f->line, "port: ] is missing");
	*num = (unsigned)value;
	if (strncmp(f->at, "[ext ", 5) != 0)
		return true;
	f->at += 5;
	if (!take_number(f, 10, 0, UINT8_MAX, "external port", &value))
		return false;
	if (!take_char(f, ']'))
		return fail(f, f->line, "external port: ] is missing");
	return true;
}

static bool
take_id(struct file *f, char **id)
{
	const char *end;

	skip_blanks(f);
	if (!take_char(f, '"'))
		return fail(f, f->line, "a node id in quotes is missing");
	end = strchr(f->at, '"');
	if (!end || end == f->at)
		return fail(f, f->line, "the node id in quotes is %s",
			    end ? "empty" : "not closed");
	*id = g_strndup(f->at, (gsize)(end - f->at));
	f->at = end + 1;
	return true;
}

/* From the quote at hand to the last one on the line. */
static bool
take_description(struct file *f, char **desc)
{
	const char *first = f->at + 1;
	const char *last = strrchr(f->at, '"');

	if (last < first)
		return fail(f, f->line, "the description is not closed");
	if (desc)
		*desc = g_strndup(first, (gsize)(last - first));
	f->at = last + 1;
	return true;
}

static bool
take_lid(struct file *f, uint16_t *lid)
{
	uint64_t value;

	skip_blanks(f);
	if (!take_number(f, 0, 0, UINT16_MAX, "lid", &value))
		return false;
	*lid = (uint16_t)value;
	return true;
}

static bool
take_byte(struct file *f, uint8_t min, uint8_t max, const char *what,
	  uint8_t *byte)
{
	uint64_t value;

	skip_blanks(f);
	if (!take_number(f, 0, min, max, what, &value))
		return false;
	*byte = (uint8_t)value;
	return true;
}

/* --- widths and speeds --- */

/* "4xEDR": the widths and speeds that ibsim enables for these words. IBA has
 * no code for FDR10, a vendor's; in LinkSpeedActive it is QDR. */
static bool
take_link_words(struct file *f, struct net_rate *rate)
{
	static const struct {
		const char *name;
		uint8_t mask;
	} widths[] = {
		{ "1x", 1 }, { "2x", 16 }, { "4x", 3 }, { "8x", 4 },
		{ "12x", 11 },
	};
	static const struct {
		const char *name;
		uint8_t speed, speed_ext;
	} speeds[] = {
		{ "SDR", 1, 0 }, { "DDR", 3, 0 }, { "QDR", 7, 0 },
		{ "FDR10", 7, 0 }, { "FDR", 7, 1 }, { "EDR", 7, 3 },
		{ "HDR", 7, 7 }, { "NDR", 7, 15 },
		{ "XDR", 7, 31 },
	};

	for (size_t w = 0; w < G_N_ELEMENTS(widths); w++) {
		size_t len = strlen(widths[w].name);

		if (strncmp(f->at, widths[w].name, len) != 0)
			continue;
		for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++) {
			const char *word = f->at;

			f->at += len;
			if (take_word(f, speeds[i].name)) {
				rate->width = widths[w].mask;
				rate->speed = speeds[i].speed;
				rate->speed_ext = speeds[i].speed_ext;
				return true;
			}
			f->at = word;
		}
	}
	return fail_word(f);
}

static bool
take_width(struct file *f, struct net_rate *rate)
{
	return take_byte(f, 1, 31, "width", &rate->width);
}

static bool
take_speed(struct file *f, struct net_rate *rate)
{
	return take_byte(f, 1, 7, "speed", &rate->speed);
}

static bool
take_extspeed(struct file *f, struct net_rate *rate)
{
	return take_byte(f, 0, 15, "extspeed", &rate->speed_ext);
}

/* "w=2" and the like on a cable line; v= and m= (ibnetdiscover -f: VLs, MTU)
 * tell what a snapshot from a file does not keep. */
static bool
take_option(struct file *f, struct net_rate *rate)
{
	const char *option = f->at;
	size_t len = strcspn(option, "= \t");
	uint8_t ignored;

	if (option[len] != '=')
		return fail_word(f);
	f->at += len + 1;
	if (strncmp(option, "w=", 2) == 0 || strncmp(option, "width=", 6) == 0)
		return take_width(f, rate);
	if (strncmp(option, "s=", 2) == 0 || strncmp(option, "speed=", 6) == 0)
		return take_speed(f, rate);
	if (strncmp(option, "e=", 2) == 0 ||
	    strncmp(option, "extspeed=", 9) == 0)
		return take_extspeed(f, rate);
	if (strncmp(option, "v=", 2) == 0 || strncmp(option, "m=", 2) == 0)
		return take_byte(f, 0, UINT8_MAX, "option", &ignored);
	f->at = option;
	return fail_word(f);
}

/* --- step 1: lines --- */

/* After the number: nothing but blanks and a comment. */
static bool
end_of_line(struct file *f)
{
	skip_blanks(f);
	if (*f->at && *f->at != '#')
		return fail_word(f);
	return true;
}

static bool
read_guid_base(struct file *f, enum node_type type, bool relative)
{
	uint64_t value;

	if (!take_number(f, 0, 0, UINT64_MAX, "GUID", &value))
		return false;
	if (relative)
		value += f->base_guid[type];
	else
		f->base_guid[type] = value;
	f->next_guid[type] = value;
	f->port0_guid = 0;
	return take_guid_in_parens(f, &f->port0_guid);
}

static bool
read_vendid(struct file *f)
{
	uint64_t value;

	if (!take_number(f, 0, 0, 0xffffff, "vendid", &value))
		return false;
	f->vendor_id = (uint32_t)value;
	return true;
}

static bool
read_devid(struct file *f)
{
	uint64_t value;

	if (!take_number(f, 0, 0, UINT16_MAX, "devid", &value))
		return false;
	f->device_id = (uint16_t)value;
	return true;
}

static bool
read_sysimgguid(struct file *f)
{
	f->no_system = false;
	return take_number(f, 0, 0, UINT64_MAX, "sysimgguid",
			   &f->system_guid);
}

/* A "key=value" line; the key is at f->at and is `len` long. */
static bool
read_key(struct file *f, size_t len)
{
	static const struct {
		const char *word;
		enum node_type type;
	} bases[] = {
		{ "switchguid", NODE_SWITCH }, { "caguid", NODE_CA },
		{ "hcaguids", NODE_CA }, { "rtguid", NODE_ROUTER },
	};
	const char *key = f->at;
	bool relative = key[len] == '+';

	f->at += len + 1;
	for (size_t i = 0; i < G_N_ELEMENTS(bases); i++)
		if (len == strlen(bases[i].word) &&
		    strncmp(key, bases[i].word, len) == 0)
			return read_guid_base(f, bases[i].type, relative) &&
			       end_of_line(f);
	if (strncmp(key, "vendid=", len + 1) == 0)
		return read_vendid(f) && end_of_line(f);
	if (strncmp(key, "devid=", len + 1) == 0)
		return read_devid(f) && end_of_line(f);
	if (strncmp(key, "sysimgguid=", len + 1) == 0)
		return read_sysimgguid(f) && end_of_line(f);
	if (strncmp(key, "width=", len + 1) == 0)
		return take_width(f, &f->rate) && end_of_line(f);
	if (strncmp(key, "speed=", len + 1) == 0)
		return take_speed(f, &f->rate) && end_of_line(f);
	if (strncmp(key, "extspeed=", len + 1) == 0)
		return take_extspeed(f, &f->rate) && end_of_line(f);
	f->at = key;
	return fail_word(f);
}

/* The description behind '#'. Without quotes it ends where ibsim ends it. */
static bool
read_node_desc(struct file *f, struct net_node *node)
{
	static const char *const ends[] = {
		" enhanced port ", " base port ", " lid ", " lmc ",
	};

	f->at++;
	skip_blanks(f);
	if (*f->at == '"')
		return take_description(f, &node->desc);
	for (size_t i = 0; i < G_N_ELEMENTS(ends) && !node->desc; i++) {
		const char *end = strstr(f->at, ends[i]);

		if (!end)
			continue;
		node->desc = g_strndup(f->at, (gsize)(end - f->at));
		f->at = end;
	}
	if (!node->desc) {
		node->desc = g_strdup(f->at);
		f->at += strlen(f->at);
	}
	return true;
}

/* "enhanced port 0 lid 7 lmc 0" */
static bool
read_port0(struct file *f, struct net_node *node)
{
	for (skip_blanks(f); *f->at; skip_blanks(f)) {
		bool ok = true;

		if (take_word(f, "enhanced port 0"))
			node->enhanced_port0 = true;
		else if (take_word(f, "base port 0"))
			node->enhanced_port0 = false;
		else if (take_word(f, "lid"))
			ok = take_lid(f, &node->lid);
		else if (take_word(f, "lmc"))
			ok = take_byte(f, 0, LMC_MAX, "lmc", &node->lmc);
		else
			ok = fail_word(f);
		if (!ok)
			return false;
	}
	return true;
}

/* The GUIDs of this node; the next one counts on from here, as in ibsim. */
static void
take_guids(struct file *f, struct net_node *node)
{
	node->guid = f->next_guid[node->type];
	node->system_guid = f->no_system ? node->guid : f->system_guid;
	node->port0_guid = f->port0_guid ? f->port0_guid : node->guid;
	f->next_guid[node->type] += 1;
	if (node->type != NODE_SWITCH)
		f->next_guid[node->type] += node->n_ports;
	node->vendor_id = f->vendor_id;
	node->device_id = f->device_id;
	f->vendor_id = 0;
	f->no_system = true;
	f->port0_guid = 0;
}

static bool
enter_node(struct file *f, struct net_node *node)
{
	uint32_t index = f->net.nodes->len;
	uint32_t other;
	uint64_t *guid;

	if (!node->guid)
		return fail(f, f->line, "NodeGUID 0 is nobody's");
	other = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_id, node->id));
	if (other)
		return fail(f, f->line, "node id \"%s\" is that of line %u",
			    node->id, net_node_at(&f->net, other - 1)->line);
	other = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_guid,
						     &node->guid));
	if (other)
		return fail(f, f->line, "NodeGUID 0x%" PRIx64
			    " is that of line %u", node->guid,
			    net_node_at(&f->net, other - 1)->line);
	g_array_append_vals(f->net.nodes, node, 1);
	g_hash_table_insert(f->by_id, node->id, GUINT_TO_POINTER(index + 1));
	guid = g_new(uint64_t, 1);
	*guid = node->guid;
	g_hash_table_insert(f->by_guid, guid, GUINT_TO_POINTER(index + 1));
	f->in_block = true;
	return true;
}

static bool
read_header(struct file *f, struct net_node *node)
{
	uint64_t n_ports;

	skip_blanks(f);
	/* Port 255 would be the "no route" of a linear table (IBA 14.2.5.10) */
	if (!take_number(f, 10, 1, 254, "number of ports", &n_ports) ||
	    !take_id(f, &node->id))
		return false;
	node->n_ports = (unsigned)n_ports;
	skip_blanks(f);
	if (*f->at == '#' && !read_node_desc(f, node))
		return false;
	if (!node->desc)
		node->desc = g_strdup(node->id);
	if (node->type != NODE_SWITCH)
		return end_of_line(f);
	return read_port0(f, node);
}

static bool
read_node(struct file *f, enum node_type type)
{
	struct net_node node = {
		.type = type,
		.line = f->line,
		.first_cable = f->net.cables->len,
	};

	if (read_header(f, &node)) {
		take_guids(f, &node);
		if (enter_node(f, &node))
			return true;
	}
	g_free(node.id);
	g_free(node.desc);
	return false;
}

/* What follows '#' on a cable line, is it ibnetdiscover's or free? */
static bool
is_data(const char *comment)
{
	return *comment == '"' || g_ascii_isdigit(*comment) ||
	       g_str_has_prefix(comment, "lid ");
}

/*
 * Behind the ids of a cable line. A LID before the description is the own one
 * (of a CA or router), behind it the far one, which the far block says anyway.
 * "4xEDR" goes before "w=", wherever it stands, as in ibsim.
 */
static bool
read_cable_words(struct file *f, struct net_cable *cable)
{
	bool own = net_node_at(&f->net, cable->node)->type != NODE_SWITCH;
	struct net_rate words = { 0 };
	uint16_t far_lid;

	for (skip_blanks(f); *f->at; skip_blanks(f)) {
		bool ok;

		if (take_char(f, '#')) {
			skip_blanks(f);
			if (!is_data(f->at))
				break;
			continue;
		}
		if (*f->at == '"') {
			own = false;
			ok = take_description(f, NULL);
		} else if (take_word(f, "lid")) {
			ok = take_lid(f, own ? &cable->lid : &far_lid);
		} else if (own && take_word(f, "lmc")) {
			ok = take_byte(f, 0, LMC_MAX, "lmc", &cable->lmc);
		} else if (g_ascii_isdigit(*f->at)) {
			ok = take_link_words(f, &words);
		} else {
			ok = take_option(f, &cable->rate);
		}
		if (!ok)
			return false;
	}
	if (words.width)
		cable->rate = words;
	return true;
}

/* Nothing may stand twice: a port has one cable. */
static bool
enter_cable(struct file *f, const struct net_cable *cable)
{
	struct net_node *node = net_node_at(&f->net, cable->node);

	for (uint32_t i = 0; i < node->n_cables; i++) {
		const struct net_cable *old;

		old = net_cable_at(&f->net, node->first_cable + i);
		if (old->num == cable->num)
			return fail(f, f->line, "port %u is cabled in line %u",
				    cable->num, old->line);
	}
	node->n_cables++;
	g_array_append_vals(f->net.cables, cable, 1);
	return true;
}

static bool
read_cable(struct file *f)
{
	struct net_cable cable = {
		.line = f->line,
		.node = f->net.nodes->len - 1,
		.peer_num = 1,
		.rate = f->rate,
	};
	const struct net_node *node;
	bool ok;

	if (!f->in_block)
		return fail(f, f->line, "a port outside of a node's block");
	node = net_node_at(&f->net, cable.node);
	ok = take_port(f, node->n_ports, &cable.num) &&
	     take_guid_in_parens(f, &cable.guid) &&
	     take_id(f, &cable.peer_id) &&
	     (*f->at != '[' || take_port(f, 254, &cable.peer_num)) &&
	     take_guid_in_parens(f, &cable.peer_guid) &&
	     read_cable_words(f, &cable) && enter_cable(f, &cable);
	if (!ok)
		g_free(cable.peer_id);
	return ok;
}

/* ibsim's language beyond a description of nodes, and the headings of
 * ibnetdiscover -g. */
static bool
read_other(struct file *f)
{
	static const char *const refused[] = {
		"include", "do", "module", "pdebug",
	};

	if (take_word(f, "Chassis") || take_word(f, "Non-Chassis Nodes"))
		return true;
	for (size_t i = 0; i < G_N_ELEMENTS(refused); i++)
		if (take_word(f, refused[i]))
			return fail(f, f->line, "\"%s\" is not supported",
				    refused[i]);
	if (*f->at == '@')
		return fail(f, f->line, "aliases (@) are not supported");
	return fail_word(f);
}

static bool
read_line(struct file *f)
{
	size_t len;

	skip_blanks(f);
	if (*f->at == '#')
		return true;
	if (*f->at == '[')
		return read_cable(f);
	f->in_block = false;
	if (!*f->at)
		return true;
	if (take_word(f, "Switch"))
		return read_node(f, NODE_SWITCH);
	if (take_word(f, "Ca") || take_word(f, "Hca"))
		return read_node(f, NODE_CA);
	if (take_word(f, "Rt"))
		return read_node(f, NODE_ROUTER);
	len = strspn(f->at, "abcdefghijklmnopqrstuvwxyz");
	if (len && (f->at[len] == '=' || f->at[len] == '+'))
		return read_key(f, len);
	return read_other(f);
}

static bool
read_lines(struct file *f, const char *text)
{
	bool ok = true;

	while (ok && *text) {
		size_t len = strcspn(text, "\n");
		char *line = g_strndup(text, len);

		f->line++;
		f->at = g_strchomp(line);
		ok = read_line(f);
		g_free(line);
		text += len;
		if (*text)
			text++;
	}
	return ok;
}

/* --- step 2: both ends of a cable --- */

static bool
match_cable(struct file *f, uint32_t c)
{
	struct net_cable *cable = net_cable_at(&f->net, c);
	const struct net_node *near = net_node_at(&f->net, cable->node);
	const struct net_node *far;
	uint32_t index;

	index = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_id,
						     cable->peer_id));
	if (!index)
		return fail(f, cable->line, "there is no node \"%s\"",
			    cable->peer_id);
	far = net_node_at(&f->net, index - 1);
	if (cable->peer_num > far->n_ports)
		return fail(f, cable->line, "\"%s\" has no port %u", far->id,
			    cable->peer_num);
	for (uint32_t i = 0; i < far->n_cables; i++) {
		const struct net_cable *mate;

		cable->mate = far->first_cable + i;
		mate = net_cable_at(&f->net, cable->mate);
		if (mate->num == cable->peer_num &&
		    mate->peer_num == cable->num &&
		    strcmp(mate->peer_id, near->id) == 0)
			return true;
	}
	return fail(f, cable->line,
		    "\"%s\"[%u] does not say that it is cabled to \"%s\"[%u]",
		    far->id, cable->peer_num, near->id, cable->num);
}

/* A link needs a width and a speed that both ends have enabled. */
static bool
match_rates(struct file *f, const struct net_cable *cable)
{
	const struct net_rate *a = &cable->rate;
	const struct net_rate *b = &net_cable_at(&f->net, cable->mate)->rate;

	if (!(a->width & b->width))
		return fail(f, cable->line, "no width is enabled at both ends "
			    "(0x%x and 0x%x)", a->width, b->width);
	if (!(a->speed & b->speed))
		return fail(f, cable->line, "no speed is enabled at both ends "
			    "(0x%x and 0x%x)", a->speed, b->speed);
	return true;
}

static bool
match_cables(struct file *f)
{
	bool ok = true;

	for (uint32_t c = 0; ok && c < f->net.cables->len; c++)
		ok = match_cable(f, c) &&
		     match_rates(f, net_cable_at(&f->net, c));
	return ok;
}

static void
file_clear(struct file *f)
{
	for (uint32_t n = 0; n < f->net.nodes->len; n++) {
		g_free(net_node_at(&f->net, n)->id);
		g_free(net_node_at(&f->net, n)->desc);
	}
	for (uint32_t c = 0; c < f->net.cables->len; c++)
		g_free(net_cable_at(&f->net, c)->peer_id);
	g_array_free(f->net.nodes, TRUE);
	g_array_free(f->net.cables, TRUE);
	g_hash_table_destroy(f->by_id);
	g_hash_table_destroy(f->by_guid);
}

struct snapshot *
net_file_parse(const char *text, const char *name, GError **error)
{
	struct file f = {
		.name = name,
		.error = error,
		.no_system = true,
		.rate = { .width = 3, .speed = 1 },
		.base_guid = { 0, 0x100000, 0x200000, 0x300000 },
		.next_guid = { 0, 0x100000, 0x200000, 0x300000 },
	};
	struct snapshot *s = NULL;

	f.net.nodes = g_array_new(FALSE, FALSE, sizeof(struct net_node));
	f.net.cables = g_array_new(FALSE, FALSE, sizeof(struct net_cable));
	f.by_id = g_hash_table_new(g_str_hash, g_str_equal);
	f.by_guid = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					  NULL);
	if (read_lines(&f, text) && match_cables(&f))
		s = net_build(&f.net);
	file_clear(&f);
	return s;
}
