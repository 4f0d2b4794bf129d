// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/lib/options_lab.h"

#include "tests/lib/unit.h"

int
setup_new(void **state)
{
	struct setup *t = g_new0(struct setup, 1);

	t->conf = options_new();
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	*state = t;
	return 0;
}

int
setup_free(void **state)
{
	struct setup *t = *state;

	options_free(t->conf);
	g_ptr_array_free(t->warnings, TRUE);
	g_free(t);
	return 0;
}

void
setup_parse(struct setup *t, const char *text)
{
	GError *error = NULL;

	g_ptr_array_set_size(t->warnings, 0);
	if (!options_parse(t->conf, text, "x.conf", t->warnings, &error))
		fail_msg("%s", error->message);
}

char *
source_read(const char *name)
{
	const char *top = g_getenv("MINISM_SRC");
	g_autofree char *path = g_build_filename(top ? top : ".", name, NULL);
	GError *error = NULL;
	char *text;

	if (!g_file_get_contents(path, &text, NULL, &error))
		fail_msg("%s", error->message);
	return text;
}
