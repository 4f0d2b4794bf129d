// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state of the subnet administration for another manager.
 *
 * Between two minisms it is text in parts, each behind a line "= NAME": the text
 * that the SA saves over a restart, and before it the state of other modules. Its
 * last line is the SHA-256 of all before; behind it are empty lines up to the
 * size of a record.
 */
#include <string.h>

#include "sm/mad/bytes.h"
#include "sm/sa/query.h"

#define MARK_OFFSET	(SA_DATA_OFFSET + 72)	/* behind ClassPortInfo */
#define MARK	UINT64_C(0x6d696e69736d2031)	/* "minism 1" */
#define FOLLOWERS_MAX	16u
#define SELF	"= sa-state\n"
#define SEAL	"= end "

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

/* -------------------------------------------------------------------- text */

void
sa_state_write(const struct sa *sa, GString *out, int64_t now)
{
	size_t piece = sa_record_size(SA_ATTR_STATE);
	g_autofree char *sum = NULL;

	if (sa->memory)
		sa->memory(out, sa->memory_data);
	g_string_append(out, SELF);
	sa_save(sa, out, now);
	sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
					  (const guchar *)out->str, out->len);
	g_string_append_printf(out, SEAL "%s\n", sum);
	while (out->len % piece)
		g_string_append_c(out, '\n');
}

char *
sa_state_part(const char *text, size_t len, const char *name)
{
	g_autofree char *head = g_strdup_printf("= %s\n", name);
	const char *seal = g_strrstr_len(text, (gssize)len, "\n" SEAL);
	size_t before = seal ? (size_t)(seal - text) + 1 : 0;
	size_t at = before + strlen(SEAL);
	g_autofree char *sum = g_compute_checksum_for_data(G_CHECKSUM_SHA256,
					(const guchar *)text, before);
	const char *end, *part = text;

	if (!before || len - at < strlen(sum) ||
	    memcmp(text + at, sum, strlen(sum)) != 0)
		return NULL;
	while (part) {
		size_t left = before - (size_t)(part - text);

		end = g_strstr_len(part, (gssize)left, "\n= ");
		if (g_str_has_prefix(part, head))
			return g_strndup(part + strlen(head), end ?
				(size_t)(end + 1 - part) - strlen(head) :
				left - strlen(head));
		part = end ? end + 1 : NULL;
	}
	return NULL;
}
