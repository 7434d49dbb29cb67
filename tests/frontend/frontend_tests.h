/* The groups of the frontend's tests. */
#ifndef CUJIT_TESTS_FRONTEND_TESTS_H
#define CUJIT_TESTS_FRONTEND_TESTS_H

void test_decode(void);
void test_decode_damage(void);
void test_cfg(void);

#endif
