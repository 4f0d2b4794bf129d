/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What the manager keeps over a restart: the state text of its parts
 * (topology/state_line.h), in the file `state` of the cache folder. A standby
 * gets the same text. M_Keys are not in it: see sm/persist.h.
 */
#ifndef MINISM_SM_STATE_H
#define MINISM_SM_STATE_H

#include "sm/io/beside.h"
#include "sm/log.h"
#include "topology/state_line.h"

#define STATE_OWNERS_MAX	4u

struct state_params {
	const char *cache_dir;	/* NULL: kept as long as the manager runs */
	bool is_read_only;
	struct beside *disk;	/* as of file_writer_new() */
	struct log *log;
	struct state_owner owners[STATE_OWNERS_MAX];	/* clients last */
	size_t n;
};

struct state;
struct transport;

/* Reads the file into the owners. Borrows all, t for its clock and timers. */
struct state *state_open(const struct state_params *params,
			 struct transport *t);
/* Writes it if it has changed. */
void state_close(struct state *s);

/* All that clients had registered was read; or they were asked to register
 * again, so that no restart has to do that. */
bool state_has_clients(const struct state *s);
void state_know_clients(struct state *s);
/* They register with another master from now on: the file says so, the text for
 * that one does not. */
void state_leave_clients(struct state *s);

/* This part may have changed: if its text has, it is written in `delay` us, or
 * later since that is done at most once in 2 s; */
void state_touch(struct state *s, const struct state_part *part,
		 int64_t delay);
/* now, beside the loop. s may be NULL. */
void state_save(struct state *s, const struct state_part *part);

/* file_writer_failure() of it; s may be NULL. */
const char *state_failure(const struct state *s);

/* For a standby: sealed by a checksum. Appends. data: struct state. */
void state_write(GString *out, void *data);
/* The bytes of such a text that are for state_read(); 0: it is damaged. */
size_t state_sealed(const char *text, size_t len);
/* Replaces the state by what these bytes say, which are overwritten. */
void state_take(struct state *s, char *text, size_t len, int64_t now);

#endif
