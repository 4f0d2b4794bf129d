// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Programming multicast.
 *
 * Flow. mcast_manager_touch -> a few milliseconds later -> make_trees: the
 * groups' members become (switch, port) pairs, routing/multicast.c computes
 * trees beside the loop, and every block with a group is compared on every
 * switch, in three phases:
 *	read	blocks that are not known: their Set has no answer, or
 *		everything is read again
 *	cut	ports that are no longer in a tree are removed, on all switches
 *	grow	new ports are added
 * Before them our own port is read: is this manager the master still. If groups
 * changed meanwhile, this is repeated. Before an update of unicast
 * there are only the first two, and the ports to be removed are those that the
 * update does not suffer.
 *
 * Safety. While tables are written, a packet may use old entries on one switch
 * and new ones on the next. The old and the new tree together may have a loop,
 * in which a packet would be copied for ever; their intersection has none, nor
 * has a subset of the new tree. Hence cut comes before grow. An unknown block may
 * have each port of before and of the Set, and one that was never read any port: a
 * group does not grow anywhere while a port to another switch may be left in it.
 *
 * Cost. The tables of a switch are kept over sweeps and renumbering, and read
 * again if the switch is new or was reset. Blocks that never had a group of
 * this manager are neither read nor written: to read all blocks of all switches
 * would take longer than everything else. If another manager may have left trees,
 * the first read goes on up to a block that is empty on all switches: these trees
 * and the unicast routes could have a credit loop together. Blocks whose last group
 * has ended are cleared, and leave the end of the tables. The trees in force are an
 * input of the computation, so a member that joins changes the switches of its branch
 * only; after a start the switches are read first.
 */
#include "sm/mcast_manager.h"

#include <string.h>

#include "routing/multicast.h"
#include "sm/mad/bytes.h"
#include "sm/sa/mcmember.h"
#include "sm/sa/sa_db.h"
#include "sm/sweep/election.h"
#include "sm/sweep/smp_batch.h"
#include "sm/sweep/sweep.h"
#include "topology/each.h"

#define BATCH_US	(5 * 1000)	/* joins come in crowds */
#define IN_FLIGHT_MAX	64u
#define RETRY_US	(2 * 1000 * 1000)
#define STEPS_MAX	100000u	/* groups x switches: 15 ms after a join; */
#define STEPS_FIRST	50u	/* times as many where the first trees of a fabric
				   are to be made: 2.9 G instructions for 201
				   groups on a torus of 216 switches */
#define DROPS_MAX	3u	/* then the loop waits, or the next sweep would
				   come before the trees again */
#define BLOCK_BYTES	(2 * MFT_BLOCK)

/* A block of a switch: unknown from the moment when a Set is sent to the one
 * when its answer comes. The Set of a lost answer may have been executed. */
struct mcast_block {
	bool read;		/* at some time */
	bool known;
	uint16_t masks[MFT_BLOCK];	/* else all ports that it may have */
};

/* What trees are laid in, of one fabric: a reference of the manager, and one of
 * each job, which makes the rest when there are groups. */
struct ground {
	struct snapshot *s;
	struct lid_map *lids;
	struct lft *lft;	/* unicast; NULL: not known */
	struct lft *seen;	/* as the switches hold it */
	uint32_t *ranks;
	struct graph *g;	/* of `s`; NULL: not made yet */
	struct channels *channels;	/* of g, see multicast_channels() */
};

static void
ground_clear(gpointer data)
{
	struct ground *ground = data;

	snapshot_unref(ground->s);
	lid_map_free(ground->lids);
	lft_free(ground->lft);
	lft_free(ground->seen);
	g_free(ground->ranks);
	channels_free(ground->channels);
	graph_free(ground->g);
}

static void
ground_unref(struct ground *ground)
{
	g_atomic_rc_box_release_full(ground, ground_clear);
}

