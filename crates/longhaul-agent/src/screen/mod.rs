//! The terminal: streaming text, tools, the prompt, the status line, the commands.
