/* Transports that return what no transport can, or break, at every moment of a session: each ends
 * with an error that says which function it was and what it returned, and is closed once. */
#include <limits.h>
#include <stdint.h>

#include "towline_test.h"

#define RESULT                                                                                     \
    "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\","           \
    "\"session_id\":\"s\",\"uuid\":\"u\"}\n"

enum moment { HANDSHAKE, IDLE, TURN, BETWEEN, CLOSING, MOMENTS };

enum function { NONE, READ, READ_STDERR, WRITE, ENDED };

/* What comes back in the place of a count: this, or so much more than there was room for. */
struct fault {
    enum function function;
    int64_t value;
    bool above;
    const char *told;
    /* Not an error when the host was closing. */
    bool excused;
};

static const struct fault FAULTS[] = {
    {READ, 1, true, "its function read returned ", false},
    {READ, INTPTR_MAX, false, "its function read returned 9223372036854775807, of ", false},
    {READ, -3, false, "its function read returned -3, which is neither", false},
    {READ, INTPTR_MIN, false, "its function read returned -9223372036854775808,", false},
    {READ, TOWLINE_BROKEN, false, "reading its output failed: TOWLINE_BROKEN", true},
    {READ_STDERR, 1, true, "its function read_stderr returned 4097, of 4096 bytes", false},
    {READ_STDERR, -77, false, "its function read_stderr returned -77,", false},
    {WRITE, 1, true, "its function write returned ", false},
    {WRITE, 0, false, "its function write returned 0:", false},
    {WRITE, -3, false, "its function write returned -3,", false},
    {WRITE, TOWLINE_BROKEN, false, "writing its input failed: TOWLINE_BROKEN", true},
    {ENDED, INT64_MAX, false, "its function ended set *exit to 9223372036854775807,", true},
    {ENDED, -128, false, "its function ended set *exit to -128,", true},
};

/* A CLI inside the program; it answers initialize, and prompts but the one that says "wait". */
struct stream {
    towline_waker *waker;
    char line[65536], answer[4096];
    size_t line_len, answer_len, read;
    bool ended;
    const struct fault *armed;
    int opens, end_inputs, terminates, closes, frees;
};

static struct stream stream;
static towline_session *session;

/* Whatever of the session is called in a function says that it cannot be. */
static void reenter(void) {
    towline_event *event = NULL;
    int64_t ms;
    if (session == NULL) {
        return;
    }
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_send(session, "x", 1, NULL, NULL));
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_poll(session, 0, &event, NULL));
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_next_timeout(session, &ms, NULL));
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_wake(session, NULL));
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_end_input(session, NULL));
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_begin_close(session, NULL));
    STATUS(TOWLINE_ERR_REENTRANT, towline_session_close(session, 0, NULL));
}

static bool faulty(enum function function, size_t len, ptrdiff_t *value) {
    if (stream.armed == NULL || stream.armed->function != function) {
        return false;
    }
    *value = (ptrdiff_t)(stream.armed->above ? (int64_t)len + stream.armed->value : stream.armed->value);
    return true;
}

static void *open_stream(void *user_data, const towline_launch *launch, towline_waker *waker) {
    CHECK(user_data == NULL && launch == NULL);
    stream.opens++;
    stream.waker = waker;
    return &stream;
}

static void answer(const char *text) {
    CHECK(stream.answer_len + strlen(text) < sizeof stream.answer);
    memcpy(stream.answer + stream.answer_len, text, strlen(text));
    stream.answer_len += strlen(text);
    OK(towline_waker_wake(stream.waker));
}

static void heard(void) {
    const char *id = strstr(stream.line, "\"request_id\":\"");
    char text[512];
    if (strstr(stream.line, "\"initialize\"") != NULL) {
        CHECK(id != NULL);
        id += strlen("\"request_id\":\"");
        snprintf(text, sizeof text,
                 "{\"type\":\"control_response\",\"response\":{\"subtype\":\"success\","
                 "\"request_id\":\"%.*s\",\"response\":{\"capabilities\":[]}}}\n",
                 (int)(strchr(id, '"') - id), id);
        answer(text);
    } else if (strstr(stream.line, "\"hello\"") != NULL) {
        answer(RESULT);
    }
}

static ptrdiff_t write_stream(void *opaque, const void *bytes, size_t len) {
    ptrdiff_t value;
    size_t i;
    CHECK(opaque == &stream && len > 0);
    reenter();
    if (faulty(WRITE, len, &value)) {
        return value;
    }
    for (i = 0; i < len; i++) {
        CHECK(stream.line_len + 1 < sizeof stream.line);
        stream.line[stream.line_len++] = ((const char *)bytes)[i];
        if (((const char *)bytes)[i] == '\n') {
            stream.line[stream.line_len] = '\0';
            stream.line_len = 0;
            heard();
        }
    }
    return (ptrdiff_t)len;
}

static ptrdiff_t read_stream(void *opaque, void *buffer, size_t len) {
    ptrdiff_t value;
    size_t n = stream.answer_len - stream.read;
    CHECK(opaque == &stream && len > 0);
    reenter();
    if (faulty(READ, len, &value)) {
        return value;
    }
    if (n == 0) {
        return stream.ended ? 0 : TOWLINE_WOULD_BLOCK;
    }
    n = n < len ? n : len;
    memcpy(buffer, stream.answer + stream.read, n);
    stream.read += n;
    return (ptrdiff_t)n;
}

