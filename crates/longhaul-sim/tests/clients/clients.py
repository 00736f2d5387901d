"""Tests the official Python SDKs with a running simulator, or a gateway in front of one: `python clients.py URL [CHECK…]`.

The model must read a file when it is told to, as the simulator's agent and the model of the Rust tests do. The control API
is expected at the same URL, because a gateway passes it on. The script prints a line for each check; the exit code says
whether all passed. Other scripts run their checks together with these (`run`).
"""

import json
import sys
import urllib.request

import anthropic
import openai

BASE = sys.argv[1].rstrip("/")
MODEL = "claude-opus-5-5"
HELLO = [{"role": "user", "content": "How does the parser work?"}]
LOOK = [{"role": "user", "content": "How does the parser in src/parser.rs work? Read it."}]
LONG = "The parser reads one line at a time and keeps what it cannot read. " * 400
SCHEMA = {"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}
PATH = "src/parser.rs"

claude = anthropic.Anthropic(base_url=BASE, api_key="sim", max_retries=0)
gpt = openai.OpenAI(base_url=f"{BASE}/v1", api_key="sim", max_retries=0)


def control(path, body):
    data = json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(f"{BASE}{path}", data=data)) as answer:
        return json.load(answer)


def raises(kind, call):
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"{kind.__name__} was not raised")


def create(client=claude, **more):
    return client.messages.create(**{"model": MODEL, "max_tokens": 1024, "messages": HELLO, **more})


def text_of(message):
    return "".join(block.text for block in message.content if block.type == "text")


def anthropic_message():
    message = create()
    assert text_of(message) and message.stop_reason == "end_turn", message
    assert message.usage.input_tokens > 0 and message.usage.output_tokens > 0
    assert message._request_id.startswith("req_")


def anthropic_stream():
    with claude.messages.stream(model=MODEL, max_tokens=1024, messages=HELLO) as stream:
        text = "".join(stream.text_stream)
        final = stream.get_final_message()
    assert text == text_of(final) and final.stop_reason == "end_turn", final
    kinds = [event.type for event in create(stream=True)]
    assert kinds[0] == "message_start" and kinds[-1] == "message_stop", kinds


def anthropic_tools():
    tools = [{"name": "read", "description": "Reads a file.", "input_schema": SCHEMA}]
    first = create(tools=tools, messages=LOOK)
    assert first.stop_reason == "tool_use", first
    call = next(block for block in first.content if block.type == "tool_use")
    assert call.input == {"path": PATH}, call
    result = {"type": "tool_result", "tool_use_id": call.id, "content": "fn parse() {}"}
    messages = [*LOOK, {"role": "assistant", "content": first.content}, {"role": "user", "content": [result]}]
    assert create(tools=tools, messages=messages).content
    with claude.messages.stream(model=MODEL, max_tokens=1024, messages=LOOK, tools=tools) as stream:
        streamed = stream.get_final_message()
    assert streamed.content[-1].input == {"path": PATH}, streamed


def anthropic_tool_runner():
    """N8: the runner asks for server-held threads."""
    seen = []

    @anthropic.beta_tool
    def read(path: str) -> str:
        """Reads a file.

        Args:
            path: Which.
        """
        seen.append(path)
        return "fn parse() {}"

    runner = claude.beta.messages.tool_runner(model=MODEL, max_tokens=1024, messages=LOOK, tools=[read])
    last = runner.until_done()
    assert seen and seen[0] == PATH and text_of(last), (seen, last)


def anthropic_count_and_models():
    counted = claude.messages.count_tokens(model=MODEL, messages=HELLO)
    assert counted.input_tokens == create().usage.input_tokens, counted
    ids = [model.id for model in claude.models.list()]
    assert MODEL in ids, ids
    assert claude.models.retrieve(MODEL).id == MODEL


def anthropic_cache():
    control("/sim/evict", {})
    system = [{"type": "text", "text": LONG, "cache_control": {"type": "ephemeral"}}]
    first, second = create(system=system).usage, create(system=system).usage
    assert first.cache_creation_input_tokens > 2000 and first.cache_read_input_tokens == 0, first
    assert first.cache_creation.ephemeral_5m_input_tokens == first.cache_creation_input_tokens, first
    assert second.cache_read_input_tokens == first.cache_creation_input_tokens, second
    assert second.cache_creation_input_tokens == 0, second


