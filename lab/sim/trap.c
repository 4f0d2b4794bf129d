// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Traps (IBA 13.4.9, 14.2.5.1).
 *
 * A notice is sent to the SM's LID at once and then repeated, until a
 * TrapRepress with its TID arrives. For each end port there is at most one
 * notice of a trap number: the same event while it is repeated makes it a new
 * notice, with a new TID, so the TrapRepress for the old one does not end it.
 * Violations of keys (256 and up) happen at the rate of the offending packets,
 * so there the first one is repeated until it is repressed.
 *
 * A trap is an SMP that is routed by LID. Hence an agent without a LID or SMLID
 * sends none, and one without a route to the SM is not heard; PortStateChange
 * is for these.
 */
#include "lab/sim/state.h"
#include "sm/mad/bytes.h"

#include <string.h>

#define SUBNET_TIMEOUT_NS	4096	/* times 2^n, IBA 14.2.5.6 */
#define GENERIC			0x80u
#define SECURITY_FIRST		256u
#define DETAILS			10	/* where DataDetails begin */
#define HOPS_TOLD		30u	/* DRNoticeReturnPath of trap 256 */

struct sim_notice {
	struct sim_event event;
	int64_t key;
	uint32_t port;
	uint64_t tid;
	unsigned left;		/* repeats, if they are limited */
	uint8_t data[SMP_DATA_LEN];
};

/* In the order of IBA's table */
const uint16_t sim_traps[] = {
	128, 129, 130, 131, 144, 145, 256, 257, 258, 259,
};

/* Can the agent of this end port send a trap now? */
static bool
can_tell(const struct sim *sim, uint32_t end)
{
	const struct port_info *info = &sim->ports[end].info;

	return info->lid != LID_NONE && info->sm_lid != LID_NONE &&
		sim_node_of(sim, end)->power == SIM_POWER_ON;
}

/* ----------------------------------------------------- what a notice says */

/* Types: 1 urgent, 2 security, 4 informational. `port` is the port of the event.
 * A key violation that a script raises has no culprit, and its details are
 * empty. */
static void
write_notice(struct sim *sim, uint32_t port, unsigned trap,
	     const struct sim_packet *culprit, uint8_t *data)
{
	const struct sim_node *node = sim_node_of(sim, port);
	const struct port_info *info =
		&sim->ports[sim_end_port(sim, port)].info;
	uint8_t *d = data + DETAILS;
	/* bytes of the key that was wrong */
	unsigned key_len = trap == 259 ? 2 : 4;
	unsigned hops;

	memset(data, 0, SMP_DATA_LEN);
	data[0] = GENERIC | (trap < 144 ? 1 : trap < SECURITY_FIRST ? 4 : 2);
	bytes_store(data + 1, node->info.node_type, 3);
	bytes_store(data + 4, trap, 2);
	bytes_store(data + 6, info->lid, 2);
	if (trap < SECURITY_FIRST)
		bytes_store(d + (trap == 128 ? 0 : 2), info->lid, 2);
	if (trap >= 129 && trap <= 131)
		d[4] = sim->ports[port].num;
	else if (trap == 144)
		bytes_store(d + 6, info->cap_mask, 4);
	else if (trap == 145)
		bytes_store(d + 6, node->info.system_guid, 8);
	if (trap < SECURITY_FIRST || !culprit)
		return;
	if (trap == 256) {
		hops = MIN(culprit->h.hop_count, HOPS_TOLD);
		bytes_store(d + 2, info->lid, 2);
		memcpy(d + 4, culprit->mad + SIM_OFF_DR_SLID, 2);
		d[6] = culprit->h.method;
		bytes_store(d + 8, culprit->h.attr_id, 2);
		bytes_store(d + 10, culprit->h.attr_mod, 4);
		bytes_store(d + 14, smp_m_key(culprit->mad), 8);
		d[23] = GENERIC | hops;		/* DRNotice, hop count */
		memcpy(d + 24, culprit->mad + SIM_OFF_RETURN + 1, hops);
		return;
	}
	if (trap == 259) {
		bytes_store(d, 0xf, 2);		/* all that follows is valid */
		bytes_store(d + 48, info->lid, 2);
		d[50] = sim->ports[port].num;
	}
	bytes_store(d + 2, sim_source_lid(sim, culprit), 2);
	bytes_store(d + 4, culprit->addr.lid, 2);
	bytes_store(d + 6, sim_port_pkey(sim, culprit->from,
					 culprit->addr.pkey_index), key_len);
	d += 6 + key_len;
	bytes_store(d, (uint32_t)culprit->addr.sl << 28 | culprit->addr.qp, 4);
	bytes_store(d + 4, culprit->addr.qp, 4);
}

