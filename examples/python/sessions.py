"""Lists the sessions of this folder and goes on with the newest: sessions.py [PROMPT]"""

import asyncio
import os
import sys

from towline import ClaudeAgentOptions, ResultMessage, get_session_messages, list_sessions, query


async def main() -> None:
    sessions = list_sessions(directory=os.getcwd(), limit=5)
    for session in sessions:
        print(f"{session.session_id}  {session.summary}")
    if not sessions:
        print("There is none yet.")
        return
    newest = sessions[0].session_id
    print(f"{len(get_session_messages(newest, directory=os.getcwd()))} messages so far")

    prompt = " ".join(sys.argv[1:]) or "What did we talk about?"
    async for message in query(prompt=prompt, options=ClaudeAgentOptions(resume=newest)):
        if isinstance(message, ResultMessage):
            print(message.result)


asyncio.run(main())
