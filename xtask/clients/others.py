"""Libraries with their own API clients, tested through a gateway: `python others.py URL [CHECK…]`.

Each library is imported only by its own checks, because the libraries are installed separately.
"""

import sys

BASE = sys.argv[1].rstrip("/")
MODEL = "claude-sonnet-4-6"
HELLO = "How does the parser work?"
LOOK = "How does the parser in src/parser.rs work? Read it."


def langchain(**more):
    from langchain_anthropic import ChatAnthropic

    return ChatAnthropic(model=MODEL, base_url=BASE, api_key="any", max_retries=0, max_tokens=1024, **more)


def langchain_message():
    answer = langchain().invoke(HELLO)
    assert answer.text and answer.usage_metadata["output_tokens"] > 0, answer


def langchain_stream():
    assert "".join(chunk.text for chunk in langchain().stream(HELLO))


def langchain_tools():
    from langchain_core.messages import HumanMessage, ToolMessage
    from langchain_core.tools import tool

    @tool
    def read(path: str) -> str:
        """Reads a file."""
        return "fn parse() {}"

    model, messages = langchain().bind_tools([read]), [HumanMessage(LOOK)]
    answer = model.invoke(messages)
    assert answer.tool_calls and answer.tool_calls[0]["name"] == "read", answer
    results = [ToolMessage(read.invoke(call["args"]), tool_call_id=call["id"]) for call in answer.tool_calls]
    assert model.invoke([*messages, answer, *results]).content


def litellm(**more):
    import litellm

    asked = {"model": f"anthropic/{MODEL}", "api_base": BASE, "api_key": "any", "max_tokens": 1024, "num_retries": 0}
    return litellm.completion(messages=[{"role": "user", "content": HELLO}], **{**asked, **more})


def litellm_message():
    answer = litellm()
    assert answer.choices[0].message.content and answer.usage.completion_tokens > 0, answer


def litellm_stream():
    chunks = list(litellm(stream=True))
    assert "".join(chunk.choices[0].delta.content or "" for chunk in chunks)


def litellm_chat():
    answer = litellm(model="openai/gpt-5", api_base=f"{BASE}/v1")
    assert answer.choices[0].message.content, answer


for name in sys.argv[2:]:
    try:
        globals()[name]()
        print(f"ok {name}", flush=True)
    except Exception as error:  # every check runs and is reported
        print(f"FAILED {name}: {type(error).__name__}: {' '.join(str(error).split())}", flush=True)
