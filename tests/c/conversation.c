/* A conversation from start to end: texts, values, control requests, the end. */
#include "towline_test.h"

static void one_turn(void) {
    towline_options *options = test_options(
        "[" USER "," SAYS("Gr\\u00fc\\u00dfe \\ud83d\\ude00") "," DONE "]");
    towline_session *session = test_start(options);
    towline_event *event;
    uint64_t turn = 0;
    size_t len = 0;
    int64_t number = 0, pid = 0;
    double cost = 0;
    bool flag = true;
    towline_buffer *stats = NULL;
    OK(towline_options_free(options));
    CHECK(towline_session_id(session, &len) == NULL && len == 0);
    OK(towline_session_send(session, "Say hello", 9, &turn, NULL));
    CHECK(turn != 0);
    event = test_until(session, TOWLINE_INITIALIZED);
    CHECK(towline_event_json(event, NULL)[0] == '{');
    OK(towline_event_free(event));

    event = test_until(session, TOWLINE_MESSAGE);
    TEXT("assistant", towline_event_type(event));
    CHECK(towline_event_subtype(event) == NULL);
    TEXT("s-1", towline_event_session_id(event));
    TEXT("u-1", towline_event_uuid(event));
    CHECK(towline_event_parent_tool_use_id(event) == NULL);
    CHECK(towline_event_turn(event) == turn);
    TEXT("Gr\xc3\xbc\xc3\x9f" "e \xf0\x9f\x98\x80", towline_event_text(event, &len));
    CHECK(len == 12);
    TEXT("claude-x", towline_event_str(event, "/message/model", &len));
    CHECK(len == 8);
    CHECK(towline_event_str(event, "/message/model", NULL) ==
          towline_event_str(event, "/message/model", NULL));
    CHECK(towline_event_str(event, "/message/none", &len) == NULL && len == 0);
    CHECK(towline_event_str(event, "/message/usage", NULL) == NULL);
    TEXT("{\"input_tokens\":3,\"output_tokens\":1}",
         towline_event_value(event, "/message/usage", &len));
    OK(towline_event_int(event, "/message/usage/input_tokens", &number));
    CHECK(number == 3);
    OK(towline_event_length(event, "/message/content", &len));
    CHECK(len == 1);
    CHECK(towline_event_is_null(event, "/parent_tool_use_id"));
    CHECK(!towline_event_is_null(event, "/message"));
    STATUS(TOWLINE_ERR_ABSENT, towline_event_int(event, "/message/content/1", &number));
    STATUS(TOWLINE_ERR_TYPE, towline_event_int(event, "/message/content", &number));
    STATUS(TOWLINE_ERR_POINTER, towline_event_int(event, "message", &number));
    OK(towline_event_free(event));

    event = test_until(session, TOWLINE_TURN_ENDED);
    CHECK(towline_event_outcome(event) == TOWLINE_ENDED_WITH_RESULT);
    CHECK(towline_event_turn(event) == turn);
    TEXT("result", towline_event_type(event));
    OK(towline_event_double(event, "/total_cost_usd", &cost));
    CHECK(cost > 0.24 && cost < 0.26);
    OK(towline_event_bool(event, "/is_error", &flag));
    CHECK(!flag);
    TEXT("", towline_event_text(event, &len));
    OK(towline_event_free(event));

    TEXT("s-1", towline_session_id(session, &len));
    CHECK(len == 3);
    CHECK(towline_session_capabilities_json(session, NULL)[0] == '{');
    OK(towline_session_pid(session, &pid, NULL));
    CHECK(pid > 0);
    OK(towline_session_stats_json(session, &stats, NULL));
    CHECK(strstr(towline_buffer_data(stats, NULL), "\"bytesRead\":") != NULL);
    CHECK(strstr(towline_buffer_data(stats, NULL), "\"firstMessageMs\":") != NULL);
    OK(towline_buffer_free(stats));
    test_finish(session);
}

