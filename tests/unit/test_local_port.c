// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Which of several local ports a subnet manager takes, and what is said of it:
 * tests/golden/local_port. A case is the wish, if there is one, and the machine's
 * ports:
 *
 *	want NAME|- NUMBER|0 GUID|0
 *	NAME NUMBER GUID ib|eth[,IsSMdisabled] STATE PHYSICAL LID LMC SMLID
 *
 * Backwards the same one is taken, but among equals.
 */
#include <inttypes.h>

#include "sm/io/local_port.h"
#include "tests/lib/unit.h"

static bool
read_port(const char *line, struct local_port *p)
{
	char kind[32];

	memset(p, 0, sizeof(*p));
	if (sscanf(line, "%19s %u %" SCNx64 " %31s %u %u %u %u %u", p->ca_name,
		   &p->num, &p->guid, kind, &p->state, &p->phys_state, &p->lid,
		   &p->lmc, &p->sm_lid) != 9)
		return false;
	p->infiniband = g_str_has_prefix(kind, "ib");
	p->sm_disabled = g_str_has_suffix(kind, "IsSMdisabled");
	return true;
}

GOLDEN("local_port", choice)
{
	g_auto(GStrv) lines = g_strsplit(text, "\n", -1);
	struct local_port port;
	g_autoptr(GArray) ports = g_array_new(FALSE, FALSE, sizeof(port));
	g_autoptr(GArray) back = g_array_copy(ports);
	char name[LOCAL_PORT_NAME_MAX] = "-";
	struct local_port_wish wish = { NULL };
	g_autoptr(GString) told = g_string_new(NULL);

	for (char **line = lines; **line; line++) {
		if (sscanf(*line, "want %19s %u %" SCNx64, name, &wish.num,
			   &wish.guid) == 3)
			continue;
		assert_true(read_port(*line, &port));
		g_array_append_val(ports, port);
		g_array_prepend_val(back, port);
	}
	wish.ca_name = *name == '-' ? NULL : name;
	const struct local_port *p = local_port_choose(ports, &wish);
	const struct local_port *other = local_port_choose(back, &wish);
	if (!p) {
		assert_null(other);
		local_port_explain(ports, &wish, out);
		g_string_append_c(out, '\n');
		return;
	}
	const struct local_port *gsi = local_port_gsi(ports, p);
	g_string_append_printf(out, "%s%u, GMPs by %s%u%s\n", p->ca_name,
			       p->num, gsi->ca_name, gsi->num,
			       memcmp(p, other, sizeof(*p)) ?
			       "; backwards another one" : "");
	g_string_append(out, local_port_tell_choice(ports, &wish, p, told) ?
			told->str : "there is no other");
	g_string_append_c(out, '\n');
}
