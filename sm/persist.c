// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * What is remembered of ports and switches.
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

#include <string.h>

#include "sm/state.h"
#include "topology/each.h"
#include "topology/text.h"

/* ------------------------------------------- LIDs, ranks, untaken fields */

/* Fields that a port acknowledged and did not take when they were last sent, in
 * the last two heavy sweeps, and in three in a row at some time: those are given
 * up. */
struct untaken {
	uint64_t guid;		/* NodeGUID */
	uint8_t port;
	uint32_t once, twice, given_up;
};

struct rank_line {
	uint64_t guid;		/* NodeGUID */
	uint32_t rank;
};

struct persist *
persist_new(struct log *log)
{
	struct persist *m = g_new0(struct persist, 1);

	m->log = log;
	m->lids.ranges = g_array_new(FALSE, FALSE, sizeof(struct lid_range));
	m->ranks = g_array_new(FALSE, TRUE, sizeof(struct rank_line));
	m->untaken = g_array_new(FALSE, FALSE, sizeof(struct untaken));
	m->disabled = g_array_new(FALSE, FALSE, sizeof(struct persist_port));
	return m;
}

void
persist_free(struct persist *m)
{
	if (!m)
		return;
	g_array_unref(m->lids.ranges);
	g_array_unref(m->ranks);
	g_array_unref(m->untaken);
	g_array_unref(m->disabled);
	g_free(m->engine);
	g_free(m->in_force);
	g_free(m->whole_engine);
	g_free(m);
}

/* --- as text --- */

struct saved_engine {
	char *name;
};

static const struct state_word engine_words[] = {
	STATE_WORD(saved_engine, name, "engine", STATE_NAME, 0, 0),
};

static const struct state_word rank_words[] = {
	STATE_WORD(rank_line, guid, "NodeGUID", 16, 0, UINT64_MAX),
	STATE_WORD(rank_line, rank, "rank", 0, 0, ENGINE_NO_RANK - 1),
};

static const struct state_word disabled_words[] = {
	STATE_WORD(persist_port, guid, "NodeGUID", 16, 0, UINT64_MAX),
	STATE_WORD(persist_port, num, "port", 0, 0, 254),
};

static bool
take_engine(void *owner, void *members, int64_t now, GError **error)
{
	struct persist *m = owner;

	if (m->engine)
		return text_refuse(error, "a second engine");
	m->engine = g_strdup(((struct saved_engine *)members)->name);
	m->in_force = g_strdup(m->engine);
	return true;
}

static bool
take_in_force(void *owner, void *members, int64_t now, GError **error)
{
	const struct saved_engine *e = members;
	struct persist *m = owner;

	if (!m->engine)
		return text_refuse(error, "no engine made the ranks");
	g_free(m->in_force);
	m->in_force = strcmp(e->name, "-") ? g_strdup(e->name) : NULL;
	return true;
}

static bool
take_rank(void *owner, void *members, int64_t now, GError **error)
{
	struct persist *m = owner;

	return m->engine ? state_line_insert(m->ranks, members, error) :
		text_refuse(error, "no engine made the ranks");
}

static bool
has_disabled(const struct persist *m, uint64_t guid, uint8_t num, guint *at)
{
	for (*at = 0; *at < m->disabled->len; ++*at) {
		const struct persist_port *p =
			&g_array_index(m->disabled, struct persist_port, *at);

		if (p->guid == guid && p->num == num)
			return true;
	}
	return false;
}

static bool
take_disabled(void *owner, void *members, int64_t now, GError **error)
{
	const struct persist_port *p = members;
	struct persist *m = owner;
	guint at;

	if (!has_disabled(m, p->guid, p->num, &at))
		g_array_append_val(m->disabled, *p);
	return true;
}

static const struct state_line persist_lines[] = {
	STATE_LINE("engine", engine_words, saved_engine, take_engine),
	STATE_LINE("in-force", engine_words, saved_engine, take_in_force),
	STATE_LINE("rank", rank_words, rank_line, take_rank),
	STATE_LINE("disabled", disabled_words, persist_port, take_disabled),
	{ .keyword = NULL },
};

