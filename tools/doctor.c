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

#define NAMES_MAX	4u

struct finding {
	const char *what, *act;	/* act: what to do */
	GString *where;
	guint n, shown;
};

static struct finding
finding_new(const char *what, const char *act)
{
	return (struct finding){ what, act, g_string_new(NULL), 0, 0 };
}

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

/* A node that has the name of all its kind is told by the other end of its
 * cable. */
static void
finding_add_at(struct finding *f, const struct snapshot *s,
	       const struct snapshot_node *n)
{
	uint32_t far = SNAPSHOT_NONE;
	g_autofree char *name = NULL;

	for (unsigned num = 1; num <= n->info.num_ports; num++)
		if (s->ports[n->first_port + num].peer != SNAPSHOT_NONE)
			far = s->ports[n->first_port + num].peer;
	if (far != SNAPSHOT_NONE)
		name = snapshot_port_name(s, far);
	finding_add(f, name ? name : snapshot_node_name(n));
}

/* Prints it, if it is at any place. */
static bool
finding_put(struct finding *f, struct text_report *r)
{
	if (f->n > f->shown)
		g_string_append_printf(f->where, " and %u more",
				       f->n - f->shown);
	if (f->n) {
		report_open(r, NULL, '{');
		report_text(r, "what", f->what, ": ");
		report_number(r, "count", f->n, NULL);
		report_text(r, "where", f->where->str, ": ");
		report_text(r, "do", f->act, "\n");
		report_close(r, '}');
	}
	g_string_free(f->where, TRUE);
	return f->n > 0;
}

static uint32_t
trait_port(const struct tool_view *v, const struct view_text *trait)
{
	return snapshot_port_of(v->s, snapshot_find_node(v->s,
				trait->n[TRAIT_GUID]),
				(unsigned)trait->n[TRAIT_PORT]);
}

/* ------------------------------------------------------------ the findings */

static bool
doctor_verdict(const struct tool_view *v, struct text_report *r)
{
	const char *verdict = view_lines_first(v->lines, VIEW_VERDICT)->text;
	struct finding f = finding_new("the subnet is not as it should be",
		"\"minismctl status\" names the causes; mend them before");
	g_autofree char *name = g_ascii_strup(verdict ? verdict : "", -1);

	if (verdict && strcmp(verdict, "up"))
		finding_add(&f, name);
	return finding_put(&f, r);
}

/* Those that answer, a line each. */
static bool
put_managers(const struct tool_view *v, struct text_report *r)
{
	const GPtrArray *sms = v->lines->of[VIEW_SM];

	EACH_PTR(const struct view_text, sm, sms) {
		struct finding f = finding_new("another subnet manager",
			"minism without a priority waits until a master ends; "
			"else the higher priority is the master, if both have "
			"the same sm_key");
		g_autofree char *place = g_strdup_printf("%s (0x%016" PRIx64
			"), %s, priority %" PRIu64, sm->text ? sm->text : "?",
			sm->n[SM_GUID],
			sm_state_name((unsigned)sm->n[SM_STATE]),
			sm->n[SM_PRIORITY]);

		finding_add(&f, place);
		finding_put(&f, r);
	}
	return sms->len > 0;
}

static bool
answers(const struct tool_view *v, uint64_t guid)
{
	const GPtrArray *sms = v->lines->of[VIEW_SM];
	bool found = view_lines_first(v->lines, VIEW_HEAD)->n[HEAD_PORT] ==
		guid;

	for (guint i = 0; i < sms->len; i++)
		found |= ((const struct view_text *)sms->pdata[i])->n[SM_GUID]
			== guid;
	return found;
}

/* Of each end port that has a line #trait. */
static bool
put_traits(const struct tool_view *v, struct text_report *r)
{
	enum { MUTE, VIRTUAL, KEY, SL2VL, KINDS };
	struct finding f[KINDS] = {
		[MUTE] = finding_new("a subnet manager that does not answer",
			"stop it there, or wait until its port's M_Key is "
			"known"),
		[VIRTUAL] = finding_new("ports with virtual ports",
			"VFs of these ports stay down with any open manager: "
			"use the ports themselves, or keep the vendor's "
			"manager"),
		[KEY] = finding_new("ports with an M_Key",
			"without it they cannot be changed: set m_key, enter "
			"it in guid2mkey, or let the former manager clear it"),
		[SL2VL] = finding_new("SLs on other VLs than by default",
			"a former manager had QoS: configure qos, which writes "
			"these tables, or reset the ports"),
	};
	const GPtrArray *traits = v->lines->of[VIEW_TRAIT];
	/* which sets the keys itself */
	bool is_master = !g_strcmp0(view_lines_first(v->lines, VIEW_ROLE)->text,
				    "master");
	bool any = false;

	EACH_PTR(const struct view_text, t, traits) {
		uint32_t port = trait_port(v, t);
		const bool has[KINDS] = {
			[MUTE] = t->n[TRAIT_SM] && port != SNAPSHOT_NONE &&
				!answers(v, v->s->ports[port].guid),
			[VIRTUAL] = t->n[TRAIT_VIRTUAL],
			[KEY] = t->n[TRAIT_KEY] && !is_master,
			[SL2VL] = t->text != NULL,
		};
		g_autofree char *name = NULL;

		if (port == SNAPSHOT_NONE)
			continue;
		name = snapshot_port_name(v->s, port);
		for (unsigned k = 0; k < KINDS; k++)
			if (has[k])
				finding_add(&f[k], name);
	}
	for (unsigned k = 0; k < KINDS; k++)
		any |= finding_put(&f[k], r);
	return any;
}

