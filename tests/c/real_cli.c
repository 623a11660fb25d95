/* Conversations with the real CLI from C: `real_cli NAME CLI [MODEL]`, exit status 0 when the scenario
 * holds. It runs in a sandbox whose scripted API is steered by the prompts. */
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <towline.h>

#define CHECK(condition)                                                                    \
    do {                                                                                    \
        if (!(condition)) {                                                                 \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);   \
            exit(1);                                                                        \
        }                                                                                   \
    } while (0)

static void ok(towline_status status, towline_error *error, int line) {
    if (status == TOWLINE_OK) return;
    fprintf(stderr, "line %d: %s: %s\n", line, towline_status_name(status), error ? towline_error_message(error) : "");
    exit(1);
}
#define OK(call)                         \
    do {                                 \
        towline_error *error = NULL;     \
        ok((call), error, __LINE__);     \
        towline_error_free(error);       \
    } while (0)

/* No step of a scenario takes longer. */
enum { LIMIT_MS = 30000 };

static int calls; /* of the scenario's callback */
static char text[1 << 16];
static towline_session *session;

/* Takes events until one of this kind; keeps the visible text. The caller frees the event. */
static towline_event *until(int kind) {
    towline_event *event;
    for (;;) {
        OK(towline_session_poll(session, LIMIT_MS, &event, &error));
        size_t n;
        const char *seen = towline_event_text(event, &n);
        if (towline_event_kind(event) == TOWLINE_MESSAGE && strlen(text) + n < sizeof text) strncat(text, seen, n);
        if ((int)towline_event_kind(event) == kind) return event;
        CHECK(towline_event_kind(event) != TOWLINE_CLOSED);
        towline_event_free(event);
    }
}

static void say(const char *prompt) {
    text[0] = '\0';
    OK(towline_session_send(session, prompt, TOWLINE_NUL, NULL, &error));
}

static void turn(const char *prompt) {
    say(prompt);
    towline_event *event = until(TOWLINE_TURN_ENDED);
    CHECK(towline_event_outcome(event) == TOWLINE_ENDED_WITH_RESULT);
    towline_event_free(event);
}

static void finish(void) {
    OK(towline_session_end_input(session, &error));
    towline_event *event = until(TOWLINE_CLOSED);
    CHECK(towline_event_error(event) == NULL);
    int64_t code = -1;
    CHECK(towline_event_int(event, "/exitCode", &code) == TOWLINE_OK && (code == 0 || code == 1));
    towline_event_free(event);
}

/* A turn after an interrupted one. */
static void still_usable(void) {
    say("go on");
    towline_event *event = until(TOWLINE_TURN_ENDED);
    bool is_error = true;
    CHECK(towline_event_bool(event, "/is_error", &is_error) == TOWLINE_OK && !is_error);
    CHECK(text[0] != '\0');
    towline_event_free(event);
}

static const char *const touch = "TOOL Bash {\"command\":\"touch allowed.txt\",\"description\":\"t\"}";

static bool exists(const char *path) {
    FILE *file = fopen(path, "r");
    if (file) fclose(file);
    return file != NULL;
}

static towline_answer allow(void *user_data, towline_request *request) {
    (void)user_data;
    calls++;
    CHECK(towline_request_kind(request) == TOWLINE_ASKS_PERMISSION);
    CHECK(strcmp(towline_request_tool(request, NULL), "Bash") == 0);
    return towline_request_allow(request, NULL, NULL, NULL) == TOWLINE_OK ? TOWLINE_ANSWERED : TOWLINE_FAILED;
}

static towline_answer deny(void *user_data, towline_request *request) {
    calls++;
    bool interrupt = user_data != NULL;
    CHECK(towline_request_deny(request, "not today", TOWLINE_NUL, interrupt, NULL) == TOWLINE_OK);
    return TOWLINE_ANSWERED;
}

static void *answer_elsewhere(void *request) {
    CHECK(towline_request_allow(request, NULL, NULL, NULL) == TOWLINE_OK);
    towline_request_free(request);
    return NULL;
}

static pthread_t other;

static towline_answer later(void *user_data, towline_request *request) {
    (void)user_data;
    calls++;
    CHECK(towline_request_retain(request) == TOWLINE_OK);
    CHECK(pthread_create(&other, NULL, answer_elsewhere, request) == 0);
    return TOWLINE_LATER;
}

static towline_answer hold(void *user_data, towline_request *request) {
    calls++;
    CHECK(towline_request_retain(request) == TOWLINE_OK);
    *(towline_request **)user_data = request;
    /* Nothing else may come before the answer: the poll this runs in is to return. */
    CHECK(towline_session_wake(session, NULL) == TOWLINE_OK);
    return TOWLINE_LATER;
}

/* Polls until hold() has got its request. */
static void until_held(towline_request *const *held) {
    while (!*held) {
        towline_event *event = NULL;
        towline_error *error = NULL;
        towline_status status = towline_session_poll(session, LIMIT_MS, &event, &error);
        CHECK(status == TOWLINE_OK || (status == TOWLINE_TIMEOUT && *held));
        CHECK(!event || towline_event_kind(event) != TOWLINE_CLOSED);
        towline_event_free(event);
    }
}

