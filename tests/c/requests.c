/* What the CLI asks: permissions, hooks, tools, elicitations; in callbacks, as events, later from
 * another thread. */
#include <pthread.h>

#include "towline_test.h"

#define HOOK_INPUT "{\"subtype\":\"hook_callback\",\"callback_id\":\"hook_0\",\"tool_use_id\":\"t-1\",\"input\":{\"hook_event_name\":\"PreToolUse\",\"tool_name\":\"Bash\",\"tool_input\":{}}}"
#define MCP(message) "{\"subtype\":\"mcp_message\",\"server_name\":\"box\",\"message\":" message "}"
#define CALL(id, tool, arguments) MCP("{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"" tool "\",\"arguments\":" arguments ",\"_meta\":{\"progressToken\":9}}}")
#define PROGRESS "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"mcp_message\",\"message\":{\"method\":\"notifications/progress\"}}}},{\"answer\":{}}"
#define HANDSHAKE \
    ASKS("m-0", MCP("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}")) "," \
    ANSWERED("m-0", "{\"mcp_response\":{\"id\":0}}") "," \
    ASKS("m-1", MCP("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}")) "," \
    ANSWERED("m-1", "{}")

struct calls {
    towline_session *session;
    int count;
    int finalized;
    towline_request *kept;
    pthread_t thread;
};

static void finalize(void *user_data) {
    ((struct calls *)user_data)->finalized++;
}

/* Allows the first, denies the second. */
static towline_answer decide(void *user_data, towline_request *request) {
    struct calls *calls = user_data;
    size_t len = 0;
    towline_event *event = NULL;
    CHECK(towline_request_kind(request) == TOWLINE_ASKS_PERMISSION);
    CHECK(towline_request_id(request) != 0);
    TEXT("Bash", towline_request_tool(request, &len));
    CHECK(len == 4);
    TEXT("ls -la", towline_request_str(request, "/input/command", NULL));
    TEXT("{\"command\":\"ls -la\"}", towline_request_arguments(request, NULL));
    CHECK(!towline_request_cancelled(request));
    /* What would wait says so, here and anywhere. */
    FAILS(TOWLINE_ERR_REENTRANT, "wait", towline_session_poll(calls->session, 0, &event, &error));
    FAILS(TOWLINE_ERR_REENTRANT, "wait", towline_session_connect(calls->session, 0, &error));
    FAILS(TOWLINE_ERR_REENTRANT, "wait", towline_session_close(calls->session, 0, &error));
    FAILS(TOWLINE_ERR_REENTRANT, "wait",
          towline_session_request_wait(calls->session, "x", NULL, 0, 0, &event, &error));
    STATUS(TOWLINE_ERR_BUSY, towline_session_free(calls->session));
    FAILS(TOWLINE_ERR_WRONG_ANSWER, "permission",
          towline_request_tool_text(request, "x", 1, false, &error));
    if (calls->count++ == 0) {
        FAILS(TOWLINE_ERR_MESSAGE, "updatedInput",
              towline_request_allow(request, "[1]", NULL, &error));
        OK(towline_request_allow(request, "{\"command\":\"ls\"}", NULL, NULL));
        FAILS(TOWLINE_ERR_ANSWERED, "already", towline_request_deny(request, "x", 1, false, &error));
    } else {
        OK(towline_request_deny(request, "no more", TOWLINE_NUL, true, NULL));
    }
    CHECK(towline_request_cancelled(request));
    return TOWLINE_ANSWERED;
}

static void permissions_in_a_callback(void) {
    struct calls calls = {0};
    towline_options *options = test_options(
        "[" USER "," ASKS("p-1", CAN_USE_BASH) ","
        ANSWERED("p-1", "{\"behavior\":\"allow\",\"updatedInput\":{\"command\":\"ls\"}}") ","
        ASKS("p-2", CAN_USE_BASH) ","
        ANSWERED("p-2", "{\"behavior\":\"deny\",\"message\":\"no more\",\"interrupt\":true}") ","
        DONE "]");
    towline_options *copy;
    OK(towline_options_on_permission(options, decide, &calls, finalize, NULL));
    copy = towline_options_clone(options);
    calls.session = test_start(copy);
    OK(towline_options_free(copy));
    OK(towline_options_free(options));
    CHECK(calls.finalized == 0);
    OK(towline_session_send(calls.session, "go", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(calls.session, TOWLINE_TURN_ENDED)));
    CHECK(calls.count == 2);
    CHECK(calls.finalized == 0);
    test_finish(calls.session);
    CHECK(calls.finalized == 1);
}

