// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is remembered (topology/state_file.h writes it): each file is written to
 * a temporary one in the same folder that is renamed over it, so a crash leaves
 * the old or the new memory. A damaged file is never overwritten: it goes to
 * NAME.damaged, where a person can look at it. LIDs come from the fabric then,
 * an engine finds the ranks anew.
 *
 * A field that a port does not take is remembered by (NodeGUID, port number),
 * for as long as neither the port's link nor its switch has changed. A device
 * that is slow or being reset answers in the same way, so one answer proves
 * nothing; and no address (PORT_FIELDS_ADDRESS) or protection is given up.
 *
 * M_Keys. guid2mkey has the key that each port was given, neighbors the port at
 * the other end of each cable. Both are needed: a port at protection level 2
 * answers no SMP without its key, so which port it is, and with that its key,
 * must be known before it has answered. Keys that are going to be sent are
 * written first, and flushed (DURABLE); else a crash between the Set and the
 * write could leave a port with a key that is recorded nowhere. If the disk does
 * not take them in time, they are not sent. Both files have
 * OpenSM's format, so minism and OpenSM can take over each other's. Read access
 * to them is enough to manage the fabric: they are mode 0600, also when they
 * are set aside.
 */
#include "sm/persist.h"

#include <glib/gstdio.h>
#include <string.h>

#include "sm/config/guid_files.h"
#include "topology/text.h"

/* ------------------------------------------------------------------ files */

enum state_file_end
persist_load_file(struct log *log, const char *subsystem, const char *path,
		  state_file_parse_fn parse, void *data, const char *then)
{
	g_autofree char *told = NULL;
	enum state_file_end end = state_file_load(path, parse, data, &told);

	if (told)
		log_say(log, LOG_WARNING, subsystem, "%s%s", told,
			end == STATE_FILE_NONE ? "" : then);
	return end;
}

/* ------------------------------------------- LIDs, ranks, untaken fields */

#define LID_AWAY_US	((int64_t)30 * 24 * 3600 * G_USEC_PER_SEC)

/* Fields that a port acknowledged and did not take when they were last sent, in
 * the last two heavy sweeps, and in three in a row at some time: those are given
 * up. */
struct untaken {
	uint64_t guid;		/* NodeGUID */
	uint8_t port;
	uint32_t once, twice, given_up;
};

static bool
parse_ranges(const char *text, const char *path, void *data, GError **error)
{
	struct persist *m = data;

	m->ranges = guid2lid_parse(text, path, error);
	return m->ranges != NULL;
}

static bool
parse_ranks(const char *text, const char *path, void *data, GError **error)
{
	struct persist *m = data;

	m->ranks = rank_file_parse(text, path, error);
	return m->ranks != NULL;
}

static bool
parse_disabled(const char *text, const char *path, void *data, GError **error)
{
	struct persist *m = data;
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	uint64_t num;

	for (char **line = lines; *line && (*line)[0]; line++) {
		g_auto(GStrv) words = g_strsplit(*line, " ", 2);
		struct persist_port p = { 0 };

		if (!words[1] ||
		    !text_read_number(words[0], 16, UINT64_MAX, &p.guid) ||
		    !text_read_number(words[1], 0, 254, &num)) {
			g_set_error(error, TEXT_ERROR, TEXT_ERROR_SYNTAX,
				    "%s:%u: damaged", path,
				    (unsigned)(line - lines) + 1);
			g_array_set_size(m->disabled, 0);
			return false;
		}
		p.num = (uint8_t)num;
		g_array_append_val(m->disabled, p);
	}
	return true;
}