/* ----------------------------------------------------------------- sending */

static void
send_trap(struct sim *sim, uint32_t end, uint64_t tid, const uint8_t *data)
{
	struct sim_packet *p = g_new0(struct sim_packet, 1);

	p->addr.lid = sim->ports[end].info.sm_lid;
	p->from = end;
	smp_build_lid(p->mad, MAD_METHOD_TRAP, MAD_ATTR_NOTICE, 0, 0);
	mad_set_tid(p->mad, tid);
	memcpy(smp_data(p->mad), data, SMP_DATA_LEN);
	mad_header_read(p->mad, MAD_SIZE, &p->h);
	sim->stats.traps++;
	sim->stats.sent++;
	sim_packet_launch(sim, p);
}

static void
on_notice(struct sim *sim, struct sim_event *e)
{
	struct sim_notice *n = (struct sim_notice *)e;
	unsigned exponent = sim->ports[n->port].info.subnet_timeout;
	int64_t period = sim->params.trap_repeat_us ?
		(int64_t)sim->params.trap_repeat_us * NS_PER_US :
		(int64_t)SUBNET_TIMEOUT_NS << MIN(exponent, 31);

	send_trap(sim, n->port, n->tid, n->data);
	if (sim->params.trap_repeats && n->left-- == 0)
		g_hash_table_remove(sim->traps, &n->key);
	else
		sim_clock_start(sim, e, sim->now + period);
}

void
sim_trap_raise(struct sim *sim, uint32_t port, unsigned trap,
	       const struct sim_packet *culprit)
{
	uint32_t end = sim_end_port(sim, port);
	int64_t key = (int64_t)end << 16 | trap;
	struct sim_notice *n = g_hash_table_lookup(sim->traps, &key);

	if (!can_tell(sim, end) || (n && trap >= SECURITY_FIRST))
		return;
	if (!n) {
		n = g_new0(struct sim_notice, 1);
		n->event.fn = on_notice;
		n->key = key;
		n->port = end;
		g_hash_table_insert(sim->traps, &n->key, n);
	}
	n->tid = ++sim->last_tid & UINT32_MAX;
	n->left = sim->params.trap_repeats;
	write_notice(sim, port, trap, culprit, n->data);
	/* not from here: the caller may be in the middle of a change */
	sim_clock_stop(sim, &n->event);
	sim_clock_start(sim, &n->event, sim->now);
}

void
sim_trap_send_once(struct sim *sim, uint32_t port, unsigned trap)
{
	uint32_t end = sim_end_port(sim, port);
	uint8_t data[SMP_DATA_LEN];

	if (!can_tell(sim, end))
		return;
	write_notice(sim, port, trap, NULL, data);
	send_trap(sim, end, ++sim->last_tid & UINT32_MAX, data);
}

void
sim_trap_end(struct sim *sim, uint32_t end, const uint64_t *tid)
{
	for (size_t i = 0; i < SIM_N_TRAPS; i++) {
		int64_t key = (int64_t)end << 16 | sim_traps[i];
		struct sim_notice *n = g_hash_table_lookup(sim->traps, &key);

		if (!n || (tid && n->tid != *tid))
			continue;
		sim_clock_stop(sim, &n->event);
		g_hash_table_remove(sim->traps, &key);
	}
}