static void permissions_as_events(void) {
    towline_options *options = test_options(
        "[" USER "," ASKS("p-1", CAN_USE_BASH) "," ANSWERED("p-1", "{\"behavior\":\"allow\"}") ","
        ASKS("p-2", CAN_USE_BASH) "," ANSWERED("p-2", "{\"behavior\":\"deny\",\"message\":\"by key\"}") ","
        ASKS("p-3", CAN_USE_BASH) "," ANSWERED("p-3", "{\"behavior\":\"deny\"}") ","
        ASKS("p-4", CAN_USE_BASH) ",{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"mark\"}}},"
        "{\"emit\":{\"type\":\"control_cancel_request\",\"request_id\":\"p-4\"}},"
        DONE "]");
    towline_session *session;
    towline_event *event;
    towline_request *request;
    uint64_t key;
    OK(towline_options_on_permission(options, NULL, NULL, NULL, NULL));
    session = test_start(options);
    OK(towline_session_send(session, "go", TOWLINE_NUL, NULL, NULL));

    event = test_until(session, TOWLINE_REQUEST);
    request = towline_event_request(event);
    CHECK(towline_request_id(request) == towline_event_id(event));
    TEXT("Bash", towline_event_str(event, "/tool_name", NULL));
    OK(towline_request_allow(request, NULL, NULL, NULL));
    OK(towline_event_free(event));

    event = test_until(session, TOWLINE_REQUEST);
    key = towline_event_id(event);
    FAILS(TOWLINE_ERR_UNKNOWN_REQUEST, "key",
          towline_session_respond(session, key + 100, "{}", 2, &error));
    FAILS(TOWLINE_ERR_MESSAGE, "behavior", towline_session_respond(session, key, "{}", 2, &error));
    OK(towline_session_respond(session, key, "{\"behavior\":\"deny\",\"message\":\"by key\"}", TOWLINE_NUL, NULL));
    OK(towline_event_free(event));

    /* Nobody answers: the safe answer. */
    OK(towline_event_free(test_until(session, TOWLINE_REQUEST)));

    event = test_until(session, TOWLINE_REQUEST);
    key = towline_event_id(event);
    request = towline_event_request(event);
    OK(towline_request_retain(request));
    OK(towline_event_free(event));
    OK(towline_session_request(session, "mark", NULL, 0, NULL, NULL));
    event = test_until(session, TOWLINE_REQUEST_CANCELLED);
    CHECK(towline_event_id(event) == key);
    TEXT("withdrawn", towline_event_str(event, "/reason", NULL));
    OK(towline_event_free(event));
    CHECK(towline_request_cancelled(request));
    FAILS(TOWLINE_ERR_WITHDRAWN, "withdrawn", towline_request_allow(request, NULL, NULL, &error));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    OK(towline_options_free(options));
    test_finish(session);
    FAILS(TOWLINE_ERR_CLOSED, "closed", towline_request_allow(request, NULL, NULL, &error));
    OK(towline_request_free(request));
}

static void *answer_later(void *user_data) {
    struct calls *calls = user_data;
    OK(towline_request_allow(calls->kept, NULL, NULL, NULL));
    OK(towline_request_free(calls->kept));
    return NULL;
}

static towline_answer keep(void *user_data, towline_request *request) {
    struct calls *calls = user_data;
    OK(towline_request_retain(request));
    calls->kept = request;
    CHECK(pthread_create(&calls->thread, NULL, answer_later, calls) == 0);
    return TOWLINE_LATER;
}

static void permission_later_from_another_thread(void) {
    struct calls calls = {0};
    towline_options *options = test_options(
        "[" USER "," ASKS("p-1", CAN_USE_BASH) "," ANSWERED("p-1", "{\"behavior\":\"allow\"}") "," DONE "]");
    OK(towline_options_on_permission(options, keep, &calls, finalize, NULL));
    calls.session = test_start(options);
    OK(towline_session_send(calls.session, "go", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(calls.session, TOWLINE_TURN_ENDED)));
    CHECK(pthread_join(calls.thread, NULL) == 0);
    OK(towline_options_free(options));
    test_finish(calls.session);
    CHECK(calls.finalized == 1);
}

/* Says later without keeping it, then fails, then claims to have answered. */
static towline_answer misbehave(void *user_data, towline_request *request) {
    struct calls *calls = user_data;
    (void)request;
    switch (calls->count++) {
    case 0: return TOWLINE_LATER;
    case 1: return TOWLINE_FAILED;
    case 2: return TOWLINE_ANSWERED;
    default: return 77;
    }
}