static towline_answer block(void *user_data, towline_request *request) {
    (void)user_data;
    calls++;
    static const char output[] = "{\"decision\":\"block\",\"reason\":\"blocked by a hook\"}";
    CHECK(towline_request_respond(request, output, TOWLINE_NUL, NULL) == TOWLINE_OK);
    return TOWLINE_ANSWERED;
}

static towline_answer add(void *user_data, towline_request *call) {
    (void)user_data;
    calls++;
    double a, b;
    CHECK(towline_request_double(call, "/message/params/arguments/a", &a) == TOWLINE_OK);
    CHECK(towline_request_double(call, "/message/params/arguments/b", &b) == TOWLINE_OK);
    char sum[64];
    snprintf(sum, sizeof sum, "the sum is %g", a + b);
    CHECK(towline_request_tool_text(call, sum, TOWLINE_NUL, false, NULL) == TOWLINE_OK);
    return TOWLINE_ANSWERED;
}

static towline_options *options;

static void start(void) {
    OK(towline_session_create(options, &session, &error));
}

static void add_tool(towline_request_callback callback, void *user_data) {
    OK(towline_options_add_tool(options, "calc", "add", "Adds two numbers",
        "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"number\"},\"b\":{\"type\":\"number\"}},\"required\":[\"a\",\"b\"]}",
        NULL, callback, user_data, NULL, &error));
    static const char *const allowed[] = {"mcp__calc__add"};
    OK(towline_options_set_strings(options, "allowedTools", allowed, 1, &error));
}

/* The result of the last tool call, as the model read it. */
static char tool_result[4096];

static void turn_with_tool(const char *prompt) {
    tool_result[0] = '\0';
    say(prompt);
    for (;;) {
        towline_event *event;
        OK(towline_session_poll(session, LIMIT_MS, &event, &error));
        const char *type = towline_event_type(event);
        if (type && strcmp(type, "user") == 0) {
            const char *result = towline_event_str(event, "/message/content/0/content", NULL);
            if (!result) result = towline_event_str(event, "/message/content/0/content/0/text", NULL);
            if (result) snprintf(tool_result, sizeof tool_result, "%s", result);
        }
        int kind = towline_event_kind(event);
        CHECK(kind != TOWLINE_CLOSED);
        towline_event_free(event);
        if (kind == TOWLINE_TURN_ENDED) return;
    }
}

static void one_turn(void) {
    start();
    OK(towline_session_connect(session, LIMIT_MS, &error));
    CHECK(towline_session_capabilities_json(session, NULL) != NULL);
    turn("hello");
    CHECK(strstr(text, "echo: hello"));
    CHECK(strlen(towline_session_id(session, NULL)) == 36);
    turn("again");
    CHECK(strstr(text, "echo: again"));
    finish();
}

static void permission_allowed(void) {
    OK(towline_options_on_permission(options, allow, NULL, NULL, &error));
    start();
    turn(touch);
    CHECK(calls == 1 && exists("allowed.txt"));
    finish();
}

static void permission_denied(void) {
    OK(towline_options_on_permission(options, deny, NULL, NULL, &error));
    start();
    turn_with_tool(touch);
    CHECK(calls == 1 && !exists("allowed.txt") && strstr(tool_result, "not today"));
    finish();
}

static void permission_denied_with_interrupt(void) {
    static int interrupt;
    OK(towline_options_on_permission(options, deny, &interrupt, NULL, &error));
    start();
    say(touch);
    towline_event *event = until(TOWLINE_TURN_ENDED);
    bool is_error = false;
    CHECK(towline_event_bool(event, "/is_error", &is_error) == TOWLINE_OK && is_error);
    towline_event_free(event);
    still_usable();
    finish();
}

static void permission_later(void) {
    OK(towline_options_on_permission(options, later, NULL, NULL, &error));
    start();
    turn(touch);
    CHECK(pthread_join(other, NULL) == 0);
    CHECK(calls == 1 && exists("allowed.txt"));
    finish();
}

static void permission_as_event(void) {
    OK(towline_options_on_permission(options, NULL, NULL, NULL, &error));
    start();
    say(touch);
    towline_event *event = until(TOWLINE_REQUEST);
    OK(towline_request_allow(towline_event_request(event), NULL, NULL, &error));
    towline_event_free(event);
    towline_event_free(until(TOWLINE_TURN_ENDED));
    CHECK(exists("allowed.txt"));
    finish();
}

static void hook_blocks(void) {
    OK(towline_options_on_permission(options, allow, NULL, NULL, &error));
    OK(towline_options_on_hook(options, "PreToolUse", "Bash", 0, TOWLINE_HOOK_DEFAULT, block, NULL, NULL, &error));
    start();
    turn_with_tool(touch);
    CHECK(calls == 1 && !exists("allowed.txt") && strstr(tool_result, "blocked by a hook"));
    finish();
}