struct mcast_manager *
mcast_manager_new(struct sa *sa, struct sweep *sweep)
{
	struct mcast_manager *m = g_new0(struct mcast_manager, 1);

	m->x = sweep->x;
	m->keys = sweep->keys;
	m->sa = sa;
	m->log = sweep->log;
	m->phase = MCAST_REST;
	m->sweep = sweep;
	m->lost = g_ptr_array_new_with_free_func(g_free);
	m->beside = beside_new(m->x->transport, sweep->params.trees_us);
	return m;
}

static void
mcast_stop(struct mcast_manager *m)
{
	m->dropped += m->job != NULL;
	g_clear_pointer(&m->job, beside_cancel);
	mad_client_cancel(m->x, m->look);
	m->look = 0;
	g_clear_pointer(&m->batch, smp_batch_free);
	m->phase = MCAST_REST;
	m->is_preparing = false;
	m->waits = false;
	transport_timer_clear(m->x->transport, &m->timer);
	if (m->s)
		snapshot_unref(m->s);
	m->s = NULL;
	g_clear_pointer(&m->ground, ground_unref);
	g_clear_pointer(&m->told, mft_free);
	g_clear_pointer(&m->stuck, g_free);
}

void
mcast_manager_free(struct mcast_manager *m)
{
	if (!m)
		return;
	mcast_stop(m);
	beside_free(m->beside, 0);
	mft_free(m->wanted);
	g_ptr_array_unref(m->lost);
	mcast_room_note(&m->room, NULL, NULL);
	g_free(m->held);
	g_free(m);
}

static const struct snapshot_node *
switch_at(const struct mcast_manager *m, uint32_t sw)
{
	return &m->s->nodes[m->s->switches[sw]];
}

static uint32_t
count_places(const struct mft *mft)
{
	return mft->n_switches * mft->n_positions * mft->n_blocks;
}

/* Where a block is; false: its switch has no such block, since it has blocks
 * for its ports, and for its groups. */
static bool
find_place(const struct mcast_manager *m, uint32_t i, uint32_t *sw,
	   uint32_t *position, uint32_t *block)
{
	const struct mft *w = m->wanted;
	const struct snapshot_node *n;

	*block = i % w->n_blocks;
	*position = i / w->n_blocks % w->n_positions;
	*sw = i / w->n_blocks / w->n_positions;
	n = switch_at(m, *sw);
	return n->sw_known && *position < mft_positions(n->info.num_ports) &&
		*block * MFT_BLOCK < n->sw.multicast_fdb_cap;
}

/* As the switch holds it; NULL: it is not known. The most that it may have is
 * good enough to take ports out of it. */
static const uint16_t *
held_block(const struct mcast_manager *m, uint32_t i)
{
	const struct mcast_block *h = &m->held[i];

	return h->known || (h->read && m->is_preparing && m->phase == MCAST_CUT) ?
		h->masks : NULL;
}

static bool
has_shape_of(const struct mft *a, const struct mft *b)
{
	return a->n_switches == b->n_switches &&
		a->n_positions == b->n_positions && a->n_blocks == b->n_blocks;
}

/* Takes tables over. What is held moves with them: was[]: by switch, its row in
 * those of before, or SNAPSHOT_NONE; NULL: none has moved. */
static void
set_wanted(struct mcast_manager *m, struct mft *new, const uint32_t *was)
{
	size_t n = (size_t)count_places(new) + 1;
	const struct mft *old = m->wanted;
	uint32_t sw, p, from, row = old ? MIN(old->n_blocks, new->n_blocks) : 0;
	struct mcast_block *held;

	if (old && !was && has_shape_of(old, new)) {	/* as after a join */
		mft_free(m->wanted);
		m->wanted = new;
		return;
	}
	held = g_new0(struct mcast_block, n);
	for (sw = 0; old && sw < new->n_switches; sw++)
		for (p = 0; p < MIN(old->n_positions, new->n_positions); p++) {
			from = was ? was[sw] : sw;
			if (from == SNAPSHOT_NONE)
				continue;
			memcpy(held + (sw * new->n_positions + p) *
			       new->n_blocks, m->held + (from *
			       old->n_positions + p) * old->n_blocks,
			       row * sizeof(*held));
		}
	mft_free(m->wanted);
	g_free(m->held);
	m->wanted = new;
	m->held = held;
}

