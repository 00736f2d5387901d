"""The official Python SDKs through a gateway to a model with a small window: `python through.py URL [CHECK…]`.

Behind the gateway is the simulator, whose agent keeps reading files for as long as it is prompted. The clients here never
trim their requests. Where the gateway manages, a conversation several windows long ends without an error; where it only
observes, the upstream's own error must arrive as the SDK's own exception. LONGHAUL_CLIENTS_WINDOW sets the window.
"""

import json
import os
import sys

import anthropic
import openai
from clients import HELLO, MODEL, SCHEMA, chat, claude, create, gpt, raises, run

WINDOW = int(os.environ.get("LONGHAUL_CLIENTS_WINDOW", "60000"))
TURNS = int(os.environ.get("LONGHAUL_CLIENTS_TURNS", "120"))
PATTERN = {"type": "object", "properties": {"pattern": {"type": "string"}}, "required": ["pattern"]}
TOOLS = [
    {"name": "read", "description": "Reads a file.", "input_schema": SCHEMA},
    {"name": "glob", "description": "Finds files by name.", "input_schema": PATTERN},
]
FUNCTIONS = [
    {
        "type": "function",
        "function": {"name": tool["name"], "description": tool["description"], "parameters": tool["input_schema"]},
    }
    for tool in TOOLS
]
# The number of lines in a file; a handful of such files fill the window.
LONG = 200
# More bytes than a token of these texts has.
BYTES_A_TOKEN = 3


def page(turn, lines=50):
    """What a file holds; no two are the same."""
    line = "{n:4} fn step_{turn}_{n}(input: &str) -> usize {{ input.len() + {turn} }} // counts bytes"
    return "\n".join(line.format(n=n, turn=turn) for n in range(lines))


def found(turn):
    """Which files there are: always some that were not read yet."""
    return "\n".join(f"src/part_{turn}_{n}.rs" for n in range(20))


def outcome(tool, turn):
    return page(turn) if tool == "read" else found(turn)


def prompt(turn):
    return f"Read src/part_{turn}.rs and the files beside it, then say how they work. My name for this step is S-{turn}."


def managed():
    """Whether the gateway may change what is sent."""
    answer = claude.messages.with_raw_response.create(model=MODEL, max_tokens=64, messages=HELLO)
    return answer.headers["x-longhaul-policy"] == "manage"


def bytes_of(messages):
    plain = lambda block: block.model_dump(exclude_none=True) if hasattr(block, "model_dump") else str(block)
    return len(json.dumps(messages, default=plain))


def overflows(asked, kind):
    """Runs a conversation that is longer than the window, and sees that it ends as it should; gives what was sent."""
    if not managed():
        error = raises(kind, asked)
        assert "prompt is too long" in str(error) or getattr(error, "code", None) == "context_length_exceeded", error
        return None
    messages = asked()
    assert bytes_of(messages) > 2 * WINDOW * BYTES_A_TOKEN, f"{bytes_of(messages)} bytes are too few for a test"
    return messages


def longhaul_headers():
    for answer in [
        claude.messages.with_raw_response.create(model=MODEL, max_tokens=64, messages=HELLO),
        gpt.chat.completions.with_raw_response.create(model="gpt-5", messages=HELLO),
    ]:
        for name in ["policy", "session", "line", "note"]:
            assert answer.headers.get(f"x-longhaul-{name}"), f"no x-longhaul-{name} in {dict(answer.headers)}"
    with claude.messages.with_streaming_response.create(
        model=MODEL, max_tokens=64, messages=HELLO, stream=True
    ) as streamed:
        assert streamed.headers.get("x-longhaul-session"), dict(streamed.headers)


