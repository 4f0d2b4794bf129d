// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Partitions as rules (IBA 10.9).
 *
 * Purpose. What was wished for, by whoever: the partition file, a person at run
 * time, or nobody, which is one partition with everybody in it.
 *
 * Structs. The partitions are few and asked for by P_Key, so they are an array
 * sorted by it. The rules of one stay in the order in which they were added,
 * since the later one decides (membership.c).
 */
#include <string.h>

#include "topology/partition.h"

#define BROADCAST_Q_KEY	0x0b1bu		/* as IPoIB is used to it */
#define BROADCAST_MTU	4u		/* 2,048 bytes */
#define BROADCAST_RATE	3u		/* 10 Gb/s */
#define SCOPE_LINK	2u		/* link-local, IBA 4.1.1 */

const char *
partition_membership_name(enum partition_membership membership)
{
	switch (membership) {
	case PARTITION_NONE:
		return "none";
	case PARTITION_LIMITED:
		return "limited";
	case PARTITION_FULL:
		return "full";
	case PARTITION_BOTH:
		return "both";
	}
	g_assert_not_reached();
}

static void
partition_free(gpointer data)
{
	struct partition *p = data;

	g_free(p->name);
	g_array_unref(p->rules);
	g_array_unref(p->groups);
	g_free(p);
}

struct partition_rules *
partition_rules_new(void)
{
	struct partition_rules *rules = g_new0(struct partition_rules, 1);

	rules->ref = 1;
	rules->partitions = g_ptr_array_new_with_free_func(partition_free);
	return rules;
}

struct partition_rules *
partition_rules_ref(struct partition_rules *rules)
{
	g_atomic_int_inc(&rules->ref);
	return rules;
}

void
partition_rules_unref(struct partition_rules *rules)
{
	if (!rules || !g_atomic_int_dec_and_test(&rules->ref))
		return;
	g_ptr_array_unref(rules->partitions);
	g_free(rules->source);
	g_free(rules);
}

struct partition_rules *
partition_rules_copy(const struct partition_rules *r)
{
	struct partition_rules *copy = partition_rules_new();

	copy->source = g_strdup(r->source);
	for (guint i = 0; i < r->partitions->len; i++) {
		const struct partition *from = r->partitions->pdata[i];
		struct partition *to = g_new(struct partition, 1);

		*to = *from;
		to->name = g_strdup(from->name);
		to->rules = g_array_copy(from->rules);
		to->groups = g_array_copy(from->groups);
		g_ptr_array_add(copy->partitions, to);
	}
	return copy;
}

/* Where the partition is, or would have to be put. */
static guint
rules_place(const struct partition_rules *rules, uint16_t pkey)
{
	guint low = 0;
	guint high = rules->partitions->len;

	while (low < high) {
		guint mid = low + (high - low) / 2;
		const struct partition *p = rules->partitions->pdata[mid];

		if (p->pkey < pkey)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

static struct partition *
rules_at(const struct partition_rules *rules, guint place, uint16_t pkey)
{
	struct partition *p;

	if (place == rules->partitions->len)
		return NULL;
	p = rules->partitions->pdata[place];
	return p->pkey == pkey ? p : NULL;
}

struct partition *
partition_rules_get(struct partition_rules *rules, uint16_t pkey)
{
	guint place = rules_place(rules, pkey_base(pkey));
	struct partition *p = rules_at(rules, place, pkey_base(pkey));

	/* P_Keys with a base of 0 are invalid, IBA 10.9.1.1 */
	g_assert(pkey_base(pkey) != 0);
	if (p)
		return p;
	p = g_new0(struct partition, 1);
	p->pkey = pkey_base(pkey);
	p->rules = g_array_new(FALSE, FALSE, sizeof(struct partition_rule));
	p->groups = g_array_new(FALSE, FALSE, sizeof(struct partition_group));
	g_ptr_array_insert(rules->partitions, (gint)place, p);
	return p;
}

const struct partition *
partition_rules_find(const struct partition_rules *r, uint16_t pkey)
{
	return rules_at(r, rules_place(r, pkey_base(pkey)), pkey_base(pkey));
}

void
partition_ipoib_group(uint16_t pkey, unsigned scope,
		      struct partition_group *out)
{
	uint16_t full = (uint16_t)(pkey | PKEY_FULL);

	g_assert(scope <= 0xf);

	memset(out, 0, sizeof(*out));
	out->mgid[0] = 0xff;
	out->mgid[1] = (uint8_t)(0x10 | scope);	/* transient: RFC 4391, 4 */
	out->mgid[2] = 0x40;
	out->mgid[3] = 0x1b;
	out->mgid[4] = (uint8_t)(full >> 8);
	out->mgid[5] = (uint8_t)full;
	memset(&out->mgid[12], 0xff, 4);
	out->q_key = BROADCAST_Q_KEY;
	out->mtu = BROADCAST_MTU;
	out->rate = BROADCAST_RATE;
}

struct partition_rules *
partition_rules_default(void)
{
	static const struct partition_rule everybody = {
		.who = PARTITION_ALL,
		.membership = PARTITION_FULL,
	};
	struct partition_rules *rules = partition_rules_new();
	struct partition *p = partition_rules_get(rules, PKEY_DEFAULT);
	struct partition_group group;

	p->name = g_strdup("Default");
	p->defmember = PARTITION_FULL;
	g_array_append_val(p->rules, everybody);
	partition_ipoib_group(PKEY_DEFAULT, SCOPE_LINK, &group);
	g_array_append_val(p->groups, group);
	return rules;
}