/* The ports of one position that lead to switches: only those can close a
 * loop. */
static uint16_t
switch_ports(const struct mcast_manager *m, const struct snapshot_node *n,
	     uint32_t position)
{
	unsigned first = position * 16;
	uint16_t mask = 0;

	for (unsigned i = first ? 0 : 1;
	     i < 16 && first + i <= n->info.num_ports; i++) {
		uint32_t peer = m->s->ports[n->first_port + first + i].peer;

		if (peer != SNAPSHOT_NONE &&
		    snapshot_is_switch(snapshot_node_of(m->s, peer)))
			mask |= (uint16_t)(1u << i);
	}
	return mask;
}

/*
 * By MLID from the first one on: 1 if the group must not grow, since a switch
 * may hold a port to another switch that is not in the new tree: the Set of a
 * cut was lost or not taken, or the block was never read. A switch without a
 * port in the new tree cannot copy a packet into it.
 */
static uint8_t *
find_stuck(const struct mcast_manager *m)
{
	const struct mft *w = m->wanted;
	uint8_t *stuck = g_new0(uint8_t, (size_t)w->n_blocks * MFT_BLOCK + 1);
	uint32_t i, k, sw, p, block;
	uint16_t links = 0, to;

	for (i = 0; i < count_places(w); i++) {
		bool has = find_place(m, i, &sw, &p, &block);

		if (block == 0)
			links = switch_ports(m, switch_at(m, sw), p);
		for (k = 0; has && links && k < MFT_BLOCK; k++) {
			to = mft_block(w, sw, p, block)[k];
			if (m->held[i].read)
				to = (uint16_t)(m->held[i].masks[k] & ~to);
			stuck[block * MFT_BLOCK + k] |= (to & links) != 0;
		}
	}
	return stuck;
}

/* ------------------------------------------------------------------- trees */

static void mcast_manager_on_trees(void *values, void *data);

/* The switch and port of a member; false: it is away, or a host without a
 * switch. */
static bool
locate(const struct mcast_manager *m, const struct group_member *member,
       struct multicast_member *out)
{
	const struct sa_db *view = m->sa->view;
	uint32_t port = view ? sa_db_guid(view, member->port_guid) :
		SNAPSHOT_NONE;
	const struct snapshot_port *p;
	const struct snapshot_node *n;

	if (port == SNAPSHOT_NONE)
		return false;
	p = &m->s->ports[port];
	n = snapshot_node_of(m->s, port);
	*out = (struct multicast_member){
		.receives = member->join_state & (JOIN_FULL | JOIN_NON),
	};
	if (snapshot_is_switch(n)) {
		out->sw = n->sw_index;
		out->port = 0;
		return true;
	}
	if (p->peer == SNAPSHOT_NONE)
		return false;
	n = snapshot_node_of(m->s, p->peer);
	if (!snapshot_is_switch(n))
		return false;
	out->sw = n->sw_index;
	out->port = m->s->ports[p->peer].num;
	return true;
}

/* The tables of the switches, of an unknown block the most it may have: input
 * of the next trees, and what the SA shows. */
static struct mft *
collect_held(struct mcast_manager *m)
{
	const struct mft *w = m->wanted;
	struct mft *mft;

	if (!w)
		return NULL;
	mft = mft_new(w->n_switches, w->n_positions, w->n_blocks);
	for (size_t i = 0; i < count_places(w); i++)
		memcpy(mft->masks + i * MFT_BLOCK, m->held[i].masks,
		       BLOCK_BYTES);
	return mft;
}

/* Trees of all groups, computed beside the loop if there are many: 11,664 groups of 8
 * of so many hosts take 3.6 s, and 0.2 s after each join. */
struct trees {
	struct ground *ground;	/* references */
	struct mft *before;	/* as the switches hold it, or NULL */
	GArray *groups;		/* struct multicast_group */
	GArray *members;	/* of all: struct multicast_member */
	struct multicast_output out;
};

