/* The session's stream is the host's: here a socket to a CLI that it starts itself, watched in its
 * own poll loop. In a container or on another machine only `start` looks different. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "towline.h"

struct remote {
    towline_waker *waker;
    pid_t pid;
    int fd, status;
    bool reaped;
};

static void *start(void *user_data, const towline_launch *launch, towline_waker *waker) {
    struct remote *remote = user_data;
    int ends[2];
    remote->waker = waker;
    if (socketpair(AF_UNIX, SOCK_STREAM, 0, ends) != 0 || (remote->pid = fork()) < 0) {
        return NULL;
    }
    if (remote->pid == 0) {
        dup2(ends[1], 0);
        dup2(ends[1], 1);
        close(ends[0]);
        execve(launch->argv[0], (char *const *)launch->argv, (char *const *)launch->env);
        _exit(127);
    }
    close(ends[1]);
    remote->fd = ends[0];
    fcntl(remote->fd, F_SETFL, O_NONBLOCK);
    return remote;
}

static ptrdiff_t read_some(void *stream, void *buffer, size_t len) {
    ssize_t n = recv(((struct remote *)stream)->fd, buffer, len, 0);
    return n >= 0 ? n : errno == EAGAIN ? TOWLINE_WOULD_BLOCK : TOWLINE_BROKEN;
}

static ptrdiff_t write_some(void *stream, const void *bytes, size_t len) {
    ssize_t n = send(((struct remote *)stream)->fd, bytes, len, MSG_NOSIGNAL);
    return n >= 0 ? n : errno == EAGAIN ? TOWLINE_WOULD_BLOCK : TOWLINE_BROKEN;
}

static void end_input(void *stream) {
    shutdown(((struct remote *)stream)->fd, SHUT_WR);
}

static void end(void *stream) {
    struct remote *remote = stream;
    if (!remote->reaped) {
        kill(remote->pid, SIGKILL);
        remote->reaped = waitpid(remote->pid, &remote->status, 0) == remote->pid;
    }
}

static bool ended(void *stream, int64_t *status, const char **problem) {
    struct remote *remote = stream;
    (void)problem;
    remote->reaped = remote->reaped || waitpid(remote->pid, &remote->status, WNOHANG) == remote->pid;
    if (remote->reaped) {
        *status = WIFEXITED(remote->status) ? WEXITSTATUS(remote->status) : -WTERMSIG(remote->status);
    }
    return remote->reaped;
}

int main(int argc, char **argv) {
    struct remote remote = {NULL, 0, -1, 0, false};
    towline_transport transport = {sizeof transport, true, start, read_some, NULL, write_some,
                                   end_input, NULL, end, ended, NULL};
    towline_options *options = towline_options_new();
    towline_session *session;
    towline_error *error = NULL;
    towline_event *event;
    bool open = true;
    int fd, failed = 0;
    towline_options_set_transport(options, &transport, &remote, NULL, NULL);
    if (towline_session_create(options, &session, &error) != TOWLINE_OK) {
        fprintf(stderr, "%s\n", towline_error_message(error));
        towline_error_free(error);
        towline_options_free(options);
        towline_waker_free(remote.waker);
        return 1;
    }
    towline_session_send(session, argc > 1 ? argv[1] : "Say hello", TOWLINE_NUL, NULL, NULL);
    towline_session_end_input_when_settled(session, NULL);
    towline_session_fd(session, &fd, NULL);
    while (open) {
        struct pollfd entries[] = {{fd, POLLIN, 0}, {remote.fd, POLLIN, 0}};
        int64_t ms;
        while (open && towline_session_poll(session, 0, &event, NULL) == TOWLINE_OK) {
            open = towline_event_kind(event) != TOWLINE_CLOSED;
            fputs(towline_event_text(event, NULL), stdout);
            if (!open && towline_event_error(event) != NULL) {
                fprintf(stderr, "%s\n", towline_error_message(towline_event_error(event)));
                failed = 1;
            }
            towline_event_free(event);
        }
        towline_session_next_timeout(session, &ms, NULL);
        if (open) {
            poll(entries, 2, ms < 0 || ms > 100 ? 100 : (int)ms);
            towline_waker_wake(remote.waker);
        }
    }
    putchar('\n');
    towline_session_free(session);
    towline_options_free(options);
    towline_waker_free(remote.waker);
    close(remote.fd);
    return failed;
}