static void
persist_save(const void *owner, GString *out, int64_t now)
{
	const struct persist *m = owner;
	const char *in_force = m->in_force ?: "-";

	if (m->engine)
		state_line_save(&persist_lines[0], out, &m->engine);
	if (m->engine && strcmp(in_force, m->engine))
		state_line_save(&persist_lines[1], out, &in_force);
	EACH_ITEM(const struct rank_line, line, m->ranks)
		state_line_save(&persist_lines[2], out, line);
	EACH_ITEM(const struct persist_port, port, m->disabled)
		state_line_save(&persist_lines[3], out, port);
}

/* A port that this manager disabled stays its own. */
static void
persist_clear(void *owner)
{
	struct persist *m = owner;

	g_clear_pointer(&m->engine, g_free);
	g_clear_pointer(&m->in_force, g_free);
	g_clear_pointer(&m->whole_engine, g_free);
	m->n_linked = 0;
	g_array_set_size(m->ranks, 0);
}

const struct state_part persist_part = {
	{ persist_lines }, persist_save, persist_clear, NULL,
};

/* --- LIDs --- */

void
persist_keep_lids(struct persist *m, const struct snapshot *s,
		  const struct lid_map *map)
{
	GArray *before = m->lids.ranges;

	m->lids.ranges = lid_remember(s, map, (const void *)before->data,
				      before->len);
	g_array_unref(before);
	state_save(m->state, &lid_part);
}

/* --- ranks --- */

uint32_t *
persist_ranks(const struct persist *m, const struct snapshot *s,
	      const char **by)
{
	uint32_t *ranks;
	guint i;

	*by = m->engine;
	if (!m->engine)
		return NULL;
	ranks = g_new(uint32_t, s->n_switches);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		uint64_t guid = s->nodes[s->switches[sw]].info.node_guid;

		ranks[sw] = g_array_binary_search(m->ranks, &guid,
						  guid_compare, &i) ?
			g_array_index(m->ranks, struct rank_line, i).rank :
			ENGINE_NO_RANK;
	}
	return ranks;
}

/* The switches that are not in `s` keep their ranks, those of `s` get these. */
static void
merge_ranks(GArray *lines, const struct snapshot *s, const uint32_t *ranks)
{
	struct rank_line line;
	guint n = 0;

	for (guint i = 0; i < lines->len; i++) {
		uint32_t node;

		line = g_array_index(lines, struct rank_line, i);
		node = snapshot_find_node(s, line.guid);
		if (node == SNAPSHOT_NONE ||
		    !snapshot_is_switch(&s->nodes[node]))
			g_array_index(lines, struct rank_line, n++) = line;
	}
	g_array_set_size(lines, n);
	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		line.guid = s->nodes[s->switches[sw]].info.node_guid;
		line.rank = ranks[sw];
		g_array_append_val(lines, line);
	}
	g_array_sort(lines, guid_compare);
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
	return m->in_force;
}

void
persist_keep_ranks(struct persist *m, const char *engine,
		  const struct snapshot *s, const uint32_t *ranks,
		  bool in_force)
{
	uint32_t n_linked = count_linked(s);

	if (n_linked >= m->n_linked) {
		g_free(m->whole_engine);
		m->whole_engine = g_strdup(engine);
		m->n_linked = n_linked;
	}
	/* An engine without ranks leaves those of another as they are. */
	if (ranks && g_strcmp0(m->engine, engine))
		g_array_set_size(m->ranks, 0);
	if (ranks)
		merge_ranks(m->ranks, s, ranks);
	if (ranks || !m->engine) {
		g_free(m->engine);
		m->engine = g_strdup(engine);
	}
	g_free(m->in_force);
	m->in_force = in_force ? g_strdup(engine) : NULL;
	state_save(m->state, &persist_part);
}

void
persist_keep_disabled(struct persist *m, uint64_t guid, uint8_t num,
		      bool disabled)
{
	const struct persist_port port = { guid, num };
	guint at;

	if (has_disabled(m, guid, num, &at))
		g_array_remove_index(m->disabled, at);
	if (disabled)
		g_array_append_val(m->disabled, port);
	state_save(m->state, &persist_part);
}

