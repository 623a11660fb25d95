"""Sessions under an event loop: what `query`, `ClaudeSDKClient` and `Session` have in common.

The native module does the protocol and the I/O; here is who watches the descriptor, and who runs the
callbacks of the program. No thread is started, and neither anyio nor trio is imported.
"""