static const struct {
	enum state_file which;
	state_file_parse_fn parse;
	const char *then;	/* without the file */
	GFileSetContentsFlags how;
} persist_files[] = {
	[PERSIST_DISABLED] = { STATE_FILE_DISABLED, parse_disabled,
		": ports that this manager disabled stay disabled",
		G_FILE_SET_CONTENTS_DURABLE },
	[PERSIST_LIDS] = { STATE_FILE_LIDS, parse_ranges,
		": LIDs are taken from the fabric",
		G_FILE_SET_CONTENTS_ONLY_EXISTING },
	[PERSIST_RANKS] = { STATE_FILE_RANKS, parse_ranks,
		": the switches get a new order",
		G_FILE_SET_CONTENTS_ONLY_EXISTING },
};

/* Takes the text over. */
static void
persist_save(struct persist *m, enum persist_file file, GString *text)
{
	if (m->writers[file])
		file_writer_put(m->writers[file], text);
	else
		g_string_free(text, TRUE);
}

struct persist *
persist_open(const char *cache_dir, struct beside *disk, struct log *log)
{
	struct persist *m = g_new0(struct persist, 1);

	m->log = log;
	m->untaken = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	m->away = g_hash_table_new_full(g_int64_hash, g_int64_equal, g_free,
					g_free);
	m->disabled = g_array_new(FALSE, FALSE, sizeof(struct persist_port));
	for (unsigned i = 0; cache_dir && i < PERSIST_FILES; i++) {
		g_autofree char *path = state_file_path(cache_dir,
						persist_files[i].which);
		const struct file_writer_params params = {
			.path = path, .subsystem = "memory", .mode = 0666,
			.how = persist_files[i].how,
		};

		persist_load_file(log, "memory", path, persist_files[i].parse,
				  m, persist_files[i].then);
		m->writers[i] = file_writer_new(disk, log, &params);
	}
	if (!m->ranges)
		m->ranges = g_array_new(FALSE, FALSE,
					sizeof(struct lid_range));
	return m;
}

void
persist_free(struct persist *m)
{
	if (!m)
		return;
	g_array_unref(m->ranges);
	g_array_unref(m->untaken);
	g_hash_table_unref(m->away);
	g_array_unref(m->disabled);
	rank_list_free(m->ranks);
	g_free(m->whole_engine);
	for (unsigned i = 0; i < PERSIST_FILES; i++)
		file_writer_free(m->writers[i]);
	g_free(m);
}

/* Takes those ports out that were not seen for LID_AWAY_US; else every HCA that
 * was ever exchanged would enlarge all tables. */
static void
forget_away(struct persist *m, GArray *ranges, const struct lid_map *map,
	    int64_t now)
{
	struct lid_range *r = (void *)ranges->data;
	guint n = 0, n_before = ranges->len;

	for (guint i = 0; i < n_before; i++) {
		const int64_t *since;

		if (lid_map_owner(map, r[i].min) != SNAPSHOT_NONE)
			g_hash_table_remove(m->away, &r[i].guid);
		else if (!(since = g_hash_table_lookup(m->away, &r[i].guid)))
			g_hash_table_insert(m->away,
				g_memdup2(&r[i].guid, sizeof(r[i].guid)),
				g_memdup2(&now, sizeof(now)));
		else if (now - *since >= LID_AWAY_US &&
			 g_hash_table_remove(m->away, &r[i].guid))
			continue;
		r[n++] = r[i];
	}
	g_array_set_size(ranges, n);
	if (n < n_before)
		log_say(m->log, LOG_INFO, "memory", "LIDs of ports that were "
			"not seen for 30 days are free for others: %u ports",
			n_before - n);
}

void
persist_keep_lids(struct persist *m, const struct snapshot *s,
		  const struct lid_map *map, int64_t now)
{
	size_t n = m->ranges->len;
	const struct lid_range *old = (const void *)m->ranges->data;
	GArray *ranges = lid_remember(s, map, old, n);
	const struct lid_range *r = (const void *)ranges->data;
	GString *text;
	bool same;

	/* each heavy sweep comes here */
	for (unsigned f = 0; f < PERSIST_FILES; f++)
		file_writer_retry(m->writers[f]);
	forget_away(m, ranges, map, now);
	same = ranges->len == n;
	/* field by field: a struct has padding */
	for (size_t i = 0; same && i < n; i++)
		same = r[i].guid == old[i].guid && r[i].min == old[i].min &&
			r[i].max == old[i].max;
	g_array_unref(m->ranges);
	m->ranges = ranges;
	if (same)
		return;
	text = g_string_new(NULL);
	guid2lid_format(m->ranges, text);
	persist_save(m, PERSIST_LIDS, text);
}