static void note(void *user_data, const char *line, size_t len) {
    struct calls *calls = user_data;
    towline_event *event = NULL;
    CHECK(strlen(line) == len && len > 0);
    FAILS(TOWLINE_ERR_REENTRANT, "wait", towline_session_poll(calls->session, 0, &event, &error));
    calls->count++;
}

static void callbacks_that_fail_are_answered_safely(void) {
    struct calls calls = {0}, logged = {0};
    towline_options *options = test_options(
        "[" USER "," ASKS("p-1", CAN_USE_BASH) "," ANSWERED("p-1", "{\"behavior\":\"deny\"}") ","
        ASKS("p-2", CAN_USE_BASH) "," ANSWERED("p-2", "{\"behavior\":\"deny\"}") ","
        ASKS("p-3", CAN_USE_BASH) "," ANSWERED("p-3", "{\"behavior\":\"deny\"}") ","
        ASKS("p-4", CAN_USE_BASH) "," ANSWERED("p-4", "{\"behavior\":\"deny\"}") "," DONE "]");
    OK(towline_options_on_permission(options, misbehave, &calls, finalize, NULL));
    OK(towline_options_on_log(options, note, &logged, finalize, NULL));
    logged.session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(logged.session, "go", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(logged.session, TOWLINE_TURN_ENDED)));
    CHECK(calls.count == 4);
    CHECK(logged.count == 3);
    test_finish(logged.session);
    CHECK(calls.finalized == 1 && logged.finalized == 1);
}

static towline_answer hook(void *user_data, towline_request *request) {
    struct calls *calls = user_data;
    CHECK(towline_request_kind(request) == TOWLINE_ASKS_HOOK);
    TEXT("PreToolUse", towline_request_str(request, "/input/hook_event_name", NULL));
    calls->count++;
    OK(towline_request_respond(request, "{\"decision\":\"block\",\"reason\":\"because\"}", TOWLINE_NUL, NULL));
    return TOWLINE_ANSWERED;
}

static void hooks(void) {
    struct calls calls = {0};
    towline_options *options = test_options(
        "[{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"initialize\",\"hooks\":"
        "{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hookCallbackIds\":[\"hook_0\"],\"timeout\":5}]}}}},"
        "{\"answer\":{}}," USER "," ASKS("h-1", HOOK_INPUT) ","
        ANSWERED("h-1", "{\"decision\":\"block\",\"reason\":\"because\"}") "," DONE "]");
    OK(towline_options_on_hook(options, "PreToolUse", "Bash", 5000, TOWLINE_HOOK_BLOCK, hook, &calls, finalize, NULL));
    OK(towline_options_on_hook(options, "Stop", NULL, 0, TOWLINE_HOOK_DEFAULT, NULL, NULL, NULL, NULL));
    calls.session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(calls.session, "go", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(calls.session, TOWLINE_TURN_ENDED)));
    CHECK(calls.count == 1);
    test_finish(calls.session);
    CHECK(calls.finalized == 1);
}

/* add(a, b): a sum, an error for the model, or an answer that comes too late. */
static towline_answer add(void *user_data, towline_request *call) {
    struct calls *calls = user_data;
    int64_t a = 0, b = 0;
    char text[32];
    CHECK(towline_request_kind(call) == TOWLINE_ASKS_TOOL_CALL);
    TEXT("add", towline_request_tool(call, NULL));
    TEXT("box", towline_request_server(call, NULL));
    OK(towline_request_int(call, "/message/params/arguments/a", &a));
    OK(towline_request_int(call, "/message/params/arguments/b", &b));
    switch (calls->count++) {
    case 0:
        OK(towline_request_tool_progress(call, 1, 2, "half", TOWLINE_NUL, NULL));
        snprintf(text, sizeof text, "%lld", (long long)(a + b));
        OK(towline_request_tool_text(call, text, TOWLINE_NUL, false, NULL));
        return TOWLINE_ANSWERED;
    case 1:
        OK(towline_request_tool_json(call, "{\"content\":[{\"type\":\"text\",\"text\":\"bad\"}],\"isError\":true}", TOWLINE_NUL, NULL));
        return TOWLINE_ANSWERED;
    default:
        OK(towline_request_retain(call));
        calls->kept = call;
        OK(towline_request_tool_progress(call, 1, -1, NULL, 0, NULL));
        return TOWLINE_LATER;
    }
}