bool
mcast_room_is_out(const struct mcast_room *r, const struct snapshot *s,
		  const uint32_t *sizes)
{
	g_autofree uint32_t *nodes = r->sizes ? snapshot_map_nodes(s, r->s) :
		NULL;

	for (uint32_t i = 0; r->sizes && i < MCAST_MLIDS; i++)
		if (sizes[i] && (!r->sizes[i] || sizes[i] < r->sizes[i]))
			return false;
	for (uint32_t port = 0; r->sizes && port < s->n_ports; port++) {
		uint32_t was = snapshot_same_port(s, port, nodes, r->s);

		if (s->ports[port].peer != SNAPSHOT_NONE &&
		    (was == SNAPSHOT_NONE ||
		     r->s->ports[was].peer == SNAPSHOT_NONE))
			return false;
	}
	return r->sizes != NULL;
}

void
mcast_room_note(struct mcast_room *r, struct snapshot *s, uint32_t *sizes)
{
	g_free(r->sizes);
	snapshot_unref(r->s);
	r->sizes = sizes;
	r->s = s ? snapshot_ref(s) : NULL;
}

/* Other tables are asked for, for groups for which any tree would close a loop with the
 * present ones. */
static void
ask_for_room(struct mcast_manager *m, const struct trees *t)
{
	g_autofree uint32_t *sizes = g_new0(uint32_t, MCAST_MLIDS);
	bool is_any = false;

	EACH_ITEM(const struct multicast_lost, l, t->out.lost)
		if (l->for_loop)
			sizes[l->mlid - LID_MULTICAST_MIN] = 1;
	EACH_ITEM(const struct multicast_group, g, t->groups) {
		sizes[g->mlid - LID_MULTICAST_MIN] *= g->n_members;
		is_any |= sizes[g->mlid - LID_MULTICAST_MIN] != 0;
	}
	if (!is_any)
		mcast_room_note(&m->room, NULL, NULL);
	else if (!mcast_room_is_out(&m->room, m->s, sizes) &&
		 !sweep_reroute(m->sweep))
		mcast_room_note(&m->room, m->s, g_steal_pointer(&sizes));
}

/* A member that was not reached before either is told already. */
static void
report_lost(struct mcast_manager *m, const GArray *lost)
{
	g_autoptr(GHashTable) told = g_hash_table_new_full(g_str_hash,
						g_str_equal, g_free, NULL);

	while (m->lost->len)
		g_hash_table_add(told, g_ptr_array_steal_index_fast(m->lost,
							m->lost->len - 1));
	EACH_ITEM(const struct multicast_lost, l, lost) {
		const struct snapshot_node *n = switch_at(m, l->sw);
		uint32_t peer = l->port ?
			m->s->ports[n->first_port + l->port].peer :
			SNAPSHOT_NONE;
		char *line = g_strdup_printf("multicast group 0x%04x does not "
			"reach %s (%s port %u): %s", l->mlid,
			peer == SNAPSHOT_NONE ? snapshot_node_name(n) :
			snapshot_name_of(m->s, peer), snapshot_node_name(n),
			l->port, l->for_loop ? "any tree would close a credit "
			"loop with the unicast routes" : "its switch has no "
			"cable to the others or no room for the group");

		g_ptr_array_add(m->lost, line);
		if (!g_hash_table_contains(told, line))
			log_limited(m->log, LOG_WARNING, "mcast", "a member of "
				    "a group is not in its tree", "%s", line);
	}
}

/* Once for a fabric, since members come one after the other. */
static void
ground_prepare(struct ground *ground)
{
	ground->g = graph_new(ground->s, ground->lids);
	if (!ground->ranks)
		ground->ranks = multicast_ranks(ground->g);
	/* The rest of an update that failed in part is still to come. Its steps
	 * may have a loop together: trees are cut before the next one. */
	if (ground->lft)
		ground->channels = multicast_channels(ground->g, ground->lft,
					ground->seen, ground->ranks);
	if (!ground->channels && ground->lft)
		ground->channels = multicast_channels(ground->g, ground->seen,
						      NULL, ground->ranks);
	if (!ground->channels)
		ground->channels = multicast_channels(ground->g, NULL, NULL,
						      ground->ranks);
}

