// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * All is taken from a view, best from one of minism --observe, which has read
 * what another manager wrote. What only vendor attributes tell is not asked:
 * their effect on a device is not documented for all of them.
 */
#include "tools/show.h"

#include <inttypes.h>
#include <string.h>

#include "sm/mad/smp.h"
#include "topology/each.h"
#include "topology/expected.h"
#include "topology/text.h"

#define NAMES_MAX	4u

enum finding_kind {
	FINDING_VERDICT,
	FINDING_MANAGER,	/* it answers */
	FINDING_MUTE,
	FINDING_VIRTUAL,
	FINDING_KEY,
	FINDING_SL2VL,
	FINDING_FOREIGN,
	FINDING_SILENT,
	FINDING_INSIDE,
	FINDING_ODD,
	FINDING_KINDS
};

static const struct {
	const char *what, *act;	/* act: what to do */
} finding_texts[FINDING_KINDS] = {
	[FINDING_VERDICT] = { "the subnet is not as it should be",
		"\"minismctl status\" names the causes; mend them first" },
	[FINDING_MANAGER] = { "another subnet manager",
		"minism without a priority waits until a master ends; else the "
		"higher priority is the master, if both have the same sm_key" },
	[FINDING_MUTE] = { "a subnet manager that does not answer",
		"stop it there, or wait until its port's M_Key is known" },
	[FINDING_VIRTUAL] = { "ports with virtual ports",
		"VFs of these ports stay down with any open manager: use the "
		"ports themselves, or keep the vendor's manager" },
	[FINDING_KEY] = { "ports with an M_Key",
		"without it they cannot be changed: set m_key, enter it in "
		"guid2mkey, or let the former manager clear it" },
	[FINDING_SL2VL] = { "SLs on other VLs than by default",
		"a former manager had QoS: configure qos, which writes these "
		"tables, or reset the ports" },
	[FINDING_FOREIGN] = { "ports with a foreign M_Key",
		"enter it in guid2mkey, let the former manager clear it, or "
		"reset the port; until then it cannot be changed" },
	[FINDING_SILENT] = { "ports with a link and no host that can be used",
		"a host hangs, takes no address, or has an M_Key at protection "
		"level 2: \"minismctl status\" says which; for keys ask the "
		"former manager" },
	[FINDING_INSIDE] = { "aggregation nodes (SHARP)",
		"minism does not drive them; jobs with SHARP need the vendor's "
		"manager, others do not notice" },
	[FINDING_ODD] = { "switches with an odd last port",
		"it leads to a part of the switch itself: no cable is missing "
		"there" },
};

struct finding {
	GString *where;
	guint n, shown;
};

static void
finding_add(struct finding *f, const char *name)
{
	f->n++;
	/* a name that nodes share is of no use twice */
	if (!f->shown ||
	    (f->shown < NAMES_MAX && !strstr(f->where->str, name)))
		g_string_append_printf(f->where, "%s%s", f->shown++ ? ", " :
				       "", name);
}

/* Of those that are at any place. False: there are none. */
static bool
put_findings(struct finding *f, struct text_report *r)
{
	bool any = false;

	for (unsigned k = 0; k < FINDING_KINDS; k++) {
		if (f[k].n > f[k].shown)
			g_string_append_printf(f[k].where, " and %u more",
					       f[k].n - f[k].shown);
		if (f[k].n) {
			any = true;
			report_open(r, NULL, '{');
			report_text(r, "what", finding_texts[k].what, ": ");
			report_number(r, "count", f[k].n, NULL);
			report_text(r, "where", f[k].where->str, ": ");
			report_text(r, "do", finding_texts[k].act, "\n");
			report_close(r, '}');
		}
		g_string_free(f[k].where, TRUE);
	}
	return any;
}

/* ------------------------------------------------------------ the findings */

