/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The keys of OpenSM that minism does not use.
 */
#ifndef MINISM_TOOLS_OPENSM_KEYS_H
#define MINISM_TOOLS_OPENSM_KEYS_H

enum opensm_key_verdict {
	OPENSM_KEY_UNKNOWN,	/* no key of OpenSM's */
	OPENSM_KEY_UNUSED,	/* has no effect in minism */
	OPENSM_KEY_HARMLESS,	/* not set, or minism behaves so anyway */
};

/* value: the word behind the key, without quotes. *instead: the replacement in
 * minism, or NULL. */
enum opensm_key_verdict opensm_key_judge(const char *key, const char *value,
					 const char **instead);

#endif
