/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * The lines of a view (minism-view(5)): what a manager knows about its fabric
 * besides the net file in it. A line begins with "#" and a keyword; then come
 * numbers, which have names but for the first ones, and at the end, if the line
 * has one, a text, also behind a name:
 *
 *	#port 0x0000000000020010 5 state 4 mtu 5 vls 4
 *	#verdict links 31 all-links 32 hosts 16 all-hosts 16 is degraded
 *
 * One table writes and reads them. A reader skips names and keywords that it
 * does not know.
 */
#ifndef MINISM_TOPOLOGY_VIEW_LINE_H
#define MINISM_TOPOLOGY_VIEW_LINE_H

#include <glib.h>
#include <stdbool.h>
#include <stdint.h>

#define VIEW_VERSION	1u
#define VIEW_LINE_MAX	254u	/* bytes: ibsim ends at longer ones */
#define VIEW_LINE_MORE	"#+"	/* the rest of the line before */
#define VIEW_WORDS	10u
#define VIEW_LFT_BLOCK	64u	/* entries of a line #lft */
#define VIEW_PORT0_SPEED "4xSDR"	/* of a switch's port 0, unless said */

enum view_kind {
	VIEW_HEAD,	/* the first one */
	VIEW_MANAGER,	/* of the manager: its port, */
	VIEW_ROLE,	/* SM state, */
	VIEW_LEVEL,	/* log level, */
	VIEW_DOING,	/* state of its sweep, */
	VIEW_UNIT,	/* of durations, "ms", */
	VIEW_MASTER,	/* the master of a standby, */
	VIEW_RIVAL,	/* another manager that is not obeyed, */
	VIEW_SM,	/* it and others that answer, */
	VIEW_STANDBY,	/* what it could take over, */
	VIEW_SWEEP,	/* one of the last sweeps, the last one first, */
	VIEW_SOURCE,	/* the file of its partitions, */
	VIEW_COUNT,	/* one of its counters */
	VIEW_VERDICT,
	VIEW_FAULT,	/* a node or link that is missing or slow */
	VIEW_FORMER,	/* a cable or name that is another one since then */
	VIEW_SUBNET,	/* its size */
	VIEW_ERROR,	/* why the last sweep failed */
	VIEW_COMPLAINT,	/* why the fabric is not up, */
	VIEW_UNREACHED,	/* a member of a group without a path, */
	VIEW_WARNING,
	VIEW_ROUTE,	/* the engine of the tables, */
	VIEW_REASON,	/* why it was chosen, */
	VIEW_CANDIDATE,	/* instead of this, */
	VIEW_NOTE,	/* and what it says */
	VIEW_LOOP,	/* a channel of a credit loop */
	VIEW_ROOT,	/* what routing was told: a root, */
	VIEW_COMPUTE,	/* a compute node, */
	VIEW_IO,	/* an I/O node */
	VIEW_FLAP,	/* a link that goes down, a port with many traps */
	VIEW_NODE,	/* what its lines in the net file lack */
	VIEW_NAME,	/* configured, where it is not the NodeDescription */
	VIEW_USUAL,	/* what ports have of which nothing else is said, */
	VIEW_IDLE,	/* and those of a switch without a cable */
	VIEW_PORT,
	VIEW_TRAIT,	/* of an end port, what another manager left in it */
	VIEW_SLOW,	/* a link that both ends could run faster */
	VIEW_PARTITION,
	VIEW_AWAY,	/* a member that is not on the fabric */
	VIEW_PKEY,	/* of an end port; with bit 15 a full member */
	VIEW_AVOIDED,	/* a switch's port that routing should leave out */
	VIEW_HOP,	/* of one LID: a switch and its port */
	VIEW_LFT,	/* a block, as VIEW_LFT_BLOCK bytes in hexadecimal */
	VIEW_END,	/* the last one: nothing was cut off */
	VIEW_KINDS
};