/* Of each end port that has a line #trait. */
static void
doctor_traits(const struct tool_view *v, struct finding *f)
{
	uint64_t own = view_lines_first(v->lines, VIEW_HEAD)->n[HEAD_PORT];
	/* which sets the keys itself */
	bool is_master = !g_strcmp0(view_lines_first(v->lines, VIEW_ROLE)->text,
				    "master");

	EACH_PTR(const struct view_text, t, v->lines->of[VIEW_TRAIT]) {
		uint32_t port = tool_view_line_port(v, t->n);
		uint64_t guid = port == SNAPSHOT_NONE ? 0 :
			v->s->ports[port].guid;
		bool has[FINDING_KINDS] = {
			[FINDING_MUTE] = t->n[TRAIT_SM] && guid != own,
			[FINDING_VIRTUAL] = t->n[TRAIT_VIRTUAL],
			[FINDING_KEY] = t->n[TRAIT_KEY] && !is_master,
			[FINDING_SL2VL] = t->text != NULL,
		};
		g_autofree char *name = NULL;

		if (port == SNAPSHOT_NONE)
			continue;
		EACH_PTR(const struct view_text, sm, v->lines->of[VIEW_SM])
			if (sm->n[SM_GUID] == guid)	/* it answers */
				has[FINDING_MUTE] = false;
		name = snapshot_port_name(v->s, port);
		for (unsigned k = 0; k < FINDING_KINDS; k++)
			if (has[k])
				finding_add(&f[k], name);
	}
}

/* A port at protection level 1 answers; a master has found that it takes no Set,
 * and leaves it out of the next sweep. */
#define FOREIGN	" rejects Sets: it has a foreign M_Key"

static void
doctor_foreign(const GPtrArray *lines, struct finding *f)
{
	EACH_PTR(const struct view_text, line, lines) {
		const char *text = line->text;
		const char *end = text ? strstr(text, FOREIGN) : NULL;
		g_autofree char *place = NULL;

		if (!end)
			continue;
		if (g_str_has_prefix(text, "locked: "))
			text += strlen("locked: ");
		place = g_strndup(text, (gsize)(end - text));
		finding_add(&f[FINDING_FOREIGN], place);
	}
}

/* A switch that has an aggregation node inside has it at its last port, which its
 * panel lacks; if it is turned off nothing is there. Such nodes have the name of
 * all their kind, and are told by that port. */
static void
doctor_devices(const struct tool_view *v, struct finding *f)
{
	const struct snapshot *s = v->s;

	for (uint32_t i = 0; i < s->n_nodes; i++) {
		const struct snapshot_node *n = &s->nodes[i];
		unsigned last = n->info.num_ports;
		uint32_t within = SNAPSHOT_NONE, far = SNAPSHOT_NONE;
		g_autofree char *name = NULL;

		if (!snapshot_is_switch(n))
			continue;
		for (unsigned num = 1; num <= last; num++) {
			far = s->ports[n->first_port + num].peer;
			if (far != SNAPSHOT_NONE &&
			    !snapshot_is_switch(snapshot_node_of(s, far)) &&
			    snapshot_is_inside(s, far, i))
				within = far;
		}
		if (within != SNAPSHOT_NONE) {
			name = snapshot_port_name(s, s->ports[within].peer);
			finding_add(&f[FINDING_INSIDE], name);
		}
		if (last > 1 && last % 2 &&
		    (far == SNAPSHOT_NONE || far == within))
			finding_add(&f[FINDING_ODD], snapshot_node_name(n));
	}
}

/* ------------------------------------------------------- what is no finding */