static void
trees_work(void *values)
{
	struct trees *t = values;
	struct multicast_input in = {
		.previous = t->before, .n_groups = t->groups->len,
		.groups = (const void *)t->groups->data,
	};

	if (!t->ground->g)
		ground_prepare(t->ground);
	in.g = t->ground->g;
	in.channels = t->ground->channels;
	in.ranks = t->ground->ranks;
	multicast_route(&in, &t->out);
}

static void
trees_free(void *values)
{
	struct trees *t = values;

	ground_unref(t->ground);
	mft_free(t->before);
	g_array_unref(t->groups);
	g_array_unref(t->members);
	if (t->out.lost)
		multicast_output_clear(&t->out);
	g_free(t);
}

static void
make_trees(struct mcast_manager *m)
{
	static const struct beside_task task = {
		trees_work, mcast_manager_on_trees, trees_free,
	};
	const GPtrArray *all = m->sa->groups->all.list;
	struct trees *t = g_new0(struct trees, 1);
	bool is_long;
	guint n = 0;

	t->ground = g_atomic_rc_box_acquire(m->ground);
	t->before = m->told ? mft_ref(m->told) : NULL;
	t->groups = g_array_new(FALSE, TRUE, sizeof(struct multicast_group));
	t->members = g_array_new(FALSE, TRUE, sizeof(struct multicast_member));
	EACH_PTR(const struct group, from, all) {
		struct multicast_group group = { .mlid = from->r.mlid };

		EACH_PTR(const struct group_member, each, from->members.list) {
			struct multicast_member member;

			if (!locate(m, each, &member))
				continue;
			g_array_append_val(t->members, member);
			group.n_members++;
		}
		if (from->members.list->len)
			g_array_append_val(t->groups, group);
	}
	EACH_ITEM(struct multicast_group, g, t->groups) {
		g->members = &g_array_index(t->members,
					    struct multicast_member, n);
		n += g->n_members;
	}
	is_long = (size_t)t->groups->len * m->s->n_switches *
		(m->ground->g ? 1 : STEPS_FIRST) > STEPS_MAX ||
		m->sweep->params.trees_us;
	m->job = beside_run(is_long && m->dropped < DROPS_MAX ? m->beside :
			    NULL, &task, t, m);
}

/* ----------------------------------------------------------------- blocks */

/* Is the block as it should be at the end of this phase? If not, it is to be `masks`.
 * One that could not be read is not written. */
static bool
is_done(const struct mcast_manager *m, uint32_t at, uint16_t masks[MFT_BLOCK])
{
	const uint16_t *held = held_block(m, at);
	const uint16_t *wanted = m->wanted->masks + (size_t)at * MFT_BLOCK;
	uint32_t first;

	if (m->phase == MCAST_READ)
		return held;
	if (!held || memcmp(held, wanted, BLOCK_BYTES) == 0)	/* most */
		return true;
	first = at % m->wanted->n_blocks * MFT_BLOCK;
	memcpy(masks, wanted, BLOCK_BYTES);
	for (unsigned i = 0; i < MFT_BLOCK; i++)
		if (m->phase == MCAST_CUT ||
		    (m->stuck && m->stuck[first + i]))
			masks[i] &= held[i];
	return memcmp(held, masks, BLOCK_BYTES) == 0;
}

static void
mcast_fail(struct mcast_manager *m, const struct smp_request *r,
	   const char *why)
{
	const struct snapshot_node *n = snapshot_node_of(m->s, r->port);

	m->stats.failed++;
	m->bad = true;
	log_limited(m->log, LOG_WARNING, "mcast",
		    "a multicast forwarding table is wrong",
		    "%s (0x%016" G_GINT64_MODIFIER "x): %s",
		    snapshot_node_name(n),
		    n->info.node_guid, why);
}

