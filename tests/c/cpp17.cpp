// The header in C++: it compiles, and its functions link by their C names.
#include "towline.h"

#include <cstring>
#include <memory>

struct Free {
    void operator()(towline_options *options) const { towline_options_free(options); }
};

int main() {
    std::unique_ptr<towline_options, Free> options{towline_options_new()};
    towline_error *error = nullptr;
    towline_status status =
        towline_options_set_string(options.get(), "modle", "x", TOWLINE_NUL, &error);
    bool named = std::strstr(towline_error_message(error), "model") != nullptr;
    towline_error_free(error);
    return status == TOWLINE_ERR_OPTION && named ? 0 : 1;
}
