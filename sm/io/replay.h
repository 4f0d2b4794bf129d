/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A transport that replays a record of sm/io/capture.h: it delivers the recorded
 * MADs and timers, and each action of the program must be the recorded one, to
 * the byte. The first difference ends the replay and is reported.
 *
 * The program is started as it was when it was recorded, and replay_step()
 * delivers one arrival or timer after the other. Actions from outside of any
 * callback (the end of the program, or a request of a user) must be repeated by
 * the caller of replay_step(), where that returns false.
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

/* Delivers the next arrival or timer. False: in the record the program acts now,
 * or the record or the replay is over. */
bool replay_step(struct transport *t);

/* All remaining steps. True if the record is at its end without a difference. */
bool replay_finish(struct transport *t, GError **error);

/* The number of events that were the same so far. */
uint64_t replay_events(struct transport *t);

#endif
