/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the subnet manager remembers of ports and switches: in the state text the
 * LIDs that ports had, the ranks of the switches, and ports that it disabled; in
 * files of their own the M_Keys that were given out. And, while it runs, the
 * PortInfo components that a port acknowledges and does not take.
 */
#ifndef MINISM_SM_PERSIST_H
#define MINISM_SM_PERSIST_H

#include "routing/engine.h"
#include "sm/file_writer.h"
#include "sm/log.h"
#include "sm/plan/plan.h"
#include "sm/plan/mkey_db.h"
#include "topology/lid.h"
#include "topology/state_file.h"

struct state;
struct transport;

/* ------------------------------------------- LIDs, ranks, untaken fields */

struct persist {
	struct state *state;	/* saves what changes; NULL: nothing is saved */
	struct log *log;
	struct lid_memory lids;	/* of lid_part; the rest is of persist_part */
	GArray *disabled;	/* struct persist_port */
	char *engine;		/* that made the ranks; NULL: there are none */
	char *in_force;		/* NULL: no engine's tables are all written */
	GArray *ranks;		/* by NodeGUID */
	/* not saved */
	char *whole_engine;	/* in force when there were most cables */
	uint32_t n_linked;	/* ports with a cable then */
	GArray *untaken;	/* fields that ports did not take, by GUID and
				   port; empty: all are tried */
};
extern const struct state_part persist_part;

struct persist *persist_new(struct log *log);
void persist_free(struct persist *m);

/* Takes the assignment over. */
void persist_keep_lids(struct persist *m, const struct snapshot *s,
		       const struct lid_map *map);

/* By port index of `s`: the fields that are not sent. A heavy sweep sends all
 * but those that are given up, since the port did not take them in three heavy
 * sweeps in a row (PORT_FIELDS_TRAINING: in one). A repair also leaves out
 * those that the port did not take when they were last sent, except an
 * address: else a component that all devices drop would cost a Set to each of
 * them, whatever port is repaired. A port that has changed since then
 * (PortStateChange of its switch or of the one behind it, link down, away) is
 * forgotten first. */
uint32_t *persist_not_sent(struct persist *m, const struct snapshot *s,
			   bool is_repair);

/* A sweep's result: by port, the fields acknowledged and not taken; NULL:
 * nothing was sent. What a repair did not send stays as it was known. */
void persist_learn(struct persist *m, const struct snapshot *s,
		  const uint32_t *untaken, bool is_repair);

/* How many ports there are with a field, and the first of them. */
struct field_tally {
	uint32_t count[32], first[32];
};
void field_tally_add(struct field_tally *t, uint32_t port, uint32_t fields);
/* "node-1 (0x..) port 1 and 3 more"; g_free. NULL: there is none. */
char *field_tally_ports(const struct field_tally *t, unsigned bit,
			const struct snapshot *s);

/* The ranks that an engine gave to the switches, by switch of `s`,
 * ENGINE_NO_RANK for those that were not in the fabric then; NULL if there are
 * none. `by` gets the name of the engine, or NULL; borrowed until the next
 * persist_keep_ranks(). */
uint32_t *persist_ranks(const struct persist *m, const struct snapshot *s,
		       const char **by);

/* The engine of persist_keep_ranks(), or of the file of ranks; NULL. With all
 * its cables back, a fabric returns to the engine that it had with them. */
const char *persist_engine(const struct persist *m, const struct snapshot *s);

/* Takes ranks over; `ranks` NULL: this engine has none. Switches that are away
 * keep theirs as long as the engine is the same. in_force false: another
 * manager's tables may still be in some switches, and the file says so. */
void persist_keep_ranks(struct persist *m, const char *engine,
		       const struct snapshot *s, const uint32_t *ranks,
		       bool in_force);

/* Ports that were disabled and are to be enabled again. */
struct persist_port {
	uint64_t guid;		/* of the node */
	uint8_t num;
};
/* Adds the port, or removes it. */
void persist_keep_disabled(struct persist *m, uint64_t guid, uint8_t num,
			   bool disabled);

/* ----------------------------------------------------------------- M_Keys */

/* The keys are on the disk, or not (in time). */
typedef void (*persist_keys_fn)(bool ok, void *data);

/* Secret: mode 0600, and nothing of it is logged. */
struct persist_keys {
	struct mkey_db *ring;	/* to look keys up in, and to change */
	struct transport *transport;
	struct file_writer *writers[2];	/* [enum mkey_db_file]; NULL: none */
	uint64_t version;	/* of the ring, that the files have, */
	uint64_t writing;	/* or are going to have */
	unsigned n_writing;	/* files */
	int64_t not_before;	/* after one was not written: not again
				   before */
	bool owes;		/* one was not read: as soon as it is moved away,
				   it is written, with no new key as well */
	bool is_late;		/* this write has been waited for in vain */
	persist_keys_fn saved;	/* waits for them; NULL: nothing does */
	void *data;
	unsigned timer;
};

/* Borrows t, for its timers, and disk. is_read_only: nothing will be saved. */
struct persist_keys *persist_keys_open(const char *cache_dir, bool is_read_only,
				       uint64_t m_key, enum mkey_db_mode mode,
				       struct transport *t,
				       struct beside *disk, struct log *log);
void persist_keys_close(struct persist_keys *ks);

/* The ports with these PortGUIDs have a foreign M_Key. True: for one of them
 * this was not known. */
bool persist_keys_lock(struct persist_keys *ks, const GArray *guids);

/* Starts to write the files, atomically and flushed, if keys or cables have
 * changed, or one was not read. True: all are on the disk. ks NULL: nothing. */
bool persist_keys_save(struct persist_keys *ks);
/* After that was false: `saved` is called once, later, when the files are
 * written, or could not be, or after 30 s. */
void persist_keys_await(struct persist_keys *ks, persist_keys_fn saved,
			void *data);
void persist_keys_forget(struct persist_keys *ks);	/* it is not called */

#endif
