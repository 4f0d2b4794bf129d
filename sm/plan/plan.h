/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The plan: desired minus observed, as ordered steps. Pure. What the program
 * stage sends is exactly this, and the dry run prints it.
 *
 * The desired state is the policy applied to the snapshot. The values of a port
 * are computed on each call, nothing is stored.
 *
 * Steps are sorted by (kind, node, port or block). The program stage decides
 * which step waits for which; it follows from the kinds.
 */
#ifndef MINISM_PLAN_PLAN_H
#define MINISM_PLAN_PLAN_H

#include <glib.h>

#include "routing/tables.h"
#include "sm/plan/isolation.h"
#include "sm/plan/mkey_db.h"
#include "topology/lid.h"
#include "topology/policy.h"
#include "topology/port_tables.h"
#include "topology/snapshot.h"

/* ------------------------------------------------------- the desired state */

/* OpenSM's defaults; M_Key 0. */
extern const struct policy policy_default;

/* Components of PortInfo that the SM decides; a mask of these. */
enum port_field {
	PORT_FIELD_LID = 1 << 0,
	PORT_FIELD_LMC = 1 << 1,
	PORT_FIELD_SM_LID = 1 << 2,
	PORT_FIELD_SM_SL = 1 << 3,
	PORT_FIELD_M_KEY = 1 << 4,
	PORT_FIELD_M_KEY_PROTECT = 1 << 5,
	PORT_FIELD_M_KEY_LEASE = 1 << 6,
	PORT_FIELD_GID_PREFIX = 1 << 7,
	PORT_FIELD_SUBNET_TIMEOUT = 1 << 8,
	PORT_FIELD_MTU = 1 << 9,
	PORT_FIELD_OPER_VLS = 1 << 10,
	PORT_FIELD_HOQ_LIFE = 1 << 11,
	PORT_FIELD_VL_STALL = 1 << 12,
	PORT_FIELD_ERROR_THRESHOLDS = 1 << 13,
	PORT_FIELD_STATE = 1 << 14,
	PORT_FIELD_ENFORCE = 1 << 15,	/* PartitionEnforcement, both ways */
	PORT_FIELD_VL_HIGH_LIMIT = 1 << 16,
	PORT_FIELD_REREGISTER = 1 << 17,	/* no value: a request */
	PORT_FIELD_WIDTH = 1 << 18,	/* LinkWidthEnabled, and so on */
	PORT_FIELD_SPEED = 1 << 19,
	PORT_FIELD_SPEED_EXT = 1 << 20,
	PORT_FIELD_PHYS = 1 << 21,	/* no value that stays: see struct
					   desired */
};
/* Without these a port cannot be reached, or a babbling one not be stopped: Sets
 * are repeated until the port accepts them. PortState: it stays in Initialize, or
 * in Armed. */
#define PORT_FIELDS_ADDRESS	(PORT_FIELD_LID | PORT_FIELD_LMC | \
				 PORT_FIELD_SM_LID | PORT_FIELD_GID_PREFIX | \
				 PORT_FIELD_STATE | PORT_FIELD_PHYS)
/* These protect a port. Some devices accept none of them: each heavy sweep
 * tries again. */
#define PORT_FIELDS_GUARD	(PORT_FIELD_M_KEY | PORT_FIELD_M_KEY_PROTECT | \
				 PORT_FIELD_M_KEY_LEASE | PORT_FIELD_ENFORCE)
/* These take effect when the link trains again. A port that does not accept
 * one at once will not do so later. */
#define PORT_FIELDS_TRAINING	(PORT_FIELD_WIDTH | PORT_FIELD_SPEED | \
				 PORT_FIELD_SPEED_EXT)
/* "LID", "NeighborMTU", ... of a single bit; "?" of any other value. */
const char *port_field_name(unsigned bit);

enum switch_field {
	SWITCH_FIELD_TOP = 1 << 0,
	SWITCH_FIELD_LIFE_TIME = 1 << 1,
	SWITCH_FIELD_CHANGE = 1 << 2,	/* clear PortStateChange */
	SWITCH_FIELD_MCAST_TOP = 1 << 3,
};

enum field_show {
	SHOW_NUMBER,
	SHOW_GUID,
	SHOW_HEX,
	SHOW_SECRET,
	SHOW_YES,
	SHOW_MTU,
	SHOW_VLS,
	SHOW_STATE,
	SHOW_PAIR,		/* two numbers of a byte */
	SHOW_ENFORCE,		/* in, out */
};

/* The place of a field in struct port_info or switch_info, by the number of its
 * bit, and how it is printed. */
struct plan_field {
	const char *name;
	uint16_t offset;
	uint8_t size;		/* bytes; of a pair, both; 0: a request, which
				   has no value to compare */
	uint8_t show;		/* enum field_show */
};
extern const struct plan_field port_fields[], switch_fields[];
/* Of a pair, the first byte is the higher one. 0 of a request. */
uint64_t plan_field_value(const struct plan_field *f, const void *info);

/* The input of the desired state; borrowed. If a pointer is NULL, nothing of its
 * kind is changed on the fabric. */
