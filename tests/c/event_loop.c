/* Several sessions in one poll(2) loop, all started from the same options. */
#include <poll.h>

#include "towline_test.h"

#define SESSIONS 4

int main(void) {
    towline_options *options = test_options("bench:stream:200");
    towline_session *sessions[SESSIONS];
    struct pollfd watched[SESSIONS];
    int messages[SESSIONS] = {0}, open = SESSIONS;
    for (int n = 0; n < SESSIONS; n++) {
        int again = -1;
        sessions[n] = test_start(options);
        OK(towline_session_send(sessions[n], "go", TOWLINE_NUL, NULL, NULL));
        watched[n].events = POLLIN;
        OK(towline_session_fd(sessions[n], &watched[n].fd, NULL));
        OK(towline_session_fd(sessions[n], &again, NULL));
        CHECK(again == watched[n].fd && again >= 0);
    }
    OK(towline_options_free(options));
    while (open > 0) {
        int64_t timeout = 20000;
        for (int n = 0; n < SESSIONS; n++) {
            int64_t own = -1;
            if (watched[n].fd < 0) {
                continue;
            }
            OK(towline_session_next_timeout(sessions[n], &own, NULL));
            CHECK(own >= -1);
            timeout = own >= 0 && own < timeout ? own : timeout;
        }
        CHECK(poll(watched, SESSIONS, (int)timeout) > 0 || timeout < 20000);
        for (int n = 0; n < SESSIONS; n++) {
            towline_event *event;
            towline_status status;
            if (watched[n].fd < 0) {
                continue;
            }
            while ((status = towline_session_poll(sessions[n], 0, &event, NULL)) == TOWLINE_OK) {
                towline_kind_of_event kind = towline_event_kind(event);
                const char *type = towline_event_type(event);
                if (kind == TOWLINE_MESSAGE && strcmp(type, "stream_event") == 0) {
                    messages[n]++;
                }
                if (kind == TOWLINE_TURN_ENDED) {
                    OK(towline_session_end_input(sessions[n], NULL));
                }
                if (kind == TOWLINE_CLOSED) {
                    CHECK(towline_event_error(event) == NULL);
                    watched[n].fd = -1;
                    open--;
                }
                OK(towline_event_free(event));
            }
            CHECK(status == TOWLINE_TIMEOUT || (status == TOWLINE_ERR_CLOSED && watched[n].fd < 0));
        }
    }
    for (int n = 0; n < SESSIONS; n++) {
        CHECK(messages[n] == 200);
        OK(towline_session_free(sessions[n]));
    }
    return 0;
}
