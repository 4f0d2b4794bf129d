// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * `config`: the options that are in force, as a file that would make them so.
 */
#include "sm/control/request.h"

#include <string.h>

static const char *const origins[] = {
	[OPTIONS_DEFAULT] = "default",
	[OPTIONS_FILE] = "file",
	[OPTIONS_COMMAND_LINE] = "command line",
};

/* What a file cannot say is a comment. */
static void
put_value(struct text_report *r, const struct options_value *v)
{
	bool quotes = !v->value || !*v->value || strpbrk(v->value, " \t#");
	g_autofree char *text = v->secret ? g_strdup("(secret)") :
		!v->value && v->key ? g_strdup("(null)") :
		g_strdup_printf(quotes ? "\"%s\"" : "%s",
				v->value ? v->value : "");

	report_open(r, NULL, '{');
	report_say(r, "%s%s%s %s", v->secret || !v->key ? "# " : "",
		   v->key ? "" : "--", v->key ? v->key : v->name, text);
	report_say(r, "\t# %s\n", origins[v->from]);
	report_text(r, "key", v->key, NULL);
	report_text(r, "option", v->name, NULL);
	report_text(r, "value", v->secret ? text : v->value, NULL);
	report_text(r, "origin", origins[v->from], NULL);
	report_close(r, '}');
}

void
control_config(struct control_request *request)
{
	struct text_report r = { .json = { .out = request->body },
				 .as_json = request->json };
	g_autoptr(GArray) list = NULL;
	struct control_view v;

	request_look(request, &v);
	list = options_list(v.conf);
	report_open(&r, NULL, '{');
	report_say(&r, "# file: ");
	report_text(&r, "file", v.conf->config_file, "\n");
	report_open(&r, "config", '[');
	for (guint i = 0; i < list->len; i++)
		put_value(&r, &g_array_index(list, struct options_value, i));
	report_close(&r, ']');
	report_close(&r, '}');
	if (request->json)
		g_string_append_c(request->body, '\n');
}