/* --- untaken fields --- */

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
#define KEYS_PAUSE_US	(G_USEC_PER_SEC / 2)	/* a sweep saves them up to
						   three times */

struct key_file {
	struct mkey_db *ring;
	enum mkey_db_file kind;
};

static bool
take_keys(void *data, const char *line, bool is_cut, GError **error)
{
	const struct key_file *f = data;

	return mkey_db_take(f->ring, f->kind, line, error);
}

static void
read_keys(void *data, char *text, size_t len, struct state_told *told)
{
	state_read_lines(text, len, take_keys, data, told);
}

/* Of one file. */
static void
persist_keys_on_written(const GError *error, void *data)
{
	struct persist_keys *ks = data;
	persist_keys_fn saved = ks->saved;

	if (--ks->n_writing)
		return;
	ks->is_late = false;
	if (file_writer_failure(ks->writers[MKEY_DB_KEYS]) ||
	    file_writer_failure(ks->writers[MKEY_DB_CABLES])) {
		ks->not_before = transport_now(ks->transport) + KEYS_PAUSE_US;
	} else {
		ks->version = ks->writing;
		ks->owes = false;
	}
	persist_keys_forget(ks);
	if (saved)	/* what is owed may have failed, and no key is new */
		saved(ks->version == ks->writing, ks->data);
}

static void
persist_keys_on_late(void *data)
{
	struct persist_keys *ks = data;
	persist_keys_fn saved = ks->saved;

	ks->timer = 0;
	ks->saved = NULL;
	ks->is_late = ks->n_writing;
	saved(false, ks->data);
}

struct persist_keys *
persist_keys_open(const char *cache_dir, bool is_read_only, uint64_t m_key,
		  enum mkey_db_mode mode, struct transport *t,
		  struct beside *disk, struct log *log)
{
	static const enum state_file which[] = {
		[MKEY_DB_KEYS] = STATE_FILE_KEYS,
		[MKEY_DB_CABLES] = STATE_FILE_CABLES,
	};
	struct persist_keys *ks = g_new0(struct persist_keys, 1);

	ks->transport = t;
	ks->ring = mkey_db_new(m_key, mode);
	for (unsigned i = 0; cache_dir && i < G_N_ELEMENTS(which); i++) {
		struct key_file f = { ks->ring, (enum mkey_db_file)i };
		g_autofree char *path = state_file_path(cache_dir, which[i]);
		g_autoptr(GPtrArray) said =
			g_ptr_array_new_with_free_func(g_free);
		struct state_told told = { .n_bad = 0 };
		struct file_writer_params params = {
			.path = path, .subsystem = "keys",
			.how = G_FILE_SET_CONTENTS_DURABLE,
			.mode = STATE_FILE_OWNER_ONLY,
			.written = persist_keys_on_written, .data = ks,
		};

		params.is_unread = !state_file_load(path, is_read_only,
						    read_keys, &f, &told, said);
		ks->owes |= params.is_unread;
		state_told_clear(&told);
		EACH_PTR(const char, line, said)
			log_say(log, LOG_WARNING, "keys", "%s", line);
		if (!is_read_only)
			ks->writers[i] = file_writer_new(disk, log, &params);
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
	for (unsigned i = 0; i < G_N_ELEMENTS(ks->writers); i++)
		file_writer_free(ks->writers[i]);
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

	if (!ks || !ks->writers[MKEY_DB_KEYS])
		return true;
	version = ks->ring->version;
	if ((version == (ks->n_writing ? ks->writing : ks->version) &&
	     (ks->n_writing || !ks->owes)) ||
	    transport_now(ks->transport) < ks->not_before)
		return version == ks->version;
	ks->writing = version;
	ks->n_writing = G_N_ELEMENTS(ks->writers);
	for (unsigned i = 0; i < G_N_ELEMENTS(ks->writers); i++) {
		GString *text = g_string_new(NULL);

		mkey_db_write(ks->ring, (enum mkey_db_file)i, text);
		file_writer_put(ks->writers[i], text);
	}
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