/* A node at protection level 2 does not answer without its key; a host that
 * acknowledges an address and does not take it is one of these faults, too. */
static bool
put_silent(const struct tool_view *v, struct text_report *r)
{
	const GPtrArray *faults = v->lines->expected->faults;
	struct finding f = finding_new("ports with a link and no host that can be "
		"used",
		"a host hangs, takes no address, or has an M_Key at protection "
		"level 2: \"minismctl status\" says which; for keys ask the "
		"former manager");

	EACH_PTR(const struct expected_fault, fault, faults)
		if (fault->kind == EXPECTED_SILENT)
			finding_add(&f, fault->name);
	return finding_put(&f, r);
}

/* A port at protection level 1 answers; a master has found that it takes no Set,
 * and leaves it out of the next sweep. */
static bool
put_foreign(const struct tool_view *v, struct text_report *r)
{
	static const char left_out[] = "locked: ";
	const GPtrArray *complaints = v->lines->of[VIEW_COMPLAINT];
	struct finding f = finding_new("ports with a foreign M_Key",
		"enter it in guid2mkey, let the former manager clear it, or "
		"reset the port; until then it cannot be changed");

	for (guint i = 0; i < complaints->len; i++) {
		const char *text =
			((const struct view_text *)complaints->pdata[i])->text;
		const char *end = text ? strstr(text, " rejects Sets: it has a "
						"foreign M_Key") : NULL;
		g_autofree char *place = NULL;

		if (!end)
			continue;
		if (g_str_has_prefix(text, left_out))
			text += strlen(left_out);
		place = g_strndup(text, (gsize)(end - text));
		finding_add(&f, place);
	}
	return finding_put(&f, r);
}

/* A switch that has an aggregation node inside has it at its last port, which its
 * panel lacks; if it is turned off nothing is there. */
static bool
has_odd_last(const struct snapshot *s, uint32_t node, uint32_t inside)
{
	const struct snapshot_node *n = &s->nodes[node];
	unsigned last = n->info.num_ports;
	uint32_t far = s->ports[n->first_port + last].peer;

	return last > 1 && last % 2 && (far == SNAPSHOT_NONE || far == inside);
}

static bool
put_devices(const struct tool_view *v, struct text_report *r)
{
	struct finding inside = finding_new("aggregation nodes (SHARP)",
		"minism does not drive them; jobs with SHARP need the vendor's "
		"manager, others do not notice");
	struct finding odd = finding_new("switches with an odd last port",
		"it leads to a part of the switch itself: no cable is missing "
		"there");
	bool any;

	for (uint32_t i = 0; i < v->s->n_nodes; i++) {
		const struct snapshot_node *n = &v->s->nodes[i];
		uint32_t within = SNAPSHOT_NONE;

		if (!snapshot_is_switch(n))
			continue;
		for (unsigned num = 1; num <= n->info.num_ports; num++) {
			uint32_t far = v->s->ports[n->first_port + num].peer;

			if (far != SNAPSHOT_NONE &&
			    !snapshot_is_switch(snapshot_node_of(v->s, far)) &&
			    snapshot_is_inside(v->s, far, i))
				within = far;
		}
		if (within != SNAPSHOT_NONE)
			finding_add_at(&inside, v->s,
				       snapshot_node_of(v->s, within));
		if (has_odd_last(v->s, i, within))
			finding_add(&odd, snapshot_node_name(n));
	}
	any = finding_put(&inside, r);
	return finding_put(&odd, r) || any;
}

/* ------------------------------------------------------- what is no finding */

static char *
model_of(const struct snapshot_node *n)
{
	g_autofree char *revision = n->info.revision ?
		g_strdup_printf(" revision 0x%x", n->info.revision) : NULL;

	return g_strdup_printf("%s vendor 0x%06x device %u%s",
			       snapshot_is_switch(n) ? "switch" : "CA",
			       n->info.vendor_id, n->info.device_id,
			       revision ? revision : "");
}

static int
doctor_compare(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void
put_models(const struct tool_view *v, struct text_report *r)
{
	g_autoptr(GPtrArray) models = g_ptr_array_new_with_free_func(g_free);
	guint n;

	for (uint32_t i = 0; i < v->s->n_nodes; i++)
		g_ptr_array_add(models, model_of(&v->s->nodes[i]));
	g_ptr_array_sort(models, doctor_compare);
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
	static bool (*const puts[])(const struct tool_view *v,
				    struct text_report *r) = {
		doctor_verdict, put_managers, put_traits, put_foreign,
		put_silent, put_devices,
	};
	struct text_report *r = &q->out;
	bool any = false;

	report_open(r, NULL, '{');
	report_open(r, "findings", '[');
	for (size_t i = 0; i < G_N_ELEMENTS(puts); i++)
		any |= puts[i](q->v, r);
	report_close(r, ']');
	if (!any)
		report_say(r, "of what was asked, nothing speaks against a first "
			   "mastership\n");
	put_models(q->v, r);
	put_unasked(q->v, r);
	report_end(r);
	return any;
}