/* The numbers of a line, by these names. */
enum {
	HEAD_VERSION = 0, HEAD_GEN, HEAD_SA, HEAD_AT, HEAD_PORT,
	VERDICT_LINKS = 0, VERDICT_ALL_LINKS, VERDICT_HOSTS,
	VERDICT_ALL_HOSTS, VERDICT_SWITCHES, VERDICT_ALL_SWITCHES,
	MANAGER_STATE = 0, MANAGER_PRIORITY, MANAGER_GUEST, MANAGER_PAUSED,
	MANAGER_RUNNING, MANAGER_QOS,
	STANDBY_FOLLOWS = 0, STANDBY_WARM, STANDBY_GROUPS, STANDBY_MEMBERS,
	STANDBY_SERVICES, STANDBY_SUBSCRIPTIONS, STANDBY_AGE,
	SWEEP_AGE = 0, SWEEP_TOOK,
	COUNT_VALUE = 0,
	SUBNET_SWITCHES = 0, SUBNET_HOSTS, SUBNET_ACTIVE, SUBNET_LINKS,
	SUBNET_TOP, SUBNET_AGE,
	/* NAME: the bytes of the text that are it; NEAR: of these, of a link, those
	 * of its end at GUID and PORT */
	FAULT_NUMBER = 0, FAULT_SINCE, FAULT_GUID, FAULT_PORT, FAULT_FAR,
	FAULT_FAR_PORT, FAULT_KIND, FAULT_NAME, FAULT_NEAR, FAULT_CAUSE,
	FORMER_SINCE = 0, FORMER_GUID,
	ROUTE_LOOPED = 0, ROUTE_TOP, ROUTE_UNSAFE,
	LOOP_GUID = 0, LOOP_PORT, LOOP_LID,
	LISTED_GUID = 0,	/* ROOT, COMPUTE, IO */
	FLAP_HELD = 0, FLAP_FLAPS, FLAP_BABBLES, FLAP_DOWNS, FLAP_TRAPS,
	FLAP_AGE, FLAP_LEFT,
	NODE_GUID = 0, NODE_REVISION,
	USUAL_STATE = 0, USUAL_MTU, USUAL_VLS, USUAL_PHYS,	/* IDLE, too */
	PORT_GUID = 0, PORT_NUMBER, PORT_STATE, PORT_MTU, PORT_VLS, PORT_PHYS,
	SM_GUID = 0, SM_STATE, SM_PRIORITY,
	/* KEY: 1 + its protection level; 0: there is none */
	TRAIT_GUID = 0, TRAIT_PORT, TRAIT_SM, TRAIT_VIRTUAL, TRAIT_KEY,
	SLOW_GUID = 0, SLOW_PORT,
	PARTITION_KEY = 0, PARTITION_SL,
	AWAY_KEY = 0, AWAY_GUID, AWAY_WHAT,
	PKEY_KEY = 0, PKEY_PORT,
	NAME_GUID = 0,
	/* NAME, WHY: where in the text the former ends, and the latter begins */
	AVOIDED_GUID = 0, AVOIDED_PORT, AVOIDED_ERRORS, AVOIDED_VERDICT,
	AVOIDED_NAME, AVOIDED_WHY,
	HOP_GUID = 0, HOP_PORT, HOP_LID,
	LFT_GUID = 0, LFT_NUMBER,
	END_GEN = 0,
};

/* The form of a line of each kind. */
struct view_form {
	/* The keyword, and the numbers behind their names: # a decimal one, K, X,
	 * G a hexadecimal one of 4, 8, 16 digits. */
	const char *words;
	const char *text;	/* the name of the text; NULL: none, "": it has
				   no name */
};
extern const struct view_form view_forms[VIEW_KINDS];

/* Appends the line; bytes below a blank in the text become blanks. text NULL: it
 * has none. */
void view_line_put(enum view_kind kind, const uint64_t *numbers,
		   const char *text, GString *out);
/* VIEW_PUT(VIEW_SLOW, "4xEDR", out, [SLOW_GUID] = guid, [SLOW_PORT] = 5) */
#define VIEW_PUT(kind, text, out, ...) \
	view_line_put(kind, (uint64_t[]){ __VA_ARGS__ }, text, out)

/* A line of nothing but a text; NULL: no line. And one for each char * of a list,
 * which may be NULL. */
void view_text_put(enum view_kind kind, const char *text, GString *out);
void view_texts_put(enum view_kind kind, const GPtrArray *texts, GString *out);

/* "8 switches, 15 of 16 hosts, 31 of 32 links Active" of the numbers of a line
 * VIEW_VERDICT, or "8 switches, 16 hosts, 32 links, all Active". */
void view_counts_put(const uint64_t *numbers, bool is_whole, GString *out);
/* "UP: 8 switches, 15 of 16 hosts, 31 of 32 links Active"; g_free. */
char *view_verdict_text(const char *verdict, const uint64_t *numbers);

/* Goes on, in lines VIEW_LINE_MORE, with the lines from here on that are longer
 * than VIEW_LINE_MAX. */
void view_lines_wrap(GString *out, gsize begin);

/* A line of this kind, without its end: numbers that it lacks are 0; *text is
 * the place in it, or NULL. False: it is of another kind, or one of its numbers
 * is none. */
bool view_line_take(enum view_kind kind, const char *line,
		    uint64_t numbers[VIEW_WORDS], const char **text);

#endif