static void
mcast_manager_reply(void *data, const struct smp_request *r,
		    const struct smp_reply *a)
{
	struct mcast_manager *m = data;
	struct mcast_block *h = &m->held[r->tag];
	uint16_t aim[MFT_BLOCK];

	if (a->outcome == SMP_TIMED_OUT)
		mcast_fail(m, r, "no answer");
	else if (a->outcome == SMP_ANSWERED && a->status)
		mcast_fail(m, r, mad_status_name(a->status));
	if (a->outcome != SMP_ANSWERED || a->status) {
		m->is_partial = true;
		return;
	}
	h->read = h->known = true;
	for (unsigned i = 0; i < MFT_BLOCK; i++)
		h->masks[i] = bytes_load16(a->data + 2 * i);
	*(r->set ? &m->stats.written : &m->stats.read) += 1;
	if (r->set && !is_done(m, (uint32_t)r->tag, aim))
		mcast_fail(m, r, "it acknowledges blocks but has other "
			   "content");
}

static bool
mcast_manager_next(void *data, struct smp_request *r)
{
	struct mcast_manager *m = data;
	uint32_t i, sw, position, block;
	uint16_t masks[MFT_BLOCK] = { 0 };
	struct mcast_block *h;

	do {
		if (m->at == count_places(m->wanted))
			return false;
		i = m->at++;
	} while (is_done(m, i, masks) ||
		 !find_place(m, i, &sw, &position, &block));
	r->port = switch_at(m, sw)->first_port;
	r->attr = MAD_ATTR_MULTICAST_FT;
	r->modifier = position << SMP_MFT_POSITION | block;
	r->set = m->phase != MCAST_READ;
	r->tag = i;
	h = &m->held[i];
	h->known &= !r->set;
	for (i = 0; i < MFT_BLOCK; i++) {
		h->masks[i] |= r->set ? masks[i] : 0;
		bytes_store16(r->data + 2 * i, masks[i]);
	}
	return true;
}

/* ------------------------------------------------------------------ timing */

static void mcast_manager_on_timer(void *data);

static void
start_timer(struct mcast_manager *m, int64_t us)
{
	if (!m->timer)
		m->timer = transport_timer_in(m->x->transport, us,
					      mcast_manager_on_timer, m);
}

static bool
is_empty(const uint16_t masks[MFT_BLOCK])
{
	static const uint16_t none[MFT_BLOCK];

	return memcmp(masks, none, BLOCK_BYTES) == 0;
}

/* Cuts off the last blocks of all tables if they are empty, so that a crowd of
 * groups that has ended costs the next join nothing. The wanted tables are computed
 * anew before the next phase, so only their size matters here. */
static bool
drop_empty(struct mcast_manager *m)
{
	const struct mft *w = m->wanted;
	uint32_t i, n = 1;

	for (i = 0; i < count_places(w) && n < w->n_blocks; i++)
		if ((m->held[i].read && !m->held[i].known) ||
		    !is_empty(m->held[i].masks))
			n = MAX(n, i % w->n_blocks + 1);
	if (n == w->n_blocks)
		return false;
	set_wanted(m, mft_new(w->n_switches, w->n_positions, n), NULL);
	return true;
}

/* The last block of another manager's groups is not read yet: MLIDs are given from
 * the first one on. */
static bool
reads_on(struct mcast_manager *m)
{
	const struct mft *w = m->wanted;
	bool is_used = false;

	if (m->phase != MCAST_READ || !m->is_preparing || !m->is_inherited)
		return false;
	for (uint32_t i = w->n_blocks - 1; i < count_places(w); i += w->n_blocks)
		is_used |= !is_empty(m->held[i].masks);
	if (is_used)
		set_wanted(m, mft_new(w->n_switches, w->n_positions,
				      w->n_blocks + 1), NULL);
	return is_used;
}