static void
put_models(const struct tool_view *v, struct text_report *r)
{
	g_autoptr(GPtrArray) models = g_ptr_array_new_with_free_func(g_free);
	guint n;

	for (uint32_t i = 0; i < v->s->n_nodes; i++) {
		const struct snapshot_node *node = &v->s->nodes[i];
		g_autofree char *revision = node->info.revision ?
			g_strdup_printf(" revision 0x%x", node->info.revision) :
			g_strdup("");

		text_add(models, "%s vendor 0x%06x device %u%s",
			 snapshot_is_switch(node) ? "switch" : "CA",
			 node->info.vendor_id, node->info.device_id, revision);
	}
	g_ptr_array_sort(models, text_compare);
	report_open(r, "models", '[');
	for (guint i = 0; i < models->len; i += n) {
		const char *model = models->pdata[i];

		for (n = 1; i + n < models->len &&
		     strcmp(models->pdata[i + n], model) == 0; n++)
			;
		report_open(r, NULL, '{');
		report_say(r, "model: ");
		report_number(r, "count", n, " x ");
		report_text(r, "model", model, "\n");
		report_close(r, '}');
	}
	report_close(r, ']');
}

static void
put_unasked(const struct tool_view *v, struct text_report *r)
{
	const char *role = view_lines_first(v->lines, VIEW_ROLE)->text;
	g_autoptr(GPtrArray) lines = g_ptr_array_new();

	g_ptr_array_add(lines, (char *)"adaptive routing: only vendor "
		"attributes tell; turn it off in the former manager. minism "
		"writes all forwarding tables once when it takes over");
	g_ptr_array_add(lines, (char *)"firmware: only vendor attributes tell "
		"(vendstat -N LID)");
	if (g_strcmp0(role, "observing"))
		g_ptr_array_add(lines, (char *)"SLs on VLs: ask a minism "
			"--observe, which reads them of all hosts");
	if (!v->lines->of[VIEW_MANAGER]->len)
		g_ptr_array_add(lines, (char *)"managers, M_Keys and virtual "
			"ports: this is a net file, not a manager's view");
	report_lines(r, "not_asked", lines, "not asked: ");
}

int
show_doctor(struct show *q, GError **error)
{
	struct finding f[FINDING_KINDS];
	struct text_report *r = &q->out;
	uint64_t own = view_lines_first(q->v->lines, VIEW_HEAD)->n[HEAD_PORT];
	const char *verdict = view_lines_first(q->v->lines, VIEW_VERDICT)->text;
	g_autofree char *name = g_ascii_strup(verdict ? verdict : "", -1);
	bool any;

	for (unsigned k = 0; k < FINDING_KINDS; k++)
		f[k] = (struct finding){ .where = g_string_new(NULL) };
	if (verdict && strcmp(verdict, "up"))
		finding_add(&f[FINDING_VERDICT], name);
	EACH_PTR(const struct view_text, sm, q->v->lines->of[VIEW_SM]) {
		g_autofree char *place = NULL;

		if (sm->n[SM_GUID] == own)
			continue;
		place = g_strdup_printf("%s (0x%016" PRIx64
			"), %s, priority %" PRIu64, sm->text ? sm->text : "?",
			sm->n[SM_GUID],
			sm_state_name((unsigned)sm->n[SM_STATE]),
			sm->n[SM_PRIORITY]);
		finding_add(&f[FINDING_MANAGER], place);
	}
	doctor_traits(q->v, f);
	doctor_foreign(q->v->lines->of[VIEW_COMPLAINT], f);
	doctor_foreign(q->v->lines->of[VIEW_WARNING], f);
	/* a node at protection level 2 does not answer without its key; a host
	 * that acknowledges an address and does not take it is one of these
	 * faults, too */
	EACH_PTR(const struct expected_fault, fault,
		 q->v->lines->expected->faults)
		if (strstr(fault->text, FOREIGN))
			finding_add(&f[FINDING_FOREIGN], fault->name);
		else if (fault->kind == EXPECTED_SILENT)
			finding_add(&f[FINDING_SILENT], fault->name);
	doctor_devices(q->v, f);
	report_open(r, NULL, '{');
	report_open(r, "findings", '[');
	any = put_findings(f, r);
	report_close(r, ']');
	if (!any)
		report_say(r, "of what was asked, nothing speaks against a first "
			   "mastership\n");
	put_models(q->v, r);
	put_unasked(q->v, r);
	report_end(r);
	return any;
}
