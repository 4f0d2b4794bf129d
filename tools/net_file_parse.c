// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A snapshot from the text that ibnetdiscover writes and ibsim reads. What
 * the blocks look like is in topology/net_file.c.
 *
 * Structs. A net_node for each block, a net_cable for each line of it; the
 * reader has its scanner, and what ibsim carries from one block to the next.
 *
 * Flow:
 *	1. net_read_line()	every line into nodes and cables; what a line
 *				can say wrong by itself is found here
 *	2. match_cable()	ids to nodes; both ends must tell of each other
 *	3. net_build()		nodes, ports, cables into a builder
 *
 * As in ibsim (verified against ibsim-utils 0.10): width=, speed=, extspeed=
 * and devid= hold until the next of their kind, vendid= and sysimgguid= for one
 * node; GUIDs count on from the last one given (a switch takes one, others one
 * and one for each port; ibsim's routers begin with 0, which is no GUID, ours
 * do not), `switchguid+0x10` is relative to the last that was given with "="; a
 * port without words of its own is 4x SDR; "4xEDR" enables all speeds up to
 * EDR, and the link comes up with the best that both ends have enabled. Not as
 * in ibsim: an unknown word is an error, where ibsim skips it: a typing mistake
 * would become another fabric. So are "include", "do" and the like, and aliases
 * (@): ibsim's language beyond a description of nodes.
 *
 * Comments. On a cable line the text after '#' is data if it begins like
 * ibnetdiscover's (a LID, a quoted description, a width), else it is free. A
 * description may have quotes in it: it reaches to the last one on the line.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <string.h>

#include "tools/device.h"
#include "tools/net_file_parse.h"
#include "topology/member.h"
#include "topology/text.h"

/* One block. Its cables are contiguous. */
struct net_node {
	char *id, *desc;
	struct text_place at;
	uint32_t first_cable, n_cables;
	uint16_t lid;		/* port 0's */
	uint8_t lmc;
	bool enhanced_port0;
	struct node_info info;	/* of a CA with cables, its local port follows
				   in net_build() */
};

/* Enabled widths and speeds of one end: PortInfo's masks (IBA 14.2.5.6); XDR is
 * in a mask of its own. */
#define NET_SPEEDS_EXT	15u
#define NET_SPEED_XDR	16u
struct net_rate {
	uint8_t width, speed, speed_ext;
};

/* One line of a block: one end of a cable. */
struct net_cable {
	struct text_place at;
	uint32_t node;
	uint32_t mate;		/* the other end's line; once it is matched */
	char *peer_id;
	unsigned num, peer_num;
	uint64_t guid, peer_guid;	/* 0: not given */
	uint16_t lid;
	uint8_t lmc;
	struct net_rate rate;
};

