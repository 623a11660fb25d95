/* Bad input to every function: NULL, wrong and freed handles, bad texts, calls in wrong states, in
 * callbacks, after the end, after fork(). Each has a documented status and an error object; nothing
 * crashes or hangs. */
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include "towline_test.h"

enum kind { OPTIONS, SESSION, REQUEST, EVENT, ERROR_OBJECT, BUFFER, CONNECTION, WAKER, STORE, REPLY, POOL, TICKET, KINDS };

enum report {
    REPORTS, /* a status and an error object */
    SILENT,  /* a status alone */
    VALUE,   /* a value, NONE when there is none */
    FREES    /* takes NULL */
};

/* A value that means that there is none, as a status. */
#define NONE(is_none) ((is_none) ? TOWLINE_ERR_HANDLE : TOWLINE_OK)

/* Every function that takes a handle, with arguments that are good but for the handle `h`: its
 * handle's type, how it reports, what it returns for a session after TOWLINE_CLOSED or a request of
 * such a session (for others it does not matter). */
#define FUNCTIONS(X)                                                                               \
    X(towline_options_clone, OPTIONS, VALUE, TOWLINE_OK, NONE(towline_options_clone(h) == NULL))   \
    X(towline_options_free, OPTIONS, FREES, TOWLINE_OK, towline_options_free(h))                   \
    X(towline_options_set_json, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_json(h, "{}", 2, error)) \
    X(towline_options_set_string, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_string(h, "model", "x", 1, error)) \
    X(towline_options_set_int, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_int(h, "maxTurns", 1, error)) \
    X(towline_options_set_bool, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_bool(h, "debug", true, error)) \
    X(towline_options_set_strings, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_strings(h, "betas", NULL, 0, error)) \
    X(towline_options_set_env, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_env(h, "A", "b", error)) \
    X(towline_options_json, OPTIONS, REPORTS, TOWLINE_OK, towline_options_json(h, &buffer, error)) \
    X(towline_options_on_permission, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_permission(h, NULL, NULL, finalize, error)) \
    X(towline_options_on_hook, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_hook(h, "Stop", NULL, 0, 0, NULL, NULL, finalize, error)) \
    X(towline_options_on_elicitation, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_elicitation(h, NULL, NULL, finalize, error)) \
    X(towline_options_on_dialog, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_dialog(h, NULL, 0, NULL, NULL, finalize, error)) \
    X(towline_options_on_request, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_request(h, NULL, NULL, finalize, error)) \
    X(towline_options_on_stderr, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_stderr(h, NULL, NULL, finalize, error)) \
    X(towline_options_on_log, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_log(h, NULL, NULL, finalize, error)) \
    X(towline_options_on_log_record, OPTIONS, REPORTS, TOWLINE_OK, towline_options_on_log_record(h, TOWLINE_LOG_INFO, NULL, NULL, finalize, error)) \
    X(towline_options_add_tool, OPTIONS, REPORTS, TOWLINE_OK, towline_options_add_tool(h, "s", "t", "d", "{}", NULL, NULL, NULL, finalize, error)) \
    X(towline_options_bridge_server, OPTIONS, REPORTS, TOWLINE_OK, towline_options_bridge_server(h, "b", error)) \
    X(towline_options_set_transport, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_transport(h, NULL, NULL, finalize, error)) \
    X(towline_session_create, OPTIONS, REPORTS, TOWLINE_OK, towline_session_create(h, &session, error)) \
    X(towline_pool_take, POOL, REPORTS, TOWLINE_ERR_CLOSED, towline_pool_take(h, NULL, 0, 0, &session, error)) \
    X(towline_pool_begin_take, POOL, REPORTS, TOWLINE_OK, towline_pool_begin_take(h, NULL, 0, 0, &ticket, error)) \
    X(towline_pool_ticket_take, TICKET, REPORTS, TOWLINE_ERR_CLOSED, towline_pool_ticket_take(h, &session, error)) \
    X(towline_pool_ticket_free, TICKET, FREES, TOWLINE_OK, towline_pool_ticket_free(h)) \
    X(towline_pool_poll, POOL, REPORTS, TOWLINE_OK, towline_pool_poll(h, 0, error)) \
    X(towline_pool_fill, POOL, REPORTS, TOWLINE_ERR_CLOSED, towline_pool_fill(h, 0, error)) \
    X(towline_pool_fd, POOL, REPORTS, TOWLINE_OK, towline_pool_fd(h, &fd, error)) \
    X(towline_pool_next_timeout, POOL, REPORTS, TOWLINE_OK, towline_pool_next_timeout(h, &number, error)) \
    X(towline_pool_wake, POOL, REPORTS, TOWLINE_OK, towline_pool_wake(h, error)) \
    X(towline_pool_stats_json, POOL, REPORTS, TOWLINE_OK, towline_pool_stats_json(h, &buffer, error)) \
    X(towline_pool_put_back, POOL, REPORTS, TOWLINE_OK, towline_pool_put_back(h, NULL, error)) \
    X(towline_pool_discard, POOL, REPORTS, TOWLINE_OK, towline_pool_discard(h, NULL, error)) \
    X(towline_pool_begin_close, POOL, REPORTS, TOWLINE_OK, towline_pool_begin_close(h, error)) \
    X(towline_pool_close, POOL, REPORTS, TOWLINE_OK, towline_pool_close(h, error)) \
    X(towline_pool_free, POOL, FREES, TOWLINE_OK, towline_pool_free(h)) \
    X(towline_pool_create, OPTIONS, REPORTS, TOWLINE_OK, towline_pool_create(h, "{\"size\":0}", TOWLINE_NUL, &pool, error)) \
    X(towline_connection_new, OPTIONS, REPORTS, TOWLINE_OK, towline_connection_new(h, 0, &connection, error)) \
    X(towline_session_free, SESSION, FREES, TOWLINE_OK, towline_session_free(h))                   \
    X(towline_session_connect, SESSION, REPORTS, TOWLINE_OK, towline_session_connect(h, 0, error)) \
    X(towline_session_send, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_send(h, "x", 1, NULL, error)) \
    X(towline_session_send_json, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_send_json(h, MESSAGE, TOWLINE_NUL, NULL, error)) \
    X(towline_session_poll, SESSION, REPORTS, TOWLINE_ERR_CLOSED, towline_session_poll(h, 0, &event, error)) \
    X(towline_session_fd, SESSION, REPORTS, TOWLINE_ERR_CLOSED, towline_session_fd(h, &fd, error))         \
    X(towline_session_next_timeout, SESSION, REPORTS, TOWLINE_OK, towline_session_next_timeout(h, &number, error)) \
    X(towline_session_wake, SESSION, REPORTS, TOWLINE_OK, towline_session_wake(h, error))          \
    X(towline_session_end_input, SESSION, REPORTS, TOWLINE_OK, towline_session_end_input(h, error)) \
    X(towline_session_end_input_when_settled, SESSION, REPORTS, TOWLINE_OK, towline_session_end_input_when_settled(h, error)) \
    X(towline_session_begin_close, SESSION, REPORTS, TOWLINE_OK, towline_session_begin_close(h, error)) \
    X(towline_session_close, SESSION, REPORTS, TOWLINE_OK, towline_session_close(h, 0, error))     \
    X(towline_session_pid, SESSION, REPORTS, TOWLINE_OK, towline_session_pid(h, &number, error))   \
    X(towline_session_id, SESSION, VALUE, TOWLINE_ERR_HANDLE, NONE(towline_session_id(h, &len) == NULL && len == 0)) \
    X(towline_session_cli_version, SESSION, VALUE, TOWLINE_ERR_HANDLE, NONE(towline_session_cli_version(h, &len) == NULL && len == 0)) \
    X(towline_session_capabilities_json, SESSION, VALUE, TOWLINE_OK, NONE(towline_session_capabilities_json(h, &len) == NULL && len == 0)) \
    X(towline_session_stats_json, SESSION, REPORTS, TOWLINE_OK, towline_session_stats_json(h, &buffer, error)) \
    X(towline_session_stderr, SESSION, REPORTS, TOWLINE_OK, towline_session_stderr(h, &buffer, error)) \
    X(towline_session_request, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_request(h, "mcp_status", NULL, 0, NULL, error)) \
    X(towline_session_request_wait, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_request_wait(h, "mcp_status", NULL, 0, 0, &event, error)) \
    X(towline_session_interrupt, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_interrupt(h, NULL, error)) \
    X(towline_session_set_model, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_set_model(h, NULL, NULL, error)) \
    X(towline_session_set_permission_mode, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_set_permission_mode(h, "plan", NULL, error)) \
    X(towline_session_stop_task, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_stop_task(h, "t", NULL, error)) \
    X(towline_session_rewind_files, SESSION, REPORTS, TOWLINE_ERR_ENDED, towline_session_rewind_files(h, "u", true, NULL, error)) \
    X(towline_session_cancel_request, SESSION, REPORTS, TOWLINE_OK, towline_session_cancel_request(h, 99, NULL, error)) \
    X(towline_session_cancel_turn, SESSION, REPORTS, TOWLINE_ERR_UNKNOWN_TURN, towline_session_cancel_turn(h, 99, NULL, error)) \
    X(towline_session_respond, SESSION, REPORTS, TOWLINE_ERR_UNKNOWN_REQUEST, towline_session_respond(h, 99, "{}", 2, error)) \
    X(towline_session_respond_error, SESSION, REPORTS, TOWLINE_ERR_UNKNOWN_REQUEST, towline_session_respond_error(h, 99, "x", 1, error)) \
    X(towline_session_mcp_send, SESSION, REPORTS, TOWLINE_ERR_UNKNOWN_SERVER, towline_session_mcp_send(h, "none", "{}", 2, error)) \
    X(towline_request_id, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_id(h) == 0))            \
    X(towline_request_kind, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_kind(h) == TOWLINE_ASKS_NOTHING)) \
    X(towline_request_json, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_json(h, &len) == NULL && len == 0)) \
    X(towline_request_str, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_str(h, "/tool_name", &len) == NULL && len == 0)) \
    X(towline_request_traceparent, REQUEST, VALUE, TOWLINE_ERR_HANDLE, NONE(towline_request_traceparent(h, &len) == NULL && len == 0)) \
    X(towline_request_tracestate, REQUEST, VALUE, TOWLINE_ERR_HANDLE, NONE(towline_request_tracestate(h, &len) == NULL && len == 0)) \
    X(towline_request_value, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_value(h, "/input", &len) == NULL && len == 0)) \
    X(towline_request_int, REQUEST, SILENT, TOWLINE_ERR_TYPE, towline_request_int(h, "/input", &number)) \
    X(towline_request_double, REQUEST, SILENT, TOWLINE_ERR_TYPE, towline_request_double(h, "/input", &real)) \
    X(towline_request_bool, REQUEST, SILENT, TOWLINE_ERR_TYPE, towline_request_bool(h, "/input", &flag)) \
    X(towline_request_length, REQUEST, SILENT, TOWLINE_OK, towline_request_length(h, "/input", &len)) \
    X(towline_request_is_null, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_is_null(h, "/input"))) \
    X(towline_request_tool, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_tool(h, &len) == NULL && len == 0)) \
    X(towline_request_server, REQUEST, VALUE, TOWLINE_ERR_HANDLE, NONE(towline_request_server(h, &len) == NULL && len == 0)) \
    X(towline_request_arguments, REQUEST, VALUE, TOWLINE_OK, NONE(towline_request_arguments(h, &len) == NULL && len == 0)) \
    X(towline_request_cancelled, REQUEST, VALUE, TOWLINE_ERR_HANDLE, NONE(towline_request_cancelled(h))) \
    X(towline_request_retain, REQUEST, SILENT, TOWLINE_OK, towline_request_retain(h))              \
    X(towline_request_free, REQUEST, FREES, TOWLINE_OK, towline_request_free(h))                   \
    X(towline_request_allow, REQUEST, REPORTS, TOWLINE_ERR_WITHDRAWN, towline_request_allow(h, NULL, NULL, error)) \
    X(towline_request_deny, REQUEST, REPORTS, TOWLINE_ERR_WITHDRAWN, towline_request_deny(h, "x", 1, false, error)) \
    X(towline_request_respond, REQUEST, REPORTS, TOWLINE_ERR_WITHDRAWN, towline_request_respond(h, "{\"behavior\":\"allow\"}", TOWLINE_NUL, error)) \
    X(towline_request_respond_error, REQUEST, REPORTS, TOWLINE_ERR_WITHDRAWN, towline_request_respond_error(h, "x", 1, error)) \
    X(towline_request_tool_text, REQUEST, REPORTS, TOWLINE_ERR_WITHDRAWN, towline_request_tool_text(h, "x", 1, false, error)) \
    X(towline_request_tool_json, REQUEST, REPORTS, TOWLINE_ERR_WITHDRAWN, towline_request_tool_json(h, "{}", 2, error)) \
    X(towline_request_tool_progress, REQUEST, REPORTS, TOWLINE_ERR_WRONG_ANSWER, towline_request_tool_progress(h, 1, 2, NULL, 0, error)) \
    X(towline_event_kind, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_kind(h) == TOWLINE_NO_EVENT)) \
    X(towline_event_turn, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_turn(h) == 0))              \
    X(towline_event_id, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_id(h) == 0))                  \
    X(towline_event_outcome, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_outcome(h) == TOWLINE_NO_OUTCOME)) \
    X(towline_event_type, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_type(h) == NULL))           \
    X(towline_event_subtype, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_subtype(h) == NULL))     \
    X(towline_event_session_id, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_session_id(h) == NULL)) \
    X(towline_event_uuid, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_uuid(h) == NULL))           \
    X(towline_event_parent_tool_use_id, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_parent_tool_use_id(h) == NULL)) \
    X(towline_event_json, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_json(h, &len) == NULL && len == 0)) \
    X(towline_event_text, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_text(h, &len)[0] == '\0' && len == 0)) \
    X(towline_event_request, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_request(h) == NULL))     \
    X(towline_event_error, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_error(h) == NULL))         \
    X(towline_event_free, EVENT, FREES, TOWLINE_OK, towline_event_free(h))                         \
    X(towline_event_str, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_str(h, "/type", &len) == NULL && len == 0)) \
    X(towline_event_value, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_value(h, "/type", &len) == NULL && len == 0)) \
    X(towline_event_int, EVENT, SILENT, TOWLINE_OK, towline_event_int(h, "/type", &number))        \
    X(towline_event_double, EVENT, SILENT, TOWLINE_OK, towline_event_double(h, "/type", &real))    \
    X(towline_event_bool, EVENT, SILENT, TOWLINE_OK, towline_event_bool(h, "/type", &flag))        \
    X(towline_event_length, EVENT, SILENT, TOWLINE_OK, towline_event_length(h, "/type", &len))     \
    X(towline_event_is_null, EVENT, VALUE, TOWLINE_OK, NONE(towline_event_is_null(h, "/type")))    \
    X(towline_error_code, ERROR_OBJECT, SILENT, TOWLINE_OK, towline_error_code(h))                 \
    X(towline_error_message, ERROR_OBJECT, VALUE, TOWLINE_OK, NONE(strcmp(towline_error_message(h), "not an error object") == 0)) \
    X(towline_error_detail_json, ERROR_OBJECT, VALUE, TOWLINE_OK, NONE(strcmp(towline_error_detail_json(h), "{}") == 0)) \
    X(towline_error_free, ERROR_OBJECT, FREES, TOWLINE_OK, towline_error_free(h))                  \
    X(towline_buffer_data, BUFFER, VALUE, TOWLINE_OK, NONE(towline_buffer_data(h, &len) == NULL && len == 0)) \
    X(towline_buffer_free, BUFFER, FREES, TOWLINE_OK, towline_buffer_free(h))                      \
    X(towline_connection_launch_json, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_launch_json(h, &buffer, error)) \
    X(towline_connection_free, CONNECTION, FREES, TOWLINE_OK, towline_connection_free(h))          \
    X(towline_connection_buffer, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_buffer(h, &data, &len, error)) \
    X(towline_connection_received, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_received(h, 0, error)) \
    X(towline_connection_receive, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_receive(h, "", 0, error)) \
    X(towline_connection_ended, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_ended(h, error)) \
    X(towline_connection_event, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_event(h, &event, error)) \
    X(towline_connection_outgoing, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_outgoing(h, &bytes, &len, error)) \
    X(towline_connection_sent, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_sent(h, 0, error)) \
    X(towline_connection_wants_end, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_wants_end(h, &flag, error)) \
    X(towline_connection_deadline, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_deadline(h, &number, error)) \
    X(towline_connection_time, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_time(h, 0, error)) \
    X(towline_connection_send, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_send(h, "x", 1, NULL, error)) \
    X(towline_connection_send_json, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_send_json(h, MESSAGE, TOWLINE_NUL, NULL, error)) \
    X(towline_connection_request, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_request(h, "x", NULL, 0, NULL, error)) \
    X(towline_connection_respond, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_respond(h, 9, "{}", 2, error)) \
    X(towline_connection_end_input, CONNECTION, REPORTS, TOWLINE_OK, towline_connection_end_input(h, error)) \
    X(towline_waker_wake, WAKER, SILENT, TOWLINE_OK, towline_waker_wake(h))                        \
    X(towline_waker_free, WAKER, FREES, TOWLINE_OK, towline_waker_free(h))                         \
    X(towline_options_set_store, OPTIONS, REPORTS, TOWLINE_OK, towline_options_set_store(h, NULL, NULL, error)) \
    X(towline_store_free, STORE, FREES, TOWLINE_OK, towline_store_free(h))                         \
    X(towline_store_run, STORE, REPORTS, TOWLINE_OK, towline_store_run(h, LIST, TOWLINE_NUL, &buffer, error)) \
    X(towline_store_call, STORE, REPORTS, TOWLINE_OK, towline_store_call(h, LOAD, TOWLINE_NUL, &buffer, error)) \
    X(towline_store_reply_entry, REPLY, REPORTS, TOWLINE_OK, towline_store_reply_entry(h, "{}", 2, error)) \
    X(towline_store_reply_session, REPLY, REPORTS, TOWLINE_OK, towline_store_reply_session(h, "s", 1, error)) \
    X(towline_store_reply_summary, REPLY, REPORTS, TOWLINE_OK, towline_store_reply_summary(h, "s", 1, "{}", 2, error)) \
    X(towline_store_reply_subkey, REPLY, REPORTS, TOWLINE_OK, towline_store_reply_subkey(h, "s", error)) \
    X(towline_store_reply_error, REPLY, REPORTS, TOWLINE_OK, towline_store_reply_error(h, "s", 1, error))