uint32_t *
persist_ranks(const struct persist *m, const struct snapshot *s,
	      const char **by)
{
	const struct rank_line *line;
	uint32_t *ranks;

	*by = m->ranks ? m->ranks->engine : NULL;
	if (!m->ranks)
		return NULL;
	ranks = g_new(uint32_t, s->n_switches);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		line = rank_list_find(m->ranks,
			s->nodes[s->switches[sw]].info.node_guid);
		ranks[sw] = line ? line->rank : ENGINE_NO_RANK;
	}
	return ranks;
}

/* The switches of the old list (may be NULL) that are not in `s`, and those of
 * `s`, by GUID. */
static GArray *
merge_ranks(const struct rank_list *old, const struct snapshot *s,
	    const uint32_t *ranks)
{
	GArray *lines = g_array_new(FALSE, TRUE, sizeof(struct rank_line));
	struct rank_line line;

	for (guint i = 0; old && i < old->lines->len; i++) {
		uint32_t node;

		line = g_array_index(old->lines, struct rank_line, i);
		node = snapshot_find_node(s, line.guid);
		if (node == SNAPSHOT_NONE ||
		    !snapshot_is_switch(&s->nodes[node]))
			g_array_append_val(lines, line);
	}
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		line.guid = s->nodes[s->switches[sw]].info.node_guid;
		line.rank = ranks[sw];
		g_array_append_val(lines, line);
	}
	g_array_sort(lines, guid_compare);
	return lines;
}

static uint32_t
count_linked(const struct snapshot *s)
{
	uint32_t n = 0;

	for (uint32_t port = 0; port < s->n_ports; port++)
		n += s->ports[port].peer != SNAPSHOT_NONE;
	return n;
}

const char *
persist_engine(const struct persist *m, const struct snapshot *s)
{
	if (m->whole_engine && count_linked(s) >= m->n_linked)
		return m->whole_engine;
	return m->ranks ? m->ranks->in_force : NULL;
}

void
persist_keep_ranks(struct persist *m, const char *engine,
		  const struct snapshot *s, const uint32_t *ranks,
		  bool in_force)
{
	g_autoptr(GString) before = g_string_new(NULL);
	g_autoptr(GString) after = g_string_new(NULL);
	struct rank_list *old = m->ranks, *list = old;
	uint32_t n_linked = count_linked(s);

	if (n_linked >= m->n_linked) {
		g_free(m->whole_engine);
		m->whole_engine = g_strdup(engine);
		m->n_linked = n_linked;
	}
	if (old)
		rank_file_format(old, before);
	/* An engine without ranks leaves those of another as they are. */
	if (ranks || !old)
		list = m->ranks = rank_list_new(engine);
	if (ranks) {
		g_array_unref(list->lines);
		list->lines = merge_ranks(old && strcmp(old->engine, engine) ?
					  NULL : old, s, ranks);
	}
	g_free(list->in_force);
	list->in_force = in_force ? g_strdup(engine) : NULL;
	if (list != old)
		rank_list_free(old);
	rank_file_format(list, after);
	if (!g_string_equal(before, after))
		persist_save(m, PERSIST_RANKS, g_steal_pointer(&after));
}

void
persist_write(const struct persist *m, GString *out)
{
	g_string_append(out, "= guid2lid\n");
	guid2lid_format(m->ranges, out);
	if (!m->ranks)
		return;
	g_string_append(out, "= ranks\n");
	rank_file_format(m->ranks, out);
}

