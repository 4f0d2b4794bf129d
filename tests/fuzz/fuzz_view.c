// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * Views as tools read them.
 */
#include "tests/fuzz/fuzz.h"
#include "tools/view.h"
#include "topology/text.h"

FUZZ_TARGET(view)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autoptr(GError) error = NULL;
	struct tool_view *v = tool_view_read(text, "fuzz", &error);

	if (!v && error->domain == TEXT_ERROR)
		fuzz_assert_refused(error, TEXT_ERROR, TEXT_ERROR_SYNTAX);
	tool_view_free(v);
	return 0;
}
