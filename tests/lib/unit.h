/* SPDX-License-Identifier: GPL-2.0-only OR Linux-OpenIB */
/*
 * One test program a folder: the tests of each file are added to those of the
 * program that it is linked into, in the order of linking. To be included
 * behind cmocka.h.
 *
 *	UNIT_TESTS(
 *		cmocka_unit_test(test_this),
 *		cmocka_unit_test_setup_teardown(test_that, set_up, tear_down)
 *	)
 */
#ifndef MINISM_TESTS_LIB_UNIT_H
#define MINISM_TESTS_LIB_UNIT_H

void unit_add(const struct CMUnitTest *tests, size_t n);

#define UNIT_TESTS(...) \
	static const struct CMUnitTest unit_tests[] = { __VA_ARGS__ }; \
	__attribute__((constructor)) static void \
	unit_register(void) \
	{ \
		unit_add(unit_tests, sizeof(unit_tests) / \
			 sizeof(*unit_tests)); \
	}

#endif
