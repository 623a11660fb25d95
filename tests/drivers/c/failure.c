/* How steps fail. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "host.h"

failure no_failure(void) {
    failure none = {NULL, NULL, false, 0};
    return none;
}

static failure with(const char *kind, char *message) {
    failure made = no_failure();
    made.kind = kind;
    made.message = message;
    return made;
}

failure timed_out(int64_t limit) {
    text message = {NULL, 0, 0};
    text_print(&message, "step did not finish within %lld ms", (long long)limit);
    return with("Timeout", message.bytes);
}

failure driver_failure(const char *format, ...) {
    char message[500];
    va_list values;
    va_start(values, format);
    vsnprintf(message, sizeof message, format, values);
    va_end(values);
    return with("Driver", copy_of(message, strlen(message)));
}

failure failure_of(const towline_error *error) {
    const char *message = towline_error_message(error);
    const char *detail = towline_error_detail_json(error);
    json *parsed = json_parse(detail, strlen(detail));
    failure made = with("Error", copy_of(message, strlen(message)));
    const json *code = json_get(parsed, "exitCode");
    made.has_exit_code = code != NULL && code->kind == JSON_NUMBER;
    made.exit_code = json_int(code, 0);
    json_free(parsed);
    return made;
}

failure failed(towline_status status, towline_error *error) {
    failure made;
    if (error == NULL) {
        return driver_failure("%s without an error object", towline_status_name((int)status));
    }
    made = failure_of(error);
    if (status == TOWLINE_TIMEOUT) {
        made.kind = "Timeout";
    }
    towline_error_free(error);
    return made;
}

void failure_free(failure *error) {
    free(error->message);
    *error = no_failure();
}