struct net_reader {
	struct text_scan scan;	/* of one line after the other */
	struct text_place at;	/* the beginning of this line */
	GArray *nodes;		/* struct net_node, in the order of the file */
	GArray *cables;		/* struct net_cable */
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

/* Always false. `at` is in the line that is read. */
#define fail_at(f, place, ...) text_fail(&(f)->scan, place, __VA_ARGS__)
#define fail(f, ...) fail_at(f, text_here(&(f)->scan), __VA_ARGS__)

static struct net_node *
net_node_at(const struct net_reader *f, uint32_t node)
{
	return &g_array_index(f->nodes, struct net_node, node);
}

static struct net_cable *
net_cable_at(const struct net_reader *f, uint32_t cable)
{
	return &g_array_index(f->cables, struct net_cable, cable);
}

/* --- words and numbers --- */

static void
skip_blanks(struct net_reader *f)
{
	f->scan.at += strspn(f->scan.at, " \t");
}

static bool
take_char(struct net_reader *f, char c)
{
	if (*f->scan.at != c)
		return false;
	f->scan.at++;
	return true;
}

/* Takes `word` if the line goes on with it and the word ends there. */
static bool
take_word(struct net_reader *f, const char *word)
{
	size_t len = strlen(word);

	if (strncmp(f->scan.at, word, len) != 0 ||
	    g_ascii_isalnum(f->scan.at[len]))
		return false;
	f->scan.at += len;
	return true;
}

static bool
net_fail_word(struct net_reader *f)
{
	size_t len = strcspn(f->scan.at, " \t");

	return fail(f, "unknown word \"%.*s\"", (int)MIN(len, 40u), f->scan.at);
}

/* Into a number of `size` bytes. Base 0: decimal, 0x hexadecimal, 0 octal, as
 * ibsim reads it. */
static bool
net_take_number(struct net_reader *f, int base, uint64_t min, uint64_t max,
		const char *what, void *out, size_t size)
{
	const char *at = f->scan.at = text_skip_blanks(f->scan.at);
	uint64_t value;
	char *end;

	if (!g_ascii_isxdigit(*at))
		return fail(f, "%s: a number is missing", what);
	errno = 0;
	value = g_ascii_strtoull(at, &end, base);
	if (end == at)
		return fail(f, "%s: a number is missing", what);
	if (errno || value < min || value > max)
		return fail(f, "%s: %.*s is not %" PRIu64 " to %" PRIu64,
			    what, (int)(end - at), at, min, max);
	f->scan.at = end;
	member_store(out, (unsigned)size, value);
	return true;
}

#define TAKE(f, base, min, max, what, out) \
	net_take_number(f, base, min, max, what, out, sizeof(*(out)))

/* "(1001)", hexadecimal with or without 0x; nothing there is fine too. */
static bool
take_guid_in_parens(struct net_reader *f, uint64_t *guid)
{
	if (!take_char(f, '('))
		return true;
	if (!TAKE(f, 16, 0, UINT64_MAX, "PortGUID", guid))
		return false;
	if (!take_char(f, ')'))
		return fail(f, "PortGUID: ) is missing");
	return true;
}

/* "[3]", and what ibnetdiscover -g adds for a chassis: "[ext 5]" */
static bool
net_take_port(struct net_reader *f, unsigned max, unsigned *num)
{
	uint8_t external;

	f->scan.at++;	/* '[': that is how the caller knew */
	if (!TAKE(f, 10, 1, max, "port", num))
		return false;
	if (!take_char(f, ']'))
		return fail(f, "port: ] is missing");
	if (strncmp(f->scan.at, "[ext ", 5) != 0)
		return true;
	f->scan.at += 5;
	if (!TAKE(f, 10, 0, UINT8_MAX, "external port", &external))
		return false;
	return take_char(f, ']') || fail(f, "external port: ] is missing");
}

static bool
take_id(struct net_reader *f, char **id)
{
	const char *end;

	skip_blanks(f);
	if (!take_char(f, '"'))
		return fail(f, "a node id in quotes is missing");
	end = strchr(f->scan.at, '"');
	if (!end || end == f->scan.at)
		return fail(f, "the node id in quotes is %s",
			    end ? "empty" : "not closed");
	*id = g_strndup(f->scan.at, (gsize)(end - f->scan.at));
	f->scan.at = end + 1;
	return true;
}

/* From the quote at hand to the last one on the line. */
static bool
take_description(struct net_reader *f, char **desc)
{
	const char *first = f->scan.at + 1;
	const char *last = strrchr(f->scan.at, '"');

	if (last < first)
		return fail(f, "the description is not closed");
	if (desc)
		*desc = g_strndup(first, (gsize)(last - first));
	f->scan.at = last + 1;
	return true;
}

/* --- widths and speeds --- */

/* "4xEDR": the widths and speeds that ibsim enables for these words. IBA has
 * no code for FDR10, a vendor's; in LinkSpeedActive it is QDR. */
static bool
take_link_words(struct net_reader *f, struct net_rate *rate)
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

		if (strncmp(f->scan.at, widths[w].name, len) != 0)
			continue;
		f->scan.at += len;
		for (size_t i = 0; i < G_N_ELEMENTS(speeds); i++)
			if (take_word(f, speeds[i].name)) {
				*rate = (struct net_rate){
					widths[w].mask, speeds[i].speed,
					speeds[i].speed_ext,
				};
				return true;
			}
		f->scan.at -= len;
	}
	return net_fail_word(f);
}