/* Functions that take no handle. */
#define NO_HANDLE(X)                                                                               \
    X(towline_version, ) X(towline_abi_version, ) X(towline_status_name, ) X(towline_options_new, ) \
    X(towline_sessions_list, ) X(towline_sessions_info, ) X(towline_sessions_messages, )           \
    X(towline_sessions_subagents, ) X(towline_sessions_subagent_messages, )                        \
    X(towline_sessions_fork, ) X(towline_sessions_rename, ) X(towline_sessions_tag, )              \
    X(towline_sessions_archive, ) X(towline_sessions_delete, )          \
    X(towline_store_open, ) X(towline_store_from_callbacks, ) X(towline_store_fold_summary, )      \
    X(towline_store_check, )

/* A session that is nowhere. */
#define NOWHERE "{\"config_dir\":\"/no-such-place\"}"
#define ID "00000000-0000-4000-8000-000000000001"

#define LIST "{\"operation\":\"list_sessions\"}"
#define LOAD "{\"call\":\"load\",\"key\":{\"project_key\":\"p\",\"session_id\":\"s\"}}"
#define MESSAGE "{\"type\":\"user\",\"message\":{\"role\":\"user\",\"content\":\"x\"}}"

/* Every function that takes text, as `text` and `len`: whether it may be NULL, whether it has a
 * length, the status for text that is no JSON (TOWLINE_OK: any text is fine), the call on `h`. */
