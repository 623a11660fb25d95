/* The version macros, as a program sees them when it is compiled and when it runs. */
#include "towline_test.h"

#if TOWLINE_VERSION_NUMBER !=                                                                      \
    TOWLINE_VERSION_MAJOR * 1000000 + TOWLINE_VERSION_MINOR * 1000 + TOWLINE_VERSION_PATCH
#error "the version number does not follow from its parts"
#endif

#if TOWLINE_ABI_VERSION < 0
#error "TOWLINE_ABI_VERSION cannot be used in #if"
#endif

int main(void) {
    char text[64];
    snprintf(text, sizeof text, "%d.%d.%d", TOWLINE_VERSION_MAJOR, TOWLINE_VERSION_MINOR,
             TOWLINE_VERSION_PATCH);
    TEXT(TOWLINE_VERSION, text);
    TEXT(TOWLINE_VERSION, towline_version());
    CHECK(towline_abi_version() == TOWLINE_ABI_VERSION);
    CHECK(TOWLINE_NUL == SIZE_MAX);
    TEXT("TOWLINE_OK", towline_status_name(TOWLINE_OK));
    TEXT("TOWLINE_ERR_FORKED", towline_status_name(TOWLINE_ERR_FORKED));
    TEXT("unknown status", towline_status_name(-5));
    return 0;
}