static void tools(void) {
    struct calls calls = {0};
    const char *schema = "{\"type\":\"object\",\"properties\":{\"a\":{\"type\":\"integer\"},\"b\":{\"type\":\"integer\"}},\"required\":[\"a\",\"b\"]}";
    towline_options *options = test_options(
        "[" HANDSHAKE "," USER ","
        ASKS("c-1", CALL("1", "add", "{\"a\":2,\"b\":40}")) ","
        PROGRESS ","
        ANSWERED("c-1", "{\"mcp_response\":{\"result\":{\"content\":[{\"text\":\"42\"}]}}}") ","
        ASKS("c-2", CALL("2", "add", "{\"a\":2,\"b\":\"x\"}")) ","
        ANSWERED("c-2", "{\"mcp_response\":{\"result\":{\"isError\":true}}}") ","
        ASKS("c-3", CALL("3", "add", "{\"a\":1,\"b\":1}")) ","
        ANSWERED("c-3", "{\"mcp_response\":{\"result\":{\"isError\":true,\"content\":[{\"text\":\"bad\"}]}}}") ","
        ASKS("c-4", CALL("4", "add", "{\"a\":1,\"b\":1}")) ","
        PROGRESS ","
        ASKS("c-5", MCP("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":4,\"reason\":\"stop\"}}")) ","
        ANSWERED("c-5", "{}") ","
        ASKS("c-6", CALL("6", "event", "{}")) ","
        ANSWERED("c-6", "{\"mcp_response\":{\"result\":{\"content\":[{\"text\":\"by event\"}]}}}") "," DONE "]");
    towline_event *event;
    OK(towline_options_add_tool(options, "box", "add", "Adds", schema, "{\"readOnlyHint\":true}", add, &calls, finalize, NULL));
    FAILS(TOWLINE_ERR_TOOL, "already", towline_options_add_tool(options, "box", "add", "Adds", schema, NULL, add, &calls, finalize, &error));
    FAILS(TOWLINE_ERR_TOOL, "schema", towline_options_add_tool(options, "box", "b", "B", "[]", NULL, add, &calls, finalize, &error));
    OK(towline_options_add_tool(options, "box", "event", "Comes as an event", "{\"type\":\"object\"}", NULL, NULL, NULL, NULL, NULL));
    calls.session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(calls.session, "go", TOWLINE_NUL, NULL, NULL));
    event = test_until(calls.session, TOWLINE_REQUEST_CANCELLED);
    CHECK(towline_event_id(event) == towline_request_id(calls.kept));
    OK(towline_event_free(event));
    FAILS(TOWLINE_ERR_WITHDRAWN, "withdrawn", towline_request_tool_text(calls.kept, "2", 1, false, &error));
    OK(towline_request_free(calls.kept));
    event = test_until(calls.session, TOWLINE_REQUEST);
    TEXT("event", towline_request_tool(towline_event_request(event), NULL));
    OK(towline_request_tool_text(towline_event_request(event), "by event", TOWLINE_NUL, false, NULL));
    OK(towline_event_free(event));
    OK(towline_event_free(test_until(calls.session, TOWLINE_TURN_ENDED)));
    CHECK(calls.count == 3);
    test_finish(calls.session);
    CHECK(calls.finalized == 1);
}

static towline_answer accept(void *user_data, towline_request *request) {
    struct calls *calls = user_data;
    CHECK(towline_request_kind(request) == (calls->count == 0 ? TOWLINE_ASKS_ELICITATION : TOWLINE_ASKS_OTHER));
    if (calls->count++ == 0) {
        OK(towline_request_respond(request, "{\"action\":\"accept\",\"content\":{\"n\":1}}", TOWLINE_NUL, NULL));
    } else {
        OK(towline_request_respond_error(request, "not here", TOWLINE_NUL, NULL));
    }
    return TOWLINE_ANSWERED;
}

