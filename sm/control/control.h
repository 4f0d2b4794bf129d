/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * Requests to a running manager: a line in, an answer out.
 *
 * A request is one line of words, quoted as for a shell: status, path, sweep,
 * partitions, help and others; with `json` before it the answer is JSON. The
 * answer begins with a line "minism 2 CODE LENGTH": the version of this protocol,
 * an enum control_code, and how many bytes follow: text, or one JSON object on
 * one line. Options such as --force follow the words.
 */
#ifndef MINISM_CONTROL_CONTROL_H
#define MINISM_CONTROL_CONTROL_H

#include "sm/control/control_view.h"

#define CONTROL_LINE_MAX 1024u /* bytes of a request, newline included */
#define CONTROL_PREFIX_MAX 32u	/* before it: "json again 18446744073709551615 " */

/* Appends the answer to `line`, which has no newline. Returns what follows it,
 * so that a large text is not copied for each client: a reference; NULL:
 * nothing. */
GBytes *control_answer(const struct control_hooks *hooks, const char *line,
		       GString *out);
/* The head of an answer of `len` bytes. */
void control_put_head(enum control_code code, size_t len, GString *out);

#endif