def anthropic_long():
    """Plain and streamed calls in turn, with thinking, which this model binds to what stands before it."""

    def asked():
        messages = [{"role": "user", "content": prompt(0)}]
        for turn in range(TURNS):
            more = {"max_tokens": 4096, "messages": messages, "tools": TOOLS, "thinking": {"type": "adaptive"}}
            if turn % 2:
                with claude.messages.stream(model=MODEL, **more) as stream:
                    message = stream.get_final_message()
            else:
                message = create(**more)
            calls = [block for block in message.content if block.type == "tool_use"]
            results = [
                {"type": "tool_result", "tool_use_id": call.id, "content": outcome(call.name, turn)}
                for call in calls
            ]
            messages.append({"role": "assistant", "content": message.content})
            messages.append({"role": "user", "content": results or prompt(turn)})
        return messages

    messages = overflows(asked, anthropic.BadRequestError)
    if messages:
        counted = claude.messages.count_tokens(model=MODEL, messages=messages, tools=TOOLS).input_tokens
        assert counted < WINDOW, f"count_tokens says {counted}: not what would be sent"


def runner(**more):
    """The SDK's own loop; the files are so long that one prompt of it fills the window."""
    seen = []

    @anthropic.beta_tool
    def read(path: str) -> str:
        """Reads a file.

        Args:
            path: Which.
        """
        seen.append(path)
        return page(len(seen), lines=LONG)

    @anthropic.beta_tool
    def glob(pattern: str) -> str:
        """Finds files by name.

        Args:
            pattern: Which.
        """
        return found(len(pattern) + len(seen))

    made = claude.beta.messages.tool_runner(
        model=MODEL,
        max_tokens=4096,
        messages=[{"role": "user", "content": prompt(0)}],
        tools=[read, glob],
        # Several such files at once would exceed any window.
        tool_choice={"type": "auto", "disable_parallel_tool_use": True},
        **more,
    )
    return made, seen


def anthropic_long_runner():
    """N8: with threads where the SDK has them: held by the upstream, or declined by a gateway that manages."""

    def asked():
        # After a summary the agent starts over, so it would never end.
        made, seen = runner(max_iterations=40)
        reasons = [message.stop_reason for message in made]
        cut = [reason for reason in reasons if reason not in ["tool_use", "end_turn"]]
        assert not cut, f"{len(cut)} of {len(reasons)} replies were cut: {cut[0]}"
        return [page(turn, lines=LONG) for turn, _ in enumerate(seen)]

    overflows(asked, anthropic.BadRequestError)


def anthropic_own_compaction():
    """The runner of 0.x compacts by itself, by the usage that it is told. Here the agent begins anew after each summary,
    so it is stopped after a while."""
    threshold = WINDOW // 3
    made, seen = runner(compaction_control={"enabled": True, "context_token_threshold": threshold}, max_iterations=24)
    told = [message.usage for message in made]
    sizes = [usage.input_tokens + usage.cache_read_input_tokens + usage.cache_creation_input_tokens for usage in told]
    assert len(seen) * len(page(0, lines=LONG)) > WINDOW * BYTES_A_TOKEN, seen
    assert max(sizes) < WINDOW, sizes
    assert sum(later < size for size, later in zip(sizes, sizes[1:])) >= 2, f"it never became smaller: {sizes}"


def openai_long():
    def asked():
        messages = [{"role": "user", "content": prompt(0)}]
        for turn in range(TURNS):
            if turn % 2:
                with gpt.chat.completions.stream(model="gpt-5", messages=messages, tools=FUNCTIONS) as stream:
                    message = stream.get_final_completion().choices[0].message
            else:
                message = chat(messages=messages, tools=FUNCTIONS).choices[0].message
            results = [
                {"role": "tool", "tool_call_id": call.id, "content": outcome(call.function.name, turn)}
                for call in message.tool_calls or []
            ]
            messages.append(message)
            messages.extend(results or [{"role": "user", "content": prompt(turn)}])
        return messages

    overflows(asked, openai.BadRequestError)


CHECKS = [
    longhaul_headers,
    anthropic_long,
    anthropic_long_runner,
    anthropic_own_compaction,
    openai_long,
]

if __name__ == "__main__":
    run(CHECKS, sys.argv[2:])