bool
persist_take(struct persist *m, const char *lids, const char *ranks,
	     GError **error)
{
	g_autoptr(GArray) ranges = lids ?
		guid2lid_parse(lids, "guid2lid", error) : NULL;
	struct rank_list *list = ranks ?
		rank_file_parse(ranks, "ranks", error) : NULL;

	if ((lids && !ranges) || (ranks && !list)) {
		rank_list_free(list);
		return false;
	}
	if (ranges) {
		GString *text = g_string_new(NULL);

		g_array_unref(m->ranges);
		m->ranges = g_steal_pointer(&ranges);
		guid2lid_format(m->ranges, text);
		persist_save(m, PERSIST_LIDS, text);
	}
	if (list) {
		rank_list_free(m->ranks);
		m->ranks = list;
		g_clear_pointer(&m->whole_engine, g_free);
		m->n_linked = 0;
		persist_save(m, PERSIST_RANKS, g_string_new(ranks));
	}
	return true;
}

void
persist_keep_disabled(struct persist *m, uint64_t guid, uint8_t num,
		      bool disabled)
{
	const struct persist_port port = { guid, num };
	GString *text = g_string_new(NULL);

	for (guint i = m->disabled->len; i-- > 0;) {
		const struct persist_port *p =
			&g_array_index(m->disabled, struct persist_port, i);

		if (p->guid == guid && p->num == num)
			g_array_remove_index(m->disabled, i);
	}
	if (disabled)
		g_array_append_val(m->disabled, port);
	for (guint i = 0; i < m->disabled->len; i++) {
		const struct persist_port *p =
			&g_array_index(m->disabled, struct persist_port, i);

		g_string_append_printf(text, "0x%016" G_GINT64_MODIFIER
				       "x %u\n", p->guid, p->num);
	}
	persist_save(m, PERSIST_DISABLED, text);
}

/* The entry of a port, if there is one. Ports come in ascending order: `at`
 * goes on from the last one. */
static struct untaken *
find_untaken(GArray *list, guint *at, const struct snapshot *s, uint32_t port)
{
	uint64_t guid = snapshot_node_of(s, port)->info.node_guid;
	uint8_t num = s->ports[port].num;

	for (; *at < list->len; ++*at) {
		struct untaken *u = &g_array_index(list, struct untaken, *at);

		if (u->guid == guid && u->port == num)
			return u;
		if (u->guid > guid || (u->guid == guid && u->port > num))
			return NULL;
	}
	return NULL;
}

uint32_t *
persist_not_sent(struct persist *m, const struct snapshot *s, bool is_repair)
{
	uint32_t *fields = g_new0(uint32_t, s->n_ports);
	GArray *kept;
	guint at = 0;

	if (!m->untaken->len)
		return fields;
	kept = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	for (uint32_t port = 0; port < s->n_ports; port++) {
		struct untaken *u = find_untaken(m->untaken, &at, s, port);
		const struct snapshot_port *p = &s->ports[port];
		const struct snapshot_node *n = &s->nodes[p->node];
		const struct snapshot_node *far = p->peer == SNAPSHOT_NONE ?
			n : snapshot_node_of(s, p->peer);

		/* What was learned no longer holds if the link is or was down,
		 * or may have been. */
		if (!u || (p->num && p->info.state == PORT_STATE_DOWN) ||
		    (snapshot_is_switch(n) && n->sw.port_state_change) ||
		    (snapshot_is_switch(far) && far->sw.port_state_change))
			continue;
		g_array_append_val(kept, *u);
		fields[port] = u->given_up | (is_repair ? u->once &
			~(uint32_t)PORT_FIELDS_ADDRESS : 0);
	}
	g_array_unref(m->untaken);
	m->untaken = kept;
	return fields;
}

void
field_tally_add(struct field_tally *t, uint32_t port, uint32_t fields)
{
	for (unsigned bit = 0; bit < 32; bit++)
		if (fields >> bit & 1 && !t->count[bit]++)
			t->first[bit] = port;
}

