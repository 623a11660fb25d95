//! What the threads of a session leave.

use serde_json::json;

use crate::support::*;

fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").unwrap().count()
}

#[test]
fn sessions_leave_no_thread_and_no_descriptor() {
    in_child("leaks::sessions_leave_no_thread_and_no_descriptor", || {
        let before = (threads(), open_descriptors());
        for end in 0..40 {
            let fake = Fake::new(json!([{"emit": assistant("a")}]));
            let session = fake.begin();
            match end % 4 {
                0 => session.close().unwrap(),
                1 => {
                    message(&session, "assistant");
                }
                2 => {
                    session.end_input().unwrap();
                    until_closed(&session);
                }
                _ => {}
            }
        }
        // Threads end a moment after what they waited for.
        wait_for("the end of the threads", || {
            ((threads(), open_descriptors()) == before).then_some(())
        });
        assert!(children().is_empty());
    });
}
