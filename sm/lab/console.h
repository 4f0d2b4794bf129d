/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The commands of a lab: by name, as a person types them or a script has them.
 */
#ifndef MINISM_LAB_CONSOLE_H
#define MINISM_LAB_CONSOLE_H

#include "sm/lab/server.h"

/* One line; appends what it says to out. 0, or an errno: out says why. */
int console_command(struct lab *lab, const char *line, GString *out);

/* What could follow: words that begin with the last one of line; NULL ends.
 * g_strfreev(). */
char **console_complete(struct lab *lab, const char *line);

#endif
