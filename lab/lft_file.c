// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Forwarding tables of other subnet managers, from their text.
 *
 * Format. A heading for each switch, then a line for each entry: LID, port, and
 * after these whatever the program adds about the LID's owner. Both formats
 * have this in common, so one reader is enough: it reads LID and port and looks
 * for "portguid" in the rest of the line. A heading has the switch's GUID after
 * its first "guid"; the node description comes later and may contain anything.
 * ibroute run with -n prints no owners. Column titles, counts, comments and
 * blank lines are skipped. Everything else is an error: a table with a skipped
 * line would be judged as not reaching that LID.
 *
 * Owners. Each LID of an LMC range is printed with its owner, so the range is
 * the smallest that has the lowest and the highest LID of a PortGUID. All
 * tables of a file must agree on them.
 *
 * Flow. lft_file_parse: lines to tables and owners, both sorted by GUID.
 * lft_file_tables: row by row, found by GUID.
 *
 * Source. Observed: opensm 3.3.23 with -D 0x43, dump_fts and ibroute of
 * infiniband-diags over ibsim.
 */
#include "lab/lft_file.h"

#include <inttypes.h>
#include <string.h>

#include "topology/each.h"
#include "topology/smp_attr.h"
#include "topology/text.h"

struct lft_file_reader {
	unsigned line;
	GError **error;
	struct lft_file *file;
	GHashTable *seen;	/* GUID of a table -> line */
	uint64_t *owner_of;	/* by LID; 0: not known */
};

/* Reads the GUID after `word`. False: there is none. */
static bool
find_guid(const char *text, const char *word, uint64_t *guid)
{
	const char *at = strstr(text, word);

	if (!at)
		return false;
	at += strlen(word);
	return text_take_hex(&at, 16, guid) && *guid != 0;
}

static bool
read_heading(struct lft_file_reader *r, const char *text)
{
	struct lft_file_table table = { .line = r->line };
	gpointer seen;

	if (!find_guid(text, " guid ", &table.guid))
		return text_refuse(r->error, "this heading has no \" guid "
				   "0x..\"");
	seen = g_hash_table_lookup(r->seen, &table.guid);
	if (seen)
		return text_refuse(r->error, "switch 0x%016" PRIx64 " has a "
				   "table at line %u already", table.guid,
				   GPOINTER_TO_UINT(seen));
	g_hash_table_insert(r->seen, g_memdup2(&table.guid, 8),
			    GUINT_TO_POINTER(r->line));
	table.ports = g_byte_array_new();
	g_array_append_val(r->file->tables, table);
	return true;
}

/* Reads "0x0001 003 # .. portguid 0x..: ..": the entry, and the owner of the
 * LID, if it is there. */
static bool
read_entry(struct lft_file_reader *r, const char *text)
{
	GArray *tables = r->file->tables;
	uint64_t lid, port, guid;
	GByteArray *ports;
	const char *start;
	guint len;

	if (!text_take_hex(&text, 4, &lid) || *text != ' ')
		return text_refuse(r->error, "expected a LID of four digits "
				   "and a port");
	start = text = text_skip_blanks(text);
	if (!text_take_digits(&text, 10, LFT_NO_PATH, &port) ||
	    text > start + 3 || (*text && !g_ascii_isspace(*text)))
		return text_refuse(r->error, "expected a port from 0 to 255 "
				   "after the LID");
	if (tables->len == 0)
		return text_refuse(r->error, "an entry before any \"Unicast "
				   "lids .. of switch ..\" heading");
	if (port == LFT_NO_PATH)
		return true;	/* ibroute -a; LID 0 has no other port */
	if (lid < LID_UNICAST_MIN || lid > LID_UNICAST_MAX)
		return text_refuse(r->error, "0x%04x is not a unicast LID",
				   (unsigned)lid);
	ports = g_array_index(tables, struct lft_file_table,
			      tables->len - 1).ports;
	len = ports->len;
	if (lid >= len) {
		g_byte_array_set_size(ports, (guint)lid + 1);
		memset(ports->data + len, (int)LFT_NO_PATH, lid + 1 - len);
	}
	if (ports->data[lid] != LFT_NO_PATH && ports->data[lid] != port)
		return text_refuse(r->error, "LID 0x%04x has port %u here, and "
				   "further up %u", (unsigned)lid,
				   (unsigned)port, ports->data[lid]);
	ports->data[lid] = (uint8_t)port;
	r->file->top = MAX(r->file->top, (uint16_t)lid);
	if (!find_guid(text, "portguid ", &guid))
		return true;
	if (r->owner_of[lid] && r->owner_of[lid] != guid)
		return text_refuse(r->error, "LID 0x%04x is that of PortGUID "
				   "0x%016" PRIx64 ", and further up of 0x%016"
				   PRIx64, (unsigned)lid, guid,
				   r->owner_of[lid]);
	r->owner_of[lid] = guid;
	return true;
}

