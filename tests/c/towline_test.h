/*
 * A tiny harness: plain checks that say where and what, and end the program.
 *
 * Programs get the path of the fake CLI as FAKE_CLI and a folder for scratch files as SCRATCH in
 * their environment.
 */
#ifndef TOWLINE_TEST_H
#define TOWLINE_TEST_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "towline.h"

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s does not hold\n", __FILE__, __LINE__, #condition);          \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

/* The call returns this status. */
#define STATUS(wanted, call) test_status(__FILE__, __LINE__, #call, (wanted), (call))
#define OK(call) STATUS(TOWLINE_OK, call)

/* The call, given &error as its last argument, fails with this status and an error object that
 * says the same and has a message with this text in it. */
#define FAILS(wanted, text, call)                                                                  \
    do {                                                                                           \
        towline_error *error = NULL;                                                               \
        STATUS(wanted, call);                                                                      \
        test_error(__FILE__, __LINE__, #call, error, (wanted), (text));                            \
    } while (0)

/* The two texts are equal. */
#define TEXT(wanted, found) test_text(__FILE__, __LINE__, (wanted), (found))

static inline void test_status(const char *file, int line, const char *call, towline_status wanted,
                               towline_status found) {
    if (found != wanted) {
        fprintf(stderr, "%s:%d: %s returned %s in place of %s\n", file, line, call,
                towline_status_name((int)found), towline_status_name((int)wanted));
        exit(1);
    }
}

static inline void test_error(const char *file, int line, const char *call, towline_error *error,
                              towline_status wanted, const char *text) {
    char name[64];
    if (error == NULL) {
        fprintf(stderr, "%s:%d: %s gave no error object\n", file, line, call);
        exit(1);
    }
    snprintf(name, sizeof name, "\"%s\"", towline_status_name((int)wanted));
    if (towline_error_code(error) != wanted ||
        strstr(towline_error_message(error), text) == NULL ||
        strstr(towline_error_detail_json(error), name) == NULL) {
        fprintf(stderr, "%s:%d: %s: \"%s\" is not in: %s\n%s\n", file, line, call, text,
                towline_error_message(error), towline_error_detail_json(error));
        exit(1);
    }
    test_status(file, line, "towline_error_free", TOWLINE_OK, towline_error_free(error));
}

static inline void test_text(const char *file, int line, const char *wanted, const char *found) {
    if (found == NULL || strcmp(wanted, found) != 0) {
        fprintf(stderr, "%s:%d: \"%s\" in place of \"%s\"\n", file, line,
                found == NULL ? "(null)" : found, wanted);
        exit(1);
    }
}

static inline const char *test_env(const char *name) {
    const char *value = getenv(name);
    if (value == NULL) {
        fprintf(stderr, "%s is not set\n", name);
        exit(1);
    }
    return value;
}

/* Options for a fake CLI with this script, a JSON list of steps (or "bench:MODE"). */
static inline towline_options *test_options(const char *script) {
    static int count = 0;
    towline_options *options = towline_options_new();
    OK(towline_options_set_string(options, "cliPath", test_env("FAKE_CLI"), TOWLINE_NUL, NULL));
    if (strncmp(script, "bench:", 6) == 0) {
        OK(towline_options_set_env(options, "FAKE_CLI_BENCH", script + 6, NULL));
    } else {
        char path[4096];
        FILE *file;
        snprintf(path, sizeof path, "%s/script-%d.json", test_env("SCRATCH"), ++count);
        file = fopen(path, "w");
        CHECK(file != NULL && fputs(script, file) >= 0 && fclose(file) == 0);
        OK(towline_options_set_env(options, "FAKE_CLI_SCRIPT", path, NULL));
    }
    return options;
}

static inline towline_session *test_start(towline_options *options) {
    towline_session *session = NULL;
    towline_error *error = NULL;
    towline_status status = towline_session_create(options, &session, &error);
    if (status != TOWLINE_OK) {
        fprintf(stderr, "cannot start: %s\n", towline_error_message(error));
        exit(1);
    }
    return session;
}

/* The next event, which has to come within 20 seconds. */
static inline towline_event *test_next(towline_session *session) {
    towline_event *event = NULL;
    towline_error *error = NULL;
    towline_status status = towline_session_poll(session, 20000, &event, &error);
    if (status != TOWLINE_OK) {
        fprintf(stderr, "poll returned %s %s\n", towline_status_name((int)status),
                error == NULL ? "" : towline_error_message(error));
        exit(1);
    }
    return event;
}

/* Passes over events up to the next one of this kind. */
static inline towline_event *test_until(towline_session *session, towline_kind_of_event kind) {
    for (;;) {
        towline_event *event = test_next(session);
        if (towline_event_kind(event) == kind) {
            return event;
        }
        if (towline_event_kind(event) == TOWLINE_CLOSED) {
            fprintf(stderr, "closed too early: %s\n", towline_event_json(event, NULL));
            exit(1);
        }
        OK(towline_event_free(event));
    }
}

/* Ends a session that has nothing more to say; frees it. */
static inline void test_finish(towline_session *session) {
    towline_event *event;
    OK(towline_session_end_input(session, NULL));
    event = test_until(session, TOWLINE_CLOSED);
    if (towline_event_error(event) != NULL || strstr(towline_event_json(event, NULL), "\"exitCode\":0") == NULL) {
        fprintf(stderr, "ended badly: %s\n", towline_event_json(event, NULL));
        exit(1);
    }
    OK(towline_event_free(event));
    OK(towline_session_free(session));
}

/* Pieces of scripts. */
#define USER "{\"expect\":{\"type\":\"user\"}}"
#define SAYS(text)                                                                                 \
    "{\"emit\":{\"type\":\"assistant\",\"session_id\":\"s-1\",\"uuid\":\"u-1\","                   \
    "\"parent_tool_use_id\":null,\"message\":{\"role\":\"assistant\",\"model\":\"claude-x\","      \
    "\"content\":[{\"type\":\"text\",\"text\":\"" text "\"}],\"usage\":{\"input_tokens\":3,"       \
    "\"output_tokens\":1}}}}"
#define DONE                                                                                       \
    "{\"emit\":{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"num_turns\":1,"   \
    "\"result\":\"ok\",\"total_cost_usd\":0.25,\"session_id\":\"s-1\",\"uuid\":\"u-2\"}}"
#define ASKS(id, request)                                                                          \
    "{\"emit\":{\"type\":\"control_request\",\"request_id\":\"" id "\",\"request\":" request "}}"
#define ANSWERED(id, response)                                                                     \
    "{\"expect\":{\"type\":\"control_response\",\"response\":{\"request_id\":\"" id                \
    "\",\"subtype\":\"success\",\"response\":" response "}}}"
#define REFUSED(id)                                                                                \
    "{\"expect\":{\"type\":\"control_response\",\"response\":{\"request_id\":\"" id                \
    "\",\"subtype\":\"error\"}}}"
#define CAN_USE_BASH                                                                               \
    "{\"subtype\":\"can_use_tool\",\"tool_name\":\"Bash\",\"input\":{\"command\":\"ls -la\"},"     \
    "\"tool_use_id\":\"t-1\"}"

#endif
