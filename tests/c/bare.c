/* The bare protocol: this program owns the transport, which here is a pair of texts. */
#include "towline_test.h"

static void write_out(towline_connection *connection, const char *expected) {
    const void *data = NULL;
    size_t count = 0;
    char text[8192];
    OK(towline_connection_outgoing(connection, &data, &count, NULL));
    CHECK(count < sizeof text);
    memcpy(text, data, count);
    text[count] = '\0';
    if (strstr(text, expected) == NULL) {
        fprintf(stderr, "\"%s\" is not in: %s\n", expected, text);
        exit(1);
    }
    FAILS(TOWLINE_ERR_ARGUMENT, "queued", towline_connection_sent(connection, count + 1, &error));
    OK(towline_connection_sent(connection, count, NULL));
}

/* Reads a line into the buffer that the connection hands out. */
static void read_in(towline_connection *connection, const char *line) {
    void *data = NULL;
    size_t capacity = 0, len = strlen(line);
    OK(towline_connection_buffer(connection, &data, &capacity, NULL));
    CHECK(data != NULL && capacity >= len);
    FAILS(TOWLINE_ERR_ARGUMENT, "fit", towline_connection_received(connection, capacity + 1, &error));
    OK(towline_connection_buffer(connection, &data, &capacity, NULL));
    memcpy(data, line, len);
    OK(towline_connection_received(connection, len, NULL));
    FAILS(TOWLINE_ERR_ARGUMENT, "fit", towline_connection_received(connection, 1, &error));
}

static towline_event *next(towline_connection *connection, towline_kind_of_event kind) {
    towline_event *event = NULL;
    OK(towline_connection_event(connection, &event, NULL));
    CHECK(towline_event_kind(event) == kind);
    return event;
}

int main(void) {
    towline_options *options = towline_options_new();
    towline_connection *connection = NULL;
    towline_event *event = NULL;
    towline_error *error = (towline_error *)&event;
    towline_buffer *launch = NULL;
    towline_request *request;
    uint64_t turn = 0, id = 0;
    int64_t deadline = 0;
    bool wants = true;
    OK(towline_options_set_json(options, "{\"model\":\"opus\",\"initializeTimeoutMs\":500,\"verbatimPrompts\":true}", TOWLINE_NUL, NULL));
    OK(towline_options_on_permission(options, NULL, NULL, NULL, NULL));
    OK(towline_options_add_tool(options, "box", "t", "T", "{\"type\":\"object\"}", NULL, NULL, NULL, NULL, NULL));
    OK(towline_connection_new(options, 1000, &connection, NULL));
    OK(towline_options_free(options));
    OK(towline_connection_launch_json(connection, &launch, NULL));
    CHECK(strstr(towline_buffer_data(launch, NULL), "\"--model=opus\"") != NULL);
    OK(towline_buffer_free(launch));
    OK(towline_connection_deadline(connection, &deadline, NULL));
    CHECK(deadline == 1500);
    write_out(connection, "\"subtype\":\"initialize\"");
    STATUS(TOWLINE_TIMEOUT, towline_connection_event(connection, &event, &error));
    CHECK(event == NULL && error == NULL);

    read_in(connection, "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\",\"request_id\":\"towline_1\",\"response\":{\"commands\":[],\"capabilities\":[]}}}\n");
    event = next(connection, TOWLINE_INITIALIZED);
    TEXT("[]", towline_event_value(event, "/commands", NULL));
    OK(towline_event_free(event));

    OK(towline_connection_send(connection, "hi", 2, &turn, NULL));
    write_out(connection, "\"client_composed\":true");
    OK(towline_connection_send_json(connection, "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"more\"}}", TOWLINE_NUL, &turn, NULL));
    write_out(connection, "more");
    CHECK(turn == 2);

    /* Any chunking. */
    {
        const char *line = "{\"type\":\"control_request\",\"request_id\":\"p\",\"request\":" CAN_USE_BASH "}\n";
        for (size_t n = 0; n < strlen(line); n++) {
            OK(towline_connection_receive(connection, line + n, 1, NULL));
        }
    }
    event = next(connection, TOWLINE_REQUEST);
    request = towline_event_request(event);
    TEXT("Bash", towline_request_tool(request, NULL));
    CHECK(!towline_request_cancelled(request));
    OK(towline_request_deny(request, "no", 2, false, NULL));
    CHECK(towline_request_cancelled(request));
    OK(towline_event_free(event));
    write_out(connection, "\"behavior\":\"deny\"");

    read_in(connection, "{\"type\":\"control_request\",\"request_id\":\"q\",\"request\":" CAN_USE_BASH "}\n");
    event = next(connection, TOWLINE_REQUEST);
    OK(towline_connection_respond(connection, towline_event_id(event), "{\"behavior\":\"allow\"}", TOWLINE_NUL, NULL));
    OK(towline_event_free(event));
    write_out(connection, "\"behavior\":\"allow\"");

    /* Dropped unanswered: the safe answer. */
    read_in(connection, "{\"type\":\"control_request\",\"request_id\":\"r\",\"request\":" CAN_USE_BASH "}\n");
    OK(towline_event_free(next(connection, TOWLINE_REQUEST)));
    write_out(connection, "\"behavior\":\"deny\"");

    /* A call of the tool, with progress. */
    read_in(connection, "{\"type\":\"control_request\",\"request_id\":\"m\",\"request\":{\"subtype\":\"mcp_message\",\"server_name\":\"box\",\"message\":"
                        "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":\"t\",\"arguments\":{},\"_meta\":{\"progressToken\":1}}}}}\n");
    event = next(connection, TOWLINE_REQUEST);
    request = towline_event_request(event);
    CHECK(towline_request_kind(request) == TOWLINE_ASKS_TOOL_CALL);
    OK(towline_request_tool_progress(request, 1, 2, NULL, 0, NULL));
    write_out(connection, "notifications/progress");
    OK(towline_request_tool_text(request, "done", 4, false, NULL));
    write_out(connection, "done");
    OK(towline_request_retain(request));
    OK(towline_event_free(event));

    OK(towline_connection_request(connection, "mcp_status", NULL, 0, &id, NULL));
    write_out(connection, "mcp_status");
    OK(towline_connection_time(connection, 100000, NULL));
    event = next(connection, TOWLINE_RESPONSE);
    CHECK(towline_event_id(event) == id);
    CHECK(towline_error_code(towline_event_error(event)) == TOWLINE_ERR_REQUEST_TIMEOUT);
    OK(towline_event_free(event));
    write_out(connection, "control_cancel_request");

    OK(towline_connection_end_input(connection, NULL));
    OK(towline_connection_wants_end(connection, &wants, NULL));
    CHECK(wants);
    FAILS(TOWLINE_ERR_INPUT_ENDED, "input", towline_connection_send(connection, "x", 1, NULL, &error));
    OK(towline_connection_ended(connection, NULL));
    for (int n = 0; n < 2; n++) {
        event = next(connection, TOWLINE_TURN_ENDED);
        CHECK(towline_event_outcome(event) == TOWLINE_ENDED_WITH_SESSION);
        OK(towline_event_free(event));
    }
    FAILS(TOWLINE_ERR_ENDED, "ended", towline_connection_request(connection, "x", NULL, 0, NULL, &error));
    OK(towline_connection_free(connection));
    FAILS(TOWLINE_ERR_CLOSED, "closed", towline_request_tool_text(request, "x", 1, false, &error));
    OK(towline_request_free(request));
    return 0;
}
