/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * What those who look for a fault at another site want to read, in one file.
 */
#ifndef MINISM_TOOLS_SUPPORT_H
#define MINISM_TOOLS_SUPPORT_H

#include "tools/client.h"

/*
 * Packs what the manager answers to the questions of support.c, the versions of
 * this machine's programs, and the files `more` (NULL-terminated) into `path`, a
 * .tar.gz for its owner only, which replaces a regular file when it is whole. A
 * question that it cannot answer has the reason as its answer. False: there is no
 * manager (CLIENT_ERROR), or the file cannot be made, or packed.
 */
bool support_pack(const struct client_place *place, const char *path,
		  char *const *more, GError **error);

#endif
