/* A chat on the terminal: text as it streams, a question before a tool runs, a tool of this
 * program's own, Ctrl-C interrupts the turn, cost and turns at the end.
 *
 *   chat [--cli PATH] [--model NAME] [PROMPT]
 *
 * With a prompt it has one turn; without, every line read is a prompt, until the end of input. */
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <towline.h>
#include <unistd.h>

struct chat {
    towline_session *session;
    bool streamed;   /* deltas of the message that is coming were shown */
    bool turn;       /* a turn is running */
    double cost;   /* of the session so far, in US dollars */
    int64_t turns; /* rounds with the model */
    bool failed;
};

/* The handler may only write to a pipe; the loop reads it and interrupts. */
static int interrupts[2];

static void on_interrupt(int signal) {
    (void)signal;
    int saved = errno;
    ssize_t written = write(interrupts[1], "!", 1);
    (void)written;
    errno = saved;
}

static bool interrupted(void) {
    struct pollfd p = {interrupts[0], POLLIN, 0};
    char byte;
    return poll(&p, 1, 0) == 1 && read(interrupts[0], &byte, 1) == 1;
}

/* Reads a line from the terminal; false at its end and on Ctrl-C. */
static bool read_line(char *line, int size) {
    if (!fgets(line, size, stdin)) {
        clearerr(stdin);
        return false;
    }
    line[strcspn(line, "\n")] = '\0';
    return true;
}

static int fail(towline_error *error) {
    fprintf(stderr, "chat: %s\n", error ? towline_error_message(error) : "out of memory");
    towline_error_free(error);
    return 1;
}

/* May this tool run? It asks on the terminal, and denies when nobody answers. */
static towline_answer ask(void *user_data, towline_request *request) {
    (void)user_data;
    const char *tool = towline_request_str(request, "/tool_name", NULL);
    const char *command = towline_request_str(request, "/input/command", NULL);
    printf("\n[%s", tool ? tool : "a tool");
    if (command) printf(": %s", command);
    printf("] Allow? [y/N] ");
    fflush(stdout);
    char line[64];
    bool read = read_line(line, sizeof line);
    bool yes = read && (line[0] == 'y' || line[0] == 'Y');
    puts(yes ? "allowed" : "denied");
    towline_status status = yes ? towline_request_allow(request, NULL, NULL, NULL)
                                : towline_request_deny(request, "The user said no", TOWLINE_NUL, !read, NULL);
    return status == TOWLINE_OK ? TOWLINE_ANSWERED : TOWLINE_FAILED;
}

static towline_answer weather(void *user_data, towline_request *call) {
    (void)user_data;
    const char *city = towline_request_str(call, "/message/params/arguments/city", NULL);
    char text[256];
    snprintf(text, sizeof text, "Sunny and 21 degrees in %s", city ? city : "?");
    towline_status status = towline_request_tool_text(call, text, TOWLINE_NUL, false, NULL);
    return status == TOWLINE_OK ? TOWLINE_ANSWERED : TOWLINE_FAILED;
}

static void show(struct chat *chat, const towline_event *event) {
    size_t n;
    const char *text = towline_event_text(event, &n);
    const char *type = towline_event_type(event);
    if (type && strcmp(type, "stream_event") == 0) {
        fwrite(text, 1, n, stdout);
        chat->streamed |= n > 0;
    } else if (type && strcmp(type, "assistant") == 0) {
        if (!chat->streamed) fwrite(text, 1, n, stdout);
        chat->streamed = false;
        const char *tool = towline_event_str(event, "/message/content/0/name", NULL);
        if (tool) printf("\n> %s", tool);
        putchar('\n');
    }
    fflush(stdout);
}

static void turn_ended(struct chat *chat, const towline_event *event) {
    chat->turn = false;
    double cost;
    if (towline_event_double(event, "/total_cost_usd", &cost) == TOWLINE_OK) chat->cost = cost;
    int64_t turns;
    if (towline_event_int(event, "/num_turns", &turns) == TOWLINE_OK) chat->turns += turns;
    bool is_error = false;
    if (towline_event_bool(event, "/is_error", &is_error) == TOWLINE_OK && is_error) {
        const char *reason = towline_event_str(event, "/terminal_reason", NULL);
        printf("(the turn failed: %s)\n", reason ? reason : "unknown reason");
    }
}