def anthropic_errors():
    table = [
        ("429(retry-after=3)", anthropic.RateLimitError, "rate_limit_error"),
        ("529", anthropic.OverloadedError, "overloaded_error"),
        ("500", anthropic.InternalServerError, "api_error"),
    ]
    for spec, kind, name in table:
        control("/sim/faults", {"spec": spec})
        error = raises(kind, create)
        assert error.body["error"]["type"] == name, error.body
    raises(anthropic.BadRequestError, lambda: create(messages=[]))
    result = {"type": "tool_result", "tool_use_id": "toolu_none", "content": "fn parse() {}"}
    orphan = raises(anthropic.BadRequestError, lambda: create(messages=[{"role": "user", "content": [result]}]))
    assert "unexpected `tool_use_id`" in str(orphan), orphan
    raises(anthropic.NotFoundError, lambda: create(model="claude-none-1"))
    huge = [{"role": "user", "content": "x" * (33 << 20)}]
    # Version 0.x does not have this name.
    too_large = getattr(anthropic, "ContentTooLargeError", anthropic.APIStatusError)
    assert raises(too_large, lambda: create(messages=huge)).status_code == 413
    names = ["x-api-key", "X-Api-Key", "authorization"]  # the second as 0.x spells it
    bare = {name: anthropic.Omit() for name in names}
    raises(anthropic.AuthenticationError, lambda: create(extra_headers=bare))
    control("/sim/faults", {"spec": "error"})
    interrupted = raises(anthropic.APIStatusError, lambda: list(create(stream=True)))
    assert "Overloaded" in str(interrupted), interrupted
    control("/sim/faults", {"spec": "reset"})
    # Within a stream the SDK passes on the error of its HTTP library; behind a gateway the stream breaks off.
    broken = str(raises(Exception, lambda: list(create(stream=True))))
    assert "reset" in broken or "peer closed connection" in broken, broken
    patient = anthropic.Anthropic(base_url=BASE, api_key="sim", max_retries=2)
    control("/sim/faults", {"spec": "529, 429(retry-after=0)"})
    assert text_of(create(patient)), "two retries should be enough"


def chat(client=gpt, **more):
    return client.chat.completions.create(**{"model": "gpt-5", "messages": HELLO, **more})


def openai_completion():
    completion = chat()
    assert completion.choices[0].message.content and completion.choices[0].finish_reason == "stop"
    usage = completion.usage
    assert usage.total_tokens == usage.prompt_tokens + usage.completion_tokens
    chunks = list(chat(stream=True, stream_options={"include_usage": True}))
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == completion.choices[0].message.content
    assert chunks[-1].usage.completion_tokens == usage.completion_tokens


def openai_tools():
    tools = [{"type": "function", "function": {"name": "read", "description": "Reads.", "parameters": SCHEMA}}]
    first = chat(tools=tools, messages=LOOK).choices[0]
    assert first.finish_reason == "tool_calls"
    call = first.message.tool_calls[0]
    assert json.loads(call.function.arguments) == {"path": PATH}, call
    with gpt.chat.completions.stream(model="gpt-5", messages=LOOK, tools=tools) as stream:
        streamed = stream.get_final_completion().choices[0].message
    assert json.loads(streamed.tool_calls[0].function.arguments) == {"path": PATH}
    result = {"role": "tool", "tool_call_id": call.id, "content": "fn parse() {}"}
    then = chat(tools=tools, messages=[*LOOK, first.message, result]).choices[0].message
    assert then.content or then.tool_calls, then


def openai_cache_and_models():
    control("/sim/evict", {})
    messages = [{"role": "system", "content": LONG}, *HELLO]
    first, second = chat(messages=messages).usage, chat(messages=messages).usage
    assert first.prompt_tokens_details.cached_tokens == 0
    assert 2000 < second.prompt_tokens_details.cached_tokens <= second.prompt_tokens == first.prompt_tokens
    assert MODEL in [model.id for model in gpt.models.list()]
    assert gpt.models.retrieve(MODEL).id == MODEL


def openai_errors():
    table = [
        ("429(retry-after=3)", openai.RateLimitError),
        ("529", openai.InternalServerError),
        ("500", openai.InternalServerError),
    ]
    for spec, kind in table:
        control("/sim/faults", {"spec": spec})
        raises(kind, chat)
    raises(openai.BadRequestError, lambda: chat(messages=[]))
    raises(openai.NotFoundError, lambda: gpt.models.retrieve("gpt-none"))
    over = raises(
        openai.BadRequestError,
        lambda: chat(model="claude-haiku-4-5", messages=[{"role": "user", "content": LONG * 60}]),
    )
    assert over.code == "context_length_exceeded", over
    control("/sim/faults", {"spec": "error"})
    raises(openai.APIError, lambda: list(chat(stream=True)))
    patient = openai.OpenAI(base_url=f"{BASE}/v1", api_key="sim", max_retries=2)
    control("/sim/faults", {"spec": "529, 500"})
    assert chat(patient).choices


CHECKS = [
    anthropic_message,
    anthropic_stream,
    anthropic_tools,
    anthropic_tool_runner,
    anthropic_count_and_models,
    anthropic_cache,
    anthropic_errors,
    openai_completion,
    openai_tools,
    openai_cache_and_models,
    openai_errors,
]


def run(checks, chosen):
    """Tries every check that was chosen, all of them if none was, and tells."""
    checks = [check for check in checks if not chosen or check.__name__ in chosen]
    failed = 0
    for check in checks:
        try:
            check()
            print(f"ok {check.__name__}", flush=True)
        except Exception as error:  # every check is tried, and told
            failed += 1
            why = " ".join(str(error).split())
            print(f"FAILED {check.__name__}: {type(error).__name__}: {why}", flush=True)
    held = f"{len(checks) - failed} of {len(checks)} hold"
    print(f"anthropic {anthropic.__version__}, openai {openai.__version__}: {held}")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    run(CHECKS, sys.argv[2:])