static void control_requests(void) {
    towline_options *options = test_options(
        "[{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"set_model\","
        "\"model\":\"opus\"}}},{\"answer\":{\"ok\":true}},"
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":"
        "\"set_permission_mode\",\"mode\":\"plan\"}}},{\"answer_error\":\"not today\"},"
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"mcp_status\"}}},"
        "{\"answer\":{\"mcpServers\":[]}},"
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"stop_task\","
        "\"task_id\":\"t\"}}},{\"answer\":{}},"
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"rewind_files\","
        "\"user_message_id\":\"m\",\"dry_run\":true}}},{\"answer\":{}},"
        "{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"slow\"}}},"
        "{\"expect\":{\"type\":\"control_cancel_request\"}}]");
    towline_session *session = test_start(options);
    towline_event *event = NULL;
    const towline_error *failed;
    uint64_t id = 0;
    bool flag = false;
    OK(towline_session_connect(session, 20000, NULL));
    OK(towline_session_set_model(session, "opus", &id, NULL));
    event = test_until(session, TOWLINE_RESPONSE);
    CHECK(towline_event_id(event) == id && id != 0);
    TEXT("set_model", towline_event_subtype(event));
    CHECK(towline_event_error(event) == NULL);
    OK(towline_event_bool(event, "/ok", &flag));
    CHECK(flag);
    TEXT("{\"ok\":true}", towline_event_json(event, NULL));
    OK(towline_event_free(event));

    OK(towline_session_set_permission_mode(session, "plan", NULL, NULL));
    event = test_until(session, TOWLINE_RESPONSE);
    failed = towline_event_error(event);
    CHECK(towline_error_code(failed) == TOWLINE_ERR_REMOTE);
    CHECK(strstr(towline_error_message(failed), "not today") != NULL);
    TEXT("{}", towline_event_json(event, NULL));
    OK(towline_event_free(event));

    OK(towline_session_request_wait(session, "mcp_status", NULL, 0, 20000, &event, NULL));
    CHECK(towline_event_kind(event) == TOWLINE_RESPONSE);
    TEXT("[]", towline_event_value(event, "/mcpServers", NULL));
    OK(towline_event_free(event));
    OK(towline_session_stop_task(session, "t", NULL, NULL));
    OK(towline_session_rewind_files(session, "m", true, NULL, NULL));
    for (int n = 0; n < 2; n++) {
        OK(towline_event_free(test_until(session, TOWLINE_RESPONSE)));
    }
    FAILS(TOWLINE_TIMEOUT, "timed out",
          towline_session_request_wait(session, "slow", "{\"a\":1}", TOWLINE_NUL, 50, &event, &error));
    CHECK(event == NULL);
    OK(towline_options_free(options));
    test_finish(session);
}

static void a_cli_that_dies(void) {
    towline_options *options = test_options(
        "[{\"expect\":{\"type\":\"control_request\",\"request\":{\"subtype\":\"initialize\"}}},{\"stderr\":\"no such flag\\n\"},{\"exit\":3}]");
    towline_session *session = test_start(options);
    towline_event *event;
    const towline_error *failed;
    int64_t code = 0;
    FAILS(TOWLINE_ERR_EXITED_EARLY, "no such flag", towline_session_connect(session, 20000, &error));
    event = test_until(session, TOWLINE_CLOSED);
    OK(towline_event_int(event, "/exitCode", &code));
    CHECK(code == 3);
    TEXT("no such flag\n", towline_event_str(event, "/stderr", NULL));
    TEXT("TOWLINE_ERR_EXITED_EARLY", towline_event_str(event, "/error/code", NULL));
    failed = towline_event_error(event);
    CHECK(towline_error_code(failed) == TOWLINE_ERR_EXITED_EARLY);
    CHECK(strstr(towline_error_detail_json(failed), "\"exitCode\":3") != NULL);
    OK(towline_event_free(event));
    OK(towline_session_free(session));
    OK(towline_options_free(options));
}

static void one_that_is_not_there(void) {
    towline_options *options = towline_options_new();
    towline_session *session = NULL;
    OK(towline_options_set_string(options, "cliPath", "/no/such/claude", TOWLINE_NUL, NULL));
    FAILS(TOWLINE_ERR_CLI_NOT_FOUND, "/no/such/claude",
          towline_session_create(options, &session, &error));
    CHECK(session == NULL);
    OK(towline_options_set_string(options, "cwd", "/no/such/folder", TOWLINE_NUL, NULL));
    FAILS(TOWLINE_ERR_CWD, "/no/such/folder", towline_session_create(options, &session, &error));
    OK(towline_options_free(options));
}

static void closing_in_mid_turn(void) {
    towline_options *options = test_options(
        "[" USER "," SAYS("a") ",{\"expect\":{\"type\":\"never\"},\"timeout_ms\":60000}]");
    towline_session *session = test_start(options);
    towline_event *event;
    uint64_t turn = 0;
    OK(towline_session_send(session, "go", TOWLINE_NUL, &turn, NULL));
    event = test_until(session, TOWLINE_MESSAGE);
    OK(towline_event_free(event));
    OK(towline_session_close(session, 200, NULL));
    OK(towline_session_close(session, 200, NULL));
    event = test_until(session, TOWLINE_TURN_ENDED);
    CHECK(towline_event_outcome(event) == TOWLINE_ENDED_WITH_SESSION);
    OK(towline_event_free(event));
    event = test_until(session, TOWLINE_CLOSED);
    CHECK(towline_event_error(event) == NULL);
    OK(towline_event_free(event));
    FAILS(TOWLINE_ERR_CLOSED, "closed", towline_session_poll(session, 0, &event, &error));
    OK(towline_session_free(session));
    OK(towline_options_free(options));
}

static void waking(void) {
    towline_options *options = test_options("[]");
    towline_session *session = test_start(options);
    towline_event *event = NULL;
    towline_error *error = (towline_error *)&event;
    OK(towline_session_connect(session, 20000, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_INITIALIZED)));
    OK(towline_session_wake(session, NULL));
    STATUS(TOWLINE_TIMEOUT, towline_session_poll(session, -1, &event, &error));
    CHECK(event == NULL && error == NULL);
    STATUS(TOWLINE_TIMEOUT, towline_session_poll(session, 0, &event, NULL));
    OK(towline_options_free(options));
    test_finish(session);
}

int main(void) {
    one_turn();
    control_requests();
    a_cli_that_dies();
    one_that_is_not_there();
    closing_in_mid_turn();
    waking();
    return 0;
}
