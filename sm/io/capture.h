/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tap on a transport: everything works as before, and all that passes, MADs,
 * timers and the time that is told, goes into a file (sm/io/record.h), from
 * which sm/io/replay.h can play it again.
 */
#ifndef MINISM_IO_CAPTURE_H
#define MINISM_IO_CAPTURE_H

#include "sm/io/transport.h"

struct capture;

/*
 * Records what passes *t from now on, with the program's options at the head of
 * the file. *t becomes a transport that has taken over what it was. NULL with
 * RECORD_ERROR_IO if the file cannot be written; then *t is as it was.
 */
struct capture *capture_open(struct transport **t, const char *path,
			     const char *options, GError **error);

/*
 * Ends the record and frees the transport. False if not everything could be
 * written: the file is then no good. A record that was not ended, since the
 * program crashed, say, is cut off and no good either.
 */
bool capture_close(struct capture *c, GError **error);

#endif