/* A phase is over. */
static bool
mcast_manager_done(void *data)
{
	struct mcast_manager *m = data;
	struct sa_db *view;

	m->at = 0;
	if (reads_on(m))
		return true;
	m->phase++;
	if (m->is_preparing && m->phase == MCAST_CUT) {
		sweep_cut_trees(m->sweep, collect_held(m));
		return false;	/* mcast_manager_cut() goes on */
	}
	if (m->is_preparing) {
		g_clear_pointer(&m->batch, smp_batch_free);
		m->phase = MCAST_REST;
		m->is_preparing = false;
		sweep_prepared(m->sweep);
		return false;
	}
	if (!m->told) {		/* the trees of before the start are kept */
		g_clear_pointer(&m->batch, smp_batch_free);
		m->told = collect_held(m);
		make_trees(m);
		return false;
	}
	/* else all blocks are read and cut: no group is stuck */
	if (m->phase == MCAST_GROW && (m->bad || m->is_partial))
		m->stuck = find_stuck(m);
	if (m->phase != MCAST_REST)
		return true;
	g_clear_pointer(&m->stuck, g_free);
	g_clear_pointer(&m->batch, smp_batch_free);
	/* No sweep follows a join, so the SA gets the new tables here. If all
	 * switches have taken them, they are the wanted ones. */
	mft_free(m->told);
	m->told = m->bad || drop_empty(m) || m->is_partial ? collect_held(m) :
		mft_ref(m->wanted);
	view = m->sa->view;
	if (view && view->subnet == m->s)
		sa_db_set_mft(view, m->told);
	if (m->again || m->bad)
		start_timer(m, m->again ? 0 : RETRY_US);
	m->again = false;
	return false;
}

static void
start_phases(struct mcast_manager *m)
{
	const struct smp_stage stage = {
		.next = mcast_manager_next, .reply = mcast_manager_reply,
		.done = mcast_manager_done, .data = m,
		.late = sweep_note_late, .late_data = m->sweep,
		.max_in_flight = IN_FLIGHT_MAX,
	};

	m->phase = MCAST_READ;
	m->is_partial = false;
	m->at = 0;
	m->batch = smp_batch_start(m->x, m->s, m->keys, &stage);
}

static void
mcast_manager_on_look(const struct mad_client_answer *a, void *data,
		      uint64_t tag)
{
	struct mcast_manager *m = data;
	uint16_t other = election_looked(m->s, a);

	m->look = 0;
	if (!other) {
		start_phases(m);
		return;
	}
	m->phase = MCAST_REST;	/* the next sweep goes on */
	sweep_replaced(m->sweep, other);
}

static void
mcast_manager_on_trees(void *values, void *data)
{
	struct mcast_manager *m = data;
	struct trees *t = values;

	m->job = NULL;
	m->dropped = 0;
	if (m->sweep->paused) {		/* the next sweep goes on */
		m->phase = MCAST_REST;
		return;
	}
	report_lost(m, t->out.lost);
	ask_for_room(m, t);
	set_wanted(m, g_steal_pointer(&t->out.mft), NULL);
	m->stats.computed++;
	m->look = election_look(m->x, m->keys, m->s, mcast_manager_on_look, m);
}

/* Blocks of all groups with a member, and those that were written; 0: no port
 * ever joined. */
static uint32_t
count_blocks(const struct mcast_manager *m)
{
	const GPtrArray *groups = m->sa->groups->all.list;
	uint32_t n = m->wanted ? m->wanted->n_blocks : 0;

	EACH_PTR(const struct group, g, groups)
		if (g->members.list->len)
			n = MAX(n, (g->r.mlid - LID_MULTICAST_MIN) /
				MFT_BLOCK + 1u);
	return n;
}

/* Empty tables of the present fabric, with so many blocks. */
static void
want_blocks(struct mcast_manager *m, uint32_t n_blocks)
{
	uint32_t sw, n_positions = m->wanted ? m->wanted->n_positions : 1;

	for (sw = 0; sw < m->s->n_switches; sw++)
		n_positions = MAX(n_positions, mft_positions(
				switch_at(m, sw)->info.num_ports));
	set_wanted(m, mft_new(m->s->n_switches, n_positions, n_blocks), NULL);
}

static void
mcast_manager_on_timer(void *data)
{
	struct mcast_manager *m = data;

	m->timer = 0;
	m->bad = false;
	/* if no port ever joined: not a single Get */
	if (m->sweep->paused || m->waits || !count_blocks(m))
		return;
	if (!m->told) {
		want_blocks(m, count_blocks(m));
		start_phases(m);
		return;
	}
	m->phase = MCAST_READ;
	make_trees(m);
}