char *
field_tally_ports(const struct field_tally *t, unsigned bit,
		  const struct snapshot *s)
{
	uint32_t port = t->first[bit];
	g_autofree char *more = NULL, *place = NULL;

	if (!t->count[bit])
		return NULL;
	place = snapshot_place(s, s->ports[port].node, port);
	if (t->count[bit] > 1)
		more = g_strdup_printf(" and %u more", t->count[bit] - 1);
	return g_strdup_printf("%s%s", place, more ?: "");
}

void
persist_learn(struct persist *m, const struct snapshot *s,
	     const uint32_t *untaken, bool is_repair)
{
	const uint32_t others = ~(PORT_FIELDS_ADDRESS | PORT_FIELDS_GUARD);
	GArray *old = m->untaken;
	struct field_tally fresh = { 0 };
	guint at = 0;

	m->untaken = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	for (uint32_t port = 0; port < s->n_ports; port++) {
		const struct untaken *was = find_untaken(old, &at, s, port);
		struct untaken u = {
			.guid = snapshot_node_of(s, port)->info.node_guid,
			.port = s->ports[port].num,
			.once = untaken ? untaken[port] : 0,
		};

		u.given_up = u.once & PORT_FIELDS_TRAINING;
		if (was && is_repair) {
			u.once |= was->once;
			u.twice = was->twice;
			u.given_up |= was->given_up;
		} else if (was) {
			u.twice = was->once & u.once & others;
			u.given_up |= was->given_up | (was->twice & u.once);
		}
		field_tally_add(&fresh, port,
				u.given_up & ~(was ? was->given_up : 0));
		if (u.once | u.given_up)
			g_array_append_val(m->untaken, u);
	}
	g_array_unref(old);
	for (unsigned bit = 0; bit < 32; bit++) {
		g_autofree char *ports = field_tally_ports(&fresh, bit, s);

		if (!ports)
			continue;
		log_say(m->log, LOG_INFO, "memory", "%s was acknowledged but "
			"not taken%s, so it is not sent again: %s",
			port_field_name(1u << bit),
			1u << bit & PORT_FIELDS_TRAINING ? "" :
			" in three sweeps", ports);
	}
}

/* ----------------------------------------------------------------- M_Keys */

#define KEYS_WAIT_US	(30 * (int64_t)G_USEC_PER_SEC)	/* for the disk */

static bool
parse_keys(const char *text, const char *path, void *data, GError **error)
{
	struct persist_key_file *f = data;

	if (!mkey_db_read(f->ring, f->kind, text, path, error))
		return false;
	g_string_assign(f->held, text);
	return true;
}

/* A file less is being written. */
static void
settle_keys(struct persist_keys *ks)
{
	persist_keys_fn saved = ks->saved;

	if (--ks->n_writing)
		return;
	ks->is_late = false;
	if (!ks->has_failed)
		ks->version = ks->writing;
	persist_keys_forget(ks);
	if (saved)
		saved(!ks->has_failed, ks->data);
}

static void
persist_keys_on_written(bool ok, void *data)
{
	struct persist_key_file *f = data;

	f->is_writing = false;
	if (ok)
		g_string_assign(f->held, f->put->str);
	f->keys->has_failed |= !ok;
	settle_keys(f->keys);
}

static void
persist_keys_on_late(void *data)
{
	struct persist_keys *ks = data;
	persist_keys_fn saved = ks->saved;

	ks->timer = 0;
	ks->saved = NULL;
	ks->is_late = ks->n_writing > 0;
	saved(false, ks->data);
}

struct persist_keys *
persist_keys_open(const char *cache_dir, uint64_t m_key, enum mkey_db_mode mode,
		  struct transport *t, struct beside *disk, struct log *log)
{
	static const enum state_file which[] = {
		[MKEY_DB_KEYS] = STATE_FILE_KEYS,
		[MKEY_DB_CABLES] = STATE_FILE_CABLES,
	};
	struct persist_keys *ks = g_new0(struct persist_keys, 1);
	GStatBuf st;