/* The owners: for each, the range of 2^LMC LIDs (IBA 4.1.3) with all its LIDs,
 * since a LID for which no switch has an entry is not in the file. */
static bool
gather_owners(struct lft_file_reader *r)
{
	g_autoptr(GArray) lids = g_array_new(FALSE, FALSE,
					     sizeof(struct lid_range));
	guint n;

	for (unsigned i = LID_UNICAST_MIN; i <= LID_UNICAST_MAX; i++) {
		struct lid_range own = { r->owner_of[i], (uint16_t)i,
					 (uint16_t)i };

		if (own.guid)
			g_array_append_val(lids, own);
	}
	g_array_sort(lids, guid_compare);	/* stable */
	for (guint i = 0; i < lids->len; i += n) {
		const struct lid_range *lid =
			&g_array_index(lids, struct lid_range, i);
		struct lid_range range;
		unsigned lmc = 0;

		for (n = 1; i + n < lids->len && lid[n].guid == lid->guid; n++)
			;
		while (lid->min >> lmc != lid[n - 1].min >> lmc)
			lmc++;
		if (lmc > LMC_MAX)
			return text_refuse(r->error, "PortGUID 0x%016" PRIx64
					   " has LIDs from 0x%04x to 0x%04x in "
					   "this file, which is no range of a "
					   "port",
					   lid->guid, lid->min,
					   lid[n - 1].min);
		range = (struct lid_range){
			.guid = lid->guid,
			.min = (uint16_t)(lid->min >> lmc << lmc),
			.max = (uint16_t)(lid->min | ((1u << lmc) - 1)),
		};
		if (range.min != LID_NONE)
			g_array_append_val(r->file->owners, range);
	}
	return true;
}

static void
table_clear(gpointer data)
{
	g_byte_array_unref(((struct lft_file_table *)data)->ports);
}

void
lft_file_free(struct lft_file *file)
{
	if (!file)
		return;
	g_free(file->name);
	g_array_unref(file->tables);
	g_array_unref(file->owners);
	g_free(file);
}

/* One line at a time: the text of a large fabric has tens of millions. Blank
 * lines, comments, column titles and counts ("14 lids dumped", "14 valid lids
 * dumped") are skipped. */
static bool
read_lft_lines(struct lft_file_reader *r, const char *text)
{
	g_autoptr(GString) line = g_string_new(NULL);
	const char *stop, *word, *behind;

	for (; *text; text = stop + !!*stop) {
		stop = text + strcspn(text, "\n");
		g_string_truncate(line, 0);
		g_string_append_len(line, text, stop - text);
		r->line++;
		word = text_skip_blanks(line->str);
		if (g_str_has_prefix(word, "0x")) {
			if (!read_entry(r, word))
				return false;
			continue;
		}
		if (g_str_has_prefix(word, "Unicast lids ")) {
			if (!read_heading(r, word))
				return false;
			continue;
		}
		if (!*word || *word == '#' ||
		    g_str_has_prefix(word, "Lid  Out ") ||
		    g_str_has_prefix(word, "Port "))
			continue;
		behind = word + strspn(word, "0123456789");
		if (behind > word &&
		    (g_str_has_prefix(behind, " lids dumped") ||
		     g_str_has_prefix(behind, " valid lids dumped")))
			continue;
		return text_refuse(r->error, "this is not a line of a unicast "
				   "forwarding table");
	}
	return true;
}

