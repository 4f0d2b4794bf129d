// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * One switch with hosts, published as a view; see sa_star.h. Hosts do not
 * leave the snapshot one by one in reality, but a CA port that is not known is
 * no end port, and that is all that the SA's stores look at.
 */
#include <string.h>

#include "tests/lib/auto.h"
#include "tests/lib/sa_star.h"
#include "topology/generate.h"
#include "topology/prng.h"

uint64_t
star_guid(unsigned host)
{
	return UINT64_C(0x6000000000000101) + 256 * (uint64_t)host;
}

void
star_publish(struct star *star)
{
	AUTO(lid_map) *lids = lid_assign(star->s, 0, NULL, 0, NULL, NULL);
	AUTO(lft) *lft = lft_new(star->s->n_switches, lids->top);

	sa_db_unref(star->v);
	star->v = sa_db_new(star->s, lids, lft, NULL, star->rules,
			      memberships_new(star->rules, star->s, NULL),
			      STAR_PREFIX, 12, STAR_LIFE);
}

struct star *
star_new(unsigned n_hosts)
{
	struct star *star = g_new0(struct star, 1);
	g_autofree char *spec = g_strdup_printf("single(%u)", n_hosts);

	star->n_hosts = n_hosts;
	star->s = generate_fabric(spec, NULL, NULL);
	for (uint32_t port = 0; port < star->s->n_ports; port++)
		if (star->s->ports[port].peer != SNAPSHOT_NONE)
			star->s->ports[port].info.state = PORT_STATE_ACTIVE;
	star->s->nodes[star->s->switches[0]].sw.multicast_fdb_cap = 1024;
	star->rules = partition_rules_default();
	star_publish(star);
	return star;
}

void
star_free(struct star *star)
{
	sa_db_unref(star->v);
	partition_rules_unref(star->rules);
	snapshot_unref(star->s);
	g_free(star);
}

static void
set_known(struct star *star, unsigned host, bool known)
{
	for (uint32_t port = 0; port < star->s->n_ports; port++)
		if (star->s->ports[port].guid == star_guid(host))
			star->s->ports[port].known = known;
	star_publish(star);
}

void
star_take_away(struct star *star, unsigned host)
{
	set_known(star, host, false);
}

void
star_bring_back(struct star *star, unsigned host)
{
	set_known(star, host, true);
}

uint32_t
star_port(const struct star *star, unsigned host)
{
	return sa_db_guid(star->v, star_guid(host));
}

void
star_gid(unsigned host, uint8_t gid[16])
{
	uint64_t prefix = GUINT64_TO_BE(STAR_PREFIX);
	uint64_t guid = GUINT64_TO_BE(star_guid(host));

	memcpy(gid, &prefix, 8);
	memcpy(gid + 8, &guid, 8);
}

void
star_rule(struct star *star, uint16_t pkey, unsigned host,
	  enum partition_membership membership)
{
	struct partition_rule rule = {
		.who = PARTITION_GUID,
		.guid = star_guid(host),
		.membership = membership,
	};

	g_array_append_val(partition_rules_get(star->rules, pkey)->rules, rule);
}

/* The line that begins at or before `at`. */
static void
damage_line(GString *s, gsize at, bool twice)
{
	gsize begin = at;
	gsize end = at;
	g_autofree char *line = NULL;

	while (begin > 0 && s->str[begin - 1] != '\n')
		begin--;
	while (end < s->len && s->str[end] != '\n')
		end++;
	end = MIN(end + 1, s->len);
	line = g_strndup(s->str + begin, end - begin);
	if (twice)
		g_string_insert(s, (gssize)begin, line);
	else
		g_string_erase(s, (gssize)begin, (gssize)(end - begin));
}

char *
star_damage(const char *text, uint64_t *prng)
{
	static const char odd[] = "0129afgx- \n\t:\\\x7f\xff";
	GString *s = g_string_new(text);
	gsize at = prng_below(prng, (uint32_t)s->len);

	switch (prng_below(prng, 6)) {
	case 0:
	case 1:
		s->str[at] = odd[prng_below(prng, sizeof(odd) - 1)];
		break;
	case 2:
		g_string_erase(s, (gssize)at, 1);
		break;
	case 3:
		g_string_insert_c(s, (gssize)at, s->str[at]);
		break;
	case 4:
		damage_line(s, at, false);
		break;
	default:
		damage_line(s, at, true);
		break;
	}
	return g_string_free(s, FALSE);
}
