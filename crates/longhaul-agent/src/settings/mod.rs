//! Settings, skills, agents and servers of a project, read where Claude Code keeps them.
