/* A pool: warm sessions, parked conversations, the limit, an event loop, the end. */
#include <poll.h>

#include "towline_test.h"

#define RESULT "{\"type\":\"result\",\"subtype\":\"success\",\"is_error\":false,\"result\":\"ok\",\"num_turns\":1,\"session_id\":\"s\",\"uuid\":\"u\"}"
#define CHAT                                                                                       \
    "[{\"repeat\":100,\"steps\":[{\"expect\":{\"type\":\"user\"},\"timeout_ms\":60000},{\"emit\":" RESULT "}]}]"

static void turn(towline_session *session) {
    OK(towline_session_send(session, "go", TOWLINE_NUL, NULL, NULL));
    OK(towline_event_free(test_until(session, TOWLINE_TURN_ENDED)));
}

static int64_t pid_of(towline_session *session) {
    int64_t pid = 0;
    OK(towline_session_pid(session, &pid, NULL));
    return pid;
}

/* Whether the JSON text of an object has this part. */
static bool has(towline_buffer *json, const char *part) {
    bool found = strstr(towline_buffer_data(json, NULL), part) != NULL;
    OK(towline_buffer_free(json));
    return found;
}

static bool stats_have(towline_pool *pool, const char *part) {
    towline_buffer *json;
    OK(towline_pool_stats_json(pool, &json, NULL));
    return has(json, part);
}

static towline_session *take(towline_pool *pool, const char *id) {
    towline_session *session = NULL;
    OK(towline_pool_take(pool, id, TOWLINE_NUL, 20000, &session, NULL));
    return session;
}

static void warm(void) {
    towline_options *options = test_options(CHAT);
    towline_pool *pool;
    towline_session *session, *none = NULL;
    towline_buffer *json;
    int64_t first;
    OK(towline_pool_create(options, "{\"size\":1,\"maxSessions\":1}", TOWLINE_NUL, &pool, NULL));
    OK(towline_options_free(options));
    OK(towline_pool_fill(pool, 20000, NULL));
    session = take(pool, NULL);
    first = pid_of(session);
    OK(towline_session_stats_json(session, &json, NULL));
    CHECK(!has(json, "\"initializedMs\":null"));
    OK(towline_session_stats_json(session, &json, NULL));
    CHECK(!has(json, "\"takenMs\":null"));
    FAILS(TOWLINE_ERR_POOL_FULL, "maxSessions",
          towline_pool_take(pool, NULL, 0, 10, &none, &error));
    CHECK(none == NULL);
    /* Without a prompt it is as warm as before. */
    OK(towline_pool_put_back(pool, session, NULL));
    session = take(pool, NULL);
    CHECK(pid_of(session) == first);
    OK(towline_session_free(session));
    OK(towline_pool_free(NULL));
    OK(towline_pool_free(pool));
}

static void parking(void) {
    towline_options *options = test_options(CHAT);
    towline_pool *pool, *other;
    towline_session *session, *none = NULL;
    int64_t first;
    OK(towline_pool_create(options, "{\"size\":0,\"maxSessions\":1}", TOWLINE_NUL, &pool, NULL));
    OK(towline_pool_create(options, "{\"size\":0}", TOWLINE_NUL, &other, NULL));
    OK(towline_options_free(options));
    session = take(pool, NULL);
    first = pid_of(session);
    turn(session);
    FAILS(TOWLINE_ERR_STATE, "another pool", towline_pool_put_back(other, session, &error));
    CHECK(pid_of(session) == first);
    OK(towline_pool_put_back(pool, session, NULL));
    /* Freed by that. */
    FAILS(TOWLINE_ERR_HANDLE, "freed", towline_session_wake(session, &error));
    CHECK(stats_have(pool, "\"parked\":1"));
    session = take(pool, "s");
    CHECK(pid_of(session) == first);
    turn(session);
    FAILS(TOWLINE_ERR_POOL_FULL, "in use", towline_pool_take(pool, NULL, 0, 10, &none, &error));
    FAILS(TOWLINE_ERR_IN_USE, "s is in use", towline_pool_take(pool, "s", 1, 10, &none, &error));
    OK(towline_pool_put_back(pool, session, NULL));
    /* Room is made, and the conversation resumed later. */
    session = take(pool, NULL);
    CHECK(pid_of(session) != first);
    OK(towline_session_free(session));
    session = take(pool, "s");
    CHECK(stats_have(pool, "\"resumed\":1") && stats_have(pool, "\"evicted\":1"));
    OK(towline_pool_discard(pool, session, NULL));
    OK(towline_pool_close(pool, NULL));
    CHECK(stats_have(pool, "\"handedOut\":0") && stats_have(pool, "\"closing\":0"));
    FAILS(TOWLINE_ERR_CLOSED, "closed", towline_pool_take(pool, NULL, 0, 0, &session, &error));
    OK(towline_pool_free(other));
    OK(towline_pool_free(pool));
}

