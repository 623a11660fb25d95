use towline_protocol::json;
use towline_protocol::launch::{plan, Environment, HostSide, Options};

/// Any options document: no panic, and what is accepted survives being written and read again.
pub fn options(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let mut options = Options::new();
    if options.merge_json(text).is_err() {
        return;
    }
    if let Ok(plan) = plan(&options, &HostSide::default(), &Environment::default()) {
        json::validate(&plan.initialize).expect("JSON");
        assert!(!plan.initialize.contains('\n'));
        for argument in &plan.argv {
            assert!(!argument.contains('\0'));
        }
    }
}
