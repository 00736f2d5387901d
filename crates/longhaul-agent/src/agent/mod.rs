//! The loop: a prompt, the model's turns, the calls they make, until there is nothing more to do.