/* Each is refused by its name, with what it may be; what cannot be parked, with what to do. */
static void what_is_refused(void) {
    static const char *const LIMITS[][2] = {
        {"{\"size\":1e10}", "size has to be a whole number from 0 to 10000, and it is 1e10"},
        {"{\"size\":10001}", "size has to be a whole number from 0 to 10000, and it is 10001"},
        {"{\"size\":-1}", "size has to be a whole number from 0 to 10000, and it is -1"},
        {"{\"size\":null}", "size has to be a whole number from 0 to 10000, and it is null"},
        {"{\"maxSessions\":0.5}", "maxSessions has to be a whole number, 1 at least, or null for no limit, and it is 0.5"},
        {"{\"size\":0,\"maxSessions\":0}", "maxSessions has to be 1 at least"},
        {"{\"idleTimeoutMs\":\"5\"}", "idleTimeoutMs has to be a whole number of milliseconds, 0 or more, or null for no limit"},
        {"{\"checkTimeoutMs\":-5}", "checkTimeoutMs has to be a whole number of milliseconds, 0 or more, and it is -5"},
        {"{\"takeTimeoutMs\":1e20}", "takeTimeoutMs has to be a whole number of milliseconds, 0 or more, or null for no limit, and it is 1e20"},
    };
    towline_options *options = test_options("[{\"expect\":{\"type\":\"user\"}},{\"await_file\":\"/no/such/file\",\"timeout_ms\":60000}]");
    towline_pool *pool = NULL;
    towline_session *session;
    size_t i;
    for (i = 0; i < sizeof LIMITS / sizeof LIMITS[0]; i++) {
        FAILS(TOWLINE_ERR_OPTION, LIMITS[i][1],
              towline_pool_create(options, LIMITS[i][0], TOWLINE_NUL, &pool, &error));
        CHECK(pool == NULL);
    }
    OK(towline_options_set_int(options, "closeGraceMs", 10, NULL));
    OK(towline_pool_create(options, "{\"size\":0}", TOWLINE_NUL, &pool, NULL));
    OK(towline_options_free(options));
    session = take(pool, NULL);
    OK(towline_session_send(session, "go", TOWLINE_NUL, NULL, NULL));
    FAILS(TOWLINE_ERR_STATE, "read it to its result, or close the session",
          towline_pool_put_back(pool, session, &error));
    OK(towline_session_free(session));
    OK(towline_pool_free(pool));
}

static void event_loop(void) {
    towline_options *options = test_options(CHAT);
    towline_pool *pool;
    towline_session *session = NULL;
    struct pollfd watched;
    OK(towline_pool_create(options, NULL, 0, &pool, NULL));
    OK(towline_options_free(options));
    OK(towline_pool_fd(pool, &watched.fd, NULL));
    watched.events = POLLIN;
    while (!stats_have(pool, "\"warm\":1")) {
        int64_t limit = 0;
        OK(towline_pool_next_timeout(pool, &limit, NULL));
        CHECK(limit >= -1);
        CHECK(poll(&watched, 1, limit < 0 || limit > 20000 ? 20000 : (int)limit) > 0 || limit < 20000);
        OK(towline_pool_poll(pool, 0, NULL));
    }
    OK(towline_pool_wake(pool, NULL));
    OK(towline_pool_poll(pool, -1, NULL));
    OK(towline_pool_take(pool, NULL, 0, 0, &session, NULL));
    turn(session);
    OK(towline_pool_begin_close(pool, NULL));
    OK(towline_pool_close(pool, NULL));
    /* It outlives its pool. */
    OK(towline_pool_free(pool));
    turn(session);
    OK(towline_session_free(session));
}

/* Polls as the descriptor says until the ticket has its session. */
static towline_status fetch(towline_pool *pool, towline_pool_ticket *ticket, towline_session **session,
                            towline_error **failure) {
    struct pollfd watched;
    OK(towline_pool_fd(pool, &watched.fd, NULL));
    watched.events = POLLIN;
    for (;;) {
        int64_t limit = 0;
        towline_status status = towline_pool_ticket_take(ticket, session, failure);
        if (status != TOWLINE_OK || *session != NULL) return status;
        OK(towline_pool_next_timeout(pool, &limit, NULL));
        CHECK(poll(&watched, 1, limit < 0 || limit > 20000 ? 20000 : (int)limit) > 0 || limit < 20000);
        OK(towline_pool_poll(pool, 0, NULL));
    }
}