	ks->transport = t;
	ks->ring = mkey_db_new(m_key, mode);
	for (unsigned i = 0; cache_dir && i < G_N_ELEMENTS(which); i++) {
		struct persist_key_file *f = &ks->files[i];
		g_autofree char *path = state_file_path(cache_dir, which[i]);
		const struct file_writer_params params = {
			.path = path, .subsystem = "keys",
			.how = G_FILE_SET_CONTENTS_DURABLE,
			.mode = PERSIST_OWNER_ONLY,
			.written = persist_keys_on_written, .data = f,
		};

		f->keys = ks;
		f->ring = ks->ring;
		f->held = g_string_new(NULL);
		f->put = g_string_new(NULL);
		f->kind = (enum mkey_db_file)i;
		/* A file that another program wrote may be readable by all:
		 * that is corrected at once, since the next write may be a long
		 * time away. */
		if (!g_lstat(path, &st) && S_ISREG(st.st_mode) &&
		    st.st_mode & 077)
			log_say(log, LOG_WARNING, "keys", "%s was open to "
				"others than its owner (mode %03o)%s", path,
				st.st_mode & 0777,
				g_chmod(path, PERSIST_OWNER_ONLY) ?
				", and that cannot be changed" : "; no longer");
		persist_load_file(log, "keys", path, parse_keys, f, "");
		f->writer = file_writer_new(disk, log, &params);
	}
	ks->version = ks->ring->version;
	return ks;
}

void
persist_keys_close(struct persist_keys *ks)
{
	if (!ks)
		return;
	persist_keys_forget(ks);
	mkey_db_free(ks->ring);
	for (unsigned i = 0; i < G_N_ELEMENTS(ks->files); i++) {
		file_writer_free(ks->files[i].writer);
		if (!ks->files[i].held)
			continue;
		g_string_free(ks->files[i].held, TRUE);
		g_string_free(ks->files[i].put, TRUE);
	}
	g_free(ks);
}

bool
persist_keys_lock(struct persist_keys *ks, const GArray *guids)
{
	bool news = false;

	for (guint i = 0; ks && i < guids->len; i++) {
		uint64_t guid = g_array_index(guids, uint64_t, i);

		news |= g_hash_table_add(ks->ring->locked,
					 g_memdup2(&guid, sizeof(guid)));
	}
	return news;
}

bool
persist_keys_save(struct persist_keys *ks)
{
	uint64_t version;

	if (!ks || !ks->files[0].writer)
		return true;
	version = ks->ring->version;
	if (version == (ks->n_writing ? ks->writing : ks->version))
		return !ks->n_writing;
	ks->writing = version;
	ks->has_failed = false;
	ks->n_writing++;
	for (unsigned i = 0; i < G_N_ELEMENTS(ks->files); i++) {
		struct persist_key_file *f = &ks->files[i];

		g_string_truncate(f->put, 0);
		mkey_db_write(ks->ring, f->kind, f->put);
		if (!f->is_writing && g_string_equal(f->put, f->held))
			continue;
		ks->n_writing += !f->is_writing;
		f->is_writing = true;
		file_writer_put(f->writer, g_string_new(f->put->str));
	}
	settle_keys(ks);
	return ks->version == version;
}

void
persist_keys_await(struct persist_keys *ks, persist_keys_fn saved, void *data)
{
	ks->saved = saved;
	ks->data = data;
	/* Not being written: that has failed already. A disk that hangs must not
	 * delay each sweep. */
	ks->timer = transport_timer_in(ks->transport, ks->n_writing &&
				       !ks->is_late ? KEYS_WAIT_US : 0,
				       persist_keys_on_late, ks);
}

void
persist_keys_forget(struct persist_keys *ks)
{
	transport_timer_clear(ks->transport, &ks->timer);
	ks->saved = NULL;
}