struct lft_file *
lft_file_parse(const char *text, const char *name, GError **error)
{
	struct lft_file *file = g_new0(struct lft_file, 1);
	struct lft_file_reader r = {
		.error = error,
		.file = file,
		.seen = g_hash_table_new_full(g_int64_hash, g_int64_equal,
					      g_free, NULL),
		.owner_of = g_new0(uint64_t, LID_UNICAST_MAX + 1u),
	};
	bool ok;

	file->name = g_strdup(name);
	file->tables = g_array_new(FALSE, FALSE,
				   sizeof(struct lft_file_table));
	g_array_set_clear_func(file->tables, table_clear);
	file->owners = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	ok = read_lft_lines(&r, text) && gather_owners(&r);
	g_array_sort(file->tables, guid_compare);
	g_hash_table_unref(r.seen);
	g_free(r.owner_of);
	if (ok)
		return file;
	g_prefix_error(error, "%s:%u: ", name, r.line);
	lft_file_free(file);
	return NULL;
}

/* --- tables for a fabric --- */

/* lines may be NULL. */
G_GNUC_PRINTF(2, 3) static void
note(GPtrArray *lines, const char *format, ...)
{
	va_list args;

	va_start(args, format);
	if (lines)
		g_ptr_array_add(lines, g_strdup_vprintf(format, args));
	va_end(args);
}

/* Notes tables of unknown switches, and owners that have other LIDs or are not
 * in the fabric. */
static void
note_strangers(const struct lft_file *file, const struct snapshot *s,
	       const struct lid_map *lids, GPtrArray *lines)
{
	g_autoptr(GHashTable) ports = g_hash_table_new(g_int64_hash,
						       g_int64_equal);

	EACH_ITEM(const struct lft_file_table, t, file->tables) {
		uint32_t node = snapshot_find_node(s, t->guid);

		if (node == SNAPSHOT_NONE ||
		    !snapshot_is_switch(&s->nodes[node]))
			note(lines, "%s:%u: 0x%016" PRIx64 " is no switch of "
			     "this fabric; its table is passed over",
			     file->name, t->line, t->guid);
	}
	for (uint32_t i = s->n_ports; i-- > 0;)
		if (s->ports[i].guid != 0 && snapshot_is_end_port(s, i))
			g_hash_table_insert(ports, &s->ports[i].guid,
					    GUINT_TO_POINTER(i + 1));
	EACH_ITEM(const struct lid_range, range, file->owners) {
		unsigned port = GPOINTER_TO_UINT(g_hash_table_lookup(ports,
							&range->guid));

		if (!port)
			note(lines, "%s: LID %u is that of PortGUID 0x%016"
			     PRIx64 ", which is not in this fabric",
			     file->name, range->min, range->guid);
		else if (lids->base[port - 1] != range->min)
			note(lines, "%s: LID %u is that of PortGUID 0x%016"
			     PRIx64 ", which has LID %u in this fabric",
			     file->name, range->min, range->guid,
			     lids->base[port - 1]);
	}
}

struct lft *
lft_file_tables(const struct lft_file *file, const struct snapshot *s,
		const struct lid_map *lids, GPtrArray *lines, GError **error)
{
	struct lft *lft = lft_new(s->n_switches, MAX(file->top, lids->top));
	struct lft_file_table key = { 0 };
	const struct snapshot_node *node;
	const GByteArray *ports;
	uint32_t sw, n_bare = 0;
	guint at;

	for (sw = 0; sw < s->n_switches; sw++) {
		node = &s->nodes[s->switches[sw]];
		key.guid = node->info.node_guid;
		if (!g_array_binary_search(file->tables, &key, guid_compare,
					   &at)) {
			n_bare++;
			note(lines, "%s: there is no table of '%s' (0x%016"
			     PRIx64 "); it is taken to be empty", file->name,
			     snapshot_node_name(node), node->info.node_guid);
			continue;
		}
		ports = g_array_index(file->tables, struct lft_file_table,
				      at).ports;
		if (ports->len > 0)
			memcpy(lft_row(lft, sw), ports->data, ports->len);
	}
	if (n_bare == s->n_switches) {
		text_refuse(error, "%s: has %u tables, and none is of a switch "
			    "of this fabric", file->name, file->tables->len);
		lft_free(lft);
		return NULL;
	}
	note_strangers(file, s, lids, lines);
	return lft;
}
