/* One question, with a tool of this program's own and a say in what runs. */
#include <stdio.h>
#include <string.h>
#include <towline.h>

static towline_answer weather(void *user_data, towline_request *call) {
    (void)user_data;
    const char *city = towline_request_str(call, "/message/params/arguments/city", NULL);
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

int main(int argc, char **argv) {
    const char *prompt = argc > 1 ? argv[1] : "What is the weather in Oslo? Use the weather tool.";
    towline_session *s = NULL;
    towline_error *err = NULL;
    towline_options *o = towline_options_new();
    towline_options_on_permission(o, permission, NULL, NULL, NULL);
    bool open = towline_options_add_tool(o, "demo", "weather", "The weather in a city",
            "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}",
            NULL, weather, NULL, NULL, &err) == TOWLINE_OK
        && towline_session_create(o, &s, &err) == TOWLINE_OK
        && towline_session_send(s, prompt, TOWLINE_NUL, NULL, &err) == TOWLINE_OK
        && towline_session_end_input_when_settled(s, &err) == TOWLINE_OK;
    bool answered = false, failed = true;
    for (towline_event *e; open && towline_session_poll(s, -1, &e, &err) == TOWLINE_OK; towline_event_free(e)) {
        size_t n;
        const char *text = towline_event_text(e, &n);
        if (towline_event_kind(e) == TOWLINE_MESSAGE && n > 0) printf("%.*s\n", (int)n, text);
        if (towline_event_kind(e) == TOWLINE_TURN_ENDED) answered = towline_event_outcome(e) == TOWLINE_ENDED_WITH_RESULT;
        if (towline_event_kind(e) == TOWLINE_CLOSED) {
            const towline_error *why = towline_event_error(e);
            if (why) fprintf(stderr, "%s\n", towline_error_message(why));
            else if (!answered) fprintf(stderr, "the turn ended without a result\n");
            failed = why || !answered;
            open = false;
        }
    }
    if (err) fprintf(stderr, "%s\n", towline_error_message(err));
    towline_error_free(err);
    towline_session_free(s);
    towline_options_free(o);
    return failed;
}