#define TEXTS(X)                                                                                   \
    X(towline_options_set_json, OPTIONS, false, true, TOWLINE_ERR_JSON, towline_options_set_json(h, text, len, error)) \
    X(towline_options_set_string, OPTIONS, false, true, TOWLINE_OK, towline_options_set_string(h, "model", text, len, error)) \
    X(towline_options_set_string_key, OPTIONS, false, false, TOWLINE_ERR_OPTION, towline_options_set_string(h, text, "x", 1, error)) \
    X(towline_options_set_int, OPTIONS, false, false, TOWLINE_ERR_OPTION, towline_options_set_int(h, text, 1, error)) \
    X(towline_options_set_bool, OPTIONS, false, false, TOWLINE_ERR_OPTION, towline_options_set_bool(h, text, true, error)) \
    X(towline_options_set_strings_key, OPTIONS, false, false, TOWLINE_ERR_OPTION, towline_options_set_strings(h, text, NULL, 0, error)) \
    X(towline_options_set_strings, OPTIONS, false, false, TOWLINE_OK, towline_options_set_strings(h, "betas", &text, 1, error)) \
    X(towline_options_set_env, OPTIONS, false, false, TOWLINE_OK, towline_options_set_env(h, text, "x", error)) \
    X(towline_options_set_env_value, OPTIONS, true, false, TOWLINE_OK, towline_options_set_env(h, "A", text, error)) \
    X(towline_options_on_hook, OPTIONS, false, false, TOWLINE_OK, towline_options_on_hook(h, text, NULL, 0, 0, NULL, NULL, NULL, error)) \
    X(towline_options_on_hook_matcher, OPTIONS, true, false, TOWLINE_OK, towline_options_on_hook(h, "Stop", text, 0, 0, NULL, NULL, NULL, error)) \
    X(towline_options_on_dialog, OPTIONS, false, false, TOWLINE_OK, towline_options_on_dialog(h, &text, 1, NULL, NULL, NULL, error)) \
    X(towline_options_add_tool_server, OPTIONS, false, false, TOWLINE_OK, towline_options_add_tool(h, text, "t", "d", "{}", NULL, NULL, NULL, NULL, error)) \
    X(towline_options_add_tool_name, OPTIONS, false, false, TOWLINE_OK, towline_options_add_tool(h, "s", text, "d", "{}", NULL, NULL, NULL, NULL, error)) \
    X(towline_options_add_tool_description, OPTIONS, false, false, TOWLINE_OK, towline_options_add_tool(h, "s1", "t", text, "{}", NULL, NULL, NULL, NULL, error)) \
    X(towline_options_add_tool_schema, OPTIONS, false, false, TOWLINE_ERR_TOOL, towline_options_add_tool(h, "s2", "t", "d", text, NULL, NULL, NULL, NULL, error)) \
    X(towline_options_add_tool_annotations, OPTIONS, true, false, TOWLINE_ERR_TOOL, towline_options_add_tool(h, "s3", "t", "d", "{}", text, NULL, NULL, NULL, error)) \
    X(towline_options_bridge_server, OPTIONS, false, false, TOWLINE_ERR_ARGUMENT, towline_options_bridge_server(h, text, error)) \
    X(towline_pool_create, OPTIONS, true, true, TOWLINE_ERR_OPTION, towline_pool_create(h, text, len, &pool, error)) \
    X(towline_session_send, SESSION, false, true, TOWLINE_OK, towline_session_send(h, text, len, NULL, error)) \
    X(towline_session_send_json, SESSION, false, true, TOWLINE_ERR_JSON, towline_session_send_json(h, text, len, NULL, error)) \
    X(towline_session_request_subtype, SESSION, false, false, TOWLINE_OK, towline_session_request(h, text, NULL, 0, NULL, error)) \
    X(towline_session_request, SESSION, true, true, TOWLINE_ERR_JSON, towline_session_request(h, "x", text, len, NULL, error)) \
    X(towline_session_request_wait_subtype, SESSION, false, false, TOWLINE_TIMEOUT, towline_session_request_wait(h, text, NULL, 0, 0, &event, error)) \
    X(towline_session_set_model, SESSION, true, false, TOWLINE_OK, towline_session_set_model(h, text, NULL, error)) \
    X(towline_session_set_permission_mode, SESSION, false, false, TOWLINE_OK, towline_session_set_permission_mode(h, text, NULL, error)) \
    X(towline_session_stop_task, SESSION, false, false, TOWLINE_OK, towline_session_stop_task(h, text, NULL, error)) \
    X(towline_session_rewind_files, SESSION, false, false, TOWLINE_OK, towline_session_rewind_files(h, text, true, NULL, error)) \
    X(towline_session_respond, SESSION, false, true, TOWLINE_ERR_UNKNOWN_REQUEST, towline_session_respond(h, 99, text, len, error)) \
    X(towline_session_respond_error, SESSION, false, true, TOWLINE_ERR_UNKNOWN_REQUEST, towline_session_respond_error(h, 99, text, len, error)) \
    X(towline_session_mcp_send_server, SESSION, false, false, TOWLINE_ERR_UNKNOWN_SERVER, towline_session_mcp_send(h, text, "{}", 2, error)) \
    X(towline_session_mcp_send, SESSION, false, true, TOWLINE_ERR_UNKNOWN_SERVER, towline_session_mcp_send(h, "none", text, len, error)) \
    X(towline_request_allow_input, REQUEST, true, false, TOWLINE_ERR_JSON, towline_request_allow(h, text, NULL, error)) \
    X(towline_request_allow_permissions, REQUEST, true, false, TOWLINE_ERR_MESSAGE, towline_request_allow(h, NULL, text, error)) \
    X(towline_request_deny, REQUEST, false, true, TOWLINE_OK, towline_request_deny(h, text, len, false, error)) \
    X(towline_request_respond, REQUEST, false, true, TOWLINE_ERR_JSON, towline_request_respond(h, text, len, error)) \
    X(towline_request_respond_error, REQUEST, false, true, TOWLINE_OK, towline_request_respond_error(h, text, len, error)) \
    X(towline_request_tool_text, REQUEST, false, true, TOWLINE_ERR_WRONG_ANSWER, towline_request_tool_text(h, text, len, false, error)) \
    X(towline_request_tool_json, REQUEST, false, true, TOWLINE_ERR_WRONG_ANSWER, towline_request_tool_json(h, text, len, error)) \
    X(towline_request_tool_progress, REQUEST, true, true, TOWLINE_ERR_WRONG_ANSWER, towline_request_tool_progress(h, 1, 2, text, len, error)) \
    X(towline_connection_send, CONNECTION, false, true, TOWLINE_OK, towline_connection_send(h, text, len, NULL, error)) \
    X(towline_connection_send_json, CONNECTION, false, true, TOWLINE_ERR_JSON, towline_connection_send_json(h, text, len, NULL, error)) \
    X(towline_connection_request, CONNECTION, true, true, TOWLINE_ERR_JSON, towline_connection_request(h, "x", text, len, NULL, error)) \
    X(towline_connection_request_subtype, CONNECTION, false, false, TOWLINE_OK, towline_connection_request(h, text, NULL, 0, NULL, error)) \
    X(towline_connection_respond, CONNECTION, false, true, TOWLINE_ERR_UNKNOWN_REQUEST, towline_connection_respond(h, 99, text, len, error)) \
    X(towline_sessions_list, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_list(text, len, &buffer, error)) \
    X(towline_sessions_info, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_info(ID, text, len, &buffer, error)) \
    X(towline_sessions_info_id, BUFFER, false, false, TOWLINE_OK, towline_sessions_info(text, NOWHERE, TOWLINE_NUL, &buffer, error)) \
    X(towline_sessions_messages, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_messages(ID, text, len, &buffer, error)) \
    X(towline_sessions_messages_id, BUFFER, false, false, TOWLINE_OK, towline_sessions_messages(text, NOWHERE, TOWLINE_NUL, &buffer, error)) \
    X(towline_sessions_subagents, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_subagents(ID, text, len, &buffer, error)) \
    X(towline_sessions_subagents_id, BUFFER, false, false, TOWLINE_OK, towline_sessions_subagents(text, NOWHERE, TOWLINE_NUL, &buffer, error)) \
    X(towline_sessions_subagent_messages, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_subagent_messages(ID, "a", text, len, &buffer, error)) \
    X(towline_sessions_subagent_messages_id, BUFFER, false, false, TOWLINE_OK, towline_sessions_subagent_messages(text, "a", NOWHERE, TOWLINE_NUL, &buffer, error)) \
    X(towline_sessions_subagent_messages_agent, BUFFER, false, false, TOWLINE_OK, towline_sessions_subagent_messages(ID, text, NOWHERE, TOWLINE_NUL, &buffer, error)) \
    X(towline_sessions_fork, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_fork(ID, text, len, &buffer, error)) \
    X(towline_sessions_fork_id, BUFFER, false, false, TOWLINE_ERR_ARGUMENT, towline_sessions_fork(text, NOWHERE, TOWLINE_NUL, &buffer, error)) \
    X(towline_sessions_rename, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_rename(ID, "t", text, len, error)) \
    X(towline_sessions_rename_id, BUFFER, false, false, TOWLINE_ERR_ARGUMENT, towline_sessions_rename(text, "t", NOWHERE, TOWLINE_NUL, error)) \
    X(towline_sessions_rename_title, BUFFER, false, false, TOWLINE_ERR_NOT_FOUND, towline_sessions_rename(ID, text, NOWHERE, TOWLINE_NUL, error)) \
    X(towline_sessions_tag, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_tag(ID, "t", text, len, error)) \
    X(towline_sessions_tag_id, BUFFER, false, false, TOWLINE_ERR_ARGUMENT, towline_sessions_tag(text, "t", NOWHERE, TOWLINE_NUL, error)) \
    X(towline_sessions_tag_tag, BUFFER, true, false, TOWLINE_ERR_NOT_FOUND, towline_sessions_tag(ID, text, NOWHERE, TOWLINE_NUL, error)) \
    X(towline_sessions_archive, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_archive(ID, true, text, len, error)) \
    X(towline_sessions_archive_id, BUFFER, false, false, TOWLINE_ERR_ARGUMENT, towline_sessions_archive(text, true, NOWHERE, TOWLINE_NUL, error)) \
    X(towline_sessions_delete, BUFFER, true, true, TOWLINE_ERR_JSON, towline_sessions_delete(ID, text, len, error)) \
    X(towline_sessions_delete_id, BUFFER, false, false, TOWLINE_ERR_ARGUMENT, towline_sessions_delete(text, NOWHERE, TOWLINE_NUL, error)) \
    X(towline_options_set_store, OPTIONS, true, false, TOWLINE_ERR_ARGUMENT, towline_options_set_store(h, NULL, text, error)) \
    X(towline_store_open, STORE, false, false, TOWLINE_ERR_STORE, towline_store_open(text, &store, error)) \
    X(towline_store_run, STORE, false, true, TOWLINE_ERR_ARGUMENT, towline_store_run(h, text, len, &buffer, error)) \
    X(towline_store_call, STORE, false, true, TOWLINE_ERR_JSON, towline_store_call(h, text, len, &buffer, error)) \
    X(towline_store_fold_summary, STORE, true, true, TOWLINE_ERR_JSON, towline_store_fold_summary(text, len, "[]", 2, &buffer, error)) \
    X(towline_store_fold_summary_entries, STORE, false, true, TOWLINE_ERR_JSON, towline_store_fold_summary(NULL, 0, text, len, &buffer, error)) \
    X(towline_store_reply_entry, REPLY, false, true, TOWLINE_ERR_JSON, towline_store_reply_entry(h, text, len, error)) \
    X(towline_store_reply_session, REPLY, false, false, TOWLINE_ERR_WRONG_ANSWER, towline_store_reply_session(h, text, 1, error)) \
    X(towline_store_reply_summary, REPLY, false, true, TOWLINE_ERR_WRONG_ANSWER, towline_store_reply_summary(h, "s", 1, text, len, error)) \
    X(towline_store_reply_summary_id, REPLY, false, false, TOWLINE_ERR_WRONG_ANSWER, towline_store_reply_summary(h, text, 1, "{}", 2, error)) \
    X(towline_store_reply_subkey, REPLY, false, false, TOWLINE_ERR_WRONG_ANSWER, towline_store_reply_subkey(h, text, error)) \
    X(towline_store_reply_error, REPLY, false, true, TOWLINE_OK, towline_store_reply_error(h, text, len, error))