static ptrdiff_t read_stderr_stream(void *opaque, void *buffer, size_t len) {
    ptrdiff_t value;
    CHECK(opaque == &stream && buffer != NULL);
    reenter();
    return faulty(READ_STDERR, len, &value) ? value : TOWLINE_WOULD_BLOCK;
}

static void end_input_stream(void *opaque) {
    CHECK(opaque == &stream);
    reenter();
    stream.end_inputs++;
    stream.ended = true;
    OK(towline_waker_wake(stream.waker));
}

static bool terminate_stream(void *opaque) {
    CHECK(opaque == &stream);
    reenter();
    stream.terminates++;
    return false;
}

static void close_stream(void *opaque) {
    CHECK(opaque == &stream);
    reenter();
    stream.closes++;
}

static bool ended_stream(void *opaque, int64_t *status, const char **problem) {
    ptrdiff_t value;
    CHECK(opaque == &stream && *status == TOWLINE_NO_EXIT && *problem == NULL);
    reenter();
    if (faulty(ENDED, 0, &value)) {
        *status = value;
    }
    return true;
}

static void free_stream(void *opaque) {
    CHECK(opaque == &stream);
    stream.frees++;
    OK(towline_waker_free(stream.waker));
}

static void start(void) {
    towline_options *options = towline_options_new();
    towline_transport transport;
    memset(&transport, 0, sizeof transport);
    memset(&stream, 0, sizeof stream);
    transport.size = sizeof transport;
    transport.open = open_stream;
    transport.read = read_stream;
    transport.read_stderr = read_stderr_stream;
    transport.write = write_stream;
    transport.end_input = end_input_stream;
    transport.terminate = terminate_stream;
    transport.close = close_stream;
    transport.ended = ended_stream;
    transport.free = free_stream;
    session = NULL;
    OK(towline_options_set_int(options, "closeGraceMs", 200, NULL));
    OK(towline_options_set_int(options, "terminateGraceMs", 200, NULL));
    OK(towline_options_set_transport(options, &transport, NULL, NULL, NULL));
    session = test_start(options);
    OK(towline_options_free(options));
}

static void at(enum moment moment, const struct fault *fault) {
    towline_event *event = NULL;
    towline_error *error = NULL;
    const char *json;
    start();
    if (moment != HANDSHAKE) {
        OK(towline_event_free(test_until(session, TOWLINE_INITIALIZED)));
    }
    if (moment == BETWEEN) {
        OK(towline_session_send(session, "hello", TOWLINE_NUL, NULL, NULL));
        OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    } else if (moment == TURN) {
        OK(towline_session_send(session, "wait", TOWLINE_NUL, NULL, NULL));
    }
    stream.armed = fault;
    if (moment == CLOSING) {
        if (fault->function == WRITE) {
            OK(towline_session_send(session, "wait", TOWLINE_NUL, NULL, NULL));
        }
        OK(towline_session_begin_close(session, NULL));
    } else if (fault->function == WRITE) {
        OK(towline_session_send(session, "wait", TOWLINE_NUL, NULL, NULL));
    } else if (fault->function == ENDED) {
        stream.ended = true;
    }
    OK(towline_waker_wake(stream.waker));
    for (;;) {
        event = test_next(session);
        if (towline_event_kind(event) == TOWLINE_CLOSED) {
            break;
        }
        OK(towline_event_free(event));
    }
    error = (towline_error *)towline_event_error(event);
    json = towline_event_json(event, NULL);
    if (strstr(json, fault->told) == NULL ||
        (error == NULL ? moment != CLOSING || !fault->excused : strstr(towline_error_message(error), fault->told) == NULL)) {
        fprintf(stderr, "moment %d, \"%s\": %s\n%s\n", (int)moment, fault->told, json,
                error == NULL ? "no error" : towline_error_message(error));
        exit(1);
    }
    OK(towline_event_free(event));
    CHECK(stream.opens == 1 && stream.end_inputs == 1 && stream.closes == 1 && stream.frees == 0);
    OK(towline_session_free(session));
    CHECK(stream.closes == 1 && stream.frees == 1);
}

/* What may be returned is no fault. */
static void none_at_all(void) {
    start();
    OK(towline_session_send(session, "hello", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
    OK(towline_session_end_input(session, NULL));
    for (;;) {
        towline_event *event = test_next(session);
        bool closed = towline_event_kind(event) == TOWLINE_CLOSED;
        CHECK(!closed || towline_event_error(event) == NULL);
        OK(towline_event_free(event));
        if (closed) {
            break;
        }
    }
    OK(towline_session_free(session));
    CHECK(stream.closes == 1 && stream.frees == 1);
}

int main(void) {
    size_t i;
    int moment;
    none_at_all();
    for (i = 0; i < sizeof FAULTS / sizeof FAULTS[0]; i++) {
        for (moment = HANDSHAKE; moment < MOMENTS; moment++) {
            at((enum moment)moment, &FAULTS[i]);
        }
    }
    return 0;
}
