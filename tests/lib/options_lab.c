// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
#include "tests/lib/options_lab.h"

#include "tests/lib/unit.h"

int
setup_new(void **state)
{
	struct setup *t = *state = g_new0(struct setup, 1);

	t->folder = folder_enter();
	t->conf = options_new();
	t->warnings = g_ptr_array_new_with_free_func(g_free);
	return 0;
}

int
setup_free(void **state)
{
	struct setup *t = *state;

	options_free(t->conf);
	g_ptr_array_free(t->warnings, TRUE);
	folder_leave(&t->folder);
	g_free(t);
	return 0;
}

void
setup_parse(struct setup *t, const char *text)
{
	g_autoptr(GError) error = NULL;

	g_ptr_array_set_size(t->warnings, 0);
	if (!options_parse(t->conf, text, "x.conf", t->warnings, &error))
		fail_msg("%s", error->message);
}

void
setting_check(const struct options *conf, const struct setting *setting)
{
	const char *at = (const char *)conf + setting->offset;

	print_message("%s\n", setting->line);
	if (setting->size)
		assert_int_equal(number_at(at, setting->size), setting->number);
	else
		assert_int_equal(g_strcmp0(*(char *const *)at, setting->text),
				 0);
}

char *
source_read(const char *name)
{
	g_autofree char *path = folder_source(name, NULL);
	g_autoptr(GError) error = NULL;
	char *text;

	if (!g_file_get_contents(path, &text, NULL, &error))
		fail_msg("%s", error->message);
	return text;
}