/* Results go here; nobody looks at them. */
static towline_buffer *buffer;
static towline_session *session;
static towline_pool *pool;
static towline_pool_ticket *ticket;
static towline_connection *connection;
static towline_event *event;
static towline_store *store;
static int64_t number;
static double real;
static size_t len_;
static bool flag;
static int fd;
static void *data;
static const void *bytes;
static int finalized;

static void finalize(void *user_data) {
    (void)user_data;
    finalized++;
}

#define len len_
#define DEFINE(name, kind, report, closed, call)                                                   \
    static towline_status do_##name(void *h, towline_error **error) {                              \
        (void)error;                                                                               \
        return call;                                                                               \
    }
FUNCTIONS(DEFINE)
#undef len

#define ROW(name, kind, report, closed, call) {#name, kind, report, closed, do_##name},
static const struct function {
    const char *name;
    enum kind kind;
    enum report report;
    towline_status closed;
    towline_status (*call)(void *h, towline_error **error);
} functions[] = {FUNCTIONS(ROW)};
#define FUNCTION_COUNT (sizeof functions / sizeof functions[0])

#define DEFINE_TEXT(name, kind, null, has_len, json, call)                                         \
    static towline_status text_##name(void *h, const char *text, size_t len, towline_error **error) { \
        (void)h, (void)len;                                                                        \
        return call;                                                                               \
    }
