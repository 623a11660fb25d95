/* One question, with a tool of this program's own and a say in what runs. */
#include <stdio.h>
#include <string.h>
#include <towline.h>

static towline_answer weather(void *user_data, towline_request *call) {
    (void)user_data;
    size_t n;
    const char *city = towline_request_str(call, "/message/params/arguments/city", &n);
    char text[256];
    snprintf(text, sizeof text, "Sunny and 21 degrees in %s", city ? city : "?");
    towline_request_tool_text(call, text, TOWLINE_NUL, false, NULL);
    return TOWLINE_ANSWERED;
}

static towline_answer permission(void *user_data, towline_request *request) {
    (void)user_data;
    const char *tool = towline_request_str(request, "/tool_name", NULL);
    if (tool && strncmp(tool, "mcp__demo__", 11) == 0) towline_request_allow(request, NULL, NULL, NULL);
    else towline_request_deny(request, "Not for this example", TOWLINE_NUL, false, NULL);
    return TOWLINE_ANSWERED;
}

int main(void) {
    towline_options *o = towline_options_new();
    towline_options_add_tool(o, "demo", "weather", "The weather in a city",
        "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}",
        NULL, weather, NULL, NULL, NULL);
    towline_options_on_permission(o, permission, NULL, NULL, NULL);
    towline_session *s = NULL;
    towline_error *err = NULL;
    if (towline_session_create(o, &s, &err) == TOWLINE_OK) {
        towline_session_send(s, "What is the weather in Oslo? Use the weather tool.", TOWLINE_NUL, NULL, NULL);
        towline_session_end_input_when_settled(s, NULL);
        int open = 1;
        for (towline_event *e; open && towline_session_poll(s, -1, &e, &err) == TOWLINE_OK; towline_event_free(e)) {
            size_t n;
            const char *text = towline_event_text(e, &n);
            if (towline_event_kind(e) == TOWLINE_MESSAGE) fwrite(text, 1, n, stdout);
            open = towline_event_kind(e) != TOWLINE_CLOSED;
        }
    }
    if (err) fprintf(stderr, "%s\n", towline_error_message(err));
    towline_error_free(err);
    towline_session_free(s);
    towline_options_free(o);
    return 0;
}
