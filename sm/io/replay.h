/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport that plays a record of sm/io/capture.h again: what came in then
 * comes in now, and whatever the program does must be what it did then, to the
 * byte. The first difference ends the replay and is told.
 *
 * Nothing happens by itself. The program is started as it was when it was
 * recorded, and replay_step() gives it one arrival or timer after the other.
 * What it does on its own account, from outside of any callback (its end, or
 * what a user asked for), must be done again by who drives it, at the same
 * place: where replay_step() has no more to give.
 */
#ifndef MINISM_IO_REPLAY_H
#define MINISM_IO_REPLAY_H

#include "sm/io/transport.h"

enum replay_error {
	REPLAY_ERROR_DIFFERENCE,	/* which event, when, recorded and
					   replayed; may be several lines */
};
#define REPLAY_ERROR replay_error_quark()
GQuark replay_error_quark(void);

/* The options that the recorded program had; NULL: there is no good record.
 * Free it. */
char *replay_options(const char *path);

/* Reads the file. NULL with a RECORD_ERROR if there is no good record in it. */
struct transport *replay_open(const char *path, GError **error);
/* The same from memory, which is copied. */
struct transport *replay_new(const uint8_t *record, size_t len,
			     GError **error);

/* Gives the program what came in next. False if there was nothing: in the
 * record the program acts now, or the record or the replay is over. */
bool replay_step(struct transport *t);

/* All steps there are. True if that was all of the record and no difference
 * was found. */
bool replay_finish(struct transport *t, GError **error);

/* The number of events that were the same so far. */
uint64_t replay_events(struct transport *t);

#endif
