// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Multicast groups as text, so that they survive a restart.
 *
 *   group MGID MLID P_Key Q_Key FlowLabel MTU Rate PacketLifeTime SL TClass
 *	HopLimit configured [PortGUID of the creator]
 *   member MGID PortGID JoinState ProxyJoin
 *
 * on a line each, members after their group. MGIDs and MLIDs must come back as
 * they were: clients know them and need not notice that the SM was away. So a
 * line that would put two groups on one MLID, or one group there twice, is
 * refused as damage. That members are still there, and of the partition, is
 * checked by groups_follow().
 */
#include <inttypes.h>
#include <string.h>

#include "sm/sa/mcmember_store.h"
#include "sm/sa/state_words.h"

#define GROUP_WORDS	14u	/* or without the last */
#define MEMBER_WORDS	5u

static void
save_group(const struct group *group, GString *out)
{
	g_string_append(out, "group");
	state_words_put_bytes(out, group->mgid, 16);
	g_string_append_printf(out,
			       " 0x%04x 0x%04x 0x%08" PRIx32 " 0x%05" PRIx32
			       " %u %u %u %u %u %u %u 0x%016" PRIx64 "\n",
			       group->mlid, group->pkey, group->q_key,
			       group->flow_label, group->mtu, group->rate,
			       group->life, group->sl, group->tclass,
			       group->hop_limit, group->permanent,
			       group->creator);
	for (guint i = 0; i < group->members->len; i++) {
		const struct group_member *m =
			&g_array_index(group->members, struct group_member, i);

		g_string_append(out, "member");
		state_words_put_bytes(out, group->mgid, 16);
		state_words_put_bytes(out, m->gid, 16);
		g_string_append_printf(out, " %u %u\n", m->join_state,
				       m->proxy);
	}
}

void
groups_save(const struct groups *g, GString *out)
{
	for (uint32_t i = 0; i < groups_count(g); i++)
		save_group(groups_at(g, i), out);
}

static uint64_t
get_be64(const uint8_t *from)
{
	uint64_t value = 0;

	for (unsigned i = 0; i < 8; i++)
		value = value << 8 | from[i];
	return value;
}

/* MGIDs that we choose from now on must not be those of clients that may still
 * believe in a group of before. */
static void
learn_id(struct groups *g, const uint8_t mgid[16])
{
	uint64_t id = get_be64(mgid + 8);

	if (mgid[2] == 0xa0 && mgid[3] == 0x1b && id != UINT64_MAX)
		g->next_id = MAX(g->next_id, id + 1);
}

static bool
load_group(struct groups *g, struct state_words *w)
{
	struct group draft = { .scope = 0 };

	state_words_bytes(w, "MGID", draft.mgid, 16);
	draft.mlid =
		(uint16_t)state_words_number(w, "MLID", MLID_MIN, MLID_END - 1);
	draft.pkey = (uint16_t)state_words_number(w, "P_Key", PKEY_FULL + 1u,
					    UINT16_MAX);
	draft.q_key = (uint32_t)state_words_number(w, "Q_Key", 0, UINT32_MAX);
	draft.flow_label = (uint32_t)state_words_number(w, "FlowLabel", 0,
						  FLOW_LABEL_MAX);
	draft.mtu = (uint8_t)state_words_number(w, "MTU", 1, 5);
	draft.rate = (uint8_t)state_words_number(w, "rate", 1, 0x3f);
	draft.life =
		(uint8_t)state_words_number(w, "PacketLifeTime", 0, LIFE_MAX);
	draft.sl = (uint8_t)state_words_number(w, "SL", 0, 15);
	draft.tclass = (uint8_t)state_words_number(w, "TClass", 0, UINT8_MAX);
	draft.hop_limit =
		(uint8_t)state_words_number(w, "HopLimit", 0, UINT8_MAX);
	draft.permanent = state_words_number(w, "configured", 0, 1);
	if (w->n == GROUP_WORDS)
		draft.creator = state_words_number(w, "creator", 0, UINT64_MAX);
	draft.scope = draft.mgid[1] & 0xf;
	if (w->bad)
		return false;
	if (draft.mgid[0] != 0xff)
		state_words_refuse(w, "the MGID does not begin with ff");
	else if (groups_get(g, draft.mgid))
		state_words_refuse(w, "the group is there twice");
	else if (groups_of_mlid(g, draft.mlid))
		state_words_refuse(w, "two groups have MLID 0x%04x",
				   draft.mlid);
	if (w->bad)
		return false;
	groups_insert(g, &draft);
	learn_id(g, draft.mgid);
	return true;
}

static bool
load_member(struct groups *g, struct state_words *w)
{
	struct group_member m = { .proxy = false };
	struct group *group;
	uint8_t mgid[16];

	state_words_bytes(w, "MGID", mgid, 16);
	state_words_bytes(w, "PortGID", m.gid, 16);
	m.join_state = (uint8_t)state_words_number(w, "JoinState", 1, JOIN_ALL);
	m.proxy = state_words_number(w, "ProxyJoin", 0, 1);
	m.port_guid = get_be64(m.gid + 8);
	if (w->bad)
		return false;
	group = groups_get(g, mgid);
	if (!group)
		state_words_refuse(w, "a member of a group that is not there");
	else if (group_member(group, m.gid))
		state_words_refuse(w, "the member is there twice");
	if (w->bad)
		return false;
	group_add(g, group, &m);
	return true;
}

bool
groups_load_line(struct groups *g, char **words, guint n_words,
		 GError **error)
{
	bool is_group = n_words > 0 && strcmp(words[0], "group") == 0;
	struct state_words w;

	state_words_begin(&w, words, n_words, !is_group ? MEMBER_WORDS :
		    n_words == GROUP_WORDS - 1 ? n_words : GROUP_WORDS, error);
	if (!is_group && n_words > 0 && strcmp(words[0], "member") != 0)
		state_words_refuse(&w, "neither 'group' nor 'member'");
	return is_group ? load_group(g, &w) : load_member(g, &w);
}
