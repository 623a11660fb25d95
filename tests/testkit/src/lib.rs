//! A scripted Messages API, a fake CLI and a loopback-only runner.