/* A full pool, in an event loop. */
static void tickets(void) {
    towline_options *options = test_options(CHAT);
    towline_pool *pool;
    towline_pool_ticket *first = NULL, *second = NULL;
    towline_session *session = NULL, *other = NULL;
    int64_t pid;
    OK(towline_pool_create(options, "{\"size\":0,\"maxSessions\":1}", TOWLINE_NUL, &pool, NULL));
    OK(towline_options_free(options));
    OK(towline_pool_begin_take(pool, NULL, 0, -1, &first, NULL));
    OK(towline_pool_ticket_take(first, &session, NULL));
    CHECK(session == NULL);
    OK(fetch(pool, first, &session, NULL));
    FAILS(TOWLINE_ERR_STATE, "was used", towline_pool_ticket_take(first, &other, &error));
    OK(towline_pool_ticket_free(first));
    turn(session);
    pid = pid_of(session);
    OK(towline_pool_begin_take(pool, "s", 1, -1, &first, NULL));
    OK(towline_pool_begin_take(pool, NULL, 0, 10, &second, NULL));
    CHECK(stats_have(pool, "\"waiting\":2"));
    FAILS(TOWLINE_ERR_POOL_FULL, "maxSessions", fetch(pool, second, &other, &error));
    OK(towline_pool_ticket_free(second));
    OK(towline_pool_ticket_take(first, &other, NULL));
    CHECK(other == NULL);
    OK(towline_pool_put_back(pool, session, NULL));
    OK(fetch(pool, first, &session, NULL));
    CHECK(pid_of(session) == pid);
    turn(session);
    OK(towline_pool_begin_take(pool, NULL, 0, -1, &second, NULL));
    OK(towline_pool_ticket_free(second));
    CHECK(stats_have(pool, "\"waiting\":0"));
    OK(towline_pool_begin_take(pool, NULL, 0, -1, &second, NULL));
    OK(towline_session_free(session));
    OK(towline_pool_begin_close(pool, NULL));
    FAILS(TOWLINE_ERR_CLOSED, "closed", fetch(pool, second, &other, &error));
    OK(towline_pool_ticket_free(second));
    OK(towline_pool_ticket_free(NULL));
    OK(towline_pool_begin_take(pool, NULL, 0, -1, &second, NULL));
    OK(towline_pool_free(pool));
    FAILS(TOWLINE_ERR_CLOSED, "closed", towline_pool_ticket_take(second, &other, &error));
    OK(towline_pool_ticket_free(second));
    OK(towline_pool_ticket_free(first));
    CHECK(other == NULL);
}

/* What waits to be fetched for one ticket holds up no other. */
static void two_tickets(void) {
    towline_options *options = test_options(CHAT);
    towline_pool *pool;
    towline_pool_ticket *first = NULL, *second = NULL;
    towline_session *session = NULL, *other = NULL;
    int polls;
    OK(towline_pool_create(options, "{\"size\":0,\"maxSessions\":2}", TOWLINE_NUL, &pool, NULL));
    OK(towline_options_free(options));
    OK(towline_pool_begin_take(pool, NULL, 0, -1, &first, NULL));
    for (polls = 0; !stats_have(pool, "\"handedOut\":1"); polls++) {
        CHECK(polls < 100000);
        OK(towline_pool_poll(pool, 100, NULL));
    }
    OK(towline_pool_begin_take(pool, NULL, 0, 20000, &second, NULL));
    for (;;) {
        OK(towline_pool_ticket_take(second, &other, NULL));
        if (other != NULL) {
            break;
        }
        OK(towline_pool_poll(pool, 100, NULL));
    }
    OK(towline_pool_ticket_take(first, &session, NULL));
    CHECK(session != NULL);
    OK(towline_session_free(session));
    OK(towline_session_free(other));
    OK(towline_pool_ticket_free(first));
    OK(towline_pool_ticket_free(second));
    OK(towline_pool_free(pool));
}

static void failures(void) {
    towline_options *options = test_options(
        "[{\"expect\":{\"request\":{\"subtype\":\"initialize\"}}},{\"stderr\":\"no luck\\n\"},{\"exit\":3}]");
    towline_pool *pool = NULL;
    towline_session *session;
    FAILS(TOWLINE_ERR_OPTION, "sise", towline_pool_create(options, "{\"sise\":1}", TOWLINE_NUL, &pool, &error));
    FAILS(TOWLINE_ERR_OPTION, "maxSessions",
          towline_pool_create(options, "{\"size\":2,\"maxSessions\":1}", TOWLINE_NUL, &pool, &error));
    CHECK(pool == NULL);
    OK(towline_pool_create(options, "{\"size\":0}", TOWLINE_NUL, &pool, NULL));
    FAILS(TOWLINE_ERR_EXITED_EARLY, "no luck", towline_pool_take(pool, NULL, 0, -1, &session, &error));
    OK(towline_pool_free(pool));
    OK(towline_options_set_string(options, "resume", "s", 1, NULL));
    OK(towline_pool_create(options, "{\"size\":0}", TOWLINE_NUL, &pool, NULL));
    FAILS(TOWLINE_ERR_LAUNCH, "resume", towline_pool_take(pool, NULL, 0, -1, &session, &error));
    OK(towline_pool_free(pool));
    OK(towline_options_free(options));
}

int main(void) {
    warm();
    parking();
    what_is_refused();
    event_loop();
    tickets();
    two_tickets();
    failures();
    return 0;
}