/* Does what is ready; false when the session is over. */
static bool pump(struct chat *chat, int timeout_ms) {
    towline_event *event;
    towline_error *error = NULL;
    towline_status status;
    while ((status = towline_session_poll(chat->session, timeout_ms, &event, &error)) == TOWLINE_OK) {
        timeout_ms = 0;
        bool over = false;
        switch (towline_event_kind(event)) {
        case TOWLINE_MESSAGE: show(chat, event); break;
        case TOWLINE_TURN_ENDED: turn_ended(chat, event); break;
        case TOWLINE_DIAGNOSTIC: fprintf(stderr, "chat: %s\n", towline_event_text(event, NULL)); break;
        case TOWLINE_CLOSED: {
            const towline_error *why = towline_event_error(event);
            if (why) fprintf(stderr, "chat: %s\n", towline_error_message(why));
            chat->failed |= why != NULL;
            over = true;
            break;
        }
        default: break;
        }
        towline_event_free(event);
        if (over) return false;
    }
    if (status == TOWLINE_TIMEOUT) return true;
    chat->failed = true;
    fail(error);
    return false;
}

/* Waits for the session or Ctrl-C, whichever comes first. */
static bool run_turn(struct chat *chat) {
    while (chat->turn) {
        int fd;
        int64_t timeout = -1;
        if (towline_session_fd(chat->session, &fd, NULL) != TOWLINE_OK) return false;
        towline_session_next_timeout(chat->session, &timeout, NULL);
        struct pollfd watched[2] = {{fd, POLLIN, 0}, {interrupts[0], POLLIN, 0}};
        poll(watched, 2, (int)timeout);
        if (interrupted()) {
            puts("\n(interrupting)");
            towline_session_interrupt(chat->session, NULL, NULL);
        }
        if (!pump(chat, 0)) return false;
    }
    return true;
}

static bool say(struct chat *chat, const char *prompt) {
    towline_error *error = NULL;
    if (towline_session_send(chat->session, prompt, TOWLINE_NUL, NULL, &error) != TOWLINE_OK) {
        fail(error);
        chat->failed = true;
        return false;
    }
    chat->turn = true;
    return run_turn(chat);
}

int main(int argc, char **argv) {
    const char *cli = NULL, *model = NULL, *prompt = NULL;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--cli") == 0 && i + 1 < argc) cli = argv[++i];
        else if (strcmp(argv[i], "--model") == 0 && i + 1 < argc) model = argv[++i];
        else if (strcmp(argv[i], "--help") == 0 || argv[i][0] == '-' || prompt) {
            bool help = strcmp(argv[i], "--help") == 0;
            fprintf(help ? stdout : stderr, "usage: chat [--cli PATH] [--model NAME] [PROMPT]\n");
            return help ? 0 : 2;
        } else prompt = argv[i];
    }
    struct sigaction action = {0};
    action.sa_handler = on_interrupt;
    sigemptyset(&action.sa_mask);
    if (pipe(interrupts) != 0 || sigaction(SIGINT, &action, NULL) != 0) {
        perror("chat");
        return 1;
    }

    struct chat chat = {0};
    towline_error *error = NULL;
    towline_options *options = towline_options_new();
    if (cli) towline_options_set_string(options, "cliPath", cli, TOWLINE_NUL, NULL);
    if (model) towline_options_set_string(options, "model", model, TOWLINE_NUL, NULL);
    towline_options_set_bool(options, "includePartialMessages", true, NULL);
    towline_options_on_permission(options, ask, NULL, NULL, NULL);
    towline_options_add_tool(options, "demo", "weather", "The weather in a city",
        "{\"type\":\"object\",\"properties\":{\"city\":{\"type\":\"string\"}},\"required\":[\"city\"]}",
        "{\"readOnlyHint\":true}", weather, NULL, NULL, NULL);
    towline_status status = towline_session_create(options, &chat.session, &error);
    towline_options_free(options);
    if (status != TOWLINE_OK) return fail(error);

    bool open = true;
    if (prompt) {
        printf("you> %s\n", prompt);
        open = say(&chat, prompt);
    }
    while (open && !prompt) {
        char line[4096];
        printf("you> ");
        fflush(stdout);
        if (!read_line(line, sizeof line)) break;
        if (line[0]) open = say(&chat, line);
    }
    if (open) {
        towline_session_end_input(chat.session, NULL);
        while (pump(&chat, -1)) continue;
    }
    printf("(%lld turns, $%.4f)\n", (long long)chat.turns, chat.cost);
    towline_session_free(chat.session);
    return chat.failed;
}
