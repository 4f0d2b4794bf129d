// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * A line from a client of the control socket. Every line has an answer with a
 * head, and nothing of what was typed comes back as a control character; JSON
 * is one line of UTF-8.
 */
#include <stdbool.h>

#include "sm/control/control.h"
#include "tests/fuzz/fuzz.h"

struct manager {
	struct status *status;
	struct partition_rules *rules;
	struct options *conf;
	struct mad_client client;
	struct sa_server_stats desk;
	struct mcast_manager mcast;
	struct sweep sweep;
	struct log *log;
	unsigned calls;
};

static void
look(struct control_view *out, void *data)
{
	struct manager *m = data;

	*out = (struct control_view){
		.port_name = "port",
		.status = m->status,
		.rules = m->rules,
		.conf = m->conf,
		.desk = &m->desk,
		.mcast = &m->mcast,
		.sweep = &m->sweep,
		.log = m->log,
	};
}

static void
note_sweep(void *data)
{
	struct manager *m = data;

	m->calls++;
}

static enum control_code
note_reload(uint64_t *number, G_GNUC_UNUSED GPtrArray *lines, void *data)
{
	note_sweep(data);
	return *number % 2 ? CONTROL_DONE : CONTROL_AGAIN;
}

static uint64_t
note_change(uint16_t pkey, uint64_t guid, int membership,
	    G_GNUC_UNUSED const char *answer, GError **error, void *data)
{
	struct manager *m = data;

	g_assert_nonnull(partition_rules_find(m->rules, pkey));
	g_assert_cmpint(membership, >=, -1);
	g_assert_cmpint(membership, <=, PARTITION_BOTH);
	return ++m->calls;
}

static bool
note_changed(uint64_t number, const char **answer, GError **error, void *data)
{
	*answer = "changed";
	return true;
}

static unsigned
note_accept(const char *word, void *data)
{
	struct manager *m = data;

	m->calls++;
	return 1;
}

static void
check_answer(const struct manager *m, bool json, const GString *answer)
{
	const char *body = strchr(answer->str, '\n') + 1;
	char code = answer->str[strlen("minism 2 ")];

	g_assert_true(g_str_has_prefix(answer->str, "minism 2 "));
	g_assert_true(code >= '0' && code <= '7' && code != '3');
	g_assert_cmpuint(answer->len, ==, strlen(answer->str));
	g_assert_true(!*body || g_str_has_suffix(body, "\n"));
	g_assert_cmpuint(m->calls, <=, code == '0' || code == '7');
	for (const char *c = body; *c; c++)
		g_assert_false(*c != '\n' && *c != '\t' && g_ascii_iscntrl(*c));
	if (!json || code == '7')
		return;
	g_assert_cmpint(*body, ==, '{');
	g_assert_cmpuint(strcspn(body, "\n"), ==, strlen(body) - 1);
	g_assert_true(g_utf8_validate(body, -1, NULL));
}

FUZZ_TARGET(ctl)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *line = fuzz_text(&in);
	g_autoptr(GString) answer = g_string_new(NULL);
	struct manager m = {
		.status = status_new(),
		.rules = partition_rules_default(),
		.conf = options_new(),
		.mcast.lost = g_ptr_array_new(),
		.sweep.over = true,
		.sweep.self.state = SM_STATE_MASTER,
		.sweep.flaps = flaps_new(&(struct flap_params){ 0 }),
		.log = log_open("/dev/null", LOG_ERROR, NULL),
	};
	const struct control_hooks hooks = {
		.look = look, .sweep = note_sweep, .reload = note_reload,
		.change = note_change, .changed = note_changed,
		.accept = note_accept, .data = &m,
	};

	m.sweep.log = m.log;
	m.sweep.x = &m.client;
	/* the socket ends a line there */
	line[strcspn(line, "\n")] = '\0';
	control_answer(&hooks, line, answer);
	check_answer(&m, g_str_has_prefix(text_skip_blanks(line), "json "),
		     answer);
	g_assert_cmpuint(m.sweep.self.priority, <=, 15);
	status_free(m.status);
	partition_rules_unref(m.rules);
	options_free(m.conf);
	g_ptr_array_unref(m.mcast.lost);
	flaps_free(m.sweep.flaps);
	log_free(m.log);
	return 0;
}