TEXTS(DEFINE_TEXT)
#define TEXT_ROW(name, kind, null, has_len, json, call) {#name, kind, null, has_len, json, text_##name},
static const struct text_function {
    const char *name;
    enum kind kind;
    bool null, has_len;
    towline_status json;
    towline_status (*call)(void *h, const char *text, size_t len, towline_error **error);
} text_functions[] = {TEXTS(TEXT_ROW)};
#define TEXT_COUNT (sizeof text_functions / sizeof text_functions[0])

/* Results of calls that worked are freed here. */
static void clean(void) {
    OK(towline_buffer_free(buffer));
    OK(towline_event_free(event));
    buffer = NULL;
    event = NULL;
}

static void expect(const char *what, const char *name, enum report report, towline_status wanted,
                   towline_status found, towline_error *error) {
    bool object = report == REPORTS && wanted != TOWLINE_OK;
    if (found != wanted || (error != NULL) != object ||
        (object && (towline_error_code(error) != wanted || towline_error_message(error)[0] == '\0'))) {
        fprintf(stderr, "%s, %s: %s in place of %s, error object: %s\n", name, what,
                towline_status_name((int)found), towline_status_name((int)wanted),
                error == NULL ? "none" : towline_error_message(error));
        exit(1);
    }
    OK(towline_error_free(error));
}