/* "w=2" and the like on a cable line; v= and m= (ibnetdiscover -f: VLs, MTU)
 * are not used. */
static bool
take_option(struct net_reader *f, struct net_rate *rate)
{
	static const struct {
		const char *word, *what;
		uint8_t min, max;
		int offset;		/* in the rate; -1: not kept */
	} options[] = {
		{ "w=", "width", 1, 31, offsetof(struct net_rate, width) },
		{ "width=", "width", 1, 31, offsetof(struct net_rate, width) },
		{ "s=", "speed", 1, 7, offsetof(struct net_rate, speed) },
		{ "speed=", "speed", 1, 7, offsetof(struct net_rate, speed) },
		{ "e=", "extspeed", 0, 15,
		  offsetof(struct net_rate, speed_ext) },
		{ "extspeed=", "extspeed", 0, 15,
		  offsetof(struct net_rate, speed_ext) },
		{ "v=", "option", 0, UINT8_MAX, -1 },
		{ "m=", "option", 0, UINT8_MAX, -1 },
	};
	uint8_t ignored;

	for (size_t i = 0; i < G_N_ELEMENTS(options); i++) {
		if (!g_str_has_prefix(f->scan.at, options[i].word))
			continue;
		f->scan.at += strlen(options[i].word);
		return TAKE(f, 0, options[i].min, options[i].max,
			    options[i].what, options[i].offset < 0 ? &ignored :
			    (uint8_t *)rate + options[i].offset);
	}
	return net_fail_word(f);
}

/* --- step 1: lines --- */

/* After the number: nothing but blanks and a comment. */
static bool
net_end_of_line(struct net_reader *f)
{
	skip_blanks(f);
	if (*f->scan.at && *f->scan.at != '#')
		return net_fail_word(f);
	return true;
}

/* A "key=value" line; the key is at f->scan.at and is `len` long. */
static bool
read_key(struct net_reader *f, size_t len)
{
	static const struct {
		const char *word;
		enum node_type type;
	} bases[] = {
		{ "switchguid", NODE_SWITCH }, { "caguid", NODE_CA },
		{ "hcaguids", NODE_CA }, { "rtguid", NODE_ROUTER },
	};
	const char *key = f->scan.at;
	uint64_t value;

	f->scan.at += len + 1;
	for (size_t i = 0; i < G_N_ELEMENTS(bases); i++) {
		if (len != strlen(bases[i].word) ||
		    strncmp(key, bases[i].word, len) != 0)
			continue;
		if (!TAKE(f, 0, 0, UINT64_MAX, "GUID", &value))
			return false;
		if (key[len] == '+')	/* relative */
			value += f->base_guid[bases[i].type];
		else
			f->base_guid[bases[i].type] = value;
		f->next_guid[bases[i].type] = value;
		f->port0_guid = 0;
		return take_guid_in_parens(f, &f->port0_guid) &&
			net_end_of_line(f);
	}
	if (strncmp(key, "vendid=", len + 1) == 0)
		return TAKE(f, 0, 0, 0xffffff, "vendid", &f->vendor_id) &&
			net_end_of_line(f);
	if (strncmp(key, "devid=", len + 1) == 0)
		return TAKE(f, 0, 0, UINT16_MAX, "devid", &f->device_id) &&
			net_end_of_line(f);
	f->scan.at = key;
	if (strncmp(key, "sysimgguid=", len + 1) == 0) {
		f->scan.at += len + 1;
		f->no_system = false;
		return TAKE(f, 0, 0, UINT64_MAX, "sysimgguid",
			    &f->system_guid) && net_end_of_line(f);
	}
	if (len == 1)	/* w= is a word of cable lines */
		return net_fail_word(f);
	return take_option(f, &f->rate) && net_end_of_line(f);
}