static void tool_succeeds(void) {
    add_tool(add, NULL);
    start();
    turn_with_tool("TOOL mcp__calc__add {\"a\":20,\"b\":22}");
    CHECK(calls == 1 && strstr(tool_result, "the sum is 42"));
    turn_with_tool("TOOL mcp__calc__add {\"a\":20}");
    CHECK(calls == 1 && strstr(tool_result, "Invalid arguments"));
    finish();
}

static void tool_cancelled(void) {
    static towline_request *held;
    add_tool(hold, &held);
    start();
    say("TOOL mcp__calc__add {\"a\":1,\"b\":2}");
    until_held(&held);
    OK(towline_session_interrupt(session, NULL, &error));
    towline_event_free(until(TOWLINE_REQUEST_CANCELLED));
    CHECK(towline_request_cancelled(held));
    CHECK(towline_request_tool_text(held, "too late", TOWLINE_NUL, false, NULL) == TOWLINE_ERR_WITHDRAWN);
    towline_request_free(held);
    towline_event_free(until(TOWLINE_TURN_ENDED));
    finish();
}

static void interrupt_in_a_turn(void) {
    static towline_request *held;
    OK(towline_options_on_permission(options, hold, &held, NULL, &error));
    start();
    say(touch);
    until_held(&held);
    OK(towline_session_interrupt(session, NULL, &error));
    towline_event *event = until(TOWLINE_TURN_ENDED);
    const char *subtype = towline_event_str(event, "/subtype", NULL);
    CHECK(subtype && strcmp(subtype, "error_during_execution") == 0);
    towline_event_free(event);
    CHECK(towline_request_cancelled(held));
    towline_request_free(held);
    still_usable();
    finish();
}

static void control_requests(void) {
    start();
    towline_event *event;
    OK(towline_session_request_wait(session, "set_model", "{\"model\":\"claude-haiku-4-5\"}", TOWLINE_NUL, LIMIT_MS, &event, &error));
    towline_event_free(event);
    OK(towline_session_request_wait(session, "set_permission_mode", "{\"mode\":\"plan\"}", TOWLINE_NUL, LIMIT_MS, &event, &error));
    CHECK(strcmp(towline_event_str(event, "/mode", NULL), "plan") == 0);
    towline_event_free(event);
    OK(towline_session_request_wait(session, "get_settings", NULL, 0, LIMIT_MS, &event, &error));
    CHECK(towline_event_value(event, "/effective", NULL) != NULL);
    towline_event_free(event);
    towline_error *error = NULL;
    towline_status status = towline_session_request_wait(session, "no_such_thing", NULL, 0, LIMIT_MS, &event, &error);
    CHECK(status == TOWLINE_ERR_REMOTE && error && strlen(towline_error_message(error)) > 0);
    towline_error_free(error);
    turn("hello");
    finish();
}

static void unknown_resume(void) {
    OK(towline_options_set_string(options, "resume", "11111111-2222-4333-8444-555555555555", TOWLINE_NUL, &error));
    start();
    towline_error *error = NULL;
    CHECK(towline_session_connect(session, LIMIT_MS, &error) == TOWLINE_ERR_EXITED_EARLY);
    CHECK(error && strstr(towline_error_message(error), "No conversation found"));
    towline_error_free(error);
}

static void close_in_mid_turn(void) {
    static towline_request *held;
    OK(towline_options_on_permission(options, hold, &held, NULL, &error));
    start();
    say(touch);
    until_held(&held);
    OK(towline_session_close(session, 5000, &error));
    CHECK(towline_request_allow(held, NULL, NULL, NULL) != TOWLINE_OK);
    towline_request_free(held);
    towline_event_free(until(TOWLINE_CLOSED));
    CHECK(!exists("allowed.txt"));
}

static const struct {
    const char *name;
    void (*run)(void);
} scenarios[] = {
    {"one_turn", one_turn},
    {"permission_allowed", permission_allowed},
    {"permission_denied", permission_denied},
    {"permission_denied_with_interrupt", permission_denied_with_interrupt},
    {"permission_later", permission_later},
    {"permission_as_event", permission_as_event},
    {"hook_blocks", hook_blocks},
    {"tool_succeeds", tool_succeeds},
    {"tool_cancelled", tool_cancelled},
    {"interrupt_in_a_turn", interrupt_in_a_turn},
    {"control_requests", control_requests},
    {"unknown_resume", unknown_resume},
    {"close_in_mid_turn", close_in_mid_turn},
};

int main(int argc, char **argv) {
    size_t count = sizeof scenarios / sizeof *scenarios;
    if (argc < 3) {
        for (size_t i = 0; i < count; i++) puts(scenarios[i].name);
        return argc == 1 ? 0 : 2;
    }
    options = towline_options_new();
    OK(towline_options_set_string(options, "cliPath", argv[2], TOWLINE_NUL, &error));
    OK(towline_options_set_string(options, "model", argc > 3 ? argv[3] : "claude-sonnet-4-5", TOWLINE_NUL, &error));
    for (size_t i = 0; i < count; i++) {
        if (strcmp(argv[1], scenarios[i].name) != 0) continue;
        scenarios[i].run();
        towline_session_free(session);
        towline_options_free(options);
        return 0;
    }
    fprintf(stderr, "no scenario is called %s\n", argv[1]);
    return 2;
}