struct desired {
	const struct policy *policy;
	const struct mkey_db *keys;	/* NULL: policy->m_key for all */
	bool keys_stay;		/* new ones could not be saved: a port keeps
				   the one it has */
	bool is_unseen;		/* another master that would obey does not find
				   our port: all may read it */
	const struct lid_map *lids;
	const struct lft *lft;
	bool all_blocks;		/* of lft are written, equal or not */
	const struct lft *bridge;	/* the first tables on the way to lft,
					   or NULL, */
	const GArray *later;		/* and what comes then: see
					   transition_make() */
	bool hosts_wait;		/* struct choice */
	uint16_t sm_lid;
	const struct port_tables *tables;	/* NULL blocks: not written */
	const uint8_t *enforce;		/* by port: PKEY_ENFORCE_ bits */
	const struct qos *qos;
	const uint8_t *reregister;	/* by port: clients shall register */
	const uint8_t *phys;		/* by port: PORT_PHYS_DISABLED, or
					   PORT_PHYS_POLLING: enabled again */
};

/*
 * The PortInfo that port `port`, which must be known, should have: what was
 * read, with the fields that the SM decides replaced. state and phys_state,
 * link_down_default are 0 (no change), as are oper_vls and the enabled widths
 * and speeds unless they differ. Returns the mask of port_fields that differ
 * from what was read (never PORT_FIELD_STATE).
 */
unsigned desired_port(const struct snapshot *s, const struct desired *w,
		     uint32_t port, struct port_info *out);

/* Likewise for a switch; mask of switch_fields. port_state_change is true in
 * `out`, i.e. a Set clears it, only if SWITCH_FIELD_CHANGE is in the mask. */
unsigned desired_switch(const struct snapshot *s, const struct desired *w,
		       uint32_t node, struct switch_info *out);

/* The MulticastFDBTop of a switch whose SwitchInfo is known. */
uint16_t desired_mcast_top(const struct snapshot *s, uint32_t node);

/* How many blocks of its multicast table are above its MulticastFDBTop as read,
 * and will not be. They may have entries of long ago, of which a loop would copy
 * a packet for ever. Those of each position begin at *first. */
unsigned plan_hidden_blocks(const struct snapshot *s, uint32_t node,
			    unsigned *first);

/* Those of `mask`, of port_fields or switch_fields, in which the structs a and b
 * differ. */
unsigned plan_fields_differ(const struct plan_field *f, unsigned mask,
			    const void *a, const void *b);

/* Takes all of them from an answer. Capabilities stay as they were read, since
 * tables were sized and the plan was made by them. */
void plan_fields_take(const struct plan_field *f, void *known,
		      const void *answer);

/* ---------------------------------------------------------------- the plan */

enum plan_kind {
	PLAN_CHANGE_CLEAR,	/* SwitchInfo: clear PortStateChange */
	PLAN_TABLE,		/* one block of a table of a port */
	PLAN_PORT,		/* PortInfo, state untouched */
	PLAN_LFT,		/* one block of a switch */
	PLAN_MFT,		/* clear plan_hidden_blocks() of a switch */
	PLAN_SWITCH,		/* SwitchInfo: tops, life time */
	PLAN_ARM,		/* PortInfo with all that differs, to Armed */
	PLAN_ACTIVATE,		/* PortInfo to Active */
	PLAN_N_KINDS
};

struct plan_step {
	uint32_t node;
	uint32_t port;		/* port index: PLAN_TABLE, _PORT, _ARM,
				   _ACTIVATE */
	uint32_t fields;	/* port_fields or switch_fields that differ */
	uint16_t block;		/* PLAN_TABLE, _LFT; _MFT, while it is sent */
	uint8_t kind;
	uint8_t table;		/* PLAN_TABLE: enum port_table */
};

struct plan {
	uint32_t n_steps;
	struct plan_step *steps;
	uint32_t first[PLAN_N_KINDS + 1];	/* steps of kind k are
						   first[k] .. first[k+1]-1 */
};

/*
 * seen: the tables that the switches hold; NULL: nothing is known, so every
 *	block is in the plan.
 * held: the tables of ports that the devices hold; NULL, or a block that is not
 *	known: it is in the plan.
 * forgotten: by port index, the port_fields that this port was seen to accept
 *	and forget: a difference in only these makes no step. Those that do not
 *	differ are taken out. May be NULL.
 * Ports that are not known, and switches of which SwitchInfo is not known, get
 * no step. ARM: a known port in Init on a link whose other end is known, too;
 * ACTIVATE: such a port below Active (a fresh link has both).
 */
struct plan *plan_diff(const struct snapshot *s, const struct desired *w,
		       const struct lft_seen *seen,
		       const struct port_tables *held,
		       uint32_t *forgotten);
void plan_free(struct plan *plan);
/* How many entries of a PLAN_LFT step will differ from what the switch holds; of
 * a block that was never read, lead somewhere. */
unsigned plan_entries(const struct snapshot *s, const struct desired *w,
		      const struct lft_seen *seen,
		      const struct plan_step *step, bool *is_known);

/* Hexadecimal digits that stand for all that the plan writes (IBA has no such
 * thing): two plans have the same ones if they have the same steps, with the same
 * names and values before and after, M_Keys excepted. Caller frees. */
#define PLAN_DIGEST_LEN	16
char *plan_digest(const struct plan *plan, const struct snapshot *s,
		  const struct desired *w, const struct lft_seen *seen,
		  const struct port_tables *held);

/* A heading with counts, then a line a step (LFT blocks of one switch in one
 * line), then the digest. */
void plan_print(const struct plan *plan, const struct snapshot *s,
		const struct desired *w, const struct lft_seen *seen,
		const struct port_tables *held, GString *out);

#endif