/* The description behind '#'. Without quotes it ends where ibsim ends it. */
static bool
read_node_desc(struct net_reader *f, struct net_node *node)
{
	static const char *const ends[] = {
		" enhanced port ", " base port ", " lid ", " lmc ",
	};

	f->scan.at++;
	skip_blanks(f);
	if (*f->scan.at == '"')
		return take_description(f, &node->desc);
	for (size_t i = 0; i < G_N_ELEMENTS(ends) && !node->desc; i++) {
		const char *end = strstr(f->scan.at, ends[i]);

		if (!end)
			continue;
		node->desc = g_strndup(f->scan.at, (gsize)(end - f->scan.at));
		f->scan.at = end;
	}
	if (!node->desc) {
		node->desc = g_strdup(f->scan.at);
		f->scan.at += strlen(f->scan.at);
	}
	return true;
}

/* The GUIDs of a node, of which the next one counts on, as in ibsim; and it can
 * be found by its id and NodeGUID. */
static bool
enter_node(struct net_reader *f, struct net_node *node)
{
	gpointer number = GUINT_TO_POINTER(f->nodes->len);
	struct node_info *i = &node->info;
	uint32_t other;

	i->node_guid = f->next_guid[i->node_type];
	i->system_guid = f->no_system ? i->node_guid : f->system_guid;
	i->port_guid = i->node_type != NODE_SWITCH ? i->node_guid + 1 :
		f->port0_guid ? f->port0_guid : i->node_guid;
	i->vendor_id = f->vendor_id;
	i->device_id = f->device_id;
	f->next_guid[i->node_type] += i->node_type == NODE_SWITCH ? 1 :
		1 + i->num_ports;
	f->vendor_id = 0;
	f->no_system = true;
	f->port0_guid = 0;
	if (!i->node_guid)
		return fail_at(f, node->at, "NodeGUID 0 is not valid");
	other = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_id, node->id));
	if (other)
		return fail_at(f, node->at, "node id \"%s\" is that of line %u",
			    node->id, net_node_at(f, other - 1)->at.line);
	other = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_guid,
						     &i->node_guid));
	if (other)
		return fail_at(f, node->at, "NodeGUID 0x%" PRIx64
			    " is that of line %u", i->node_guid,
			    net_node_at(f, other - 1)->at.line);
	g_hash_table_insert(f->by_id, node->id, number);
	g_hash_table_insert(f->by_guid,
			    g_memdup2(&i->node_guid, sizeof(uint64_t)), number);
	f->in_block = true;
	return true;
}

static bool
net_read_node(struct net_reader *f, enum node_type type)
{
	struct net_node *node;

	g_array_set_size(f->nodes, f->nodes->len + 1);
	node = net_node_at(f, f->nodes->len - 1);
	node->info.node_type = (uint8_t)type;
	node->info.local_port = 1;
	node->at = f->at;
	node->first_cable = f->cables->len;
	/* Port 255 would be the "no route" of a linear table (IBA 14.2.5.10) */
	if (!TAKE(f, 10, 1, 254, "number of ports", &node->info.num_ports) ||
	    !take_id(f, &node->id))
		return false;
	skip_blanks(f);
	if (*f->scan.at == '#' && !read_node_desc(f, node))
		return false;
	if (!node->desc)
		node->desc = g_strdup(node->id);
	if (type != NODE_SWITCH)
		return net_end_of_line(f) && enter_node(f, node);
	/* "enhanced port 0 lid 7 lmc 0" */
	for (skip_blanks(f); *f->scan.at; skip_blanks(f)) {
		bool ok = true;

		if (take_word(f, "enhanced port 0"))
			node->enhanced_port0 = true;
		else if (take_word(f, "base port 0"))
			node->enhanced_port0 = false;
		else if (take_word(f, "lid"))
			ok = TAKE(f, 0, 0, UINT16_MAX, "lid", &node->lid);
		else if (take_word(f, "lmc"))
			ok = TAKE(f, 0, 0, LMC_MAX, "lmc", &node->lmc);
		else
			ok = net_fail_word(f);
		if (!ok)
			return false;
	}
	return enter_node(f, node);
}

