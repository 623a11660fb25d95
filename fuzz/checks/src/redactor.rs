use towline::Redactor;
use towline_protocol::json;

const SECRET: &str = "fuzz-secret-9f3c2a";
const HOME: &str = "/home/somebody";

/// Any lines with secrets put among them: they are gone, what was JSON is JSON, and it is one line.
pub fn redactor(data: &[u8]) {
    let redactor = Redactor::new().secret(SECRET).home(HOME);
    let text = String::from_utf8_lossy(data);
    for line in text.split('\n') {
        // Bytes 1 and 2, which no text has, stand for the secret and the home.
        let line = line.replace('\u{1}', SECRET).replace('\u{2}', HOME);
        let written = redactor.line(&line);
        assert!(!written.contains('\n'), "{line:?}");
        assert!(!written.contains(SECRET), "{line:?}: {written:?}");
        if json::validate(&line).is_ok() {
            json::validate(&written).expect("JSON stays JSON");
        }
        let again = redactor.line(&written);
        assert_eq!(again, written, "once more changes nothing");
        let plain = redactor.text(&line);
        assert!(!plain.contains(SECRET), "{line:?}: {plain:?}");
    }
}
