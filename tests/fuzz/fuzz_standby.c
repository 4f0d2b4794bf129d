// SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB
/*
 * The state that a master's SA tells a standby: its parts are those between its
 * headings.
 */
#include "sm/sa/sa.h"
#include "tests/fuzz/fuzz.h"

/* With its seal, which a liar can put on, too; and without. */
FUZZ_TARGET(standby)
{
	struct fuzz_input in = { data, MIN(size, FUZZ_MAX) };
	g_autofree char *text = fuzz_text(&in);
	g_autofree char *sum = NULL, *whole = NULL, *again = NULL;
	/* without a seal: must not crash */
	g_autofree char *unsealed G_GNUC_UNUSED =
		sa_state_part(text, strlen(text), "sa-state");

	if (!g_str_has_suffix(text, "\n"))
		return 0;
	sum = g_compute_checksum_for_string(G_CHECKSUM_SHA256, text, -1);
	whole = g_strdup_printf("%s= end %s\n\n", text, sum);
	again = sa_state_part(whole, strlen(whole), "sa-state");
	g_assert_true(!again || strstr(text, again));
	g_assert_true(again || !g_str_has_prefix(text, "= sa-state\n"));
	return 0;
}