/*
 * Behind the ids of a cable line. A LID before the description is the own one
 * (of a CA or router), behind it the far one, which the far block has, too.
 * "4xEDR" overrides "w=" in any order, as in ibsim.
 */
static bool
read_cable_words(struct net_reader *f, struct net_cable *cable)
{
	bool own = net_node_at(f, cable->node)->info.node_type != NODE_SWITCH;
	struct net_rate words = { 0 };
	uint16_t far_lid;

	for (skip_blanks(f); *f->scan.at; skip_blanks(f)) {
		bool ok;

		if (take_char(f, '#')) {
			skip_blanks(f);
			/* ibnetdiscover's, or free? */
			if (*f->scan.at != '"' &&
			    !g_ascii_isdigit(*f->scan.at) &&
			    !g_str_has_prefix(f->scan.at, "lid "))
				break;
			continue;
		}
		if (*f->scan.at == '"') {
			own = false;
			ok = take_description(f, NULL);
		} else if (take_word(f, "lid")) {
			ok = TAKE(f, 0, 0, UINT16_MAX, "lid",
				  own ? &cable->lid : &far_lid);
		} else if (own && take_word(f, "lmc")) {
			ok = TAKE(f, 0, 0, LMC_MAX, "lmc", &cable->lmc);
		} else if (g_ascii_isdigit(*f->scan.at)) {
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

static bool
read_cable(struct net_reader *f)
{
	struct net_cable *cable;
	struct net_node *node;

	if (!f->in_block)
		return fail(f, "a port outside of a node's block");
	node = net_node_at(f, f->nodes->len - 1);
	g_array_set_size(f->cables, f->cables->len + 1);
	cable = net_cable_at(f, f->cables->len - 1);
	cable->at = f->at;
	cable->node = f->nodes->len - 1;
	cable->peer_num = 1;
	cable->rate = f->rate;
	if (!net_take_port(f, node->info.num_ports, &cable->num) ||
	    !take_guid_in_parens(f, &cable->guid) ||
	    !take_id(f, &cable->peer_id) ||
	    (*f->scan.at == '[' && !net_take_port(f, 254, &cable->peer_num)) ||
	    !take_guid_in_parens(f, &cable->peer_guid) ||
	    !read_cable_words(f, cable))
		return false;
	/* A port may be listed once: it has one cable. */
	for (uint32_t i = 0; i < node->n_cables; i++) {
		const struct net_cable *old =
			net_cable_at(f, node->first_cable + i);

		if (old->num == cable->num)
			return fail_at(f, f->at, "port %u is cabled in line "
				       "%u", cable->num, old->at.line);
	}
	node->n_cables++;
	return true;
}

static bool
net_read_line(struct net_reader *f)
{
	size_t len;

	f->at = text_here(&f->scan);
	skip_blanks(f);
	if (*f->scan.at == '#')
		return true;
	if (*f->scan.at == '[')
		return read_cable(f);
	f->in_block = false;
	if (!*f->scan.at)
		return true;
	if (take_word(f, "Switch"))
		return net_read_node(f, NODE_SWITCH);
	if (take_word(f, "Ca") || take_word(f, "Hca"))
		return net_read_node(f, NODE_CA);
	if (take_word(f, "Rt"))
		return net_read_node(f, NODE_ROUTER);
	len = strspn(f->scan.at, "abcdefghijklmnopqrstuvwxyz");
	if (len && (f->scan.at[len] == '=' || f->scan.at[len] == '+'))
		return read_key(f, len);
	/* headings of ibnetdiscover -g */
	if (take_word(f, "Chassis") || take_word(f, "Non-Chassis Nodes"))
		return true;
	return net_fail_word(f);
}

/* --- step 2: both ends of a cable --- */

static bool
match_cable(struct net_reader *f, uint32_t c)
{
	struct net_cable *cable = net_cable_at(f, c);
	const struct net_node *near = net_node_at(f, cable->node);
	const struct net_rate *a = &cable->rate, *b = NULL;
	const struct net_node *far;
	uint32_t index;

	index = GPOINTER_TO_UINT(g_hash_table_lookup(f->by_id, cable->peer_id));
	if (!index)
		return fail_at(f, cable->at, "there is no node \"%s\"",
			       cable->peer_id);
	far = net_node_at(f, index - 1);
	if (cable->peer_num > far->info.num_ports)
		return fail_at(f, cable->at, "\"%s\" has no port %u",
			       far->id, cable->peer_num);
	for (uint32_t i = 0; !b && i < far->n_cables; i++) {
		const struct net_cable *mate;

		cable->mate = far->first_cable + i;
		mate = net_cable_at(f, cable->mate);
		if (mate->num == cable->peer_num &&
		    mate->peer_num == cable->num &&
		    strcmp(mate->peer_id, near->id) == 0)
			b = &mate->rate;
	}
	if (!b)
		return fail_at(f, cable->at, "\"%s\"[%u] does not "
			       "say that it is cabled to \"%s\"[%u]", far->id,
			       cable->peer_num, near->id, cable->num);
	/* a link needs a width and a speed that both ends have enabled */
	if (!(a->width & b->width))
		return fail_at(f, cable->at, "no width is enabled at both ends "
			       "(0x%x and 0x%x)", a->width, b->width);
	if (!(a->speed & b->speed))
		return fail_at(f, cable->at, "no speed is enabled at both ends "
			       "(0x%x and 0x%x)", a->speed, b->speed);
	return true;
}

/* --- step 3: the snapshot ---
 * 
 * A file has the nodes and cables; the other attributes are those of a device
 * that was just switched on: links trained and in Init (IBA 7.2.7), MTU 4096,
 * VL0-7. A CA port without a cable was never seen and stays unknown; the
 * exception is port 1 of a CA without any cable, since it may be the local
 * port.
 * 
 * Rates. Each end has a mask of what is enabled and the link comes up with
 * the best that both have, width, speed and extended speed each by itself, as
 * in ibsim. No extended speed in common is no error: it is the older speed
 * then.
 *  */

static uint64_t
port_guid(const struct net_reader *f, const struct net_cable *cable)
{
	if (cable->guid)
		return cable->guid;
	if (net_cable_at(f, cable->mate)->peer_guid)
		return net_cable_at(f, cable->mate)->peer_guid;
	return net_node_at(f, cable->node)->info.node_guid + cable->num;
}

static void
net_build_cable(const struct net_reader *f, struct builder *b, uint32_t c,
		const struct port_info *idle)
{
	const struct net_cable *cable = net_cable_at(f, c);
	const struct net_cable *mate = net_cable_at(f, cable->mate);
	uint32_t index = snapshot_port_of(b->s, cable->node, cable->num);
	struct port_info *info = &b->s->ports[index].info;
	const struct net_rate *own = &cable->rate, *far = &mate->rate;
	uint8_t both = own->speed_ext & far->speed_ext;

	if (net_node_at(f, cable->node)->info.node_type != NODE_SWITCH) {
		device_add_port(b, cable->node, cable->num,
				port_guid(f, cable), idle);
		info->lid = cable->lid;
		info->lmc = cable->lmc;
	}
	info->state = PORT_STATE_INIT;
	info->phys_state = PORT_PHYS_LINK_UP;
	info->width_enabled = info->width_supported = own->width;
	info->width_active = port_widest(own->width & far->width);
	info->speed_enabled = info->speed_supported = own->speed;
	info->speed_active = port_fastest(own->speed & far->speed);
	info->speed_ext_enabled = own->speed_ext & NET_SPEEDS_EXT;
	info->speed_ext_supported = info->speed_ext_enabled;
	info->speed_ext_active = port_fastest(both & NET_SPEEDS_EXT);
	info->speed_ext2_active = both / NET_SPEED_XDR;
	if (c <= cable->mate)
		builder_link(b, index,
			     snapshot_port_of(b->s, mate->node, mate->num));
}

/* Nodes go into the builder in the order of the file: an index of one is an
 * index of the other. NodeInfo is as the port answers that is cabled first (a
 * switch: port 0); the local port is that of the first CA. Without a speed in
 * the text it is the slowest, as in ibsim. */
static struct snapshot *
net_build(const struct net_reader *f)
{
	struct builder *b = builder_new();
	struct port_info idle = device_idle_port;

	idle.speed_enabled = idle.speed_supported = idle.speed_active = 1;
	idle.speed_ext_enabled = idle.speed_ext_supported = 0;
	idle.speed_ext_active = 0;
	for (uint32_t n = 0; n < f->nodes->len; n++) {
		const struct net_node *node = net_node_at(f, n);
		struct node_info info = node->info;
		uint32_t port0;

		if (info.node_type != NODE_SWITCH && node->n_cables) {
			const struct net_cable *first = net_cable_at(f,
							node->first_cable);

			info.local_port = (uint8_t)first->num;
			info.port_guid = port_guid(f, first);
		}
		device_add(b, &info, node->desc, &idle);
		port0 = b->s->nodes[n].first_port;
		if (info.node_type == NODE_CA &&
		    b->s->local_port == SNAPSHOT_NONE)
			b->s->local_port = port0 + info.local_port;
		if (info.node_type != NODE_SWITCH)
			continue;
		b->s->nodes[n].sw.enhanced_port0 = node->enhanced_port0;
		b->s->ports[port0].info.lid = node->lid;
		b->s->ports[port0].info.lmc = node->lmc;
	}
	for (uint32_t c = 0; c < f->cables->len; c++)
		net_build_cable(f, b, c, &idle);
	return builder_finish(b);
}

/* A view (minism-view(5)) has a last line: without it, what is left may be another
 * fabric than the one that was written. */
static bool
is_cut(const char *text)
{
	return (g_str_has_prefix(text, "#view ") ||
		strstr(text, "\n#view ")) && !g_strrstr(text, "\n#end ");
}

struct snapshot *
net_file_parse(const char *text, const char *name, GError **error)
{
	struct net_reader f = {
		.no_system = true,
		.rate = { .width = 3, .speed = 1 },
		.base_guid = { 0, 0x100000, 0x200000, 0x300000 },
		.next_guid = { 0, 0x100000, 0x200000, 0x300000 },
	};
	g_autofree char *lines = g_strdup(text);
	struct snapshot *s = NULL;
	bool ok = true;

	f.nodes = g_array_new(FALSE, TRUE, sizeof(struct net_node));
	f.cables = g_array_new(FALSE, TRUE, sizeof(struct net_cable));
	f.by_id = g_hash_table_new(g_str_hash, g_str_equal);
	f.by_guid = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					  NULL);
	text_scan_init(&f.scan, text, name, NULL);
	f.scan.line = 0;
	for (char *line = lines, *end; ok && line; line = end) {
		end = strchr(line, '\n');
		if (end)
			*end++ = '\0';
		f.scan.line++;
		f.scan.at = f.scan.line_start = g_strchomp(line);
		ok = net_read_line(&f);
	}
	for (uint32_t c = 0; ok && c < f.cables->len; c++)
		ok = match_cable(&f, c);
	ok = text_scan_end(&f.scan, error);
	if (!is_cut(text))
		s = ok ? net_build(&f) : NULL;
	else if (ok)
		text_refuse(error, "%s: " CUT_OFF "its line #end is missing",
			    name);
	else
		g_prefix_error(error, "%s: " CUT_OFF, name);
	for (uint32_t n = 0; n < f.nodes->len; n++) {
		g_free(net_node_at(&f, n)->id);
		g_free(net_node_at(&f, n)->desc);
	}
	for (uint32_t c = 0; c < f.cables->len; c++)
		g_free(net_cable_at(&f, c)->peer_id);
	g_array_free(f.nodes, TRUE);
	g_array_free(f.cables, TRUE);
	g_hash_table_destroy(f.by_id);
	g_hash_table_destroy(f.by_guid);
	return s;
}
