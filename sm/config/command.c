// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "sm/config/command.h"

#include <string.h>

#include "topology/text.h"

const char *const command_option_names[COMMAND_OPTIONS] = {
	[COMMAND_FORCE] = "--force", [COMMAND_WHY] = "--why",
	[COMMAND_WAIT] = "--wait", [COMMAND_FOLLOW] = "--follow",
	[COMMAND_ALL] = "--all",
};

const struct command commands[] = {
	{ "status", "[--all]", "the verdict, what is missing or unstable "
	  "(--all: each of it), routing, the last sweeps", 1, 1,
	  1 << COMMAND_ALL, COMMAND_OF_VIEW },
	{ "accept", "[NODE|GUID]", "stop expecting all that is missing or "
	  "slow, or what is of one node", 1, 2, 0, COMMAND_OF_MANAGER },
	{ "path", "A B [--why]", "the path from A to B, its SL, MTU, rate and "
	  "P_Key; --why: and why by these ports", 3, 3,
	  1 << COMMAND_WHY, COMMAND_OF_VIEW },
	{ "who", "NAME|LID|GUID", "a node: its names, cables, partitions", 2,
	  2, 0, COMMAND_OF_VIEW },
	{ "nodes", "[TEXT|switch|host]", "all nodes, or some", 1, 2, 0,
	  COMMAND_OF_VIEW },
	{ "links", "[TEXT|slow|inactive|avoided]", "all cables, or some", 1, 2,
	  0, COMMAND_OF_VIEW },
	{ "avoid", "[NAME/PORT [ERRORS]]", "leave the link at a switch's port "
	  "out of routing (for so many ERRORS within an hour), or list those "
	  "that are", 1, 3, 0, COMMAND_OF_MASTER },
	{ "use", "NAME/PORT", "route over that link again", 2, 2, 0,
	  COMMAND_OF_MASTER },
	{ "ports", "NAME|LID|GUID", "the ports of a node", 2, 2, 0,
	  COMMAND_OF_VIEW },
	{ "lft", "NAME|LID|GUID", "where a switch sends each LID", 2, 2, 0,
	  COMMAND_OF_VIEW },
	{ "groups", "", "multicast groups", 1, 1, 0, COMMAND_OF_VIEW },
	{ "members", "[MGID|MLID]", "members of all groups, or of one", 1, 2,
	  0, COMMAND_OF_VIEW },
	{ "services", "", "services that clients registered", 1, 1, 0,
	  COMMAND_OF_MASTER },
	{ "subscriptions", "", "clients that get Reports, and about what", 1,
	  1, 0, COMMAND_OF_MASTER },
	{ "sms", "", "the subnet managers of the fabric", 1, 1, 0,
	  COMMAND_OF_VIEW },
	{ "view", "[status|tables|lid LID|node NODE]", "the fabric as a text "
	  "for programs, see minism-view(5)", 1, 3, 0, COMMAND_OF_MANAGER },
	{ "diff", "FILE [FILE]", "what differs between two views, or between "
	  "one and the present fabric", 2, 3, 0, COMMAND_OF_VIEW },
	{ "expect", "FILE", "what differs from a design: a view, a net file or "
	  "a list of cables; plugs to exchange", 2, 2, 0, COMMAND_OF_VIEW },
	{ "whatif", "kill NODE|unplug NAME/PORT|add NAME/PORT NAME/PORT|"
	  "engine NAME[,NAME ..] ..", "who would be cut off, the load, tables to "
	  "write", 3, 99, 0, COMMAND_OF_VIEW },
	{ "report", "", "the fabric as a web page", 1, 1, 0, COMMAND_OF_VIEW },
	{ "dump", "FOLDER", "the fabric in OpenSM's dump files", 2, 2, 0,
	  COMMAND_OF_VIEW },
	{ "doctor", "", "what to know of a fabric before minism becomes its "
	  "master for the first time", 1, 1, 0, COMMAND_OF_VIEW },
	{ "support", "[FILE [MORE ..]]", "pack what is needed to look for a "
	  "fault elsewhere, and MORE files, into FILE, a .tar.gz", 1, 16, 0,
	  COMMAND_OF_VIEW },
	{ "metrics", "", "counters and states as OpenMetrics text", 1, 1, 0,
	  COMMAND_OF_VIEW },
	{ "events", "[--follow]", "what was logged lately, of level info and "
	  "above", 1, 1, 1 << COMMAND_FOLLOW, COMMAND_OF_MANAGER },
	{ "sweep", "[--wait]", "sweep now, and read everything again", 1, 1,
	  1 << COMMAND_WAIT, COMMAND_OF_MANAGER },
	{ "reload", "", "read partitions, lists of GUIDs and names of nodes "
	  "again, then sweep", 1, 1, 0, COMMAND_OF_MANAGER },
	{ "partitions", "[NAME|PKEY]", "partitions and their members", 1, 2, 0,
	  COMMAND_OF_VIEW },
	{ "partition", "add NAME|PKEY NODE|GUID[=full|limited|both]",
	  "make a port a member, as defmember of the partition file if not "
	  "said; never lowers a membership", 4, 5,
	  1 << COMMAND_FORCE, COMMAND_OF_MASTER },
	{ "partition", "set NAME|PKEY NODE|GUID full|limited|both [--force]",
	  "set its membership, also to a lower one", 4, 5,
	  1 << COMMAND_FORCE, COMMAND_OF_MASTER },
	{ "partition", "remove NAME|PKEY NODE|GUID [--force]",
	  "end its membership", 4, 5, 1 << COMMAND_FORCE, COMMAND_OF_MASTER },
	{ "partition", "reset NAME|PKEY NODE|GUID [--force]",
	  "undo these changes: its membership is that of the file again", 4, 5,
	  1 << COMMAND_FORCE, COMMAND_OF_MASTER },
	{ "pause", "", "for maintenance: no sweeps, nothing is programmed", 1,
	  1, 0, COMMAND_OF_MANAGER },
	{ "resume", "", "sweep and program again", 1, 1, 0,
	  COMMAND_OF_MANAGER },
	{ "priority", "[0-15]", "show or change the SM priority; the "
	  "manager with the highest is the master", 1, 2, 0,
	  COMMAND_OF_MASTER },
	{ "takeover", "", "become the master, with a priority above that of "
	  "the present one", 1, 1, 0, COMMAND_OF_MASTER },
	{ "config", "", "all options, and where their values come from", 1, 1,
	  0, COMMAND_OF_MANAGER },
	{ "loglevel", "[LEVEL]",
	  "show or change what is logged: error, warning, info, verbose, "
	  "debug", 1, 2, 0,
	  COMMAND_OF_MANAGER },
	{ "help", "[COMMAND]", "this list, or how one is used", 1, 2, 0,
	  COMMAND_OF_VIEW },
};
const size_t n_commands = G_N_ELEMENTS(commands);