void
mcast_manager_touch(struct mcast_manager *m)
{
	if (!m->s)
		return;
	if (m->phase != MCAST_REST) {
		m->again = true;
		return;
	}
	if (m->bad)		/* the next attempt is later */
		transport_timer_clear(m->x->transport, &m->timer);
	m->bad = false;
	start_timer(m, BATCH_US);
}

void
mcast_manager_read_again(struct mcast_manager *m)
{
	for (uint32_t i = 0; m->wanted && i < count_places(m->wanted); i++)
		m->held[i].known = false;
	mcast_room_note(&m->room, NULL, NULL);
}

/* Another fabric, for which nothing is computed yet. */
static void
set_fabric(struct mcast_manager *m, struct snapshot *s, struct lid_map *lids,
	   const uint8_t *fresh)
{
	g_autofree uint32_t *nodes = NULL, *was = NULL;
	uint32_t sw, node;

	if (s && m->s && m->wanted) {
		nodes = snapshot_map_nodes(s, m->s);
		was = g_new(uint32_t, s->n_switches + 1);
		for (sw = 0; sw < s->n_switches; sw++) {
			node = nodes[s->switches[sw]];
			was[sw] = node == SNAPSHOT_NONE || (fresh && fresh[sw])
				? SNAPSHOT_NONE : m->s->nodes[node].sw_index;
		}
		set_wanted(m, mft_new(s->n_switches, m->wanted->n_positions,
				      m->wanted->n_blocks), was);
	}
	mcast_stop(m);
	if (s) {
		m->s = snapshot_ref(s);
		m->ground = g_atomic_rc_box_new0(struct ground);
		m->ground->s = snapshot_ref(s);
		m->ground->lids = lid_map_ref(lids);
	}
	m->again = m->bad = false;
}

/* May one of these switches, of which nothing is known, have multicast entries of
 * another manager? */
static bool
may_have_trees(const struct snapshot *s, const uint8_t *fresh)
{
	bool is = false;

	for (uint32_t sw = 0; sw < s->n_switches; sw++) {
		const struct switch_info *i = &s->nodes[s->switches[sw]].sw;

		is |= (!fresh || fresh[sw]) && i->linear_fdb_top &&
			i->multicast_fdb_top != LID_MULTICAST_MIN - 1;
	}
	return is;
}

bool
mcast_manager_prepare(struct mcast_manager *m, struct snapshot *s,
		      struct lid_map *lids, const uint8_t *fresh)
{
	uint32_t n_blocks = count_blocks(m);

	m->is_inherited = !m->wanted && may_have_trees(s, fresh);
	n_blocks += m->is_inherited;
	set_fabric(m, s, lids, fresh);
	m->waits = true;
	if (!n_blocks)
		return false;
	want_blocks(m, n_blocks);
	m->is_preparing = true;
	start_phases(m);
	return true;
}

void
mcast_manager_cut(struct mcast_manager *m, struct mft *trees)
{
	if (!m->is_preparing) {	/* it has been stopped */
		mft_free(trees);
		return;
	}
	mft_free(m->wanted);
	m->wanted = trees;
	smp_batch_wake(m->batch);
}

void
mcast_manager_fabric(struct mcast_manager *m, struct snapshot *s,
		     struct lid_map *lids, const struct choice *choice,
		     struct lft *seen, const uint8_t *fresh)
{
	set_fabric(m, s, lids, fresh);
	if (!s) {
		g_ptr_array_set_size(m->lost, 0);
		mcast_room_note(&m->room, NULL, NULL);
		g_clear_pointer(&m->held, g_free);
		g_clear_pointer(&m->wanted, mft_free);
		return;
	}
	/* else it is of another snapshot */
	if (choice && choice->lft &&
	    choice->lft->n_switches == s->n_switches) {
		m->ground->lft = lft_ref(choice->lft);
		m->ground->seen = lft_ref(seen);
		if (choice->ranks)
			m->ground->ranks = g_memdup2(choice->ranks,
				s->n_switches * sizeof(*choice->ranks));
	}
	m->told = collect_held(m);
	mcast_manager_touch(m);
}
