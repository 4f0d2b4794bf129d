// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The election, and the other subnet managers that take part in it.
 *
 * They are found by PortInfo.CapabilityMask.IsSM and queried by directed route,
 * which works before LIDs are assigned. A port that has IsSM and answers SMInfo
 * with an error has no SM that could take part. One that does not answer may
 * belong to a master that did not run for a moment, or whose cable was pulled
 * since the discovery: a manager that is not the master discovers and asks again,
 * as often as a standby polls its master, before it goes on without it.
 *
 * IBA 14.4.1 gives every SM the same rules, so all come to the same result
 * without a vote:
 *
 * 1. An SM that is not the master and finds a master becomes its standby,
 *    whatever their ranks: the master hands over to a higher rank.
 * 2. Without a master, the highest rank becomes the master; all others wait.
 * 3. A master that finds a standby, or another master, of higher rank hands
 *    over to it. A master of lower rank will hand over to us.
 *
 * An SM in state NOT ACTIVE takes no part. Rank is priority, then lower GUID.
 *
 * A master may have stood still, with its machine and all clocks, while a standby
 * took over. Its own port has another MasterSMLID then: it is read before anything
 * is written, and such a master takes part in an election like one that starts. It
 * does not do so for a manager that it has never seen as its standby, which may
 * keep to no rules.
 *
 * Guests. A manager without a configured priority leaves a fabric that has a
 * living master to it, whatever the ranks and SM_Keys: sm/sweep/sweep_elect.c.
 *
 * SM_Key. If ours is 0, every SM is trusted. Else an SM that shows another
 * SM_Key takes no part: it belongs to another owner, and this is reported,
 * since both write to the same ports. OpenSM uses 1, so 1 is our default. 0 is
 * what an SM shows to a requester that it does not know (IBA 14.2.5.13); such a
 * master is obeyed, which does no new harm, but a fabric is handed over only to
 * an SM that shows our key.
 *
 * Allowed SMs. An SM_Key can be found out; the PortGUID that a node reports is
 * its hardware's. If the operator lists the GUIDs of the ports that may run an
 * SM, one on another port is foreign: it is reported, and the election is held as
 * if it were not there, even if it is the master.
 */
#include "sm/sweep/election.h"

#include "topology/each.h"

bool
election_outranks(const struct sm_info *a, const struct sm_info *b)
{
	if (a->priority != b->priority)
		return a->priority > b->priority;
	return a->guid < b->guid;
}

bool
election_is_stranger(const struct sm_info *self, const struct sm_info *peer)
{
	return self->sm_key && peer->sm_key && peer->sm_key != self->sm_key;
}

const struct election_peer *
election_highest(const struct sm_info *self, const GArray *peers,
		 unsigned state, enum election_trust trust)
{
	const struct election_peer *best = NULL;

	EACH_ITEM(const struct election_peer, peer, peers) {
		const struct sm_info *p = &peer->info;

		if (peer->is_foreign || p->state == SM_STATE_NOT_ACTIVE ||
		    (state && p->state != state))
			continue;
		if (trust == ELECTION_OBEY && election_is_stranger(self, p))
			continue;
		if (trust == ELECTION_HAND_OVER && self->sm_key &&
		    p->sm_key != self->sm_key)
			continue;
		if (!best || election_outranks(p, &best->info))
			best = peer;
	}
	return best;
}

enum election_outcome
election_decide(const struct sm_info *self, const GArray *peers,
		const struct election_peer **chosen)
{
	bool is_master = self->state == SM_STATE_MASTER;
	enum election_trust trust = is_master ? ELECTION_HAND_OVER :
		ELECTION_OBEY;
	const struct election_peer *master =
		election_highest(self, peers, SM_STATE_MASTER, trust);

	*chosen = master;
	if (master && (!is_master || election_outranks(&master->info, self)))
		return is_master ? ELECTION_HANDOVER : ELECTION_STANDBY;
	*chosen = election_highest(self, peers, is_master ? SM_STATE_STANDBY : 0,
				   trust);
	if (*chosen && election_outranks(&(*chosen)->info, self))
		return is_master ? ELECTION_HANDOVER : ELECTION_STANDBY;
	return ELECTION_MASTER;
}

/* ------------------------------------------------- the other managers */

struct election_poll {
	const struct snapshot *s;
	bool has_own;		/* the local port may have a manager */
	uint32_t only;		/* SNAPSHOT_NONE: query all ports */
	uint32_t port;		/* the next port */
	GArray *found;		/* of struct election_peer, by port */
	uint32_t silent;	/* a port that did not answer */
	election_poll_done_fn done;
	void *data;
};

static bool
election_poll_next(void *data, struct smp_request *r)
{
	struct election_poll *p = data;

	while (p->port < p->s->n_ports) {
		r->port = p->port++;
		r->attr = MAD_ATTR_SM_INFO;
		if ((r->port != p->s->local_port || p->has_own) &&
		    snapshot_is_end_port(p->s, r->port) &&
		    p->s->ports[r->port].info.cap_mask & PORT_CAP_IS_SM &&
		    (p->only == SNAPSHOT_NONE || p->only == r->port))
			return true;
	}
	return false;
}

static void
election_poll_reply(void *data, const struct smp_request *r,
		  const struct smp_reply *a)
{
	struct election_poll *p = data;
	struct election_peer peer = { .port = r->port };
	guint at = p->found->len;

	if (a->outcome != SMP_ANSWERED)
		p->silent = r->port;
	if (a->outcome != SMP_ANSWERED || a->status)
		return;
	sm_info_decode(a->data, &peer.info);
	while (at > 0 && g_array_index(p->found, struct election_peer,
				       at - 1).port > r->port)
		at--;
	g_array_insert_val(p->found, at, peer);
}

