/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Compares the fabric with the expected one (topology/expected.h), which is
 * kept in the file `fabric` of the cache folder.
 */
#ifndef MINISM_SM_FABRIC_WATCH_H
#define MINISM_SM_FABRIC_WATCH_H

#include "sm/file_writer.h"
#include "topology/expected.h"

struct fabric_watch {
	struct expected *expected;
	struct transport *transport;
	struct log *log;
	struct file_writer *writer;	/* NULL: no cache */
	unsigned timer;		/* 0: the file is up to date */
};

/* cache_dir NULL: kept as long as the manager runs. Borrows the rest. */
struct fabric_watch *fabric_watch_open(const char *cache_dir,
				       struct transport *t,
				       struct beside *disk, struct log *log);
/* Writes the file if it is not up to date. */
void fabric_watch_close(struct fabric_watch *w);

/* The fabric as the master's sweep left it. */
void fabric_watch_note(struct fabric_watch *w, const struct snapshot *s);

/* The expected fabric as a part of sa_state_write(), for a standby; and taken
 * over from such a text. False: it is damaged, and nothing has changed. */
void fabric_watch_write(const struct fabric_watch *w, GString *out);
bool fabric_watch_take(struct fabric_watch *w, const char *text,
		       GError **error);

/* See expected_accept(). */
unsigned fabric_watch_accept(struct fabric_watch *w, const char *word);

#endif