static void call(const struct function *function, const char *what, void *h, towline_status wanted) {
    towline_error *error = NULL;
    towline_status found = function->call(h, function->report == REPORTS ? &error : NULL);
    expect(what, function->name, function->report, wanted, found, error);
}

static towline_session *start(void) {
    towline_options *options = test_options(
        "[" ASKS("p-1", CAN_USE_BASH) ",{\"expect\":{\"type\":\"never\"},\"timeout_ms\":600000}]");
    towline_session *started;
    OK(towline_options_on_permission(options, NULL, NULL, NULL, NULL));
    started = test_start(options);
    OK(towline_options_free(options));
    OK(towline_session_connect(started, 20000, NULL));
    return started;
}

/* Handles that are none of this type. */
static void wrong_handles(void **live, void **freed) {
    static uint64_t memory[32];
    for (size_t n = 0; n < FUNCTION_COUNT; n++) {
        const struct function *function = &functions[n];
        towline_status null = function->report == FREES ? TOWLINE_OK
                              : function->report == VALUE ? TOWLINE_ERR_HANDLE
                                                          : TOWLINE_ERR_NULL;
        call(function, "NULL", NULL, null);
        call(function, "no handle", memory, TOWLINE_ERR_HANDLE);
        call(function, "an odd address", (char *)memory + 1, TOWLINE_ERR_HANDLE);
        for (int kind = 0; kind < KINDS; kind++) {
            if (kind != (int)function->kind) {
                call(function, "another type", live[kind], TOWLINE_ERR_HANDLE);
            }
        }
        if (function->kind == ERROR_OBJECT) {
            /* Only the last few freed handles of a type are known, and these calls free many. */
            towline_error *error = NULL;
            STATUS(TOWLINE_ERR_NULL, towline_session_wake(NULL, &error));
            OK(towline_error_free(error));
            freed[ERROR_OBJECT] = error;
        }
        call(function, "freed", freed[function->kind], TOWLINE_ERR_HANDLE);
    }
    CHECK(finalized == 0);
}

static void bad_texts(void **live) {
    for (size_t n = 0; n < TEXT_COUNT; n++) {
        const struct text_function *function = &text_functions[n];
        void *h = live[function->kind];
        towline_error *error = NULL;
        towline_status status;
        if (!function->null) {
            status = function->call(h, NULL, 1, &error);
            expect("NULL text", function->name, REPORTS, TOWLINE_ERR_NULL, status, error);
        }
        status = function->call(h, "a\xff", TOWLINE_NUL, &error);
        expect("bad UTF-8", function->name, REPORTS, TOWLINE_ERR_UTF8, status, error);
        if (function->has_len) {
            status = function->call(h, "a\xc3", 2, &error);
            expect("cut UTF-8", function->name, REPORTS, TOWLINE_ERR_UTF8, status, error);
            status = function->call(h, "a", TOWLINE_NUL - 1, &error);
            expect("bad length", function->name, REPORTS, TOWLINE_ERR_LENGTH, status, error);
        }
        if (function->kind != REQUEST || function->json != TOWLINE_OK) {
            status = function->call(h, "{oops", TOWLINE_NUL, &error);
            expect("no JSON", function->name, REPORTS, function->json, status, error);
        }
        clean();
    }
}

static towline_store *make_nothing(void *user_data) {
    return user_data;
}

static towline_answer append_nothing(void *user_data, const towline_store_key *key,
                                     const towline_store_entry *entries, size_t count,
                                     towline_store_reply *reply) {
    (void)user_data, (void)key, (void)entries, (void)count, (void)reply;
    return TOWLINE_ANSWERED;
}

static towline_answer trial(void *user_data, const towline_store_key *key, towline_store_reply *reply);