static void
election_poll_free(void *data)
{
	struct election_poll *p = data;

	g_array_unref(p->found);
	g_free(p);
}

static void
election_poll_end(void *data)
{
	struct election_poll *p = data;

	p->done(p->found, p->silent, p->data);
}

struct smp_batch *
election_poll_start(struct mad_client *x, const struct mkey_db *keys,
		  const struct snapshot *s, uint32_t only,
		  election_poll_done_fn done, void *data)
{
	struct election_poll *p = g_new0(struct election_poll, 1);
	const struct smp_stage stage = {
		.next = election_poll_next, .reply = election_poll_reply,
		.end = election_poll_end, .free = election_poll_free,
		.data = p,
	};

	p->s = s;
	p->has_own = x->params.only_reads;	/* it is not this process */
	p->only = only;
	p->silent = SNAPSHOT_NONE;
	p->done = done;
	p->data = data;
	p->found = g_array_new(FALSE, FALSE, sizeof(struct election_peer));
	return smp_batch_start(x, s, keys, &stage);
}

bool
election_has_peer(const GArray *peers, uint64_t guid, unsigned state)
{
	EACH_ITEM(const struct election_peer, p, peers)
		if (!p->is_foreign && p->info.guid == guid &&
		    (!state || p->info.state == state))
			return true;
	return false;
}

bool
election_has_master(const GArray *peers)
{
	EACH_ITEM(const struct election_peer, peer, peers)
		if (peer->info.state == SM_STATE_MASTER)
			return true;
	return false;
}

GPtrArray *
election_rivals(const struct sm_info *self, const GArray *before,
		const GArray *found, const struct snapshot *s, bool *contested)
{
	GPtrArray *lines = g_ptr_array_new_with_free_func(g_free);

	*contested = false;
	EACH_ITEM(const struct election_peer, peer, found) {
		const struct sm_info *p = &peer->info;
		bool stranger = election_is_stranger(self, p);

		if (!peer->is_foreign && !stranger &&
		    (p->state != SM_STATE_MASTER ||
		     !election_has_peer(before, p->guid, SM_STATE_MASTER)))
			continue;
		*contested |= p->state == SM_STATE_MASTER;
		g_ptr_array_add(lines, g_strdup_printf(
			"%s port %u (0x%016" G_GINT64_MODIFIER "x, LID %u) "
			"has a subnet manager in state %s that %s",
			snapshot_node_name(snapshot_node_of(s, peer->port)),
			s->ports[peer->port].num, p->guid,
			s->ports[peer->port].info.lid,
			sm_state_name(p->state), peer->is_foreign ?
			"is not in allowed_sm_guids, so there is no election "
			"between us: stop it, or add its GUID" : stranger ?
			"has another SM_Key, so there is no election between "
			"us: set the same sm_key in both" :
			"remains master beside us: it does not find us, or "
			"does not accept our SM_Key"));
	}
	return lines;
}

static void
ignore(const struct mad_client_answer *a, void *data, uint64_t tag)
{
}

void
election_control(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *s, uint32_t port, enum sm_control control,
	      const struct sm_info *self)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	uint8_t mad[MAD_SIZE];
	struct dr_path path;

	if (!snapshot_path(s, port, &path))
		return;
	smp_build_direct(mad, MAD_METHOD_SET, MAD_ATTR_SM_INFO, control,
			 mkey_db_at(keys, s, port), &path);
	sm_info_encode(smp_data(mad), self);
	mad_client_start(x, &direct, mad, ignore, NULL, port);
}

uint32_t
election_look(struct mad_client *x, const struct mkey_db *keys,
	      const struct snapshot *s, mad_client_done_fn done, void *data)
{
	static const struct mad_addr direct = { .lid = LID_PERMISSIVE };
	const struct dr_path here = { .hops = 0 };
	uint8_t mad[MAD_SIZE];

	smp_build_direct(mad, MAD_METHOD_GET, MAD_ATTR_PORT_INFO,
			 smp_batch_port_info_modifier(s, s->local_port),
			 mkey_db_at(keys, s, s->local_port), &here);
	return mad_client_start(x, &direct, mad, done, data, s->local_port);
}

int64_t
election_leave_port(struct mad_client *x, const struct snapshot *s,
		    const struct port_info *own, struct log *log)
{
	if (!own->m_key || own->m_key_protect < 2 || !own->m_key_lease ||
	    own->state == PORT_STATE_DOWN)
		return 0;
	log_say(log, LOG_INFO, "sweep", "our port has to be taken over by the "
		"master: it is not read for %u s, until the lease of its "
		"M_Key has ended", own->m_key_lease);
	election_look(x, NULL, s, ignore, NULL);
	return transport_now(x->transport) +
		(own->m_key_lease + 1) * (int64_t)G_USEC_PER_SEC;
}

uint16_t
election_lost_to(const struct snapshot *s, const struct port_info *now)
{
	return now->sm_lid == now->lid ||
		now->sm_lid == s->ports[s->local_port].info.sm_lid ?
		LID_NONE : now->sm_lid;
}

uint16_t
election_looked(const struct snapshot *s, const struct mad_client_answer *a)
{
	struct port_info now;

	if (a->outcome != MAD_CLIENT_ANSWERED || a->header.status)
		return LID_NONE;
	port_info_decode(smp_data_const(a->mad), &now);
	return election_lost_to(s, &now);
}
