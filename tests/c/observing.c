/* What a session tells who watches it: the log callback, the wire log, counters, trace contexts. */
#include "towline_test.h"

#define PARENT "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
#define CALLS_PARENT "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"
#define MCP(message) "{\"subtype\":\"mcp_message\",\"server_name\":\"box\",\"message\":" message "}"
#define HELLO MCP("{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},\"clientInfo\":{\"name\":\"c\",\"version\":\"1\"}}}")
#define CALL(id, meta) MCP("{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\",\"params\":{\"name\":\"peek\",\"arguments\":{},\"_meta\":" meta "}}")
#define SCRIPT                                                                                     \
    "[{\"log_env\":[\"TRACEPARENT\"]}," USER ","                                                   \
    "{\"stderr\":\"using sk-ant-api03-0123456789abcdef\\n\"}," ASKS("m-0", HELLO) ","              \
    ANSWERED("m-0", "{\"mcp_response\":{\"id\":0}}") ","                                           \
    ASKS("c-1", CALL("1", "{\"traceparent\":\"" CALLS_PARENT "\",\"tracestate\":\"a=1\"}")) ","    \
    ANSWERED("c-1", "{\"mcp_response\":{\"id\":1}}") "," ASKS("c-2", CALL("2", "{}")) ","          \
    ANSWERED("c-2", "{\"mcp_response\":{\"id\":2}}") "," DONE "]"

struct log {
    int records, wire, finalized, calls;
    int64_t ended_turns;
    char all[65536];
};

static void finalize(void *user_data) {
    ((struct log *)user_data)->finalized++;
}

static void record(void *user_data, int32_t level, const char *target, const char *message,
                   const char *fields, const char *session_id, uint64_t turn) {
    struct log *log = user_data;
    size_t used = strlen(log->all);
    CHECK(level >= TOWLINE_LOG_ERROR && level <= TOWLINE_LOG_TRACE);
    CHECK(strncmp(target, "towline.", 8) == 0 && fields[0] == '{');
    log->records++;
    log->wire += strcmp(target, "towline.wire") == 0;
    log->ended_turns += strstr(message, "has ended: success") != NULL && turn != 0 && session_id != NULL;
    snprintf(log->all + used, sizeof log->all - used, "%d %s: %s %s\n", (int)level, target, message,
             fields);
}

static towline_answer peek(void *user_data, towline_request *call) {
    struct log *log = user_data;
    size_t len = 0;
    if (log->calls++ == 0) {
        TEXT(CALLS_PARENT, towline_request_traceparent(call, &len));
        CHECK(len == strlen(CALLS_PARENT));
        TEXT("a=1", towline_request_tracestate(call, NULL));
    } else {
        TEXT(PARENT, towline_request_traceparent(call, NULL));
        CHECK(towline_request_tracestate(call, &len) == NULL && len == 0);
    }
    OK(towline_request_tool_text(call, "ok", TOWLINE_NUL, false, NULL));
    return TOWLINE_ANSWERED;
}

static void everything_is_told_and_no_secret(void) {
    static struct log log;
    towline_options *options = test_options(SCRIPT);
    towline_buffer *stats = NULL;
    towline_session *session;
    OK(towline_options_set_string(options, "traceparent", PARENT, TOWLINE_NUL, NULL));
    OK(towline_options_set_string(options, "wireLog", "log", TOWLINE_NUL, NULL));
    FAILS(TOWLINE_ERR_ARGUMENT, "level",
          towline_options_on_log_record(options, 6, record, &log, finalize, &error));
    OK(towline_options_on_log_record(options, TOWLINE_LOG_TRACE, record, &log, finalize, NULL));
    OK(towline_options_add_tool(options, "box", "peek", "looks", "{\"type\":\"object\"}", NULL, peek,
                                &log, NULL, NULL));
    session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(session, "the key is sk-ant-api03-0123456789abcdef", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    OK(towline_session_stats_json(session, &stats, NULL));
    CHECK(strstr(towline_buffer_data(stats, NULL), "\"turnsSucceeded\":1") != NULL);
    CHECK(strstr(towline_buffer_data(stats, NULL), "\"requestsReceived\":2") != NULL);
    OK(towline_buffer_free(stats));
    test_finish(session);
    CHECK(log.calls == 2 && log.finalized == 1);
    CHECK(log.ended_turns == 1 && log.wire >= 10);
    CHECK(strstr(log.all, "3 towline.session: the session has started {\"pid\":") != NULL);
    CHECK(strstr(log.all, "4 towline.stderr: using [redacted] {}") != NULL);
    CHECK(strstr(log.all, "tool mcp__box__peek: answered") != NULL);
    CHECK(strstr(log.all, "towline.session: the session has ended") != NULL);
    CHECK(strstr(log.all, "0123456789abcdef") == NULL);
}

static void a_callback_that_is_taken_back(void) {
    static struct log log;
    towline_options *options = test_options("[" USER "," DONE "]");
    towline_session *session;
    OK(towline_options_on_log_record(options, TOWLINE_LOG_INFO, record, &log, finalize, NULL));
    OK(towline_options_on_log_record(options, TOWLINE_LOG_INFO, NULL, NULL, NULL, NULL));
    CHECK(log.finalized == 1);
    session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(session, "hi", TOWLINE_NUL, NULL, NULL));
    test_finish(session);
    CHECK(log.records == 0);
}

static void a_wire_log_in_a_file(void) {
    towline_options *options = test_options("[" USER "," DONE "]");
    towline_session *session;
    char path[4096], text[8192] = "";
    FILE *file;
    snprintf(path, sizeof path, "%s/wire.log", test_env("SCRATCH"));
    OK(towline_options_set_string(options, "wireLog", path, TOWLINE_NUL, NULL));
    session = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_send(session, "ghp_0123456789abcdefghijABCDEFGHIJ012345", TOWLINE_NUL, NULL, NULL));
    test_finish(session);
    file = fopen(path, "r");
    CHECK(file != NULL && fread(text, 1, sizeof text - 1, file) > 0 && fclose(file) == 0);
    CHECK(strstr(text, " > ") != NULL && strstr(text, " < ") != NULL);
    CHECK(strstr(text, "[redacted]") != NULL && strstr(text, "ghp_") == NULL);
}

static void a_bad_context_is_refused(void) {
    towline_options *options = test_options("[]");
    towline_session *session = NULL;
    OK(towline_options_set_string(options, "traceparent", "00-nonsense", TOWLINE_NUL, NULL));
    FAILS(TOWLINE_ERR_LAUNCH, "traceparent", towline_session_create(options, &session, &error));
    OK(towline_options_free(options));
}

int main(void) {
    everything_is_told_and_no_secret();
    a_callback_that_is_taken_back();
    a_wire_log_in_a_file();
    a_bad_context_is_refused();
    return 0;
}
