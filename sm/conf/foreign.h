/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of OpenSM's that minism has no use for.
 */
#ifndef MINISM_CONF_FOREIGN_H
#define MINISM_CONF_FOREIGN_H

enum foreign_verdict {
	FOREIGN_UNKNOWN,	/* no key of OpenSM's */
	FOREIGN_UNUSED,		/* asks for what minism does not do */
	FOREIGN_HARMLESS,	/* asks for nothing, or for what it does */
};

/* value: the rest of the line, as it stands in the file. *instead: what does
 * the same here, or NULL. */
enum foreign_verdict foreign_judge(const char *key, const char *value,
				   const char **instead);

/* The key of minism's that is this one under another name; NULL: none. */
const char *foreign_alias(const char *key);

#endif
