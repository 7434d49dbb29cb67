/* Runs the unit tests of the frontend. */
#include "check.h"

#include "frontend_tests.h"

CHECK_MAIN(test_decode, test_decode_damage, test_cfg)
