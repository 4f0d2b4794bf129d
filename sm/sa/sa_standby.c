// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The versions of the state for another manager, which managers follow.
 */
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/query.h"

#define MARK_OFFSET	(SA_DATA_OFFSET + 72)	/* behind ClassPortInfo */
#define MARK	UINT64_C(0x6d696e69736d2031)	/* "minism 1" */
#define FOLLOWERS_MAX	16u

/* ---------------------------------------------------------------- versions */

void
sa_mark_write(uint8_t mad[MAD_SIZE], const struct sa_mark *mark)
{
	bytes_store64(mad + MARK_OFFSET, MARK);
	bytes_store64(mad + MARK_OFFSET + 8, mark->epoch);
	bytes_store64(mad + MARK_OFFSET + 16, mark->version);
}

bool
sa_mark_read(const uint8_t mad[MAD_SIZE], struct sa_mark *mark)
{
	*mark = (struct sa_mark){
		.epoch = bytes_load64(mad + MARK_OFFSET + 8),
		.version = bytes_load64(mad + MARK_OFFSET + 16),
	};
	return bytes_load64(mad + MARK_OFFSET) == MARK;
}

bool
sa_is_of_standby(const uint8_t mad[MAD_SIZE], unsigned attr_id, unsigned method)
{
	struct sa_mark mark;

	return attr_id == SA_ATTR_STATE ||
		(attr_id == SA_ATTR_CLASS_PORT_INFO &&
		 method == MAD_METHOD_GET && sa_mark_read(mad, &mark));
}

struct sa_mark
sa_mark_of(const struct sa *sa)
{
	return (struct sa_mark){
		sa->epoch, sa_saved_version(sa) + sa->n_views,
	};
}

void
sa_follow(struct sa *sa, uint16_t lid, int64_t now)
{
	const struct sa_follower new = { .lid = lid, .at = now };

	for (guint i = sa->followers->len; i-- > 0;)
		if (g_array_index(sa->followers, struct sa_follower, i).lid ==
		    lid)
			g_array_remove_index(sa->followers, i);
	if (sa->followers->len == FOLLOWERS_MAX)
		g_array_remove_index(sa->followers, 0);
	g_array_append_val(sa->followers, new);
}

const GArray *
sa_followers(struct sa *sa, int64_t now)
{
	while (sa->followers->len &&
	       now - g_array_index(sa->followers, struct sa_follower, 0).at >
	       SA_FOLLOWER_US)
		g_array_remove_index(sa->followers, 0);
	return sa->followers;
}