char *
command_usage(const struct command *c, char *const *words)
{
	guint n = g_strv_length((char **)words);
	bool is_short = n < c->min || (n == 4 && c->max == 5);
	GString *text = g_string_new(NULL);

	g_string_printf(text, "%s: %s; usage:", c->name, is_short ?
			"an argument is missing" : n > c->max ?
			"too many arguments" : "wrong arguments");
	for (size_t i = 0; i < n_commands; i++)
		if (strcmp(commands[i].name, c->name) == 0)
			g_string_append_printf(text, "\n%s%s%s", c->name,
					       *commands[i].rest ? " " : "",
					       commands[i].rest);
	return g_string_free(text, FALSE);
}

const struct command *
command_check(char *const *words, unsigned options, char **wrong)
{
	const char *names[G_N_ELEMENTS(commands)];
	g_autofree char *shown = NULL, *near = NULL;
	guint n = g_strv_length((char **)words);
	const struct command *c = NULL;

	*wrong = NULL;
	for (size_t i = 0; !c && i < n_commands; i++) {
		names[i] = commands[i].name;
		if (strcmp(names[i], words[0]) == 0)
			c = &commands[i];
	}
	if (!c) {
		shown = text_one_line(words[0]);
		near = text_nearest(shown, "", names, n_commands);
		*wrong = g_strdup_printf("there is no command %s%s; see help",
					 *shown ? shown : "\"\"", near);
	} else if (options & ~c->takes) {
		int first = g_bit_nth_lsf(options & ~c->takes, -1);

		*wrong = g_strdup_printf("%s takes no %s; see help %s", c->name,
					 command_option_names[first], c->name);
	} else if (n < c->min || n > c->max) {
		*wrong = command_usage(c, words);
	}
	return *wrong ? NULL : c;
}