static void bad_callbacks(void) {
    towline_store_callbacks callbacks;
    memset(&callbacks, 0, sizeof callbacks);
    FAILS(TOWLINE_ERR_NULL, "callbacks", towline_store_from_callbacks(NULL, NULL, finalize, &store, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "size is 0", towline_store_from_callbacks(&callbacks, NULL, finalize, &store, &error));
    callbacks.size = sizeof callbacks;
    FAILS(TOWLINE_ERR_NULL, "append", towline_store_from_callbacks(&callbacks, NULL, finalize, &store, &error));
    callbacks.append = append_nothing;
    FAILS(TOWLINE_ERR_NULL, "load", towline_store_from_callbacks(&callbacks, NULL, finalize, &store, &error));
    callbacks.load = trial;
    FAILS(TOWLINE_ERR_NULL, "store", towline_store_from_callbacks(&callbacks, NULL, finalize, NULL, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "address",
          towline_store_from_callbacks((void *)((char *)&callbacks + 1), NULL, finalize, &store, &error));
}

/* Places for results that may not be NULL, and other arguments out of range. */
static void bad_arguments(void **live) {
    towline_session *s = live[SESSION];
    towline_connection *c = live[CONNECTION];
    towline_options *o = live[OPTIONS];
    towline_event *e = live[EVENT];
    towline_request *r = live[REQUEST];
    const char *none = NULL;
    double nan = 0.0;
    FAILS(TOWLINE_ERR_NULL, "session", towline_session_create(o, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "connection", towline_connection_new(o, 0, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_options_json(o, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "pool", towline_pool_create(o, NULL, 0, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "session", towline_pool_take(live[POOL], NULL, 0, 0, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "ticket", towline_pool_begin_take(live[POOL], NULL, 0, 0, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "session", towline_pool_ticket_take(live[TICKET], NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "fd", towline_pool_fd(live[POOL], NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "timeout_ms", towline_pool_next_timeout(live[POOL], NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_pool_stats_json(live[POOL], NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "session", towline_pool_put_back(live[POOL], NULL, &error));
    FAILS(TOWLINE_ERR_STATE, "of no pool", towline_pool_put_back(live[POOL], s, &error));
    FAILS(TOWLINE_ERR_NULL, "event", towline_session_poll(s, 0, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "fd", towline_session_fd(s, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "timeout_ms", towline_session_next_timeout(s, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "pid", towline_session_pid(s, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_session_stats_json(s, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "tail", towline_session_stderr(s, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "event", towline_session_request_wait(s, "x", NULL, 0, 0, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_connection_launch_json(c, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "data", towline_connection_buffer(c, NULL, &len_, &error));
    FAILS(TOWLINE_ERR_NULL, "capacity", towline_connection_buffer(c, &data, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "data", towline_connection_receive(c, NULL, 1, &error));
    FAILS(TOWLINE_ERR_LENGTH, "count", towline_connection_receive(c, "x", SIZE_MAX, &error));
    FAILS(TOWLINE_ERR_NULL, "event", towline_connection_event(c, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "data", towline_connection_outgoing(c, NULL, &len_, &error));
    FAILS(TOWLINE_ERR_NULL, "count", towline_connection_outgoing(c, &bytes, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "wants", towline_connection_wants_end(c, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "deadline_ms", towline_connection_deadline(c, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "values", towline_options_set_strings(o, "betas", NULL, 1, &error));
    FAILS(TOWLINE_ERR_LENGTH, "values", towline_options_set_strings(o, "betas", &none, SIZE_MAX, &error));
    FAILS(TOWLINE_ERR_NULL, "values", towline_options_set_strings(o, "betas", &none, 1, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "A=", towline_options_set_env(o, "A=", "x", &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "7", towline_options_on_hook(o, "Stop", NULL, 0, 7, NULL, NULL, finalize, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "event", towline_options_on_hook(o, "", NULL, 0, 0, NULL, NULL, finalize, &error));
    FAILS(TOWLINE_ERR_OPTION, "maxTurns", towline_options_set_int(o, "maxTurns", -1, &error));
    FAILS(TOWLINE_ERR_OPTION, "number", towline_options_set_string(o, "maxTurns", "x", 1, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_sessions_list(NOWHERE, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_sessions_info(ID, NOWHERE, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_sessions_messages(ID, NOWHERE, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_sessions_subagents(ID, NOWHERE, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json",
          towline_sessions_subagent_messages(ID, "a", NOWHERE, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "json", towline_sessions_fork(ID, NOWHERE, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "limt", towline_sessions_list("{\"limt\":1}", TOWLINE_NUL, &buffer, &error));
    FAILS(TOWLINE_ERR_JSON, "object", towline_sessions_list("[]", TOWLINE_NUL, &buffer, &error));
    FAILS(TOWLINE_ERR_OPTION, "permission handler", towline_options_set_bool(o, "canUseTool", true, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "progress", towline_request_tool_progress(r, nan / nan, 1, NULL, 0, &error));
    FAILS(TOWLINE_ERR_HANDLE, "store", towline_options_set_store(o, (towline_store *)(void *)o, NULL, &error));
    FAILS(TOWLINE_ERR_ARGUMENT, "flush", towline_options_set_store(o, live[STORE], "never", &error));
    FAILS(TOWLINE_ERR_NULL, "store", towline_store_open("memory:", NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "result", towline_store_run(live[STORE], LIST, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "answer", towline_store_call(live[STORE], LOAD, TOWLINE_NUL, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "data", towline_store_fold_summary(NULL, 0, "[]", 2, NULL, &error));
    FAILS(TOWLINE_ERR_NULL, "make", towline_store_check(NULL, NULL, false, &error));
    FAILS(TOWLINE_ERR_CONTRACT, "no store was made", towline_store_check(make_nothing, NULL, false, &error));
    bad_callbacks();
    STATUS(TOWLINE_ERR_NULL, towline_event_int(e, "/type", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_event_double(e, "/type", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_event_bool(e, "/type", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_event_length(e, "/type", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_event_int(e, NULL, &number));
    STATUS(TOWLINE_ERR_UTF8, towline_event_int(e, "/\xff", &number));
    STATUS(TOWLINE_ERR_POINTER, towline_event_int(e, "type", &number));
    STATUS(TOWLINE_ERR_NULL, towline_request_int(r, "/input", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_request_double(r, "/input", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_request_bool(r, "/input", NULL));
    STATUS(TOWLINE_ERR_NULL, towline_request_length(r, "/input", NULL));
    STATUS(TOWLINE_ERR_POINTER, towline_request_length(r, "/~2", &len_));
    CHECK(towline_event_str(e, NULL, &len_) == NULL && towline_event_value(e, "/\xff", &len_) == NULL);
    CHECK(towline_event_is_null(e, NULL) && towline_request_is_null(r, NULL));
    CHECK(towline_request_str(r, NULL, &len_) == NULL && towline_request_value(r, "x", &len_) == NULL);
    CHECK(finalized == 0);
}

/* In the child of a fork every call says so, and ends nothing of the parent's. */
static void after_fork(void **live) {
    int status = 0;
    pid_t child = fork();
    CHECK(child >= 0);
    if (child == 0) {
        for (size_t n = 0; n < FUNCTION_COUNT; n++) {
            const struct function *function = &functions[n];
            bool answers = function->kind == REQUEST && function->report == REPORTS;
            bool owned = function->kind == SESSION || function->kind == STORE ||
                         function->kind == POOL || function->kind == TICKET;
            if (function->report == FREES || !(owned || answers)) {
                continue;
            }
            /* Their other arguments are not good. */
            if (strcmp(function->name, "towline_request_tool_progress") == 0 ||
                function->call == do_towline_pool_put_back || function->call == do_towline_pool_discard) {
                continue;
            }
            call(function, "after fork", live[function->kind],
                 function->report == VALUE ? TOWLINE_ERR_HANDLE : TOWLINE_ERR_FORKED);
        }
        CHECK(towline_request_cancelled(live[REQUEST]));
        OK(towline_request_free(live[REQUEST]));
        OK(towline_session_free(live[SESSION]));
        OK(towline_pool_ticket_free(live[TICKET]));
        OK(towline_pool_free(live[POOL]));
        _exit(0);
    }
    CHECK(waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
    CHECK(!towline_request_cancelled(live[REQUEST]));
}

static towline_answer call_everything(void *user_data, towline_request *request) {
    towline_session *s = *(towline_session **)user_data;
    for (size_t n = 0; n < FUNCTION_COUNT; n++) {
        const struct function *function = &functions[n];
        bool waits = function->call == do_towline_session_connect ||
                     function->call == do_towline_session_poll ||
                     function->call == do_towline_session_close ||
                     function->call == do_towline_session_request_wait;
        if (function->kind == SESSION && function->report == FREES) {
            call(function, "in a callback", s, TOWLINE_ERR_BUSY);
        } else if (waits) {
            call(function, "in a callback", s, TOWLINE_ERR_REENTRANT);
        } else if (function->kind == SESSION) {
            towline_error *error = NULL;
            function->call(s, &error);
            OK(towline_error_free(error));
            clean();
        }
    }
    /* Closing has answered it. */
    FAILS(TOWLINE_ERR_WITHDRAWN, "withdrawn", towline_request_deny(request, "enough", TOWLINE_NUL, false, &error));
    return TOWLINE_ANSWERED;
}

static void in_a_callback(void) {
    towline_options *options = test_options(
        "[" ASKS("p-1", CAN_USE_BASH) "," ANSWERED("p-1", "{\"behavior\":\"deny\"}") "]");
    towline_session *s = NULL;
    bool closed = false;
    OK(towline_options_on_permission(options, call_everything, &s, NULL, NULL));
    s = test_start(options);
    OK(towline_options_free(options));
    /* The callback begins to close it, so it ends by itself; it also wakes a poll. */
    while (!closed) {
        towline_status status = towline_session_poll(s, 20000, &event, NULL);
        CHECK(status == TOWLINE_OK || status == TOWLINE_TIMEOUT);
        closed = towline_event_kind(event) == TOWLINE_CLOSED;
        clean();
    }
    OK(towline_session_free(s));
}

static void after_the_end(void **live) {
    OK(towline_session_close(live[SESSION], 0, NULL));
    OK(towline_event_free(test_until(live[SESSION], TOWLINE_CLOSED)));
    for (size_t n = 0; n < FUNCTION_COUNT; n++) {
        const struct function *function = &functions[n];
        if (function->report != FREES && (function->kind == SESSION || function->kind == REQUEST)) {
            call(function, "after the end", live[function->kind], function->closed);
            clean();
        }
    }
    /* The table has kept it once more. */
    OK(towline_request_free(live[REQUEST]));
}

static void free_all(void **handles) {
    OK(towline_options_free(handles[OPTIONS]));
    OK(towline_session_free(handles[SESSION]));
    OK(towline_request_free(handles[REQUEST]));
    OK(towline_event_free(handles[EVENT]));
    OK(towline_error_free(handles[ERROR_OBJECT]));
    OK(towline_buffer_free(handles[BUFFER]));
    OK(towline_connection_free(handles[CONNECTION]));
    OK(towline_waker_free(handles[WAKER]));
    OK(towline_store_free(handles[STORE]));
    OK(towline_pool_free(handles[POOL]));
    OK(towline_pool_ticket_free(handles[TICKET]));
}

/* A transport that opens nothing and keeps its waker. */
static towline_waker *kept;

static void *keep_waker(void *user_data, const towline_launch *launch, towline_waker *waker) {
    (void)user_data;
    (void)launch;
    kept = waker;
    return NULL;
}

static ptrdiff_t no_read(void *stream, void *room, size_t len) {
    (void)stream;
    (void)room;
    return (ptrdiff_t)len;
}

static ptrdiff_t no_write(void *stream, const void *text, size_t len) {
    (void)stream;
    (void)text;
    return (ptrdiff_t)len;
}

static void nothing(void *stream) {
    (void)stream;
}

static towline_waker *make_waker(void) {
    towline_transport transport;
    towline_options *o = towline_options_new();
    towline_session *s = NULL;
    memset(&transport, 0, sizeof transport);
    transport.size = sizeof transport;
    transport.open = keep_waker;
    transport.read = no_read;
    transport.write = no_write;
    transport.end_input = nothing;
    transport.close = nothing;
    OK(towline_options_set_transport(o, &transport, NULL, NULL, NULL));
    STATUS(TOWLINE_ERR_START, towline_session_create(o, &s, NULL));
    OK(towline_options_free(o));
    return kept;
}

/* One live handle of each type. The request is a permission request that waits. */
static void make_all(void **handles) {
    towline_session *s = start();
    towline_event *e = test_until(s, TOWLINE_REQUEST);
    towline_options *o = towline_options_new();
    towline_error *error = NULL;
    towline_buffer *b = NULL;
    towline_connection *c = NULL;
    towline_store *st = NULL;
    STATUS(TOWLINE_ERR_OPTION, towline_options_set_int(o, "nonsense", 1, &error));
    OK(towline_options_json(o, &b, NULL));
    OK(towline_connection_new(o, 0, &c, NULL));
    OK(towline_request_retain(towline_event_request(e)));
    handles[OPTIONS] = o;
    handles[SESSION] = s;
    handles[REQUEST] = towline_event_request(e);
    handles[EVENT] = e;
    handles[ERROR_OBJECT] = error;
    handles[BUFFER] = b;
    handles[CONNECTION] = c;
    handles[WAKER] = make_waker();
    OK(towline_store_open("memory:", &st, NULL));
    handles[STORE] = st;
    OK(towline_pool_create(o, "{\"size\":0}", TOWLINE_NUL, (towline_pool **)&handles[POOL], NULL));
    OK(towline_pool_begin_take(handles[POOL], NULL, 0, 0, (towline_pool_ticket **)&handles[TICKET], NULL));
}

static void *live[KINDS], *freed[KINDS];

/* A reply lives as long as a callback of a store runs: the first is only looked at when it is gone. */
static towline_answer trial(void *user_data, const towline_store_key *key, towline_store_reply *reply) {
    TEXT("p", key->project_key);
    TEXT("s", key->session_id);
    CHECK(user_data == NULL && key->subpath == NULL);
    if (freed[REPLY] == NULL) {
        freed[REPLY] = reply;
        return 7;
    }
    live[REPLY] = reply;
    wrong_handles(live, freed);
    bad_arguments(live);
    after_fork(live);
    bad_texts(live);
    OK(towline_store_reply_error(reply, "all was tried", TOWLINE_NUL, NULL));
    return TOWLINE_FAILED;
}

static void with_a_reply(void) {
    towline_store_callbacks callbacks;
    towline_store *host = NULL;
    memset(&callbacks, 0, sizeof callbacks);
    callbacks.size = sizeof callbacks;
    callbacks.append = append_nothing;
    callbacks.load = trial;
    OK(towline_store_from_callbacks(&callbacks, NULL, finalize, &host, NULL));
    FAILS(TOWLINE_ERR_STORE, "7", towline_store_call(host, LOAD, TOWLINE_NUL, &buffer, &error));
    FAILS(TOWLINE_ERR_STORE, "all was tried", towline_store_call(host, LOAD, TOWLINE_NUL, &buffer, &error));
    FAILS(TOWLINE_ERR_UNSUPPORTED, "list_sessions()", towline_store_run(host, LIST, TOWLINE_NUL, &buffer, &error));
    CHECK(finalized == 0);
    OK(towline_store_free(host));
    CHECK(finalized == 1);
    finalized = 0;
}

int main(void) {
    make_all(freed);
    free_all(freed);
    make_all(live);
    with_a_reply();
    free_all(live);
    in_a_callback();
    make_all(live);
    after_the_end(live);
    free_all(live);
    return 0;
}
