// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The election: every rule of IBA 14.4.1 that election.c names, that the order of
 * the peers does not matter, and the managers that stay a rival:
 * tests/golden/election. A case has this manager and the others,
 *
 *	me|GUID PRIORITY STATE [SM_KEY]
 *
 * of which the states are not-active, discovering, standby and master; this one's
 * GUID is 100, the others have LIDs 70, 71 ..
 */
#include <inttypes.h>

#include "sm/sweep/election.h"
#include "tests/lib/unit.h"

/* The nth host's port, which gets the LID. */
static uint32_t
place(struct snapshot *s, unsigned nth)
{
	for (uint32_t port = 0, n = 0; port < s->n_ports; port++)
		if (port != s->local_port && s->ports[port].num &&
		    !snapshot_is_switch(snapshot_node_of(s, port)) &&
		    n++ == nth) {
			s->ports[port].info.lid = (uint16_t)(70 + nth);
			return port;
		}
	fail_msg("so many managers");
	return SNAPSHOT_NONE;
}

static void
read_manager(const char *line, struct snapshot *s, struct sm_info *me,
	     GArray *peers)
{
	struct election_peer p = { .info = { .guid = 100 } };
	char who[8], state[16];
	unsigned priority;

	assert_true(sscanf(line, "%7s %u %15s %" SCNu64, who, &priority, state,
			   &p.info.sm_key) >= 3);
	p.info.priority = (uint8_t)priority;
	while (*sm_state_name(p.info.state) != *state)
		p.info.state++;
	if (strcmp(who, "me") == 0) {
		*me = p.info;
		return;
	}
	p.info.guid = strtoull(who, NULL, 10);
	p.port = place(s, peers->len);
	g_array_append_val(peers, p);
}

/* The same for all rotations of the peers. */
static void
put_outcome(const struct sm_info *me, const GArray *peers, GString *out)
{
	static const char *const words[] = {
		[ELECTION_MASTER] = "master",
		[ELECTION_STANDBY] = "standby of",
		[ELECTION_HANDOVER] = "handover to",
	};

	for (guint r = 0; r < MAX(peers->len, 1); r++) {
		g_autoptr(GArray) turned = g_array_copy((GArray *)peers);
		const struct election_peer *chosen;
		g_autofree char *line = NULL;
		enum election_outcome o;

		g_array_append_vals(turned, peers->data, r);
		g_array_remove_range(turned, 0, r);
		o = election_decide(me, turned, &chosen);
		line = o == ELECTION_MASTER ? g_strdup(words[o]) :
			g_strdup_printf("%s %" PRIu64, words[o],
					chosen->info.guid);
		if (r)
			assert_string_equal(line, out->str);
		else
			g_string_append(out, line);
	}
	g_string_append_c(out, '\n');
}

/* before: the managers of the election before, or NULL */
static void
put_rivals(const struct sm_info *me, const GArray *before, const GArray *peers,
	   const struct snapshot *s, GString *out)
{
	bool contested;
	g_autoptr(GPtrArray) lines = election_rivals(me, before, peers, s,
						     &contested);

	for (guint i = 0; i < lines->len; i++)
		g_string_append_printf(out, "%s: %s\n", before ? "again" :
				       "at once", (char *)lines->pdata[i]);
	if (contested)
		g_string_append(out, before ? "again: contested\n" :
				"at once: contested\n");
}

GOLDEN("election", election)
{
	AUTO(snapshot) *s = generate_fabric("single(4)", NULL, NULL);
	g_autoptr(GArray) peers = g_array_new(FALSE, FALSE,
					      sizeof(struct election_peer));
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	struct sm_info me;

	for (char **line = lines; **line; line++)
		read_manager(*line, s, &me, peers);
	put_outcome(&me, peers, out);
	if (g_str_has_prefix(out->str, "master")) {
		put_rivals(&me, NULL, peers, s, out);
		put_rivals(&me, peers, peers, s, out);
	}
}
