/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * A tap on a transport: everything works as before, and all that passes, MADs,
 * timers and the time that is told, goes into a file (sm/io/record.h), from
 * which sm/io/replay.h can play it again.
 */
#ifndef MINISM_IO_CAPTURE_H
#define MINISM_IO_CAPTURE_H

#include "sm/io/transport.h"

/*
 * Records what passes `inner`, and the program's options at the head of the
 * file. Takes `inner` over, which nobody else may use. NULL with RECORD_ERROR_IO
 * if the file cannot be written; then `inner` is as it was.
 */
struct transport *capture_open(struct transport *inner, const char *path,
			   const char *options, GError **error);

/*
 * Ends the record, frees the tap and `inner`. False if not everything could be
 * written: the file is then no good. transport_free() does the same and tells
 * nobody. A record that was not ended, since the program crashed, say, is cut
 * off and no good either.
 */
bool capture_close(struct transport *t, GError **error);

#endif