static void the_rest(void) {
    struct calls calls = {0};
    const char *kinds[] = {"pick"};
    towline_options *options = test_options(
        "[" USER "," ASKS("e-1", "{\"subtype\":\"elicitation\",\"mcp_server_name\":\"m\",\"message\":\"?\"}") ","
        ANSWERED("e-1", "{\"action\":\"accept\",\"content\":{\"n\":1}}") ","
        ASKS("o-1", "{\"subtype\":\"brand_new\"}") "," REFUSED("o-1") ","
        ASKS("d-1", "{\"subtype\":\"request_user_dialog\",\"dialog_kind\":\"pick\",\"payload\":{}}") ","
        ANSWERED("d-1", "{}") ",{\"stderr\":\"a line\\n\"}," DONE "]");
    towline_event *event;
    int seen = 0;
    OK(towline_options_on_elicitation(options, accept, &calls, finalize, NULL));
    OK(towline_options_on_request(options, accept, &calls, finalize, NULL));
    OK(towline_options_on_dialog(options, kinds, 1, NULL, NULL, NULL, NULL));
    OK(towline_options_on_stderr(options, NULL, NULL, NULL, NULL));
    calls.session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(calls.session, "go", TOWLINE_NUL, NULL, NULL));
    event = test_until(calls.session, TOWLINE_REQUEST);
    CHECK(towline_request_kind(towline_event_request(event)) == TOWLINE_ASKS_DIALOG);
    OK(towline_request_respond(towline_event_request(event), "{\"behavior\":\"cancelled\"}", TOWLINE_NUL, NULL));
    OK(towline_event_free(event));
    for (seen = 0; seen != 3;) {
        event = test_next(calls.session);
        if (towline_event_kind(event) == TOWLINE_STDERR) {
            TEXT("a line", towline_event_text(event, NULL));
            seen |= 1;
        }
        if (towline_event_kind(event) == TOWLINE_TURN_ENDED) {
            seen |= 2;
        }
        OK(towline_event_free(event));
    }
    CHECK(calls.count == 2);
    test_finish(calls.session);
    CHECK(calls.finalized == 2);
}

static void a_bridged_server(void) {
    towline_options *options = test_options(
        "[" ASKS("m-0", MCP("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\"}")) ","
        ANSWERED("m-0", "{\"mcp_response\":{\"id\":0,\"result\":{\"x\":1}}}") ","
        ASKS("m-1", MCP("{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}")) ","
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"mcp_message\",\"server_name\":\"box\",\"message\":{\"method\":\"notifications/tools/list_changed\"}}}}]");
    towline_session *session;
    towline_event *event;
    OK(towline_options_bridge_server(options, "box", NULL));
    FAILS(TOWLINE_ERR_ARGUMENT, "box", towline_options_bridge_server(options, "box", &error));
    session = test_start(options);
    OK(towline_options_free(options));
    event = test_until(session, TOWLINE_REQUEST);
    CHECK(towline_request_kind(towline_event_request(event)) == TOWLINE_ASKS_MCP_MESSAGE);
    OK(towline_request_respond(towline_event_request(event), "{\"jsonrpc\":\"2.0\",\"id\":0,\"result\":{\"x\":1}}", TOWLINE_NUL, NULL));
    OK(towline_event_free(event));
    event = test_until(session, TOWLINE_MCP_NOTIFICATION);
    TEXT("box", towline_event_str(event, "/server", NULL));
    TEXT("notifications/initialized", towline_event_str(event, "/message/method", NULL));
    OK(towline_event_free(event));
    FAILS(TOWLINE_ERR_UNKNOWN_SERVER, "other", towline_session_mcp_send(session, "other", "{}", 2, &error));
    OK(towline_session_mcp_send(session, "box", "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}", TOWLINE_NUL, NULL));
    test_finish(session);
}

static void interrupt_with_a_pending_permission(void) {
    towline_options *options = test_options(
        "[" USER "," ASKS("p-1", CAN_USE_BASH) ","
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"interrupt\"}}},{\"answer\":{\"still_queued\":[]}},"
        "{\"emit\":{\"type\":\"control_cancel_request\",\"request_id\":\"p-1\"}},"
        "{\"emit\":{\"type\":\"result\",\"subtype\":\"error_during_execution\",\"is_error\":true,\"session_id\":\"s-1\",\"uuid\":\"u-9\"}},"
        USER "," DONE "]");
    towline_session *session;
    towline_event *event;
    bool failed = false;
    OK(towline_options_on_permission(options, NULL, NULL, NULL, NULL));
    session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(session, "go", TOWLINE_NUL, NULL, NULL));
    event = test_until(session, TOWLINE_REQUEST);
    OK(towline_session_interrupt(session, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_RESPONSE)));
    OK(towline_event_free(test_until(session, TOWLINE_REQUEST_CANCELLED)));
    CHECK(towline_request_cancelled(towline_event_request(event)));
    OK(towline_event_free(event));
    event = test_until(session, TOWLINE_TURN_ENDED);
    OK(towline_event_bool(event, "/is_error", &failed));
    CHECK(failed);
    OK(towline_event_free(event));
    OK(towline_session_send(session, "again", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    test_finish(session);
}

int main(void) {
    permissions_in_a_callback();
    permissions_as_events();
    permission_later_from_another_thread();
    callbacks_that_fail_are_answered_safely();
    hooks();
    tools();
    the_rest();
    a_bridged_server();
    interrupt_with_a_pending_permission();
    return 0;
}
